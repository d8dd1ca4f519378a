//! How long a drain takes: grace periods, start-up times as they were observed, and kubectl's retries.

use super::actor::Actor;
use super::context::DrainContext;
use super::controllers::{STARTUP_GUESS, Startup};
use super::node_pod::NodePod;
use super::simulation::drain::NodeRun;
use crate::snapshot::age::duration_words;

/// How long a drain takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// How many passes let something go.
    pub steps: u32,
    /// Seconds until the last pod that goes is gone, at the most as far as grace periods tell.
    pub seconds: i64,
    /// What it rests on.
    pub basis: String,
}

impl Estimate {
    /// The estimate of a drain that was simulated.
    pub fn new(context: &DrainContext<'_>, pods: &[NodePod], run: &NodeRun) -> Self {
        let removed = || run.attempts.iter().filter(|a| a.step.is_some()).filter_map(|a| pods.get(a.at));
        let running = removed().filter(|p| !p.pod.is_finished());
        let grace = running.map(|p| grace(context, p)).max().unwrap_or_default();
        let mut basis = Vec::new();
        if grace > 0 {
            basis.push(format!("every pod uses its whole grace period, at most {}", duration_words(grace)));
        }
        if run.steps > 1 {
            let startups: Vec<Startup> = removed().filter_map(|p| context.controllers.of(&p.pod)?.startup).collect();
            let observed = startups.iter().filter_map(|s| if let Startup::Observed(s) = s { Some(*s) } else { None });
            let probed = startups.iter().filter_map(|s| if let Startup::Probes(s) = s { Some(*s) } else { None });
            basis.push(match (observed.max(), probed.max()) {
                (Some(most), _) => {
                    format!("new pods become Ready as quickly as the old ones did, in at most {}", duration_words(most))
                }
                (None, Some(most)) => format!(
                    "new pods need {STARTUP_GUESS} s to start (a guess), and at most {} more by their probes",
                    duration_words(most)
                ),
                (None, None) => format!("new pods need {STARTUP_GUESS} s to start (a guess)"),
            });
        }
        if run.steps > 1 || run.attempts.iter().any(|a| a.step.is_some() && a.refused_first) {
            let who = if context.drainer.actor == Actor::Kubectl { "kubectl" } else { context.drainer.name };
            basis.push(format!("{who} tries again {}", context.drainer.retry.words()));
        }
        if run.gave_up {
            basis.push("then it ends in an error at its timeout".to_owned());
        }
        Self { steps: run.steps, seconds: run.ended - run.began, basis: basis.join("; ") }
    }
}

/// Seconds of grace that a pod has, or has left.
fn grace(context: &DrainContext<'_>, p: &NodePod) -> i64 {
    match p.pod.grace_left(context.snapshot.now) {
        Some(left) => left,
        None if p.pod.is_terminating() => 0,
        None => context.drainer.grace_of(&p.pod),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, drained, owned_by};

    /// The estimate of a drain of node `n`: pods by their grace, metadata and status; a budget with this rule, if any.
    fn estimate(pods: &[(i64, &str, &str)], rule: Option<&str>, grace_period: i64) -> Estimate {
        let mut c = Cluster::new();
        ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
        c.add("apps/v1", "ReplicaSet", "a", "web", &format!(r#"{{"replicas": {}}}"#, pods.len()));
        if let Some(rule) = rule {
            c.synced_budget("a", "b", &format!(r#"{{"maxUnavailable": {rule}, "selector": {{}}}}"#));
        }
        for (i, (grace, meta, status)) in pods.iter().enumerate() {
            let meta = format!("{}{meta}", owned_by("apps/v1", "ReplicaSet", "web"));
            c.pod_of(
                "a",
                &format!("web-{i}"),
                "n",
                &meta,
                &format!(r#""terminationGracePeriodSeconds": {grace}"#),
                status,
            );
        }
        let snapshot = c.snapshot();
        let options = DrainOptions { grace_period, ..DrainOptions::default() };
        drained(&snapshot, &options, "n", |context, pods, run, _| Estimate::new(context, pods, run))
    }

    #[test]
    fn a_drain_takes_grace_start_up_and_retries() {
        // With a budget of one, the second pod goes at the first retry (every 5 s) after the new pod is Ready. It is
        // made and placed at once: Ready after 10 s as a guess, or after the 12 s that its pods took.
        let took_12 = r#""conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2025-12-31T00:00:00Z"},
            {"type": "Ready", "status": "True", "lastTransitionTime": "2025-12-31T00:00:12Z"}]"#;
        let done = r#""phase": "Succeeded""#;
        let keeps = r#", "finalizers": ["x.io/keep"]"#;
        let grace = |s: i64| format!("every pod uses its whole grace period, at most {s} s");
        let guess = "new pods need 10 s to start (a guess); kubectl tries again every 5 s";
        let seen =
            "new pods become Ready as quickly as the old ones did, in at most 12 s; kubectl tries again every 5 s";
        for (title, pods, rule, flag, steps, seconds, basis) in [
            ("nothing to do", &[][..], None, -1, 0, 0, String::new()),
            ("no grace", &[(0, "", "")], None, -1, 1, 0, String::new()),
            ("the longest grace", &[(7, "", ""), (40, "", "")], None, -1, 1, 40, grace(40)),
            ("the flag's grace", &[(7, "", ""), (40, "", "")], None, 20, 1, 20, grace(20)),
            ("one that has ended takes none", &[(7, "", ""), (50, "", done)], None, -1, 1, 7, grace(7)),
            ("a finalizer is not waited out", &[(7, keeps, "")], None, -1, 1, 7, grace(7)),
            (
                "one after the other",
                &[(3, "", ""), (3, "", "")],
                Some("1"),
                -1,
                2,
                13,
                format!("{}; {guess}", grace(3)),
            ),
            (
                "as its pods started",
                &[(3, "", took_12), (3, "", took_12)],
                Some("1"),
                -1,
                2,
                18,
                format!("{}; {seen}", grace(3)),
            ),
            ("never", &[(3, "", "")], Some("0"), -1, 0, 0, String::new()),
        ] {
            let got = estimate(pods, rule, flag);
            assert_eq!(got, Estimate { steps, seconds, basis }, "{title}");
        }
    }
}
