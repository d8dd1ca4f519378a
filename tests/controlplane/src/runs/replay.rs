//! Recorded cases through the control plane again: does it still say what was recorded? This holds the harness itself
//! against facts, and a new Kubernetes version against the old one.

use std::path::Path;

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Settings;
use crate::judge::Tally;
use crate::load::load;
use crate::plane::{Options, Plane};
use crate::snapshot::{items, read_json};
use crate::{scheduling, truth};

/// Replays one folder.
pub fn run(settings: &Settings, folder: &Path) -> Result<Tally> {
    let recorded = read_json(&folder.join("truth.json"))?.context("no truth.json")?;
    let list = read_json(&folder.join("cluster.json"))?.context("no cluster.json")?;
    let mut tally = Tally::default();
    let mut plane = Plane::start(&settings.components, &Options::default())?;
    let mut items = aged(&list);
    scheduling::forget(&mut items);
    let loaded = load(&plane.api, &items)?;
    for refusal in &loaded.refused {
        eprintln!("{}: not loaded: {refusal}", folder.display());
    }
    let list = crate::snapshot::take(&plane)?;
    if let Some(evictions) = recorded["evictions"].as_object() {
        let now = truth::evictions(&plane.api, &list)?;
        for (key, was) in evictions {
            let is = now
                .get(key)
                .map_or_else(|| "absent".to_owned(), |e| format!("{} {} {:?}", e.code, e.message, e.causes));
            let causes: Vec<&str> = was["causes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let was = format!("{} {} {causes:?}", was["code"], was["message"].as_str().unwrap_or_default());
            tally.add("evictions", key, &was, &is);
        }
    }
    if let Some(budgets) = recorded["status"].as_object() {
        let now = truth::budgets(&mut plane)?;
        for (key, was) in budgets {
            let number = |field: &str| was[field].as_i64().unwrap_or(-1);
            let numbers = [
                number("expectedPods"),
                number("desiredHealthy"),
                number("currentHealthy"),
                number("disruptionsAllowed"),
            ];
            let was = format!(
                "{numbers:?} {} {}",
                was["condition"].as_str().unwrap_or_default(),
                was["message"].as_str().unwrap_or_default()
            );
            let is = now
                .get(key)
                .map_or_else(|| "absent".to_owned(), |b| format!("{:?} {} {}", b.numbers, b.condition, b.message));
            tally.add("budgets", key, &was, &is);
        }
    }
    pending(&mut plane, &recorded, &mut tally)?;
    Ok(tally)
}

/// The scheduler's part: recorded under `pending`, or as the whole truth.
fn pending(plane: &mut Plane, recorded: &Value, tally: &mut Tally) -> Result<()> {
    let part = if recorded["pending"].is_object() { &recorded["pending"] } else { recorded };
    let Some(pods) = part["pods"].as_object() else { return Ok(()) };
    scheduling::settle_volumes(plane)?;
    let now = scheduling::ask(plane)?.to_json();
    for (key, was) in pods {
        tally.add("scheduler", key, &was.to_string(), &now["pods"][key].to_string());
    }
    tally.add("victims", "all", &part["victims"].to_string(), &now["victims"].to_string());
    Ok(())
}

/// The items, with the times of `disruptedPods` moved so that they are as old now as they were when recorded.
fn aged(list: &Value) -> Vec<Value> {
    let recorded_at = items(list).iter().filter_map(newest).max();
    let shift = recorded_at.map(|at| Timestamp::now().duration_since(at)).unwrap_or_default();
    let mut aged = items(list).to_vec();
    for budget in aged.iter_mut().filter(|item| item["kind"] == "PodDisruptionBudget") {
        let entries = budget.pointer_mut("/status/disruptedPods").and_then(Value::as_object_mut);
        for (_, at) in entries.into_iter().flatten() {
            *at = shifted(at, shift).unwrap_or_default();
        }
    }
    aged
}

fn shifted(at: &Value, shift: SignedDuration) -> Option<Value> {
    let at: Timestamp = at.as_str()?.parse().ok()?;
    Some(at.checked_add(shift).ok()?.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
}

/// The newest time in an object, leaving out the time of a deletion, which lies ahead.
fn newest(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Array(list) => list.iter().filter_map(newest).max(),
        Value::Object(map) => {
            map.iter().filter(|(k, _)| *k != "deletionTimestamp").filter_map(|(_, v)| newest(v)).max()
        }
        _ => None,
    }
}
