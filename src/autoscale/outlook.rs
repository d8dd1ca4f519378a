//! Whether a new node would come for a pod that no node takes: what the autoscaler itself has said, and what its rules
//! say. Its own words win: nothing is said against them.

use super::karpenter::provision::{Answer, Karpenter, Offer, Suitable};
use super::presence::{Autoscaler, Presence};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::sched::State;
use crate::sched::resources::{Of, requests};
use crate::snapshot::age::age;
use crate::snapshot::event::Event;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::{Snapshot, Str};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// What autoscalers would do for the Pending pods of a state.
#[derive(Debug, Default)]
pub struct Outlook {
    /// Every Karpenter whose NodePools are there.
    pub(super) karpenters: Vec<Karpenter>,
    /// Why Karpenter adds no node, where it does not run.
    pub(super) down: Option<String>,
    /// What becomes of the Pending pods when they are looked at together, as Karpenter does: by namespace and name.
    batch: OnceLock<HashMap<(Str, Str), Answer>>,
}

impl Outlook {
    /// That of a state.
    pub fn new(state: &State) -> Self {
        let karpenters = Karpenter::all(state);
        // Whether Karpenter runs is looked for among all pods.
        let presence = || Autoscaler::Karpenter.presence(state.snapshot());
        let down = match (!karpenters.is_empty()).then(presence) {
            Some(Presence::Down(why)) => Some(why),
            _ => None,
        };
        Self { karpenters, down, batch: OnceLock::new() }
    }

    /// What is found about new nodes for a pod that no node takes.
    pub fn finding(&self, pod: &Arc<Pod>, state: &State) -> Option<Finding> {
        if self.karpenters.is_empty() || pod.is_of_node() {
            return None;
        }
        let snapshot = state.snapshot();
        let refs = || {
            let pools = self.karpenters.iter().flat_map(|k| &k.pools);
            pools.map(|p| Ref::new("karpenter.sh/v1", "NodePool", "", p.name()))
        };
        let found = |message: String| Finding::new(Code::NodePool, message).about(refs());
        if let Some(why) = &self.down {
            return Some(
                found(format!("Karpenter is not running, so no node is added: {why}")).severity(Severity::Warning),
            );
        }
        let said = said_by_karpenter(pod, snapshot);
        if let Some(refused) = said.filter(|e| e.warning) {
            let message =
                format!("Karpenter adds no node for the pod: {} ({})", refused.message, ago(refused, snapshot));
            return Some(found(message).severity(Severity::Warning));
        }
        let finding = self.karpenters.iter().find_map(|k| self.by(k, pod, state)).map(|(severity, message)| {
            let named = |w: &str| refs().filter(|r| message.contains(&format!("{w} {}", r.name))).collect::<Vec<_>>();
            let mut first = named("NodePool");
            first.truncate(1);
            let rest: Vec<Ref> = refs().filter(|r| !first.contains(r)).collect();
            Finding::new(Code::NodePool, message).about(first.into_iter().chain(rest)).severity(severity)
        })?;
        // It has nominated a node for the pod already: then it is not said that it would not.
        (said.is_none() || finding.severity == Severity::Info).then_some(finding)
    }

    /// What one Karpenter would do for a pod; `None` where it says nothing of it.
    fn by(&self, karpenter: &Karpenter, pod: &Arc<Pod>, state: &State) -> Option<(Severity, String)> {
        let answer = self.answer(karpenter, pod, state);
        if let Some(why) = karpenter.refused(&answer) {
            return Some((Severity::Warning, why));
        }
        Some(match answer {
            Answer::Ignored(_) | Answer::NoPools | Answer::Invalid(_) | Answer::Refused(_) => return None,
            Answer::Existing(node) => (Severity::Info, existing(&node, karpenter)),
            Answer::New { pool, types, .. } => {
                (Severity::Info, could(pod, &pool, &types, &karpenter.offers(pod, state)))
            }
        })
    }

    fn answer(&self, karpenter: &Karpenter, pod: &Arc<Pod>, state: &State) -> Answer {
        let key = |p: &Pod| (p.meta.namespace.clone().unwrap_or_else(|| "".into()), p.meta.name.clone());
        let together = || {
            let pods = state.snapshot().pods.iter().filter(|p| p.node.is_none());
            let pods: Vec<Arc<Pod>> = pods.filter(|p| karpenter.looks_at(p).is_ok()).cloned().collect();
            let answers = karpenter.provision(&pods, state);
            pods.iter().map(|p| key(p)).zip(answers).collect()
        };
        let known = self.batch.get_or_init(together).get(&key(pod)).filter(|_| self.karpenters.len() == 1);
        known.cloned().unwrap_or_else(|| {
            let alone = karpenter.provision(std::slice::from_ref(pod), state);
            alone.into_iter().next().unwrap_or(Answer::NoPools)
        })
    }
}

impl Karpenter {
    /// Why no node of its pools comes for a pod that no node takes, in words.
    pub(super) fn refusal(&self, pod: &Arc<Pod>, state: &State) -> Option<String> {
        self.refused(self.provision_new(std::slice::from_ref(pod), state).first()?)
    }

    fn refused(&self, answer: &Answer) -> Option<String> {
        let unusable = || self.unusable.iter().map(|(pool, why)| (pool, why.to_string()));
        match answer {
            Answer::NoPools => Some(format!("Karpenter adds no node from any NodePool: {}", each(unusable()))),
            Answer::Invalid(why) => Some(format!("Karpenter adds no node for the pod: {why}")),
            Answer::Refused(refusals) => {
                let pools = refusals.iter().map(|(pool, why)| (pool, why.to_string()));
                let all = each(pools.chain(unusable()));
                Some(format!("no NodePool of Karpenter could give the pod a node: {all}"))
            }
            Answer::Ignored(_) | Answer::Existing(_) | Answer::New { .. } => None,
        }
    }
}

/// Karpenter could add a node: from which pools, of what, and which pools could not.
pub(super) fn could(pod: &Pod, pool: &Str, types: &Suitable, offers: &[Offer]) -> String {
    let others = offers.iter().filter(|o| o.pool != *pool);
    let (also, not): (Vec<&Offer>, Vec<&Offer>) = others.partition(|o| o.answer.is_ok());
    let also: String = also.iter().map(|o| format!(", else {}", o.pool)).collect();
    let of = match (&*types.known, types.all_known) {
        ([], _) => {
            let asked = requests(pod, Of::Incoming, u32::MAX);
            let asked = asked.iter().filter(|(_, q)| *q > Quantity::ZERO).map(|(n, q)| format!("{q} {n}"));
            let asked: Vec<String> = asked.collect();
            let asked = if asked.is_empty() { String::new() } else { format!(" for {}", asked.join(", ")) };
            format!(", if that has an instance type large enough{asked} (instance types are not in the API)")
        }
        ([one], true) => format!(" (instance type {one})"),
        ([first, ..], _) => format!(" (for example of instance type {first})"),
    };
    let not = each(not.iter().filter_map(|o| Some((&o.pool, o.answer.as_ref().err()?.clone()))));
    let not = if not.is_empty() { String::new() } else { format!("; not from {not}") };
    format!("Karpenter could add a node for the pod from NodePool {pool}{also}{of}{not}")
}

/// What each pool says, a few of many.
fn each<'a>(pools: impl Iterator<Item = (&'a Str, String)>) -> String {
    let all: Vec<String> = pools.map(|(pool, why)| format!("{pool}: {why}")).collect();
    match all.split_at_checked(3) {
        Some((first, rest)) if rest.len() > 1 => format!("{}; and {} more", first.join("; "), rest.len()),
        _ => all.join("; "),
    }
}

fn existing(node: &str, karpenter: &Karpenter) -> String {
    let machine = karpenter.machines.iter().find(|m| m.name() == node);
    match machine {
        Some(m) if !m.is_initialized() => {
            format!("Karpenter adds no other node: NodeClaim or node {node} is starting and has room")
        }
        _ => format!("Karpenter adds no node: by its rules node {node} has room for the pod"),
    }
}

/// Whether Karpenter's newest words about a pod are that it adds no node.
pub(super) fn adds_no_node(pod: &Pod, snapshot: &Snapshot) -> bool {
    said_by_karpenter(pod, snapshot).is_some_and(|e| e.warning)
}

/// Karpenter's newest words about a pod.
fn said_by_karpenter<'a>(pod: &'a Pod, snapshot: &'a Snapshot) -> Option<&'a Event> {
    let events = snapshot.events_about("Pod", pod.meta.ns(), &pod.meta.name);
    let ours =
        events.filter(|e| e.reporter.contains("karpenter") && ["FailedScheduling", "Nominated"].contains(&&*e.reason));
    let current = ours.filter(|e| e.uid.is_none() || pod.meta.uid.is_none() || e.uid == pod.meta.uid);
    current.max_by_key(|e| e.last_seen).map(|e| &**e)
}

fn ago(event: &Event, snapshot: &Snapshot) -> String {
    event.last_seen.map_or_else(|| "its event".to_owned(), |t| format!("its event {} ago", age(t, snapshot.now)))
}

/// The newest words of an autoscaler about a pod.
pub fn said(pod: &Pod, snapshot: &Snapshot) -> Option<String> {
    /// Reasons of the Cluster Autoscaler's events about pods.
    const REASONS: [&str; 2] = ["NotTriggerScaleUp", "TriggeredScaleUp"];
    let events = snapshot.events_about("Pod", pod.meta.ns(), &pod.meta.name);
    let ours = events.filter(|e| REASONS.contains(&&*e.reason) || e.reporter.contains("karpenter"));
    let newest = ours.max_by_key(|e| e.last_seen)?;
    let who = if newest.reporter.contains("karpenter") { "Karpenter" } else { "the Cluster Autoscaler" };
    let ago = newest.last_seen.map(|t| format!(" {} ago", age(t, snapshot.now))).unwrap_or_default();
    Some(format!("{who} said{ago}: {}", newest.message))
}
