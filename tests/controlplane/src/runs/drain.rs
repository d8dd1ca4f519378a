//! Real workloads, settled by real controllers; the snapshot's plan against the real `kubectl drain`.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Settings, steadily};
use crate::cases;
use crate::drained::{Drained, FLAGS, at_once, drain, truth};
use crate::generate::worlds::admission::GUARD;
use crate::generate::worlds::{By, drains};
use crate::judge::drain::{Hidden, Plans, judge};
use crate::judge::{Tally, name_of};
use crate::kubelet::says;
use crate::lane::Lane;
use crate::shared::Shared;

/// A world's snapshot, and what became of the drain after it.
pub struct Recorded {
    /// The List.
    pub list: Value,
    /// The drain, in the recorded form.
    pub truth: Value,
}

/// Makes the seed's world, takes its snapshot, and drains.
pub fn record(shared: &Shared, seed: u64) -> Result<Recorded> {
    let mut lane = Lane::make(shared, drains::world(&format!("d{seed}"), seed))?;
    if lane.world.drain.by == By::Rounds {
        lane.world.drain.by = By::OneCommand;
    }
    let list = lane.snapshot()?;
    let drained = drain(&lane, &lane.nodes()?, &list)?;
    let truth = truth(&drained, &lane, seed);
    lane.remove()?;
    Ok(Recorded { list, truth })
}

/// One seed: make, ask the product, drain, compare. A miss is written as a case.
pub fn run(settings: &Settings, shared: &Shared, seed: u64) -> Result<Tally> {
    let (tally, recorded) = steadily(&format!("d{seed}"), |name| once(settings, shared, seed, name))?;
    if settings.keep || !tally.misses.is_empty() {
        let at = cases::write(&settings.misses, &format!("drain-{seed}"), &recorded.list, &recorded.truth)?;
        eprintln!("seed {seed} {}: a case is in {}", recorded.truth["madeOf"], at.display());
    }
    Ok(tally)
}

fn once(settings: &Settings, shared: &Shared, seed: u64, name: &str) -> Result<(Tally, Recorded)> {
    let lane = Lane::make(shared, drains::world(name, seed))?;
    let list = lane.snapshot()?;
    let file = settings.scratch.path().join(format!("{name}.json"));
    std::fs::write(&file, list.to_string()).context("write the snapshot")?;
    let mut tally = Tally::default();
    let truth = match lane.world.drain.by {
        By::Rounds => {
            let plan = settings.product()?.ask(&["drain-plan"], &file)?;
            let drained = rounds(&mut tally, &lane, &plan.document)?;
            truth(&drained, &lane, seed)
        }
        _ => {
            let names = lane.nodes()?;
            let mut args = vec!["drain-plan"];
            args.extend(names.iter().map(String::as_str));
            args.extend(lane.world.drain.flags.iter().map(String::as_str));
            let several = names.len().to_string();
            if lane.world.drain.by == By::ManyCommands {
                // As many drains at the same time as there are nodes, none of which comes back.
                args.extend(["--parallel", &several, "--after", "gone"]);
                tally.count("several drains at once");
            }
            let bare = settings.product()?.ask(&args, &file)?;
            args.extend(FLAGS);
            let plan = settings.product()?.ask(&args, &file)?;
            let race = guards_leave(&lane, &names);
            let drained = drain(&lane, &names, &list)?;
            let hidden = Hidden { anything: !lane.world.hidden.is_empty(), race, work: work(&list) };
            judge(&mut tally, &Plans { plan, bare }, &drained, &hidden);
            truth(&drained, &lane, seed)
        }
    };
    lane.remove()?;
    Ok((tally, Recorded { list, truth }))
}

/// The pods that end by themselves at some time.
fn work(list: &Value) -> BTreeSet<String> {
    let pods = list["items"].as_array().into_iter().flatten().filter(|o| o["kind"] == "Pod");
    let ends = pods.filter(|p| !p["metadata"]["annotations"][says::ENDS_LATER].is_null());
    ends.map(|p| name_of(&p["metadata"])).collect()
}

/// Whether all pods behind a webhook are on the nodes: whether they are away before another eviction is asked for is a race.
fn guards_leave(lane: &Lane<'_>, nodes: &[String]) -> bool {
    let pods = lane.world.namespaces.iter().flat_map(|namespace| lane.pods(namespace, GUARD));
    let on: Vec<bool> = pods.map(|pod| nodes.iter().any(|node| pod["spec"]["nodeName"] == **node)).collect();
    !on.is_empty() && on.iter().all(|on| *on)
}

/// Drains the world as the plan's order says, and holds the order's promise against it: every node of it ends, and where
/// each of a round's nodes would drain alone without a refusal, so does the round.
fn rounds(tally: &mut Tally, lane: &Lane<'_>, plan: &Value) -> Result<Drained> {
    let mut all = Drained::default();
    let rounds: Vec<Vec<String>> = plan["order"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|round| round.as_array().into_iter().flatten().filter_map(|n| n.as_str().map(str::to_owned)).collect())
        .collect();
    let hidden = !lane.world.hidden.is_empty();
    let planned = plan["nodes"].as_array().cloned().unwrap_or_default();
    let alone = |node: &String| planned.iter().find(|n| n["name"] == **node).map_or(&Value::Null, |n| &n["alone"]);
    let cordoned: BTreeSet<String> = planned
        .iter()
        .filter_map(|n| n["name"].as_str())
        .filter(|name| {
            let node = lane.shared.api.get(&format!("/api/v1/nodes/{name}"));
            node.is_ok_and(|node| node["spec"]["unschedulable"] == true)
        })
        .map(str::to_owned)
        .collect();
    for round in &rounds {
        let mut drained = Drained::default();
        at_once(lane, round, &FLAGS, &mut drained)?;
        for (node, ended) in &drained.ended {
            if !hidden {
                tally.add("drains in rounds", node, if *ended { "ends" } else { "blocked" }, "ends");
            }
        }
        let refused =
            drained.said.iter().any(|said| said["output"].as_str().is_some_and(|o| o.contains("Cannot evict")));
        if !hidden && round.len() > 1 && round.iter().all(|node| alone(node) == "drains") {
            tally.add("rounds without a refusal", &round.join(","), if refused { "refused" } else { "none" }, "none");
        }
        for node in round.iter().filter(|node| !cordoned.contains(*node)) {
            lane.shared.kubectl.run(&["uncordon".to_owned(), node.clone()])?;
        }
        lane.rest()?;
        all.nodes.extend(round.iter().cloned());
        all.ended.extend(drained.ended);
        all.said.extend(drained.said);
    }
    if planned.is_empty() {
        bail!("the plan has no nodes: {}", json!({"findings": plan["findings"]}));
    }
    Ok(all)
}
