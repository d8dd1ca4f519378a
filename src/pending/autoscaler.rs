//! What a node autoscaler said about a pod: Cluster Autoscaler and Karpenter tell it in events.

use crate::snapshot::Snapshot;
use crate::snapshot::age::age;
use crate::snapshot::pod::Pod;

/// Reasons of Cluster Autoscaler's events about pods.
const REASONS: [&str; 2] = ["NotTriggerScaleUp", "TriggeredScaleUp"];

/// The newest words of an autoscaler about the pod.
pub fn said(pod: &Pod, snapshot: &Snapshot) -> Option<String> {
    let events = snapshot.events_about("Pod", pod.meta.ns(), &pod.meta.name);
    let ours = events.filter(|e| REASONS.contains(&&*e.reason) || e.reporter.contains("karpenter"));
    let newest = ours.max_by_key(|e| e.last_seen)?;
    let who = if newest.reporter.contains("karpenter") { "Karpenter" } else { "the cluster autoscaler" };
    let ago = newest.last_seen.map(|t| format!(" {} ago", age(t, snapshot.now))).unwrap_or_default();
    Some(format!("{who} said{ago}: {}", newest.message))
}
