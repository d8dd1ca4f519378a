//! Cases on disk: `cluster.json` (a snapshot) beside `truth.json` (what the control plane said to it).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::snapshot::items;
use crate::truth::{BudgetTruth, EvictionTruth};

/// Writes a case and says where.
pub fn write(folder: &Path, name: &str, cluster: &Value, truth: &Value) -> Result<PathBuf> {
    let case = folder.join(name);
    std::fs::create_dir_all(&case).with_context(|| format!("make {}", case.display()))?;
    for (file, value) in [("cluster.json", cluster), ("truth.json", truth)] {
        let text = serde_json::to_string_pretty(value).context("write JSON")?;
        std::fs::write(case.join(file), text + "\n").with_context(|| format!("write {file}"))?;
    }
    Ok(case)
}

/// The snapshot with the objects of one namespace and those outside of all: budgets never look further.
pub fn one_namespace(list: &Value, namespace: &str) -> Value {
    let keep = |item: &&Value| match item["metadata"]["namespace"].as_str() {
        Some(own) => own == namespace,
        None => item["kind"] != "Namespace" || item["metadata"]["name"] == namespace,
    };
    let kept: Vec<&Value> = items(list).iter().filter(keep).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": kept})
}

/// The truth of a budgets run in the recorded form, limited to `namespace` where one is given.
pub fn status_truth(
    version: &str,
    budgets: &BTreeMap<String, BudgetTruth>,
    evictions: &BTreeMap<String, EvictionTruth>,
    namespace: Option<&str>,
) -> Value {
    let wanted = |key: &str| namespace.is_none_or(|n| key.split_once('/').is_some_and(|(own, _)| own == n));
    let mut truth = json!({"version": version, "status": {}, "evictions": {}});
    for (key, budget) in budgets.iter().filter(|(key, _)| wanted(key)) {
        let [expected, desired, current, allowed] = budget.numbers;
        truth["status"][key] = json!({"expectedPods": expected, "desiredHealthy": desired, "currentHealthy": current,
            "disruptionsAllowed": allowed, "condition": budget.condition, "message": budget.message});
    }
    for (key, eviction) in evictions.iter().filter(|(key, _)| wanted(key)) {
        truth["evictions"][key] = match eviction.code {
            201 => json!({"code": 201}),
            code => json!({"code": code, "message": eviction.message, "causes": eviction.causes}),
        };
    }
    truth
}

/// Every folder under `root` (itself too) that holds a truth, in order.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if ["truth.json", "truth.json.gz"].iter().any(|name| root.join(name).exists()) {
        found.push(root.to_owned());
    }
    let mut below: Vec<PathBuf> =
        std::fs::read_dir(root).into_iter().flatten().flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    below.sort();
    for folder in below {
        found.extend(folders(&folder));
    }
    found
}
