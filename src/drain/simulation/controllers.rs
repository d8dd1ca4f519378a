//! What the controllers of pods do as their pods end and become Ready: ReplicaSets, StatefulSets, Jobs, and whoever
//! deletes pods besides the drainer.

use super::pods::{NotCreated, PodId, SimPod, Stage};
use super::stateful_sets::Ordinal;
use super::{Event, Simulation};
use crate::admission::Verb;
use crate::drain::controllers::{Controller, Makes, OnEviction, controller_key, pods_of};
use crate::drain::groups;
use crate::drain::replacement::{new_name, replacement};
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Detail;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

impl Simulation<'_> {
    /// The controller of a pod.
    pub(super) fn controller(&self, pod: &Pod) -> Option<Rc<Controller>> {
        self.context.controllers.of(pod)
    }

    fn live(&mut self, pod: &Pod) -> Option<&mut i64> {
        let start = self.controller(pod).map_or(0, |c| c.live);
        Some(self.live.entry(controller_key(pod)?).or_insert(start))
    }

    pub(super) fn controller_sees_deletion(&mut self, id: PodId, pod: &Arc<Pod>, already: bool) {
        if !already && let Some(live) = self.live(pod) {
            *live -= 1;
        }
        match self.controller(pod).map(|c| c.makes) {
            Some(Makes::AtOnce) => self.create(pod, Some(id)),
            Some(Makes::InOrder | Makes::SameName) => self.set_ordinal(pod, Ordinal::Leaving(pod.clone())),
            Some(Makes::AfterGone | Makes::Never) | None => {}
        }
    }

    pub(super) fn controller_sees_end(&mut self, id: PodId, pod: &Arc<Pod>) {
        let controller = self.controller(pod);
        match controller.as_ref().map(|c| c.makes) {
            Some(Makes::AfterGone) => self.create(pod, Some(id)),
            Some(Makes::InOrder | Makes::SameName) => {
                self.set_ordinal(pod, Ordinal::Missing(pod.clone(), Some(id)));
                self.sync_set(pod);
            }
            // What a full quota refused may be made now.
            Some(Makes::AtOnce | Makes::Never) | None => self.retry_creation(Some(pod.meta.ns())),
        }
        let fails =
            |c: &Rc<Controller>| matches!(c.on_eviction(pod), OnEviction::FailsByPolicy | OnEviction::FailsByLimit(_));
        if pod.is_active() && controller.as_ref().is_some_and(fails) {
            self.fail_job(pod);
        }
    }

    /// A Job that has failed deletes the pods that it still has, and makes no more.
    fn fail_job(&mut self, pod: &Pod) {
        let Some(key) = controller_key(pod) else { return };
        if !self.failed_jobs.insert(key.clone()) {
            return;
        }
        for other in pods_of(self.context.snapshot, pod) {
            if !other.is_finished() {
                self.enter(other);
            }
        }
        let running = |p: &SimPod| {
            matches!(p.stage, Stage::Pending | Stage::Bound)
                && !p.pod.is_finished()
                && controller_key(&p.pod).as_ref() == Some(&key)
        };
        let rest: Vec<PodId> = (0..self.pods.len()).filter(|id| self.pods.get(*id).is_some_and(running)).collect();
        for id in rest {
            self.push(self.now, Event::Deleted(id));
        }
    }

    /// The rest of a group that restarts as one is deleted with one of its pods.
    pub(super) fn restart_group(&mut self, pod: &Arc<Pod>) {
        let Some(restart) = groups::restart(self.context, pod).filter(|r| r.certain) else { return };
        for other in &restart.others {
            let id = self.enter(other);
            if self.pods.get(id).is_some_and(|p| matches!(p.stage, Stage::Pending | Stage::Bound)) {
                self.push(self.now, Event::Deleted(id));
            }
        }
    }

    pub(super) fn controller_sees_ready(&mut self, pod: &Arc<Pod>) {
        if matches!(self.controller(pod).map(|c| c.makes), Some(Makes::InOrder | Makes::SameName)) {
            self.set_ordinal(pod, Ordinal::Ready(pod.clone()));
            self.sync_set(pod);
        }
    }

    /// A controller deletes a pod that is still there, past every budget.
    pub(super) fn delete_by_controller(&mut self, id: PodId) {
        let Some(sim) = self.pods.get(id) else { return };
        let pod = sim.pod.clone();
        match sim.stage {
            Stage::Pending | Stage::Bound if pod.is_finished() => self.delete(id, Some(0)),
            Stage::Pending | Stage::Bound => self.delete(id, Some(pod.spec.termination_grace.max(0))),
            Stage::Terminating | Stage::Gone => {}
        }
    }

    /// Tries again to make the pods that could not be made: those of a namespace, or all.
    pub(super) fn retry_creation(&mut self, ns: Option<&str>) {
        let in_namespace = |p: &SimPod| ns.is_none_or(|ns| p.pod.meta.ns() == ns);
        let refused = self.refused.iter().copied();
        let refused: Vec<PodId> = refused.filter(|id| self.pods.get(*id).is_some_and(in_namespace)).collect();
        for id in refused {
            if let Some(pod) = self.pods.get(id).map(|p| p.pod.clone()) {
                self.create(&pod, Some(id));
            }
        }
    }

    /// A controller makes a pod like `old`, in the place of `replaces`.
    pub(super) fn create(&mut self, old: &Arc<Pod>, replaces: Option<PodId>) {
        let Some(controller) = self.controller(old) else { return };
        let live = self.live(old).copied().unwrap_or_default();
        let stopped = |key| self.failed_jobs.contains(&key) || self.rolling.contains(&key);
        let index_fails = old.is_active() && matches!(controller.on_eviction(old), OnEviction::FailsIndex(_));
        if controller.makes == Makes::Never
            || index_fails
            || controller_key(old).is_some_and(stopped)
            || controller.wanted.is_some_and(|wanted| live >= wanted)
        {
            return;
        }
        let keeps_name = matches!(controller.makes, Makes::InOrder | Makes::SameName | Makes::AfterGone);
        let name = if keeps_name { old.meta.name.clone() } else { new_name(old, self.pods.len()) };
        let node = controller.workload.as_ref().and_then(|w| w.template.as_ref()).and_then(|t| t.node.clone());
        let pod = replacement(old, name, node.clone(), self.context.snapshot.now);
        let refused = self.refuses_creation(&controller, &pod);
        if let Some((id, origin)) = replaces.and_then(|id| Some((id, self.pods.get_mut(id)?))) {
            origin.not_replaced.clone_from(&refused);
            if refused.is_some() {
                self.refused.insert(id);
            } else {
                self.refused.remove(&id);
            }
        }
        if refused.is_some() {
            return;
        }
        self.usage.take(self.context.snapshot, &pod);
        if let Some(live) = self.live(old) {
            *live += 1;
        }
        let id = self.add_new(&pod, replaces);
        if keeps_name {
            self.set_ordinal(&pod, Ordinal::Starting(pod.clone()));
        }
        match node {
            Some(node) => self.start(id, &node, 0),
            None if pod.spec.scheduling_gates.is_empty() => self.wait_for_node(id),
            None => {}
        }
    }

    /// A pod that has just been made takes part.
    pub(super) fn add_new(&mut self, pod: &Arc<Pod>, replaces: Option<PodId>) -> PodId {
        let budgets = self.context.budgets.of_new(pod);
        self.disruption.created(self.context.snapshot, &budgets, pod);
        self.add(SimPod {
            pod: pod.clone(),
            budgets,
            stage: Stage::Pending,
            ready: false,
            healthy: false,
            replaces,
            node: None,
            new_node: None,
            preempted: Vec::new(),
            not_replaced: None,
            not_bound: None,
            not_attached: None,
        })
    }

    /// What keeps a controller from making a pod, if anything does.
    pub(super) fn refuses_creation(&self, controller: &Controller, pod: &Arc<Pod>) -> Option<NotCreated> {
        let reported = controller.create_failure.clone().map(NotCreated::Reported);
        let by_webhook = || self.unanswered(Verb::Create, pod).map(NotCreated::Webhook);
        let by_quota = || self.usage.refuses(self.context.snapshot, pod).map(NotCreated::Quota);
        reported.or_else(by_webhook).or_else(by_quota)
    }

    pub(super) fn set_ordinal(&mut self, pod: &Arc<Pod>, ordinal: Ordinal) {
        self.sets.put(self.context.snapshot, pod, ordinal);
    }

    /// A StatefulSet makes what it may make now.
    pub(super) fn sync_set(&mut self, pod: &Arc<Pod>) {
        let Some(controller) = self.controller(pod) else { return };
        let in_order = controller.makes == Makes::InOrder;
        let wanted = controller.wanted.unwrap_or_default();
        let mut tried = HashSet::new();
        while let Some((old, replaces)) = self.sets.next_to_make(self.context.snapshot, pod, in_order, wanted) {
            if !tried.insert(old.meta.name.clone()) {
                return;
            }
            self.create(&old, replaces);
        }
    }

    /// How many pods a controller wants; none where the Deployment of a ReplicaSet wants none.
    fn wanted(&self, controller: &Controller) -> Option<i64> {
        let above = controller.workload.as_ref().and_then(|w| self.context.snapshot.controller_of(&w.meta));
        if above.is_some_and(|d| &*d.kind == "Deployment" && d.replicas() == Some(0)) {
            Some(0)
        } else {
            controller.wanted
        }
    }

    /// A ReplicaSet deletes the pods that it has too many of, past every budget: those that are not Ready first, then the
    /// youngest. Mirrors `getPodsToDelete` of `pkg/controller/replicaset/replica_set.go`, as far as that decides.
    fn delete_surplus(&mut self, pod: &Arc<Pod>, surplus: i64) {
        let Ok(surplus) = usize::try_from(surplus) else { return };
        if surplus == 0 || controller_key(pod).is_some_and(|key| self.rolling.contains(&key)) {
            return;
        }
        let mut live: Vec<&Arc<Pod>> = pods_of(self.context.snapshot, pod);
        live.retain(|p| p.is_active());
        live.sort_by_key(|p| (p.node.is_some(), p.is_ready(), Reverse(p.meta.creation_timestamp)));
        for pod in live.into_iter().take(surplus) {
            let id = self.enter(pod);
            self.push(self.now.saturating_add(self.context.drainer.retry.first()), Event::Deleted(id));
        }
    }

    /// Makes the pods that the controller of `pod` wants and does not have yet.
    pub(super) fn make_missing(&mut self, pod: &Arc<Pod>) {
        let Some(controller) = self.controller(pod) else { return };
        match controller.makes {
            Makes::AtOnce => {
                let live = self.live(pod).copied().unwrap_or_default();
                let wanted = self.wanted(&controller);
                for _ in 0..(wanted.unwrap_or(0) - live).clamp(0, MISSING) {
                    self.create(pod, None);
                }
                let detail = controller.workload.as_ref().map(|w| &w.detail);
                if matches!(detail, Some(Detail::ReplicaSet(_) | Detail::ReplicationController(_))) {
                    self.delete_surplus(pod, live - wanted.unwrap_or(live));
                }
            }
            Makes::InOrder | Makes::SameName => self.sync_set(pod),
            Makes::AfterGone | Makes::Never => {}
        }
    }
}

/// At most so many pods that a controller lacks are made: with more of them missing, more decide nothing else.
const MISSING: i64 = 100;
