//! What follows once a pod has been removed: for its replacement, its workload.

use super::downtime::downtime;
use super::pinned::pinned;
use crate::autoscale::Outlook;
use crate::cure::Remedy;
use crate::drain::context::DrainContext;
use crate::drain::controllers::Makes;
use crate::drain::node_pod::NodePod;
use crate::drain::note::Note;
use crate::drain::outcome::Replacement;
use crate::drain::simulation::drain::Attempt;
use crate::drain::simulation::{NotCreated, Simulation};
use crate::finding::{Code, Ref, Severity};
use crate::lists::some;
use crate::pending::context::Context;
use crate::pending::report::explained;
use crate::sched::message;
use crate::snapshot::pod::Pod;
use crate::snapshot::pod_state::why_not_ready;
use crate::snapshot::{Kind, Str};
use std::sync::Arc;

/// What follows once a pod has been removed.
pub fn notes(
    context: &DrainContext<'_>,
    sim: &Simulation<'_>,
    p: &NodePod,
    a: &Attempt,
    replacement: Option<&Replacement>,
    drained: &[Str],
) -> Vec<Note> {
    let mut notes = Vec::new();
    let controller = context.controllers.of(&p.pod);
    let pinned = pinned(context, &p.pod, drained);
    let new = sim.replacement_of(a.pod);
    if let Some(Replacement::Unschedulable(words)) = replacement {
        let severity = if pinned.is_empty() { Severity::Error } else { Severity::Warning };
        notes.extend(pinned);
        let words = message::first_sentence_of(words);
        let text = format!("the pod that replaces it fits on no other node: {words}");
        let mut note = Note::new(Code::ReplacementUnschedulable, text).severity(severity);
        note.remedies = new.map(|new| cures(context, sim, &new.pod)).unwrap_or_default();
        notes.push(note);
        if let Some(why) = new.and_then(|new| context.new_nodes().refusal(&new.pod, &sim.state)) {
            notes.push(
                Note::new(Code::NodePool, format!("for the pod that replaces it: {why}")).severity(Severity::Warning),
            );
        }
    } else if let Some(Replacement::OnNewNode(new)) = replacement {
        let text = format!(
            "no node that exists can run the pod that replaces it; {}. That the node comes is not promised",
            new.why.replace("for the pod ", "")
        );
        notes.push(Note::new(Code::NodePool, text).about([Ref::new("karpenter.sh/v1", "NodePool", "", &new.pool)]));
    } else if replacement.is_none() {
        notes.extend(pinned);
    }
    if let Some(why) = new.and_then(|n| n.not_bound.as_ref()) {
        let text = format!("the pod that replaces it cannot be bound to a node: {why}");
        notes.push(Note::new(Code::Webhook, text).severity(Severity::Error));
    }
    if let Some(why) = new.and_then(|n| n.not_attached.as_ref()) {
        let text = format!("the pod that replaces it stays in ContainerCreating: {why}");
        notes.push(Note::new(Code::VolumeAttach, text).severity(Severity::Warning));
    }
    if let Some(new) = new.filter(|n| !n.preempted.is_empty()) {
        let victims: Vec<String> = new.preempted.iter().map(|v| v.meta.path()).collect();
        let text = format!(
            "the pod that replaces it fits only by preempting {} on {}",
            some(victims.iter().map(|v| &**v), 3),
            new.node.as_deref().unwrap_or_default()
        );
        notes.push(Note::new(Code::ReplacementPreempts, text).about(new.preempted.iter().map(|v| Ref::pod(v))));
    }
    if let Some(why) = sim.pod(a.pod).and_then(|x| x.not_replaced.as_ref()) {
        notes.push(not_created(context, &p.pod, why));
    }
    if let Some(why) = controller.as_ref().filter(|_| new.is_some()).and_then(|c| c.never_ready.clone()) {
        let text = format!("new pods of its workload do not become Ready today: {why}; waiting does not help");
        notes.push(Note::new(Code::ReplacementNeverReady, text).severity(Severity::Warning));
    }
    let in_order = controller.is_some_and(|c| c.makes == Makes::InOrder) && new.is_none();
    if let Some(lower) = sim.waits_for(a.pod).filter(|_| in_order) {
        let state = why_not_ready(context.snapshot, &lower).map(|w| format!(": {}", w.text)).unwrap_or_default();
        let text = format!("it is not made again before {} is Ready{state}", lower.meta.name);
        notes.push(Note::new(Code::Ordered, text).about([Ref::pod(&lower)]).severity(Severity::Warning));
    }
    notes.extend(downtime(context, p, drained));
    notes
}

/// So many cures of a pod without a place are told.
const CURES: usize = 2;

/// What would let a new pod fit beside the nodes that are drained, tried with the filters.
fn cures(context: &DrainContext<'_>, sim: &Simulation<'_>, new: &Arc<Pod>) -> Vec<Remedy> {
    if context.scheduler.is_sampled() {
        return Vec::new();
    }
    let owner = context.snapshot.top_controller_of(&new.meta);
    let (_, findings) = explained(new, owner, &sim.state, &Outlook::default(), &Context::new(context.snapshot), true);
    // The cordon is the drain's own.
    let others = findings.into_iter().filter(|f| f.code != Code::Cordoned);
    others.flat_map(|f| f.remedies).filter(Remedy::is_verified).take(CURES).collect()
}

fn not_created(context: &DrainContext<'_>, pod: &Pod, why: &NotCreated) -> Note {
    let text = format!("the pod that replaces it cannot be created: {}", why.words());
    let code = match why {
        NotCreated::Webhook(_) => return Note::new(Code::Webhook, text).severity(Severity::Error),
        NotCreated::Quota(_) | NotCreated::Reported(_) => Code::Quota,
    };
    let note = Note::new(code, text);
    let quotas = context.snapshot.quotas.in_namespace(pod.meta.ns());
    let named = quotas.iter().find(|q| why.words().contains(&*q.meta.name));
    match named {
        Some(q) => {
            let text = format!("raise spec.hard of ResourceQuota {}, or set the requests of the pods", q.meta.path());
            note.about([Ref::of(Kind::ResourceQuota, &q.meta)]).remedy(Remedy::advice(text))
        }
        None => note,
    }
}
