//! How many pods a rolling update has more and fewer than wanted. Mirrors `ResolveFenceposts` of
//! `pkg/controller/deployment/util/deployment_util.go`.

use super::numbers::scaled;
use crate::wire::apps::DeploymentStrategy;
use crate::wire::scalar::IntOrString;

/// What the API sets where a strategy says nothing.
pub const DEFAULT: &str = "25%";

/// By how many pods a rolling update of so many replicas exceeds them, and how many may be unavailable. `None` for a
/// Deployment that recreates its pods.
pub fn resolve_fenceposts(strategy: Option<&DeploymentStrategy>, replicas: i64) -> Option<(i64, i64)> {
    if strategy.is_some_and(|s| s.type_ == "Recreate") {
        return None;
    }
    let default = IntOrString::string(DEFAULT);
    let rolling = strategy.and_then(|s| s.rolling_update.as_ref());
    let surge = rolling.and_then(|r| r.max_surge.as_ref()).unwrap_or(&default);
    let unavailable = rolling.and_then(|r| r.max_unavailable.as_ref()).unwrap_or(&default);
    let up = |v: &IntOrString| scaled(v, replicas).unwrap_or_default();
    // The surge is rounded up, and what may be unavailable is rounded down.
    let down = |v: &IntOrString| match v.percent() {
        Some(Ok(percent)) => percent.saturating_mul(replicas).div_euclid(100),
        _ => up(v),
    };
    match (up(surge), down(unavailable)) {
        // Both may come to 0, where surge is a percentage of few: then one is unavailable.
        (0, 0) => Some((0, 1)),
        fenceposts => Some(fenceposts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rolling_update_has_upstream_s_bounds() {
        // After TestResolveFenceposts.
        for (strategy, replicas, want) in [
            (json!({}), 4, Some((1, 1))),
            (json!({}), 1, Some((1, 0))),
            (json!({"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": "0%"}}), 100, Some((0, 1))),
            (json!({"rollingUpdate": {"maxSurge": "39%", "maxUnavailable": "39%"}}), 10, Some((4, 3))),
            (json!({"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}), 10, Some((2, 0))),
            (json!({"type": "Recreate"}), 10, None),
        ] {
            let parsed: DeploymentStrategy = serde_json::from_value(strategy.clone()).unwrap();
            assert_eq!(resolve_fenceposts(Some(&parsed), replicas), want, "{strategy} of {replicas}");
        }
    }
}
