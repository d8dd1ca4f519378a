//! Small numbers for what occurs over and over: names of resources, label sets, sets of anti-affinity terms. The tables
//! only grow, and all copies of a state share them, so that a number means the same in each.

use super::terms::Term;
use crate::snapshot::{Map, Str};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

/// The number of a resource name.
pub type ResourceId = u16;
/// The number of a namespace and label set: all that selectors can tell pods apart by.
pub type ClassId = u32;
/// The number of a set of required anti-affinity terms.
pub type RepelId = u32;

struct Numbered<T> {
    values: Vec<T>,
    ids: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ids: HashMap::new() }
    }
}

/// A table that only grows.
struct Growing<T>(RwLock<Numbered<T>>);

impl<T: Clone + Eq + Hash> Growing<T> {
    fn new() -> Self {
        Self(RwLock::new(Numbered::default()))
    }

    fn id(&self, value: &T) -> u32 {
        if let Some(id) = self.read(|n| n.ids.get(value).copied()) {
            return id;
        }
        let mut n = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = n.ids.get(value) {
            return *id;
        }
        let id = u32::try_from(n.values.len()).unwrap_or(u32::MAX);
        n.values.push(value.clone());
        n.ids.insert(value.clone(), id);
        id
    }

    fn read<R>(&self, look: impl FnOnce(&Numbered<T>) -> R) -> R {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A namespace and a label set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Class {
    /// The namespace.
    pub namespace: Str,
    /// The labels.
    pub labels: Map,
}

/// The tables of numbers.
pub struct Catalogue {
    resources: Growing<Str>,
    classes: Growing<Class>,
    repels: Growing<Arc<[Term]>>,
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalogue").finish_non_exhaustive()
    }
}

impl Default for Catalogue {
    fn default() -> Self {
        Self { resources: Growing::new(), classes: Growing::new(), repels: Growing::new() }
    }
}

impl Catalogue {
    /// The number of a resource.
    pub fn resource(&self, name: &Str) -> ResourceId {
        ResourceId::try_from(self.resources.id(name)).unwrap_or(ResourceId::MAX)
    }

    /// The name of a resource.
    pub fn resource_name(&self, id: ResourceId) -> Str {
        self.resources.read(|n| n.values.get(usize::from(id)).cloned()).unwrap_or_else(|| Str::from(""))
    }

    /// The number of a namespace and label set.
    pub fn class(&self, class: &Class) -> ClassId {
        self.classes.id(class)
    }

    /// Judges every namespace and label set seen so far, by number.
    pub fn judge_classes(&self, judge: impl FnMut(&Class) -> bool) -> Vec<bool> {
        self.classes.read(|n| n.values.iter().map(judge).collect())
    }

    /// The number of a set of terms.
    pub fn repel(&self, terms: &Arc<[Term]>) -> RepelId {
        self.repels.id(terms)
    }

    /// Looks at every set of terms seen so far, by number.
    pub fn judge_repels<R>(&self, judge: impl FnMut(&Arc<[Term]>) -> R) -> Vec<R> {
        self.repels.read(|n| n.values.iter().map(judge).collect())
    }
}
