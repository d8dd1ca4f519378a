//! What mends pods that are not Ready, and what lets them be evicted all the same.

use crate::budget::context::{BudgetContext, UnreadyPod, is_missing};
use crate::budget::rules::not_evictable::kept;
use crate::cure::{Change, Cure, Remedy};
use crate::finding::Code;
use crate::shell::Kubectl;

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

/// Where to look for what keeps the pods from becoming Ready.
pub(super) fn mend(b: &BudgetContext<'_>, code: Code) -> Vec<Remedy> {
    let missing = code == Code::MissingPods;
    let lasting = b.unready.iter().filter(|u| u.why.lasts() && is_missing(&u.pod) == missing);
    lasting.take(MOST).map(|u| look(&Kubectl::of(b.snapshot), u)).collect()
}

fn look(kubectl: &Kubectl, u: &UnreadyPod) -> Remedy {
    let (ns, name) = (u.pod.meta.ns(), &*u.pod.meta.name);
    let line = |args: &[&str]| kubectl.line(ns, args);
    match (&*u.why.word, &u.pod.node) {
        ("CrashLoopBackOff", _) => Remedy::advice(format!("see why the container of pod {name} ends"))
            .command(line(&["logs", name, "--all-containers", "--previous"])),
        ("NodeNotReady", Some(node)) => {
            Remedy::advice(format!("repair node {node}")).command(kubectl.line("", &["describe", "node", node]))
        }
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
