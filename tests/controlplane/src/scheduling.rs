//! What the scheduler says to the Pending pods of a loaded snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::api::Event;
use crate::plane::{Controllers, Plane};
use crate::snapshot::{items, key};

/// What the scheduler wrote for one pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Bound to this node.
    Bound(String),
    /// The first PodScheduled condition: its message and reason, and the node nominated with it.
    Waits {
        /// The condition's message.
        message: String,
        /// The condition's reason: Unschedulable, SchedulerError.
        reason: String,
        /// The node that preemption makes room on, unless it was nominated before.
        nominated: Option<String>,
    },
}

/// What the scheduler did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scheduled {
    /// By `namespace/name` of the pod.
    pub pods: BTreeMap<String, Verdict>,
    /// The pods that preemption deleted.
    pub victims: BTreeSet<String>,
}

impl Scheduled {
    /// The pods that were bound.
    pub fn bound(&self) -> impl Iterator<Item = &String> {
        self.pods.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Bound(_))).map(|(pod, _)| pod)
    }

    /// In the recorded form: `{pods: {"ns/name": {message, reason, nominated?} | {bound}}, victims: […]}`.
    pub fn to_json(&self) -> Value {
        let one = |verdict: &Verdict| match verdict {
            Verdict::Bound(node) => json!({"bound": node}),
            Verdict::Waits { message, reason, nominated: None } => json!({"message": message, "reason": reason}),
            Verdict::Waits { message, reason, nominated: Some(node) } => {
                json!({"message": message, "reason": reason, "nominated": node})
            }
        };
        let pods: serde_json::Map<String, Value> = self.pods.iter().map(|(pod, v)| (pod.clone(), one(v))).collect();
        json!({"pods": pods, "victims": self.victims})
    }
}

const PODS: &str = "/api/v1/pods";

/// Whether the scheduler will look at the pod.
pub fn is_pending(pod: &Value) -> bool {
    let spec = &pod["spec"];
    let gated = spec["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
    let finished = ["Succeeded", "Failed"].contains(&pod["status"]["phase"].as_str().unwrap_or_default());
    let ours = spec["schedulerName"].is_null() || spec["schedulerName"] == "default-scheduler";
    let terminating = !pod["metadata"]["deletionTimestamp"].is_null();
    pod["kind"] == "Pod" && spec["nodeName"].is_null() && ours && !gated && !finished && !terminating
}

/// Lets the controller bind the claims that need no scheduler, so that a snapshot taken now holds what the scheduler
/// will see.
pub fn settle_volumes(plane: &mut Plane) -> Result<()> {
    plane.start_controllers(Controllers::Volumes)?;
    // It starts in about a second.
    std::thread::sleep(Duration::from_millis(1000));
    for path in ["/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes"] {
        crate::truth::unchanged(&plane.api, path, Duration::from_millis(700))?;
    }
    Ok(())
}

/// Starts the scheduler, takes its first word for every Pending pod, lets it rest, and ends it. The volumes must have
/// been settled.
pub fn ask(plane: &mut Plane) -> Result<Scheduled> {
    let list = plane.api.get(PODS)?;
    let pending: Vec<Value> = items(&list).iter().map(typed).filter(is_pending).collect();
    let mut waiting: BTreeSet<String> = pending.iter().map(key).collect();
    let nominated: BTreeSet<String> =
        pending.iter().filter(|pod| !pod["status"]["nominatedNodeName"].is_null()).map(key).collect();
    let terminating: BTreeSet<String> = items(&list).iter().filter(|p| is_terminating(p)).map(key).collect();
    let changes = plane.api.watch(PODS, list["metadata"]["resourceVersion"].as_str().unwrap_or_default())?;
    plane.start_scheduler()?;
    let mut scheduled = Scheduled::default();
    listen(plane, &changes, &mut waiting, &nominated, &terminating, &mut scheduled)?;
    plane.stop_scheduler();
    plane.stop_controllers();
    Ok(scheduled)
}

fn listen(
    plane: &mut Plane,
    changes: &Receiver<Event>,
    waiting: &mut BTreeSet<String>,
    nominated: &BTreeSet<String>,
    terminating: &BTreeSet<String>,
    scheduled: &mut Scheduled,
) -> Result<()> {
    let start = Instant::now();
    let mut last_change = Instant::now();
    let quiet = Duration::from_millis(1200);
    while !waiting.is_empty() || last_change.elapsed() < quiet {
        match changes.recv_timeout(Duration::from_millis(200)) {
            Ok(Event { object: pod, .. }) => {
                last_change = Instant::now();
                let name = key(&pod);
                if is_terminating(&pod) && !terminating.contains(&name) {
                    scheduled.victims.insert(name.clone());
                }
                if waiting.contains(&name)
                    && let Some(verdict) = verdict(&pod, nominated.contains(&name))
                {
                    waiting.remove(&name);
                    scheduled.pods.insert(name, verdict);
                }
            }
            Err(RecvTimeoutError::Timeout) => plane.check()?,
            Err(RecvTimeoutError::Disconnected) => bail!("the watch of the pods ended"),
        }
        if start.elapsed() > Duration::from_secs(90) {
            bail!("the scheduler has not looked at {waiting:?}");
        }
    }
    Ok(())
}

fn verdict(pod: &Value, was_nominated: bool) -> Option<Verdict> {
    if let Some(node) = pod["spec"]["nodeName"].as_str() {
        return Some(Verdict::Bound(node.to_owned()));
    }
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let nominated = pod["status"]["nominatedNodeName"].as_str().filter(|_| !was_nominated).map(str::to_owned);
    let condition = conditions.into_iter().find(|c| c["type"] == "PodScheduled" && c["status"] == "False");
    // Nominated without a refusal: a volume is being made on the node before the pod is bound.
    let Some(condition) = condition else { return nominated.map(Verdict::Bound) };
    let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    Some(Verdict::Waits { message: text("message"), reason: text("reason"), nominated })
}

fn is_terminating(pod: &Value) -> bool {
    !pod["metadata"]["deletionTimestamp"].is_null()
}

/// Objects in a list carry no kind.
fn typed(pod: &Value) -> Value {
    let mut pod = pod.clone();
    pod["kind"] = json!("Pod");
    pod
}

/// Takes the scheduler's earlier word from the Pending pods, so that the next one is new.
pub fn forget(items: &mut [Value]) {
    for pod in items.iter_mut().filter(|item| is_pending(item)) {
        if let Some(conditions) = pod.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
            conditions.retain(|c| c["type"] != "PodScheduled");
        }
    }
}
