//! `quorum`: the rule lets so many members of a store be evicted at once that those which remain are no majority. Such
//! stores (Raft, Paxos, Zab, voting replica sets) refuse writes without one.

use super::cause::Cause;
use crate::budget::arithmetic::value_in_words;
use crate::budget::context::BudgetContext;
use crate::budget::ideal::Share;
use crate::budget::numbers::desired;
use crate::finding::{Code, Ref};
use crate::snapshot::Map;
use crate::snapshot::pod::PodSpec;

/// Stores whose members decide by majority, by the names of their charts and images.
const STORES: &[&str] = &[
    "etcd",
    "zookeeper",
    "consul",
    "nats",
    "vault",
    "openbao",
    "rabbitmq",
    "mongodb",
    "mongo",
    "mongod",
    "cockroachdb",
    "cockroach",
    "tidb-pd",
    "rqlite",
    "dqlite",
    "mariadb-galera",
    "galera",
    "percona-xtradb-cluster",
    "pxc",
    "elasticsearch-master",
    "opensearch-master",
    "ceph-mon",
    "redpanda",
    "sentinel",
    "redis-sentinel",
    "clickhouse-keeper",
    "keeper",
];

/// Labels that say what runs in a pod.
const NAMES: &[&str] =
    &["app.kubernetes.io/name", "app.kubernetes.io/component", "app", "k8s-app", "name", "component"];

/// Of fewer members none can be missing without the quorum being lost: no rule helps.
const LEAST: i64 = 3;

pub(in crate::budget) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    // Over the members of one store alone it is known how many are kept.
    let [share] = &b.ideal.owners[..] else { return None };
    let (members, healthy) = (i64::from(share.scale), b.ideal.healthy);
    let majority = members / 2 + 1;
    let kept = i64::from(desired(&b.budget.rule, b.ideal.expected).ok()?).max(0);
    if b.budget.rule.value().is_none() || members < LEAST || healthy != members || kept >= majority {
        return None;
    }
    let store = store(b, share)?;
    let sum = value_in_words(&b.budget.rule, b.ideal.expected);
    let message = format!(
        "the {members} members of {store} need a majority of {majority} (quorum), and the budget keeps only {kept} of them \
         ({sum}): evictions can end the quorum"
    );
    Some(Cause::note(b.finding(Code::Quorum, message, []).about([Ref::workload(&share.owner)])))
}

/// The store that a workload runs, by the labels and images of its pods.
fn store(b: &BudgetContext<'_>, share: &Share) -> Option<&'static str> {
    let template = share.owner.template.as_ref().map(|t| (&t.meta.labels, &*t.spec));
    let pod = b.pods.first().map(|p| (&p.pod.meta.labels, &*p.pod.spec));
    let (labels, spec) = template.or(pod)?;
    STORES.iter().copied().find(|store| is_called(labels, store) || has_image(spec, store))
}

/// `etcd`, `etcd-main` and `shop-etcd` are called after etcd; `etcd-backup` would not have three members.
fn is_called(labels: &Map, store: &str) -> bool {
    let after = |name: &str| {
        name == store
            || name.strip_prefix(store).is_some_and(|rest| rest.starts_with('-'))
            || name.strip_suffix(store).is_some_and(|rest| rest.ends_with('-'))
    };
    NAMES.iter().filter_map(|key| labels.get(key)).any(|name| after(name))
}

/// `quay.io/coreos/etcd:v3.5` and `confluentinc/cp-zookeeper` are images of these stores; an exporter's is not.
fn has_image(spec: &PodSpec, store: &str) -> bool {
    let last = |image: &str| {
        let path = image.split('@').next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        name.split(':').next().unwrap_or_default().to_owned()
    };
    let is_store = |name: &str| name == store || name.strip_suffix(store).is_some_and(|rest| rest.ends_with('-'));
    spec.containers.iter().any(|c| is_store(&last(&c.image)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{Cluster, budget, cluster, deployment, stateful_set};
    use serde_json::{Value, json};

    #[test]
    fn fewer_than_a_majority_is_no_quorum() {
        let set = |members: usize, labels: Value, image: &str| {
            let template =
                json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}});
            stateful_set("a/db").on(&vec!["n"; members]).spec(json!({"template": template}))
        };
        let with = |rule: Value, members: usize, image: &str| -> Cluster {
            cluster().add(budget("a/b").selects("app=db").spec(rule)).add(set(members, json!({"app": "db"}), image))
        };
        let says = |store: &str, members: i32, majority: i32, kept: i32, sum: &str| {
            format!(
                "the {members} members of {store} need a majority of {majority} (quorum), and the budget keeps only {kept} of \
                 them ({sum}): evictions can end the quorum"
            )
        };
        let etcd = "quay.io/coreos/etcd:v3.5.9";
        let five = says("etcd", 5, 3, 2, "minAvailable 2");
        let half = says("zookeeper", 3, 2, 1, "34% of 3 = 1.02, rounded up to 2");
        let four = says("consul", 4, 3, 2, "maxUnavailable 2");
        let named = says("rabbitmq", 3, 2, 1, "minAvailable 1");
        notes(
            find,
            vec![
                ("two of five", with(json!({"minAvailable": 2}), 5, etcd), Some(&*five)),
                ("three of five", with(json!({"minAvailable": 3}), 5, etcd), None),
                (
                    "a percentage, rounded up",
                    with(json!({"maxUnavailable": "34%"}), 3, "confluentinc/cp-zookeeper"),
                    Some(&*half),
                ),
                (
                    "one may be missing",
                    with(json!({"maxUnavailable": 1}), 3, "docker.io/library/zookeeper@sha256:0"),
                    None,
                ),
                (
                    "an even number has no better majority",
                    with(json!({"maxUnavailable": 2}), 4, "consul:1"),
                    Some(&*four),
                ),
                ("two members have none to spare", with(json!({"minAvailable": 0}), 2, etcd), None),
                ("an exporter is no member", with(json!({"minAvailable": 1}), 5, "prom/consul-exporter:1"), None),
                ("another application", with(json!({"minAvailable": 1}), 5, "nginx:1"), None),
                (
                    "by its label",
                    cluster().add(budget("a/b").selects("app=db").min_available(1)).add(set(
                        3,
                        json!({"app": "db", "app.kubernetes.io/name": "rabbitmq-orders"}),
                        "registry/mq:1",
                    )),
                    Some(&*named),
                ),
                (
                    "two workloads",
                    with(json!({"minAvailable": 1}), 5, etcd).add(
                        deployment("a/other")
                            .on(&["n"])
                            .spec(json!({"template": {"metadata": {"labels": {"app": "db"}}}})),
                    ),
                    None,
                ),
                ("no rule", with(json!({}), 5, etcd), None),
            ],
        );
    }
}
