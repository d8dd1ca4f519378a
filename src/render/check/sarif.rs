//! SARIF 2.1.0, which code scanning reads: a rule for each code that was found, a result for each finding. The few fields
//! that are needed are written here: a crate for all of SARIF has hundreds of types, and a build step of its own.

use super::{place, title};
use crate::finding::{Code, Finding, Severity};
use crate::report::Document;
use crate::report::check::{CheckItem, CheckReport};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The log of one run.
pub fn log(document: &Document<CheckReport>) -> Value {
    let report = &document.body;
    let codes: BTreeSet<Code> =
        report.items.iter().flat_map(|i| &i.findings).chain(&document.findings).map(|f| f.code).collect();
    let codes: Vec<Code> = codes.into_iter().collect();
    let results = report.items.iter().flat_map(|i| i.findings.iter().map(move |f| (i, f)));
    let results = results.map(|(item, finding)| result(Some(item), finding, &codes));
    // What the manifests do to a cluster stands on no line.
    let results: Vec<Value> = results.chain(document.findings.iter().map(|f| result(None, f, &codes))).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "kubectl-pdb",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    let help = format!("{}\n\nExample: {}\n\nWhat to do: {}", code.meaning(), code.example(), code.cure());
    json!({
        "id": code.as_str(),
        "shortDescription": {"text": code.as_str()},
        "fullDescription": {"text": code.meaning()},
        "help": {"text": help},
        "defaultConfiguration": {"level": level(code.severity())},
    })
}

fn result(item: Option<&CheckItem>, finding: &Finding, codes: &[Code]) -> Value {
    let fixes: Vec<&str> = finding.remedies.iter().map(|r| &*r.text).collect();
    let text = match &fixes[..] {
        [] => finding.message.clone(),
        fixes => format!("{}\nTo correct this: {}", finding.message, fixes.join("; or: ")),
    };
    let object = item.map_or_else(|| finding.objects.join(", "), title);
    let mut location = json!({});
    if let Some((file, line)) = item.map(place) {
        location["physicalLocation"] =
            json!({"artifactLocation": {"uri": uri(file)}, "region": {"startLine": line.max(1)}});
    }
    if !object.is_empty() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": object, "kind": "object"}]);
    }
    json!({
        "ruleId": finding.code.as_str(),
        "ruleIndex": codes.binary_search(&finding.code).unwrap_or_default(),
        "level": level(finding.severity),
        "message": {"text": text},
        "locations": [location],
        // The same finding of the same object is the same alert, on whatever line it stands.
        "partialFingerprints": {"objectAndCode/v1": format!("{}:{object}", finding.code)},
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A path as a relative reference (RFC 3986).
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path).replace('\\', "/");
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    path.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        for (path, want) in
            [("./a/b.yaml", "a/b.yaml"), ("a b.yaml", "a%20b.yaml"), ("a\\b.yaml", "a/b.yaml"), ("ä:", "%C3%A4%3A")]
        {
            assert_eq!(uri(path), want);
        }
    }
}
