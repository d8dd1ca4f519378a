//! Small numbers for what occurs over and over: names of resources, label sets, sets of anti-affinity terms. The tables
//! only grow, and all copies of a state share them, so that a number means the same in each.

use super::class::Class;
use super::terms::Term;
use crate::snapshot::Str;
use foldhash::HashMap;
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
    /// The numbers by the namespaces that a value speaks of; those that may speak of any are under `None`.
    by_namespace: HashMap<Option<Str>, Vec<u32>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ids: HashMap::default(), by_namespace: HashMap::default() }
    }
}

impl<T> Numbered<T> {
    fn under<'s>(&'s self, namespace: &Option<Str>) -> impl Iterator<Item = (u32, &'s T)> + use<'s, T> {
        let ids = self.by_namespace.get(namespace).into_iter().flatten();
        ids.filter_map(|id| Some((*id, self.values.get(*id as usize)?)))
    }
}

/// A table that only grows.
struct Growing<T>(RwLock<Numbered<T>>);

impl<T: Clone + Eq + Hash> Growing<T> {
    fn new() -> Self {
        Self(RwLock::new(Numbered::default()))
    }

    /// The number of a value; `namespaces` are those it speaks of, asked for when it is new.
    fn id<N: IntoIterator<Item = Option<Str>>>(&self, value: &T, namespaces: impl FnOnce() -> N) -> u32 {
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
        for namespace in namespaces() {
            let ids = n.by_namespace.entry(namespace).or_default();
            if ids.last() != Some(&id) {
                ids.push(id);
            }
        }
        id
    }

    fn read<R>(&self, look: impl FnOnce(&Numbered<T>) -> R) -> R {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
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

/// What some of the values of a table are judged to be, by number. Values that were added later have to be judged anew.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged<R> {
    /// Numbers, in order, with what they were judged to be.
    found: Vec<(u32, R)>,
    /// So many values had been seen.
    seen: u32,
}

impl<R> Default for Judged<R> {
    fn default() -> Self {
        Self { found: Vec::new(), seen: 0 }
    }
}

impl<R> Judged<R> {
    fn new(mut found: Vec<(u32, R)>, seen: usize) -> Self {
        found.sort_by_key(|(id, _)| *id);
        found.dedup_by_key(|(id, _)| *id);
        Self { found, seen: u32::try_from(seen).unwrap_or(u32::MAX) }
    }

    /// What was found, turned into something else.
    pub fn map<T>(self, mut turn: impl FnMut(R) -> T) -> Judged<T> {
        Judged { found: self.found.into_iter().map(|(id, r)| (id, turn(r))).collect(), seen: self.seen }
    }

    /// The numbers found, in order.
    pub fn ids(&self) -> Vec<u32> {
        self.found.iter().map(|(id, _)| *id).collect()
    }

    /// What a number was judged to be: nothing, or something; the outer `None` is for a value added later.
    pub fn get(&self, id: u32) -> Option<Option<&R>> {
        let found = || self.found.binary_search_by_key(&id, |(id, _)| *id).ok().and_then(|at| self.found.get(at));
        (id < self.seen).then(|| found().map(|(_, r)| r))
    }
}

impl Catalogue {
    /// The number of a resource.
    pub fn resource(&self, name: &Str) -> ResourceId {
        ResourceId::try_from(self.resources.id(name, || None)).unwrap_or(ResourceId::MAX)
    }

    /// The name of a resource.
    pub fn resource_name(&self, id: ResourceId) -> Str {
        self.resources.read(|n| n.values.get(usize::from(id)).cloned()).unwrap_or_else(|| Str::from(""))
    }

    /// The number of a namespace and label set.
    pub fn class(&self, class: &Class) -> ClassId {
        self.classes.id(class, || Some(Some(class.namespace.clone())))
    }

    /// Judges every namespace and label set seen so far; only those of some namespaces, where they are given.
    pub fn judge_classes<R>(&self, namespaces: Option<&[Str]>, judge: impl Fn(&Class) -> Option<R>) -> Judged<R> {
        self.classes.read(|n| {
            let judged = |(id, class)| Some((id, judge(class)?));
            let found = match namespaces {
                None => (0..).zip(&n.values).filter_map(judged).collect(),
                Some(names) => names.iter().flat_map(|ns| n.under(&Some(ns.clone()))).filter_map(judged).collect(),
            };
            Judged::new(found, n.values.len())
        })
    }

    /// The number of a set of terms.
    pub fn repel(&self, terms: &Arc<[Term]>) -> RepelId {
        self.repels.id(terms, || {
            let any = terms.iter().any(|t| t.namespace_selector.is_some()).then_some(None);
            let named: Vec<_> = terms.iter().flat_map(|t| t.namespaces.iter().cloned().map(Some)).collect();
            any.into_iter().chain(named)
        })
    }

    /// Judges every set of terms seen so far that may mean pods of a namespace.
    pub fn judge_repels<R>(&self, namespace: &Str, judge: impl Fn(&Arc<[Term]>) -> Option<R>) -> Judged<R> {
        self.repels.read(|n| {
            let named = n.under(&Some(namespace.clone()));
            let found = named.chain(n.under(&None)).filter_map(|(id, terms)| Some((id, judge(terms)?))).collect();
            Judged::new(found, n.values.len())
        })
    }
}
