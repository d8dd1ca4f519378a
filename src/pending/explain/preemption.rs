//! Why preemption does not help, and what it would do where it does.

use super::super::nomination;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::pending::facts::{Facts, some, some_nodes};
use crate::sched::cycle::Cycle;
use crate::sched::node::{NodeInfo, PodInfo};
use crate::sched::preempt::NEVER;
use crate::sched::preemption::PreemptionOutcome;
use crate::sched::{NodeId, Plugin, Reason, State, Status};
use crate::snapshot::Str;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why preemption does not help; empty where it does, or where it is not tried.
pub fn why(f: &Facts<'_>) -> Vec<Finding> {
    let p = f.preemption;
    match p.outcome {
        PreemptionOutcome::NotTried | PreemptionOutcome::Found => Vec::new(),
        PreemptionOutcome::NotEligible if p.message == NEVER => vec![policy_never(f)],
        PreemptionOutcome::NotEligible => nomination::waiting(f),
        PreemptionOutcome::NothingHelps => {
            let mut all: Vec<Finding> = [nothing_lower(f), unresolvable(f)].into_iter().flatten().collect();
            all.extend(not_enough(f));
            all.extend(nomination::of_others(f));
            all
        }
    }
}

fn policy_never(f: &Facts<'_>) -> Finding {
    let class = f.pod().spec.priority_class.as_ref();
    let class_says = class.and_then(|c| f.snapshot().priority_classes.named("", c));
    let from = class_says.filter(|c| c.preemption_policy.as_deref() == Some("Never"));
    let from = from.map(|c| format!(", as its class {} says", c.meta.name)).unwrap_or_default();
    let message = format!("its preemptionPolicy is Never{from}: it waits for room and preempts nobody");
    Finding::new(Code::PolicyNever, message)
}

fn nodes_of<'a>(f: &Facts<'a>, statuses: impl Fn(&Status) -> bool) -> Vec<&'a Arc<NodeInfo>> {
    let of = f.preemption.failures.iter().filter(|(_, s)| statuses(s));
    of.filter_map(|(id, _)| f.node(*id)).collect()
}

fn has_no_victims(s: &Status) -> bool {
    s.reasons.contains(&Reason::NoVictims)
}

fn refs(nodes: &[&Arc<NodeInfo>]) -> Vec<Ref> {
    nodes.iter().take(10).map(|n| Ref::node(n.name())).collect()
}

fn nothing_lower(f: &Facts<'_>) -> Option<Finding> {
    let nodes = nodes_of(f, has_no_victims);
    if nodes.is_empty() {
        return None;
    }
    let message =
        format!("nothing of lower priority than {} runs on {}", f.pod().priority(), some_nodes(nodes.iter().copied()));
    Some(Finding::new(Code::NothingLower, message).about(refs(&nodes)))
}

/// Nodes that preemption does not look at.
fn unresolvable(f: &Facts<'_>) -> Option<Finding> {
    let mut by_reason: BTreeMap<String, Vec<&Arc<NodeInfo>>> = BTreeMap::new();
    for node in f.state.nodes().iter().filter(|n| f.preemption.failure(n.id).is_none()) {
        let reason = f.diagnosis.refusal(node.id).map(short).unwrap_or_default();
        by_reason.entry(reason).or_default().push(node);
    }
    if by_reason.is_empty() {
        return None;
    }
    let nodes: Vec<&Arc<NodeInfo>> = by_reason.values().flatten().copied().collect();
    let parts: Vec<String> =
        by_reason.iter().map(|(why, nodes)| format!("{} ({why})", some_nodes(nodes.iter().copied()))).collect();
    let message = format!("taking pods away would not help on {}", parts.join(", "));
    Some(Finding::new(Code::NotHelpful, message).about(refs(&nodes)))
}

/// A refusal in a few words.
fn short(s: &Status) -> String {
    let words = |r: &Reason| match r {
        Reason::Unschedulable => "cordoned".to_owned(),
        Reason::Taint => "tainted".to_owned(),
        Reason::NodeAffinity => "selector or affinity".to_owned(),
        Reason::Insufficient(resource) => format!("more {resource} than the node has"),
        Reason::VolumeNodeAffinity | Reason::VolumeZone => "volume elsewhere".to_owned(),
        Reason::CannotAllocateClaims => "devices are not freed by it".to_owned(),
        other => other.text().into_owned(),
    };
    let decisive = s.reasons.iter().find(|r| !matches!(r, Reason::TooManyPods));
    decisive.or(s.reasons.first()).map(words).unwrap_or_default()
}

/// Nodes where all pods of lower priority together are not enough.
fn not_enough(f: &Facts<'_>) -> Vec<Finding> {
    let elsewhere = |s: &Status| {
        matches!(s.plugin, Plugin::PodTopologySpread | Plugin::VolumeRestrictions)
            || s.reasons.iter().any(|r| matches!(r, Reason::PodAntiAffinity | Reason::ExistingAntiAffinity))
    };
    let mut all = Vec::new();
    let open = lower_elsewhere(f, &nodes_of(f, |s| !has_no_victims(s) && elsewhere(s)));
    let failed = nodes_of(f, |s| !has_no_victims(s));
    let (across, here): (Vec<&Arc<NodeInfo>>, Vec<&Arc<NodeInfo>>) =
        failed.into_iter().partition(|n| open.binary_search(&n.id).is_ok());
    if !across.is_empty() {
        let message = format!(
            "on {} only pods on other nodes stand in the way, and preemption evicts none of those",
            some_nodes(across.iter().copied())
        );
        let mut finding = Finding::new(Code::CrossNode, message).about(refs(&across));
        finding.remedies.extend(move_away(f, &across));
        all.push(finding);
    }
    if !here.is_empty() {
        let why = here
            .first()
            .and_then(|n| f.preemption.failure(n.id))
            .map(|s| s.reasons.iter().map(|r| r.text().into_owned()).collect::<Vec<_>>().join(", "));
        let together = together(f, &here);
        let message = format!(
            "taking away everything of lower priority is not enough on {} ({}){together}",
            some_nodes(here.iter().copied()),
            why.unwrap_or_default()
        );
        let code = if together.is_empty() { Code::NotHelpful } else { Code::CrossNode };
        all.push(Finding::new(code, message).about(refs(&here)));
    }
    all
}

/// Of some nodes, those that would take the pod if everything of lower priority on all nodes were gone.
fn lower_elsewhere(f: &Facts<'_>, nodes: &[&Arc<NodeInfo>]) -> Vec<NodeId> {
    if !f.tries || nodes.is_empty() {
        return Vec::new();
    }
    let mut state = f.state.clone();
    let priority = f.pod().priority();
    for n in f.state.nodes() {
        for slot in n.pods.iter().filter(|s| s.priority < priority) {
            state.remove_from(&slot.info.pod, n.name());
        }
    }
    let mut cycle = Cycle::new(&state, f.pod());
    let changed = nodes.iter().filter_map(|n| state.node(n.id));
    changed.filter(|n| cycle.takes(n)).map(|n| n.id).collect()
}

/// Up to so many pods are tried.
const MOVABLE: usize = 300;

/// The fewest pods of lower priority on other nodes without which a node takes the pod, once preemption has taken what it
/// takes there: all are away, then each comes back that may.
fn move_away(f: &Facts<'_>, nodes: &[&Arc<NodeInfo>]) -> Option<Remedy> {
    let node = nodes.first()?;
    let priority = f.pod().priority();
    let mut state = f.state.clone();
    let mut lower: Vec<(Arc<Pod>, Str)> = Vec::new();
    for n in f.state.nodes() {
        for slot in n.pods.iter().filter(|s| s.priority < priority) {
            state.remove_from(&slot.info.pod, n.name());
            if n.id != node.id {
                lower.push((slot.info.pod.clone(), n.name().clone()));
            }
        }
    }
    if lower.len() > MOVABLE {
        return None;
    }
    let takes = |state: &State| state.node(node.id).is_some_and(|n| Cycle::new(state, f.pod()).takes(n));
    if !takes(&state) {
        return None;
    }
    let mut moved = Vec::new();
    for (pod, on) in lower {
        state.bind(&pod, &on);
        if !takes(&state) {
            state.remove_from(&pod, &on);
            moved.push(format!("{} (on {on})", pod.meta.path()));
        }
    }
    let text = format!("move {} to other nodes: the pod then fits on {}", moved.join(" and "), node.name());
    let risk = "these pods are disturbed, and their replacements must not be placed where they are in the way again";
    if moved.is_empty() || moved.len() > 5 { None } else { Remedy::advice(text).risk(risk).tried(|| true) }
}

/// Says where the pods of lower priority of several nodes together would be enough.
fn together(f: &Facts<'_>, nodes: &[&Arc<NodeInfo>]) -> String {
    let priority = f.pod().priority();
    let of = |n: &NodeInfo| -> (i64, i64) {
        let lower = n.pods.iter().filter(|s| s.priority < priority);
        lower.fold((0, 0), |(c, m), s| (c + s.info.request.cpu, m + s.info.request.memory))
    };
    let free = |n: &NodeInfo| (n.allocatable.cpu - n.requested.cpu, n.allocatable.memory - n.requested.memory);
    let sum = nodes.iter().fold((0, 0), |(c, m), n| {
        let ((lc, lm), (fc, fm)) = (of(n), free(n));
        (c + lc + fc.max(0), m + lm + fm.max(0))
    });
    let asked = &f.incoming.info.request;
    let enough = nodes.len() > 1 && sum.0 >= asked.cpu && sum.1 >= asked.memory;
    if enough {
        "; those of all nodes together would be, but preemption frees one node only".to_owned()
    } else {
        String::new()
    }
}

/// What preemption would do to its victims.
pub fn consequences(f: &Facts<'_>) -> Vec<Finding> {
    let Some(chosen) = &f.preemption.chosen else { return Vec::new() };
    let victims: Vec<&Arc<PodInfo>> = chosen.victims.iter().filter(|v| !v.pod.is_terminating()).collect();
    let mut all = Vec::new();
    if chosen.violations > 0 {
        all.push(violated(f, &victims, chosen.violations));
    }
    all.extend(never_is_no_shield(&victims));
    all.extend(cannot_move(f, &victims, chosen.node));
    all.extend(same_owner(f, &victims));
    all.extend(default_class(f));
    all.extend(nomination::of_others(f));
    all
}

fn paths(pods: &[&Arc<PodInfo>]) -> String {
    some(pods.iter().map(|p| p.pod.meta.path()))
}

fn violated(f: &Facts<'_>, victims: &[&Arc<PodInfo>], violations: usize) -> Finding {
    let covers = |b: &&Arc<Budget>| {
        victims.iter().any(|v| {
            b.meta.namespace == v.pod.meta.namespace
                && !b.selector.is_everything()
                && !v.pod.meta.labels.is_empty()
                && b.selector.matches(&v.pod.meta.labels)
        })
    };
    let spent = |b: &&Arc<Budget>| {
        let covered = victims
            .iter()
            .filter(|v| b.meta.namespace == v.pod.meta.namespace && b.selector.matches(&v.pod.meta.labels));
        i64::try_from(covered.count()).unwrap_or(i64::MAX) > i64::from(b.status.disruptions_allowed)
    };
    let budgets: Vec<&Arc<Budget>> = f.snapshot().budgets.iter().filter(covers).filter(spent).collect();
    let names: Vec<String> =
        budgets.iter().map(|b| format!("{} (allows {})", b.meta.path(), b.status.disruptions_allowed)).collect();
    let message = format!(
        "preemption would evict {} although {} of them violate{} a budget: {}; it honours budgets only where it has a choice",
        paths(victims),
        violations,
        if violations == 1 { "s" } else { "" },
        some(names)
    );
    Finding::new(Code::BudgetsViolated, message).about(budgets.iter().map(|b| Ref::budget(b)))
}

/// Victims whose own preemptionPolicy is Never: it says what they take from others, not what others take from them.
fn never_is_no_shield(victims: &[&Arc<PodInfo>]) -> Option<Finding> {
    let never = |v: &&&Arc<PodInfo>| v.pod.spec.preemption_policy.as_deref() == Some("Never");
    let pods: Vec<&Arc<PodInfo>> = victims.iter().filter(never).copied().collect();
    (!pods.is_empty()).then(|| {
        let message = format!(
            "preemptionPolicy Never does not protect {}: the policy keeps a pod from preempting others, not from being \
             preempted",
            paths(&pods)
        );
        Finding::new(Code::PolicyNever, message).severity(Severity::Info).about(pods.iter().map(|p| Ref::pod(&p.pod)))
    })
}

/// Victims that can run nowhere but on the node they are taken from.
fn cannot_move(f: &Facts<'_>, victims: &[&Arc<PodInfo>], node: NodeId) -> Option<Finding> {
    let name = f.node(node)?.name().clone();
    let mut state = f.state.clone();
    for v in victims {
        state.remove_from(&v.pod, &name);
    }
    state.bind(f.pod(), &name);
    let tied: Vec<&Arc<PodInfo>> = victims.iter().filter(|v| is_tied(f, &state, &v.pod, node)).copied().collect();
    if tied.is_empty() {
        return None;
    }
    let kind = |p: &Pod| match &p.meta.controller {
        Some(o) if &*o.kind == "DaemonSet" => format!("{} (of DaemonSet {})", p.meta.path(), o.name),
        _ => p.meta.path(),
    };
    let message = format!(
        "{} can run on no other node than {name}: once preempted it stays Pending while this pod is there",
        some(tied.iter().map(|p| kind(&p.pod)))
    );
    Some(Finding::new(Code::VictimCannotMove, message).about(tied.iter().map(|p| Ref::pod(&p.pod))))
}

fn is_tied(f: &Facts<'_>, state: &State, pod: &Arc<Pod>, node: NodeId) -> bool {
    if pod.is_of_node() {
        return true;
    }
    let bound_to_place = [Plugin::NodeName, Plugin::NodeAffinity, Plugin::VolumeBinding, Plugin::VolumeZone];
    let anew = Arc::new(Pod { node: None, ..(**pod).clone() });
    let mut cycle = Cycle::new(state, &anew);
    let others = f.state.nodes().iter().filter(|n| n.id != node);
    let mut any = false;
    for other in others.take(500) {
        any = true;
        if !cycle.explain(other).iter().any(|s| bound_to_place.contains(&s.plugin)) {
            return false;
        }
    }
    any
}

fn same_owner(f: &Facts<'_>, victims: &[&Arc<PodInfo>]) -> Option<Finding> {
    let owner = f.owner?;
    let own = |v: &&&Arc<PodInfo>| f.snapshot().top_controller_of(&v.pod.meta).is_some_and(|w| Arc::ptr_eq(w, owner));
    let siblings: Vec<&Arc<PodInfo>> = victims.iter().filter(own).copied().collect();
    (!siblings.is_empty()).then(|| {
        let message = format!(
            "preemption would evict {} of the pod's own {} {}: their priority is lower",
            paths(&siblings),
            owner.kind,
            owner.meta.path()
        );
        Finding::new(Code::SameOwner, message).about(siblings.iter().map(|p| Ref::pod(&p.pod)))
    })
}

/// A priority that comes from the default class: nobody chose it for this pod.
fn default_class(f: &Facts<'_>) -> Option<Finding> {
    let class = f.pod().spec.priority_class.as_ref()?;
    let default = f.snapshot().priority_classes.named("", class).filter(|c| c.global_default)?;
    let template = f.owner.and_then(|w| w.template.as_ref())?;
    template.spec.priority_class.is_none().then(|| {
        let message = format!(
            "its priority {} comes from the default class {}, which its template does not name: nobody chose that it can preempt",
            f.pod().priority(),
            default.meta.name
        );
        Finding::new(Code::DefaultClass, message)
    })
}
