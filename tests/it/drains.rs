//! Recorded drains: what a real `kubectl drain` did on a real control plane, against what the plan says.

use crate::program::{folders_with, here, in_parallel, read_json, run};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

#[test]
fn recorded_drains() {
    let mut folders = folders_with(&here("agreement/drain"), "truth.json");
    folders.extend(folders_with(&here("cases/drain-plan"), "truth.json"));
    let misses: Vec<Option<Vec<String>>> = in_parallel(&folders, |dir| compare(dir));
    let compared = misses.iter().flatten().count();
    let misses: Vec<String> = misses.into_iter().flatten().flatten().collect();
    assert!(compared >= 43, "only {compared} drains were compared");
    assert!(misses.is_empty(), "{} of {compared}:\n{}", misses.len(), misses.join("\n"));
}

/// What differs; `None` where the recording says nothing of a drain that a snapshot could tell.
fn compare(dir: &Path) -> Option<Vec<String>> {
    let truth = read_json(&dir.join("truth.json"));
    let argv = truth["argv"].as_array()?;
    if truth["agree"] == "skip" || !truth["verdict"].is_string() {
        return None;
    }
    let case = dir.join("case.json");
    let case = if case.exists() { read_json(&case) } else { Value::Null };
    let unknown = |e: &Value| e["is"] == "unknown" && e["path"].as_str().is_some_and(|p| p.ends_with(".verdict"));
    if case["expect"].as_array().is_some_and(|all| all.iter().any(unknown)) {
        return None; // A webhook or a finalizer decided, which no snapshot shows.
    }
    let mut args: Vec<String> = match case["args"].as_array() {
        Some(args) => args.iter().filter_map(|a| a.as_str().map(str::to_owned)).collect(),
        None => {
            let words = argv.iter().skip(2).filter_map(Value::as_str).filter(|w| !w.starts_with("--timeout"));
            std::iter::once("drain-plan").chain(words).map(str::to_owned).collect()
        }
    };
    let plain = dir.join("cluster.json");
    let cluster = if plain.exists() { plain } else { dir.join("cluster.json.gz") };
    args.extend(["-o".into(), "json".into(), "--from".into(), cluster.display().to_string()]);
    let document = run(&args).json();
    let nodes: Vec<Value> = document["nodes"].as_array().cloned().unwrap_or_default();
    let ends = !nodes.is_empty() && nodes.iter().all(|n| n["verdict"] == "drains" || n["verdict"] == "waits");
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let mut misses = Vec::new();
    if ends != (truth["verdict"] == "drains" || truth["verdict"] == "waits") {
        let said: Vec<&Value> = nodes.iter().map(|n| &n["verdict"]).collect();
        misses.push(format!("{name}: kubectl {}, the plan {said:?}", truth["verdict"]));
    }
    let pods: HashMap<String, &Value> =
        nodes.iter().flat_map(|n| n["pods"].as_array().into_iter().flatten()).map(|p| (path(p), p)).collect();
    let stay = pods.iter().filter(|(_, p)| p["outcome"] == "stays").map(|(path, _)| path.clone());
    let stayed = truth["stayed"].as_array().into_iter().flatten().filter_map(|p| p.as_str().map(str::to_owned));
    let (ours, theirs) = (groups(&pods, stay), groups(&pods, stayed));
    if ours != theirs {
        misses.push(format!("{name}: these stayed: {theirs:?}, by the plan: {ours:?}"));
    }
    Some(misses)
}

fn path(pod: &Value) -> String {
    format!("{}/{}", pod["namespace"].as_str().unwrap_or_default(), pod["name"].as_str().unwrap_or_default())
}

/// Pods by the budgets that cover them, as chance decides which pod of a budget stays; those that drain leaves alone
/// are left out.
fn groups(pods: &HashMap<String, &Value>, names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = names
        .filter(|name| pods.get(name).is_none_or(|p| p["action"] != "skip" && p["action"] != "none"))
        .map(|name| {
            let budgets = pods.get(&name).and_then(|p| p["budgets"].as_array()).cloned().unwrap_or_default();
            if budgets.is_empty() { name } else { Value::from(budgets).to_string() }
        })
        .collect();
    all.sort();
    all
}
