//! `DrainPlan`: what `drain-plan` answers.

use super::digest::Told;
use crate::drain::note::{Drainability, Note};
use crate::drain::options::After;
use crate::drain::outcome::{Action, Outcome, PodPlan, Replacement, Verdict};
use crate::drain::timeline::Timeline;
use crate::drain::{NodePlan, Plan};
use crate::finding::{Code, Finding, Severity};
use crate::lists::{count, some};
use crate::snapshot::Str;
use crate::snapshot::age::duration_words;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The body of a `DrainPlan`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrainPlan {
    /// The nodes, in the order asked for.
    pub nodes: Vec<NodeReport>,
    /// Nodes in one inner list can be drained at the same time; each list follows the one before.
    pub order: Vec<Vec<Str>>,
    /// No order can do with fewer lists.
    pub lower_bound: usize,
    /// What becomes of the nodes of a list before the next list begins: `back` or `gone`.
    pub after: &'static str,
    /// Whether each node is judged alone, as none was named.
    pub each_alone: bool,
    /// When each node is drained; absent where several drains at a time were not asked for (`--parallel`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// Who drains, and how; absent where that was not asked (`--by`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<ActorReport>,
}

/// Who drains, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActorReport {
    /// Who it is, as `--by` takes it.
    pub name: &'static str,
    /// Each setting with what the actor does by it, in words.
    pub settings: BTreeMap<&'static str, String>,
    /// Where that is written, and how well it is known.
    pub source: String,
    /// What people call it.
    #[serde(skip)]
    pub title: &'static str,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeReport {
    /// Its name.
    pub name: Str,
    /// How its drain ends, within the command as given.
    pub verdict: Verdict,
    /// How its drain ends if it alone is drained now.
    pub alone: Verdict,
    /// Seconds after its drain began at which the first pod is deleted past a budget; absent where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_at: Option<i64>,
    /// `namespace/name` of the pods that are deleted past a budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forced: Vec<String>,
    /// The line that drains it.
    pub command: String,
    /// Flags that were not given, and without which drain refuses.
    pub needed_flags: Vec<&'static str>,
    /// Every pod of the node.
    pub pods: Vec<PodReport>,
    /// What it meets.
    pub findings: Vec<Finding>,
    /// How long it takes.
    pub estimate: EstimateReport,
}

/// A pod.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodReport {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// What drain does with it.
    pub action: Action,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The pass that lets it go, from 1.
    pub step: Option<u32>,
    /// Seconds after the drain of its node began at which it is deleted past a budget; absent where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_at: Option<i64>,
    /// What it meets.
    pub codes: Vec<Code>,
    /// `namespace/name` of the budgets that cover it.
    pub budgets: Vec<Str>,
    /// The pod that replaces it, where one is made.
    pub replacement: Option<ReplacementReport>,
    /// What decides its outcome, or what to know before it is evicted; absent where there is nothing to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The pod that replaces an evicted one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReplacementReport {
    /// The node it starts on.
    Node(Str),
    /// The node that does not exist yet, and that alone can take it.
    NewNode(NewNodeReport),
    /// The scheduler's words where no node takes it.
    Unschedulable(String),
}

/// A node that does not exist yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewNodeReport {
    /// The NodePool that it would come from.
    pub pool: Str,
    /// Why it could come; that it does is not promised.
    pub why: String,
}

/// How long a drain takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EstimateReport {
    /// How many passes let something go.
    pub steps: u32,
    /// Seconds until the last pod that goes is gone.
    pub seconds: i64,
    /// What the estimate rests on.
    pub basis: String,
}

impl DrainPlan {
    /// The answer to a request.
    pub fn new(plan: &Plan, after: After, each_alone: bool) -> Self {
        Self {
            nodes: plan.nodes.iter().map(NodeReport::from).collect(),
            order: plan.order.rounds.clone(),
            lower_bound: plan.order.lower_bound,
            after: match after {
                After::Back => "back",
                After::Gone => "gone",
            },
            each_alone,
            timeline: plan.timeline.clone(),
            actor: plan.actor.as_ref().map(|a| ActorReport {
                name: a.actor.as_str(),
                settings: a.settings.iter().cloned().collect(),
                source: a.source.clone(),
                title: a.title,
            }),
        }
    }

    /// The round that a node is in, from 1.
    pub fn round_of(&self, node: &NodeReport) -> Option<usize> {
        self.order.iter().position(|round| round.contains(&node.name)).map(|at| at + 1)
    }

    /// What blocks drains, the other way round: each cause with the nodes it blocks, what blocks most first.
    pub fn blockers(&self) -> Vec<Blocker<'_>> {
        let mut all: Vec<Blocker<'_>> = Vec::new();
        for node in &self.nodes {
            for pod in node.pods.iter().filter(|p| p.blocks()) {
                let Some(finding) = node.about(pod) else { continue };
                let budget = pod.budgets.first().filter(|_| BUDGETS.contains(&finding.code));
                let what = budget.map_or_else(|| pod.path(), |b| format!("budget {b}"));
                match all.iter_mut().find(|b| b.what == what && b.finding.code == finding.code) {
                    Some(blocker) => {
                        blocker.pods += 1;
                        if blocker.nodes.last() != Some(&&node.name) {
                            blocker.nodes.push(&node.name);
                        }
                    }
                    None => all.push(Blocker { what, finding, nodes: vec![&node.name], pods: 1 }),
                }
            }
        }
        all.sort_by_key(|b| std::cmp::Reverse(b.nodes.len()));
        all
    }
}

/// Codes by which a budget blocks.
const BUDGETS: &[Code] =
    &[Code::BudgetNever, Code::BudgetWaits, Code::BudgetShared, Code::Overlap, Code::SyncFailed, Code::Stale];

/// What blocks the drains of some nodes.
#[derive(Debug)]
pub struct Blocker<'a> {
    /// `budget ns/name`, or the pod.
    pub what: String,
    /// The finding that says why.
    pub finding: &'a Finding,
    /// The nodes.
    pub nodes: Vec<&'a Str>,
    /// How many pods it holds there.
    pub pods: usize,
}

impl PodReport {
    /// Its namespace and name.
    pub fn path(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// Whether drain leaves it where it is, on purpose.
    pub fn is_ignored(&self) -> bool {
        matches!(self.action, Action::Skip | Action::None) && self.outcome == Outcome::Stays
    }

    /// Whether it keeps its node from being drained.
    pub fn blocks(&self) -> bool {
        self.outcome == Outcome::Stays && !self.is_ignored()
    }

    /// What becomes of it, in words for a person.
    pub fn fate(&self) -> &'static str {
        match self.outcome {
            _ if self.forced_at.is_some() => "forced",
            Outcome::Gone => "evicted",
            Outcome::Waits => "waits",
            Outcome::Unknown => "unknown",
            Outcome::Stays if self.is_ignored() => "ignored",
            Outcome::Stays => "blocked",
        }
    }

    /// Where it stands in a list: what needs somebody first.
    pub fn rank(&self) -> u8 {
        match self.outcome {
            _ if self.forced_at.is_some() => 1,
            Outcome::Stays if self.is_ignored() => 5,
            Outcome::Stays => 0,
            Outcome::Unknown => 2,
            Outcome::Waits => 3,
            Outcome::Gone => 4,
        }
    }

    fn reference(&self) -> String {
        format!("Pod/{}/{}", self.namespace, self.name)
    }
}

impl NodeReport {
    /// How long it takes, in words; `None` where nothing is evicted.
    pub fn duration(&self) -> Option<String> {
        let (estimate, words) = (&self.estimate, duration_words(self.estimate.seconds));
        match (estimate.steps, estimate.seconds, estimate.basis.as_str()) {
            (0, ..) => None,
            (1, 0, _) => Some("less than 1 s".to_owned()),
            // Nothing but grace periods are waited for: an upper bound.
            (1, _, basis) if !self.pods.iter().any(|p| p.outcome == Outcome::Waits) => {
                Some(format!("at most {words} ({basis})"))
            }
            (_, _, basis) => Some(format!("about {words} ({basis})")),
        }
    }

    /// The finding that says why a pod of the node has its outcome.
    pub fn about(&self, pod: &PodReport) -> Option<&Finding> {
        let reference = pod.reference();
        let mut about = self.findings.iter().filter(|f| f.objects.contains(&reference));
        let said = |f: &&Finding| pod.why.as_ref().is_some_and(|why| f.message.ends_with(why.as_str()));
        about.clone().find(said).or_else(|| about.next())
    }

    /// Its pods, those that need somebody first.
    pub fn worst_first(&self) -> Vec<&PodReport> {
        let mut pods: Vec<&PodReport> = self.pods.iter().collect();
        pods.sort_by_key(|p| p.rank());
        pods
    }

    /// What a default view tells of it: warnings and errors, and whatever blocks, forces, delays or loses something.
    pub fn told(&self) -> Vec<&Finding> {
        let held: Vec<String> = self.pods.iter().filter(|p| p.rank() < 4).map(PodReport::reference).collect();
        let told = |f: &&Finding| {
            f.severity != Severity::Info || f.code == Code::OperatorOwned || f.objects.iter().any(|o| held.contains(o))
        };
        self.findings.iter().filter(told).collect()
    }
}

impl Told for NodeReport {
    const KIND: &'static str = "node";

    fn path(&self) -> String {
        self.name.to_string()
    }

    fn verdict(&self) -> &'static str {
        self.verdict.as_str()
    }

    fn rank(&self) -> u8 {
        match self.verdict {
            Verdict::Blocked => 0,
            Verdict::Forced => 1,
            Verdict::Unknown => 2,
            Verdict::Waits => 3,
            Verdict::Kept => 4,
            Verdict::Drains => 5,
        }
    }

    /// What decides its verdict.
    fn leading(&self) -> Option<&Finding> {
        if self.verdict == Verdict::Kept {
            return self.findings.iter().find(|f| f.code == Code::AutoscalerKeeps);
        }
        // Pods are ranked as the verdicts that they give.
        let decides = self.is_problem().then(|| self.rank())?;
        self.pods.iter().filter(|p| p.rank() == decides).find_map(|p| self.about(p))
    }

    fn is_problem(&self) -> bool {
        !matches!(self.verdict, Verdict::Drains | Verdict::Kept)
    }

    fn more(&self) -> Vec<String> {
        vec!["drain-plan".to_owned(), self.name.to_string()]
    }
}

/// What a pod meets, in a line: what holds it, else what there is to know.
fn why(p: &PodPlan) -> Option<String> {
    let severity = |note: &Note| note.severity.unwrap_or_else(|| note.code.severity());
    let telling = match p.outcome {
        Outcome::Stays | Outcome::Unknown | Outcome::Waits => {
            let held = p.notes.iter().find(|n| n.drainability > Drainability::Drains);
            let refused = |n: &&Note| BUDGETS.contains(&n.code) || n.code == Code::OperatorOwned;
            held.or_else(|| p.notes.iter().find(refused)).or_else(|| p.notes.first())
        }
        Outcome::Gone => p.notes.iter().find(|n| severity(n) < Severity::Info),
    };
    telling.map(|note| note.text.clone())
}

impl Timeline {
    /// The whole in a sentence: when it is over, or what stops it.
    pub fn summary(&self) -> String {
        let at_a_time = format!("{} at a time", count(self.parallel, "node"));
        let surge = match self.surge {
            0 => String::new(),
            n => format!(", with {} added before", count(n, "node")),
        };
        let left = self.turns.iter().filter(|n| !n.reached).count();
        let left = match left {
            0 => String::new(),
            1 => "; 1 node is not begun".to_owned(),
            n => format!("; {n} nodes are not begun"),
        };
        let stops = some(self.stopped_by.iter().map(|n| &**n), 3);
        match (self.seconds, self.stopped_by.len()) {
            (Some(seconds), _) => {
                let over = if seconds == 0 {
                    "at once".to_owned()
                } else {
                    format!("after about {}", duration_words(seconds))
                };
                format!("{at_a_time}{surge}: over {over}.")
            }
            (None, 0) => format!("{at_a_time}{surge}: no node is drained."),
            (None, 1) => format!("{at_a_time}{surge}: not over, as {stops} is not drained{left}."),
            (None, _) => format!("{at_a_time}{surge}: not over, as {stops} are not drained{left}."),
        }
    }
}

impl From<&NodePlan> for NodeReport {
    fn from(n: &NodePlan) -> Self {
        Self {
            name: n.node.meta.name.clone(),
            verdict: n.verdict,
            alone: n.alone,
            forced_at: n.forced_at,
            forced: n.pods.iter().filter(|p| p.forced_at.is_some()).map(|p| p.pod.meta.path()).collect(),
            command: n.command.clone(),
            needed_flags: n.needed_flags.iter().map(|f| f.as_str()).collect(),
            pods: n.pods.iter().map(PodReport::from).collect(),
            findings: n.findings.clone(),
            estimate: EstimateReport {
                steps: n.estimate.steps,
                seconds: n.estimate.seconds,
                basis: n.estimate.basis.clone(),
            },
        }
    }
}

impl From<&PodPlan> for PodReport {
    fn from(p: &PodPlan) -> Self {
        Self {
            namespace: p.pod.meta.namespace.clone().unwrap_or_default(),
            name: p.pod.meta.name.clone(),
            action: p.action,
            outcome: p.outcome,
            step: p.step,
            forced_at: p.forced_at,
            codes: p.codes.clone(),
            budgets: p.budgets.clone(),
            replacement: p.replacement.as_ref().map(|r| match r {
                Replacement::On(node) => ReplacementReport::Node(node.clone()),
                Replacement::OnNewNode(new) => {
                    ReplacementReport::NewNode(NewNodeReport { pool: new.pool.clone(), why: new.why.clone() })
                }
                Replacement::Unschedulable(words) => ReplacementReport::Unschedulable(words.clone()),
            }),
            why: why(p),
        }
    }
}
