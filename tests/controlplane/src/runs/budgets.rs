//! Random workloads and budgets: the four numbers of each budget and the eviction endpoint's answer for each pod.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;

use super::Settings;
use crate::api::refused;
use crate::cases;
use crate::generate::budgets::cluster;
use crate::generate::perturb::{Change, changes};
use crate::judge::{self, Tally};
use crate::load::load;
use crate::plane::{Options, Plane};
use crate::snapshot;
use crate::truth::{self, BudgetTruth, EvictionTruth};

/// A snapshot and what the control plane says to it.
pub struct Recorded {
    /// The List.
    pub list: Value,
    /// By `namespace/name` of the budget.
    pub budgets: BTreeMap<String, BudgetTruth>,
    /// By `namespace/name` of the pod.
    pub evictions: BTreeMap<String, EvictionTruth>,
}

/// Makes the seed's cluster and asks the control plane.
///
/// The controller settles first; then half of the namespaces change without it. The snapshot and the evictions are of
/// that moment, so that statuses are old; the numbers are what the controller writes when it looks again.
pub fn record(settings: &Settings, seed: u64) -> Result<Recorded> {
    let mut plane = Plane::start(&settings.components, &Options::default())?;
    let now = Timestamp::now();
    let loaded = load(&plane.api, &cluster(seed, now))?;
    if let Some(refusal) = loaded.refused.first() {
        anyhow::bail!("seed {seed}: the API server does not take what was generated: {refusal}");
    }
    truth::budgets(&mut plane)?;
    let settled = snapshot::take(&plane)?;
    for change in changes(seed, now, &settled) {
        apply(&plane, &change)?;
    }
    let list = snapshot::take(&plane)?;
    let evictions = truth::evictions(&plane.api, &list)?;
    let budgets = truth::budgets(&mut plane)?;
    Ok(Recorded { list, budgets, evictions })
}

fn apply(plane: &Plane, change: &Change) -> Result<()> {
    let done = match change {
        Change::Merge(path, patch) => plane.api.merge(path, patch).map(|_| ()),
        Change::Create(path, object) => plane.api.create(path, object).map(|_| ()),
        Change::Delete(path, grace) => plane.api.delete(path, *grace),
    };
    match done {
        // An earlier change took the object away.
        Err(error) if refused(&error, 404) || refused(&error, 409) => Ok(()),
        done => done.with_context(|| format!("{change:?}")),
    }
}

/// One seed: generate, ask both, compare; a miss is written as a case of its namespace.
pub fn run(settings: &Settings, seed: u64) -> Result<Tally> {
    let recorded = record(settings, seed)?;
    let file = settings.scratch.path().join(format!("budgets-{seed}.json"));
    std::fs::write(&file, recorded.list.to_string()).context("write the snapshot")?;
    let tally = compare(settings, &recorded, &file)?;
    let namespaces: BTreeSet<&str> =
        tally.misses.iter().filter_map(|m| m.object.split_once('/')).map(|(n, _)| n).collect();
    for namespace in namespaces {
        let list = cases::one_namespace(&recorded.list, namespace);
        let truth =
            cases::status_truth(&settings.components.version, &recorded.budgets, &recorded.evictions, Some(namespace));
        let at = cases::write(&settings.misses, &format!("budgets-{seed}-{namespace}"), &list, &truth)?;
        eprintln!("seed {seed}: a case is in {}", at.display());
    }
    Ok(tally)
}

fn compare(settings: &Settings, recorded: &Recorded, file: &Path) -> Result<Tally> {
    let mut tally = Tally::default();
    let answer = settings.product()?.ask(&["status", "-A"], file)?;
    judge::budgets(&mut tally, &answer, &recorded.list, &recorded.budgets);
    judge::evictions(&mut tally, &answer, &recorded.evictions);
    Ok(tally)
}
