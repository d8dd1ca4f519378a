//! Wrong values in every field that is read, of every object of the recorded clusters: the answer is an error, a gap, or
//! looks no better than before. `cargo test` tries a part of them; all:
//! `cargo test --release --lib wrong_values -- --ignored --nocapture`

use crate::cli::{Cli, Command, Global};
use crate::commands;
use crate::file;
use crate::plugin::Plugin;
use crate::render::Format;
use crate::snapshot::{Kind, samples};
use crate::wire::quantity::Quantity;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[path = "../tests/it/verdicts.rs"]
#[allow(dead_code)]
mod verdicts;

/// Fields that take one of a few words, which a decoder does not look at: the last parts of their paths.
const WORDS: &[&str] = &[
    "status/phase",
    "conditions/status",
    "conditions/type",
    "taints/effect",
    "tolerations/effect",
    "tolerations/operator",
    "matchExpressions/operator",
    "matchFields/operator",
    "topologySpreadConstraints/whenUnsatisfiable",
    "spec/restartPolicy",
    "spec/preemptionPolicy",
    "preemptionPolicy",
    "spec/unhealthyPodEvictionPolicy",
    "spec/podManagementPolicy",
    "spec/podReplacementPolicy",
    "spec/completionMode",
    "strategy/type",
    "volumeBindingMode",
    "accessModes/",
    "webhooks/failurePolicy",
    "limits/type",
    "scopes/",
    "ownerReferences/kind",
];

/// A field as it is read: names joined by `/`, an empty name for an item of a list, `*` for a key of a map.
fn fields_of(sample: &Value, path: &str, into: &mut BTreeSet<String>) {
    let join = |name: &str| format!("{path}/{name}");
    match sample {
        Value::Object(fields) => {
            for (name, value) in fields {
                // The one key of every map in a sample.
                let name = if name == "k" { "*" } else { name };
                into.insert(join(name));
                fields_of(value, &join(name), into);
            }
        }
        Value::Array(items) => {
            into.insert(join(""));
            items.iter().for_each(|item| fields_of(item, &join(""), into));
        }
        _ => {}
    }
}

/// The places in an object that are read, each as a JSON pointer and as the field it is of.
fn places(object: &Value, known: &BTreeSet<String>, pointer: &str, field: &str, into: &mut Vec<(String, String)>) {
    let mut visit = |name: &str, as_field: &str, value: &Value| {
        let field = format!("{field}/{as_field}");
        let field =
            if known.contains(&field) { field } else { format!("{}/*", field.rsplit_once('/').map_or("", |(f, _)| f)) };
        if known.contains(&field) {
            let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            into.push((pointer.clone(), field.clone()));
            places(value, known, &pointer, &field, into);
        }
    };
    match object {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| visit(name, name, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, value)| visit(&at.to_string(), "", value)),
        _ => {}
    }
}

/// Values that cannot stand in the place of this one.
fn wrong(value: &Value, field: &str) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let mut all = vec![json!(true), json!([]), json!({}), json!([text])];
            // Quantities, and what is an integer or a percentage, are numbers as well.
            let takes_numbers = Quantity::parse(text).is_some() || text.ends_with('%');
            if !takes_numbers {
                all.extend([json!(7), json!(1.5)]);
            }
            let is_time = text.len() > 18 && text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T');
            if is_time {
                all.extend(["", "yesterday", "2026-13-45T00:00:00Z", "1793588645"].map(Value::from));
            }
            if WORDS.iter().any(|word| field.ends_with(word)) {
                all.extend(["", "Bogus", " "].map(Value::from));
                all.push(json!(text.to_lowercase()));
            }
            all
        }
        Value::Number(_) => vec![
            json!("7"),
            json!(""),
            json!("x"),
            json!(1.5),
            json!(true),
            json!([]),
            json!({}),
            json!(1e30),
            json!(9_223_372_036_854_775_808u64),
            json!([7]),
        ],
        Value::Bool(old) => {
            vec![json!(old.to_string()), json!(""), json!(1), json!(0), json!(1.5), json!([]), json!({}), json!([old])]
        }
        Value::Array(_) => {
            vec![json!("x"), json!(""), json!(7), json!(true), json!({}), json!([7]), json!([true]), json!([[]])]
        }
        Value::Object(_) => vec![json!("x"), json!(""), json!(7), json!(true), json!([]), json!([{}])],
        Value::Null => Vec::new(),
    }
}

/// A command and what it says of a cluster, as JSON; `None` where there is no answer.
fn answer(line: &Cli, cluster: &Value) -> Option<Value> {
    let snapshot = file::from_bytes(cluster.to_string().as_bytes()).ok()?;
    let global = Global { output: Some(Format::Json.into()), ..line.global.clone() };
    let answer = match &line.command {
        Command::Status(args) => commands::status::about(args, &global, &snapshot),
        Command::DrainPlan(args) => commands::drain_plan::about(args, &global, &snapshot),
        Command::WhyPending(args) => commands::why_pending::about(args, &global, &snapshot),
        _ => return None,
    };
    serde_json::from_str(&answer.ok()?.text).ok()
}

struct Tried {
    values: usize,
    answered: usize,
    wrong: Vec<String>,
}

/// Tries every `step`-th wrong value in a recorded cluster.
fn try_cluster(case: &Path, step: usize, offset: usize) -> Tried {
    let case_json: Value = serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap();
    let args = case_json["args"].as_array().unwrap().iter().filter_map(Value::as_str);
    let words = ["kubectl-pdb"].into_iter().chain(args).map(OsString::from);
    let line = Plugin::Pdb.parse(words).unwrap();
    let mut cluster: Value = serde_json::from_slice(&std::fs::read(case.join("cluster.json")).unwrap()).unwrap();
    let mut tried = Tried { values: 0, answered: 0, wrong: Vec::new() };
    let Some(whole) = answer(&line, &cluster) else { return tried };
    let samples = samples();
    let mut at = offset;
    for index in 0..cluster["items"].as_array().map_or(0, Vec::len) {
        let object = cluster["items"][index].clone();
        let group = object["apiVersion"].as_str().and_then(|v| v.split_once('/')).map_or("", |(group, _)| group);
        let is_of = |kind: Kind| kind.info().group == group && object["kind"] == kind.info().name;
        let Some((_, sample, _)) = samples.iter().find(|(kind, ..)| is_of(*kind)) else { continue };
        let (mut known, mut all) = (BTreeSet::new(), Vec::new());
        fields_of(sample, "", &mut known);
        places(&object, &known, "", "", &mut all);
        for (pointer, field) in all {
            let old = object.pointer(&pointer).cloned().unwrap_or_default();
            for value in wrong(&old, &field) {
                at += 1;
                if !at.is_multiple_of(step) || value == old {
                    continue;
                }
                *cluster["items"][index].pointer_mut(&pointer).unwrap() = value.clone();
                tried.values += 1;
                if let Some(document) = answer(&line, &cluster) {
                    tried.answered += 1;
                    let mut better = verdicts::better(&whole, &document);
                    // A rule that cannot be used is known to allow nothing.
                    better.retain(|words| !words.ends_with("was unknown, and is 0"));
                    let said = document["gaps"] != whole["gaps"];
                    if !better.is_empty() && !said {
                        let name = case.file_name().unwrap().to_string_lossy();
                        let of = &object["metadata"]["name"];
                        tried.wrong.push(format!(
                            "{name}: {} {of}: {pointer} = {value} (was {old}): {better:?}",
                            object["kind"]
                        ));
                    }
                }
            }
            cluster["items"][index] = object.clone();
        }
    }
    tried
}

fn cases() -> Vec<PathBuf> {
    let folders = |of: &Path| std::fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut all: Vec<_> = folders(&root).iter().flat_map(|command| folders(command)).collect();
    all.sort();
    all
}

fn try_all(step: usize) -> (usize, usize) {
    let cases = cases();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let tried: Vec<Tried> = std::thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                // Which values are tried depends on the cluster alone, and not on the worker.
                let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(case) = cases.get(at) else { return done };
                done.push(try_cluster(case, step, at));
            }
        };
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let wrong: Vec<_> = tried.iter().flat_map(|t| &t.wrong).cloned().collect();
    assert!(wrong.is_empty(), "{} wrong values make an answer look better:\n{}", wrong.len(), wrong.join("\n"));
    (tried.iter().map(|t| t.values).sum(), tried.iter().map(|t| t.answered).sum())
}

#[test]
fn a_part_of_them() {
    let (values, answered) = try_all(401);
    assert!(values > 500 && answered > 20, "{values} values, {answered} answers");
}

#[test]
#[ignore = "minutes: all of them"]
fn all_of_them() {
    let (values, answered) = try_all(1);
    println!(
        "{values} wrong values in {} clusters: {} refused, {answered} answered, none looks better",
        cases().len(),
        values - answered
    );
}
