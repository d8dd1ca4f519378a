//! Claims of a pod that has its node already: only the scheduler asks for a volume where the class waits for a pod, and
//! only it allocates devices. A pod that was given its node past the scheduler waits for them for ever.

use super::context::Context;
use super::provisioners::provisioner;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::sched::filters::claims::{self, claims_of};
use crate::sched::filters::dynamic_resources::claim_name;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Kind, PersistentVolumeClaim};

/// What keeps the claims of a pod on its node from being ready.
pub fn findings(pod: &Pod, cx: &Context<'_>) -> Vec<Finding> {
    let mut all = volumes(pod, cx);
    all.extend(devices(pod, cx));
    all
}

/// Why nobody acts on a claim that waits for the scheduler.
fn past_the_scheduler(pod: &Pod) -> String {
    let node = pod.node.as_deref().unwrap_or_default();
    format!("the pod got node {node} by its spec.nodeName, so the scheduler never saw it")
}

fn use_a_selector(pod: &Pod, cx: &Context<'_>) -> Remedy {
    let node = pod.node.as_deref().unwrap_or_default();
    let label = cx.snapshot.nodes.named("", node).and_then(|n| n.meta.labels.get("kubernetes.io/hostname").cloned());
    let whose = cx.snapshot.top_controller_of(&pod.meta);
    let whose = whose.map_or_else(|| format!("pod {}", pod.meta.path()), |w| format!("{} {}", w.kind, w.meta.path()));
    Remedy::advice(format!(
        "in the template of {whose} replace nodeName: {node} by nodeSelector kubernetes.io/hostname: {}; the scheduler \
         then places the pod there",
        label.as_deref().unwrap_or(node)
    ))
    .risk("the pod is made anew")
}

fn volumes(pod: &Pod, cx: &Context<'_>) -> Vec<Finding> {
    if !cx.snapshot.coverage.has(Kind::PersistentVolumeClaim) {
        return Vec::new();
    }
    let ns = pod.meta.ns();
    let mut all = Vec::new();
    for r in claims_of(pod) {
        match cx.snapshot.persistent_volume_claims.named(ns, &r.name) {
            None => {
                let who = if r.ephemeral {
                    "the ephemeral volume controller has to make it"
                } else {
                    "somebody has to create it"
                };
                let message =
                    format!("claim {} does not exist in namespace {ns}: {who}; the kubelet waits for it", r.name);
                let object = Ref::new("v1", "PersistentVolumeClaim", ns, &r.name);
                all.push(Finding::new(Code::VolumeMissing, message).about([object]));
            }
            Some(claim) => all.extend(unbound(pod, claim, cx)),
        }
    }
    all
}

fn unbound(pod: &Pod, claim: &PersistentVolumeClaim, cx: &Context<'_>) -> Option<Finding> {
    if !claims::volume_name(claim).is_empty() {
        return None;
    }
    let name = &claim.meta.name;
    let class = claims::class(claim, cx.snapshot);
    let selected = claim.meta.annotations.has("volume.kubernetes.io/selected-node");
    let object = Ref::of(Kind::PersistentVolumeClaim, &claim.meta);
    let Some(class) = class else {
        let message = match claims::class_name(claim) {
            "" => format!("claim {name} has no volume and names no class: somebody has to make a volume for it"),
            class => format!("claim {name} has no volume, and its class {class} does not exist"),
        };
        return Some(Finding::new(Code::VolumeUnbound, message).about([object]));
    };
    if claims::waits_for_pod(class) && !selected {
        let message = format!(
            "claim {name} has no volume: class {} makes one once the scheduler has chosen a node (WaitForFirstConsumer), and {}",
            class.meta.name,
            past_the_scheduler(pod)
        );
        let finding = Finding::new(Code::VolumeUnbound, message).about([object]);
        return Some(finding.remedy(use_a_selector(pod, cx)));
    }
    let message = format!(
        "claim {name} has no volume yet: {} makes it (class {}){}",
        class.provisioner,
        class.meta.name,
        provisioner(&class.provisioner, cx)
    );
    Some(Finding::new(Code::VolumeProvisioner, message).about([object]))
}

fn devices(pod: &Pod, cx: &Context<'_>) -> Vec<Finding> {
    let ns = pod.meta.ns();
    let object = |claim: &str| Ref::new("resource.k8s.io/v1", "ResourceClaim", ns, claim);
    let one = |r: &crate::snapshot::pod::ResourceClaimRef| {
        let Ok(name) = claim_name(pod, r) else {
            let message = format!(
                "device claim {} was not made from its ResourceClaimTemplate yet: the resource claim controller makes it",
                r.name
            );
            return Some(Finding::new(Code::ResourceClaim, message));
        };
        let name = name?;
        let Some(claim) = cx.snapshot.resource_claims.named(ns, &name) else {
            let message = format!("device claim {name} does not exist in namespace {ns}: somebody has to create it");
            return Some(Finding::new(Code::ResourceClaim, message).about([object(&name)]));
        };
        if claim.is_allocated() {
            return None;
        }
        let message = format!(
            "device claim {name} has no device: only the scheduler allocates one, and {}",
            past_the_scheduler(pod)
        );
        let finding = Finding::new(Code::ResourceClaim, message).about([object(&name)]);
        Some(finding.remedy(use_a_selector(pod, cx)))
    };
    if !cx.snapshot.coverage.has(Kind::ResourceClaim) {
        return Vec::new();
    }
    pod.spec.resource_claims.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, find, node, object, pod};
    use serde_json::json;

    #[test]
    fn what_only_the_scheduler_does_is_not_waited_for() {
        // `volume_binding/binder.go` annotates the claim, `dynamicresources.go` allocates: nothing else does.
        let p = || pod("a/p").spec(json!({"nodeName": "n1"}));
        let mounts = || p().spec(json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}));
        let claim =
            |more| object("v1", "PersistentVolumeClaim", "a/data").spec(json!({"storageClassName": "fast"})).with(more);
        let class = |mode: &str| {
            object("storage.k8s.io/v1", "StorageClass", "fast")
                .with(json!({"provisioner": "x.example.com", "volumeBindingMode": mode}))
        };
        let uses = || p().spec(json!({"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}));
        let device = |status| object("resource.k8s.io/v1", "ResourceClaim", "a/c").status(status);
        let other = || object("v1", "PersistentVolumeClaim", "a/other");
        let rows = [
            (
                "a class that waits",
                vec![mounts(), claim(json!({})), class("WaitForFirstConsumer")],
                Some((Code::VolumeUnbound, "the pod got node n1 by its spec.nodeName")),
            ),
            (
                "a node was selected",
                vec![
                    mounts(),
                    claim(json!({"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "n1"}}})),
                    class("WaitForFirstConsumer"),
                ],
                Some((Code::VolumeProvisioner, "x.example.com makes it (class fast)")),
            ),
            (
                "at once",
                vec![mounts(), claim(json!({})), class("Immediate")],
                Some((Code::VolumeProvisioner, "x.example.com makes it (class fast)")),
            ),
            (
                "no such class",
                vec![mounts(), claim(json!({}))],
                Some((Code::VolumeUnbound, "class fast does not exist")),
            ),
            (
                "no claim",
                vec![mounts(), other()],
                Some((Code::VolumeMissing, "claim data does not exist in namespace a")),
            ),
            (
                "bound",
                vec![mounts(), claim(json!({"spec": {"volumeName": "pv"}})), class("WaitForFirstConsumer")],
                None,
            ),
            (
                "no device",
                vec![uses(), device(json!({}))],
                Some((Code::ResourceClaim, "only the scheduler allocates one")),
            ),
            (
                "no device claim",
                vec![uses(), object("resource.k8s.io/v1", "ResourceClaim", "a/x")],
                Some((Code::ResourceClaim, "device claim c does not exist")),
            ),
            ("allocated", vec![uses(), device(json!({"allocation": {}}))], None),
        ];
        for (title, objects, want) in rows {
            let snapshot = cluster().add(node("n1")).all(objects).snapshot();
            let found = findings(&find(&snapshot, "a/p"), &Context::new(&snapshot));
            match (want, &*found) {
                (None, []) => {}
                (Some((code, words)), [f]) => {
                    assert_eq!(f.code, code, "{title}");
                    assert!(f.message.contains(words), "{title}: {}", f.message);
                }
                (want, found) => panic!("{title}: {want:?}, {found:?}"),
            }
        }
    }
}
