//! The first lines of answers, as a person reads them.

use crate::program::{here, in_parallel, read_json, run};
use regex::Regex;
use serde_json::Value;

/// What the answer to a recorded case begins with, its lines joined.
fn beginning(case: &str, args: &[&str]) -> String {
    let cluster = here(&format!("cases/why-pending/{case}/cluster.json"));
    let from = cluster.to_str().expect("UTF-8");
    let ran = run(["why-pending", "-n", "shop", "--from", from].iter().chain(args));
    let first: Vec<&str> = ran.out.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    first.join(" ")
}

#[test]
fn the_cause_is_read_first() {
    for (case, target, want) in [
        (
            "own-architecture-that-no-node-has",
            "web",
            "shop/web: Pending for 30min: no node can run it, and evicting pods of lower priority would not help. \
             1 node does not match the pod's rules: the pod selects kubernetes.io/arch=amd64, and a1 has arm64",
        ),
        (
            "own-spread-over-a-label-that-is-missing",
            "web",
            "shop/web: Pending for 30min: no node can run it, and evicting pods of lower priority would not help. \
             n1 lacks the label topology.kubernetes.io/zone",
        ),
        (
            "own-disk-pressure-beside-a-control-plane",
            "web",
            "shop/web: Pending for 30min: no node can run it, and evicting pods of lower priority would not help. \
             1 node has the taint node.kubernetes.io/disk-pressure:NoSchedule, which the pod does not tolerate: n1, as \
             its kubelet reports disk pressure",
        ),
        (
            "own-nobody-has-scheduled-yet",
            "web",
            "shop/web: Pending for 60min: fits now on n1; the scheduler has not tried yet.",
        ),
        (
            "own-evicted-by-the-kubelet",
            "web",
            "shop/web: the pod has ended on node n1 (Evicted): The node was low on resource: memory. Threshold quantity: \
             100Mi, available: 50Mi; this pod does not run again. next: kubectl describe pod web -n shop",
        ),
        (
            "own-suspended-cron-job",
            "cronjob/nightly",
            "CronJob shop/nightly is suspended (spec.suspend): it makes no Jobs; it has not made a Job yet, no Job of it \
             is active.",
        ),
    ] {
        assert_eq!(beginning(case, &[target]), want, "{case}");
    }
}

/// The text of the answer to a recorded case, as one line.
fn answered(case: &str) -> String {
    let folder = here("cases").join(case);
    let args = read_json(&folder.join("case.json"));
    let args = args["args"].as_array().expect("arguments").iter().filter_map(Value::as_str);
    let cluster = folder.join("cluster.json").display().to_string();
    run(args.chain(["--from", &cluster])).out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `pairs.json` holds recorded situations, each with what a person should read: the first line, the cause that leads, and
/// the fix that stands first. Each was reviewed against the cluster; a change of words is reviewed as well.
#[test]
fn each_situation_is_told_as_a_person_should_read_it() {
    let offer = Regex::new(
        r"(?:\bfix(?:, not verified)?: |(?:to unblock|to let the pod run|to spare the pods|what can be done|to allow evictions)[^:]*: 1 )",
    )
    .expect("a pattern");
    let pairs = read_json(&here("pairs.json"));
    let pairs = pairs.as_array().expect("pairs");
    assert!(pairs.len() >= 60, "only {}", pairs.len());
    let check = |pair: &Value| {
        let word = |key: &str| pair[key].as_str().unwrap_or_default();
        let text = answered(word("case"));
        let mut bad = Vec::new();
        if !text.starts_with(word("first")) {
            bad.push("first");
        }
        let cause = text.find(word("cause"));
        let fix = offer.find(&text);
        match fix {
            Some(at) if word("fix").is_empty() || !text[at.end()..].starts_with(word("fix")) => bad.push("fix"),
            None if !word("fix").is_empty() => bad.push("fix"),
            _ => {}
        }
        // A fix without its cause before it cannot be judged.
        if cause.is_none_or(|cause| fix.is_some_and(|fix| fix.start() < cause)) {
            bad.push("cause");
        }
        (!bad.is_empty()).then(|| format!("{}: {bad:?}\n  {text}", word("case")))
    };
    let bad: Vec<String> = in_parallel(pairs, check).into_iter().flatten().collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
