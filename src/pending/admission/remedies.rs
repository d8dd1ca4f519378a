//! What can be done where the API server refuses the pods of a workload: by the finding's code and the objects that are there.

use crate::cure::Remedy;
use crate::finding::{Code, Finding};
use crate::lists::some;
use crate::pending::context::Context;
use crate::pending::facts::quoted;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// What can be done; empty where the words of the API server say it all.
pub fn of(finding: &Finding, workload: &Arc<Workload>, pod: Option<&Pod>, cx: &Context<'_>) -> Vec<Remedy> {
    let ns = workload.meta.ns();
    let whose = format!("{} {}", workload.kind, workload.meta.path());
    let words = &*finding.message;
    let list = |names: Vec<String>| match names.is_empty() {
        true => String::new(),
        false => format!(" (there: {})", some(names, 3)),
    };
    let one = match finding.code {
        Code::ServiceAccount => {
            let named = pod.and_then(|p| p.spec.service_account.as_deref());
            let Some(account) = named.or_else(|| quoted(words, "serviceaccount \"")) else { return Vec::new() };
            let there = cx.snapshot.service_accounts.in_namespace(ns).iter().map(|a| a.meta.name.to_string());
            let text = format!(
                "create ServiceAccount {ns}/{account}, with the rights that the pods need, or name another in the template of \
                 {whose}{}",
                list(there.collect())
            );
            Remedy::advice(text)
                .command(cx.kubectl.line(ns, &["create", "serviceaccount", account]))
                .undo(cx.kubectl.line(ns, &["delete", "serviceaccount", account]))
                .risk("the pods run without the rights that the missing account was to give them")
        }
        Code::PriorityClass => {
            let there = cx.snapshot.priority_classes.iter().map(|c| c.meta.name.to_string());
            Remedy::advice(format!(
                "create the PriorityClass, or name another in the template of {whose} (priorityClassName){}",
                list(there.collect())
            ))
            .command(cx.kubectl.line("", &["get", "priorityclasses"]))
        }
        Code::RuntimeClass => Remedy::advice(format!(
            "create the RuntimeClass (whoever installs its runtime on the nodes does that), or remove runtimeClassName from the \
             template of {whose}"
        ))
        .command(cx.kubectl.line("", &["get", "runtimeclasses"])),
        Code::Quota if words.contains("to match these scopes") => Remedy::advice(format!(
            "create a ResourceQuota in namespace {ns} whose scopeSelector allows that PriorityClass, or use another \
             PriorityClass: the API server is configured to let a namespace use the class only by a quota"
        )),
        Code::Quota if words.contains("must specify") || words.contains("to state what it counts") => {
            Remedy::advice(format!(
                "set these requests and limits on every container in the template of {whose}, or create a LimitRange in \
                 namespace {ns} that gives them by default"
            ))
        }
        Code::Quota => {
            let name = finding.refs.iter().find(|r| r.kind == "ResourceQuota").map(|r| r.name.clone());
            let Some(name) = name else { return Vec::new() };
            Remedy::advice(format!(
                "remove what is not needed in namespace {ns}, request less, or have quota {name} raised"
            ))
            .command(cx.kubectl.line(ns, &["describe", "resourcequota", &name]))
        }
        Code::LimitRange => Remedy::advice(format!(
            "set requests and limits in the template of {whose} that the LimitRanges of namespace {ns} allow"
        ))
        .command(cx.kubectl.line(ns, &["describe", "limitrange"])),
        Code::InvalidPod => Remedy::advice(format!("correct the field that the message names in the template of {whose}")),
        Code::AdmissionPolicy => Remedy::advice(format!(
            "change the template of {whose} so that the policy allows it, or have whoever set the policy make an exception"
        )),
        _ => return Vec::new(),
    };
    vec![one]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, deployment, object};

    #[test]
    fn each_refusal_has_its_remedy() {
        let rows = [
            (Code::ServiceAccount, "serviceaccount \"bot\" not found", "create ServiceAccount a/bot"),
            (Code::PriorityClass, "no PriorityClass", "priorityClassName) (there: gold)"),
            (Code::RuntimeClass, "RuntimeClass \"kata\" not found", "remove runtimeClassName"),
            (Code::Quota, "insufficient quota to match these scopes: [{PriorityClass In [x]}]", "scopeSelector"),
            (Code::Quota, "failed quota: q: must specify limits.cpu", "a LimitRange in namespace a"),
            (Code::LimitRange, "cpu max limit to request ratio", "set requests and limits"),
            (Code::InvalidPod, "is invalid: spec", "correct the field"),
            (Code::AdmissionPolicy, "denied request", "so that the policy allows it"),
            (Code::AdmissionPlugin, "anything", ""),
        ];
        for (code, words, want) in rows {
            let class = object("scheduling.k8s.io/v1", "PriorityClass", "gold");
            let snapshot = cluster().add(deployment("a/d").on(&["n1"])).add(class).snapshot();
            let workload = snapshot.workloads.iter().find(|w| &*w.kind == "Deployment").unwrap();
            let found = of(&Finding::new(code, words), workload, None, &Context::new(&snapshot));
            assert_eq!(found.is_empty(), want.is_empty(), "{words}");
            assert!(found.iter().all(|r| r.text.contains(want)), "{words}: {found:?}");
        }
    }
}
