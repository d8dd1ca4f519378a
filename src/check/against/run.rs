//! Controllers and the scheduler after manifests are applied: workloads have the pods that they want, new pods are placed and
//! become Ready, and the disruption controller has looked again.

use super::apply::Applied;
use super::rank;
use super::template;
use crate::autoscale::{NewNode, NewNodes, Outlook};
use crate::budget::rolling_update::resolve_fenceposts;
use crate::budget::{Basis, Selection, numbers_by};
use crate::drain::replacement::{ready, replacement};
use crate::finding::{Code, Finding, Ref};
use crate::pending::admission::refusals;
use crate::pending::context::Context;
use crate::pending::controllers::daemon_set;
use crate::pending::report::explained;
use crate::pending::{admitted, pods_wanted};
use crate::quota::Usage;
use crate::sched::State;
use crate::sched::place::Placed;
use crate::snapshot::budget::Budget;
use crate::snapshot::meta::{Meta, OwnerRef};
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Scale, Workload};
use crate::snapshot::{Snapshot, Str};
use std::sync::Arc;

/// A cluster once manifests have had their effect.
pub(super) struct Outcome {
    /// The cluster.
    pub snapshot: Snapshot,
    /// Pods that are wanted and have no node.
    pub waiting: Vec<Waiting>,
    /// Changes that the API server refuses, each with its object.
    pub refused: Vec<(Ref, Finding)>,
}

/// Pods of one workload that have no node.
pub(super) struct Waiting {
    /// The first of them.
    pub pod: Arc<Pod>,
    /// The workload; `None` for a pod of its own.
    pub workload: Option<Arc<Workload>>,
    /// How many there are.
    pub count: usize,
    /// Why, the leading cause first.
    pub findings: Vec<Finding>,
    /// The node that could come for the first of them.
    pub new_node: Option<NewNode>,
}

/// Lets controllers and the scheduler run.
pub(super) fn run(applied: Applied, before: &Snapshot) -> Outcome {
    let Applied { mut snapshot, workloads, pods, refused } = applied;
    // What the pods of StatefulSets claim has to be there before the scheduler looks.
    let wanted: Vec<Wanted> =
        workloads.iter().map(|(old, new)| Wanted::new(old.as_deref(), new, &mut snapshot)).collect();
    snapshot.reindex();
    let state = State::new(&snapshot);
    let new_nodes = NewNodes::new(&state);
    let mut run = Run { snapshot, state, new_nodes, usage: Usage::default(), waiting: Vec::new(), made: 0 };
    for wanted in &wanted {
        run.sync(wanted);
    }
    for pod in pods {
        let pod = admitted(&pod, pod.meta.ns(), &run.snapshot);
        if !run.create(&pod) {
            run.wait(None, &pod, 1);
        }
    }
    let Run { mut snapshot, waiting, .. } = run;
    snapshot.reindex();
    look_again(&mut snapshot, before);
    Outcome { snapshot, waiting, refused }
}

/// The disruption controller has looked at every budget that is changed, or whose pods are.
fn look_again(snapshot: &mut Snapshot, before: &Snapshot) {
    let (selection, old) = (Selection::new(snapshot), Selection::new(before));
    let changed = |(at, budget): (usize, &Arc<Budget>)| {
        let numbers = numbers_by(Basis::Present, snapshot, &selection, at)?;
        let position = before.budgets.position(budget.meta.ns(), &budget.meta.name);
        let same = position.is_some_and(|position| {
            before.budgets.get(position).is_some_and(|b| Arc::ptr_eq(b, budget))
                && numbers_by(Basis::Present, before, &old, position) == Some(numbers)
        });
        (!same).then(|| Arc::new(Budget { status: numbers.status(budget), ..(**budget).clone() }))
    };
    let all: Vec<Arc<Budget>> = snapshot.budgets.iter().enumerate().filter_map(changed).collect();
    all.into_iter().for_each(|budget| snapshot.budgets.put(budget));
}

/// A workload, and the pods that it is to have.
struct Wanted {
    workload: Arc<Workload>,
    /// How many; `None` where its kind has no number of pods that is kept.
    count: Option<usize>,
    /// New pods as it makes them, in order of their numbers: so many as nodes can hold.
    new: Vec<Arc<Pod>>,
    /// Whether its present pods are of another template.
    anew: bool,
}

impl Wanted {
    fn new(old: Option<&Workload>, new: &Arc<Workload>, snapshot: &mut Snapshot) -> Self {
        let anew = match (old.and_then(|o| o.template.as_ref()), &new.template) {
            (Some(before), Some(after)) => !template::is_same(before, after),
            _ => false,
        };
        let is_cron_job = matches!(new.detail, Detail::CronJob(_));
        let made = if is_cron_job { None } else { pods_wanted(new, None, snapshot) };
        let (count, pods) = made.map_or((None, Vec::new()), |w| (Some(w.count), w.pods));
        Self { workload: new.clone(), count, new: pods, anew }
    }

    /// By how many pods a rollout exceeds what is wanted, and how many may be unavailable; `None` where nothing is rolled
    /// out.
    fn fenceposts(&self, count: usize) -> Option<(usize, usize)> {
        let replicas = i64::try_from(count).unwrap_or(i64::MAX);
        let Detail::Deployment(detail) = &self.workload.detail else { return None };
        if !self.anew || detail.0.paused {
            return None;
        }
        // One that recreates its pods does without all of them meanwhile.
        let (surge, unavailable) = resolve_fenceposts(detail.0.strategy.as_ref(), replicas).unwrap_or((0, replicas));
        Some((usize::try_from(surge).unwrap_or(0), usize::try_from(unavailable).unwrap_or(0)))
    }

    /// The n-th new pod of a workload.
    fn next(&self, owner: &OwnerRef, at: usize) -> Option<Arc<Pod>> {
        let like = self.new.get(at).or_else(|| self.new.last())?;
        Some(owned(like, owner, format!("{}+{at}", self.workload.meta.name).into()))
    }
}

struct Run {
    snapshot: Snapshot,
    state: State,
    new_nodes: NewNodes,
    usage: Usage,
    waiting: Vec<Waiting>,
    made: usize,
}

impl Run {
    /// The controller of a workload has all that it wants, or as much as finds a place.
    fn sync(&mut self, wanted: &Wanted) {
        let Some(count) = wanted.count else { return };
        let w = &wanted.workload;
        let mut old: Vec<Arc<Pod>> = self.pods_of(w);
        match &w.detail {
            Detail::StatefulSet(detail) => {
                let update = wanted.anew && !detail.0.is_on_delete();
                let (ordered, partition) = (detail.0.is_ordered(), detail.0.partition());
                self.stateful_set(wanted, old, count, ordered, update.then_some(partition));
            }
            Detail::DaemonSet(detail) => self.daemon_set(wanted, &old, wanted.anew && !detail.0.is_on_delete()),
            _ => {
                let owner = self.controller(wanted, count);
                rank::in_order(&mut old, false);
                match wanted.fenceposts(count) {
                    Some((surge, unavailable)) => self.roll(wanted, &owner, old, count, surge, unavailable),
                    None => self.scale(wanted, &owner, &old, count),
                }
            }
        }
    }

    /// As many pods as wanted, the present ones as they are.
    fn scale(&mut self, wanted: &Wanted, owner: &OwnerRef, old: &[Arc<Pod>], count: usize) {
        old.iter().take(old.len().saturating_sub(count)).for_each(|pod| self.delete(pod));
        for at in 0..count.saturating_sub(old.len()) {
            let Some(pod) = wanted.next(owner, at) else { return };
            if !self.create(&pod) {
                self.wait(Some(&wanted.workload), &pod, count - old.len() - at);
                return;
            }
        }
    }

    /// All pods anew, as a rolling update goes. Mirrors `rolloutRolling` of `pkg/controller/deployment/rolling.go`.
    fn roll(
        &mut self,
        wanted: &Wanted,
        owner: &OwnerRef,
        mut old: Vec<Arc<Pod>>,
        count: usize,
        surge: usize,
        unavailable: usize,
    ) {
        let mut made = 0;
        let mut stuck: Option<Arc<Pod>> = None;
        while made < count || !old.is_empty() {
            let before = (made, old.len());
            while made < count && old.len() + made < count + surge {
                let next = stuck.take().map_or_else(|| wanted.next(owner, made), Some);
                let Some(pod) = next else { break };
                if !self.create(&pod) {
                    stuck = Some(pod);
                    break;
                }
                made += 1;
            }
            let least = count.saturating_sub(unavailable);
            let is_ready = |old: &[Arc<Pod>]| old.iter().filter(|p| p.is_ready()).count();
            while let Some(first) = old.first().cloned() {
                if first.is_ready() && is_ready(&old) + made <= least {
                    break;
                }
                self.delete(&first);
                old.remove(0);
            }
            if (made, old.len()) == before {
                break;
            }
        }
        if let Some(pod) = stuck {
            self.wait(Some(&wanted.workload), &pod, count - made);
        }
    }

    /// Pods with numbers: those that are missing are made from the lowest, and those of a former revision are replaced
    /// from the highest down to the partition. Mirrors `updateStatefulSet` of
    /// `pkg/controller/statefulset/stateful_set_control.go`.
    fn stateful_set(
        &mut self,
        wanted: &Wanted,
        mut old: Vec<Arc<Pod>>,
        count: usize,
        ordered: bool,
        partition: Option<i32>,
    ) {
        let owner = owner_of(&wanted.workload);
        let is_surplus = |p: &Arc<Pod>| !wanted.new.iter().any(|new| new.meta.name == p.meta.name);
        rank::in_order(&mut old, true);
        let surplus: Vec<Arc<Pod>> =
            old.iter().filter(|p| is_surplus(p) && wanted.new.len() == count).cloned().collect();
        surplus.iter().for_each(|pod| self.delete(pod));
        old.retain(|p| !surplus.iter().any(|s| Arc::ptr_eq(s, p)));
        let there: Vec<Str> = old.iter().map(|p| p.meta.name.clone()).collect();
        let missing: Vec<Arc<Pod>> = wanted.new.iter().filter(|p| !there.contains(&p.meta.name)).cloned().collect();
        let lacks = count.saturating_sub(there.len());
        for (at, pod) in missing.iter().enumerate() {
            let pod = owned(pod, &owner, pod.meta.name.clone());
            if !self.create(&pod) {
                self.wait(Some(&wanted.workload), &pod, lacks - at);
                // Under OrderedReady nothing else happens before this pod is Ready.
                if ordered {
                    return;
                }
                break;
            }
        }
        let Some(partition) = partition else { return };
        for pod in old.iter().filter(|p| p.ordinal().is_some_and(|n| n >= partition)) {
            let Some(new) = wanted.new.iter().find(|new| new.meta.name == pod.meta.name) else { continue };
            self.delete(pod);
            let new = owned(new, &owner, pod.meta.name.clone());
            if !self.create(&new) {
                self.wait(Some(&wanted.workload), &new, 1);
                return;
            }
        }
    }

    /// A pod on each node that it selects; `anew`: present pods are replaced.
    fn daemon_set(&mut self, wanted: &Wanted, old: &[Arc<Pod>], anew: bool) {
        let (w, owner) = (&wanted.workload, owner_of(&wanted.workload));
        let mut lacking: Vec<Arc<Pod>> = Vec::new();
        let mut kept: Vec<&Arc<Pod>> = Vec::new();
        for new in &wanted.new {
            let there = old.iter().find(|p| p.node.is_some() && p.node.as_ref() == daemon_set::node_of(new));
            match there {
                Some(pod) if !anew => {
                    kept.push(pod);
                    continue;
                }
                Some(pod) => self.delete(pod),
                None => {}
            }
            let pod = owned(new, &owner, new.meta.name.clone());
            if !self.create(&pod) {
                lacking.push(pod);
            }
        }
        old.iter().filter(|p| !anew && !kept.iter().any(|k| Arc::ptr_eq(k, p))).for_each(|p| self.delete(p));
        if let Some(pod) = lacking.first().cloned() {
            self.wait(Some(w), &pod, lacking.len());
        }
    }

    /// Whether a pod is created and finds a node; then it becomes Ready.
    fn create(&mut self, pod: &Arc<Pod>) -> bool {
        if !pod.spec.scheduling_gates.is_empty()
            || self.usage.refuses(&self.snapshot, pod).is_some()
            || self.refusals(pod).next().is_some()
        {
            return false;
        }
        let node = match (&pod.node, self.state.place(pod)) {
            (Some(node), _) => node.clone(),
            (None, Placed::On(node)) => node,
            (None, Placed::Preempting { node, victims }) => {
                victims.iter().for_each(|victim| self.delete(victim));
                self.bind(pod, &node);
                victims.iter().for_each(|victim| self.replace(victim));
                return true;
            }
            (None, Placed::Nowhere) => return false,
        };
        self.bind(pod, &node);
        true
    }

    /// Why the API server refuses a pod; quotas apart, as they count the pods that came and went here.
    fn refusals(&self, pod: &Pod) -> impl Iterator<Item = Finding> {
        refusals(pod, &self.snapshot).into_iter().filter(|f| f.code != Code::Quota)
    }

    fn bind(&mut self, pod: &Arc<Pod>, node: &Str) {
        self.usage.take(&self.snapshot, pod);
        let mut new = (*ready(pod, self.snapshot.now)).clone();
        new.node = Some(node.clone());
        let new = Arc::new(new);
        self.state.bind(&new, node);
        self.snapshot.pods.put(new);
    }

    fn delete(&mut self, pod: &Arc<Pod>) {
        self.usage.release(&self.snapshot, pod);
        self.state.remove(pod);
        self.snapshot.pods.remove(pod.meta.ns(), &pod.meta.name);
    }

    /// The controller of a pod that was preempted makes another one.
    fn replace(&mut self, victim: &Arc<Pod>) {
        if victim.meta.controller.is_none() {
            return;
        }
        self.made += 1;
        let name: Str = match victim.ordinal() {
            Some(_) => victim.meta.name.clone(),
            None => format!("{}+{}", victim.meta.name, self.made).into(),
        };
        let new = replacement(victim, name, None, self.snapshot.now);
        if !self.create(&new) {
            let workload = self.snapshot.top_controller_of(&victim.meta).cloned();
            self.wait(workload.as_ref(), &new, 1);
        }
    }

    /// Pods of a workload have no node: why, is asked of the first of them.
    fn wait(&mut self, workload: Option<&Arc<Workload>>, pod: &Arc<Pod>, count: usize) {
        let mut findings: Vec<Finding> = self.refusals(pod).collect();
        let mut new_node = None;
        if !pod.spec.scheduling_gates.is_empty() {
            let gates = pod.spec.scheduling_gates.join(", ");
            findings
                .push(Finding::new(Code::Gated, format!("scheduling gates keep the scheduler from the pod: {gates}")));
        }
        if findings.is_empty() {
            findings.extend(self.usage.refuses(&self.snapshot, pod).map(|words| Finding::new(Code::Quota, words)));
        }
        if findings.is_empty() {
            self.snapshot.pods.put(pod.clone());
            new_node = self.new_nodes.for_last(std::slice::from_ref(pod), &self.state);
            let (cx, outlook) = (Context::new(&self.snapshot), Outlook::new(&self.state));
            findings = explained(pod, workload, &self.state, &outlook, &cx, false).1;
        }
        let waiting = Waiting { pod: pod.clone(), workload: workload.cloned(), count, findings, new_node };
        self.waiting.push(waiting);
    }

    fn pods_of(&self, w: &Arc<Workload>) -> Vec<Arc<Pod>> {
        let below = self.snapshot.workloads_controlled_by(w);
        let own = self.snapshot.pods_controlled_by(w).into_iter();
        let all = own.chain(below.into_iter().flat_map(|below| self.snapshot.pods_controlled_by(below)));
        // The table by now: what an earlier workload has preempted is gone.
        let is_there = |p: &&Arc<Pod>| self.snapshot.pods.named(p.meta.ns(), &p.meta.name).is_some();
        all.filter(is_there).filter(|p| p.is_active()).cloned().collect()
    }

    /// Who makes the pods of a workload: itself, or the ReplicaSet of its present template.
    fn controller(&mut self, wanted: &Wanted, count: usize) -> OwnerRef {
        let w = &wanted.workload;
        let by_sets = matches!(w.detail, Detail::Deployment(_)) || &*w.kind == "Rollout";
        if !by_sets {
            return owner_of(w);
        }
        let sets: Vec<Arc<Workload>> = self
            .snapshot
            .workloads_controlled_by(w)
            .into_iter()
            .filter(|s| &*s.kind == "ReplicaSet")
            .cloned()
            .collect();
        let present = sets.iter().max_by_key(|s| s.replicas()).filter(|_| !wanted.anew);
        let replicas = Scale::Replicas(i32::try_from(count).unwrap_or(i32::MAX));
        let set = match present {
            Some(set) => Workload { scale: replicas, ..(**set).clone() },
            None => Workload {
                meta: Meta {
                    name: format!("{}+new", w.meta.name).into(),
                    uid: Some(format!("{}/new", w.object()).into()),
                    controller: Some(owner_of(w)),
                    ..w.meta.clone()
                },
                group: "apps".into(),
                version: "v1".into(),
                kind: "ReplicaSet".into(),
                scale: replicas,
                detail: Detail::ReplicaSet(Box::default()),
                ..(**w).clone()
            },
        };
        let set = Arc::new(set);
        if wanted.anew {
            for old in sets {
                self.snapshot.workloads.put(Arc::new(Workload { scale: Scale::Replicas(0), ..(*old).clone() }));
            }
        }
        self.snapshot.workloads.put(set.clone());
        self.snapshot.reindex();
        owner_of(&set)
    }
}

fn owner_of(w: &Workload) -> OwnerRef {
    OwnerRef {
        group: w.group.clone(),
        version: w.version.clone(),
        kind: w.kind.clone(),
        name: w.meta.name.clone(),
        uid: w.meta.uid.clone().unwrap_or_else(|| "".into()),
    }
}

/// The pod under its name, with its controller.
fn owned(pod: &Pod, owner: &OwnerRef, name: Str) -> Arc<Pod> {
    let meta = Meta { name, controller: Some(owner.clone()), ..pod.meta.clone() };
    Arc::new(Pod { meta, ..pod.clone() })
}
