//! No text that the program can print has words that can be read two ways: collected from every recorded case, from the
//! examples, from the helps, from errors and from `explain`. The rules stand in [`RULES`].

use crate::program::{Ran, here, in_parallel, program, recorded_cases, run};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;

/// What no text has, and what it says in its place.
const RULES: &[(&str, &str)] = &[
    ("permission or possibility: can, might, is allowed to", r"\b(may|May)\b"),
    ("evicted, deleted, scheduled", r"\b(goes|gone)\b"),
    ("evicted, allowed", r"\blets? (\w+ )?go\b"),
    ("uses, needs, runs, removes", r"\b(takes|bears|hates)\b"),
    ("requests, requires", r"\basks?\b"),
    ("is evicted, ignores, has", r"\bleaves\b"),
    ("Ready, healthy", r"\b(is|are|be|become|becomes) well\b"),
    ("fix, repair, unblock", r"\bcure[sd]?\b"),
    ("two reasons in one sentence", r"and it never recovers:"),
    ("a clause twice", r"never allows an eviction: no eviction|no eviction is (ever )?allowed: no eviction"),
    (
        "plurals agree",
        r"(^|[^/\w.-])1 (pods|nodes|budgets|replicas|evictions|rounds|causes|replacements|rows|kinds|findings)\b",
    ),
    (
        "plurals agree",
        r"(^|[^/\w.-])([02-9]|\d\d+) (pod|node|budget|replica|eviction|round|cause|replacement|row|finding) (is|has|was)\b",
    ),
    ("an empty reason", r"(\(\)|: ;|\(: |: \.|; \.|: : |\. \.$)"),
];

/// What no message, remedy or risk ends with.
const ENDS: &str = r"(:|…|,|;|\(not verified\) \(not verified\))\s*$";

/// Every message, remedy and risk below a value.
fn texts(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(fields) => {
            if fields.contains_key("severity") || fields.contains_key("verified") {
                let said = ["message", "text", "risk"].iter().filter_map(|key| fields.get(*key)?.as_str());
                // "1 of 1 pods" is a share, and no count.
                out.extend(said.map(|text| text.replace("of 1 pods", "of 1")));
            }
            fields.values().for_each(|field| texts(field, out));
        }
        _ => {}
    }
}

/// What the program says about the recorded clusters, as JSON.
fn recorded() -> BTreeSet<String> {
    let said = in_parallel(&recorded_cases(), |(args, file)| {
        let mut found = BTreeSet::new();
        let args = args.iter().map(String::as_str);
        texts(&run(args.chain(["-o", "json", "--from", file])).json(), &mut found);
        found
    });
    said.into_iter().flatten().collect()
}

/// The lines that people read of a run, without those in which somebody else is quoted word for word, and commands.
fn lines(ran: &Ran) -> BTreeSet<String> {
    let mut quoted = false;
    let mut found = BTreeSet::new();
    for line in ran.out.lines().chain(ran.err.lines()) {
        quoted = line.starts_with("kube-scheduler would write")
            || line.starts_with("recorded")
            || quoted && !line.is_empty();
        if !quoted && !line.contains("kubectl ") {
            found.insert(line.trim().replace("of 1 pods", "of 1"));
        }
    }
    found
}

/// What it prints about the recorded clusters and the examples, each sentence in one line.
fn printed() -> BTreeSet<String> {
    let mut runs: Vec<Vec<String>> = Vec::new();
    for (args, file) in recorded_cases() {
        for more in [&[][..], &["-o", "wide"]] {
            runs.push(
                args.iter()
                    .map(String::as_str)
                    .chain(more.iter().copied())
                    .chain(["--from", &file])
                    .map(str::to_owned)
                    .collect(),
            );
        }
    }
    for dir in ["budgets", "drain", "pending"] {
        for entry in std::fs::read_dir(here("../examples").join(dir)).expect("examples") {
            let file = entry.expect("an entry").path().display().to_string();
            for args in
                [&["status", "-A"][..], &["status", "-A", "-o", "wide"], &["drain-plan"], &["why-pending", "-A"]]
            {
                runs.push(args.iter().copied().chain(["--from", &file]).map(str::to_owned).collect());
            }
        }
    }
    for dir in ["manifests", "../examples/faults", "../examples/manifests"] {
        for entry in std::fs::read_dir(here(dir)).expect("manifests") {
            let file = entry.expect("an entry").path().display().to_string();
            runs.push(["check", "-f", &file].map(str::to_owned).to_vec());
        }
    }
    let cluster = here("cases/drain-plan/own-others-tainted/cluster.json").display().to_string();
    for wrong in WRONG {
        runs.push(wrong.iter().copied().chain(["--from", &cluster]).map(str::to_owned).collect());
    }
    let said = in_parallel(&runs, |args| {
        lines(&program().env("KUBECTL_PDB_WIDTH", "20000").args(args).output().expect("the executable runs").into())
    });
    said.into_iter().flatten().collect()
}

/// What people mistype.
pub const WRONG: &[&[&str]] = &[
    &["drain-plan", "n11"],
    &["drain-plan", "-l", "pool=none"],
    &["drain-plan", "n1", "--forse"],
    &["drain-plan", "n1", "--timeout", "soon"],
    &["drain-plan", "n1", "-o", "xml"],
    &["why-pending", "web-0", "-n", "web"],
    &["why-pending", "deployment/sight", "-n", "web"],
    &["why-pending", "deploy/site", "-n", "wep"],
    &["why-pending", "-n", "wep"],
    &["why-pending", "shop/web"],
    &["status", "sight", "-n", "web"],
    &["status", "-n", "wep"],
    &["status", "site", "-A"],
    &["status", "-n"],
    &["statsu"],
    &["explain", "zero-by-rul"],
    &["status", "--now", "yesterday"],
    &["status", "--context", "prod"],
];

/// What it says of itself.
fn own() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let explained: Value = run(["explain", "-o", "json"]).json();
    for row in explained.as_array().into_iter().flatten() {
        let words = ["meaning", "example", "cure", "next"].iter().filter_map(|key| row[*key].as_str());
        found.extend(words.map(str::to_owned));
    }
    for command in [
        "",
        "status",
        "drain-plan",
        "why-pending",
        "check",
        "explain",
        "snapshot",
        "schema",
        "completion",
        "options",
        "man",
    ] {
        let help = run([command, "--help"].into_iter().filter(|word| !word.is_empty())).out;
        found.extend(help.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    // What becomes of the nodes has the value gone.
    let found = found.into_iter().map(|text| text.replace("--after gone", "").replace("- gone:", ""));
    found.filter(|text| !text.starts_with("Usage:") && !text.ends_with(':')).collect()
}

#[test]
fn no_text_has_to_be_read_twice() {
    let messages: BTreeSet<String> = recorded().into_iter().chain(own()).collect();
    assert!(messages.len() > 300, "only {} texts", messages.len());
    let ends = Regex::new(ENDS).unwrap();
    let mut bad: Vec<String> =
        messages.iter().filter(|text| ends.is_match(text)).map(|text| format!("a sentence ends: {text}")).collect();
    let printed = printed();
    assert!(printed.len() > 1000, "only {} lines", printed.len());
    let texts: BTreeSet<&String> = messages.iter().chain(&printed).collect();
    for (rule, pattern) in RULES {
        let pattern = Regex::new(pattern).unwrap();
        bad.extend(texts.iter().filter(|text| pattern.is_match(text)).map(|text| format!("{rule}: {text}")));
    }
    assert!(bad.is_empty(), "{}\n{} texts", bad.join("\n"), bad.len());
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

#[test]
fn wrong_input_says_what_to_type() {
    let cluster = here("cases/drain-plan/own-others-tainted/cluster.json").display().to_string();
    for wrong in WRONG {
        let ran = run(wrong.iter().copied().chain(["--from", &cluster]));
        let next = ["hint: ", "tip: ", "write it like", "the formats are", "did you mean", "give ", "'--help'"];
        assert!(next.iter().any(|word| ran.err.contains(word)), "{wrong:?}: {}", ran.err);
        assert!(ran.out.is_empty(), "{wrong:?}: {}", ran.out);
    }
}
