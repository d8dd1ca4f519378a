//! Which nodes the real Karpenter and the real Cluster Autoscaler took away, and what kept the others: recorded in
//! `tests/agreement/karpenter-keep` and `tests/agreement/autoscaler-keep`.

use crate::agreement::{Tally, agrees, cluster};
use crate::program::read_json;
use kubectl_pdb::autoscale::cluster_autoscaler::{self, Groups, ScaleDown};
use kubectl_pdb::autoscale::karpenter::disruption::{Disruption, Fate, Keeps};
use kubectl_pdb::file;
use kubectl_pdb::sched::State;
use kubectl_pdb::snapshot::Snapshot;
use serde_json::Value;
use std::path::Path;

const KARPENTER: &[&str] = &["agreement/karpenter-keep"];
const CLUSTER_AUTOSCALER: &[&str] = &["agreement/autoscaler-keep"];

/// The folders of `tests/` that are judged here.
pub const FOLDERS: &[&[&str]] = &[KARPENTER, CLUSTER_AUTOSCALER];

/// Where chance decided.
const CHANCE: &[(&str, &str)] = &[
    // 1 of 2 equal empty nodes was taken under a budget of 1, and this one expired before its turn.
    ("kkeep-14", "kwok-amber-ss8f7-glazercosmic-3-vhyrfkjhhs-1069565757"),
    // Of 4 nodes that could each be removed, the one that the autoscaler looked at last: its pod fits nowhere once the
    // others are gone.
    ("cakeep-13", "beta-02"),
];

fn snapshot(dir: &Path) -> Snapshot {
    file::load(&[cluster(dir)], None).unwrap()
}

#[test]
fn karpenter_takes_and_keeps() {
    agrees(KARPENTER, 41, karpenter);
}

/// Whether each node was disrupted and for what, or what Karpenter said first of those that it kept.
fn karpenter(dir: &Path) -> Tally {
    let truth = read_json(&dir.join("truth.json"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let state = State::new(&snapshot(dir));
    let disruption = Disruption::new(&state).unwrap();
    let mut tally = Tally::default();
    for (node, want) in truth["nodes"].as_object().into_iter().flatten().filter(|(_, want)| want["drop"].is_null()) {
        if CHANCE.contains(&(&*name, node)) {
            continue;
        }
        let wanted = match want["reason"].as_str() {
            Some(reason) => reason,
            None => karpenter_s_class(want["why"].as_str().unwrap_or_default()),
        };
        let fate = disruption.of(node);
        let said = match &fate {
            Some(Fate::Disrupted(why)) => why.word(),
            Some(Fate::Kept(keeps) | Fate::Unknown(keeps)) => keeps.first().map_or("nothing", Keeps::class),
            Some(Fate::Going) => "going",
            None => "no Karpenter",
        };
        tally.compare(&format!("{name} {node} ({fate:?})"), &wanted.into(), &Value::from(said));
    }
    tally
}

/// What Karpenter's own words say of a node that it kept.
fn karpenter_s_class(words: &str) -> &'static str {
    const CLASSES: &[(&str, &str)] = &[
        ("Pod has \"karpenter.sh/do-not-disrupt\"", "do-not-disrupt"),
        ("Disruption is blocked through the \"karpenter.sh/do-not-disrupt\"", "node annotation"),
        ("Pdb prevents", "budget"),
        ("Eviction does not support multiple PDBs", "several budgets"),
        ("has consolidation disabled", "consolidation disabled"),
        ("WhenEmpty, but node is not empty", "not empty"),
        ("Can't replace with a cheaper node", "not cheaper"),
        ("Can't remove without creating", "several new nodes"),
        ("SpotToSpotConsolidation is disabled", "spot to spot"),
        ("Not all pods would schedule", "nowhere to move"),
        ("Node isn't initialized", "not initialized"),
        ("NodePool budget", "NodePool budget"),
        ("consolidateAfter has not passed", "consolidateAfter"),
    ];
    CLASSES.iter().find(|(part, _)| words.contains(part)).map_or("?", |(_, class)| class)
}

#[test]
fn the_cluster_autoscaler_removes_and_keeps() {
    agrees(CLUSTER_AUTOSCALER, 95, cluster_autoscaler);
}

/// Whether each node was removed, or what the autoscaler found first that keeps it. The sizes of its groups are those that
/// it writes into the ConfigMap cluster-autoscaler-status.
fn cluster_autoscaler(dir: &Path) -> Tally {
    let truth = read_json(&dir.join("truth.json"));
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let state = State::new(&snapshot(dir));
    let sizes = truth["groups"].as_object().into_iter().flatten().filter_map(|(group, of)| {
        let now = i64::try_from(of["nodes"].as_array()?.len()).ok()?;
        Some((group.as_str().into(), now, of["min"].as_i64()?))
    });
    let scale_down = ScaleDown::new(&state, Groups::new(sizes));
    let mut tally = Tally::default();
    for (node, want) in truth["nodes"].as_object().into_iter().flatten().filter(|(_, want)| want["drop"].is_null()) {
        if CHANCE.contains(&(&*name, node)) {
            continue;
        }
        let fate = scale_down.of(node);
        let said = match &fate {
            Some(cluster_autoscaler::Fate::Removed(stuck)) if stuck.is_empty() => "removable",
            Some(cluster_autoscaler::Fate::Removed(_)) => "drains without end",
            Some(cluster_autoscaler::Fate::Kept(keeps)) => {
                keeps.first().map_or("nothing", cluster_autoscaler::Keeps::class)
            }
            Some(cluster_autoscaler::Fate::Going) => "going",
            None => "no such node",
        };
        tally.compare(&format!("{name} {node} ({fate:?})"), &want["class"], &said.into());
    }
    tally
}
