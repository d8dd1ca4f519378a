//! Pods that the scheduler does not even queue: what they wait for, and who has to do it.

use super::context::Context;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::sched::filters::dynamic_resources::ClaimFault;
use crate::sched::pre_enqueue::Hold;
use crate::snapshot::Kind;
use crate::snapshot::age::age;
use crate::snapshot::event::Event;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// What keeps a pod out of the scheduler's queue, gates apart: each cause, then that the scheduler says nothing of it.
pub fn findings(pod: &Pod, holds: &[Hold], cx: &Context<'_>) -> Vec<Finding> {
    let mut all: Vec<Finding> = holds.iter().filter_map(|h| cause(pod, h, cx)).collect();
    if all.iter().any(|f| f.code != Code::NotEnqueued) {
        let message = "the scheduler does not queue the pod until then: it writes neither a condition nor an event";
        all.push(Finding::new(Code::NotEnqueued, message));
    }
    all
}

fn cause(pod: &Pod, hold: &Hold, cx: &Context<'_>) -> Option<Finding> {
    let unread = |kind: Kind, name: &str| {
        let kind = kind.info().name;
        let message =
            format!("whether {kind} {name}, which the pod names, exists is unknown: {kind}s could not be read");
        Some(Finding::new(Code::NotJudged, message))
    };
    match hold {
        Hold::Claim(_, ClaimFault::Missing(claim)) if cx.snapshot.coverage.hides(Kind::ResourceClaim) => {
            unread(Kind::ResourceClaim, claim)
        }
        Hold::NoPodGroup(group) if cx.snapshot.coverage.hides(Kind::PodGroup) => unread(Kind::PodGroup, group),
        Hold::Gates => None,
        Hold::Claim(name, fault) => Some(claim(pod, name, fault, cx)),
        Hold::NoPodGroup(group) => {
            let message = format!(
                "PodGroup {group}, which the pod is scheduled with, does not exist: whoever makes the pods (a Workload's \
                 controller) has to create it; until then the scheduler does not queue the pod and writes nothing"
            );
            let object = Ref::new("scheduling.k8s.io/v1beta1", "PodGroup", pod.meta.ns(), group);
            Some(Finding::new(Code::NotEnqueued, message).about([object]))
        }
        Hold::Gang { group, wanted, there } => {
            let message = format!(
                "PodGroup {group} schedules {wanted} pods together (minCount), and {there} exist: until the others are created \
                 the scheduler does not queue the pod and writes nothing"
            );
            let object = Ref::new("scheduling.k8s.io/v1beta1", "PodGroup", pod.meta.ns(), group);
            Some(Finding::new(Code::NotEnqueued, message).about([object]))
        }
    }
}

fn claim(pod: &Pod, name: &str, fault: &ClaimFault, cx: &Context<'_>) -> Finding {
    let ns = pod.meta.ns();
    let object = |claim: &str| Ref::new("resource.k8s.io/v1", "ResourceClaim", ns, claim);
    let of = |message: String| Finding::new(Code::ResourceClaim, message);
    match fault {
        ClaimFault::NotMade => not_made(pod, name, cx),
        ClaimFault::Missing(claim) => of(format!(
            "device claim {claim} (the pod calls it {name}) does not exist in namespace {ns}: somebody has to create it"
        ))
        .about([object(claim)])
        .remedy(Remedy::advice(format!(
            "create ResourceClaim {ns}/{claim}, or let the pod name a ResourceClaimTemplate, from which each pod gets its own"
        ))),
        ClaimFault::Terminating(claim) => {
            let users = users(ns, claim, cx);
            let held = match users.is_empty() {
                true => String::new(),
                false => format!(", and still reserved for {}", some(&users, 3)),
            };
            of(format!(
                "device claim {claim} (the pod calls it {name}) is being deleted{held}: once it is gone, somebody has to create \
                 it again"
            ))
            .about([object(claim)])
        }
        ClaimFault::NotForPod(claim) => of(format!(
            "device claim {claim} was not made for this pod but for another of the same name: the resource claim controller \
             makes a new one once the old claim is deleted"
        ))
        .about([object(claim)]),
    }
}

/// The pods that a claim is reserved for.
fn users(ns: &str, claim: &str, cx: &Context<'_>) -> Vec<String> {
    let found = cx.snapshot.resource_claims.named(ns, claim).and_then(|c| c.status.as_ref());
    found.into_iter().flat_map(|s| &s.reserved_for).map(|r| r.name.clone()).collect()
}

/// A claim that was not made from its template: what the controller reported, else that it reported nothing.
fn not_made(pod: &Pod, name: &str, cx: &Context<'_>) -> Finding {
    let ns = pod.meta.ns();
    let template = pod.spec.resource_claims.iter().find(|r| &*r.name == name).and_then(|r| r.template.as_deref());
    let template = template.unwrap_or_default();
    let events = cx.snapshot.events_about("Pod", ns, &pod.meta.name);
    let failed = events.filter(|e| &*e.reason == "FailedResourceClaimCreation").max_by_key(|e| e.last_seen);
    let lead = format!("device claim {name} was not made from its ResourceClaimTemplate {template} yet");
    let objects = [Ref::new("resource.k8s.io/v1", "ResourceClaimTemplate", ns, template)];
    let get = Remedy::advice(format!(
        "create ResourceClaimTemplate {ns}/{template}, or correct the name in the pod: a template of another namespace is not \
         used"
    ))
    .command(cx.kubectl.line("", &["get", "resourceclaimtemplates", "-A"]));
    let Some(event) = failed else {
        let message = format!(
            "{lead}: the resource claim controller (of kube-controller-manager) makes it, and has reported nothing (it does so \
             where ResourceClaimTemplate {ns}/{template} does not exist)"
        );
        return Finding::new(Code::ResourceClaim, message).about(objects);
    };
    let finding = Finding::new(Code::ResourceClaim, format!("{lead}: {}", said(event, cx)))
        .about(objects)
        .about(quota(event, ns));
    if event.message.contains("not found") { finding.remedy(get) } else { finding }
}

fn said(event: &Arc<Event>, cx: &Context<'_>) -> String {
    let ago = event.last_seen.map(|t| format!(" ({} ago)", age(t, cx.snapshot.now))).unwrap_or_default();
    format!("{}{ago}", event.message)
}

/// The quota that refuses the claim.
fn quota(event: &Event, ns: &str) -> Option<Ref> {
    let (_, after) = event.message.split_once("exceeded quota: ")?;
    let name = after.split(',').next()?;
    let info = Kind::ResourceQuota.info();
    Some(Ref::new(info.version, info.name, ns, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::pre_enqueue::holds;
    use crate::testing::{Object, cluster, find, object, pod};
    use serde_json::json;

    #[test]
    fn who_has_to_do_what_is_told() {
        let named = || pod("a/p").spec(json!({"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}));
        let made = || pod("a/p").spec(json!({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}));
        let event = |words: &str| {
            object("v1", "Event", "a/e").with(json!({"involvedObject": {"kind": "Pod", "namespace": "a", "name": "p"},
                "reason": "FailedResourceClaimCreation", "message": words, "lastTimestamp": "2026-01-01T11:00:00Z"}))
        };
        let reserved = object("resource.k8s.io/v1", "ResourceClaim", "a/c")
            .deleted("2026-01-01T12:00:00Z", 0)
            .status(json!({"reservedFor": [{"resource": "pods", "name": "old", "uid": "u"}]}));
        let gang = object("scheduling.k8s.io/v1beta1", "PodGroup", "a/g")
            .spec(json!({"schedulingPolicy": {"gang": {"minCount": 3}}}));
        let grouped = || pod("a/p").spec(json!({"schedulingGroup": {"podGroupName": "g"}}));
        let claims = &[Code::ResourceClaim, Code::NotEnqueued][..];
        let rows: [(&str, Vec<Object>, &[Code], &str); 8] = [
            ("missing", vec![named()], claims, "device claim c (the pod calls it gpu) does not exist in namespace a"),
            ("going", vec![named(), reserved], claims, "is being deleted, and still reserved for old"),
            ("not made", vec![made()], claims, "was not made from its ResourceClaimTemplate t yet"),
            (
                "refused",
                vec![made(), event("PodResourceClaim gpu: exceeded quota: q, requested: x")],
                claims,
                "exceeded quota: q, requested: x (60 min ago)",
            ),
            (
                "no template",
                vec![made(), event("PodResourceClaim gpu: resource claim template \"t\": not found")],
                claims,
                "not found",
            ),
            (
                "no group",
                vec![grouped()],
                &[Code::NotEnqueued],
                "PodGroup g, which the pod is scheduled with, does not exist",
            ),
            (
                "a gang of three",
                vec![grouped(), gang],
                &[Code::NotEnqueued],
                "schedules 3 pods together (minCount), and 1 exist",
            ),
            ("queued", vec![pod("a/p")], &[], ""),
        ];
        for (title, objects, codes, words) in rows {
            let snapshot = cluster().all(objects).snapshot();
            let p = find(&snapshot, "a/p");
            let found = findings(&p, &holds(&p, &snapshot), &Context::new(&snapshot));
            assert_eq!(found.iter().map(|f| f.code).collect::<Vec<_>>(), codes, "{title}");
            assert!(words.is_empty() || found[0].message.contains(words), "{title}: {found:?}");
        }
    }
}
