//! Random clusters with the real control plane's own words beside them (`tests/agreement/`, and the `truth.json` of the
//! cases): what the program says of each must be what upstream's components answered.

use crate::program::{folders_with, here, in_parallel, read_json, run, run_on};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How far the program agrees: a line a disagreement, and how many facts were compared.
#[derive(Default)]
pub struct Tally {
    compared: usize,
    misses: Vec<String>,
}

impl Tally {
    pub fn compare(&mut self, what: &str, want: &Value, got: &Value) {
        self.compared += 1;
        if want != got {
            self.misses.push(format!("{what}: upstream {want}, ours {got}"));
        }
    }

    fn join(all: Vec<Self>) -> Self {
        let compared = all.iter().map(|t| t.compared).sum();
        Self { compared, misses: all.into_iter().flat_map(|t| t.misses).collect() }
    }
}

/// Budgets whose stored numbers are old for a reason that a snapshot does not show: the disruption controller watches
/// budgets and pods, not owners, and of several budgets over one pod it looks at one only when that pod changes.
const OLD_NUMBERS: &[(&str, &str)] = &[
    ("budget-3", "ns12/p0"), // its StatefulSet was scaled from 3 to 2 while no pod came or went
    ("budget-5", "ns5/p1"),  // the last pod it shared with p0 went, and the controller looked at p0 only
    ("budget-5", "ns5/p2"),
];

const BUDGETS: &[&str] = &["agreement/budget", "cases/status"];
const SCHEDULING: &[&str] = &["agreement/pending", "agreement/dense", "agreement/preempt", "cases/why-pending"];
const DRAINS: &[&str] = &["agreement/drain", "agreement/karpenter-drain", "cases/drain-plan"];
const TERMINATIONS: &[&str] = &["agreement/karpenter-terminate"];
const PROVISIONING: &[&str] = &["agreement/karpenter-provision"];

/// The folders of `tests/` that are judged here.
pub const FOLDERS: &[&[&str]] = &[BUDGETS, SCHEDULING, DRAINS, PROVISIONING, TERMINATIONS];

/// Nothing recorded in these folders is missed, and more than `least` facts are compared.
pub fn agrees(folders: &[&str], least: usize, judge: fn(&Path) -> Tally) {
    let recorded: Vec<PathBuf> = folders.iter().flat_map(|folder| folders_with(&here(folder), "truth.json")).collect();
    let tally = Tally::join(in_parallel(&recorded, |dir| judge(dir)));
    assert!(tally.compared > least, "only {} facts were compared", tally.compared);
    assert!(tally.misses.is_empty(), "{} of {}:\n{}", tally.misses.len(), tally.compared, tally.misses.join("\n"));
}

#[test]
fn budgets_and_evictions() {
    agrees(BUDGETS, 900, budgets);
}

fn budgets(dir: &Path) -> Tally {
    let truth = read_json(&dir.join("truth.json"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let mut tally = Tally::default();
    if truth["agree"] == "skip" || !truth["status"].is_object() {
        return tally;
    }
    let items = items("status", dir);
    for (budget, want) in truth["status"].as_object().into_iter().flatten() {
        if OLD_NUMBERS.contains(&(&*name, budget)) {
            continue;
        }
        let got = items.iter().find(|i| path(i) == *budget).cloned().unwrap_or_default();
        for field in ["expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed"] {
            tally.compare(&format!("{name} {budget} {field}"), &want[field], &got[field]);
        }
    }
    let pods: Vec<&Value> = items.iter().flat_map(|i| i["pods"].as_array().into_iter().flatten()).collect();
    for (pod, want) in truth["evictions"].as_object().into_iter().flatten() {
        match pods.iter().find(|p| path(p) == *pod) {
            Some(p) => {
                tally.compare(&format!("{name} {pod} code"), &want["code"], &p["eviction"]["code"]);
                if want["code"] != 201 {
                    tally.compare(&format!("{name} {pod} message"), &want["message"], &p["eviction"]["message"]);
                    let causes = want.get("causes").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
                    tally.compare(&format!("{name} {pod} causes"), &causes, &p["eviction"]["causes"]);
                }
            }
            // A pod under no budget is in no list, and goes.
            None => tally.compare(&format!("{name} {pod} code"), &want["code"], &Value::from(201)),
        }
    }
    tally
}

#[test]
fn the_scheduler_s_words_and_preemption() {
    agrees(SCHEDULING, 900, pending);
}

fn pending(dir: &Path) -> Tally {
    let truth = read_json(&dir.join("truth.json"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let truth = truth.get("pending").unwrap_or(&truth);
    let mut tally = Tally::default();
    if truth["agree"] == "skip" || !truth["victims"].is_array() || !truth["pods"].is_object() {
        return tally;
    }
    let items = items("why-pending", dir);
    let pods = truth["pods"].as_object();
    let alone = pods.is_some_and(|p| p.len() == 1);
    for (pod, want) in pods.into_iter().flatten() {
        let got = items.iter().find(|i| path(i) == *pod).cloned().unwrap_or_default();
        let (scheduler, preemption) = (&got["scheduler"], &got["preemption"]);
        let listed = |list: &Value, what: &Value| list.as_array().is_some_and(|l| l.contains(what));
        if let Some(node) = want.get("bound") {
            tally.compare(&format!("{name} {pod} fits"), &Value::from(true), &listed(&scheduler["fits"], node).into());
            continue;
        }
        tally.compare(&format!("{name} {pod} message"), &want["message"], &scheduler["message"]);
        match want.get("nominated") {
            // The scheduler picks among equals by chance.
            Some(node) if listed(&preemption["ties"], node) && preemption["node"] != *node => tally.compared += 1,
            Some(node) => {
                tally.compare(&format!("{name} {pod} node"), node, &preemption["node"]);
                if alone {
                    let mut victims: Vec<Value> = preemption["victims"].as_array().cloned().unwrap_or_default();
                    victims.sort_by_key(ToString::to_string);
                    tally.compare(&format!("{name} {pod} victims"), &truth["victims"], &victims.into());
                }
            }
            None => tally.compare(&format!("{name} {pod} no preemption"), &Value::Null, &preemption["node"]),
        }
    }
    tally
}

#[test]
fn real_drains() {
    agrees(DRAINS, 60, drain);
}

fn drain(dir: &Path) -> Tally {
    let truth = read_json(&dir.join("truth.json"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let mut tally = Tally::default();
    if truth["agree"] == "skip" || !truth["argv"].is_array() || !truth["verdict"].is_string() {
        return tally;
    }
    let case = dir.join("case.json");
    let case = if case.exists() { read_json(&case) } else { Value::Null };
    // What a snapshot cannot tell (a webhook's answer, a finalizer) is the case's to judge.
    let unknown =
        |check: &Value| check["is"] == "unknown" && check["path"].as_str().is_some_and(|p| p.ends_with(".verdict"));
    if case["expect"].as_array().is_some_and(|checks| checks.iter().any(unknown)) {
        return tally;
    }
    // The same drain: as kubectl was called, but for its timeout; a case's arguments may carry a later time.
    let words = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
    };
    let mut args = words(&case["args"]);
    if args.is_empty() {
        args.push("drain-plan".to_owned());
        args.extend(words(&truth["argv"]).into_iter().skip(2).filter(|a| !a.starts_with("--timeout")));
    }
    args.extend(["-o".to_owned(), "json".to_owned(), "--from".to_owned(), cluster(dir)]);
    let document = run(&args).json();
    let nodes = document["nodes"].as_array().cloned().unwrap_or_default();
    let any = |word: &str| nodes.iter().any(|n| n["verdict"] == word);
    let said = if nodes.is_empty() || any("unknown") {
        "unknown"
    } else if any("blocked") {
        "blocked"
    } else {
        "ends"
    };
    let want = if matches!(truth["verdict"].as_str(), Some("drains" | "waits")) { "ends" } else { "blocked" };
    tally.compare(&format!("{name} ends"), &want.into(), &said.into());
    // Which of the pods under one budget stays is chance; how many is not.
    let pods: Vec<&Value> = nodes.iter().flat_map(|n| n["pods"].as_array().into_iter().flatten()).collect();
    let group = |pod: &str| {
        let budgets = pods.iter().find(|p| path(p) == pod).map(|p| words(&p["budgets"])).unwrap_or_default();
        if budgets.is_empty() { pod.to_owned() } else { budgets.join(",") }
    };
    let left_alone =
        |pod: &str| pods.iter().any(|p| path(p) == pod && (p["action"] == "skip" || p["action"] == "none"));
    let groups = |stay: Vec<String>| {
        let mut all: Vec<Value> = stay.iter().filter(|p| !left_alone(p)).map(|p| group(p).into()).collect();
        all.sort_by_key(ToString::to_string);
        Value::from(all)
    };
    let ours = pods.iter().filter(|p| p["outcome"] == "stays").map(|p| path(p)).collect();
    tally.compare(&format!("{name} stays"), &groups(words(&truth["stayed"])), &groups(ours));
    tally
}

/// `namespace/name` of an item.
fn path(item: &Value) -> String {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    format!("{}/{}", text("namespace"), text("name"))
}

/// What a command says of all that is recorded in a folder.
fn items(command: &str, dir: &Path) -> Vec<Value> {
    let document = run([command, "-A", "-o", "json", "--from", &cluster(dir)]).json();
    document["items"].as_array().cloned().unwrap_or_default()
}

/// The recorded cluster of a folder, plain or gzipped.
pub fn cluster(dir: &Path) -> String {
    let plain = dir.join("cluster.json");
    let path = if plain.exists() { plain } else { dir.join("cluster.json.gz") };
    path.display().to_string()
}

#[test]
fn karpenter_s_new_nodes() {
    agrees(PROVISIONING, 80, provisioning);
}

/// Whether Karpenter gave each pod a node, refused it, or did not look at it.
fn provisioning(dir: &Path) -> Tally {
    let truth = read_json(&dir.join("truth.json"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let mut tally = Tally::default();
    let items = items("why-pending", dir);
    for (pod, want) in truth["pods"].as_object().into_iter().flatten().filter(|(_, want)| want["drop"].is_null()) {
        let findings = items.iter().find(|i| path(i) == *pod).and_then(|i| i["findings"].as_array());
        let found = findings.into_iter().flatten().find(|f| f["code"] == "node-pool");
        let said = match found.map(|f| &f["severity"]) {
            None => "silent",
            Some(severity) if severity == "info" => "yes",
            Some(_) => "no",
        };
        tally.compare(&format!("{name} {pod}"), &want["answer"], &said.into());
    }
    tally
}

#[test]
fn karpenter_s_terminations() {
    agrees(TERMINATIONS, 30, termination);
}

/// Which pods of a node Karpenter removed once its NodeClaim was deleted, which of them past their budgets and when (two
/// seconds are noise), and which after which.
fn termination(dir: &Path) -> Tally {
    let truth = read_json(&dir.join("truth.json"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let node = truth["node"].as_str().unwrap_or_default();
    let now = run(["drain-plan", node, "-o", "json", "--from", &cluster(dir)]).json()["source"]["now"].clone();
    // The recorded cluster is that before the NodeClaim was deleted.
    let mut before = unpacked(&cluster(dir));
    for item in before["items"].as_array_mut().into_iter().flatten().filter(|i| i["kind"] == "NodeClaim") {
        if item["metadata"]["name"] == truth["claim"] {
            item["metadata"]["deletionTimestamp"] = now.clone();
        }
    }
    let document =
        run_on(&before.to_string(), &["drain-plan", node, "--by", "karpenter", "-o", "json", "--from", "-"]).json();
    let pods = document["nodes"][0]["pods"].as_array().cloned().unwrap_or_default();
    let of = |pod: &str| pods.iter().find(|p| path(p) == pod).cloned().unwrap_or_default();
    let mut tally = Tally::default();
    let recorded: Vec<(&String, &Value)> = truth["pods"].as_object().into_iter().flatten().collect();
    for (pod, want) in &recorded {
        let ours = of(pod);
        let removed = if ours["outcome"] == "stays" { "stays" } else { "removed" };
        let was = if want["deleted"].is_null() { "stays" } else { "removed" };
        tally.compare(&format!("{name} {pod}"), &was.into(), &removed.into());
        let forced = want["by"] == "deletion";
        // The pods of the recording end at once, ours use their grace: the group after them is then evicted so much later,
        // or its own deadline comes first.
        let soon_after = |at: f64| !forced && ours["forcedAt"].as_f64().is_some_and(|said| (said - at).abs() <= 2.0);
        if want["deleted"].as_f64().is_some_and(soon_after) {
            continue;
        }
        tally.compare(&format!("{name} {pod} forced"), &forced.into(), &ours["forcedAt"].is_i64().into());
        let (Some(at), Some(said)) = (want["deleted"].as_f64().filter(|_| forced), ours["forcedAt"].as_f64()) else {
            continue;
        };
        let near = if (said - at).abs() <= 2.0 { at } else { said };
        tally.compare(&format!("{name} {pod} at"), &at.into(), &near.into());
    }
    for (first, a) in &recorded {
        for (then, b) in &recorded {
            if let (Some(before), Some(after)) = (a["deleted"].as_f64(), b["deleted"].as_f64())
                && after > before + 0.5
            {
                let later = of(then)["step"].as_i64() > of(first)["step"].as_i64();
                tally.compare(&format!("{name} {first} before {then}"), &true.into(), &later.into());
            }
        }
    }
    tally
}

/// A gzipped cluster.
fn unpacked(path: &str) -> Value {
    let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap_or_else(|e| panic!("{path}: {e}"))
}
