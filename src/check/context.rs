//! A workload with all that the rules look at.

use crate::budget::Selection;
use crate::snapshot::Snapshot;
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// A workload with all that the rules look at.
pub(super) struct WorkloadContext<'a> {
    /// The workload.
    pub workload: &'a Arc<Workload>,
    /// How many budgets cover its pods.
    pub budgets: usize,
    /// Whether several replicas without a budget are told.
    pub require_budgets: bool,
}

impl<'a> WorkloadContext<'a> {
    /// Looks at a workload of a snapshot.
    pub fn new(
        snapshot: &'a Snapshot,
        selection: &'a Selection,
        workload: &'a Arc<Workload>,
        require_budgets: bool,
    ) -> Self {
        let labels = workload.template.as_ref().map(|t| &t.meta.labels);
        let by_template = labels.map_or(0, |l| selection.of_labels(snapshot, workload.meta.ns(), l).len());
        let pods = workload.meta.uid.iter().flat_map(|uid| snapshot.pods_of(uid));
        let by_pods = pods.map(|p| selection.positions_of(snapshot, p).len()).max().unwrap_or_default();
        Self { workload, budgets: by_template.max(by_pods), require_budgets }
    }
}
