//! How much storage drivers say is left, and for which nodes: a part of `VolumeBinding`. Mirrors `hasEnoughCapacity`,
//! `capacitySufficient` and `nodeHasAccess` of `plugins/volumebinding/binder.go`.

use crate::snapshot::intern::Interner;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{CSIStorageCapacity, Kind, Map, Snapshot, StorageClass};
use std::sync::Arc;

/// What is reported of a class's storage, for a claim of some size.
#[derive(Debug)]
pub struct Reported {
    size: Quantity,
    reports: Vec<Report>,
    /// There may be more, which could not be read.
    unread: bool,
}

#[derive(Debug)]
struct Report {
    object: Arc<CSIStorageCapacity>,
    nodes: LabelSelector,
}

/// Why a node has too little storage for a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Lack {
    /// The driver reports nothing of the class at all.
    NothingReported,
    /// What it reports is of other nodes.
    Elsewhere,
    /// No volume may be so large, although so much is left.
    Maximum {
        /// `maximumVolumeSize`.
        most: Quantity,
        /// `capacity`, where it is said.
        left: Option<Quantity>,
        /// Where it is said.
        by: Arc<CSIStorageCapacity>,
    },
    /// So much is left.
    TooLittle {
        /// `capacity`; `None` where the report has no amount.
        left: Option<Quantity>,
        /// Where it is said.
        by: Arc<CSIStorageCapacity>,
    },
}

impl Reported {
    /// What is reported; `None` where the scheduler does not ask, as the class's driver does not report.
    pub fn of(class: &StorageClass, size: Quantity, snapshot: &Snapshot) -> Option<Self> {
        let driver = snapshot.csi_drivers.named("", &class.provisioner)?;
        let reports = driver.spec.as_ref()?.storage_capacity == Some(true);
        (reports && size > Quantity::ZERO).then(|| Self {
            size,
            reports: snapshot
                .csi_capacities
                .iter()
                .filter(|c| c.storage_class_name.as_deref() == Some(&*class.meta.name))
                .map(|c| Report {
                    object: c.clone(),
                    nodes: LabelSelector::read(c.node_topology.as_ref(), &mut Interner::default()),
                })
                .collect(),
            unread: snapshot.coverage.hides(Kind::CSIStorageCapacity),
        })
    }

    /// Whether reports could not be read, so that what [`Self::lack`] says is not known to be so.
    pub fn is_unread(&self) -> bool {
        self.unread
    }

    /// For which nodes storage is reported, as selectors of labels.
    pub fn places(&self) -> impl Iterator<Item = String> {
        let one = |r: &Report| match r.object.node_topology {
            Some(_) => r.nodes.to_string(),
            None => "none, without a nodeTopology".to_owned(),
        };
        self.reports.iter().map(one)
    }

    /// Whether a node with these labels has enough.
    pub fn is_enough(&self, labels: &Map) -> bool {
        self.reports.iter().any(|r| self.suffices(r) && r.nodes.matches(labels))
    }

    fn suffices(&self, report: &Report) -> bool {
        limit(&report.object).is_some_and(|limit| limit.value() >= self.size.value())
    }

    /// Why a node has too little: by the report that comes nearest.
    pub fn lack(&self, labels: &Map) -> Option<Lack> {
        if self.is_enough(labels) {
            return None;
        }
        if self.reports.is_empty() {
            return Some(Lack::NothingReported);
        }
        let here = self.reports.iter().filter(|r| r.nodes.matches(labels));
        let Some(best) = here.max_by_key(|r| limit(&r.object)).map(|r| &r.object) else { return Some(Lack::Elsewhere) };
        let left = best.capacity.as_ref().map(|c| c.value);
        let enough = left.is_none_or(|left| left.value() >= self.size.value());
        Some(match &best.maximum_volume_size {
            Some(most) if enough => Lack::Maximum { most: most.value, left, by: best.clone() },
            _ => Lack::TooLittle { left, by: best.clone() },
        })
    }
}

/// How large a volume may be: the maximum, where the driver says one, however much is left.
fn limit(capacity: &CSIStorageCapacity) -> Option<Quantity> {
    capacity.maximum_volume_size.as_ref().or(capacity.capacity.as_ref()).map(|q| q.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cluster;
    use serde_json::{Value, json};

    fn snapshot(reports: bool, capacities: &[Value]) -> Snapshot {
        let one = |(at, (zone, more)): (usize, (&str, &Value))| {
            let mut object = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
                "metadata": {"namespace": "csi", "name": format!("c{at}")}, "storageClassName": "disk",
                "nodeTopology": {"matchLabels": {"zone": zone}}});
            for (field, value) in more.as_object().unwrap() {
                object[field] = value.clone();
            }
            object
        };
        let driver = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "csi.example.com"},
            "spec": {"storageCapacity": reports}});
        let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disk"},
            "provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer"});
        let capacities = capacities.iter().map(|c| (c["zone"].as_str().unwrap_or("za"), c)).enumerate().map(one);
        cluster().all([driver, class]).all(capacities).snapshot()
    }

    /// What is said of a node in zone za, for a claim of 5Gi.
    fn said(snapshot: &Snapshot) -> String {
        let class = snapshot.storage_classes.named("", "disk").unwrap();
        let Some(reported) = Reported::of(class, Quantity::parse("5Gi").unwrap(), snapshot) else {
            return "not asked".to_owned();
        };
        let labels = Map::default().with("zone", "za");
        let amount = |q: Option<Quantity>| q.map_or_else(|| "nothing said".to_owned(), |q| q.to_string());
        match reported.lack(&labels) {
            None => "enough".to_owned(),
            Some(Lack::NothingReported) => "nothing".to_owned(),
            Some(Lack::Elsewhere) => "elsewhere".to_owned(),
            Some(Lack::Maximum { most, left, .. }) => format!("at most {most}, {} left", amount(left)),
            Some(Lack::TooLittle { left, .. }) => format!("{} left", amount(left)),
        }
    }

    #[test]
    fn capacities_are_judged_as_upstream() {
        // After `TestCapacity` of `plugins/volumebinding/binder_test.go`: the maximum counts, whatever is left; a report
        // without an amount is none, and without a topology it is of no node.
        for (reports, capacities, want) in [
            (false, vec![], "not asked"),
            (true, vec![], "nothing"),
            (true, vec![json!({"capacity": "5Gi"})], "enough"),
            (true, vec![json!({"capacity": "5Gi", "maximumVolumeSize": "4Gi"})], "at most 4Gi, 5Gi left"),
            (true, vec![json!({"capacity": "2Gi", "maximumVolumeSize": "8Gi"})], "enough"),
            (true, vec![json!({"capacity": "2Gi", "maximumVolumeSize": "1Gi"})], "2Gi left"),
            (true, vec![json!({"maximumVolumeSize": "4Gi"})], "at most 4Gi, nothing said left"),
            (true, vec![json!({"capacity": "2Gi"}), json!({"capacity": "3Gi"})], "3Gi left"),
            (true, vec![json!({})], "nothing said left"),
            (true, vec![json!({"capacity": "5Gi", "storageClassName": "other"})], "nothing"),
            (true, vec![json!({"capacity": "5Gi", "zone": "zb"})], "elsewhere"),
            (true, vec![json!({"capacity": "5Gi", "nodeTopology": null})], "elsewhere"),
            (true, vec![json!({"capacity": "2Gi"}), json!({"capacity": "9Gi", "zone": "zb"})], "2Gi left"),
        ] {
            assert_eq!(said(&snapshot(reports, &capacities)), want, "{capacities:?}");
        }
    }
}
