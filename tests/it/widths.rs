//! Node names as long as clouds give them, on terminals of many widths: no row wraps, and none hides its cause.

use crate::program::{here, program, read_json};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// What is asked about which recorded cluster.
const CASES: &[(&str, &[&str])] = &[
    ("status/r03-percent-of-one", &["status", "-A"]),
    ("status/r14-crashing-single-replica", &["status", "-A"]),
    ("status/r27-one-disk-down-all-hosts-blocked", &["status", "-A"]),
    ("status/s000-taint-passes-the-budget", &["status", "-n", "shop"]),
    ("drain-plan/own-others-tainted", &["drain-plan", "n1"]),
    ("drain-plan/r36-one-blocker-of-many", &["drain-plan", "n1"]),
    ("drain-plan/r36-one-blocker-of-many", &["drain-plan"]),
    ("drain-plan/r40-local-volumes-two-nodes", &["drain-plan", "d1", "d2"]),
    ("drain-plan/r41-no-room-second-pod-stays", &["drain-plan"]),
    ("drain-plan/r51-all-nodes-not-ready", &["drain-plan", "n1"]),
    ("drain-plan/r54-webhook-backend-on-node", &["drain-plan", "n1"]),
    ("why-pending/own-spread-over-a-label-that-is-missing", &["why-pending", "web", "-n", "shop"]),
    ("why-pending/r101-four-kinds-of-no-gpu", &["why-pending", "-n", "ml"]),
    ("why-pending/r110-every-node-cordoned", &["why-pending", "front-0", "-n", "shop"]),
    ("why-pending/r119-binding-refused-by-webhook", &["why-pending", "db-2", "-n", "data"]),
    ("why-pending/r133n1-prebind-times-out", &["why-pending", "x", "-n", "shop"]),
    ("why-pending/s002-queue-order-all", &["why-pending", "-A"]),
];

/// The value with other names.
fn renamed(value: &Value, names: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(s) => Value::String(names.get(s).unwrap_or(s).clone()),
        Value::Array(items) => items.iter().map(|v| renamed(v, names)).collect(),
        Value::Object(o) => o.iter().map(|(k, v)| (k.clone(), renamed(v, names))).collect(),
        other => other.clone(),
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The causes of what is not in order, by the document: of each item or node, any of its errors, else of its findings.
fn causes(document: &Value) -> Vec<(String, Vec<String>)> {
    let items = document["items"].as_array().or(document["nodes"].as_array()).expect("items");
    let each = items.iter().filter(|item| !matches!(item["verdict"].as_str(), Some("allows" | "drains"))).map(|item| {
        let findings = item["findings"].as_array().expect("findings");
        let of = |errors: bool| {
            let those = findings.iter().filter(move |f| !errors || f["severity"] == "error");
            those
                .map(|f| f["message"].as_str().expect("a message").trim_end_matches('.').to_owned())
                .collect::<Vec<_>>()
        };
        let errors = of(true);
        (item["name"].as_str().expect("a name").to_owned(), if errors.is_empty() { of(false) } else { errors })
    });
    each.filter(|(_, messages)| !messages.is_empty()).collect()
}

#[test]
fn long_names_hide_nothing_at_any_width() {
    let mut bad = Vec::new();
    for (at, (case, args)) in CASES.iter().enumerate() {
        let cluster = read_json(&here("cases").join(case).join("cluster.json"));
        let nodes = cluster["items"].as_array().expect("items").iter().filter(|i| i["kind"] == "Node");
        let names: BTreeMap<String, String> = nodes
            .filter_map(|n| n["metadata"]["name"].as_str())
            .enumerate()
            .map(|(at, name)| {
                let long = match at % 2 {
                    0 => format!("ip-10-0-{}-5.eu-west-1.compute.internal", at + 13),
                    _ => format!("gke-prod-pool-3-4f1c9b7a-x7k{at}"),
                };
                (name.to_owned(), long)
            })
            .collect();
        let file = std::env::temp_dir().join(format!("kubectl-pdb-long-{}-{at}.json", std::process::id()));
        fs::write(&file, renamed(&cluster, &names).to_string()).expect("a file");
        let asked: Vec<&str> = args.iter().map(|a| names.get(*a).map_or(*a, |long| long)).collect();
        let ask = |columns: usize, more: &[&str]| {
            let mut command = program();
            command.env("KUBECTL_PDB_WIDTH", columns.to_string()).args(&asked).args(more).arg("--from").arg(&file);
            String::from_utf8(command.output().expect("the executable runs").stdout).expect("UTF-8")
        };
        let causes = causes(&serde_json::from_str(&ask(100, &["-o", "json"])).expect("JSON"));
        for columns in [80, 100, 120, 200] {
            let out = ask(columns, &[]);
            // A command is never wrapped, as it has to be pasted; a word cannot be.
            let long = |line: &&str| {
                line.chars().count() > columns && !line.contains("kubectl ") && line.split_whitespace().count() > 1
            };
            bad.extend(out.lines().filter(long).map(|line| format!("{case} {args:?} at {columns}: {line}")));
            let text = squeezed(&out);
            for (name, messages) in &causes {
                // The preflight groups nodes by what blocks them, in words of its own.
                let told = match args {
                    ["drain-plan"] => text.contains(&squeezed(name)),
                    _ => messages.iter().any(|m| text.contains(&squeezed(m))),
                };
                if !told {
                    bad.push(format!("{case} {args:?} at {columns} hides of {name}: {messages:?}\n{out}"));
                }
            }
        }
        fs::remove_file(&file).expect("the file");
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
