//! Shells that are PID 1 and hand SIGTERM to none of their programs.
//!
//! The kubelet sends the signal to PID 1 alone, and the kernel drops it there where no handler is set (pid_namespaces(7)).

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::note::Note;
use crate::finding::Code;
use crate::snapshot::pod::PreStop;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    if !rule.is_running() || rule.grace() == 0 {
        return;
    }
    for container in rule.containers() {
        // A hook that runs a command may stop the program itself.
        let stops = matches!(container.pre_stop, Some(PreStop::Exec(None) | PreStop::Other));
        let Some(shell) = container.entrypoint.as_ref().and_then(|e| e.shell.as_ref()).filter(|_| !stops) else {
            continue;
        };
        let text = format!(
            "container {} starts through {shell} -c without exec: where {shell} stays PID 1, SIGTERM does not reach its \
             program, which is killed after {} s of grace",
            container.name,
            rule.grace()
        );
        let remedy =
            Remedy::advice("start the program with exec in the script, or run an init such as tini in the image");
        notes.push(Note::new(Code::ShellAsInit, text).remedy(remedy));
    }
}

#[cfg(test)]
mod tests {
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};
    use crate::finding::Code;

    #[test]
    fn a_shell_that_swallows_the_signal_is_told() {
        let shell = r#", "command": ["/bin/sh", "-c", "/prepare.sh; java -jar /a.jar; /report.sh"]"#;
        let hook = |of: &str| format!(r#"{shell}, "lifecycle": {{"preStop": {of}}}"#);
        let stop = hook(r#"{"exec": {"command": ["kill", "-TERM", "7"]}}"#);
        let sleep = hook(r#"{"sleep": {"seconds": 5}}"#);
        let told = &[(Drainability::Drains, "container c starts through sh -c without exec")][..];
        let flag = |seconds| DrainOptions { grace_period: seconds, ..DrainOptions::default() };
        for (title, container, status, options, want) in [
            ("a script", shell, "", flag(-1), told),
            ("exec", r#", "command": ["/bin/sh", "-c", "/prepare.sh; exec java -jar /a.jar"]"#, "", flag(-1), &[]),
            ("a hook that stops the program", &stop, "", flag(-1), &[]),
            ("a hook that only waits", &sleep, "", flag(-1), told),
            ("no grace at all", shell, "", flag(0), &[]),
            ("it has ended", shell, r#""phase": "Failed""#, flag(-1), &[]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.push_pod(&format!(r#"{{"name": "c"{container}}}"#), "a", "p", "n", ("", "", status));
            assert_notes(title, &c.met(Code::ShellAsInit, &options), want);
        }
    }
}
