//! What a plan does to a pod's budget, its workload and its replacement, in words.

use super::actor::{Actor, Stage};
use super::ground::{Candidate, Ground};
use super::ledger::BudgetId;
use super::note::Note;
use super::outcome::Replacement;
use super::owners::Makes;
use super::placement;
use super::simulate::Attempt;
use super::world::World;
use crate::autoscale::Outlook;
use crate::budget::Judgement;
use crate::cure::Remedy;
use crate::finding::{Code, Ref, Severity};
use crate::lists::some;
use crate::pending::context::Context;
use crate::pending::report::explained;
use crate::sched::filters::node_affinity;
use crate::snapshot::Str;
use crate::snapshot::node::Node;
use crate::snapshot::pod::{Pod, VolumeSource};
use crate::snapshot::pod_state::{Prospect, why_not_ready};
use crate::snapshot::selector::NodeSelector;
use std::sync::Arc;

/// Why evictions of a pod were refused, and whether that ends.
pub fn refusal(ground: &Ground<'_>, world: &World<'_>, c: &Candidate, a: &Attempt) -> Vec<Note> {
    let Some((code, id)) = a.refusal else { return Vec::new() };
    if matches!(code, Code::Webhook | Code::OperatorOwned) {
        return Vec::new(); // The hazard's own note says it.
    }
    let stays = a.step.is_none();
    let Some(id) = id.or_else(|| c.budgets.first().copied()) else {
        return match code {
            Code::Terminating => vec![Note::new(
                code,
                "its namespace is being deleted: evictions are forbidden there (403) until the pod itself is",
            )],
            _ => Vec::new(),
        };
    };
    let Some(entry) = ground.book.entry(id) else { return Vec::new() };
    let path = entry.budget.meta.path();
    let mut note = match code {
        Code::Overlap => {
            let paths = ground.book.paths(&c.budgets);
            let all: Vec<&str> = paths.iter().map(|p| &**p).collect();
            Note::new(code, format!("budgets {} all cover it: evicting it is an error (500)", all.join(" and ")))
        }
        Code::BudgetShared => {
            let n = entry.opening.allowed;
            let most = if n == 1 { "one".to_owned() } else { n.to_string() };
            let text = format!("budget {path} lets {most} go at a time, which the plan itself has used up");
            Note::new(code, text)
        }
        _ => Note::new(code, format!("budget {path} {}", told(ground, id, code))),
    };
    note = note.about(c.budgets.iter().filter_map(|b| Some(Ref::budget(&ground.book.entry(*b)?.budget))));
    if let Some(j) = ground.judgement(id) {
        note.remedies.extend(remedies(j, code));
    }
    let blame = blame(ground, world, id);
    if stays && matches!(code, Code::BudgetShared | Code::BudgetWaits) {
        note = note.severity(Severity::Error);
        let why = if blame.is_empty() { "nothing gives it back".to_owned() } else { blame.join("; ") };
        note.text.push_str(&format!(", and it never recovers: {why}"));
    } else if code == Code::BudgetWaits && !blame.is_empty() {
        note.text.push_str(&format!(": {}", blame.join("; ")));
    }
    vec![note]
}

/// What is said of a budget that refuses.
fn told(ground: &Ground<'_>, id: BudgetId, code: Code) -> String {
    let j = ground.judgement(id);
    let first = j.and_then(|j| j.findings.first()).map(|f| f.message.clone()).unwrap_or_default();
    match code {
        Code::BudgetNever => format!("never allows it: {first}"),
        Code::SyncFailed => format!("fails to sync, so it allows nothing: {first}"),
        Code::Stale => {
            "is behind in its status: evictions are refused (429) until its controller has caught up".to_owned()
        }
        Code::NotJudged => format!("could not be judged: {first}"),
        _ => {
            let n = ground.book.entry(id).map(|e| e.opening).unwrap_or_default();
            format!("allows nothing now: {} are healthy and {} must be; {first}", n.healthy, n.desired)
        }
    }
}

/// The cures that `status` has for the budget.
fn remedies(j: &Judgement, code: Code) -> Vec<Remedy> {
    let of: &[Code] = match code {
        Code::BudgetNever => &[Code::ZeroByRule, Code::NoRule, Code::UnmanagedPods],
        Code::SyncFailed => &[Code::SyncFailed],
        Code::Overlap => &[Code::Overlap],
        Code::BudgetWaits => &[Code::UnhealthyNotEvictable],
        _ => &[],
    };
    j.findings.iter().filter(|f| of.contains(&f.code)).flat_map(|f| f.remedies.iter().cloned()).collect()
}

/// Who keeps a budget from recovering, as things stand at the end.
fn blame(ground: &Ground<'_>, world: &World<'_>, id: BudgetId) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let covered = world.actors().iter().enumerate().filter(|(_, a)| a.budgets.contains(&id) && !a.healthy);
    for (at, actor) in covered.take(200) {
        all.extend(failing(ground, world, at, actor));
    }
    let acting: Vec<&Arc<Pod>> = world.actors().iter().map(|a| &a.pod).collect();
    for pod in ground.book.pods(id).filter(|p| !acting.iter().any(|a| Arc::ptr_eq(a, p))) {
        if let Some(why) = why_not_ready(ground.snapshot, pod).filter(|w| w.prospect == Prospect::Stuck) {
            all.push(format!("{} is not Ready ({})", pod.meta.name, why.text));
        }
    }
    all.dedup();
    if all.len() > 3 {
        let more = all.len() - 2;
        all.truncate(2);
        all.push(format!("{more} more"));
    }
    all
}

fn failing(ground: &Ground<'_>, world: &World<'_>, at: usize, actor: &Actor) -> Option<String> {
    let name = match actor.replaces.and_then(|id| world.actor(id)) {
        Some(old) => format!("the pod that replaces {}", old.pod.meta.name),
        None => actor.pod.meta.name.to_string(),
    };
    match actor.stage {
        Stage::Pending if actor.pod.spec.scheduling_gates.is_empty() => {
            let words = world.refusal(&actor.pod);
            Some(format!("{name} fits on no node ({})", placement::first_sentence(&words)))
        }
        Stage::Pending => Some(format!("{name} is held by scheduling gates")),
        Stage::Live => {
            let owner = ground.owners.of(&actor.pod);
            let never = owner.and_then(|o| o.never_ready.clone()).filter(|_| actor.replaces.is_some());
            never
                .map(|why| format!("{name} will not become Ready: {why}"))
                .or_else(|| Some(format!("{name} is not Ready ({})", why_not_ready(ground.snapshot, &actor.pod)?.text)))
        }
        Stage::Gone | Stage::Leaving => {
            if let Some(why) = &actor.uncreated {
                return Some(format!("{} cannot be made again: {why}", actor.pod.meta.name));
            }
            if world.replacement_of(at).is_some() {
                return None;
            }
            let lower = world.waits_for(at)?;
            let state = why_not_ready(ground.snapshot, &lower).map(|w| format!(" ({})", w.text)).unwrap_or_default();
            Some(format!("{} is made again only when {} is Ready{state}", actor.pod.meta.name, lower.meta.name))
        }
    }
}

/// What follows once a pod has gone.
pub fn after(
    ground: &Ground<'_>,
    world: &World<'_>,
    c: &Candidate,
    a: &Attempt,
    replacement: Option<&Replacement>,
    drained: &[Str],
) -> Vec<Note> {
    let mut notes = Vec::new();
    let owner = ground.owners.of(&c.pod);
    let pinned = pinned(ground, &c.pod, drained);
    if let Some(Replacement::Unschedulable(words)) = replacement {
        notes.extend(pinned.clone());
        let words = placement::first_sentence(words);
        let text = format!("the pod that replaces it fits on no other node: {words}");
        let severity = if pinned.is_empty() { Severity::Error } else { Severity::Warning };
        let mut note = Note::new(Code::ReplacementUnschedulable, text).severity(severity);
        note.remedies = world.replacement_of(a.actor).map(|new| cures(ground, world, &new.pod)).unwrap_or_default();
        notes.push(note);
    } else if replacement.is_none() {
        notes.extend(pinned);
    }
    let new = world.replacement_of(a.actor);
    if let Some(new) = new.filter(|n| !n.preempted.is_empty()) {
        let victims: Vec<String> = new.preempted.iter().map(|v| v.meta.path()).collect();
        let text = format!(
            "the pod that replaces it fits only by preempting {} on {}",
            some(victims.iter().map(|v| &**v), 3),
            new.node.as_deref().unwrap_or_default()
        );
        notes.push(Note::new(Code::ReplacementPreempts, text).about(new.preempted.iter().map(|v| Ref::pod(v))));
    }
    let refused = world.actor(a.actor).and_then(|x| x.uncreated.clone());
    if let Some(why) = refused {
        notes.push(uncreated(ground, &c.pod, &why));
    }
    if let Some(why) = owner.filter(|_| new.is_some()).and_then(|o| o.never_ready.clone()) {
        let text = format!("new pods of its workload do not become Ready today: {why}; waiting does not help");
        notes.push(Note::new(Code::ReplacementNeverReady, text).severity(Severity::Warning));
    }
    if let Some(lower) =
        world.waits_for(a.actor).filter(|_| owner.is_some_and(|o| o.makes == Makes::InOrder) && new.is_none())
    {
        let state = why_not_ready(ground.snapshot, &lower).map(|w| format!(": {}", w.text)).unwrap_or_default();
        let text = format!("it is not made again before {} is Ready{state}", lower.meta.name);
        notes.push(Note::new(Code::Ordered, text).about([Ref::pod(&lower)]).severity(Severity::Warning));
    }
    notes.extend(downtime(ground, c, drained));
    notes
}

/// So many cures of a pod without a place are told.
const CURES: usize = 2;

/// What would let a new pod fit beside the nodes that are drained, tried with the filters.
fn cures(ground: &Ground<'_>, world: &World<'_>, new: &Arc<Pod>) -> Vec<Remedy> {
    if world.is_quick() {
        return Vec::new();
    }
    let owner = ground.snapshot.top_controller_of(&new.meta);
    let (_, findings) = explained(new, owner, &world.state, &Outlook::default(), &Context::new(ground.snapshot), true);
    // The cordon is the drain's own.
    let others = findings.into_iter().filter(|f| f.code != Code::Cordoned);
    others.flat_map(|f| f.remedies).filter(Remedy::is_verified).take(CURES).collect()
}

fn uncreated(ground: &Ground<'_>, pod: &Pod, why: &str) -> Note {
    let quotas = ground.snapshot.quotas.in_namespace(pod.meta.ns());
    let named = quotas.iter().find(|q| why.contains(&*q.meta.name));
    let text = format!("the pod that replaces it cannot be created: {why}");
    let note = Note::new(Code::Quota, text);
    match named {
        Some(q) => {
            let text = format!("raise spec.hard of ResourceQuota {}, or state what the pods ask for", q.meta.path());
            note.about([Ref::of(crate::snapshot::Kind::ResourceQuota, &q.meta)]).remedy(Remedy::advice(text))
        }
        None => note,
    }
}

/// Whether only nodes that are drained can take the pod: by its own rules, or by a volume.
fn pinned(ground: &Ground<'_>, pod: &Pod, drained: &[Str]) -> Vec<Note> {
    let others = || ground.snapshot.nodes.iter().filter(|n| !drained.contains(&n.meta.name));
    let mut notes = Vec::new();
    let here = drained.join(", ");
    let rules = pod.spec.node_affinity.is_some() || !pod.spec.node_selector.is_empty();
    if rules && !others().any(|n| node_affinity::matches(pod, n)) {
        let text = format!("its node selector or affinity admits no other node than {here}");
        notes.push(Note::new(Code::PinnedNode, text).severity(Severity::Warning));
    }
    for (claim, reach) in volumes(ground, pod) {
        if !others().any(|n| reach(n)) {
            let text = format!("the volume of its claim {claim} is reached from {here} only");
            notes.push(Note::new(Code::PinnedVolume, text).severity(Severity::Warning));
        }
    }
    notes
}

type Reach<'a> = Box<dyn Fn(&Node) -> bool + 'a>;

/// The pod's bound claims whose volumes are not reached from everywhere.
fn volumes<'a>(ground: &Ground<'a>, pod: &'a Pod) -> Vec<(String, Reach<'a>)> {
    let snapshot = ground.snapshot;
    let claims = pod.volumes.iter().filter_map(|v| match &v.source {
        VolumeSource::Claim { name, .. } => Some(name.to_string()),
        VolumeSource::Ephemeral { .. } => Some(format!("{}-{}", pod.meta.name, v.name)),
        _ => None,
    });
    let affinity = |claim: String| -> Option<(String, Reach<'a>)> {
        let bound = snapshot.persistent_volume_claims.named(pod.meta.ns(), &claim)?;
        let volume = snapshot.persistent_volumes.named("", &bound.spec.as_ref()?.volume_name)?;
        let required = volume.spec.as_ref()?.node_affinity.as_ref()?.required.as_ref()?;
        let selector = NodeSelector::read(required, &mut crate::snapshot::intern::Interner::default());
        Some((claim, Box::new(move |n: &Node| selector.matches(&n.meta.name, &n.meta.labels))))
    };
    claims.filter_map(affinity).collect()
}

/// Whether a workload without a budget has all its Ready pods on the nodes that are drained.
fn downtime(ground: &Ground<'_>, c: &Candidate, drained: &[Str]) -> Option<Note> {
    if !c.budgets.is_empty() || c.pod.is_finished() || !c.pod.is_ready() {
        return None;
    }
    let top = ground.snapshot.top_controller_of(&c.pod.meta)?;
    if matches!(&*top.kind, "Job" | "CronJob" | "DaemonSet") {
        return None;
    }
    let siblings = ground.siblings(&c.pod);
    let elsewhere =
        |p: &&Arc<Pod>| p.is_ready() && !p.is_terminating() && p.node.as_ref().is_some_and(|n| !drained.contains(n));
    if siblings.iter().any(elsewhere) {
        return None;
    }
    let n = siblings.iter().filter(|p| p.is_ready()).count();
    let whose = if n == 1 { "its only pod leaves".to_owned() } else { format!("all its {n} pods leave") };
    let text = format!(
        "{} {} is down until new pods are Ready: {whose}, and no budget protects it",
        top.kind,
        top.meta.path()
    );
    Some(Note::new(Code::Downtime, text).about([Ref::workload(top)]))
}
