//! Grace periods: long ones, and those that are too short for what the pod does before it ends.

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::drainer::Grace;
use crate::drain::note::Note;
use crate::finding::Code;
use crate::snapshot::age::duration_words;
use crate::snapshot::pod::{Container, PreStop};

/// A grace period from this on is told, in seconds.
const LONG: i64 = 300;

/// What a container needs to end after its preStop hook, at the least, in seconds.
const SHUTDOWN: i64 = 5;

/// How long a container needs to end.
struct Ending<'a> {
    container: &'a str,
    /// What its preStop hook takes, in seconds.
    hook: i64,
    /// How long its server is told to wait, in seconds, and by which flag.
    shutdown: Option<(&'a str, i64)>,
}

impl<'a> Ending<'a> {
    /// `None` for a container that says nothing of it.
    fn of(c: &'a Container) -> Option<Self> {
        let hook = c.pre_stop.as_ref().and_then(PreStop::seconds);
        let shutdown = c.entrypoint.as_ref().and_then(|e| e.shutdown.as_ref()).map(|(flag, s)| (&**flag, *s));
        let says = hook.is_some() || shutdown.is_some();
        says.then(|| Self { container: &c.name, hook: hook.unwrap_or_default(), shutdown })
    }

    /// The kubelet stops a container once its hook has ended; both count against the grace period.
    fn seconds(&self) -> i64 {
        self.hook.saturating_add(self.shutdown.map_or(SHUTDOWN, |(_, seconds)| seconds))
    }

    fn text(&self, given: i64) -> String {
        let Self { container, hook, .. } = self;
        let Some((flag, wait)) = self.shutdown else {
            return format!(
                "its preStop hook alone needs {hook} s of {given} s of grace: the containers are killed before they can end"
            );
        };
        let parts = if *hook > 0 { format!("preStop {hook} s, then --{flag} {wait} s") } else { format!("--{flag}") };
        format!(
            "container {container} needs up to {} s to end ({parts}) and has {given} s of grace: it can be killed while \
             requests are open",
            self.seconds()
        )
    }
}

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let pod = rule.pod;
    if pod.is_terminating() && !pod.is_finished() {
        let left = pod.grace_left(rule.snapshot.now).filter(|left| *left >= LONG);
        notes.extend(left.map(|left| {
            let text = format!("it is being deleted, and its containers have up to {} ({left} s) left", words(left));
            Note::new(Code::LongGrace, text)
        }));
    }
    if !rule.is_running() {
        return;
    }
    let own = pod.spec.termination_grace;
    let given = rule.grace();
    if given >= LONG {
        let text = format!(
            "the pod can run on for up to {} ({given} s) after its eviction: its grace period is long",
            words(given)
        );
        notes.push(Note::new(Code::LongGrace, text));
    }
    if given < own {
        let at_once = ": the pod is removed from the API at once, while its containers can still run";
        let more = if given == 0 { at_once } else { "" };
        let setting = match rule.context.drainer.grace {
            Grace::AtMost(_) => "--max-graceful-termination-sec",
            Grace::Seconds(_) | Grace::Own => "--grace-period",
        };
        let text = format!("{setting}={given} cuts its grace period of {own} s{more}");
        notes.push(Note::new(Code::GraceBudget, text));
    }
    if let Some((claim, left)) = node_claim(rule).filter(|(_, left)| *left < own) {
        let text = format!(
            "NodeClaim {claim} is being deleted and ends the node in {} (terminationGracePeriod): the pod's own grace period \
             of {own} s is longer",
            words(left)
        );
        notes.push(Note::new(Code::GraceBudget, text));
    }
    let endings = rule.containers().filter_map(Ending::of);
    if let Some(ending) = endings.max_by_key(Ending::seconds).filter(|e| e.seconds() > given) {
        let remedy = Remedy::advice(format!(
            "raise terminationGracePeriodSeconds of its template to {} s or more",
            ending.seconds()
        ));
        notes.push(Note::new(Code::GraceBudget, ending.text(given)).remedy(remedy));
    }
}

/// The NodeClaim of the pod's node and the seconds until it ends the node, where it is being deleted. The NodePool's
/// `terminationGracePeriod` is that of NodeClaims to come.
fn node_claim<'a>(rule: &RuleContext<'a>) -> Option<(&'a str, i64)> {
    let claim = rule.context.node_claims().of(rule.pod.node.as_deref()?)?;
    claim.deleted()?;
    let left = claim.deadline()?.duration_since(rule.snapshot.now).as_secs();
    Some((claim.name(), left.max(0)))
}

fn words(seconds: i64) -> String {
    if seconds == 3600 { "1 hour".to_owned() } else { duration_words(seconds) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};

    /// What a pod with so much grace, a container and an init container with these fields meets under a code.
    fn met(code: Code, grace: i64, (container, init): (&str, &str), status: &str, flag: i64, claim: &str) -> Vec<Note> {
        let mut c = Cluster::new();
        c.object(
            r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]}}"#,
        );
        // Deleted as the cluster's time begins.
        let deleted = r#""deletionTimestamp": "2026-01-01T00:00:00Z""#;
        let (meta, limit) = match claim {
            "short" => (deleted, r#""60s""#),
            "never" => (deleted, r#""Never""#),
            "none" => (deleted, "null"),
            _ => (r#""generation": 1"#, r#""60s""#),
        };
        if !claim.is_empty() {
            c.object(&format!(
                r#"{{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {{"name": "main-1", {meta}}},
                    "spec": {{"terminationGracePeriod": {limit}}}, "status": {{"nodeName": "n"}}}}"#
            ));
        }
        let spec = format!(r#""terminationGracePeriodSeconds": {grace}, "initContainers": [{{"name": "i" {init}}}]"#);
        c.push_pod(&format!(r#"{{"name": "c" {container}}}"#), "a", "p", "n", ("", &spec, status));
        c.met(code, &DrainOptions { grace_period: flag, ..DrainOptions::default() })
    }

    #[test]
    fn long_grace_is_told() {
        let done = r#""phase": "Succeeded""#;
        for (title, grace, status, flag, want) in [
            ("five minutes", 300, "", -1, &[(Drainability::Drains, "(300 s)")][..]),
            ("a second less", 299, "", -1, &[]),
            ("an hour", 3600, "", -1, &[(Drainability::Drains, "up to 1 hour (3600 s)")]),
            ("the flag shortens it", 3600, "", 10, &[]),
            ("the flag makes it long", 30, "", 600, &[(Drainability::Drains, "(600 s)")]),
            ("it has ended", 3600, done, -1, &[]),
        ] {
            assert_notes(title, &met(Code::LongGrace, grace, ("", ""), status, flag, ""), want);
        }
    }

    #[test]
    fn a_deletion_that_has_long_to_go_is_told() {
        // The clock of these tests stands at 2026-01-01T00:00:00Z.
        for (title, until, status, want) in [
            ("a week of grace", "2026-01-07T22:00:00Z", "", Some("(597600 s) left")),
            ("five minutes", "2026-01-01T00:05:00Z", "", Some("(300 s) left")),
            ("a second less", "2026-01-01T00:04:59Z", "", None),
            ("past its grace", "2025-12-31T23:00:00Z", "", None),
            ("it has ended", "2026-01-07T22:00:00Z", r#""phase": "Failed""#, None),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.pod_of("a", "p", "n", &format!(r#""deletionTimestamp": "{until}""#), "", status);
            let want: Vec<_> = want.into_iter().map(|words| (Drainability::Drains, words)).collect();
            assert_notes(title, &c.met(Code::LongGrace, &DrainOptions::default()), &want);
        }
    }

    #[test]
    fn grace_that_is_too_short_is_told() {
        let sleep = |s: i64| format!(r#", "lifecycle": {{"preStop": {{"sleep": {{"seconds": {s}}}}}}}"#);
        let exec = |command: &str| format!(r#", "lifecycle": {{"preStop": {{"exec": {{"command": [{command}]}}}}}}"#);
        let http = r#", "lifecycle": {"preStop": {"httpGet": {"port": 80}}}"#;
        let sidecar = format!(r#", "restartPolicy": "Always" {}"#, sleep(26));
        let cut = |flag: i64| format!("--grace-period={flag} cuts its grace period of 30 s");
        let (flag, none) = (cut(10), format!("{}: the pod is removed from the API at once", cut(0)));
        let hook = (Drainability::Drains, "preStop hook alone needs 26 s of 30 s");
        let done = r#""phase": "Failed""#;
        for (title, grace, containers, status, flag, claim, want) in [
            ("as it should be", 30, ("", ""), "", -1, "", &[][..]),
            // After the hook, what is left is for the shutdown: at least 5 s.
            ("hook and shutdown take it all", 30, (&*sleep(25), ""), "", -1, "", &[]),
            ("hook and shutdown take more", 30, (&sleep(26), ""), "", -1, "", &[hook]),
            ("a command that sleeps", 30, (&exec(r#""sh", "-c", "sleep 26""#), ""), "", -1, "", &[hook]),
            ("a command that does not say", 30, (&exec(r#""/bin/stop""#), ""), "", -1, "", &[]),
            ("a call", 30, (http, ""), "", -1, "", &[]),
            ("a sidecar's hook", 30, ("", &*sidecar), "", -1, "", &[hook]),
            ("the flag gives the hook time", 30, (&sleep(26), ""), "", 31, "", &[]),
            (
                "the flag takes time from the hook",
                60,
                (&sleep(26), ""),
                "",
                30,
                "",
                &[(Drainability::Drains, "--grace-period=30 cuts its grace period of 60 s"), hook],
            ),
            ("the flag cuts it", 30, ("", ""), "", 10, "", &[(Drainability::Drains, &*flag)]),
            ("the flag is as long", 30, ("", ""), "", 30, "", &[]),
            ("the flag takes it all", 30, ("", ""), "", 0, "", &[(Drainability::Drains, &*none)]),
            (
                "its NodeClaim is deleted and ends the node first",
                61,
                ("", ""),
                "",
                -1,
                "short",
                &[(Drainability::Drains, "NodeClaim main-1 is being deleted and ends the node in 60 s")],
            ),
            (
                "a server that waits",
                30,
                (r#", "command": ["gunicorn", "--graceful-timeout", "60"]"#, ""),
                "",
                -1,
                "",
                &[(
                    Drainability::Drains,
                    "container c needs up to 60 s to end (--graceful-timeout) and has 30 s of grace",
                )],
            ),
            (
                "a server that waits after the hook",
                30,
                (&*format!(r#", "args": ["--shutdown-timeout=20s"] {}"#, sleep(15)), ""),
                "",
                -1,
                "",
                &[(Drainability::Drains, "up to 35 s to end (preStop 15 s, then --shutdown-timeout 20 s)")],
            ),
            (
                "a server that has the time",
                60,
                (&*format!(r#", "args": ["--shutdown-timeout=20s"] {}"#, sleep(15)), ""),
                "",
                -1,
                "",
                &[],
            ),
            ("its pool waits as long", 60, ("", ""), "", -1, "short", &[]),
            ("its pool never ends it", 61, ("", ""), "", -1, "never", &[]),
            ("its pool says nothing", 61, ("", ""), "", -1, "none", &[]),
            ("no such pool", 61, ("", ""), "", -1, "gone", &[]),
            ("it has ended", 61, (&sleep(61), ""), done, 1, "short", &[]),
        ] {
            assert_notes(title, &met(Code::GraceBudget, grace, containers, status, flag, claim), want);
        }
    }
}
