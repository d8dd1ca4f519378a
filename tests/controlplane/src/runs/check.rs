//! Random manifests, judged by `check` before they are applied: then the real controllers run them, the disruption controller
//! writes the budgets' numbers, and a node is drained.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Settings, steadily};
use crate::cases;
use crate::drained::drain;
use crate::generate::worlds::manifests;
use crate::judge::Tally;
use crate::lane::Lane;
use crate::shared::Shared;
use crate::snapshot::{items, key};
use crate::truth::{self, EvictionTruth};

/// One seed: ask the product about the manifests, apply them, compare. A miss is written as a case.
pub fn run(settings: &Settings, shared: &Shared, seed: u64) -> Result<Tally> {
    let (tally, list) = steadily(&format!("c{seed}"), |name| once(settings, shared, seed, name))?;
    if settings.keep || !tally.misses.is_empty() {
        let misses: Vec<Value> =
            tally.misses.iter().map(|m| json!({"object": m.object, "real": m.real, "ours": m.ours})).collect();
        let truth = json!({"version": shared.version, "seed": seed, "misses": misses});
        let at = cases::write(&settings.misses, &format!("check-{seed}"), &list, &truth)?;
        eprintln!("seed {seed}: a case is in {}", at.display());
    }
    Ok(tally)
}

fn once(settings: &Settings, shared: &Shared, seed: u64, name: &str) -> Result<(Tally, Value)> {
    let world = manifests::world(name, seed);
    let applied = world.items.iter().filter(|item| item["kind"] != "Node" && item["kind"] != "Namespace");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": applied.collect::<Vec<_>>()});
    let file = settings.scratch.path().join(format!("{name}.json"));
    std::fs::write(&file, list.to_string()).context("write the manifests")?;
    let path = file.to_string_lossy();
    let answer = settings.product()?.run(&["check", "-o", "json", "-f", &path], &[("KUBECONFIG", "/dev/null")])?;
    let said = |budget: &str| -> String {
        let items = answer.document["items"].as_array().into_iter().flatten();
        let of = items.into_iter().find(|i| {
            i["kind"] == "PodDisruptionBudget" && format!("{}/{}", text(&i["namespace"]), text(&i["name"])) == budget
        });
        of.map_or_else(|| format!("nothing: {}", answer.stderr), |i| text(&i["verdict"]).to_owned())
    };

    let lane = Lane::make(shared, world)?;
    let before = lane.snapshot()?;
    let evictions = truth::evictions(&shared.api, &before)?;
    let mut tally = Tally::default();
    let budgets: Vec<&Value> = items(&before).iter().filter(|item| item["kind"] == "PodDisruptionBudget").collect();
    for budget in &budgets {
        tally.add("can ever allow", &key(budget), real(budget, &before, &evictions), &said(&key(budget)));
    }
    if let Some(node) = most_covered(&budgets, &before) {
        let drained = drain(&lane, std::slice::from_ref(&node), &before)?;
        for budget in &budgets {
            let on_node: Vec<String> =
                covered(budget, &before).filter(|pod| pod["spec"]["nodeName"] == *node).map(key).collect();
            if on_node.is_empty() {
                continue;
            }
            let stays = on_node.iter().any(|pod| drained.stayed.contains(pod));
            let ours = match &*said(&key(budget)) {
                "never" | "broken" => "blocks",
                "allows" => "lets go",
                _ => "is not known",
            };
            tally.add("blocks a drain", &key(budget), if stays { "blocks" } else { "lets go" }, ours);
        }
    }
    lane.remove()?;
    Ok((tally, list))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What a budget comes to with all its pods Ready, in the product's words.
fn real(budget: &Value, list: &Value, evictions: &BTreeMap<String, EvictionTruth>) -> &'static str {
    let pods: Vec<String> = covered(budget, list).map(key).collect();
    let truth = truth::budget(budget);
    if pods.is_empty() {
        return "unused";
    }
    let fails = |pod: &String| evictions.get(pod).is_some_and(|answer| answer.code == 500);
    if pods.iter().any(fails) || truth.condition == "SyncFailed" {
        return "broken";
    }
    if truth.numbers[3] == 0 { "never" } else { "allows" }
}

/// The pods that a budget covers.
fn covered<'a>(budget: &'a Value, list: &'a Value) -> impl Iterator<Item = &'a Value> {
    let pods = items(list).iter().filter(|item| item["kind"] == "Pod");
    pods.filter(|pod| pod["metadata"]["namespace"] == budget["metadata"]["namespace"])
        .filter(|pod| selects(&budget["spec"]["selector"], &pod["metadata"]["labels"]))
}

/// Whether one of the selectors that are generated matches.
fn selects(selector: &Value, labels: &Value) -> bool {
    let equals = |(key, value): (&String, &Value)| labels[key] == *value;
    let among = |e: &Value| {
        let value = &labels[text(&e["key"])];
        e["values"].as_array().into_iter().flatten().any(|one| one == value)
    };
    selector["matchLabels"].as_object().into_iter().flatten().all(equals)
        && selector["matchExpressions"].as_array().into_iter().flatten().all(among)
}

/// The node that has pods of the most budgets.
fn most_covered(budgets: &[&Value], list: &Value) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for budget in budgets {
        let mut nodes: Vec<&str> = covered(budget, list).map(|pod| text(&pod["spec"]["nodeName"])).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.into_iter().filter(|node| !node.is_empty()).for_each(|node| *counts.entry(node).or_default() += 1);
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(node, _)| node.to_owned())
}
