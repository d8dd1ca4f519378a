//! How good an answer looks: what must not happen is that less is known, and the answer looks better.

use std::collections::BTreeMap;

use serde_json::Value;

/// How good each item of a document looks, 0 for the worst; `None` where the verdict is unknown.
pub fn looks(document: &Value) -> BTreeMap<String, Option<u8>> {
    let items = document["items"].as_array().or_else(|| document["nodes"].as_array());
    items.into_iter().flatten().map(|item| (name(item), look(item))).collect()
}

fn name(item: &Value) -> String {
    let part = |key: &str| item[key].as_str().unwrap_or_default();
    format!("{}/{}/{}", part("kind"), part("namespace"), part("name"))
}

fn look(item: &Value) -> Option<u8> {
    let verdict = item["verdict"].as_str().or_else(|| item["stage"].as_str());
    match verdict.unwrap_or("unknown") {
        "unknown" => None,
        "allows" | "unused" | "drains" => Some(3),
        "waits" | "kept" => Some(2),
        "forced" | "unhealthy" => Some(1),
        "unscheduled" if item["scheduler"]["fits"].as_array().is_some_and(|fits| !fits.is_empty()) => Some(3),
        "unscheduled" if item["preemption"]["possible"] == true => Some(2),
        "nominated" => Some(2),
        "bound" => Some(1),
        _ => Some(0),
    }
}

/// The items of `before` that look better in `after`, or are not in it.
pub fn better(before: &Value, after: &Value) -> Vec<String> {
    let after = looks(after);
    let words = |look: Option<u8>| look.map_or("unknown".to_owned(), |look| look.to_string());
    let improved = looks(before).into_iter().filter_map(|(name, look)| match (look, after.get(&name)) {
        (_, None) => Some(format!("{name} is gone")),
        (Some(old), Some(Some(new))) if new > &old => Some(format!("{name} looks better: {} → {new}", words(look))),
        // What was unknown before does not become known by knowing less.
        (None, Some(Some(new))) => Some(format!("{name} was unknown, and is {new}")),
        _ => None,
    });
    improved.collect()
}
