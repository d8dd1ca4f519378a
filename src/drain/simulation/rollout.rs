//! A Deployment that makes its pods anew. Mirrors `rolloutRolling` of `pkg/controller/deployment/rolling.go`.

use super::Simulation;
use super::pods::{PodId, Stage};
use crate::budget::rolling_update::resolve_fenceposts;
use crate::drain::controllers::{controller_key, rollout_never_ready};
use crate::drain::replacement::{new_name, replacement};
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Workload};
use std::sync::Arc;

/// More pods than this are not rolled out: what a plan promises of one would take too long to find out.
const MOST: usize = 200;

impl Simulation<'_> {
    /// Makes all pods of a Deployment anew, and lets the time pass that it takes. Whether it ends.
    pub fn roll_out(&mut self, deployment: &Workload) -> bool {
        let Detail::Deployment(detail) = &deployment.detail else { return false };
        let replicas = i64::from(deployment.replicas().unwrap_or_default());
        let spec = &detail.0;
        let bounds = resolve_fenceposts(spec.strategy.as_ref(), replicas).filter(|_| !spec.paused);
        let Some((surge, unavailable)) = bounds else { return false };
        let here = |p: &&Arc<Pod>| {
            let top = self.context.snapshot.top_controller_of(&p.meta);
            !p.is_finished() && top.is_some_and(|w| w.meta.name == deployment.meta.name && w.kind == deployment.kind)
        };
        let pods: Vec<Arc<Pod>> =
            self.context.snapshot.pods.in_namespace(deployment.meta.ns()).iter().filter(here).cloned().collect();
        let Some(like) = pods.first().cloned() else { return replicas == 0 };
        if rollout_never_ready(self.context.snapshot, &pods.iter().collect::<Vec<_>>()).is_some() {
            return false;
        }
        if pods.len() > MOST || replicas > MOST as i64 {
            return false;
        }
        // The Deployment makes and takes pods itself now.
        self.rolling.extend(pods.iter().filter_map(|p| controller_key(p)));
        let budgets = self.context.budgets.of(&like).to_vec();
        self.watch(&budgets);
        let mut old: Vec<PodId> = pods.iter().map(|p| self.enter(p)).collect();
        let mut new: Vec<PodId> = Vec::new();
        loop {
            old.retain(|id| self.is_live(*id));
            let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
            let room = (replicas + surge - count(old.len() + new.len())).min(replicas - count(new.len()));
            for _ in 0..room {
                match self.create_anew(&like) {
                    Some(id) => new.push(id),
                    None => return false,
                }
            }
            self.scale_down(&old, &new, replicas - unavailable);
            old.retain(|id| self.is_live(*id));
            let ready = |id: &PodId| self.pods.get(*id).is_some_and(|p| p.ready);
            if old.is_empty() && count(new.len()) >= replicas && new.iter().all(ready) {
                break;
            }
            self.advance(self.now);
            let Some(next) = self.next_event() else { return false };
            self.advance(next);
        }
        self.rolling.clear();
        true
    }

    fn is_live(&self, id: PodId) -> bool {
        self.pods.get(id).is_some_and(|p| matches!(p.stage, Stage::Pending | Stage::Bound))
    }

    /// Makes a pod of the new revision; `None` where it is refused.
    fn create_anew(&mut self, like: &Arc<Pod>) -> Option<PodId> {
        let name = new_name(like, self.pods.len());
        let pod = replacement(like, name, None, self.context.snapshot.now);
        let controller = self.controller(like)?;
        if self.refuses_creation(&controller, &pod).is_some() {
            return None;
        }
        self.usage.take(self.context.snapshot, &pod);
        let id = self.add_new(&pod, None);
        self.wait_for_node(id);
        Some(id)
    }

    /// Takes old pods away: those that are not Ready first, then as many as may be missing.
    fn scale_down(&mut self, old: &[PodId], new: &[PodId], least: i64) {
        let ready = |sim: &Self, ids: &[PodId]| {
            let ready = ids.iter().filter(|id| sim.pods.get(**id).is_some_and(|p| p.ready)).count();
            i64::try_from(ready).unwrap_or(i64::MAX)
        };
        let len = |ids: &[PodId]| i64::try_from(ids.len()).unwrap_or(i64::MAX);
        let unready_new = len(new) - ready(self, new);
        let mut most = len(old) + len(new) - least - unready_new;
        let mut spare = ready(self, old) + ready(self, new) - least;
        let mut order: Vec<PodId> = old.to_vec();
        order.sort_by_key(|id| self.pods.get(*id).is_some_and(|p| p.ready));
        for id in order {
            let Some(sim) = self.pods.get(id) else { continue };
            if most <= 0 || (sim.ready && spare <= 0) {
                break;
            }
            most -= 1;
            spare -= i64::from(sim.ready);
            let grace = sim.pod.spec.termination_grace.max(0);
            self.delete(id, Some(grace));
        }
    }
}
