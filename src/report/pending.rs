//! The answer of `why-pending`.

use super::digest::Told;
use crate::finding::{Code, Finding, Severity};
use crate::pending::queue::Turn;
use crate::pending::scheduling::Scheduling;
use crate::pending::{Item, Subject, detail};
use crate::sched::{ASSUMED, Candidate, NodeId, State, Status, preempt};
use crate::snapshot::age::age;
use crate::snapshot::pod::{Phase, Pod};
use crate::snapshot::pod_state::why_not_ready;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The body of a `PendingReport`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PendingReport {
    /// A pod, or a workload whose pods were not created, each; worst first.
    pub items: Vec<PendingItem>,
    /// What is taken for granted of the scheduler, as it cannot be seen.
    pub assumes: &'static str,
}

/// One pod, or one workload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingItem {
    /// `Pod`, or the workload's kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The topmost controller of a pod, as `Kind/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The pod's priority.
    pub priority: i32,
    /// Seconds since it was made, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<i64>,
    /// How far it came.
    pub stage: &'static str,
    /// How a pod with a node stands; absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<StateSays>,
    /// Whether neither a node nor preemption helps: somebody has to do something.
    pub stuck: bool,
    /// How many pods a workload lacks; absent for a pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<usize>,
    /// Where the pods of a manifest would go; only with `-f`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementSays>,
    /// What the pod itself demands, in short phrases: `2 cpu`, `tolerates gpu` …
    pub asks: Vec<String>,
    /// What the scheduler says; absent for a workload and for a pod that has its node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerSays>,
    /// What preemption would do; absent for a workload and for a pod that has its node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<PreemptionSays>,
    /// What its turn in the scheduler's queue comes to, after the pods before it; absent where the scheduler does not
    /// queue it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<TurnSays>,
    /// Everything that matters.
    pub findings: Vec<Finding>,
}

/// What a pod's turn in the scheduler's queue comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnSays {
    /// `placed`, `preempts` (a node, once the victims are gone), or `waits`.
    pub outcome: &'static str,
    /// The node: likely, where several fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Whether no choice among several nodes had a part in it.
    pub certain: bool,
    /// The pods that are evicted for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub victims: Vec<String>,
}

impl TurnSays {
    fn new(turn: &Turn, state: &State) -> Self {
        match turn {
            Turn::Placed { node, certain } => {
                Self { outcome: "placed", node: Some(name(state, *node)), certain: *certain, victims: Vec::new() }
            }
            Turn::Preempts { node, victims } => Self {
                outcome: "preempts",
                node: Some(name(state, *node)),
                certain: false,
                victims: victims.iter().map(|v| v.pod.meta.path()).collect(),
            },
            Turn::Waits => Self { outcome: "waits", node: None, certain: false, victims: Vec::new() },
        }
    }
}

/// How a pod with a node stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StateSays {
    /// In words: `runs on n1 and is Ready`.
    pub text: String,
    /// The command that tells more, where there is more to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Where the pods of a manifest would go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlacementSays {
    /// How many are wanted.
    pub wanted: usize,
    /// How many fit.
    pub fits: usize,
    /// On which nodes, likely.
    pub nodes: Vec<PlacedOn>,
}

/// How many pods would go to a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlacedOn {
    /// The node.
    pub name: String,
    /// How many.
    pub pods: usize,
}

/// What the scheduler says of a pod in the present state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SchedulerSays {
    /// Word for word what it would write into the PodScheduled condition; empty where the pod fits.
    pub message: String,
    /// Nodes that take the pod.
    pub fits: Vec<String>,
    /// Every other node with all that speaks against it; only for pods asked for one by one, on up to 200 nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeReasons>,
    /// Nodes with equal reasons, the largest group first.
    pub groups: Vec<ReasonGroup>,
    /// The recorded condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<String>,
    /// When it was recorded, or last seen as an event: seconds before `source.now`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_seconds_ago: Option<i64>,
}

/// What speaks against a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NodeReasons {
    /// The node.
    pub name: String,
    /// All reasons, that of the scheduler's first refusal first.
    pub reasons: Vec<ReasonSays>,
}

/// One reason of one plugin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ReasonSays {
    /// Kubernetes' own name of the plugin.
    pub plugin: &'static str,
    /// The scheduler's own words.
    pub message: String,
    /// Whether taking pods away from the node could help.
    pub resolvable: bool,
    /// Amounts and names.
    pub detail: String,
}

/// Nodes with equal reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReasonGroup {
    /// The reasons, without amounts.
    pub reasons: Vec<ReasonSays>,
    /// How many nodes.
    pub count: usize,
    /// Up to ten of them.
    pub nodes: Vec<String>,
}

/// What preemption would do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreemptionSays {
    /// Whether a node was found.
    pub possible: bool,
    /// The scheduler's words after `preemption: `.
    pub message: String,
    /// Why it does not help.
    pub why: Vec<Finding>,
    /// The node that would be held for the pod, or is held while its victims go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The pods that would go.
    pub victims: Vec<String>,
    /// How many of them violate a budget.
    pub budget_violations: usize,
    /// All nodes that could be made to fit.
    pub candidates: Vec<CandidateSays>,
    /// Nodes ranked equal to the chosen one; chance decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<String>,
}

/// A node that could be made to fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CandidateSays {
    /// The node.
    pub node: String,
    /// The pods that would go.
    pub victims: Vec<String>,
    /// How many of them violate a budget.
    pub budget_violations: usize,
}

/// Nodes named of a group.
const NAMED: usize = 10;
/// With more nodes than this, they are told in groups only.
const NODE_BY_NODE: usize = 200;

impl PendingReport {
    /// The answer in the contract's form. `node_by_node`: whether each node is wanted with its own reasons.
    pub fn new(items: &[Item], state: &State, node_by_node: bool) -> Self {
        let detailed = node_by_node && state.nodes().len() <= NODE_BY_NODE;
        Self { items: items.iter().map(|i| PendingItem::new(i, state, detailed)).collect(), assumes: ASSUMED }
    }
}

impl PendingItem {
    fn new(item: &Item, state: &State, detailed: bool) -> Self {
        let meta = item.subject.meta().clone();
        let now = state.snapshot().now;
        let pod = match &item.subject {
            Subject::Pod(pod) => Some(pod.clone()),
            Subject::Workload(_) => None,
        };
        let scheduling = item.scheduling.as_ref();
        Self {
            kind: item.subject.kind().to_owned(),
            namespace: meta.ns().to_owned(),
            name: meta.name.to_string(),
            owner: item.owner.as_ref().map(|w| format!("{}/{}", w.kind, w.meta.name)),
            priority: pod.as_ref().map_or(0, |p| p.priority()),
            age_seconds: meta.creation_timestamp.map(|t| now.duration_since(t).as_secs()),
            stage: item.stage.as_str(),
            placement: item.placement.as_ref().map(|p| PlacementSays {
                wanted: p.wanted,
                fits: p.placed,
                nodes: p.nodes.iter().map(|(name, pods)| PlacedOn { name: name.to_string(), pods: *pods }).collect(),
            }),
            state: pod.as_ref().filter(|p| p.node.is_some()).map(|p| StateSays::new(p, state)),
            stuck: item.is_stuck(),
            missing: pod.is_none().then_some(item.missing),
            asks: item.asks.clone(),
            scheduler: match (&pod, scheduling) {
                (Some(pod), s) => Some(SchedulerSays::new(s, pod, state, detailed)),
                (None, Some(s)) => Some(SchedulerSays::new(Some(s), &s.pod, state, detailed)),
                (None, None) => None,
            },
            preemption: scheduling.map(|s| PreemptionSays::new(s, state)),
            queue: item.turn.as_ref().map(|t| TurnSays::new(t, state)),
            findings: item.findings.clone(),
        }
    }
}

impl StateSays {
    fn new(pod: &Pod, state: &State) -> Self {
        let snapshot = state.snapshot();
        let kubectl = crate::shell::Kubectl::of(snapshot);
        let node = pod.node.as_deref().unwrap_or_default();
        let since = pod.condition("Ready").and_then(|c| c.since);
        let since = since.map_or_else(String::new, |t| format!(" for {}", age(t, snapshot.now)));
        let why = why_not_ready(snapshot, pod);
        let text = match (pod.status.phase, &why) {
            (_, None) => format!("runs on node {node} and is Ready{since}"),
            (_, Some(_)) if pod.is_finished() => format!("has ended ({})", pod.status.phase.as_str()),
            (Phase::Running, Some(why)) => format!("runs on node {node} and is not Ready{since}: {}", why.text),
            (_, Some(why)) => format!("is on node {node} and has not started: {}", why.text),
        };
        let restarted = pod.status.containers.iter().any(|c| c.restarts > 0);
        let next = match (pod.status.phase, why.is_some()) {
            (_, false) => None,
            (Phase::Running, true) if restarted => Some(kubectl.line(pod.meta.ns(), &["logs", "-p", &pod.meta.name])),
            (Phase::Running, true) => Some(kubectl.line(pod.meta.ns(), &["logs", &pod.meta.name])),
            (_, true) => Some(kubectl.line(pod.meta.ns(), &["describe", "pod", &pod.meta.name])),
        };
        Self { text, next }
    }
}

impl PendingItem {
    /// The leading cause in words; how the pod stands, where nothing speaks against it.
    pub fn cause(&self) -> String {
        match (self.leading(), &self.state, self.stage) {
            (Some(finding), ..) => finding.message.clone(),
            (None, Some(state), _) => state.text.clone(),
            (None, None, "not-created") => "the cause is not known: no event tells it".to_owned(),
            _ => "the cause is not known".to_owned(),
        }
    }

    /// How many nodes a finding speaks of, of those that come closest to running the pod: those without a taint or a
    /// cordon against it, where there are any. Causes that are not of nodes come before all of them.
    fn nodes_of(&self, code: Code) -> usize {
        let Some(plugins) = plugins(code) else { return usize::MAX };
        let Some(says) = &self.scheduler else { return usize::MAX };
        let open = |g: &&ReasonGroup, closed: &[&str]| !g.reasons.iter().any(|r| closed.contains(&r.plugin));
        let levels = [&["TaintToleration", "NodeUnschedulable", "NodeAffinity"][..], CLOSED, &[]];
        let nearest = levels.into_iter().find(|closed| says.groups.iter().any(|g| open(&g, closed))).unwrap_or(&[]);
        let near = says.groups.iter().filter(|g| open(g, nearest));
        near.filter(|g| g.reasons.iter().any(|r| plugins.contains(&r.plugin))).map(|g| g.count).sum()
    }
}

/// Plugins by whose refusal a node is not meant for pods like this one, whatever the pod selects.
const CLOSED: &[&str] = &["TaintToleration", "NodeUnschedulable"];

/// The plugins whose reasons a code tells; `None` for one that is not of nodes.
fn plugins(code: Code) -> Option<&'static [&'static str]> {
    Some(match code {
        Code::Insufficient | Code::LargerThanAnyNode | Code::TooManyPods | Code::ExtendedResource => {
            &["NodeResourcesFit"]
        }
        Code::Taint | Code::NodeNotReady => &["TaintToleration"],
        Code::Cordoned => &["NodeUnschedulable"],
        Code::NodeAffinity => &["NodeAffinity"],
        Code::HostPort => &["NodePorts"],
        Code::PodAffinity | Code::PodAntiAffinity | Code::ExistingAntiAffinity => &["InterPodAffinity"],
        Code::TopologySpread => &["PodTopologySpread"],
        Code::ResourceClaim => &["DynamicResources"],
        Code::VolumeZone => &["VolumeZone"],
        Code::VolumeLimit => &["NodeVolumeLimits"],
        Code::VolumeNodeAffinity => &["VolumeBinding"],
        _ => return None,
    })
}

impl PendingItem {
    /// What keeps it from running: of causes of one severity the one that most of the nearest nodes have.
    pub fn leading(&self) -> Option<&Finding> {
        let rank = |f: &&Finding| {
            let severity = match (f.severity, f.code) {
                (_, Code::StaleCondition) => 9,
                (Severity::Error, _) | (_, Code::Cordoned) => 0,
                (Severity::Info, Code::FitsNow | Code::NominatedWaits | Code::OtherScheduler) => 0,
                (Severity::Warning, _) => 1,
                (Severity::Info, _) => 3,
            };
            // That the pod is not queued follows from what is missing, which is the cause.
            (severity, f.code == Code::NotEnqueued, std::cmp::Reverse(self.nodes_of(f.code)))
        };
        self.findings.iter().min_by_key(rank)
    }

    /// How many pods it stands for.
    pub fn pods(&self) -> usize {
        self.missing.unwrap_or(1).max(1)
    }

    /// What owns it, or itself, as kubectl writes it: `deployment/web`.
    pub fn owner_path(&self) -> String {
        match (&self.owner, self.kind.as_str()) {
            (Some(owner), "Pod") => owner
                .split_once('/')
                .map_or_else(|| owner.clone(), |(kind, name)| format!("{}/{name}", kind.to_lowercase())),
            (_, kind) => format!("{}/{}", kind.to_lowercase(), self.name),
        }
    }
}

/// Pods of one owner at one stage with one cause; or one workload.
#[derive(Debug)]
pub struct PendingRow<'a> {
    /// The items; never empty.
    pub items: Vec<&'a PendingItem>,
    first: &'a PendingItem,
}

impl PendingReport {
    /// The items, those of one owner with one cause together.
    pub fn rows(&self) -> Vec<PendingRow<'_>> {
        let mut rows: Vec<PendingRow<'_>> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for item in &self.items {
            let message = item.scheduler.as_ref().map_or("", |s| s.message.as_str());
            let codes: Vec<&str> = item.findings.iter().map(|f| f.code.as_str()).collect();
            let key = (&item.namespace, item.owner_path(), item.stage, message, codes);
            let at = *known.entry(key).or_insert(rows.len());
            match rows.get_mut(at) {
                Some(row) => row.items.push(item),
                None => rows.push(PendingRow { items: vec![item], first: item }),
            }
        }
        rows
    }
}

impl PendingRow<'_> {
    /// The first of its items, which stands for all.
    pub fn first(&self) -> &PendingItem {
        self.first
    }
}

impl Told for PendingRow<'_> {
    const KIND: &'static str = "pod";

    fn path(&self) -> String {
        format!("{} -n {}", self.first.owner_path(), self.first.namespace)
    }

    fn verdict(&self) -> &'static str {
        self.first.stage
    }

    fn rank(&self) -> u8 {
        match (self.first.stage, self.first.stuck) {
            ("not-created", true) => 0,
            ("unscheduled", true) => 1,
            ("bound", true) => 2,
            ("gated", _) => 3,
            ("unknown", _) => 4,
            (_, true) => 5,
            ("nominated", false) => 6,
            _ => 7,
        }
    }

    fn leading(&self) -> Option<&Finding> {
        self.first.leading()
    }

    fn cause(&self) -> String {
        self.first.cause()
    }

    fn is_problem(&self) -> bool {
        true
    }

    fn weight(&self) -> usize {
        self.items.iter().map(|i| i.pods()).sum()
    }

    fn more(&self) -> Vec<String> {
        let name = match self.first.kind.as_str() {
            "Pod" => self.first.name.clone(),
            kind => format!("{}/{}", kind.to_lowercase(), self.first.name),
        };
        vec!["why-pending".to_owned(), name, "-n".to_owned(), self.first.namespace.clone()]
    }
}

fn name(state: &State, node: NodeId) -> String {
    state.node(node).map(|n| n.name().to_string()).unwrap_or_default()
}

impl SchedulerSays {
    fn new(scheduling: Option<&Scheduling>, pod: &Arc<Pod>, state: &State, detailed: bool) -> Self {
        let condition = pod.condition("PodScheduled").filter(|c| !c.message.is_empty());
        let mut says = Self {
            reported: condition.map(|c| c.message.to_string()),
            reported_seconds_ago: condition
                .and_then(|c| c.since)
                .map(|t| state.snapshot().now.duration_since(t).as_secs()),
            ..Self::default()
        };
        let Some(s) = scheduling else { return says };
        says.message.clone_from(&s.message);
        says.fits = s.fits.iter().map(|n| name(state, *n)).collect();
        says.groups = s
            .groups
            .iter()
            .map(|g| ReasonGroup {
                reasons: reasons(&g.refusals, |_| String::new()),
                count: g.nodes.len(),
                nodes: g.nodes.iter().take(NAMED).map(|n| name(state, *n)).collect(),
            })
            .collect();
        if detailed {
            let node = |id: NodeId, refusals: &[Status]| {
                let of = |r: &_| state.node(id).map(|n| detail::detail(r, pod, n, state)).unwrap_or_default();
                NodeReasons { name: name(state, id), reasons: reasons(refusals, of) }
            };
            let all = s.groups.iter().flat_map(|g| g.nodes.iter().map(|id| (*id, &g.refusals)));
            let mut nodes: Vec<(NodeId, NodeReasons)> = all.map(|(id, r)| (id, node(id, r))).collect();
            nodes.sort_by_key(|(id, _)| *id);
            says.nodes = nodes.into_iter().map(|(_, n)| n).collect();
        }
        says
    }
}

fn reasons(refusals: &[Status], detail: impl Fn(&crate::sched::Reason) -> String) -> Vec<ReasonSays> {
    let each = refusals.iter().flat_map(|s| s.reasons.iter().map(move |r| (s, r)));
    each.map(|(status, reason)| ReasonSays {
        plugin: status.plugin.as_str(),
        message: reason.text().into_owned(),
        resolvable: status.resolvable,
        detail: detail(reason),
    })
    .collect()
}

impl PreemptionSays {
    fn new(s: &Scheduling, state: &State) -> Self {
        let p = &s.preemption;
        // While its victims go, the pod keeps the node that is held for it.
        let held = || if p.message == preempt::TERMINATING { s.pod.status.nominated_node.as_deref() } else { None };
        // Those on their way out already are not taken away by preemption.
        let paths = |c: &Candidate| -> Vec<String> {
            c.victims.iter().filter(|v| !v.pod.is_terminating()).map(|v| v.pod.meta.path()).collect()
        };
        Self {
            possible: p.chosen.is_some(),
            message: p.message.clone(),
            why: s.why.clone(),
            node: p.chosen.as_ref().map(|c| name(state, c.node)).or_else(|| held().map(str::to_owned)),
            victims: p.chosen.as_ref().map(paths).unwrap_or_default(),
            budget_violations: p.chosen.as_ref().map_or(0, |c| c.violations),
            candidates: p
                .candidates
                .iter()
                .map(|c| CandidateSays {
                    node: name(state, c.node),
                    victims: paths(c),
                    budget_violations: c.violations,
                })
                .collect(),
            ties: p.ties.iter().map(|n| name(state, *n)).collect(),
        }
    }
}
