//! `NodeResourcesFit`: there must be a pod slot and enough of every resource.
//! Mirrors `plugins/noderesources/fit.go` (`fitsRequest`, `shouldDelegateResourceToDRA`).

use super::dynamic_resources::extended;
use super::{Filter, Incoming, Prepared};
use crate::sched::catalogue::ResourceId;
use crate::sched::node::NodeInfo;
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::snapshot::Str;

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let offered = |id: ResourceId| {
        let name = incoming.state.catalogue().resource_name(id);
        let offered = incoming.state.minor() >= 36 && extended::class_of(incoming.snapshot(), &name).is_some();
        (id, (name, offered))
    };
    let scalars = incoming.info.request.scalars.iter().map(|(id, _)| offered(*id)).collect();
    let plain = ["cpu", "memory", "ephemeral-storage"].map(Str::from);
    Prepared::Runs(Box::new(Fit { incoming: incoming.clone(), plain, scalars }))
}

struct Fit<'a> {
    incoming: Incoming<'a>,
    /// Names made once: cpu, memory, ephemeral storage.
    plain: [Str; 3],
    /// Each counted resource asked for: its name, and whether a DeviceClass offers it.
    scalars: Vec<(ResourceId, (Str, bool))>,
}

/// A resource of which a node has too little.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Short {
    /// What is short.
    pub what: Shortage,
    /// How much is asked for, in the scheduler's units.
    pub asked: i64,
    /// How much of it pods take.
    pub used: i64,
    /// How much pods may have.
    pub capacity: i64,
}

/// What is short on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// Pod slots.
    Pods,
    /// Thousandths of a core.
    Cpu,
    /// Bytes of memory.
    Memory,
    /// Bytes of ephemeral storage.
    Ephemeral,
    /// Pieces of a counted resource.
    Scalar(ResourceId),
}

impl Short {
    /// Whether even the empty node would have too little.
    pub fn never(&self) -> bool {
        self.what != Shortage::Pods && self.asked > self.capacity
    }

    /// What is left; below nothing where more is taken than there is.
    pub fn free(&self) -> i64 {
        self.capacity - self.used
    }
}

/// What a node has too little of, in upstream's order. `delegated` says which counted resources a DeviceClass offers.
pub fn shortages<'a>(
    incoming: &'a Incoming<'_>,
    node: &'a NodeInfo,
    delegated: impl Fn(ResourceId) -> bool + 'a,
) -> impl Iterator<Item = Short> + 'a {
    let r = &incoming.info.request;
    let (have, used) = (&node.allocatable, &node.requested);
    let pods = i64::try_from(node.pods.len()).unwrap_or(i64::MAX);
    let slots = Short { what: Shortage::Pods, asked: 1, used: pods, capacity: node.pod_slots };
    let plain = [
        slots,
        Short { what: Shortage::Cpu, asked: r.cpu, used: used.cpu, capacity: have.cpu },
        Short { what: Shortage::Memory, asked: r.memory, used: used.memory, capacity: have.memory },
        Short { what: Shortage::Ephemeral, asked: r.ephemeral, used: used.ephemeral, capacity: have.ephemeral },
    ];
    let scalars = r.scalars.iter().map(|(id, asked)| Short {
        what: Shortage::Scalar(*id),
        asked: *asked,
        used: used.scalar(*id),
        capacity: have.scalar(*id),
    });
    let left_to_devices = move |s: &Short| matches!(s.what, Shortage::Scalar(id) if s.capacity <= 0 && delegated(id));
    plain.into_iter().chain(scalars).filter(move |s| s.asked > 0 && s.asked > s.free() && !left_to_devices(s))
}

impl Fit<'_> {
    fn scalar(&self, id: ResourceId) -> Option<&(Str, bool)> {
        self.scalars.iter().find(|(i, _)| *i == id).map(|(_, s)| s)
    }
}

impl Filter for Fit<'_> {
    fn plugin(&self) -> Plugin {
        Plugin::NodeResourcesFit
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        let mut verdict = Verdict::Fits;
        for short in shortages(&self.incoming, node, |id| self.scalar(id).is_some_and(|(_, offered)| *offered)) {
            verdict = verdict.max(if short.never() { Verdict::Unresolvable } else { Verdict::Unschedulable });
            let [cpu, memory, ephemeral] = &self.plain;
            reasons.push(match short.what {
                Shortage::Pods => Reason::TooManyPods,
                Shortage::Cpu => Reason::Insufficient(cpu.clone()),
                Shortage::Memory => Reason::Insufficient(memory.clone()),
                Shortage::Ephemeral => Reason::Insufficient(ephemeral.clone()),
                Shortage::Scalar(id) => {
                    Reason::Insufficient(self.scalar(id).map_or_else(|| "".into(), |(n, _)| n.clone()))
                }
            });
        }
        verdict
    }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use crate::sched::Plugin::NodeResourcesFit;
    use crate::sched::testing::{node, pod, refusal, refusals};
    use serde_json::{Value, json};

    fn asks(containers: Value) -> Value {
        pod("p", json!({"spec": containers}))
    }

    fn container(requests: Value) -> Value {
        json!({"name": "c", "resources": {"requests": requests}})
    }

    #[test]
    fn room_is_judged_as_upstream() {
        // After TestEnoughRequests: the node has 4 cpu, 8Gi, 10 pods; one pod of it requests 3 cpu and 6Gi.
        let n = || node("n", json!({"status": {"allocatable": {"example.com/a": "2"}}}));
        let other = || {
            let requests = json!({"cpu": "3", "memory": "6Gi", "example.com/a": "1"});
            pod("other", json!({"spec": {"nodeName": "n", "containers": [container(requests)]}}))
        };
        let always = json!({"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}});
        for (title, spec, want) in [
            ("fits", json!({"containers": [container(json!({"cpu": "1"}))]}), vec![]),
            (
                "cpu",
                json!({"containers": [container(json!({"cpu": "1001m"}))]}),
                refusal(NodeResourcesFit, true, &["Insufficient cpu"]),
            ),
            (
                "both",
                json!({"containers": [container(json!({"cpu": "2", "memory": "3Gi"}))]}),
                refusal(NodeResourcesFit, true, &["Insufficient cpu", "Insufficient memory"]),
            ),
            (
                "more than the node has",
                json!({"containers": [container(json!({"cpu": "5"}))]}),
                refusal(NodeResourcesFit, false, &["Insufficient cpu"]),
            ),
            (
                "a scalar taken",
                json!({"containers": [container(json!({"example.com/a": "2"}))]}),
                refusal(NodeResourcesFit, true, &["Insufficient example.com/a"]),
            ),
            (
                "a scalar the node has not",
                json!({"containers": [container(json!({"example.com/b": "1"}))]}),
                refusal(NodeResourcesFit, false, &["Insufficient example.com/b"]),
            ),
            (
                "the init container that asks most decides",
                json!({"containers": [container(json!({"cpu": "500m"}))],
                       "initContainers": [container(json!({"cpu": "2"}))]}),
                refusal(NodeResourcesFit, true, &["Insufficient cpu"]),
            ),
            (
                "a sidecar is added",
                json!({"containers": [container(json!({"cpu": "600m"}))], "initContainers": [always]}),
                refusal(NodeResourcesFit, true, &["Insufficient cpu"]),
            ),
            (
                "overhead is added",
                json!({"containers": [container(json!({"cpu": "1"}))], "overhead": {"cpu": "1m"}}),
                refusal(NodeResourcesFit, true, &["Insufficient cpu"]),
            ),
            (
                "requests of the pod as a whole replace those of its containers",
                json!({"containers": [container(json!({"cpu": "100m"}))], "resources": {"requests": {"cpu": "2"}}}),
                refusal(NodeResourcesFit, true, &["Insufficient cpu"]),
            ),
        ] {
            assert_eq!(refusals(&[n(), other(), asks(spec)]), want, "{title}");
        }
    }

    #[test]
    fn slots_are_counted() {
        let n = node("n", json!({"status": {"allocatable": {"pods": "2"}}}));
        let mut all = vec![n, pod("p", json!({"spec": {"containers": [{"name": "c"}]}}))];
        all.push(pod("done", json!({"spec": {"nodeName": "n"}, "status": {"phase": "Succeeded"}})));
        all.push(pod(
            "ending",
            json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z"}, "spec": {"nodeName": "n"}}),
        ));
        assert_eq!(refusals(&all), vec![], "a finished pod takes no slot");
        all.push(pod("third", json!({"spec": {"nodeName": "n"}})));
        assert_eq!(refusals(&all), refusal(NodeResourcesFit, true, &["Too many pods"]));
    }
}
