//! What a container's command tells of how the container ends. The words themselves are not kept: they may hold secrets.

use super::Str;
use super::intern::Interner;
use crate::duration;

/// What a container's command tells of how the container ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Entrypoint {
    /// The shell that is PID 1 and hands SIGTERM to none of the programs that it starts; `None` where there is none, or
    /// where it makes room for its program (`exec`) or has a handler of its own (`trap`).
    pub shell: Option<Str>,
    /// How long the server is told to wait for open requests, in seconds, and the flag that says so.
    pub shutdown: Option<(Str, i64)>,
    /// Flags of the Cluster Autoscaler with their values.
    pub autoscaler: Box<[(Str, Str)]>,
}

/// Shells that stay PID 1 whatever they start. Seen of dash 0.5.12, which is `sh` on Debian; others may differ, so that
/// the text says "where".
const STAY: &[&str] = &["sh", "dash", "ash"];
/// Shells that are replaced by the last program of a list (seen of bash 5.2), and stay PID 1 for those before it.
const REPLACED_BY_THE_LAST: &[&str] = &["bash", "zsh", "ksh"];

/// Words that a shell answers itself, at once: not the program that a container is there for.
const BUILTINS: &[&str] = &[
    ".", ":", "[", "cd", "do", "done", "echo", "else", "export", "fi", "if", "mkdir", "printf", "set", "source",
    "test", "then", "true", "ulimit", "umask", "unset",
];

/// Flags for how long a server waits for open requests before it ends, the unit of a plain number in milliseconds, and
/// whose they are (documentation as of 2026-12).
const SHUTDOWN_FLAGS: &[(&str, i64)] = &[
    ("graceful-timeout", 1000),                                 // gunicorn, hypercorn
    ("timeout-graceful-shutdown", 1000),                        // uvicorn
    ("shutdown-grace-period", 1000),                            // ingress-nginx
    ("graceful-shutdown-timeout", 1000),                        // by convention
    ("shutdown-timeout", 1000),                                 // by convention
    ("spring.lifecycle.timeout-per-shutdown-phase", 1),         // Spring Boot
    ("entrypoints.web.transport.lifecycle.gracetimeout", 1000), // Traefik
    ("entrypoints.websecure.transport.lifecycle.gracetimeout", 1000),
];

/// Flags of the Cluster Autoscaler that decide which nodes it takes away; no other program has flags of these names.
const AUTOSCALER_FLAGS: &[&str] = &[
    "blocking-system-pod-distruption-timeout",
    "expendable-pods-priority-cutoff",
    "ignore-daemonsets-utilization",
    "ignore-mirror-pods-utilization",
    "min-replica-count",
    "scale-down-delay-after-add",
    "scale-down-enabled",
    "scale-down-gpu-utilization-threshold",
    "scale-down-unneeded-time",
    "scale-down-unready-enabled",
    "scale-down-utilization-threshold",
    "skip-nodes-with-custom-controller-pods",
    "skip-nodes-with-local-storage",
    "skip-nodes-with-system-pods",
];
/// Its groups: least, most, name.
const NODES: &str = "nodes";

/// Reads `command` and `args` of a container.
pub(super) fn read(command: &[String], args: &[String], i: &mut Interner) -> Option<Entrypoint> {
    // Without a command, the arguments go to the image's own entrypoint, which is not known to be a shell.
    let shell = if command.is_empty() { None } else { shell(command, args) };
    let words = || command.iter().chain(args).flat_map(|w| w.split_whitespace());
    let shutdown = shutdown(words());
    let all: Vec<&str> = words().collect();
    let autoscaler = autoscaler(&all);
    let entrypoint = Entrypoint {
        shell: shell.map(|s| i.str(s)),
        shutdown: shutdown.map(|(flag, seconds)| (i.str(flag), seconds)),
        autoscaler: autoscaler.into_iter().map(|(flag, value)| (i.str(flag), i.str(value))).collect(),
    };
    (entrypoint != Entrypoint::default()).then_some(entrypoint)
}

impl Entrypoint {
    /// A command that is read as this one, and says nothing more: what a snapshot holds instead of the command.
    #[cfg(any(feature = "live", test))]
    pub(super) fn command(&self) -> Vec<String> {
        let shell = self.shell.iter().flat_map(|s| [s.to_string(), "-c".to_owned(), "a; b".to_owned()]);
        // Without a shell the program has no name.
        let program = self.shell.is_none().then(|| "a".to_owned());
        let shutdown = self.shutdown.iter().map(|(flag, seconds)| format!("--{flag}={seconds}s"));
        let autoscaler = self.autoscaler.iter().map(|(flag, value)| format!("--{flag}={value}"));
        shell.chain(program).chain(shutdown).chain(autoscaler).collect()
    }
}

/// The Cluster Autoscaler's flags among words. A flag without a value is one that is on.
fn autoscaler<'a>(words: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let next = words.iter().skip(1).map(Some).chain([None]);
    let flags = words.iter().zip(next).filter_map(|(word, next)| {
        let bare = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        let follows = next.filter(|n| !n.starts_with('-')).copied();
        let (name, value) = bare.split_once('=').unwrap_or((bare, follows.unwrap_or("true")));
        let of_groups = || name == NODES && value.splitn(3, ':').take(2).all(|n| n.parse::<u32>().is_ok());
        let is_plain = value.len() < 16 && value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
        (AUTOSCALER_FLAGS.contains(&name) && is_plain || of_groups() && value.matches(':').count() >= 2)
            .then_some((name, value))
    });
    flags.collect()
}

/// The shell that stays PID 1 beside a program of its script.
fn shell<'a>(command: &'a [String], args: &'a [String]) -> Option<&'a str> {
    let mut words = command.iter().chain(args).map(String::as_str);
    let name = words.next()?.rsplit('/').next()?;
    let stays = STAY.contains(&name);
    if !stays && !REPLACED_BY_THE_LAST.contains(&name) {
        return None;
    }
    // `-c` may stand among other options: `-ec`, `-o pipefail -c`.
    let mut options = words.skip_while(|w| !(w.starts_with('-') && !w.starts_with("--") && w.ends_with('c')));
    let script = options.nth(1)?;
    let statements = || script.split([';', '\n', '&', '|']).map(str::trim).filter(|s| !s.is_empty());
    let first_word = |s: &'a str| s.split_whitespace().find(|w| !matches!(*w, "then" | "else" | "do" | "{" | "("));
    if statements().filter_map(first_word).any(|w| matches!(w, "exec" | "trap")) {
        return None;
    }
    let is_program = |w: &&str| !BUILTINS.contains(w) && !w.contains('=') && !w.starts_with('#');
    let programs = statements().filter_map(first_word).filter(is_program).count();
    let last_is_replaced = !stays && !script.replace("||", "").contains('|') && !script.trim_end().ends_with('&');
    (programs > usize::from(last_is_replaced)).then_some(name)
}

fn shutdown<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<(&'static str, i64)> {
    while let Some(word) = words.next() {
        let bare = word.strip_prefix("-D").unwrap_or(word).trim_start_matches('-');
        // A word that is no option is not the name of one.
        if bare.len() == word.len() {
            continue;
        }
        let (name, value) = bare.split_once('=').map_or((bare, None), |(n, v)| (n, Some(v)));
        let Some((flag, unit)) = SHUTDOWN_FLAGS.iter().find(|(flag, _)| name.eq_ignore_ascii_case(flag)) else {
            continue;
        };
        return value.or_else(|| words.next()).and_then(|v| seconds(v, *unit)).map(|s| (*flag, s));
    }
    None
}

/// A length of time in seconds, rounded up; a plain number is so many times a unit in milliseconds.
fn seconds(text: &str, unit: i64) -> Option<i64> {
    let text = text.trim_matches(['"', '\'']);
    let millis = match text.parse::<i64>() {
        Ok(number) => number.checked_mul(unit)?,
        Err(_) => i64::try_from(duration::parse(text).ok()?.as_millis()).ok()?,
    };
    Some(millis / 1000 + i64::from(millis % 1000 > 0)).filter(|s| *s >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(command: &[&str], args: &[&str]) -> Entrypoint {
        let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        read(&owned(command), &owned(args), &mut Interner::default()).unwrap_or_default()
    }

    #[test]
    fn a_shell_that_stays_pid_one_is_known() {
        for (title, command, args, want) in [
            // What dash 0.5.12 and bash 5.2 do was seen of them: see `ps` while they run each of these.
            (
                "three programs",
                &["/bin/sh", "-c", "/prepare.sh; java -jar /a.jar; /report.sh"][..],
                &[][..],
                Some("sh"),
            ),
            ("one program of dash", &["sh", "-c", "java -jar /a.jar"], &[], Some("sh")),
            ("one program of bash, which makes room", &["/bin/bash", "-c", "java -jar /a.jar"], &[], None),
            ("the last of a list of bash", &["bash", "-c", "cd /app && export A=1; java -jar a.jar"], &[], None),
            ("two programs of bash", &["bash", "-ec", "migrate && serve"], &[], Some("bash")),
            ("a pipe of bash", &["bash", "-o", "pipefail", "-c", "serve | tee /log"], &[], Some("bash")),
            ("in the background", &["bash", "-c", "serve & wait"], &[], Some("bash")),
            ("exec", &["/bin/sh", "-c", "/prepare.sh; exec java -jar /a.jar"], &[], None),
            ("exec in a branch", &["sh", "-c", "if [ -n \"$A\" ]; then exec a; else exec b; fi"], &[], None),
            ("a handler", &["sh", "-c", "trap 'kill $!' TERM; serve & wait"], &[], None),
            ("the script among the arguments", &["/bin/sh"], &["-c", "a; b"], Some("sh")),
            ("a script in a file", &["/bin/sh", "/entry.sh"], &[], None),
            ("an init of its own", &["tini", "--", "sh", "-c", "a; b"], &[], None),
            ("the image's own entrypoint", &[], &["sh", "-c", "a; b"], None),
            ("no shell", &["java", "-jar", "/a.jar"], &[], None),
        ] {
            assert_eq!(read_words(command, args).shell.as_deref(), want, "{title}");
        }
    }

    #[test]
    fn flags_tell_how_long_a_server_waits() {
        for (title, command, args, want) in [
            (
                "gunicorn",
                &["gunicorn", "--graceful-timeout", "60", "shop.wsgi:app"][..],
                &[][..],
                Some(("graceful-timeout", 60)),
            ),
            ("with an equals sign", &["gunicorn"], &["--graceful-timeout=60"], Some(("graceful-timeout", 60))),
            (
                "inside a script",
                &["sh", "-c", "exec uvicorn --timeout-graceful-shutdown 45 a:b"],
                &[],
                Some(("timeout-graceful-shutdown", 45)),
            ),
            ("a duration of Go", &["/srv"], &["-shutdown-timeout", "1m30s"], Some(("shutdown-timeout", 90))),
            ("part of a second", &["/srv"], &["--shutdown-timeout=1500ms"], Some(("shutdown-timeout", 2))),
            (
                "a property of Java, in milliseconds",
                &["java", "-Dspring.lifecycle.timeout-per-shutdown-phase=20000", "-jar", "a.jar"],
                &[],
                Some(("spring.lifecycle.timeout-per-shutdown-phase", 20)),
            ),
            (
                "the same with a unit",
                &["java", "-jar", "a.jar", "--spring.lifecycle.timeout-per-shutdown-phase=20s"],
                &[],
                Some(("spring.lifecycle.timeout-per-shutdown-phase", 20)),
            ),
            ("another flag", &["gunicorn", "--timeout", "60"], &[], None),
            ("no number", &["gunicorn", "--graceful-timeout", "$T"], &[], None),
            ("no value", &["gunicorn", "--graceful-timeout"], &[], None),
            ("no option", &["graceful-timeout", "60"], &[], None),
        ] {
            let read = read_words(command, args).shutdown;
            assert_eq!(read.as_ref().map(|(flag, s)| (&**flag, *s)), want, "{title}");
        }
    }

    #[test]
    fn flags_of_the_cluster_autoscaler_are_kept() {
        let (command, args) = (
            ["./cluster-autoscaler", "--v=4", "--skip-nodes-with-local-storage=false", "--nodes=1:10:workers"],
            ["--scale-down-utilization-threshold", "0.65", "--scale-down-enabled", "--cloud-config=/s3cr3t"],
        );
        let read = read_words(&command, &args).autoscaler;
        let read: Vec<(&str, &str)> = read.iter().map(|(flag, value)| (&**flag, &**value)).collect();
        let want = [
            ("skip-nodes-with-local-storage", "false"),
            ("nodes", "1:10:workers"),
            ("scale-down-utilization-threshold", "0.65"),
            ("scale-down-enabled", "true"),
        ];
        assert_eq!(read, want);
        assert!(read_words(&["server", "--nodes=a:b", "--nodes", "3"], &[]).autoscaler.is_empty());
    }

    #[test]
    fn a_snapshot_holds_no_word_of_the_command() {
        for (command, args) in [
            (
                &["./cluster-autoscaler", "--scale-down-enabled=false", "--x=s3cr3t"][..],
                &["--min-replica-count", "2"][..],
            ),
            (&["/bin/sh", "-c", "s3cr3t; b"][..], &["--graceful-timeout", "60", "s3cr3t"][..]),
            (&["bash", "-c", "s3cr3t & wait"], &[]),
            (&["s3cr3t", "--spring.lifecycle.timeout-per-shutdown-phase=20s"], &[]),
        ] {
            let read = read_words(command, args);
            let written = read.command();
            assert!(!written.concat().contains("s3cr3t"), "{written:?}");
            let words: Vec<&str> = written.iter().map(String::as_str).collect();
            assert_eq!(read_words(&words, &[]), read, "{command:?}");
        }
    }
}
