//! What `-o json` writes, held against what `schema` prints.

use crate::program::{folders_with, here, in_parallel, read_json, run};
use serde_json::Value;

#[test]
fn documents_are_as_their_schema_says() {
    for command in ["status", "drain-plan", "why-pending"] {
        let schema = run(["schema", command]).json();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{command}");
        let folders = folders_with(&here("cases").join(command), "case.json");
        let bad: Vec<String> = in_parallel(&folders, |dir| {
            let case = read_json(&dir.join("case.json"));
            let args = case["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let file = dir.join("cluster.json").display().to_string();
            let document = run(args.chain(["-o", "json", "--from", &file])).json();
            let mut faults = Vec::new();
            Checker { root: &schema, faults: &mut faults }.check(&schema, &document, "");
            faults.iter().map(|fault| format!("{}: {fault}", dir.display())).collect::<Vec<_>>()
        })
        .concat();
        assert!(bad.is_empty(), "{} faults in {command}, such as\n{}", bad.len(), bad[..bad.len().min(5)].join("\n"));
    }
}

#[test]
fn a_check_is_as_its_schema_says() {
    let schema = run(["schema", "check"]).json();
    let document = run(["check", "-o", "json", "-f", here("manifests").to_str().unwrap()]).json();
    let mut faults = Vec::new();
    Checker { root: &schema, faults: &mut faults }.check(&schema, &document, "");
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn all_schemas_are_printed_as_a_list() {
    let kinds = run(["schema"]).json();
    let kinds: Vec<_> = kinds.as_array().unwrap().iter().map(|s| s["properties"]["kind"]["const"].clone()).collect();
    assert_eq!(kinds, ["BudgetStatusList", "DrainPlan", "PendingReport", "CheckReport"]);
    assert_eq!(run(["schema", "nothing"]).status, 1);
}

/// As much of JSON Schema as the documents' schemas use; a keyword that it does not know is a fault, and so is a field
/// that the schema does not name.
struct Checker<'a> {
    root: &'a Value,
    faults: &'a mut Vec<String>,
}

const SAY_NOTHING: &[&str] = &[
    "$schema",
    "$defs",
    "additionalProperties",
    "title",
    "description",
    "format",
    "minimum",
    "maximum",
    "examples",
    "default",
];

impl Checker<'_> {
    fn check(&mut self, schema: &Value, value: &Value, at: &str) {
        let mut fault = |text: String| self.faults.push(format!("{at}: {text}"));
        let Some(keywords) = schema.as_object() else { return };
        for (keyword, say) in keywords {
            match keyword.as_str() {
                "type" if !has_type(say, value) => fault(format!("{value} is no {say}")),
                "const" if say != value => fault(format!("{value} is not {say}")),
                "enum" if !say.as_array().unwrap().contains(value) => fault(format!("{value} is none of {say}")),
                "required" => {
                    let missing =
                        say.as_array().unwrap().iter().filter(|field| value.get(field.as_str().unwrap()).is_none());
                    missing.for_each(|field| fault(format!("{field} is missing")));
                }
                "type" | "const" | "enum" | "properties" | "items" | "$ref" | "anyOf" | "oneOf" => {}
                other if SAY_NOTHING.contains(&other) => {}
                other => fault(format!("the test does not know the keyword {other}")),
            }
        }
        if let Some(name) = schema["$ref"].as_str() {
            let root = self.root;
            self.check(root.pointer(name.trim_start_matches('#')).unwrap(), value, at);
        }
        for choices in [&schema["anyOf"], &schema["oneOf"]].into_iter().filter_map(Value::as_array) {
            let fits = |choice: &&Value| {
                let mut faults = Vec::new();
                Checker { root: self.root, faults: &mut faults }.check(choice, value, at);
                faults.is_empty()
            };
            if !choices.iter().any(|choice| fits(&choice)) {
                self.faults.push(format!("{at}: {value} is none of the choices"));
            }
        }
        if let (Some(properties), Some(fields)) = (schema["properties"].as_object(), value.as_object()) {
            for (name, field) in fields {
                match properties.get(name) {
                    Some(schema) => self.check(schema, field, &format!("{at}.{name}")),
                    None => self.faults.push(format!("{at}: the schema does not name {name}")),
                }
            }
        }
        if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
            values.iter().enumerate().for_each(|(i, v)| self.check(items, v, &format!("{at}[{i}]")));
        }
    }
}

fn has_type(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    match types {
        Value::String(name) => is(name),
        _ => types.as_array().is_some_and(|names| names.iter().filter_map(Value::as_str).any(is)),
    }
}
