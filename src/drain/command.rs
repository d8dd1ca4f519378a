//! The `kubectl drain` line: what the user gave, and the flags that the node needs besides.

use super::options::{DrainOptions, Flag};
use crate::shell::Kubectl;

/// The line that drains `nodes`, with the flags given and those of `needs` that were not.
pub fn line(kubectl: &Kubectl, nodes: &[&str], options: &DrainOptions, needs: &[Flag]) -> String {
    let mut args: Vec<String> = vec!["drain".to_owned()];
    args.extend(nodes.iter().map(|n| (*n).to_owned()));
    for flag in [Flag::IgnoreDaemonSets, Flag::DeleteEmptyDirData, Flag::Force] {
        if options.has(flag) || needs.contains(&flag) {
            args.push(flag.as_str().to_owned());
        }
    }
    let defaults = DrainOptions::default();
    if options.grace_period >= 0 {
        args.push(format!("--grace-period={}", options.grace_period));
    }
    if options.timeout != defaults.timeout {
        args.push(format!("--timeout={}", go_duration(options.timeout)));
    }
    if let Some((_, text)) = &options.pod_selector {
        args.push(format!("--pod-selector={text}"));
    }
    if options.disable_eviction {
        args.push("--disable-eviction".to_owned());
    }
    if options.skip_wait_for_delete != 0 {
        args.push(format!("--skip-wait-for-delete-timeout={}", options.skip_wait_for_delete));
    }
    if let Some(size) = options.chunk_size {
        args.push(format!("--chunk-size={size}"));
    }
    if let Some(kind) = &options.dry_run {
        args.push(format!("--dry-run={kind}"));
    }
    let args: Vec<&str> = args.iter().map(|a| &**a).collect();
    kubectl.line("", &args)
}

/// A duration as Go reads it: whole seconds where it has no smaller part.
fn go_duration(d: std::time::Duration) -> String {
    if d.subsec_nanos() == 0 { format!("{}s", d.as_secs()) } else { format!("{}ns", d.as_nanos()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn flags_are_those_given_and_those_needed() {
        let none = DrainOptions::default();
        let all = DrainOptions {
            force: true,
            grace_period: 0,
            timeout: Duration::from_millis(1500),
            disable_eviction: true,
            skip_wait_for_delete: 60,
            chunk_size: Some(0),
            dry_run: Some("server".into()),
            pod_selector: Some((crate::snapshot::selector::LabelSelector::Nothing, "a in (b)".into())),
            ..DrainOptions::default()
        };
        for (options, needs, want) in [
            (&none, &[][..], "kubectl drain n1"),
            (&none, &[Flag::Force, Flag::IgnoreDaemonSets], "kubectl drain n1 --ignore-daemonsets --force"),
            (
                &all,
                &[Flag::DeleteEmptyDirData],
                "kubectl drain n1 --delete-emptydir-data --force --grace-period=0 --timeout=1500000000ns \
                 '--pod-selector=a in (b)' --disable-eviction --skip-wait-for-delete-timeout=60 --chunk-size=0 \
                 --dry-run=server",
            ),
        ] {
            assert_eq!(line(&Kubectl::default(), &["n1"], options, needs), want);
        }
    }
}
