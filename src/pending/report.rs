//! Puts the answer together, pod by pod.

use super::facts::Facts;
use super::item::{Item, Subject};
use super::scheduling::{Scheduling, schedule};
use super::select::{self, Request, Target};
use super::stage::{Stage, rejected};
use super::{amounts, creation, explain, nomination, recorded, startup};
use crate::finding::{Code, Finding};
use crate::sched::State;
use crate::sched::filters::Incoming;
use crate::shell::Kubectl;
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// Why what is asked about is not running; or the name of what is not there.
pub fn pending(request: &Request, snapshot: &Snapshot, state: &State) -> Result<Vec<Item>, Target> {
    let subjects = select::select(request, snapshot)?;
    let kubectl = Kubectl::of(snapshot);
    Ok(subjects
        .into_iter()
        .filter_map(|s| match s {
            Subject::Pod(p) => Some(pod(&p, snapshot, state, &kubectl)),
            Subject::Workload(w) => workload(&w, request, snapshot, &kubectl),
        })
        .collect())
}

fn pod(pod: &Arc<Pod>, snapshot: &Snapshot, state: &State, kubectl: &Kubectl) -> Item {
    let stage = Stage::of(pod);
    let mut item = Item {
        subject: Subject::Pod(pod.clone()),
        owner: snapshot.top_controller_of(&pod.meta).cloned(),
        stage,
        asks: amounts::asks(pod),
        missing: 0,
        placement: None,
        scheduling: None,
        findings: Vec::new(),
    };
    match stage {
        Stage::Gated => item.findings.push(gated(pod)),
        Stage::Unscheduled | Stage::Nominated => {
            let other = recorded::scheduler(pod, snapshot);
            let ours = &*pod.spec.scheduler_name == recorded::DEFAULT_SCHEDULER;
            item.findings.extend(other);
            if ours && !rejected(pod) {
                unscheduled(pod, &mut item, state, kubectl);
            }
        }
        Stage::Bound => item.findings = startup::findings(pod, snapshot),
        Stage::NotCreated | Stage::Unknown => {}
    }
    item
}

/// A workload that lacks pods. Among all of a namespace only those of which a cause is seen.
fn workload(w: &Arc<Workload>, request: &Request, snapshot: &Snapshot, kubectl: &Kubectl) -> Option<Item> {
    let lacking = creation::lacking(w, snapshot, kubectl)?;
    if request.targets.is_empty() && lacking.findings.is_empty() {
        return None;
    }
    Some(Item {
        subject: Subject::Workload(w.clone()),
        owner: None,
        stage: Stage::NotCreated,
        asks: Vec::new(),
        missing: lacking.missing,
        placement: None,
        scheduling: None,
        findings: lacking.findings,
    })
}

/// Gates hold the pod.
pub fn gated(pod: &Pod) -> Finding {
    let gates = pod.spec.scheduling_gates.join(", ");
    Finding::new(Code::Gated, format!("scheduling gates keep the scheduler from looking at it: {gates}"))
}

fn unscheduled(pod: &Arc<Pod>, item: &mut Item, state: &State, kubectl: &Kubectl) {
    let (s, findings) = explained(pod, item.owner.as_ref(), state, kubectl);
    item.findings.extend(findings);
    item.findings.extend(recorded::stale(pod, &s.message, state.snapshot()));
    item.scheduling = Some(s);
}

/// What the scheduler makes of a pod, and what that means.
pub fn explained(
    pod: &Arc<Pod>,
    owner: Option<&Arc<Workload>>,
    state: &State,
    kubectl: &Kubectl,
) -> (Scheduling, Vec<Finding>) {
    let (mut s, diagnosis) = schedule(state, pod);
    let facts = Facts {
        state,
        incoming: Incoming::new(state, pod),
        diagnosis: &diagnosis,
        preemption: &s.preemption,
        groups: &s.groups,
        owner,
        kubectl,
    };
    let why = explain::preemption::why(&facts);
    let mut findings = explain::findings(&facts, &why);
    findings.extend(nomination::stale(&facts));
    findings.extend(fits_now(&s, state));
    s.why = why;
    (s, findings)
}

fn fits_now(s: &Scheduling, state: &State) -> Option<Finding> {
    let names: Vec<_> = s.fits.iter().filter_map(|id| Some(state.node(*id)?.name().clone())).collect();
    (!names.is_empty()).then(|| {
        let on = super::facts::some(&names);
        Finding::new(Code::FitsNow, format!("in the present state it fits on {on}: it should get a node soon"))
    })
}
