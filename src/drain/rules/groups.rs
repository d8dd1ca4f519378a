//! `group-restart`: evicting a pod restarts the group that it is of, or ends it.

use super::RuleContext;
use crate::drain::groups;
use crate::drain::note::Note;
use crate::finding::Code;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    if let Some(restart) = groups::restart(rule.context, rule.pod) {
        notes.push(Note::new(Code::GroupRestart, restart.sentence()).about([restart.by]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::simulation::drain::Attempt;
    use crate::drain::testing::{Cluster, assert_notes, drained, owned_by};

    const LWS: &str = r#""leaderworkerset.sigs.k8s.io/name": "llm", "leaderworkerset.sigs.k8s.io/group-index""#;

    /// Two pods of group 0 and one of group 1, the first two on node n.
    fn workers(policy: Option<&str>) -> Cluster {
        let mut c = Cluster::new();
        ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
        if let Some(policy) = policy {
            let spec = format!(r#"{{"leaderWorkerTemplate": {{{policy}}}}}"#);
            c.add("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "a", "llm", &spec);
        }
        c.add("apps/v1", "StatefulSet", "a", "llm-0", r#"{"replicas": 3, "podManagementPolicy": "Parallel"}"#);
        let owner = owned_by("apps/v1", "StatefulSet", "llm-0");
        for (name, node, group) in [("p", "n", 0), ("llm-0-1", "n", 0), ("llm-0-2", "m", 0), ("llm-1-1", "m", 1)] {
            c.pod_of("a", name, node, &format!(r#"{owner}, "labels": {{{LWS}: "{group}"}}"#), "", "");
        }
        c
    }

    #[test]
    fn a_leader_worker_set_restarts_a_group_as_one() {
        let whole = "evicting it restarts group 0 of LeaderWorkerSet a/llm as a whole (restartPolicy RecreateGroupOnPodRestart); 2 \
                     other pods of the group on m, n are deleted past every budget: llm-0-1, llm-0-2";
        let unread = "as a whole, unless its restartPolicy is None (it is not in the input)";
        for (title, policy, want) in [
            ("the default", Some(""), &[(Drainability::Drains, whole)][..]),
            ("as it says", Some(r#""restartPolicy": "RecreateGroupOnPodRestart""#), &[(Drainability::Drains, whole)]),
            (
                "after all have started",
                Some(r#""restartPolicy": "RecreateGroupAfterStart""#),
                &[(Drainability::Drains, "(restartPolicy RecreateGroupAfterStart)")],
            ),
            ("the one pod alone", Some(r#""restartPolicy": "None""#), &[]),
            ("it is not in the input", None, &[(Drainability::Drains, unread)]),
        ] {
            let c = workers(policy);
            assert_notes(title, &c.met(Code::GroupRestart, &DrainOptions::default()), want);
        }
    }

    #[test]
    fn what_the_group_s_controller_deletes_is_not_evicted() {
        // Of two pods under a budget of one, the second waits for a new pod, unless the first takes it along.
        for (policy, waits) in [(r#""restartPolicy": "None""#, true), ("", false)] {
            let mut c = workers(Some(policy));
            c.synced_budget("a", "llm", r#"{"maxUnavailable": 1, "selector": {}}"#);
            let (steps, at) = drained(&c.snapshot(), &DrainOptions::default(), "n", |_, _, run, sim| {
                let away = sim.pods().iter().filter(|p| &*p.pod.meta.name == "llm-0-2" && p.replaces.is_none()).count();
                (run.attempts.iter().map(|a: &Attempt| a.step.is_some()).collect::<Vec<_>>(), (run.ended, away))
            });
            assert_eq!(steps, [true, true], "{policy}");
            assert_eq!(at.1, usize::from(!waits), "{policy}");
        }
    }

    #[test]
    fn a_job_set_restarts_or_fails_with_a_job() {
        let two =
            |action: &str, more: &str| format!(r#"{{"maxRestarts": 2, "rules": [{{"action": "{action}"{more}}}]}}"#);
        let plain = || r#"{"maxRestarts": 2}"#.to_owned();
        for (title, limit, policy, restarts, want) in [
            ("the Job does not fail", 6, Some(plain()), 0, None),
            (
                "no failure policy",
                0,
                None,
                0,
                Some("fails Job a/j, and JobSet a/t with it, as it has no failurePolicy; 1 other pod"),
            ),
            (
                "the default restarts",
                0,
                Some(plain()),
                1,
                Some("JobSet a/t makes all its Jobs anew (restart 2 of at most 2); 1 other pod"),
            ),
            ("they are used up", 0, Some(plain()), 2, Some("with it, as its maxRestarts (2) are used up")),
            ("a rule fails it", 0, Some(two("FailJobSet", "")), 0, Some("with it (failurePolicy FailJobSet)")),
            (
                "a rule for another reason",
                0,
                Some(two("FailJobSet", r#", "onJobFailureReasons": ["PodFailurePolicy"]"#)),
                0,
                Some("(restart 1 of at most 2)"),
            ),
            (
                "a rule for another Job",
                0,
                Some(two("FailJobSet", r#", "targetReplicatedJobs": ["other"]"#)),
                0,
                Some("(restart 1 of at most 2)"),
            ),
            (
                "without limit",
                0,
                Some(two("RestartJobSetAndIgnoreMaxRestarts", "")),
                9,
                Some("as often as that happens"),
            ),
            (
                "the Job alone",
                0,
                Some(two("RecreateJob", "")),
                0,
                Some("makes this Job anew (failurePolicy RecreateJob)"),
            ),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            let policy = policy.map(|p| format!(r#""failurePolicy": {p}"#)).unwrap_or_default();
            c.object(&format!(
                r#"{{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {{"name": "t", "namespace": "a"}},
                    "spec": {{{policy}}}, "status": {{"restartsCountTowardsMax": {restarts}}}}}"#
            ));
            for job in ["j", "k"] {
                c.object(&format!(
                    r#"{{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "{job}", "namespace": "a", "uid": "a-Job-{job}",
                        "labels": {{"jobset.sigs.k8s.io/replicatedjob-name": "workers"}}}}, "spec": {{"backoffLimit": {limit}}}}}"#
                ));
                let owner = owned_by("batch/v1", "Job", job);
                let name = if job == "j" { "p" } else { "q" };
                c.pod_of(
                    "a",
                    name,
                    "n",
                    &format!(r#"{owner}, "labels": {{"jobset.sigs.k8s.io/jobset-name": "t"}}"#),
                    "",
                    "",
                );
            }
            let want: Vec<_> = want.into_iter().map(|words| (Drainability::Drains, words)).collect();
            assert_notes(title, &c.met(Code::GroupRestart, &DrainOptions::default()), &want);
        }
    }

    #[test]
    fn a_volcano_job_does_as_its_policies_say() {
        let on = |event: &str, action: &str| format!(r#"{{"event": "{event}", "action": "{action}"}}"#);
        for (title, task, job, want) in [
            ("none", String::new(), String::new(), None),
            ("another event", String::new(), on("PodFailed", "RestartJob"), None),
            (
                "the whole Job",
                String::new(),
                on("PodEvicted", "RestartJob"),
                Some("it restarts it as a whole (policy RestartJob"),
            ),
            ("any event", String::new(), on("*", "AbortJob"), Some("it aborts it (policy AbortJob")),
            ("its task comes first", on("PodEvicted", "RestartPod"), on("PodEvicted", "RestartJob"), None),
            (
                "its task",
                on("PodEvicted", "RestartTask"),
                String::new(),
                Some("it restarts all pods of its task (policy RestartTask"),
            ),
            (
                "among several",
                String::new(),
                r#"{"events": ["PodFailed", "PodEvicted"], "action": "TerminateJob"}"#.to_owned(),
                Some("it terminates it"),
            ),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            let spec = format!(r#"{{"policies": [{job}], "tasks": [{{"name": "w", "policies": [{task}]}}]}}"#);
            c.add("batch.volcano.sh/v1alpha1", "Job", "a", "j", &spec);
            let owner = owned_by("batch.volcano.sh/v1alpha1", "Job", "j");
            for name in ["p", "q"] {
                c.pod_of("a", name, "n", &format!(r#"{owner}, "labels": {{"volcano.sh/task-spec": "w"}}"#), "", "");
            }
            let want: Vec<_> = want.into_iter().map(|words| (Drainability::Drains, words)).collect();
            assert_notes(title, &c.met(Code::GroupRestart, &DrainOptions::default()), &want);
        }
    }
}
