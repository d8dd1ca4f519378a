//! New nodes for pods that no node takes, in a cluster that changes: what Karpenter's rules allow, never a promise.

use super::karpenter::provision::{Answer, Karpenter};
use super::outlook::{Outlook, adds_no_node, could};
use crate::sched::State;
use crate::sched::kin::Kin;
use crate::sched::place::SAMPLED;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// A node that could come for a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNode {
    /// The NodePool that it would come from.
    pub pool: Str,
    /// Why it is taken to come, and what it depends on: a sentence.
    pub why: String,
}

/// Who could add nodes to a cluster.
#[derive(Debug)]
pub struct NewNodes {
    karpenters: Vec<Karpenter>,
    down: Option<String>,
    /// In a large cluster: the answer for pods of one template, each taken to come alone.
    known: RefCell<HashMap<Kin, Option<NewNode>>>,
}

impl NewNodes {
    /// Those of a cluster as it is.
    pub fn new(state: &State) -> Self {
        let Outlook { karpenters, down, .. } = Outlook::new(state);
        Self { karpenters, down, known: RefCell::default() }
    }

    /// The node that could come for the last of these pods, where the others get theirs, too. None of them is in the
    /// state.
    pub fn for_last(&self, pods: &[Arc<Pod>], state: &State) -> Option<NewNode> {
        let pod = pods.last()?;
        if self.down.is_some() || pod.is_of_node() || adds_no_node(pod, state.snapshot()) {
            return None;
        }
        let kin = if state.nodes().len() > SAMPLED { Kin::of(pod) } else { None };
        let Some(kin) = kin else { return self.look(pods, state) };
        if let Some(known) = self.known.borrow().get(&kin) {
            return known.clone();
        }
        let new = self.look(std::slice::from_ref(pod), state);
        self.known.borrow_mut().insert(kin, new.clone());
        new
    }

    fn look(&self, pods: &[Arc<Pod>], state: &State) -> Option<NewNode> {
        let pod = pods.last()?;
        self.karpenters.iter().find_map(|karpenter| {
            let answers = karpenter.provision_new(pods, state);
            if !answers.iter().all(|a| matches!(a, Answer::New { .. })) {
                return None;
            }
            match answers.into_iter().next_back() {
                Some(Answer::New { pool, types, .. }) => Some(NewNode { why: could(pod, &pool, &types, &[]), pool }),
                _ => None,
            }
        })
    }

    /// Why no node comes for a pod; `None` where nobody adds any, and in a large cluster, as it is looked for each pod.
    pub fn refusal(&self, pod: &Arc<Pod>, state: &State) -> Option<String> {
        if self.karpenters.is_empty() || state.nodes().len() > SAMPLED {
            return None;
        }
        if let Some(why) = &self.down {
            return Some(format!("Karpenter is not running, so no node is added: {why}"));
        }
        self.karpenters.iter().find_map(|k| k.refusal(pod, state))
    }
}
