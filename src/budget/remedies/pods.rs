//! What mends pods that are not Ready, and what lets them be evicted all the same.

use crate::budget::context::{BudgetContext, UnreadyPod, is_missing};
use crate::budget::rules::not_evictable::kept;
use crate::cure::silent_node::{out_of_service, repair};
use crate::cure::{Change, Cure, Remedy};
use crate::finding::Code;
use crate::shell::Kubectl;
use crate::snapshot::Snapshot;
use std::collections::BTreeSet;

/// At most so many pods are told how to look into.
const MOST: usize = 2;

/// AlwaysAllow, where that lets the broken pods be evicted.
pub(super) fn always_allow(b: &BudgetContext<'_>) -> Option<Remedy> {
    let pods: Vec<_> = kept(b).collect();
    if pods.is_empty() {
        return None;
    }
    Cure::from(Change::AlwaysAllow(b.budget.clone())).tried(b.snapshot, |changed| {
        let after = b.after(changed);
        let granted = |name: &str| {
            after.iter().flat_map(|a| &a.pods).any(|p| &*p.pod.meta.name == name && p.eviction.is_granted())
        };
        pods.iter().all(|p| granted(&p.meta.name))
    })
}

/// What ends a deletion that nobody confirms: the node, or the word that it is off for good.
pub(super) fn end_deletion(b: &BudgetContext<'_>) -> Vec<Remedy> {
    let nodes: BTreeSet<&str> = b.hanging().filter_map(|pod| pod.node.as_deref()).collect();
    let silent = nodes.into_iter().filter_map(|name| b.snapshot.nodes.named("", name)).filter(|n| !n.is_ready());
    silent.take(MOST).flat_map(|n| [repair(b.snapshot, &n.meta.name), out_of_service(n).untried(b.snapshot)]).collect()
}

/// Where to look for what keeps the pods from becoming Ready.
pub(super) fn mend(b: &BudgetContext<'_>, code: Code) -> Vec<Remedy> {
    let missing = code == Code::MissingPods;
    let lasting = b.unready.iter().filter(|u| u.why.lasts() && is_missing(&u.pod) == missing);
    // Pods with one reason are looked into once.
    let mut reasons = BTreeSet::new();
    lasting.filter(|u| reasons.insert(&u.why.text)).take(MOST).map(|u| look(b.snapshot, u)).collect()
}

fn look(snapshot: &Snapshot, u: &UnreadyPod) -> Remedy {
    let kubectl = Kubectl::of(snapshot);
    let (ns, name) = (u.pod.meta.ns(), &*u.pod.meta.name);
    let line = |args: &[&str]| kubectl.line(ns, args);
    match (&*u.why.word, &u.pod.node) {
        ("CrashLoopBackOff", _) => Remedy::advice(format!("see why the container of pod {name} ends"))
            .command(line(&["logs", name, "--all-containers", "--previous"])),
        ("NodeNotReady", Some(node)) => repair(snapshot, node),
        ("ReadinessGate", _) => {
            Remedy::advice(format!("see that the controller which sets the gate of pod {name} runs"))
                .command(line(&["describe", "pod", name]))
        }
        (_, None) => {
            Remedy::advice(format!("see why pod {name} is Pending")).command(line(&["pdb", "why-pending", name]))
        }
        _ => Remedy::advice(format!("see the events of pod {name}")).command(line(&["describe", "pod", name])),
    }
}
