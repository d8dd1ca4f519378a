//! `-o html`: pages that stand by themselves, and stay harmless whatever the cluster's objects are called.

use crate::program::{program, run};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

/// The page of each command, of the examples that ship.
pub fn pages() -> Vec<String> {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let page = |args: &[&str], example: &str| {
        let ran = run([args, &["-o", "html", "--from", &format!("{examples}/{example}")]].concat());
        assert!(ran.out.starts_with("<!DOCTYPE html>"), "{args:?}: {}", ran.err);
        ran.out
    };
    vec![
        page(&["status", "-A"], "budgets"),
        page(&["drain-plan"], "drain"),
        page(&["why-pending", "-A"], "pending"),
        page(&["drain-plan", "--parallel", "2"], "drain"),
    ]
}

/// What stands between `before` and the next quote.
fn attributes<'a>(page: &'a str, before: &'a str) -> Vec<&'a str> {
    page.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn a_page_needs_nothing_but_itself() {
    for page in pages() {
        for foreign in ["<script", "<link", "<img", "<iframe", " src=", "url(", "@import", " onload="] {
            assert!(!page.contains(foreign), "{foreign}: {}", &page[..300]);
        }
        let ids = attributes(&page, " id=\"");
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len(), "an id is there twice");
        for target in attributes(&page, " href=\"") {
            assert!(target.strip_prefix('#').is_some_and(|id| ids.contains(&id)), "{target}");
        }
    }
}

#[test]
fn what_blocks_stands_first() {
    let status = &pages()[0];
    let at = |verdict: &str| status.find(&format!("\">{verdict}</span>")).unwrap();
    assert!(at("never") < at("broken") && at("broken") < at("unhealthy") && at("unhealthy") < at("allows"));
    let plan = &pages()[1];
    assert!(plan.find("Blocked, drain later").unwrap() < plan.find(">Round 1<").unwrap());
}

#[test]
fn names_are_text_and_nothing_else() {
    const EVIL: &str = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>&\u{1b}[2J\u{202e}";
    let labels = json!({"app": EVIL});
    let cluster = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
         "metadata": {"name": EVIL, "namespace": EVIL, "generation": 1},
         "spec": {"maxUnavailable": EVIL, "selector": {"matchLabels": labels}}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": EVIL, "namespace": EVIL, "labels": labels},
         "spec": {"nodeName": EVIL, "containers": [{"name": EVIL}]},
         "status": {"phase": EVIL, "conditions": [{"type": "Ready", "status": "False", "reason": EVIL, "message": EVIL}]}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waits", "namespace": EVIL},
         "spec": {"nodeSelector": {EVIL: EVIL}, "containers": [{"name": "c"}]},
         "status": {"phase": "Pending", "conditions": [
             {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": EVIL}]}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": EVIL},
         "spec": {"taints": [{"key": EVIL, "value": EVIL, "effect": "NoSchedule"}]}},
    ]})
    .to_string();
    for args in [&["status", "-A"][..], &["drain-plan"], &["why-pending", "-A"]] {
        let mut command = program();
        command.args(args).args(["-o", "html", "--from", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(cluster.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(page.contains("&lt;script&gt;alert(1)"), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        for bad in ["<script", "<img", "'alert(2)'>&\u{1b}", "\u{1b}", "\u{202e}"] {
            assert!(!page.contains(bad), "{args:?} has {bad:?}");
        }
        // Nothing breaks out of an attribute: a quote that came from a name is escaped.
        assert!(!page.contains("\"\">"), "{args:?}");
    }
}
