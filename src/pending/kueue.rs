//! What Kueue says of a pod or a Job that it holds: from its Workload's conditions, and from the queues' quotas and usage.
//! After `apis/kueue/v1beta1` and `v1beta2` of kueue 0.17, `pkg/controller/core/workload_controller.go`, and
//! `fitsResourceQuota` of `pkg/scheduler/flavorassigner/flavorassigner.go`.

use super::context::Context;
use crate::cure::Remedy;
use crate::finding::Ref;
use crate::lists::{count, some};
use crate::snapshot::age::{age, duration_words};
use crate::snapshot::meta::Meta;
use crate::snapshot::object::Object;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Kind, Snapshot};
use crate::wire::kueue::{
    KueueAdmissionCheckState, KueueClusterQueue, KueueFlavorQuotas, KueueResourceQuota, KueueTopologyAssignment,
    KueueWorkload,
};
use crate::wire::meta::Condition;
use crate::wire::scalar;
use std::collections::BTreeMap;
use std::sync::Arc;

type Queued = Object<KueueWorkload>;

const GROUP: &str = "kueue.x-k8s.io";
const QUEUE: &str = "kueue.x-k8s.io/queue-name";
/// The gate that is taken off when a pod is admitted.
const ADMISSION_GATE: &str = "kueue.x-k8s.io/admission";
/// The gate that is taken off once the pod's place in the topology is known.
const TOPOLOGY_GATE: &str = "kueue.x-k8s.io/topology";

/// Why Kueue holds something.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// The cause, as the part of a sentence that follows a colon.
    pub text: String,
    /// The objects of Kueue that say so.
    pub objects: Vec<Ref>,
    /// What can be done.
    pub remedies: Vec<Remedy>,
    /// Why nothing has to be done.
    pub no_remedy: Option<String>,
}

/// Why Kueue holds a pod: `None` where no gate of it is left.
pub fn of_pod(pod: &Pod, cx: &Context<'_>) -> Option<Held> {
    let gates: Vec<&str> = pod.spec.scheduling_gates.iter().map(|g| &**g).filter(|g| g.starts_with(GROUP)).collect();
    if gates.is_empty() {
        return None;
    }
    let workload = workload_of_pod(pod, cx.snapshot);
    Some(Look { cx, meta: &pod.meta, workload }.held(Some((pod, &gates))))
}

/// Why Kueue holds a suspended workload: `None` where Kueue does not look after it.
pub fn of_workload(workload: &Workload, cx: &Context<'_>) -> Option<Held> {
    let above = cx.snapshot.top_controller_of(&workload.meta);
    let metas = || std::iter::once(&workload.meta).chain(above.map(|w| &w.meta));
    let found = metas().find_map(|m| controlled_by(m, cx.snapshot));
    if found.is_none() && !metas().any(|m| m.labels.has(QUEUE)) {
        return None;
    }
    Some(Look { cx, meta: &workload.meta, workload: found }.held(None))
}

/// The Workload that an object controls, or is one of the owners of.
fn controlled_by<'a>(owner: &Meta, snapshot: &'a Snapshot) -> Option<&'a Arc<Queued>> {
    let uid = owner.uid.as_ref()?;
    let owned = |w: &&Arc<Queued>| [&w.meta.controller, &w.meta.owner].into_iter().flatten().any(|o| o.uid == *uid);
    snapshot.kueue_workloads.in_namespace(owner.ns()).iter().find(owned)
}

/// The Workload of a pod: named by its annotation or its group, or controlled by the pod or an owner of it.
fn workload_of_pod<'a>(pod: &Pod, snapshot: &'a Snapshot) -> Option<&'a Arc<Queued>> {
    let meta = &pod.meta;
    let by_name = [
        meta.annotations.get("kueue.x-k8s.io/workload"),
        meta.labels.get("kueue.x-k8s.io/pod-group-name"),
        meta.labels.get("kueue.x-k8s.io/prebuilt-workload-name"),
    ];
    let named = by_name.into_iter().flatten().find_map(|n| snapshot.kueue_workloads.named(meta.ns(), n));
    named.or_else(|| controlled_by(meta, snapshot)).or_else(|| {
        let mut at = snapshot.controller_of(meta);
        for _ in 0..8 {
            let owner = at?;
            if let Some(found) = controlled_by(&owner.meta, snapshot) {
                return Some(found);
            }
            at = snapshot.controller_of(&owner.meta);
        }
        None
    })
}

/// The condition of a type, where it has this status.
fn condition<'c>(conditions: &'c [Condition], kind: &str, status: &str) -> Option<&'c Condition> {
    conditions.iter().find(|c| c.type_ == kind && c.status == status)
}

fn said(condition: &Condition) -> &str {
    if condition.message.is_empty() { &condition.reason } else { &condition.message }
}

/// One held object, with its Workload where there is one.
struct Look<'c, 'a> {
    cx: &'c Context<'a>,
    meta: &'c Meta,
    workload: Option<&'a Arc<Queued>>,
}

impl<'a> Look<'_, 'a> {
    fn held(&self, gated: Option<(&Pod, &[&str])>) -> Held {
        let Some(w) = self.workload else { return self.without_workload() };
        let name = format!("Workload {}", w.meta.path());
        let conditions = &w.status.conditions;
        let mut held = Held { objects: vec![Ref::of(Kind::KueueWorkload, &w.meta)], ..Held::default() };
        if let Some(why) = deactivated(w) {
            held.text = format!("{name} is deactivated{why}; it does not wait for quota, somebody has to activate it");
            held.remedies.push(self.activate(w));
        } else if let Some(c) = condition(conditions, "Finished", "True") {
            held.text = format!("{name} is finished ({})", said(c));
        } else if condition(conditions, "Admitted", "True").is_some() {
            held.text = self.admitted(w, &name, gated);
        } else if condition(conditions, "QuotaReserved", "True").is_some() {
            held.text = checks(w, &name);
        } else {
            self.waiting(w, &name, &mut held);
        }
        held
    }

    /// Kueue's controller, and whether it runs.
    fn controller(&self) -> String {
        let component = self.cx.components.named(&["kueue", "kueue-controller-manager"]);
        format!("Kueue's controller {}", component.words(self.cx.snapshot))
    }

    /// Whether Kueue's queues were read.
    fn knows_queues(&self) -> bool {
        self.cx.snapshot.coverage.has(Kind::KueueLocalQueue)
    }

    /// Kueue has made no Workload, or it was not read.
    fn without_workload(&self) -> Held {
        let snapshot = self.cx.snapshot;
        let Some(queue) = self.meta.labels.get(QUEUE) else {
            return Held { text: "Kueue holds it; its Workload was not found".to_owned(), ..Held::default() };
        };
        if self.knows_queues() && snapshot.kueue_local_queues.named(self.meta.ns(), queue).is_none() {
            let (text, remedy) = self.no_queue(queue);
            return Held { text, remedies: vec![remedy], ..Held::default() };
        }
        let text = if snapshot.coverage.has(Kind::KueueWorkload) {
            format!("no Workload was made for it in queue {queue}: {}", self.controller())
        } else {
            format!("Kueue holds it in queue {queue}; its Workload, which says why, was not found")
        };
        Held { text, ..Held::default() }
    }

    fn activate(&self, w: &Queued) -> Remedy {
        let patch = |to: bool| {
            let body = format!("{{\"spec\":{{\"active\":{to}}}}}");
            let resource = format!("workload.{GROUP}/{}", w.meta.name);
            self.cx.kubectl.line(w.meta.ns(), &["patch", &resource, "--type=merge", "-p", &body])
        };
        Remedy::advice(format!("activate Workload {} again, once the reason is dealt with", w.meta.path()))
            .command(patch(true))
            .undo(patch(false))
            .risk("somebody deactivated the Workload, or Kueue after too many tries, for a reason")
    }

    /// Admitted, and a gate is still there.
    fn admitted(&self, w: &Queued, name: &str, gated: Option<(&Pod, &[&str])>) -> String {
        let Some((pod, gates)) = gated else {
            return format!("{name} is admitted, and Kueue has not resumed it yet: {}", self.controller());
        };
        if !gates.contains(&TOPOLOGY_GATE) || gates.contains(&ADMISSION_GATE) {
            return format!(
                "{name} is admitted, and Kueue has not taken the gate off the pod yet: {}",
                self.controller()
            );
        }
        let set = pod.meta.labels.get("kueue.x-k8s.io/podset").map(|s| &**s).unwrap_or_default();
        match assigned(w, set).filter(|(assigned, wanted)| assigned < wanted) {
            Some((assigned, wanted)) => format!(
                "{name} is admitted, and its topology assignment covers {assigned} of the {wanted} pods of pod set {set}: \
                 this pod has no place in it; the pod does not wait for quota"
            ),
            None => format!(
                "{name} is admitted, and Kueue has not assigned the pod its place in the topology yet: {}",
                self.controller()
            ),
        }
    }

    /// No quota is reserved: why, in Kueue's words and in amounts.
    fn waiting(&self, w: &Queued, name: &str, held: &mut Held) {
        let snapshot = self.cx.snapshot;
        let queue = &*w.spec.queue_name;
        let now = condition(&w.status.conditions, "QuotaReserved", "False");
        let words = now.map(said).filter(|s| !s.is_empty()).map(|s| format!(": {s}")).unwrap_or_default();
        let since = now.and_then(|c| c.last_transition_time).and_then(crate::wire::time::Time::timestamp);
        let since = since.map(|t| format!(" for {}", age(t, snapshot.now))).unwrap_or_default();
        let local = snapshot.kueue_local_queues.named(w.meta.ns(), queue);
        if local.is_none() && self.knows_queues() {
            let (text, remedy) = self.no_queue(queue);
            held.text = format!("{name} waits{since}: {text}");
            held.remedies.push(remedy);
            return;
        }
        // Of a queue that admits nothing more quota would not help.
        let inadmissible = now.is_some_and(|c| c.reason == "Inadmissible");
        let what = if inadmissible { "" } else { " for quota" };
        held.text = format!("{name} waits{since} in queue {queue}{what}{words}");
        if let Some(again) = requeued(w, snapshot) {
            held.text.push_str(&again);
            held.no_remedy = Some("Kueue tries again by itself then".to_owned());
        }
        let mut add = |text: String| held.text.push_str(&format!("; {text}"));
        let Some(local) = local else { return };
        held.objects.push(Ref::of(Kind::KueueLocalQueue, &local.meta));
        let mut remedies = Vec::new();
        if is_stopped(&local.spec.stop_policy) {
            add(format!("LocalQueue {queue} is stopped (stopPolicy {})", local.spec.stop_policy));
            remedies.push(self.start("localqueue", &local.meta, &local.spec.stop_policy));
        }
        let cluster_queue = &*local.spec.cluster_queue;
        let Some(cq) = snapshot.kueue_cluster_queues.named("", cluster_queue) else {
            if snapshot.coverage.has(Kind::KueueClusterQueue) {
                add(format!("ClusterQueue {cluster_queue} does not exist"));
            }
            return;
        };
        held.objects.push(Ref::of(Kind::KueueClusterQueue, &cq.meta));
        if is_stopped(&cq.spec.stop_policy) {
            add(format!("ClusterQueue {cluster_queue} is stopped (stopPolicy {})", cq.spec.stop_policy));
            remedies.push(self.start("clusterqueue", &cq.meta, &cq.spec.stop_policy));
        } else if let Some(c) = condition(&cq.status.conditions, "Active", "False") {
            add(format!("ClusterQueue {cluster_queue} is not active: {}", said(c)));
        }
        quota(w, cq).into_iter().for_each(&mut add);
        if let Some(c) = condition(&w.status.conditions, "Evicted", "True") {
            // Kueue repeats the eviction's words where it waits for quota again.
            if words.is_empty() || !words.contains(said(c)) {
                add(format!("Kueue evicted it before: {}", said(c)));
            }
        }
        held.remedies.extend(remedies);
    }

    /// The queue that is named does not exist in the namespace.
    fn no_queue(&self, queue: &str) -> (String, Remedy) {
        let ns = self.meta.ns();
        let there = self.cx.snapshot.kueue_local_queues.in_namespace(ns).iter().map(|q| q.meta.name.to_string());
        let there: Vec<String> = there.collect();
        let named = match there.is_empty() {
            true => format!("namespace {ns} has no LocalQueue"),
            false => format!("there: {}", some(&there, 3)),
        };
        let text = format!(
            "create LocalQueue {ns}/{queue}, or correct label {QUEUE} ({named}): a queue of another namespace is not used"
        );
        (format!("LocalQueue {queue} does not exist in namespace {ns}, so nothing admits it"), Remedy::advice(text))
    }

    /// A queue that somebody stopped admits again.
    fn start(&self, kind: &str, meta: &Meta, policy: &str) -> Remedy {
        let patch = |to: &str| {
            let body = format!("{{\"spec\":{{\"stopPolicy\":\"{to}\"}}}}");
            let resource = format!("{kind}.{GROUP}/{}", meta.name);
            self.cx.kubectl.line(meta.ns(), &["patch", &resource, "--type=merge", "-p", &body])
        };
        Remedy::advice(format!("let queue {} admit again (stopPolicy None)", meta.name))
            .command(patch("None"))
            .undo(patch(policy))
            .risk("whoever stopped the queue did so for a reason; all that waits in it can be admitted")
    }
}

/// When Kueue tries again what it evicted: `; Kueue tries again in 5 min (for the 3rd time)`.
fn requeued(w: &Queued, snapshot: &Snapshot) -> Option<String> {
    let state = w.status.requeue_state.as_ref()?;
    let at = state.requeue_at?.timestamp()?;
    let tries = state
        .count
        .map(|n| format!(", after {}", count(usize::try_from(n).unwrap_or(0), "requeue")))
        .unwrap_or_default();
    let left = at.duration_since(snapshot.now).as_secs();
    (left > 0).then(|| format!("; Kueue does not try again before {at} (in {}{tries})", duration_words(left)))
}

fn is_stopped(policy: &str) -> bool {
    matches!(policy, "Hold" | "HoldAndDrain")
}

/// Why the Workload is not active; `None` where it is.
fn deactivated(w: &Queued) -> Option<String> {
    let conditions = &w.status.conditions;
    let inactive = w.spec.active == Some(false);
    let target = condition(conditions, "DeactivationTarget", "True");
    if !inactive && target.is_none() {
        return None;
    }
    let evicted = condition(conditions, "Evicted", "True").filter(|c| c.reason.starts_with("Deactivated"));
    let because = target.or(evicted).map(said).filter(|s| !s.is_empty());
    let field = if inactive { " (spec.active is false)" } else { "" };
    let refused = w.status.admission_checks.iter().filter(|c| c.state == "Rejected").map(check);
    let refused: Vec<String> = refused.collect();
    let refused = match refused.is_empty() {
        true => String::new(),
        false => format!("; it was refused by admission check {}", some(refused, 3)),
    };
    Some(format!("{field}{}{refused}", because.map(|b| format!(": {b}")).unwrap_or_default()))
}

/// Quota is reserved, and an admission check holds it.
fn checks(w: &Queued, name: &str) -> String {
    let open = w.status.admission_checks.iter().filter(|c| c.state != "Ready");
    let words: Vec<String> = open.map(check).collect();
    match words.is_empty() {
        true => format!("{name} has its quota reserved and is not admitted yet"),
        false => format!("{name} has its quota reserved and waits for admission check {}", some(words, 3)),
    }
}

/// `prov, which is Pending (no room yet)`.
fn check(c: &KueueAdmissionCheckState) -> String {
    let message = if c.message.is_empty() { String::new() } else { format!(" ({})", c.message) };
    format!("{}, which is {}{message}", c.name, c.state)
}

/// How many pods of a pod set have a place in the topology, and how many there are.
fn assigned(w: &Queued, set: &str) -> Option<(i64, i64)> {
    let sets = &w.status.admission.as_ref()?.pod_set_assignments;
    let of = sets.iter().find(|s| s.name == set).or(match &**sets {
        [one] if set.is_empty() => Some(one),
        _ => None,
    })?;
    let spec = w.spec.pod_sets.iter().find(|s| s.name == of.name);
    let wanted = of.count.or_else(|| spec?.count)?;
    Some((places(of.topology_assignment.as_ref()?), wanted))
}

fn places(topology: &KueueTopologyAssignment) -> i64 {
    let domains: i64 = topology.domains.iter().map(|d| d.count).sum();
    let slices = topology.slices.iter().map(|s| {
        let all = s.pod_counts.universal.unwrap_or(0).saturating_mul(s.domain_count);
        s.pod_counts.individual.iter().fold(all, |sum, n| sum.saturating_add(*n))
    });
    slices.fold(domains, i64::saturating_add)
}

fn amount(q: &scalar::Quantity) -> Quantity {
    q.value
}

/// What all pods of a Workload together ask for: as Kueue has summed it up, else from the pod sets.
fn asked(w: &Queued) -> BTreeMap<&str, Quantity> {
    let mut sums: BTreeMap<&str, Quantity> = BTreeMap::new();
    let mut add = |name, q: Quantity| {
        let sum: &mut Quantity = sums.entry(name).or_default();
        *sum = *sum + q;
    };
    for (name, q) in w.status.resource_requests.iter().flat_map(|r| &r.resources) {
        add(name, amount(q));
    }
    if w.status.resource_requests.is_empty() {
        for set in &w.spec.pod_sets {
            let spec = set.template.iter().filter_map(|t| t.spec.as_ref());
            let containers = spec.flat_map(|s| &s.containers).filter_map(|c| c.resources.as_ref());
            for (name, q) in containers.flat_map(|r| &r.requests) {
                add(name, amount(q).times(set.count.unwrap_or(1)));
            }
        }
    }
    sums
}

/// What is asked of each resource against the nominal quota and what of it is reserved, where no flavor has enough left.
fn quota(w: &Queued, cq: &Object<KueueClusterQueue>) -> Vec<String> {
    let reserved = |flavor: &str, resource: &str| -> Quantity {
        let flavors = cq.status.flavors_reservation.iter().find(|f| f.name == flavor);
        let found = flavors.and_then(|f| f.resources.iter().find(|r| r.name == resource));
        found.map(|r| amount(&r.total)).unwrap_or_default()
    };
    let flavors: Vec<&KueueFlavorQuotas> = cq.spec.resource_groups.iter().flat_map(|g| &g.flavors).collect();
    let mut words = Vec::new();
    for (resource, wanted) in asked(w) {
        let of = |f: &'_ &&KueueFlavorQuotas| f.resources.iter().any(|r| r.name == resource);
        let quotas: Vec<(&str, Quantity)> = flavors
            .iter()
            .filter(of)
            .filter_map(|f| {
                let quota: &KueueResourceQuota = f.resources.iter().find(|r| r.name == resource)?;
                Some((&*f.name, amount(&quota.nominal_quota)))
            })
            .collect();
        if quotas.is_empty() {
            words.push(format!("ClusterQueue {} has no quota of {resource}", cq.meta.name));
            continue;
        }
        if quotas.iter().any(|(flavor, nominal)| reserved(flavor, resource) + wanted <= *nominal) {
            continue;
        }
        let each = quotas.iter().map(|(flavor, nominal)| {
            format!("flavor {flavor} has {} of {nominal} reserved", reserved(flavor, resource))
        });
        let each = some(each, 3);
        let never = cq.spec.cohort.is_empty() && quotas.iter().all(|(_, nominal)| *nominal < wanted);
        let never = if never {
            format!(
                " (more than the nominal quota of ClusterQueue {}, which has no cohort to borrow from: never admitted)",
                cq.meta.name
            )
        } else {
            String::new()
        };
        words.push(format!("it requests {wanted} {resource}, and {each}{never}"));
    }
    words
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use super::*;
    use crate::testing::{Object, cluster, deployment, find, object, pod};
    use serde_json::{Value, json};

    fn gated(gate: &str) -> Object {
        pod("a/p")
            .label(QUEUE, "gpu")
            .label("kueue.x-k8s.io/podset", "main")
            .spec(json!({"schedulingGates": [{"name": gate}]}))
    }

    fn queued(conditions: Value) -> Object {
        object("kueue.x-k8s.io/v1beta1", "Workload", "a/w")
            .owned_by("v1", "Pod/p")
            .spec(
                json!({"queueName": "gpu", "podSets": [{"name": "main", "count": 3, "template": {"spec": {"containers":
                [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}}]}),
            )
            .status(json!({"conditions": conditions}))
    }

    fn holds(kind: &str, status: &str, reason: &str, message: &str) -> Value {
        json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T11:00:00Z"})
    }

    fn local() -> Object {
        object("kueue.x-k8s.io/v1beta1", "LocalQueue", "a/gpu").spec(json!({"clusterQueue": "cq"}))
    }

    fn cluster_queue(nominal: &str, reserved: &str) -> Object {
        object("kueue.x-k8s.io/v1beta1", "ClusterQueue", "cq")
            .spec(json!({"resourceGroups": [{"flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": nominal}]}]}]}))
            .status(json!({"flavorsReservation": [{"name": "f", "resources": [{"name": "cpu", "total": reserved}]}]}))
    }

    #[test]
    fn the_workload_says_why() {
        let reserved = || holds("QuotaReserved", "True", "QuotaReserved", "");
        let admitted = || holds("Admitted", "True", "Admitted", "");
        let pending = |message: &str| queued(json!([holds("QuotaReserved", "False", "Pending", message)]));
        let check = |state: &str| json!({"admissionChecks": [{"name": "prov", "state": state, "message": "no room yet"}, {"name": "ok", "state": "Ready"}]});
        let assigned = |topology: Value| {
            queued(json!([reserved(), admitted()])).status(json!({"admission": {"podSetAssignments":
                [{"name": "main", "count": 3, "topologyAssignment": topology}]}}))
        };
        let slices = json!({"slices": [{"domainCount": 2, "podCounts": {"universal": 1}}]});
        let all = json!({"domains": [{"count": 2}, {"count": 1}]});
        let (admission, topology) = (ADMISSION_GATE, TOPOLOGY_GATE);
        for (title, gate, objects, words) in [
            (
                "needs more",
                admission,
                vec![
                    pending("insufficient unused quota for cpu in flavor f, 4 more needed"),
                    local(),
                    cluster_queue("8", "6"),
                ],
                "waits for 60 min in queue gpu for quota: insufficient unused quota for cpu in flavor f, 4 more needed; it requests 6 cpu, and flavor f has 6 of 8 reserved",
            ),
            (
                "can never be admitted",
                admission,
                vec![pending("insufficient quota"), local(), cluster_queue("4", "0")],
                "never admitted",
            ),
            (
                "can borrow",
                admission,
                vec![pending("m"), local(), cluster_queue("4", "0").spec(json!({"cohort": "c"}))],
                "flavor f has 0 of 4 reserved",
            ),
            (
                "no such resource",
                admission,
                vec![pending("m"), local(), object("kueue.x-k8s.io/v1beta1", "ClusterQueue", "cq")],
                "ClusterQueue cq has no quota of cpu",
            ),
            (
                "no such queue",
                admission,
                vec![
                    pending("LocalQueue gpu doesn't exist"),
                    object("kueue.x-k8s.io/v1beta1", "LocalQueue", "a/other"),
                ],
                "LocalQueue gpu does not exist in namespace a",
            ),
            (
                "stopped",
                admission,
                vec![pending("m"), local(), cluster_queue("8", "0").spec(json!({"stopPolicy": "Hold"}))],
                "ClusterQueue cq is stopped (stopPolicy Hold)",
            ),
            (
                "a check",
                admission,
                vec![queued(json!([reserved()])).status(check("Pending"))],
                "has its quota reserved and waits for admission check prov, which is Pending (no room yet)",
            ),
            (
                "a check that refuses",
                admission,
                vec![queued(json!([reserved()])).status(check("Rejected"))],
                "prov, which is Rejected",
            ),
            (
                "deactivated",
                admission,
                vec![
                    queued(json!([holds("Evicted", "True", "Deactivated", "The workload is deactivated")]))
                        .spec(json!({"active": false})),
                ],
                "is deactivated (spec.active is false): The workload is deactivated",
            ),
            (
                "after too many tries",
                admission,
                vec![queued(json!([holds(
                    "DeactivationTarget",
                    "True",
                    "RequeuingLimitExceeded",
                    "exceeded the maximum number of re-queuing retries"
                )]))],
                "is deactivated: exceeded the maximum",
            ),
            (
                "no place in the topology",
                topology,
                vec![assigned(json!({"domains": [{"count": 2}]}))],
                "is admitted, and its topology assignment covers 2 of the 3 pods of pod set main",
            ),
            ("the newer form", topology, vec![assigned(slices)], "covers 2 of the 3 pods"),
            (
                "a place for all",
                topology,
                vec![assigned(all)],
                "has not assigned the pod its place in the topology yet",
            ),
            (
                "admitted, and Kueue is dead",
                admission,
                vec![queued(json!([reserved(), admitted()]))],
                "Kueue's controller has no pod",
            ),
            (
                "no Workload",
                admission,
                vec![local()],
                "Kueue holds it in queue gpu; its Workload, which says why, was not found",
            ),
            (
                "no queue",
                admission,
                vec![object("kueue.x-k8s.io/v1beta1", "LocalQueue", "a/other")],
                "LocalQueue gpu does not exist in namespace a, so nothing admits it",
            ),
        ] {
            let snapshot = cluster().add(gated(gate)).all(objects).snapshot();
            let held = of_pod(&find(&snapshot, "a/p"), &Context::new(&snapshot)).unwrap();
            assert!(held.text.contains(words), "{title}: {}", held.text);
        }
    }

    #[test]
    fn a_pod_is_held_by_its_group_s_workload_or_its_owner_s() {
        let w = |name: &str| {
            object("kueue.x-k8s.io/v1beta2", "Workload", &format!("a/{name}")).spec(json!({"active": false}))
        };
        let job = object("batch/v1", "Job", "a/j").spec(json!({"suspend": true}));
        for (title, pod, w, found) in [
            ("its annotation", gated(ADMISSION_GATE).annotation("kueue.x-k8s.io/workload", "g"), w("g"), true),
            ("its group", gated(ADMISSION_GATE).label("kueue.x-k8s.io/pod-group-name", "g"), w("g"), true),
            ("itself", gated(ADMISSION_GATE), w("x").owned_by("v1", "Pod/p"), true),
            (
                "its Job",
                gated(ADMISSION_GATE).owned_by("batch/v1", "Job/j"),
                w("x").owned_by("batch/v1", "Job/j"),
                true,
            ),
            ("another's", gated(ADMISSION_GATE), w("x").owned_by("v1", "Pod/q"), false),
        ] {
            let snapshot = cluster().add(pod).add(w).add(job.clone()).add(deployment("kueue/kueue")).snapshot();
            let held = of_pod(&find(&snapshot, "a/p"), &Context::new(&snapshot)).unwrap();
            assert_eq!(held.text.contains("deactivated"), found, "{title}: {}", held.text);
            assert_eq!(held.remedies.len(), usize::from(found), "{title}");
        }
    }
}
