//! Operators that make budgets and move them themselves: known by owner and labels, not by name.

use crate::snapshot::budget::Budget;

/// An operator, what it does with its budgets, and its own way to drain a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operator {
    /// What people call it.
    pub name: &'static str,
    /// API groups of the kinds it owns budgets by.
    groups: &'static [&'static str],
    /// Label keys (on the budget or in its selector) that only it uses; a trailing `/` or `-` stands for a prefix.
    labels: &'static [&'static str],
    /// `key=value` pairs in the budget's selector that only it uses.
    selects: &'static [(&'static str, &'static str)],
    /// Where its source says so, as a module or repository and a path in it.
    pub source: &'static str,
    /// What it does with the budget, as a sentence of which it is the subject.
    pub does: &'static str,
    /// What to do where the budget refuses, as a request.
    pub way: &'static str,
}

/// The first that recognises a budget is its operator. Every row is held against the file that it names.
const OPERATORS: &[Operator] = &[
    Operator {
        name: "CloudNativePG",
        groups: &["postgresql.cnpg.io"],
        labels: &["cnpg.io/"],
        selects: &[],
        source: "cloudnative-pg: internal/controller/replicas.go at 00da6b3c (triggerSwitchoverToSchedulableNodes), cluster_create.go \
                 (reconcilePodDisruptionBudget)",
        does: "it makes another instance the primary once the primary's node is cordoned, where all instances are Ready and the \
               others are on nodes that are not cordoned",
        way: "cordon the node and wait until CloudNativePG has made another instance the primary; for a Cluster of one instance set \
              spec.nodeMaintenanceWindow.inProgress: true, with which the operator deletes the budget, for as long as the node is \
              drained",
    },
    Operator {
        name: "Longhorn",
        groups: &["longhorn.io"],
        labels: &["longhorn.io/"],
        selects: &[],
        source: "longhorn-manager: controller/instance_manager_controller.go (canDeleteInstanceManagerPDB)",
        does: "it deletes the budget once the node is cordoned, all volumes are detached from the node, and the replicas on it are as \
               its setting node-drain-policy demands",
        way: "keep the drain running: Longhorn deletes the budget once the pods that use its volumes are evicted and, by the default \
              node-drain-policy, every volume with a replica on the node has a healthy one on another node that is not cordoned (kubectl \
              get replicas.longhorn.io shows them)",
    },
    Operator {
        name: "Rook-Ceph",
        groups: &[],
        labels: &["topology-location-"],
        selects: &[],
        source: "rook: pkg/operator/ceph/disruption/clusterdisruption/osd.go at 00457d2d (handleActiveDrains)",
        does: "it holds every eviction in this failure domain for as long as another failure domain is down and the data is not whole \
               again, and then deletes the budget",
        way: "bring the OSDs of the other failure domain back and wait until all placement groups are active+clean (ceph status): Rook \
              then deletes the budget",
    },
    Operator {
        name: "Rook-Ceph",
        groups: &[],
        labels: &[],
        selects: &[("app", "rook-ceph-osd")],
        source: "rook: pkg/operator/ceph/disruption/clusterdisruption/osd.go at 00457d2d (reconcilePDBsForOSDs)",
        does: "once an OSD is down it lets all OSDs of that failure domain be evicted, and holds those of all others until the data is \
               whole again",
        way: "drain the nodes of one failure domain at a time, and wait between them until all placement groups are active+clean (ceph \
              status)",
    },
    Operator {
        name: "Rook-Ceph",
        groups: &["ceph.rook.io"],
        labels: &[],
        selects: &[("app", "rook-ceph-mon"), ("app", "rook-ceph-mds"), ("app", "rook-ceph-rgw")],
        source: "rook: pkg/operator/ceph/disruption/clusterdisruption/mon.go (reconcileMonPDB)",
        does: "it makes the rule from the counts in its resource (CephCluster, CephFilesystem, CephObjectStore)",
        way: "drain one node at a time, and wait until ceph status is HEALTH_OK before the next one",
    },
    Operator {
        name: "Strimzi",
        groups: &["kafka.strimzi.io", "core.strimzi.io"],
        labels: &["strimzi.io/"],
        selects: &[],
        source: "strimzi-kafka-operator: cluster/model/PodDisruptionBudgetUtils.java; drain-cleaner: ValidatingWebhook.java",
        does: "it keeps minAvailable at the number of its pods less template.podDisruptionBudget.maxUnavailable (1 by default); with \
               the Strimzi Drain Cleaner installed it restarts an evicted pod itself, once no partition would be under its minimum of \
               in-sync replicas",
        way: "cordon the node and annotate its pods with strimzi.io/manual-rolling-update=true: the operator restarts them one by one; \
              the Strimzi Drain Cleaner does that for every eviction",
    },
    Operator {
        name: "Elastic Cloud on Kubernetes",
        groups: &["elasticsearch.k8s.elastic.co"],
        labels: &["elasticsearch.k8s.elastic.co/", "common.k8s.elastic.co/"],
        selects: &[],
        source: "cloud-on-k8s v3: pkg/controller/elasticsearch/pdb/reconcile_default.go at 131af37c (allowedDisruptionsForSinglePDB)",
        does: "it allows 1 disruption while the Elasticsearch cluster is green (with an Enterprise licence: yellow for all but data \
               nodes), and none where there is only one master, data or ingest node among several nodes",
        way: "wait until the Elasticsearch cluster is green (kubectl get elasticsearch); where there is only one node of a role, raise \
              its count, or set spec.podDisruptionBudget on the Elasticsearch resource",
    },
    Operator {
        name: "Zalando Postgres Operator",
        groups: &["acid.zalan.do"],
        labels: &[],
        selects: &[("application", "spilo")],
        source: "postgres-operator: pkg/controller/node.go at 0143a470 (nodeIsReady, moveMasterPodsOffNode)",
        does: "it moves masters off a cordoned node only where its setting node_readiness_label names a label, and that label is \
               taken from the node; by default it moves none",
        way: "switch over first: patronictl switchover in a pod of the cluster; for a single instance raise spec.numberOfInstances, or \
              set enable_pod_disruption_budget: false in the operator's configuration for as long as the node is drained",
    },
    Operator {
        name: "KubeVirt",
        groups: &["kubevirt.io"],
        labels: &["kubevirt.io/"],
        selects: &[],
        source: "kubevirt: pkg/virt-api/webhooks/validating-webhook/admitters/pod-eviction-admitter.go, \
                 pkg/virt-controller/watch/drain/disruptionbudget/disruptionbudget.go",
        does: "it answers the eviction by a live migration of the virtual machine, where the virtual machine is LiveMigratable; one that \
               cannot migrate is refused",
        way: "keep the drain running while KubeVirt migrates the virtual machine; one that cannot migrate has to be stopped first \
              (virtctl stop)",
    },
    Operator {
        name: "Percona Operator for MongoDB",
        groups: &["psmdb.percona.com"],
        labels: &[],
        selects: &[],
        source: "percona-server-mongodb-operator: pkg/psmdb/pdb.go at 0ff99aea (PodDisruptionBudget)",
        does: "it reads the rule from podDisruptionBudget of the PerconaServerMongoDB resource, for each replica set",
        way: "drain one node at a time; another rule is set as podDisruptionBudget of the replica set in the PerconaServerMongoDB resource",
    },
    Operator {
        name: "Percona XtraDB Cluster Operator",
        groups: &["pxc.percona.com"],
        labels: &[],
        selects: &[],
        source: "percona-xtradb-cluster-operator: pkg/pxc/pdb.go (PodDisruptionBudget)",
        does: "it reads the rule from podDisruptionBudget of the PerconaXtraDBCluster resource, for each component",
        way: "drain one node at a time; another rule is set as podDisruptionBudget of the component in the PerconaXtraDBCluster resource",
    },
    Operator {
        name: "Vitess Operator",
        groups: &["planetscale.com"],
        labels: &["planetscale.com/"],
        selects: &[],
        source: "vitess-operator: pkg/operator/etcd/pdb.go, pkg/operator/drain/drain.go at 82fdfc8b",
        does: "it makes budgets for its etcd clusters alone; a tablet's primary is moved where its pod has the annotation \
               drain.planetscale.com/started",
        way: "drain one node at a time, and wait until all members of etcd are Ready; annotate each tablet with \
              drain.planetscale.com/started and wait for drain.planetscale.com/finished first",
    },
    Operator {
        name: "ScyllaDB Operator",
        groups: &["scylla.scylladb.com"],
        labels: &["scylla/"],
        selects: &[],
        source: "scylla-operator: pkg/controller/scylladbdatacenter/resource.go (MakePodDisruptionBudget)",
        does: "it keeps maxUnavailable 1 for the members of each datacenter",
        way: "drain one node at a time, and wait until all members of the datacenter are Ready",
    },
    Operator {
        name: "Argo Workflows",
        groups: &[],
        labels: &["workflows.argoproj.io/workflow"],
        selects: &[],
        source: "argo-workflows: workflow/controller/operator.go (createPDBResource, deletePDBResource)",
        does: "it makes the budget with the workflow and deletes it once the workflow has ended",
        way: "wait until the Workflow has ended (kubectl get workflow): a pod that has ended is evicted whatever its budget allows, \
              and the budget is deleted; or stop the Workflow (argo stop)",
    },
    Operator {
        name: "Portworx",
        groups: &["core.libopenstorage.org"],
        labels: &[],
        selects: &[("name", "portworx")],
        source: "libopenstorage/operator: drivers/storage/portworx/component/disruption_budget.go at 0b6cd891",
        does: "it keeps minAvailable one below the number of storage nodes (px-storage) and of key-value members (px-kvdb), so that both \
               keep their quorum; where several nodes can be upgraded at once it makes a budget for each node (px-NODE) instead",
        way: "drain one node at a time, and wait until its Portworx pod is Ready again",
    },
];

/// The operator that makes a budget, where one is recognised.
pub fn operator(budget: &Budget) -> Option<&'static Operator> {
    let owner_groups = || budget.meta.controller.iter().chain(&budget.meta.owner).map(|o| &*o.group);
    let keys =
        || budget.meta.labels.iter().map(|(k, _)| &**k).chain(budget.selector.requirements().iter().map(|r| &*r.key));
    OPERATORS.iter().find(|o| {
        owner_groups().any(|g| o.groups.contains(&g))
            || keys().any(|k| o.labels.iter().any(|l| if l.ends_with(['/', '-']) { k.starts_with(l) } else { k == *l }))
            || budget
                .selector
                .requirements()
                .iter()
                .any(|r| o.selects.iter().any(|(k, v)| *r.key == **k && matches!(&r.values[..], [one] if **one == **v)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{budget, cluster};
    use serde_json::json;

    /// What each operator's source puts on the budgets that it makes.
    #[test]
    fn an_operator_is_known_by_what_it_puts_on_its_budgets() {
        let owner = |api: &str, kind: &str| json!({"ownerReferences": [{"apiVersion": api, "kind": kind, "name": "x", "uid": "u", "controller": true}]});
        let none = || json!({});
        let labels = |key: &str| json!({"labels": {key: "x"}});
        for (meta, selector, want) in [
            (owner("postgresql.cnpg.io/v1", "Cluster"), "a=b", Some("CloudNativePG: it makes another")),
            (none(), "cnpg.io/cluster=pg,cnpg.io/instanceRole=primary", Some("CloudNativePG: it makes another")),
            (none(), "longhorn.io/component=instance-manager,longhorn.io/node=n1", Some("Longhorn: it deletes")),
            (owner("ceph.rook.io/v1", "CephCluster"), "app=rook-ceph-osd", Some("Rook-Ceph: once an OSD is down")),
            (
                owner("ceph.rook.io/v1", "CephCluster"),
                "topology-location-host=n1",
                Some("Rook-Ceph: it holds every eviction"),
            ),
            (owner("ceph.rook.io/v1", "CephCluster"), "app=rook-ceph-mon", Some("Rook-Ceph: it makes the rule")),
            (none(), "app=rook-ceph-mon", Some("Rook-Ceph: it makes the rule")),
            (owner("kafka.strimzi.io/v1beta2", "Kafka"), "a=b", Some("Strimzi: it keeps minAvailable")),
            (none(), "strimzi.io/cluster=k,strimzi.io/name=k-kafka", Some("Strimzi: it keeps minAvailable")),
            (
                owner("elasticsearch.k8s.elastic.co/v1", "Elasticsearch"),
                "a=b",
                Some("Elastic Cloud on Kubernetes: it allows 1"),
            ),
            (none(), "elasticsearch.k8s.elastic.co/cluster-name=es", Some("Elastic Cloud on Kubernetes: it allows 1")),
            (
                none(),
                "application=spilo,cluster-name=pg,spilo-role=master",
                Some("Zalando Postgres Operator: it moves masters"),
            ),
            (
                owner("kubevirt.io/v1", "VirtualMachineInstance"),
                "kubevirt.io/created-by=u",
                Some("KubeVirt: it answers"),
            ),
            (
                owner("psmdb.percona.com/v1", "PerconaServerMongoDB"),
                "a=b",
                Some("Percona Operator for MongoDB: it reads"),
            ),
            (
                owner("pxc.percona.com/v1", "PerconaXtraDBCluster"),
                "a=b",
                Some("Percona XtraDB Cluster Operator: it reads"),
            ),
            (
                none(),
                "planetscale.com/cluster=vt,planetscale.com/component=etcd",
                Some("Vitess Operator: it makes budgets"),
            ),
            (
                owner("scylla.scylladb.com/v1alpha1", "ScyllaDBDatacenter"),
                "scylla/cluster=s",
                Some("ScyllaDB Operator: it keeps"),
            ),
            (labels("workflows.argoproj.io/workflow"), "a=b", Some("Argo Workflows: it makes")),
            (owner("argoproj.io/v1alpha1", "Rollout"), "a=b", None),
            (owner("core.libopenstorage.org/v1", "StorageCluster"), "name=px", Some("Portworx: it keeps")),
            // No source that was read makes a budget for these: whoever owns such a budget is told as an owner alone.
            (owner("mongodbcommunity.mongodb.com/v1", "MongoDBCommunity"), "a=b", None),
            (owner("rabbitmq.com/v1beta1", "RabbitmqCluster"), "app.kubernetes.io/name=mq", None),
            (labels("app.kubernetes.io/managed-by"), "app=web", None),
            (none(), "app=osd", None),
            (none(), "application=web", None),
        ] {
            let b = budget("a/b").selects(selector).allows(0).min_available(1).with(json!({"metadata": meta}));
            let snapshot = cluster().add(b).snapshot();
            let known = operator(&snapshot.budgets[0]).map(|o| format!("{}: {}", o.name, o.does));
            let right = match (&known, want) {
                (Some(known), Some(want)) => known.starts_with(want),
                (None, None) => true,
                _ => false,
            };
            assert!(right, "{meta} {selector}: {known:?} rather than {want:?}");
        }
    }

    #[test]
    fn every_row_names_its_source_and_reads_as_a_sentence() {
        for o in OPERATORS {
            assert!(o.source.contains(": ") && o.source.contains('.'), "{}: {}", o.name, o.source);
            assert!(o.does.starts_with("it ") || o.does.starts_with("once "), "{}: {}", o.name, o.does);
            assert!(!o.way.ends_with('.') && !o.does.ends_with('.'), "{}", o.name);
        }
    }
}
