//! How pods are: the statuses that a kubelet would write.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::objects::LONG_AGO;

/// How a pod is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Running and Ready.
    Ready,
    /// Running, in CrashLoopBackOff.
    Crashing,
    /// Running, its readiness probe fails.
    Unready,
    /// Running, its containers are ready and a readiness gate is not.
    Gated,
    /// Running, with a Ready condition of status Unknown.
    Unknown,
    /// Running, with no condition at all.
    Bare,
    /// On a node, its containers are being made.
    Creating,
    /// On a node, its image cannot be pulled.
    NoImage,
    /// Pending, with a Ready condition that is True: what a kubelet never writes, and the API takes.
    PendingReady,
    /// On no node.
    Unscheduled,
    /// Phase Succeeded.
    Succeeded,
    /// Phase Failed.
    Failed,
}

impl Health {
    /// The phase in the status.
    pub fn phase(self) -> &'static str {
        match self {
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Creating | Self::NoImage | Self::PendingReady | Self::Unscheduled => "Pending",
            _ => "Running",
        }
    }

    /// The pod's status, as kubelet and scheduler would have left it long ago.
    pub fn status(self) -> Value {
        self.status_at(LONG_AGO)
    }

    /// The pod's status, as kubelet and scheduler would leave it now.
    pub fn status_since(self, now: &Timestamp) -> Value {
        // Time in the API has no fraction.
        self.status_at(&now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
    }

    /// The pod's status, as a kubelet would change it now: what is as before keeps its times.
    pub fn status_after(self, before: &Value, now: &Timestamp) -> Value {
        let mut status = self.status_since(now);
        for field in ["qosClass", "startTime", "podIP", "podIPs", "hostIP", "hostIPs"] {
            if !before[field].is_null() {
                status[field] = before[field].clone();
            }
        }
        let conditions = status["conditions"].as_array_mut().into_iter().flatten();
        for condition in conditions {
            let old = before["conditions"].as_array().into_iter().flatten();
            let same = |c: &&Value| c["type"] == condition["type"] && c["status"] == condition["status"];
            if let Some(old) = old.into_iter().find(same) {
                condition["lastTransitionTime"] = old["lastTransitionTime"].clone();
            }
        }
        let running = "/containerStatuses/0/state/running";
        if let (Some(old), Some(new)) = (before.pointer(running), status.pointer_mut(running)) {
            *new = old.clone();
        }
        status
    }

    fn status_at(self, at: &str) -> Value {
        let condition = |kind: &str, status: &str, reason: Option<&str>| {
            let mut c = json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": at});
            if let Some(reason) = reason {
                c["reason"] = json!(reason);
            }
            c
        };
        let not_ready = Some("ContainersNotReady");
        let (containers, ready) = match self {
            Self::Ready | Self::PendingReady => {
                (condition("ContainersReady", "True", None), condition("Ready", "True", None))
            }
            Self::Gated => (
                condition("ContainersReady", "True", None),
                condition("Ready", "False", Some("ReadinessGatesNotReady")),
            ),
            Self::Unknown => (condition("ContainersReady", "Unknown", None), condition("Ready", "Unknown", None)),
            Self::Succeeded => (
                condition("ContainersReady", "False", Some("PodCompleted")),
                condition("Ready", "False", Some("PodCompleted")),
            ),
            _ => (condition("ContainersReady", "False", not_ready), condition("Ready", "False", not_ready)),
        };
        let conditions = match self {
            Self::Bare => json!([]),
            Self::Unscheduled => json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/1 nodes are available: 1 Insufficient cpu.", "lastProbeTime": null, "lastTransitionTime": at}]),
            _ => json!([
                condition("PodScheduled", "True", None),
                condition("Initialized", "True", None),
                containers,
                ready
            ]),
        };
        let mut status = json!({"phase": self.phase(), "conditions": conditions});
        if self != Self::Unscheduled {
            status["startTime"] = json!(at);
            status["containerStatuses"] = json!([self.container(at)]);
        }
        status
    }

    fn container(self, at: &str) -> Value {
        let running = json!({"running": {"startedAt": at}});
        let ended = |code: i64, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": at, "finishedAt": at}});
        let state = match self {
            Self::Crashing => {
                json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}})
            }
            Self::Creating => json!({"waiting": {"reason": "ContainerCreating"}}),
            Self::NoImage => {
                json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"registry.example/app:1\""}})
            }
            Self::Succeeded => ended(0, "Completed"),
            Self::Failed => ended(1, "Error"),
            _ => running,
        };
        let ready = matches!(self, Self::Ready | Self::PendingReady | Self::Gated);
        let restarts = if self == Self::Crashing { 9 } else { 0 };
        json!({"name": "app", "image": "registry.example/app:1", "imageID": "", "ready": ready,
            "started": !state["running"].is_null(), "restartCount": restarts, "state": state, "lastState": {}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_change_keeps_its_times() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let before = Health::Unready.status_since(&at("2026-03-01T00:00:00Z"));
        let after = Health::Ready.status_after(&before, &at("2026-03-01T00:01:00Z"));
        let since = |kind: &str| {
            let conditions = after["conditions"].as_array().unwrap();
            conditions.iter().find(|c| c["type"] == kind).unwrap()["lastTransitionTime"].clone()
        };
        assert_eq!(after["startTime"], "2026-03-01T00:00:00Z");
        assert_eq!(since("PodScheduled"), "2026-03-01T00:00:00Z");
        assert_eq!(since("Ready"), "2026-03-01T00:01:00Z");
        assert_eq!(after["containerStatuses"][0]["state"]["running"]["startedAt"], "2026-03-01T00:00:00Z");
    }
}
