//! Which changes might let pods be removed that a drain leaves, in the order in which they are offered: what costs nothing
//! first, what endangers data last.

use crate::admission::{Backend, Verb};
use crate::budget::evict::is_granted_without;
use crate::budget::numbers::by_pods;
use crate::budget::operators::operator;
use crate::budget::rolling_update::resolve_fenceposts;
use crate::cure::silent_node::out_of_service;
use crate::cure::{Change, Cure, Remedy, manager};
use crate::drain::context::DrainContext;
use crate::drain::refusal::Refusal;
use crate::drain::tracker::BudgetId;
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::node::Node;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Workload};
use crate::wire::scalar::IntOrString;
use std::sync::Arc;

/// Pods of one node that stay for one cause.
pub struct Held<'p> {
    /// The node.
    pub node: &'p Arc<Node>,
    /// The pods.
    pub pods: Vec<&'p Arc<Pod>>,
    /// What refuses them; `None` where their deletion does not end.
    pub refusal: Option<Refusal>,
}

/// What is worth a trial.
pub fn candidates(context: &DrainContext<'_>, held: &Held<'_>) -> Vec<Cure> {
    match held.refusal {
        Some(Refusal::Budget(id)) => for_budget(context, held, id),
        Some(Refusal::SyncFailed(id)) => for_sync(context, held, id),
        Some(Refusal::Overlap) => for_overlap(context, held),
        Some(Refusal::Webhook) => for_webhook(context, held),
        Some(Refusal::Stale(id) | Refusal::StatusUnusable(id)) => budget(context, id).map(again).into_iter().collect(),
        Some(
            Refusal::AdmissionPolicy
            | Refusal::NotJudged(_)
            | Refusal::NamespaceTerminating
            | Refusal::NotTried
            | Refusal::Held(_)
            | Refusal::Behind
            | Refusal::WithoutFlag(_),
        ) => Vec::new(),
        None => for_stuck(held),
    }
}

fn budget<'a>(context: &DrainContext<'a>, id: BudgetId) -> Option<&'a Arc<Budget>> {
    context.budgets.get(id)
}

fn for_budget(context: &DrainContext<'_>, held: &Held<'_>, id: BudgetId) -> Vec<Cure> {
    let Some(b) = budget(context, id) else { return Vec::new() };
    let mut all: Vec<Cure> = restart(context, held.node, &held.pods).into_iter().collect();
    // What an operator makes, it makes again: its own way is told with its name.
    if operator(b).is_some() || b.meta.controller.is_some() {
        return all;
    }
    let unready = context.budgets.pods(id).any(|p| p.is_active() && !p.is_ready());
    if unready && !b.always_allow_unhealthy {
        all.push(Change::AlwaysAllow(b.clone()).into());
    }
    all.extend(relaxed(context, held, id, b));
    all.extend(more_replicas(context, held, id));
    all.push(again(b));
    all
}

/// New pods on other nodes first: the drain then finds none that it would have to evict.
fn restart(context: &DrainContext<'_>, node: &Arc<Node>, pods: &[&Arc<Pod>]) -> Option<Cure> {
    let mut workloads: Vec<&Arc<Workload>> = Vec::new();
    for pod in pods {
        let top = context.snapshot.top_controller_of(&pod.meta)?;
        let Detail::Deployment(d) = &top.detail else { return None };
        let (surge, _) = resolve_fenceposts(d.0.strategy.as_ref(), i64::from(top.replicas()?))?;
        if surge == 0 {
            return None;
        }
        if !workloads.iter().any(|w| Arc::ptr_eq(w, top)) {
            workloads.push(top);
        }
    }
    let names: Vec<String> = workloads.iter().map(|w| format!("{} {}", w.kind, w.meta.path())).collect();
    let text = format!(
        "cordon node {} and restart {}: new pods start on other nodes before the old ones are deleted; then drain the node",
        node.meta.name,
        names.join(" and ")
    );
    let changes = workloads.into_iter().map(|w| Change::Restart(w.clone()));
    Some(Cure::of(std::iter::once(Change::Cordon(node.clone())).chain(changes)).text(text).one_line())
}

/// Weaker rules, the strongest first.
fn relaxed(context: &DrainContext<'_>, held: &Held<'_>, id: BudgetId, b: &Arc<Budget>) -> Vec<Cure> {
    let Some(tracker) = context.budgets.tracker(id) else { return Vec::new() };
    let n = tracker.numbers;
    let missing = n.expected.saturating_sub(n.healthy).max(0);
    let rules = [
        Rule::MaxUnavailable(IntOrString::int(1)),
        Rule::MaxUnavailable(IntOrString::int(missing.saturating_add(1))),
        Rule::MinAvailable(IntOrString::int(n.healthy.saturating_sub(1).max(0))),
    ];
    let mut all: Vec<Cure> = Vec::new();
    let only_one = context.budgets.pods(id).filter(|p| !p.is_finished()).count() <= 1;
    for (at, rule) in rules.iter().enumerate() {
        if *rule == b.rule || rules.get(..at).is_some_and(|before| before.contains(rule)) {
            continue;
        }
        let text = format!(
            "set {rule} on budget {} while the node is drained, and {} again afterwards",
            b.meta.path(),
            b.rule
        );
        let cure = Cure::from(Change::SetRule(b.clone(), rule.clone())).text(text);
        all.push(match held.pods.first() {
            Some(pod) if only_one => {
                cure.risk(format!("{} is the only pod: its service is down until a new pod is Ready", pod.meta.name))
            }
            _ => cure,
        });
    }
    all
}

/// As many more replicas as the rule leaves one over.
fn more_replicas(context: &DrainContext<'_>, held: &Held<'_>, id: BudgetId) -> Option<Cure> {
    let b = budget(context, id)?;
    let (share, count) = context.budgets.judgement(id)?.ideal.enough_replicas(b)?;
    let alone = share.scale == 1 && matches!(share.owner.detail, Detail::StatefulSet(_));
    let cure = Cure::replicas(context.snapshot, &share.owner, count);
    let pod = held.pods.first()?;
    Some(if alone {
        cure.risk(format!(
            "a StatefulSet of one replica is often an application that does not cluster: a second pod does not share the data \
             of {}",
            pod.meta.name
        ))
    } else {
        cure
    })
}

/// The budget away, and made again as it was.
fn again(b: &Arc<Budget>) -> Cure {
    let text = format!("delete budget {} for the drain, and create it again afterwards as it was", b.meta.path());
    Cure::from(Change::DeleteBudget(b.clone())).text(text)
}

/// A budget that cannot be synced: away with what it cannot count, or a rule that counts pods.
fn for_sync(context: &DrainContext<'_>, held: &Held<'_>, id: BudgetId) -> Vec<Cure> {
    let Some(b) = budget(context, id) else { return Vec::new() };
    let finished = |p: &&Arc<Pod>| {
        p.is_finished() && context.snapshot.controller_of(&p.meta).is_none_or(|w| w.replicas().is_none())
    };
    let ended: Vec<&Arc<Pod>> = context.budgets.pods(id).filter(finished).take(ENDED + 1).collect();
    let mut all = Vec::new();
    if !ended.is_empty() && ended.len() <= ENDED {
        let names: Vec<String> = ended.iter().map(|p| p.meta.path()).collect();
        let text = format!("delete the pods that have ended and that the budget cannot count: {}", names.join(", "));
        let risk = "their logs are lost with them";
        all.push(Cure::of(ended.into_iter().map(|p| Change::DeletePod(p.clone()))).text(text).risk(risk));
    }
    let live = context.budgets.pods(id).filter(|p| p.is_active()).count();
    let live = i32::try_from(live).unwrap_or(i32::MAX);
    for rule in [by_pods(&b.rule, live), Rule::MinAvailable(IntOrString::int(live.saturating_sub(1).max(0)))] {
        all.push(Change::SetRule(b.clone(), rule).into());
    }
    all.extend(restart(context, held.node, &held.pods));
    all.push(again(b));
    all
}

/// At most so many pods that have ended are deleted as one remedy.
const ENDED: usize = 5;

/// One budget too many: the one that covers fewer pods first, as least is lost with it. A trial brings every budget up to
/// date in time; here the one that is left has to let the pods go as it is stored.
fn for_overlap(context: &DrainContext<'_>, held: &Held<'_>) -> Vec<Cure> {
    let Some(pod) = held.pods.first() else { return Vec::new() };
    let mut ids = context.budgets.of(pod).to_vec();
    ids.sort_by_key(|id| context.budgets.pods(*id).count());
    let over = |pod: &Pod| context.budgets.of(pod).iter().filter_map(|id| budget(context, *id));
    let granted = |pod: &Pod, deleted| is_granted_without(context.snapshot, pod, over(pod), deleted);
    let budgets = ids.iter().filter_map(|id| budget(context, *id));
    let help = budgets.filter(|b| held.pods.iter().all(|pod| granted(pod, b)));
    help.map(|b| Change::DeleteBudget(b.clone()).into()).collect()
}

/// A webhook that does not answer: its backend moved off the node first, or its failures ignored.
fn for_webhook(context: &DrainContext<'_>, held: &Held<'_>) -> Vec<Cure> {
    let mut all = Vec::new();
    for hook in context.admission.webhooks.iter().filter(|w| w.fails) {
        if !hook.verbs.contains(&Verb::Evict) && !hook.verbs.contains(&Verb::Delete) {
            continue;
        }
        if let Backend::Service(service) = &hook.backend {
            let here: Vec<&Arc<Pod>> =
                service.ready().filter(|p| p.node.as_ref() == Some(&held.node.meta.name)).collect();
            if !here.is_empty() {
                all.extend(restart(context, held.node, &here));
            }
        }
        all.push(Change::IgnoreFailures(hook.kind, hook.configuration.name.clone(), hook.name.to_owned()).into());
    }
    all
}

/// Deletions that do not end: a node that is given up, or the pods deleted without their kubelet.
fn for_stuck(held: &Held<'_>) -> Vec<Cure> {
    let mut all = Vec::new();
    let node = held.node;
    if !node.is_ready() {
        all.push(out_of_service(node));
    }
    let held_up = held.pods.iter().any(|p| !p.meta.finalizers.is_empty());
    if !held_up && held.pods.len() <= ENDED {
        let names: Vec<String> = held.pods.iter().map(|p| p.meta.path()).collect();
        let off = match node.is_ready() {
            true => String::new(),
            false => format!("only if node {} is powered off: ", node.meta.name),
        };
        let text = format!("{off}delete {} without waiting for the kubelet", names.join(", "));
        all.push(Cure::of(held.pods.iter().map(|p| Change::ForceDeletePod((*p).clone()))).text(text));
    }
    all
}

/// What to do about a budget that an operator makes.
pub fn operator_s_way(context: &DrainContext<'_>, held: &Held<'_>) -> Option<Remedy> {
    Some(Remedy::advice(operator(budget(context, held.refusal?.budget()?)?)?.way))
}

/// Who owns the budget and makes it again, in words.
pub fn owned(context: &DrainContext<'_>, held: &Held<'_>) -> Option<String> {
    let b = budget(context, held.refusal?.budget()?)?;
    b.meta.controller.as_ref().and_then(|_| manager(&b.meta))
}
