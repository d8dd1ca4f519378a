//! Random worlds of devices: where a pod with claims fits, and what the scheduler says of one that fits nowhere.

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::pending::{Pending, Recorded};
use super::{Settings, over_seeds};
use crate::cases;
use crate::generate::allocation::cluster;
use crate::judge::{self, Tally};
use crate::product::Answer;
use crate::scheduling::Scheduled;
use crate::snapshot::key;

/// Runs these seeds on one control plane.
pub fn over(settings: &Settings, seeds: Range<u64>) -> Result<Tally> {
    let mut run = Pending::start(settings)?;
    over_seeds(seeds, |seed| one(&mut run, settings, seed))
}

/// The rounds of a seed. In each one pods fit, and are left out of the next, until none fits: then no pod changes the
/// state for another.
pub fn rounds(run: &mut Pending, seed: u64) -> Result<Vec<Recorded>> {
    let mut items = cluster(seed);
    let mut rounds = Vec::new();
    while rounds.len() < 30 {
        let recorded = run.once(&items)?;
        let fits: BTreeSet<String> = recorded.scheduled.bound().cloned().collect();
        rounds.push(recorded);
        if fits.is_empty() {
            return Ok(rounds);
        }
        items.retain(|item| item["kind"] != "Pod" || !fits.contains(&key(item)));
    }
    bail!("pods still fit after thirty rounds")
}

fn one(run: &mut Pending, settings: &Settings, seed: u64) -> Result<Tally> {
    let rounds = rounds(run, seed)?;
    let mut tally = Tally::default();
    for (at, Recorded { list, scheduled }) in rounds.iter().enumerate() {
        let answer = ask(settings, list)?;
        let mut of_round = Tally::default();
        // While pods are bound, each takes devices away from the next, whose message is of no known state.
        match at + 1 < rounds.len() {
            true => judge::pending(&mut of_round, &answer, &fitting(scheduled, &answer, &mut tally)),
            false => judge::pending(&mut of_round, &answer, scheduled),
        }
        if !of_round.misses.is_empty() {
            let at = cases::write(&settings.misses, &format!("devices-{seed}-{at}"), list, &scheduled.to_json())?;
            eprintln!("seed {seed}: a case is in {}", at.display());
        }
        tally.merge(of_round);
    }
    Ok(tally)
}

/// The pods that were bound, without those for which the product says that a device makes the scheduler fail: another pod
/// had taken that device by then.
fn fitting(scheduled: &Scheduled, answer: &Answer, tally: &mut Tally) -> Scheduled {
    let items = answer.document["items"].as_array().into_iter().flatten();
    let fails = items.filter(|item| item["scheduler"]["message"].as_str().is_some_and(|m| m.starts_with("running ")));
    let fails: BTreeSet<String> = fails.map(judge::name_of).collect();
    let mut bound = Scheduled::default();
    for pod in scheduled.bound() {
        match (fails.contains(pod), scheduled.pods.get(pod)) {
            (true, _) => tally.count("not judged, as others took what fails"),
            (false, verdict) => bound.pods.extend(verdict.map(|v| (pod.clone(), v.clone()))),
        }
    }
    bound
}

fn ask(settings: &Settings, list: &Value) -> Result<Answer> {
    let file = settings.scratch.path().join("devices.json");
    std::fs::write(&file, list.to_string()).context("write the snapshot")?;
    settings.product()?.ask(&["why-pending", "-A"], &file)
}
