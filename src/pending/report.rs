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
use crate::sched::kin::Kin;
use crate::shell::Kubectl;
use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Kind, Snapshot};
use std::collections::HashMap;
use std::sync::Arc;

/// Why what is asked about is not running; or the name of what is not there.
pub fn pending(request: &Request, snapshot: &Snapshot, state: &State) -> Result<Vec<Item>, Target> {
    let subjects = select::select(request, snapshot)?;
    let kubectl = Kubectl::of(snapshot);
    let pods = subjects.iter().filter(|s| matches!(s, Subject::Pod(_))).count();
    let named = !request.targets.is_empty();
    let tries = named || pods * state.nodes().len() < TRIED;
    let mut run = Run { snapshot, state, kubectl: &kubectl, named, tries, known: HashMap::new() };
    let mut items: Vec<Item> = subjects
        .into_iter()
        .filter_map(|s| match s {
            Subject::Pod(p) => Some(run.pod(&p)),
            Subject::Workload(w) => workload(&w, request, snapshot, &kubectl),
        })
        .collect();
    if request.targets.is_empty() {
        // Worst first: what needs somebody to do something, then what matters most.
        items.sort_by_key(|i| (!i.is_stuck(), std::cmp::Reverse(i.priority())));
    }
    Ok(items)
}

/// Up to so many pods times nodes, cures are looked for although no pod was asked for by name.
const TRIED: usize = 20_000;

/// One run over many pods; those that the scheduler cannot tell apart are judged once.
struct Run<'a> {
    snapshot: &'a Snapshot,
    state: &'a State,
    kubectl: &'a Kubectl,
    named: bool,
    tries: bool,
    known: HashMap<Kin, (Scheduling, Vec<Finding>)>,
}

impl Run<'_> {
    fn pod(&mut self, pod: &Arc<Pod>) -> Item {
        let stage = Stage::of(pod);
        let mut item = Item {
            subject: Subject::Pod(pod.clone()),
            owner: self.snapshot.top_controller_of(&pod.meta).cloned(),
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
                item.findings.extend(recorded::scheduler(pod, self.snapshot));
                if let ReadOutcome::Forbidden(_) | ReadOutcome::Failed(_) = self.snapshot.coverage.of(Kind::Node) {
                    // Without its nodes nothing can be said of a cluster.
                    item.stage = Stage::Unknown;
                    return item;
                }
                let ours = &*pod.spec.scheduler_name == recorded::DEFAULT_SCHEDULER;
                if ours && !rejected(pod) {
                    self.unscheduled(pod, &mut item);
                }
            }
            Stage::Bound => item.findings = startup::findings(pod, self.snapshot),
            Stage::NotCreated | Stage::Unknown => {}
        }
        item
    }

    fn unscheduled(&mut self, pod: &Arc<Pod>, item: &mut Item) {
        let owner = item.owner.clone();
        let explain = || {
            let (mut s, findings) = explained(pod, owner.as_ref(), self.state, self.kubectl, self.tries);
            if !self.named {
                // What each node's preemption met is told of pods that were asked for by name only.
                s.preemption.failures = Vec::new();
            }
            (s, findings)
        };
        let (s, findings) = match Kin::of(pod) {
            Some(kin) => self.known.entry(kin).or_insert_with(explain).clone(),
            None => explain(),
        };
        item.findings.extend(findings);
        item.findings.extend(recorded::stale(pod, &s.message, self.snapshot));
        item.scheduling = Some(s);
    }
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
    let by_kueue = pod.spec.scheduling_gates.iter().any(|g| g.starts_with("kueue.x-k8s.io/"));
    let queue = pod.meta.labels.get("kueue.x-k8s.io/queue-name");
    let holder = match (by_kueue, queue) {
        (true, Some(queue)) => format!("; Kueue holds it in queue {queue} until there is quota for it"),
        (true, None) => "; Kueue holds it".to_owned(),
        (false, _) => "; whoever set a gate has to take it off".to_owned(),
    };
    Finding::new(Code::Gated, format!("scheduling gates keep the scheduler from looking at it: {gates}{holder}"))
}

/// What the scheduler makes of a pod, and what that means.
pub fn explained(
    pod: &Arc<Pod>,
    owner: Option<&Arc<Workload>>,
    state: &State,
    kubectl: &Kubectl,
    tries: bool,
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
        tries,
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
