//! How the Cluster Autoscaler is set: by the flags of its Deployment where that is there, else by its defaults
//! (`config/flags/flags.go`).

use crate::autoscale::presence::Autoscaler;
use crate::duration;
use crate::snapshot::{Snapshot, Str};
use jiff::SignedDuration;
use std::collections::BTreeMap;

/// A flag, with its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    name: &'static str,
    default: &'static str,
}

const fn flag(name: &'static str, default: &'static str) -> Flag {
    Flag { name, default }
}

pub const SCALE_DOWN_ENABLED: Flag = flag("scale-down-enabled", "true");
pub const UNREADY_ENABLED: Flag = flag("scale-down-unready-enabled", "true");
pub const DELAY_AFTER_ADD: Flag = flag("scale-down-delay-after-add", "10m");
pub const THRESHOLD: Flag = flag("scale-down-utilization-threshold", "0.5");
pub const GPU_THRESHOLD: Flag = flag("scale-down-gpu-utilization-threshold", "0.5");
pub const IGNORE_DAEMONS: Flag = flag("ignore-daemonsets-utilization", "false");
pub const IGNORE_MIRRORS: Flag = flag("ignore-mirror-pods-utilization", "false");
pub const SKIP_SYSTEM: Flag = flag("skip-nodes-with-system-pods", "true");
pub const SKIP_LOCAL: Flag = flag("skip-nodes-with-local-storage", "true");
pub const SKIP_CUSTOM: Flag = flag("skip-nodes-with-custom-controller-pods", "true");
pub const MIN_REPLICAS: Flag = flag("min-replica-count", "0");
pub const SYSTEM_POD_HOLDS: Flag = flag("blocking-system-pod-distruption-timeout", "1h");
pub const EXPENDABLE_BELOW: Flag = flag("expendable-pods-priority-cutoff", "-10");

/// How it is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The Deployment whose flags these are, `namespace/name`; `None` where it is not seen.
    pub of: Option<Str>,
    flags: BTreeMap<Str, Str>,
    /// The groups that are named by flags: name, least nodes.
    pub groups: Vec<(Str, i64)>,
}

impl Settings {
    /// Those of the autoscaler of a cluster.
    pub fn new(snapshot: &Snapshot) -> Self {
        let Some(deployment) = Autoscaler::ClusterAutoscaler.deployment(snapshot) else { return Self::default() };
        let containers = deployment.template.iter().flat_map(|t| &t.spec.containers);
        let all = containers.filter_map(|c| c.entrypoint.as_ref()).flat_map(|e| &e.autoscaler);
        let (groups, flags): (Vec<_>, Vec<_>) = all.cloned().partition(|(name, _)| &**name == "nodes");
        let group = |value: &Str| {
            let (least, rest) = value.split_once(':')?;
            Some((rest.split_once(':')?.1.into(), least.parse().ok()?))
        };
        Self {
            of: Some(deployment.meta.path().into()),
            flags: flags.into_iter().collect(),
            groups: groups.iter().filter_map(|(_, value)| group(value)).collect(),
        }
    }

    fn value(&self, flag: Flag) -> &str {
        self.flags.get(flag.name).map_or(flag.default, |v| v)
    }

    /// Reads a value; one that cannot be read is the default, as the autoscaler would not start with it.
    fn read<T>(&self, flag: Flag, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        read(self.value(flag)).or_else(|| read(flag.default))
    }

    /// Whether a flag is on.
    pub fn is_on(&self, flag: Flag) -> bool {
        let read = |v: &str| match v {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
            _ => None,
        };
        self.read(flag, read) == Some(true)
    }

    /// A number.
    pub fn number(&self, flag: Flag) -> i64 {
        self.read(flag, |v| v.parse().ok()).unwrap_or(0)
    }

    /// A length of time.
    pub fn span(&self, flag: Flag) -> SignedDuration {
        let read = |v: &str| SignedDuration::try_from(duration::parse(v).ok()?).ok();
        self.read(flag, read).unwrap_or(SignedDuration::ZERO)
    }

    /// A share of one, in thousandths of a percent.
    pub fn share(&self, flag: Flag) -> i64 {
        let read = |v: &str| {
            let (whole, rest) = v.split_once('.').unwrap_or((v, ""));
            let digits: String = rest.chars().chain("00000".chars()).take(5).collect();
            let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
            whole.checked_mul(100_000)?.checked_add(digits.parse().ok()?)
        };
        self.read(flag, read).unwrap_or(0)
    }

    /// A flag with its value, and where that is from.
    pub fn words(&self, flag: Flag) -> String {
        let (name, value) = (flag.name, self.value(flag));
        match (&self.of, self.flags.contains_key(name)) {
            (Some(of), true) => format!("--{name}={value} of Deployment {of}"),
            (Some(_), false) => format!("--{name}={value}, the default"),
            (None, _) => format!("--{name}={value} is assumed, the default"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, deployment};
    use serde_json::json;

    #[test]
    fn flags_of_the_deployment_go_before_defaults() {
        let command = ["./cluster-autoscaler", "--scale-down-utilization-threshold=0.65", "--nodes=2:9:workers"];
        let containers = json!([{"name": "ca", "image": "x", "command": command, "args": ["--skip-nodes-with-local-storage=false"]}]);
        let named = deployment("kube-system/cluster-autoscaler")
            .spec(json!({"template": {"spec": {"containers": containers}}}));
        let settings = Settings::new(&cluster().add(named).snapshot());
        assert_eq!(settings.share(THRESHOLD), 65_000);
        assert_eq!((settings.is_on(SKIP_LOCAL), settings.is_on(SKIP_SYSTEM)), (false, true));
        assert_eq!(settings.groups, [("workers".into(), 2)]);
        assert_eq!(settings.span(SYSTEM_POD_HOLDS), SignedDuration::from_hours(1));
        assert_eq!(
            settings.words(SKIP_LOCAL),
            "--skip-nodes-with-local-storage=false of Deployment kube-system/cluster-autoscaler"
        );
        let unseen = Settings::new(&cluster().snapshot());
        assert_eq!(unseen.words(THRESHOLD), "--scale-down-utilization-threshold=0.5 is assumed, the default");
        assert_eq!((unseen.share(THRESHOLD), unseen.number(EXPENDABLE_BELOW)), (50_000, -10));
    }
}
