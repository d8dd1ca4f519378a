//! Operators that make budgets and move them themselves: known by owner and labels, not by name.

use crate::snapshot::budget::Budget;

/// An operator and its own way to drain a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operator {
    /// What people call it.
    pub name: &'static str,
    /// API groups of the kinds it owns budgets by.
    groups: &'static [&'static str],
    /// Label keys (on the budget or in its selector) that only it uses; a trailing `/` stands for a prefix.
    labels: &'static [&'static str],
    /// `key=value` pairs in the budget's selector that only it uses.
    selects: &'static [(&'static str, &'static str)],
    /// What it does when a node is drained, and what to do.
    pub way: &'static str,
}

const OPERATORS: &[Operator] = &[
    Operator {
        name: "CloudNativePG",
        groups: &["postgresql.cnpg.io"],
        labels: &["cnpg.io/"],
        selects: &[],
        way: "it moves the primary away once the node is cordoned, where the cluster has more than one instance; for a \
              single instance set nodeMaintenanceWindow.inProgress (or enablePDB: false) on the Cluster",
    },
    Operator {
        name: "Longhorn",
        groups: &["longhorn.io"],
        labels: &["longhorn.io/"],
        selects: &[],
        way: "it lifts the budget itself once no volume of the node needs it, as its setting node-drain-policy says",
    },
    Operator {
        name: "Rook-Ceph",
        groups: &[],
        labels: &[],
        selects: &[("app", "rook-ceph-osd")],
        way: "while a failure domain is down it sets maxUnavailable 0 on all others, until the data is whole again \
              (ceph status); drain one failure domain at a time",
    },
    Operator {
        name: "Rook-Ceph",
        groups: &["ceph.rook.io"],
        labels: &[],
        selects: &[("app", "rook-ceph-mon"), ("app", "rook-ceph-mds"), ("app", "rook-ceph-rgw")],
        way: "it keeps the rule as its resource (CephCluster, CephFilesystem, CephObjectStore) has it: drain one node at a time, \
              and wait until ceph status is HEALTH_OK",
    },
    Operator {
        name: "Strimzi",
        groups: &["kafka.strimzi.io", "core.strimzi.io"],
        labels: &["strimzi.io/"],
        selects: &[],
        way: "with the Strimzi Drain Cleaner installed, the eviction is denied and the operator restarts the pod itself once no \
              partition would be under its minimum of in-sync replicas; without the Drain Cleaner the budget alone decides: \
              annotate the pod with strimzi.io/manual-rolling-update=true after the cordon, and the operator restarts it",
    },
    Operator {
        name: "Elastic Cloud on Kubernetes",
        groups: &["elasticsearch.k8s.elastic.co"],
        labels: &["elasticsearch.k8s.elastic.co/", "common.k8s.elastic.co/"],
        selects: &[],
        way: "it allows one disruption only while the Elasticsearch cluster is green; set podDisruptionBudget on the \
              Elasticsearch resource",
    },
    Operator {
        name: "Zalando Postgres Operator",
        groups: &["acid.zalan.do"],
        labels: &[],
        selects: &[("application", "spilo")],
        way: "it moves masters off a cordoned node only where its setting node_readiness_label names a label, and that label is \
              taken from the node; by default it moves none: switch over first (patronictl switchover in a pod of the cluster)",
    },
    Operator {
        name: "KubeVirt",
        groups: &["kubevirt.io"],
        labels: &["kubevirt.io/"],
        selects: &[],
        way: "it answers the eviction by a live migration of the virtual machine, where the virtual machine is LiveMigratable; one that \
              cannot migrate must be stopped",
    },
    Operator {
        name: "MongoDB Operator",
        groups: &["mongodb.com", "mongodbcommunity.mongodb.com", "psmdb.percona.com"],
        labels: &[],
        selects: &[],
        way: "it manages the budget of each replica set: change the operator's resource",
    },
    Operator {
        name: "Vitess Operator",
        groups: &["planetscale.com"],
        labels: &["planetscale.com/"],
        selects: &[],
        way: "it moves primaries and lets a pod go when the shard is healthy: annotate the pod as its drain guide says",
    },
    Operator {
        name: "ScyllaDB Operator",
        groups: &["scylla.scylladb.com"],
        labels: &["scylla/"],
        selects: &[],
        way: "it allows 1 unavailable pod in each datacenter: drain one node at a time, and wait until all members are Ready",
    },
    Operator {
        name: "Portworx",
        groups: &["core.libopenstorage.org"],
        labels: &[],
        selects: &[("name", "portworx")],
        way: "it sets the budget so that storage quorum is kept: drain one node at a time",
    },
];

/// The operator that makes a budget, where one is recognised.
pub fn operator(budget: &Budget) -> Option<&'static Operator> {
    let owner_groups = || budget.meta.controller.iter().chain(&budget.meta.owner).map(|o| &*o.group);
    let keys =
        || budget.meta.labels.iter().map(|(k, _)| &**k).chain(budget.selector.requirements().iter().map(|r| &*r.key));
    OPERATORS.iter().find(|o| {
        owner_groups().any(|g| o.groups.contains(&g))
            || keys().any(|k| o.labels.iter().any(|l| if l.ends_with('/') { k.starts_with(l) } else { k == *l }))
            || budget
                .selector
                .requirements()
                .iter()
                .any(|r| o.selects.iter().any(|(k, v)| *r.key == **k && matches!(&r.values[..], [one] if **one == **v)))
    })
}
