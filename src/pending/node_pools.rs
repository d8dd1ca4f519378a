//! Whether Karpenter could add a node for a pod, as far as its NodePools tell. Mirrors `pkg/controllers/provisioning` and
//! `pkg/scheduling` of `sigs.k8s.io/karpenter` (`NewScheduler`, `Requirements.Compatible`, `VolumeTopology`).
//!
//! Instance types belong to the provider and are not in the API: the answer is "could" and never more. NodeClasses are
//! not read, and `startupTaints` and `minValues` keep no pod away. What Cluster Autoscaler could add stands in no object
//! at all; it speaks in events ([`autoscaler`](super::autoscaler)).

use super::amounts;
use super::facts::{Facts, some};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::sched::filters::claims::{self, Claims};
use crate::sched::filters::taint_toleration::tolerates;
use crate::sched::resources::{Of, Sums, requests};
use crate::snapshot::intern::Interner;
use crate::snapshot::node::Taint;
use crate::snapshot::object::Object;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::selector::{NodeSelector, NodeTerm, Operator, Requirement, topology_terms};
use crate::snapshot::{Snapshot, Str};
use crate::wire::operators::NodePool;
use std::sync::Arc;

/// What NodePools could do for a pod that no node takes. Nothing is said where Karpenter would not look at the pod: it
/// belongs to a DaemonSet, preemption makes room for it, or its claims keep the scheduler from looking at nodes.
pub fn finding(f: &Facts<'_>) -> Option<Finding> {
    let pod = f.pod();
    let by_daemon = pod.meta.controller.as_ref().is_some_and(|o| &*o.kind == "DaemonSet");
    let preempts = f.preemption.chosen.is_some() || pod.status.nominated_node.is_some();
    if by_daemon || preempts || f.diagnosis.rejection.is_some() {
        return None;
    }
    let offers = offers(pod, f.snapshot());
    let refs = || offers.iter().map(|o| Ref::new("karpenter.sh/v1", "NodePool", "", &o.pool));
    let refusals = some(offers.iter().filter_map(|o| Some(format!("{}: {}", o.pool, o.answer.as_ref().err()?))));
    let possible: Vec<String> = offers.iter().filter_map(|o| Some(named(&o.pool, o.answer.as_ref().ok()?))).collect();
    if offers.is_empty() {
        return None;
    }
    if possible.is_empty() {
        let message = format!("no NodePool of Karpenter could give it a node: {refusals}");
        return Some(Finding::new(Code::NodePool, message).about(refs()).severity(Severity::Warning));
    }
    let asks = amounts::resources(pod);
    let asks = if asks.is_empty() { String::new() } else { format!(" for {}", asks.join(", ")) };
    let refused = if refusals.is_empty() { String::new() } else { format!("; not from {refusals}") };
    let spec = &pod.spec;
    let spread = spec.topology_spread.iter().any(|c| c.required);
    let others = if spread || !spec.pod_affinity.is_empty() || !spec.pod_anti_affinity.is_empty() {
        "; its rules about other pods are not judged here"
    } else {
        ""
    };
    let message = format!(
        "Karpenter could add a node for it from NodePool {}, if that has an instance type large enough{asks}{refused}{others}",
        possible.join(", else ")
    );
    Some(Finding::new(Code::NodePool, message).about(refs()))
}

fn named(pool: &str, conditions: &[String]) -> String {
    if conditions.is_empty() { pool.to_owned() } else { format!("{pool} (given {})", conditions.join(" and ")) }
}

/// What one NodePool could do for a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The NodePool.
    pub pool: Str,
    /// Why it cannot add a node that would take the pod; or what else an instance type must have beside the size.
    pub answer: Result<Vec<String>, String>,
}

/// What each NodePool could do for a pod, in the order in which Karpenter tries them: by weight, then by name.
pub fn offers(pod: &Pod, snapshot: &Snapshot) -> Vec<Offer> {
    let mut pools: Vec<&Arc<Object<NodePool>>> = snapshot.node_pools.iter().collect();
    let weight = |pool: &NodePool| pool.spec.weight.unwrap_or(0);
    pools.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.meta.name.cmp(&b.meta.name)));
    if pools.is_empty() {
        return Vec::new();
    }
    let asked = Asked::of(pod, snapshot);
    pools.into_iter().map(|c| Offer { pool: c.meta.name.clone(), answer: answer(c, &asked) }).collect()
}

/// What a pod asks of a node that does not exist yet.
struct Asked<'a> {
    pod: &'a Pod,
    requests: Sums,
    /// By its node selector, and by where its volumes can be reached.
    always: Vec<Requirement>,
    /// By its node affinity: one of these terms.
    terms: Option<&'a [NodeTerm]>,
}

impl<'a> Asked<'a> {
    fn of(pod: &'a Pod, snapshot: &Snapshot) -> Self {
        let selector = pod.spec.node_selector.iter().map(|(k, v)| Requirement::equals(k.clone(), v.clone()));
        let claims = Claims::of(pod, snapshot);
        let reachable = claims
            .bound
            .iter()
            .filter_map(|c| claims::reachable_from(snapshot.persistent_volumes.named("", claims::volume_name(c))?));
        let made = claims.delayed.iter().filter_map(|c| {
            Some(topology_terms(&claims::class(c, snapshot)?.allowed_topologies, &mut Interner::default()))
        });
        // Of a volume's alternatives Karpenter takes the first.
        let first = |s: NodeSelector| s.0.first().map(|t| t.labels.to_vec()).unwrap_or_default();
        Self {
            pod,
            requests: requests(pod, Of::Incoming, snapshot.minor()),
            always: selector.chain(reachable.chain(made).flat_map(first)).collect(),
            terms: pod.spec.node_affinity.as_ref().map(|a| &*a.0),
        }
    }
}

fn answer(pool: &Object<NodePool>, asked: &Asked<'_>) -> Result<Vec<String>, String> {
    usable(pool)?;
    let mut i = Interner::default();
    let mut taints = pool.spec.template.spec.taints.iter().map(|t| Taint::read(t, &mut i));
    if let Some(taint) = taints.find(|t| keeps_away(asked.pod, t)) {
        return Err(format!("the pod does not tolerate its taint {taint}"));
    }
    limits(pool, &asked.requests)?;
    let offered = Offered::read(pool);
    let mut conditions: Vec<String> =
        offered.unread.iter().map(|key| format!("its requirement on {key} allows it")).collect();
    let with = |term: &[Requirement]| compatible(&offered.requirements, asked.always.iter().chain(term));
    let Some(terms) = asked.terms else {
        conditions.extend(with(&[])?);
        return Ok(conditions);
    };
    let mut why = Err("the pod's node affinity matches no node".to_owned());
    for term in terms.iter().filter(|t| !t.invalid) {
        if !term.fields.is_empty() {
            why = Err("the pod names its node".to_owned());
            continue;
        }
        match with(&term.labels) {
            Ok(more) => {
                conditions.extend(more);
                return Ok(conditions);
            }
            Err(words) => why = Err(words),
        }
    }
    why
}

/// Whether Karpenter looks at the pool at all.
fn usable(pool: &Object<NodePool>) -> Result<(), String> {
    if pool.meta.is_terminating() {
        return Err("it is being deleted".to_owned());
    }
    if pool.spec.replicas.is_some() {
        return Err("it has a fixed number of nodes (spec.replicas)".to_owned());
    }
    match pool.status.conditions.iter().find(|c| c.type_ == "Ready") {
        Some(c) if c.status != "True" && c.message.is_empty() => Err("it is not Ready".to_owned()),
        Some(c) if c.status != "True" => Err(format!("it is not Ready ({})", c.message)),
        _ => Ok(()),
    }
}

fn keeps_away(pod: &Pod, t: &Taint) -> bool {
    matches!(&*t.effect, "NoSchedule" | "NoExecute") && !tolerates(pod, &t.key, &t.value, &t.effect)
}

/// Whether the pool may grow by a node that has room for the pod.
fn limits(pool: &NodePool, requests: &Sums) -> Result<(), String> {
    for (name, limit) in &pool.spec.limits {
        let limit = limit.value;
        let used = pool.status.resources.get(name).map(|q| q.value).unwrap_or_default();
        let asked = requests.get(name).unwrap_or_default();
        let least = match &**name {
            "nodes" | "pods" => Quantity::units(1),
            // There is no node without any.
            "cpu" | "memory" | "ephemeral-storage" => asked.max(Quantity::milli(1)),
            _ => asked,
        };
        if used + least > limit && least > Quantity::ZERO {
            let more = if asked > Quantity::ZERO { format!(", and the pod asks {asked}") } else { String::new() };
            return Err(format!("its limit leaves too little {name}: {used} of {limit} used{more}"));
        }
    }
    Ok(())
}

/// What labels a pool's nodes have.
struct Offered {
    requirements: Vec<Requirement>,
    /// Keys of requirements whose operator is not known here.
    unread: Vec<String>,
}

impl Offered {
    fn read(pool: &Object<NodePool>) -> Self {
        let mut i = Interner::default();
        let mut offered = Self {
            requirements: vec![Requirement::equals("karpenter.sh/nodepool".into(), pool.meta.name.clone())],
            unread: Vec::new(),
        };
        let template = &pool.spec.template;
        let labels = template.metadata.labels.iter();
        offered.requirements.extend(labels.map(|(k, v)| Requirement::equals(k.as_str().into(), v.as_str().into())));
        for r in &template.spec.requirements {
            match Requirement::read(&r.key, &r.operator, &r.values, &mut i) {
                Some(requirement) => offered.requirements.push(requirement),
                None => offered.unread.push(r.key.clone()),
            }
        }
        offered
    }
}

const HOSTNAME: &str = "kubernetes.io/hostname";

/// Older and drivers' own names of labels, which Karpenter takes for the present ones.
const ALIASES: &[(&str, &str)] = &[
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ("topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"),
    ("topology.disk.csi.azure.com/zone", "topology.kubernetes.io/zone"),
    ("topology.gke.io/zone", "topology.kubernetes.io/zone"),
];

fn present(key: &str) -> &str {
    ALIASES.iter().find(|(old, _)| *old == key).map_or(key, |(_, new)| new)
}

/// Whether a label comes from the instance type, and so may be had without the pool's naming it.
fn is_of_instances(key: &str) -> bool {
    const KEYS: [&str; 7] = [
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "node.kubernetes.io/windows-build",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "karpenter.sh/capacity-type",
    ];
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    // Providers' own labels: karpenter.k8s.aws, karpenter.azure.com, eks.amazonaws.com, topology.k8s.aws ….
    let provider = domain != "karpenter.sh" && (domain.starts_with("karpenter.") || domain.ends_with(".k8s.aws"));
    KEYS.contains(&key) || provider || domain == "eks.amazonaws.com"
}

/// Whether a node with the labels that a pool offers could meet all that is asked: what is left to the instance type, or
/// what does not go together. Mirrors `Requirements.Compatible` with well-known labels left open.
fn compatible<'a>(
    offered: &[Requirement],
    asked: impl Iterator<Item = &'a Requirement>,
) -> Result<Vec<String>, String> {
    let asked: Vec<&Requirement> = asked.collect();
    let mut open = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for key in asked.iter().map(|r| present(&r.key)) {
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let mine: Vec<&Requirement> = asked.iter().copied().filter(|r| present(&r.key) == key).collect();
        let theirs: Vec<&Requirement> = offered.iter().filter(|r| present(&r.key) == key).collect();
        let words = |all: &[&Requirement]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        if key == HOSTNAME {
            // A new node has a name that nobody has asked for.
            if !mine.iter().all(|r| r.accepts(Some(""))) {
                return Err(format!("the pod must run where {}, and a new node has another name", words(&mine)));
            }
        } else if theirs.is_empty() {
            if mine.iter().all(|r| r.accepts(None)) {
                continue;
            }
            if !is_of_instances(key) || !possible(&mine) {
                return Err(format!("the pod requires {}, and its nodes have no such label", words(&mine)));
            }
            open.push(words(&mine));
        } else if !possible(&theirs.iter().chain(&mine).copied().collect::<Vec<_>>()) {
            return Err(format!("its nodes have {}, and the pod requires {}", words(&theirs), words(&mine)));
        }
    }
    Ok(open)
}

/// Whether some value of one label, or its absence, meets all requirements.
fn possible(all: &[&Requirement]) -> bool {
    let holds = |value: Option<&str>| all.iter().all(|r| r.accepts(value));
    let of = |operator: Operator| all.iter().filter(move |r| r.operator == operator);
    if holds(None) {
        return true;
    }
    if let Some(list) = of(Operator::In).next() {
        return list.values.iter().any(|v| holds(Some(v)));
    }
    if of(Operator::DoesNotExist).next().is_some() {
        return false;
    }
    let limits = |operator| of(operator).filter_map(|r| r.values.first()?.parse::<i64>().ok());
    let (above, below) = (limits(Operator::Gt).max(), limits(Operator::Lt).min());
    // Among more integers than NotIn lists, one is free.
    let tries = 0..=of(Operator::NotIn).map(|r| r.values.len()).sum::<usize>();
    let mut tries = tries.filter_map(|n| i64::try_from(n).ok());
    match (above, below) {
        (None, None) => true,
        (Some(above), _) => tries.any(|n| holds(Some(&above.saturating_add(1).saturating_add(n).to_string()))),
        (None, Some(below)) => tries.any(|n| holds(Some(&below.saturating_sub(1).saturating_sub(n).to_string()))),
    }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use super::*;
    use crate::sched::testing::{cluster, find, merged, pod};
    use serde_json::{Value, json};

    /// A NodePool named `pool` that is Ready, merged with `spec`.
    fn pool(spec: &Value) -> Value {
        let base = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "pool"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        merged(base, json!({"spec": spec}))
    }

    fn requiring(requirements: &Value) -> Value {
        pool(&json!({"template": {"spec": {"requirements": requirements}}}))
    }

    fn answer_to(objects: &[Value], spec: Value) -> Result<Vec<String>, String> {
        let p = pod("p", json!({"spec": spec}));
        let snapshot = cluster(&[objects, &[p]].concat());
        offers(&find(&snapshot, "p"), &snapshot).remove(0).answer
    }

    /// A node affinity of terms, each of one requirement.
    fn affinity(terms: &[(&str, &str, &[&str])]) -> Value {
        let term = |(key, operator, values): &(&str, &str, &[&str])| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        let terms: Vec<Value> = terms.iter().map(term).collect();
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
    }

    #[test]
    fn labels_are_compared_as_karpenter_does() {
        // After Karpenter's tables of compatibility: rows are what the pool requires of `key` (`-`: nothing), columns what the
        // pod requires, each with whether a node could be had; first for a label of the pool's own, then for one that
        // instance types bring.
        const OPERATORS: [(&str, &[&str]); 9] = [
            ("-", &[]),
            ("Exists", &[]),
            ("DoesNotExist", &[]),
            ("In", &["A"]),
            ("In", &["B"]),
            ("NotIn", &["A"]),
            ("In", &["1"]),
            ("Gt", &["1"]),
            ("Lt", &["1"]),
        ];
        const OWN: [&str; 9] = [
            "y n y n n y n n n", // -
            "y y n y y y y y y", // Exists
            "y n y n n y n n n", // DoesNotExist
            "y y n y n n n n n", // In A
            "y y n n y y n n n", // In B
            "y y y n y y y y y", // NotIn A
            "y y n n n y y n n", // In 1
            "y y n n n y n y n", // Gt 1
            "y y n n n y n n y", // Lt 1
        ];
        for (key, first) in [("example.com/x", OWN[0]), ("topology.kubernetes.io/zone", "y y y y y y y y y")] {
            for (row, (operator, values)) in std::iter::once(first).chain(OWN[1..].iter().copied()).zip(OPERATORS) {
                let requirements = match operator {
                    "-" => json!([]),
                    _ => json!([{"key": key, "operator": operator, "values": values}]),
                };
                for (want, (asked, listed)) in row.split(' ').zip(OPERATORS) {
                    let spec = if asked == "-" { json!({}) } else { affinity(&[(key, asked, listed)]) };
                    let got = answer_to(&[requiring(&requirements)], spec);
                    assert_eq!(got.is_ok(), want == "y", "{key}: {operator} {values:?}, {asked} {listed:?}: {got:?}");
                }
            }
        }
    }

    #[test]
    fn what_a_new_node_would_have_decides() {
        let arch = |value: &str| json!([{"key": "kubernetes.io/arch", "operator": "In", "values": [value]}]);
        let zone = json!([{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]);
        let labels = json!({"template": {"metadata": {"labels": {"team": "web"}}}});
        let select = |key: &str, value: &str| json!({"nodeSelector": {key: value}});
        let open = |words: &str| Ok(vec![words.to_owned()]);
        for (title, pool, spec, want) in [
            ("nothing is asked", pool(&json!({})), json!({}), Ok(vec![])),
            ("its label", pool(&labels), select("team", "web"), Ok(vec![])),
            (
                "another value of its label",
                pool(&labels),
                select("team", "db"),
                Err("its nodes have team=web, and the pod requires team=db"),
            ),
            (
                "a label it has not",
                pool(&labels),
                select("disk", "ssd"),
                Err("the pod requires disk=ssd, and its nodes have no such label"),
            ),
            ("its own name", pool(&json!({})), select("karpenter.sh/nodepool", "pool"), Ok(vec![])),
            (
                "another pool's name",
                pool(&json!({})),
                select("karpenter.sh/nodepool", "other"),
                Err("its nodes have karpenter.sh/nodepool=pool, and the pod requires karpenter.sh/nodepool=other"),
            ),
            (
                "an older name of a label",
                requiring(&arch("arm64")),
                select("beta.kubernetes.io/arch", "amd64"),
                Err("its nodes have kubernetes.io/arch=arm64, and the pod requires beta.kubernetes.io/arch=amd64"),
            ),
            (
                "left to the instance type",
                requiring(&zone),
                select("karpenter.k8s.aws/instance-category", "g"),
                open("karpenter.k8s.aws/instance-category=g"),
            ),
            (
                "a node by its name",
                pool(&json!({})),
                select("kubernetes.io/hostname", "n1"),
                Err("the pod must run where kubernetes.io/hostname=n1, and a new node has another name"),
            ),
            (
                "an operator that is not known here",
                requiring(&json!([{"key": "cpus", "operator": "Gte", "values": ["4"]}])),
                json!({}),
                open("its requirement on cpus allows it"),
            ),
            (
                "the second alternative",
                requiring(&zone),
                affinity(&[
                    ("topology.kubernetes.io/zone", "In", &["b"]),
                    ("topology.kubernetes.io/zone", "In", &["a"]),
                ]),
                Ok(vec![]),
            ),
        ] {
            assert_eq!(answer_to(&[pool], spec), want.map_err(str::to_owned), "{title}");
        }
    }

    #[test]
    fn taints_and_limits_decide() {
        let taint = |effect: &str| json!([{"key": "gpu", "value": "yes", "effect": effect}]);
        let tainted = |list: &str, effect: &str| pool(&json!({"template": {"spec": {list: taint(effect)}}}));
        let limited = |limits: Value, used: Value| {
            merged(pool(&json!({"limits": limits})), json!({"status": {"resources": used}}))
        };
        let tolerating = json!({"tolerations": [{"key": "gpu", "operator": "Exists"}]});
        let refused = Err("the pod does not tolerate its taint gpu=yes:NoSchedule");
        // The pod asks 1 cpu.
        for (title, pool, spec, want) in [
            ("a taint", tainted("taints", "NoSchedule"), json!({}), refused),
            ("a taint that is tolerated", tainted("taints", "NoSchedule"), tolerating, Ok(())),
            ("a taint that is a wish", tainted("taints", "PreferNoSchedule"), json!({}), Ok(())),
            ("a taint for the start alone", tainted("startupTaints", "NoSchedule"), json!({}), Ok(())),
            ("room is left", limited(json!({"cpu": 10}), json!({"cpu": "9"})), json!({}), Ok(())),
            (
                "too little is left",
                limited(json!({"cpu": "10"}), json!({"cpu": "9500m"})),
                json!({}),
                Err("its limit leaves too little cpu: 9500m of 10 used, and the pod asks 1"),
            ),
            (
                "nothing is left of what every node has",
                limited(json!({"memory": "8Gi"}), json!({"memory": "8Gi"})),
                json!({}),
                Err("its limit leaves too little memory: 8Gi of 8Gi used"),
            ),
            (
                "nothing is left of what few nodes have",
                limited(json!({"example.com/gpu": 0}), json!({})),
                json!({}),
                Ok(()),
            ),
            (
                "as many nodes as it may have",
                limited(json!({"nodes": 2}), json!({"nodes": "2"})),
                json!({}),
                Err("its limit leaves too little nodes: 2 of 2 used"),
            ),
            ("no use is reported", limited(json!({"cpu": "10"}), json!({})), json!({}), Ok(())),
        ] {
            assert_eq!(answer_to(&[pool], spec).map(|_| ()), want.map_err(str::to_owned), "{title}");
        }
    }

    #[test]
    fn pools_that_karpenter_does_not_look_at() {
        let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "False", "message": "no class"}]}});
        let deleted = json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z"}});
        for (more, want) in [
            (unready, "it is not Ready (no class)"),
            (deleted, "it is being deleted"),
            (json!({"spec": {"replicas": 3}}), "it has a fixed number of nodes (spec.replicas)"),
        ] {
            assert_eq!(answer_to(&[merged(pool(&json!({})), more)], json!({})), Err(want.to_owned()));
        }
    }

    #[test]
    fn a_volume_says_where_a_node_must_be() {
        let zone = json!([{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]);
        let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "a"},
            "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}});
        let volume = |zone: &str| {
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
                "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions":
                    [{"key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": [zone]}]}]}}}})
        };
        let spec = || json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]});
        assert_eq!(answer_to(&[requiring(&zone), claim.clone(), volume("a")], spec()), Ok(vec![]));
        assert_eq!(
            answer_to(&[requiring(&zone), claim, volume("b")], spec()),
            Err("its nodes have topology.kubernetes.io/zone=a, and the pod requires topology.ebs.csi.aws.com/zone=b"
                .to_owned())
        );
    }

    #[test]
    fn the_heaviest_pool_is_tried_first() {
        let named =
            |name: &str, weight: Value| merged(pool(&json!({"weight": weight})), json!({"metadata": {"name": name}}));
        let pools = [named("b", Value::Null), named("c", json!(10)), named("a", json!(1)), named("d", json!(10))];
        let snapshot = cluster(&pools.into_iter().chain([pod("p", json!({}))]).collect::<Vec<_>>());
        let order: Vec<String> =
            offers(&find(&snapshot, "p"), &snapshot).into_iter().map(|o| o.pool.to_string()).collect();
        assert_eq!(order, ["c", "d", "a", "b"]);
    }
}
