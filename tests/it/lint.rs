//! No text that the program can print has words that can be read two ways: collected from every recorded case, from the
//! examples, from the helps and from `explain`. The rules stand in the docs of [`RULES`].

use crate::program::{in_parallel, recorded_cases, run};
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A shape that no text has, and in how many different texts it is still known: that number only shrinks.
const RULES: &[(&str, &str, usize)] = &[
    ("permission or possibility: can, might, is allowed to", r"\bmay\b", KNOWN),
    ("evicted, deleted, scheduled", r"\b(goes|gone)\b", KNOWN),
    ("runs, uses, needs", r"\b(takes|bears|hates)\b", KNOWN),
    ("requests, requires", r"\basks?\b", KNOWN),
    ("Ready, healthy", r"\b(is|are|be|become|becomes) well\b", 0),
    ("fix, repair, unblock", r"\bcure[sd]?\b", KNOWN),
    ("two reasons in one sentence", r"and it never recovers:", KNOWN),
    ("plurals agree", r"(^|[^/\w])1 (pods|nodes|budgets|replicas|evictions|rounds|causes)\b", 10),
    ("a sentence ends", r"(:|…|,)\s*$", 5),
    ("an empty reason", r"(\(\)|: ;|\(: |: \.)", 0),
];

/// More than is known today fails.
const KNOWN: usize = 60;

/// Every message, remedy and risk below a value.
fn texts(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(fields) => {
            if fields.contains_key("severity") || fields.contains_key("verified") {
                let said = ["message", "text", "risk"].iter().filter_map(|key| fields.get(*key)?.as_str());
                out.extend(said.map(str::to_owned));
            }
            fields.values().for_each(|field| texts(field, out));
        }
        _ => {}
    }
}

/// Texts that differ in names and numbers only are one.
fn shape(text: &str) -> String {
    let varying = Regex::new(r"[\w.-]+/[\w./-]+|\b[\w.-]*\d[\w.-]*\b").unwrap();
    varying.replace_all(text, "N").into_owned()
}

/// What the program says about the recorded clusters.
fn recorded() -> BTreeSet<String> {
    let said = in_parallel(&recorded_cases(), |(args, file)| {
        let mut found = BTreeSet::new();
        let args = args.iter().map(String::as_str);
        texts(&run(args.chain(["-o", "json", "--from", file])).json(), &mut found);
        found
    });
    said.into_iter().flatten().collect()
}

/// What it says of itself.
fn own() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let explained: Value = run(["explain", "-o", "json"]).json();
    for row in explained.as_array().into_iter().flatten() {
        let words = ["meaning", "example", "cure", "next"].iter().filter_map(|key| row[*key].as_str());
        found.extend(words.map(str::to_owned));
    }
    for command in ["", "status", "drain-plan", "why-pending", "explain", "schema", "completion"] {
        let help = run([command, "--help"].into_iter().filter(|word| !word.is_empty())).out;
        found.extend(help.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    found.into_iter().filter(|text| !text.starts_with("Usage:") && !text.ends_with(':')).collect()
}

#[test]
fn no_text_has_to_be_read_twice() {
    let texts: BTreeSet<String> = recorded().into_iter().chain(own()).collect();
    assert!(texts.len() > 300, "only {} texts", texts.len());
    let shapes: BTreeMap<String, &String> = texts.iter().map(|text| (shape(text), text)).collect();
    let mut bad = Vec::new();
    for (rule, pattern, known) in RULES {
        let pattern = Regex::new(pattern).unwrap();
        let found: Vec<&&String> = shapes.values().filter(|text| pattern.is_match(text)).collect();
        if std::env::var_os("LINT").is_some() {
            found.iter().for_each(|text| println!("{rule}: {text}"));
        }
        if found.len() > *known {
            bad.push(format!("{rule}: {} texts, {known} known, such as {:?}", found.len(), found.first()));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn each_help_fits_a_screen() {
    for command in
        ["", "status", "drain-plan", "why-pending", "explain", "snapshot", "schema", "completion", "man", "options"]
    {
        let help = run([command, "-h"].into_iter().filter(|word| !word.is_empty())).out;
        let lines = help.lines().count();
        // The flags of kubectl drain are many, and are those that a user of the plan looks for.
        let most = if command == "drain-plan" { 84 } else { 60 };
        assert!(lines > 3 && lines <= most, "{command}: {lines} lines");
    }
}
