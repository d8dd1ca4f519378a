//! Random clusters with the real control plane's own words beside them (`tests/agreement/`, and the `truth.json` of the
//! cases): what the program says of each must be what upstream's components answered.

use crate::program::{folders_with, here, in_parallel, read_json, run};
use serde_json::Value;
use std::path::Path;

/// How far the program agrees: a line a disagreement, and how many facts were compared.
#[derive(Default)]
struct Tally {
    compared: usize,
    misses: Vec<String>,
}

impl Tally {
    fn compare(&mut self, what: &str, want: &Value, got: &Value) {
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

#[test]
fn budgets_and_evictions() {
    let mut folders = folders_with(&here("agreement/budget"), "truth.json");
    folders.extend(folders_with(&here("cases/status"), "truth.json"));
    let tally = Tally::join(in_parallel(&folders, |dir| budgets(dir)));
    assert!(tally.compared > 900, "only {} facts were compared", tally.compared);
    assert!(tally.misses.is_empty(), "{} of {}:\n{}", tally.misses.len(), tally.compared, tally.misses.join("\n"));
}

fn budgets(dir: &Path) -> Tally {
    let truth = read_json(&dir.join("truth.json"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let mut tally = Tally::default();
    if truth["agree"] == "skip" || !truth["status"].is_object() {
        return tally;
    }
    let document = run(["status", "-A", "-o", "json", "--from", &cluster(dir)]).json();
    let items = document["items"].as_array().cloned().unwrap_or_default();
    let path = |v: &Value| {
        format!("{}/{}", v["namespace"].as_str().unwrap_or_default(), v["name"].as_str().unwrap_or_default())
    };
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

/// The recorded cluster of a folder, plain or gzipped.
fn cluster(dir: &Path) -> String {
    let plain = dir.join("cluster.json");
    let path = if plain.exists() { plain } else { dir.join("cluster.json.gz") };
    path.display().to_string()
}
