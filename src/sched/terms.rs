//! Pod (anti-)affinity terms, ready to be matched. Mirrors `newAffinityTerm` and `AffinityTerm.Matches` of
//! `k8s.io/kube-scheduler/framework/types.go`.

use super::class::Class;
use crate::snapshot::pod::PodAffinityTerm;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Snapshot, Str};

/// A required (anti-)affinity term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// Namespaces by name; the pod's own is filled in where the term names none.
    pub namespaces: Box<[Str]>,
    /// Namespaces by their labels; `None` selects none.
    pub namespace_selector: Option<LabelSelector>,
    /// Which pods.
    pub selector: LabelSelector,
    /// The node label that says what the same place is.
    pub topology_key: Str,
}

impl Term {
    /// The term of a pod of this namespace.
    pub fn new(term: &PodAffinityTerm, namespace: &Str) -> Self {
        let own = term.namespaces.is_empty() && term.namespace_selector.is_none();
        Self {
            namespaces: if own { Box::new([namespace.clone()]) } else { term.namespaces.clone() },
            namespace_selector: term.namespace_selector.clone(),
            selector: term.selector.clone(),
            topology_key: term.topology_key.clone(),
        }
    }

    /// Whether pods of this namespace and label set are meant.
    pub fn matches(&self, class: &Class, namespaces: &Snapshot) -> bool {
        let named = self.namespaces.contains(&class.namespace);
        (named || self.selects_namespace(&class.namespace, namespaces)) && self.selector.matches(&class.labels)
    }

    fn selects_namespace(&self, name: &Str, namespaces: &Snapshot) -> bool {
        match &self.namespace_selector {
            None => false,
            Some(s) if s.is_everything() => true,
            Some(s) => s.matches(&namespaces.namespace_labels(name)),
        }
    }
}
