//! Puts the answer together, pod by pod.

use super::context::Context;
use super::facts::Facts;
use super::item::{Item, Subject};
use super::queue::Queue;
use super::queue::shortfall::{Shortfall, shortfall};
use super::scheduling::{Scheduling, Silence, schedule};
use super::select::{self, Request, Target};
use super::stage::{Stage, rejected};
use super::{amounts, controllers, enqueue, explain, kueue, nomination, preempted, recorded, scheduler_error, startup};
use crate::autoscale::Outlook;
use crate::finding::{Code, Finding};
use crate::sched::State;
use crate::sched::filters::Incoming;
use crate::sched::kin::Kin;
use crate::sched::pre_enqueue;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Kind, Snapshot};
use std::collections::HashMap;
use std::sync::Arc;

/// What is asked about, and what is found of it as a whole.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Each pod and each workload.
    pub items: Vec<Item>,
    /// What belongs to no single one.
    pub findings: Vec<Finding>,
}

/// Why what is asked about is not running; or the name of what is not there.
pub fn pending(request: &Request, snapshot: &Snapshot, state: &State) -> Result<Answer, Target> {
    let subjects = select::select(request, snapshot)?;
    let cx = Context::new(snapshot);
    let waits = |s: &Subject| matches!(s, Subject::Pod(p) if p.node.is_none());
    // Without its nodes, and what runs on them, there is no queue to play.
    let known =
        !snapshot.coverage.hides(Kind::Node) && !snapshot.coverage.hides(Kind::Pod) && !state.nodes().is_empty();
    let queue = (known && subjects.iter().any(waits)).then(|| Queue::play(state));
    let pods = subjects.iter().filter(|s| matches!(s, Subject::Pod(_))).count();
    let named = !request.targets.is_empty();
    let tries = named || pods * state.nodes().len() < TRIED;
    let outlook = Outlook::new(state);
    let mut run = Run { cx: &cx, state, outlook: &outlook, queue: queue.as_ref(), named, tries, known: HashMap::new() };
    let mut items: Vec<Item> = subjects
        .into_iter()
        .filter_map(|s| match s {
            Subject::Pod(p) => Some(run.pod(&p)),
            Subject::Workload(w) => run.workload(&w, request),
        })
        .collect();
    if request.targets.is_empty() {
        // Worst first: what needs somebody to do something, then what matters most.
        items.sort_by_key(|i| (!i.is_stuck(), std::cmp::Reverse(i.priority())));
    }
    let short = queue.as_ref().filter(|_| !named).and_then(shortfall);
    Ok(Answer { items, findings: short.iter().map(Shortfall::finding).collect() })
}

/// Up to so many pods times nodes, cures are looked for although no pod was asked for by name.
const TRIED: usize = 20_000;

/// One run over many pods; those that the scheduler cannot tell apart are judged once.
struct Run<'a> {
    cx: &'a Context<'a>,
    state: &'a State,
    outlook: &'a Outlook,
    queue: Option<&'a Queue>,
    named: bool,
    tries: bool,
    known: HashMap<Kin, (Scheduling, Vec<Finding>)>,
}

impl Run<'_> {
    fn pod(&mut self, pod: &Arc<Pod>) -> Item {
        let snapshot = self.cx.snapshot;
        let stage = Stage::of(pod);
        let mut item = Item {
            subject: Subject::Pod(pod.clone()),
            owner: snapshot.top_controller_of(&pod.meta).cloned(),
            stage,
            asks: amounts::asks(pod),
            missing: 0,
            placement: None,
            scheduling: None,
            turn: self.queue.and_then(|q| q.turn(pod)).cloned(),
            findings: Vec::new(),
        };
        match stage {
            Stage::Gated => {
                item.findings.push(gated(pod, self.cx));
                item.findings.extend(enqueue::findings(pod, &pre_enqueue::holds(pod, snapshot), self.cx));
            }
            Stage::Unscheduled | Stage::Nominated if pod.is_terminating() => {
                item.findings.push(startup::deleted(pod, "the scheduler does not look at a pod that is being deleted"));
            }
            Stage::Unscheduled | Stage::Nominated => {
                let holds = pre_enqueue::holds(pod, snapshot);
                if !holds.is_empty() && is_ours(pod) {
                    item.findings = enqueue::findings(pod, &holds, self.cx);
                    return item;
                }
                item.findings.extend(recorded::scheduler(pod, self.cx));
                if snapshot.coverage.hides(Kind::Node) || snapshot.coverage.hides(Kind::Pod) {
                    // Without its nodes, and what runs on them, nothing can be said of a cluster.
                    item.stage = Stage::Unknown;
                    return item;
                }
                if is_ours(pod) && !rejected(pod) {
                    self.unscheduled(pod, &mut item);
                }
            }
            Stage::Bound => item.findings = startup::findings(pod, self.cx),
            Stage::NotCreated | Stage::Unknown => {}
        }
        item
    }

    fn unscheduled(&mut self, pod: &Arc<Pod>, item: &mut Item) {
        let owner = item.owner.clone();
        let explain = || {
            let (mut s, findings) = explained(pod, owner.as_ref(), self.state, self.outlook, self.cx, self.tries);
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
        if let Some(error) = scheduler_error::finding(pod, self.cx) {
            // A node is there; what fails comes after, and waiting does not help.
            item.findings.push(error);
            item.findings.extend(findings.into_iter().filter(|f| f.code != Code::FitsNow));
            item.findings.extend(fits(&s, self.state).map(|on| {
                let message = format!("room is not what is missing: the filters let the pod onto {on}");
                Finding::new(Code::FitsNow, message)
            }));
            item.scheduling = Some(s);
            return;
        }
        let behind = self.queue.and_then(|q| q.finding(pod, &s, self.state));
        let keeps = |f: &Finding| f.code != Code::FitsNow || behind.is_none();
        item.findings.extend(findings.into_iter().filter(keeps));
        item.findings.extend(behind);
        match s.silence {
            // Nobody knows what the scheduler would say, so nothing recorded is out of date.
            Some(Silence::Unknown) => item.stage = Stage::Unknown,
            Some(Silence::NotEnqueued) => item.findings.retain(|f| f.code != Code::NoScheduler),
            None => item.findings.extend(recorded::stale(pod, &s.message, self.cx.snapshot)),
        }
        item.findings.extend(preempted::finding(pod, self.cx.snapshot));
        item.scheduling = Some(s);
    }

    /// A workload that was asked for by name, or lacks pods.
    fn workload(&self, w: &Arc<Workload>, request: &Request) -> Option<Item> {
        let asked = request
            .targets
            .iter()
            .any(|t| matches!(t, Target::Workload(kind, name) if *w.meta.name == **name && kind.is(w)));
        let mut found = controllers::sync(w, self.cx);
        if found.missing == 0 && !asked {
            return None;
        }
        if found.missing == 0 && found.findings.is_empty() {
            found.findings.push(controllers::summary(w, &found, self.cx));
        }
        let above = self.cx.snapshot.top_controller_of(&w.meta).cloned();
        // All its pods have their nodes, or wait and are told of one by one.
        let there = found.missing == 0 && found.current > 0;
        Some(Item {
            subject: Subject::Workload(w.clone()),
            owner: above,
            stage: if there { Stage::Bound } else { Stage::NotCreated },
            asks: Vec::new(),
            missing: found.missing,
            placement: None,
            scheduling: None,
            turn: None,
            findings: found.findings,
        })
    }
}

/// Gates hold the pod.
pub fn gated(pod: &Pod, cx: &Context<'_>) -> Finding {
    let gates = pod.spec.scheduling_gates.join(", ");
    let lead = format!("scheduling gates keep the scheduler from looking at it: {gates}");
    match kueue::of_pod(pod, cx) {
        Some(held) => {
            let mut finding = Finding::new(Code::Gated, format!("{lead}; {}", held.text)).about(held.objects);
            finding.remedies = held.remedies;
            finding.no_remedy = held.no_remedy;
            finding
        }
        None => Finding::new(Code::Gated, format!("{lead}; whoever set a gate has to remove it")),
    }
}

/// What the scheduler makes of a pod, and what that means.
pub fn explained(
    pod: &Arc<Pod>,
    owner: Option<&Arc<Workload>>,
    state: &State,
    outlook: &Outlook,
    cx: &Context<'_>,
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
        cx,
        kubectl: &cx.kubectl,
        outlook,
        tries,
    };
    let why = explain::preemption::why(&facts);
    let mut findings = explain::findings(&facts, &why);
    findings.extend(nomination::stale(&facts));
    findings.extend(other_os(&s, state));
    findings.extend(fits_now(&s, state));
    s.why = why;
    (s, findings)
}

fn fits_now(s: &Scheduling, state: &State) -> Option<Finding> {
    let on = fits(s, state)?;
    Some(Finding::new(Code::FitsNow, format!("in the present state it fits on {on}: it should get a node soon")))
}

/// Nodes that the scheduler would choose and whose kubelet rejects the pod: it looks at `spec.os`, and no filter does. Mirrors
/// `rejectPodAdmissionBasedOnOSSelector` and `rejectPodAdmissionBasedOnOSField` of `pkg/kubelet/lifecycle/predicate.go`.
fn other_os(s: &Scheduling, state: &State) -> Option<Finding> {
    let wanted = s.pod.spec.os.as_deref()?;
    let os = |id: &crate::sched::NodeId| {
        let node = state.node(*id)?;
        let os = node.node.meta.labels.get("kubernetes.io/os").filter(|os| &***os != wanted)?;
        Some(format!("{} ({os})", node.name()))
    };
    let nodes: Vec<String> = s.fits.iter().filter_map(os).collect();
    (!nodes.is_empty()).then(|| {
        let message = format!(
            "spec.os of the pod is {wanted}, which the scheduler does not look at, and the kubelet of {} would reject the pod \
             (PodOSNotSupported)",
            super::facts::some(&nodes)
        );
        let text = format!("add nodeSelector kubernetes.io/os: {wanted} to the pod: then only such nodes are chosen");
        Finding::new(Code::KubeletReject, message).remedy(crate::cure::Remedy::advice(text))
    })
}

/// The nodes that the pod fits on; `None` where there is none.
fn fits(s: &Scheduling, state: &State) -> Option<String> {
    let names: Vec<_> = s.fits.iter().filter_map(|id| Some(state.node(*id)?.name().clone())).collect();
    (!names.is_empty()).then(|| super::facts::some(&names))
}

/// Whether kube-scheduler's default profile looks after the pod.
fn is_ours(pod: &Pod) -> bool {
    &*pod.spec.scheduler_name == recorded::DEFAULT_SCHEDULER
}
