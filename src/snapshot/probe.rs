//! The times of a container's probe. Mirrors `doProbe` of `pkg/kubelet/prober/worker.go`.

use crate::wire::pod as wire;

/// A readiness or startup probe, with the API's defaults filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Probe {
    /// Seconds after the container's start in which it is not probed.
    pub initial_delay: i64,
    /// Seconds from one try to the next.
    pub period: i64,
    /// How many tries in a row must succeed.
    pub success_threshold: i64,
    /// How many tries in a row must fail.
    pub failure_threshold: i64,
}

impl Probe {
    /// Reads the wire form; what is absent or 0 has the default of `pkg/apis/core/v1/defaults.go`.
    pub fn read(w: &wire::Probe) -> Self {
        let or = |n: Option<i32>, default: i64| n.map(i64::from).filter(|n| *n > 0).unwrap_or(default);
        Self {
            initial_delay: or(w.initial_delay_seconds, 0),
            period: or(w.period_seconds, 10),
            success_threshold: or(w.success_threshold, 1),
            failure_threshold: or(w.failure_threshold, 3),
        }
    }

    /// Seconds after the container's start before which the probe cannot have succeeded.
    pub fn soonest_success(&self) -> i64 {
        self.initial_delay + self.period * (self.success_threshold - 1)
    }

    /// Seconds after the container's start by which a probe that always fails has reached its threshold: the first try
    /// comes within a period of the initial delay.
    pub fn latest_failure(&self) -> i64 {
        self.initial_delay + self.failing()
    }

    /// Seconds that a probe takes to reach its threshold once it fails.
    pub fn failing(&self) -> i64 {
        self.period * self.failure_threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_reached_as_in_the_kubelet() {
        let most = i64::from(i32::MAX);
        // initialDelaySeconds, periodSeconds, successThreshold, failureThreshold; the soonest success, the latest failure.
        for (fields, soonest, latest) in [
            ([None, None, None, None], 0, 30),
            ([Some(0), Some(0), Some(0), Some(0)], 0, 30),
            ([Some(60), None, None, None], 60, 90),
            ([Some(5), Some(2), Some(3), Some(10)], 9, 25),
            ([None, Some(i32::MAX), Some(i32::MAX), Some(i32::MAX)], most * (most - 1), most * most),
        ] {
            let [initial_delay_seconds, period_seconds, success_threshold, failure_threshold] = fields;
            let probe = Probe::read(&wire::Probe {
                initial_delay_seconds,
                period_seconds,
                success_threshold,
                failure_threshold,
            });
            assert_eq!((probe.soonest_success(), probe.latest_failure()), (soonest, latest), "{fields:?}");
        }
    }
}
