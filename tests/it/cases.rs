//! Recorded clusters in trouble, each with facts that the answer must show. A case is a folder of `tests/cases/`:
//! `cluster.json`, and `case.json` with the arguments and the checks.

use crate::program::{folders_with, here, in_parallel, read_json, run};
use regex::RegexBuilder;
use serde_json::Value;
use std::path::Path;

#[test]
fn recorded_cases() {
    for entry in std::fs::read_dir(here("cases")).unwrap() {
        let (command, folder) = entry.map(|e| (e.file_name().to_string_lossy().into_owned(), e.path())).unwrap();
        let folders = folders_with(&folder, "case.json");
        assert!(!folders.is_empty(), "there are cases of {command}");
        let failures: Vec<String> = in_parallel(&folders, |dir| check(dir)).into_iter().flatten().collect();
        assert!(
            failures.is_empty(),
            "{} of {} cases of {command} fail:\n{}",
            failures.len(),
            folders.len(),
            failures.join("\n")
        );
    }
}

/// Runs a case; what does not hold, if anything.
fn check(dir: &Path) -> Option<String> {
    let case = read_json(&dir.join("case.json"));
    let mut args: Vec<String> = strings(&case["args"]);
    let cluster = dir.join("cluster.json").display().to_string();
    args.extend(["-o", "json", "--from", &cluster].map(str::to_owned));
    let ran = run(&args);
    let document = ran.json();
    let bad: Vec<String> = case["expect"]
        .as_array()
        .expect("a case expects something")
        .iter()
        .filter_map(|expected| {
            holds(&document, ran.status, expected).err().map(|got| format!("  {expected}\n    got {got}"))
        })
        .collect();
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    (!bad.is_empty()).then(|| format!("{name}: {}\n{}\n{}", case["title"], bad.join("\n"), ran.err))
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

/// Whether one check holds; the error is what was found.
fn holds(document: &Value, status: i32, check: &Value) -> Result<(), String> {
    if let Some(want) = check.get("exit") {
        return if *want == status { Ok(()) } else { Err(format!("exit {status}")) };
    }
    let values = walk(document, check["path"].as_str().expect("a check has a path"));
    let flat: Vec<&Value> =
        values.iter().flat_map(|v| v.as_array().map_or_else(|| vec![*v], |a| a.iter().collect())).collect();
    let holds = if let Some(want) = check.get("is") {
        values.contains(&want)
    } else if let Some(want) = check.get("has") {
        flat.contains(&want)
    } else if let Some(want) = check.get("lacks") {
        !flat.contains(&want)
    } else if let Some(list) = check.get("in") {
        values.iter().any(|v| list.as_array().is_some_and(|l| l.contains(v)))
    } else {
        let pattern = check["matches"].as_str().expect("a check is one of the known kinds");
        let pattern = RegexBuilder::new(pattern).dot_matches_new_line(true).build().expect("a pattern");
        flat.iter().any(|v| v.as_str().is_some_and(|s| pattern.is_match(s)))
    };
    if holds { Ok(()) } else { Err(serde_json::to_string(&values).unwrap_or_default().chars().take(300).collect()) }
}

/// The values at a path: `key`, `key[field=value]`, `key[namespace/name]`, `key[*]`, joined by dots.
fn walk<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut found = vec![value];
    for step in steps(path) {
        let (key, selector) = match step.split_once('[') {
            Some((key, rest)) => (key, rest.strip_suffix(']')),
            None => (&*step, None),
        };
        found = found
            .into_iter()
            .filter_map(|v| if key.is_empty() { Some(v) } else { v.get(key) })
            .flat_map(|v| match selector {
                None => vec![v],
                Some(selector) => v.as_array().into_iter().flatten().filter(|e| selects(selector, e)).collect(),
            })
            .collect();
    }
    found
}

fn selects(selector: &str, element: &Value) -> bool {
    let text = |key: &str| element.get(key).map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
    match selector.split_once('=') {
        _ if selector == "*" => true,
        Some((field, want)) => text(field).is_some_and(|v| v == want),
        None => format!("{}/{}", text("namespace").unwrap_or_default(), text("name").unwrap_or_default()) == selector,
    }
}

/// Splits at dots that are not within brackets.
fn steps(path: &str) -> Vec<String> {
    let mut depth = 0;
    path.split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == '.' && depth == 0
    })
    .map(str::to_owned)
    .collect()
}
