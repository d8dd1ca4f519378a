//! What a pod's containers say about why it is not Ready. Mirrors `UpdatePodStatus` of
//! `pkg/kubelet/prober/prober_manager.go` (who is ready) and `doBackOff` of
//! `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (who is started again).

use super::not_ready::{NotReady, Prospect};
use crate::snapshot::age::{age, duration_words};
use crate::snapshot::pod::{Container, ContainerState, ContainerStatus, Phase, Pod, Terminated};
use crate::snapshot::probe::Probe;
use jiff::{SignedDuration, Timestamp};

/// How often a container must have been started again before another end is taken as one of many.
const CRASHES: i32 = 2;

/// How long the kubelet remembers a container that ended when it reckons the next delay (`crashLoopBackOff`).
const CRASH_MEMORY: SignedDuration = SignedDuration::from_secs(600);

/// A container without a probe is ready as soon as it runs; the kubelet reports so within its sync period.
const SYNC_PERIOD: i64 = 60;

/// What the container that is most at fault says; init containers run first. `None` where all are as they should be.
pub(super) fn why(now: Timestamp, pod: &Pod) -> Option<NotReady> {
    let init = pod.status.init_containers.iter().map(|s| (s, pod.spec.init_containers.as_ref(), true));
    let main = pod.status.containers.iter().map(|s| (s, pod.spec.containers.as_ref(), false));
    let mut first = None;
    for (status, specs, init) in init.chain(main) {
        let spec = specs.iter().find(|c| c.name == status.name);
        let found = At { now, pod, status, spec, init }.why();
        match found.as_ref().map(|f| f.prospect) {
            Some(Prospect::Stuck) => return found,
            Some(_) => first = first.or(found),
            None => {}
        }
    }
    if first.is_none() && pod.status.containers.is_empty() && pod.status.phase == Phase::Pending {
        return Some(starting("Pending", "not started by the kubelet yet".to_owned()));
    }
    first
}

/// One container of a pod that is not Ready.
struct At<'a> {
    now: Timestamp,
    pod: &'a Pod,
    status: &'a ContainerStatus,
    spec: Option<&'a Container>,
    init: bool,
}

impl At<'_> {
    fn why(&self) -> Option<NotReady> {
        let name = self.name();
        match &self.status.state {
            ContainerState::Unknown => Some(starting("ContainerCreating", format!("{name} has not started yet"))),
            ContainerState::Waiting { reason, message } => Some(self.waiting(reason, message)),
            ContainerState::Terminated(t) => self.terminated(t),
            ContainerState::Running(_) if self.status.ready => None,
            ContainerState::Running(since) => Some(self.crashing().unwrap_or_else(|| self.running(*since))),
        }
    }

    fn name(&self) -> String {
        let kind = match self.spec {
            Some(s) if self.init && s.sidecar => "sidecar",
            _ if self.init => "init container",
            _ => "container",
        };
        format!("{kind} {}", self.status.name)
    }

    fn waiting(&self, reason: &str, message: &str) -> NotReady {
        let name = self.name();
        match reason {
            "" | "ContainerCreating" | "PodInitializing" => {
                let word = if reason.is_empty() { "ContainerCreating" } else { reason };
                starting(word, format!("{name} is starting ({word})"))
            }
            "CrashLoopBackOff" => stuck(reason, format!("{name}: {reason}{}", self.restarts())),
            // The kubelet's own limit on pulls, and not the registry's answer (`pkg/kubelet/images/helpers.go`).
            "ErrImagePull" if message == "pull QPS exceeded" => {
                starting(reason, format!("{name} waits for its image ({message})"))
            }
            _ => {
                let said = if message.is_empty() { String::new() } else { format!(" ({message})") };
                stuck(reason, format!("{name}: {reason}{said}"))
            }
        }
    }

    fn terminated(&self, t: &Terminated) -> Option<NotReady> {
        if self.runs_to_its_end() && t.exit_code == 0 {
            return None;
        }
        let name = self.name();
        let ended = format!("{name} ended with exit code {}{}", t.exit_code, reason_of(t));
        Some(match self.is_started_again(t.exit_code) {
            false => stuck(&t.reason, format!("{ended} and is not restarted")),
            true if self.status.restarts < CRASHES => starting(&t.reason, format!("{ended} and is being restarted")),
            true => stuck(&t.reason, format!("{ended}, {} restarts", self.status.restarts)),
        })
    }

    /// Whether the kubelet starts the container again. Mirrors `ContainerShouldRestart`, and for init containers, which
    /// run to a good end, `computeInitContainerActions`.
    fn is_started_again(&self, exit_code: i32) -> bool {
        let own = self.spec.and_then(|s| s.restart_policy.as_deref());
        if own.is_some() && self.spec.is_some_and(|s| s.restarts_by_rule) {
            return true; // Which exit codes its rules mean is not kept.
        }
        match own.unwrap_or(&self.pod.spec.restart_policy) {
            "Never" => false,
            "OnFailure" => exit_code != 0,
            _ => true,
        }
    }

    /// A container that runs at the moment, and that ended before it was ready whenever it ran lately.
    fn crashing(&self) -> Option<NotReady> {
        let last = self.status.last.as_ref().filter(|_| self.status.restarts >= CRASHES)?;
        let finished = last.finished.filter(|t| self.now.duration_since(*t) <= CRASH_MEMORY)?;
        let did_well = if self.runs_to_its_end() { last.exit_code == 0 } else { self.was_ready(last, finished) };
        let text = || format!("{} ends again and again{}", self.name(), self.restarts());
        (!did_well).then(|| stuck("CrashLoopBackOff", text()))
    }

    /// Whether the container may have been ready in a run that has ended: it was long enough for its probes, and the
    /// pod has not been unready all through it.
    fn was_ready(&self, run: &Terminated, finished: Timestamp) -> bool {
        let soonest = |p: Option<Probe>| p.map_or(0, |p| p.soonest_success());
        let probes = self.spec.map_or(0, |s| soonest(s.startup_probe).max(soonest(s.readiness_probe)));
        let too_short = run.started.is_some_and(|t| finished.duration_since(t).as_secs() < probes);
        let unready = self.pod.condition("Ready").and_then(|c| c.since);
        let all_through = unready.zip(run.started).is_some_and(|(unready, started)| unready <= started);
        !too_short && !all_through
    }

    /// Whether it is an init container that the others wait for to end.
    fn runs_to_its_end(&self) -> bool {
        self.init && !self.spec.is_some_and(|s| s.sidecar)
    }

    /// A container that runs and is not ready, or an init container that has not ended.
    fn running(&self, since: Option<Timestamp>) -> NotReady {
        let name = self.name();
        let up = since.map(|t| self.now.duration_since(t).as_secs());
        let (startup, readiness) = self.spec.map_or((None, None), |s| (s.startup_probe, s.readiness_probe));
        if let Some(probe) = startup.filter(|_| self.status.started != Some(true)) {
            // The kubelet stops a container whose startup probe has failed; it may take a moment to do so.
            return match up.filter(|up| *up > probe.latest_failure() + SYNC_PERIOD) {
                Some(up) => stuck("StartupProbe", format!("{name} fails its startup probe ({})", duration_words(up))),
                None => starting("StartupProbe", format!("{name} has not passed its startup probe yet")),
            };
        }
        if self.runs_to_its_end() {
            return starting("PodInitializing", format!("{name} still runs"));
        }
        let Some(probe) = readiness else {
            // Started and ready as soon as it runs. A report may lag, but no kubelet writes that it has not started.
            let old = self.status.started == Some(false) || up.is_some_and(|up| up > SYNC_PERIOD);
            let text = format!("{name} runs and is not ready, and has no readiness probe");
            return if old { stuck("NotReady", text) } else { starting("NotReady", text) };
        };
        // The first tries may come as late as the startup probe allows; where one had succeeded, the pod has been
        // unready only since the probe reached its threshold.
        let unready = self.pod.condition("Ready").and_then(|c| c.since);
        let patience = startup.map_or(0, |s| s.latest_failure()) + probe.latest_failure();
        let patient = up.is_none_or(|up| up <= patience)
            || unready.is_some_and(|t| self.now.duration_since(t).as_secs() <= probe.failing());
        match since.max(unready).filter(|_| !patient) {
            None => starting("ReadinessProbe", format!("{name} has not passed its readiness probe yet")),
            Some(since) => {
                let since = age(since, self.now);
                stuck("ReadinessProbe", format!("{name} fails its readiness probe (not ready for {since})"))
            }
        }
    }

    /// How often the container was restarted, and how it ended last.
    fn restarts(&self) -> String {
        let n = self.status.restarts;
        let restarts = match n {
            0 => String::new(),
            1 => ", 1 restart".to_owned(),
            n => format!(", {n} restarts"),
        };
        let last = self.status.last.as_ref();
        let last = last.map(|t| format!(", last exit code {}{}", t.exit_code, reason_of(t))).unwrap_or_default();
        format!("{restarts}{last}")
    }
}

fn starting(word: &str, text: String) -> NotReady {
    NotReady::new(Prospect::Starting, word, text)
}

fn stuck(word: &str, text: String) -> NotReady {
    NotReady::new(Prospect::Stuck, word, text)
}

/// The kubelet's word for how it ended, where that says more than the exit code.
fn reason_of(t: &Terminated) -> String {
    if matches!(&*t.reason, "" | "Error" | "Completed") { String::new() } else { format!(" ({})", t.reason) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, find, merged, pod};
    use serde_json::{Value, json};

    /// A pod with container `c` as given, whose status is `status`; unready since `unready`.
    fn of(container: Value, status: Value, unready: Option<&str>, more: Value) -> Option<(Prospect, String)> {
        let container = merged(json!({"name": "c"}), container);
        let status = merged(json!({"name": "c", "ready": false}), status);
        let condition = json!({"type": "Ready", "status": "False", "lastTransitionTime": unready});
        let base = pod("a/p").on("n").spec(json!({"restartPolicy": "Always", "containers": [container]}));
        let snapshot = cluster()
            .add(base.status(json!({"conditions": [condition], "containerStatuses": [status]})).with(more))
            .snapshot();
        why(snapshot.now, &find(&snapshot, "a/p")).map(|n| (n.prospect, n.text))
    }

    fn want(prospect: Prospect, text: &str) -> Option<(Prospect, String)> {
        Some((prospect, text.to_owned()))
    }

    fn running(since: &str) -> Value {
        json!({"state": {"running": {"startedAt": format!("2026-01-01T{since}Z")}}})
    }

    #[test]
    fn waiting_reasons_are_evidence_but_for_those_of_a_start() {
        let waiting =
            |reason: &str, message: &str| json!({"state": {"waiting": {"reason": reason, "message": message}}});
        let ended = json!({"restartCount": 12, "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}});
        let once = json!({"restartCount": 1, "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}});
        for (status, expected) in [
            (json!({}), want(Prospect::Starting, "container c has not started yet")),
            (waiting("", ""), want(Prospect::Starting, "container c is starting (ContainerCreating)")),
            (waiting("ContainerCreating", ""), want(Prospect::Starting, "container c is starting (ContainerCreating)")),
            (waiting("PodInitializing", ""), want(Prospect::Starting, "container c is starting (PodInitializing)")),
            (
                merged(waiting("CrashLoopBackOff", "back-off 5m0s restarting"), ended),
                want(Prospect::Stuck, "container c: CrashLoopBackOff, 12 restarts, last exit code 137 (OOMKilled)"),
            ),
            (
                merged(waiting("CrashLoopBackOff", "back-off 10s restarting"), once),
                want(Prospect::Stuck, "container c: CrashLoopBackOff, 1 restart, last exit code 1"),
            ),
            (
                waiting("ImagePullBackOff", "Back-off pulling image \"x\""),
                want(Prospect::Stuck, "container c: ImagePullBackOff (Back-off pulling image \"x\")"),
            ),
            (
                waiting("ErrImagePull", "pull QPS exceeded"),
                want(Prospect::Starting, "container c waits for its image (pull QPS exceeded)"),
            ),
            (
                waiting("CreateContainerConfigError", "secret \"s\" not found"),
                want(Prospect::Stuck, "container c: CreateContainerConfigError (secret \"s\" not found)"),
            ),
        ] {
            assert_eq!(of(json!({}), status.clone(), None, json!({})), expected, "{status}");
        }
    }

    #[test]
    fn an_ended_container_is_restarted_as_its_policy_says() {
        // After TestContainerShouldRestart and the kubelet's back-off: pod's policy, container's own, exit code, restarts.
        for (policy, own, code, restarts, expected) in [
            (
                "Always",
                json!({}),
                0,
                0,
                want(Prospect::Starting, "container c ended with exit code 0 and is being restarted"),
            ),
            (
                "Always",
                json!({}),
                1,
                1,
                want(Prospect::Starting, "container c ended with exit code 1 and is being restarted"),
            ),
            ("Always", json!({}), 1, 2, want(Prospect::Stuck, "container c ended with exit code 1, 2 restarts")),
            (
                "OnFailure",
                json!({}),
                1,
                0,
                want(Prospect::Starting, "container c ended with exit code 1 and is being restarted"),
            ),
            (
                "OnFailure",
                json!({}),
                0,
                0,
                want(Prospect::Stuck, "container c ended with exit code 0 and is not restarted"),
            ),
            (
                "Never",
                json!({}),
                1,
                0,
                want(Prospect::Stuck, "container c ended with exit code 1 and is not restarted"),
            ),
            (
                "Never",
                json!({"restartPolicy": "OnFailure"}),
                1,
                0,
                want(Prospect::Starting, "container c ended with exit code 1 and is being restarted"),
            ),
            (
                "Never",
                json!({"restartPolicy": "Never", "restartPolicyRules": [{"action": "Restart"}]}),
                42,
                0,
                want(Prospect::Starting, "container c ended with exit code 42 and is being restarted"),
            ),
        ] {
            let status =
                json!({"restartCount": restarts, "state": {"terminated": {"exitCode": code, "reason": "Error"}}});
            let found = of(own.clone(), status, None, json!({"spec": {"restartPolicy": policy}}));
            assert_eq!(found, expected, "{policy} {own} {code}");
        }
    }

    #[test]
    fn a_probe_is_given_until_its_threshold() {
        // The defaults: a try every 10 s, three failures. The time is 12:00:00.
        let plain = json!({"readinessProbe": {}});
        let slow = json!({"readinessProbe": {"initialDelaySeconds": 300, "periodSeconds": 30, "failureThreshold": 4}});
        let both = json!({"startupProbe": {"failureThreshold": 30}, "readinessProbe": {}});
        let waits = want(Prospect::Starting, "container c has not passed its readiness probe yet");
        let fails =
            |age: &str| want(Prospect::Stuck, &format!("container c fails its readiness probe (not ready for {age})"));
        let started = |at: &str| merged(running(at), json!({"started": true}));
        for (container, status, unready, expected) in [
            (&plain, running("11:59:58"), None, waits.clone()),
            (&plain, running("11:59:30"), None, waits.clone()),
            (&plain, running("11:59:29"), None, fails("31 s")),
            (&plain, running("09:00:00"), Some("2026-01-01T08:59:00Z"), fails("3 h")),
            // It was Ready until ten, or until twelve minutes ago: the probe has failed since.
            (&plain, running("09:00:00"), Some("2026-01-01T11:59:50Z"), waits.clone()),
            (&plain, running("09:00:00"), Some("2026-01-01T11:48:00Z"), fails("12 min")),
            (&slow, running("11:53:00"), None, waits.clone()),
            (&slow, running("11:52:59"), None, fails("7 min")),
            // Nobody knows since when it runs.
            (&plain, json!({"state": {"running": {}}}), Some("2026-01-01T09:00:00Z"), waits.clone()),
            // The startup probe may have taken 300 s; the other one begins only then.
            (&both, started("11:54:40"), None, waits),
            (&both, started("11:54:20"), None, fails("5 min")),
            (
                &both,
                running("11:56:00"),
                None,
                want(Prospect::Starting, "container c has not passed its startup probe yet"),
            ),
            (&both, running("11:50:00"), None, want(Prospect::Stuck, "container c fails its startup probe (10 min)")),
            (
                &json!({}),
                running("11:59:55"),
                None,
                want(Prospect::Starting, "container c runs and is not ready, and has no readiness probe"),
            ),
            (
                &json!({}),
                merged(running("11:59:55"), json!({"started": false})),
                None,
                want(Prospect::Stuck, "container c runs and is not ready, and has no readiness probe"),
            ),
            (
                &json!({}),
                running("11:50:00"),
                None,
                want(Prospect::Stuck, "container c runs and is not ready, and has no readiness probe"),
            ),
        ] {
            assert_eq!(of(container.clone(), status.clone(), unready, json!({})), expected, "{container} {status}");
        }
    }

    #[test]
    fn a_crash_loop_is_known_between_two_crashes() {
        let waits = want(Prospect::Starting, "container c has not passed its readiness probe yet");
        let loops = want(Prospect::Stuck, "container c ends again and again, 4 restarts, last exit code 1");
        // Restarts, the last run, unready since; it runs since 11:59:55 and is probed after 20 s.
        for (restarts, last, unready, expected) in [
            (4, ("11:58:00", "11:58:10"), None, &loops),
            (1, ("11:58:00", "11:58:10"), None, &waits),
            // The last run was long enough to be Ready, and was.
            (4, ("11:40:00", "11:59:50"), Some("2026-01-01T11:59:50Z"), &waits),
            // It was long enough, and not Ready all through.
            (4, ("11:40:00", "11:59:50"), Some("2026-01-01T11:00:00Z"), &loops),
            // The kubelet has forgotten it.
            (4, ("10:00:00", "10:00:10"), None, &waits),
        ] {
            let at = |t: &str| format!("2026-01-01T{t}Z");
            let last = json!({"exitCode": 1, "reason": "Error", "startedAt": at(last.0), "finishedAt": at(last.1)});
            let status =
                merged(running("11:59:55"), json!({"restartCount": restarts, "lastState": {"terminated": last}}));
            let probe = json!({"readinessProbe": {"initialDelaySeconds": 20}});
            assert_eq!(&of(probe, status.clone(), unready, json!({})), expected, "{status}");
        }
    }

    #[test]
    fn init_containers_and_sidecars_hold_the_others() {
        let init = |more: Value, status: Value| {
            let waiting = json!({"state": {"waiting": {"reason": "PodInitializing"}}});
            let status = merged(json!({"name": "i", "ready": false}), status);
            let init = merged(json!({"name": "i"}), more);
            of(
                json!({}),
                waiting,
                None,
                json!({"spec": {"initContainers": [init]}, "status": {"initContainerStatuses": [status]}}),
            )
        };
        let sidecar = json!({"restartPolicy": "Always", "readinessProbe": {}});
        let failed = |restarts: i32, code: i32| {
            json!({"restartCount": restarts,
                "lastState": {"terminated": {"exitCode": code, "reason": "Error", "finishedAt": "2026-01-01T11:59:00Z"}}})
        };
        for (spec, status, expected) in [
            (json!({}), running("10:00:00"), want(Prospect::Starting, "init container i still runs")),
            (
                json!({}),
                merged(running("11:59:58"), failed(5, 1)),
                want(Prospect::Stuck, "init container i ends again and again, 5 restarts, last exit code 1"),
            ),
            (
                json!({}),
                merged(running("11:59:58"), failed(5, 0)),
                want(Prospect::Starting, "init container i still runs"),
            ),
            (
                json!({}),
                json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3}),
                want(Prospect::Stuck, "init container i: CrashLoopBackOff, 3 restarts"),
            ),
            (
                json!({}),
                json!({"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}),
                want(Prospect::Starting, "container c is starting (PodInitializing)"),
            ),
            (
                sidecar.clone(),
                merged(running("11:59:58"), json!({"started": true})),
                want(Prospect::Starting, "sidecar i has not passed its readiness probe yet"),
            ),
            (
                sidecar,
                merged(running("11:00:00"), json!({"started": true})),
                want(Prospect::Stuck, "sidecar i fails its readiness probe (not ready for 60 min)"),
            ),
        ] {
            assert_eq!(init(spec, status.clone()), expected, "{status}");
        }
    }
}
