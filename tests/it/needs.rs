//! What a command does not read from a cluster must not decide what it says of a file: else the two would differ.

use crate::program::{in_parallel, read_json, recorded_cases, run_on};
use kubectl_pdb::commands::{drain_plan, status, why_pending};
use kubectl_pdb::snapshot::Kind;
use serde_json::Value;
use std::path::Path;

/// The kinds that a command asks a cluster for.
fn read_by(command: &str) -> Vec<Kind> {
    let needs = match command {
        "status" => status::NEEDS,
        "drain-plan" => drain_plan::NEEDS,
        "why-pending" => why_pending::NEEDS,
        other => panic!("{other} has no needs"),
    };
    needs.iter().map(|need| need.kind).collect()
}

/// The kind of an object of a file, where the program knows it.
fn kind_of(object: &Value) -> Option<Kind> {
    let (version, name) = (object["apiVersion"].as_str()?, object["kind"].as_str()?);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    Kind::ALL.iter().copied().find(|k| k.info().group == group && k.info().name == name)
}

/// What is said of a cluster, without what tells where it was read.
fn said(cluster: &Value, args: &[String], now: &str) -> Value {
    let mut all: Vec<&str> = args.iter().map(String::as_str).collect();
    all.extend(["-o", "json", "--from", "-", "--now", now]);
    let ran = run_on(&cluster.to_string(), &all);
    let mut document = ran.json();
    if let Some(fields) = document.as_object_mut() {
        fields.retain(|name, _| !["generatedAt", "source", "gaps", "complete"].contains(&name.as_str()));
    }
    document
}

#[test]
fn what_is_not_read_from_a_cluster_decides_nothing_of_a_file() {
    let different = |(args, path): &(Vec<String>, String)| -> Option<String> {
        let cluster = read_json(Path::new(path));
        let read = read_by(args.first()?);
        let items = cluster["items"].as_array()?;
        let shown = |object: &&Value| kind_of(object).is_none_or(|kind| read.contains(&kind));
        let missing: std::collections::BTreeSet<&str> =
            items.iter().filter(|o| !shown(o)).filter_map(|o| o["kind"].as_str()).collect();
        if missing.is_empty() {
            return None;
        }
        let mut less = cluster.clone();
        less["items"] = items.iter().filter(shown).cloned().collect();
        // The time of a file is the newest in it: both answer for the same.
        let now = said_at(&cluster, args);
        (said(&cluster, args, &now) != said(&less, args, &now)).then(|| format!("{path}: one of {missing:?}"))
    };
    let cases = recorded_cases();
    let failures: Vec<String> = in_parallel(&cases, different).into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The time that a file is answered for.
fn said_at(cluster: &Value, args: &[String]) -> String {
    let mut all: Vec<&str> = args.iter().map(String::as_str).collect();
    all.extend(["-o", "json", "--from", "-"]);
    run_on(&cluster.to_string(), &all).json()["source"]["now"].as_str().unwrap_or("2026-01-01T00:00:00Z").to_owned()
}
