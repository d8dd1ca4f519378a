//! Objects of one kind, sorted by namespace and name, so that the order is also the index.

use super::kinds::Kind;
use super::meta::Meta;
use std::sync::Arc;

/// Something that stands in a table.
pub trait Keyed {
    /// By its namespace and name it is found.
    fn meta(&self) -> &Meta;

    /// Its group and kind, where several kinds share the table.
    fn group_kind(&self) -> Option<(&str, &str)> {
        None
    }
}

/// All objects of a kind. Cloning shares them; changing a clone leaves the original as it is.
#[derive(Debug)]
pub struct Table<T>(Arc<Vec<Arc<T>>>);

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Arc::new(Vec::new()))
    }
}

impl<T> std::ops::Deref for Table<T> {
    type Target = [Arc<T>];
    fn deref(&self) -> &[Arc<T>] {
        &self.0
    }
}

/// Objects of which the input has two states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Twice {
    /// How many.
    pub count: usize,
    /// Some of them: `Pod shop/web-0`.
    pub some: Vec<String>,
}

impl Twice {
    fn note(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.some.len() < 3 {
            self.some.push(name());
        }
    }
}

fn key<T: Keyed>(o: &T) -> (&str, &str) {
    (o.meta().ns(), &o.meta().name)
}

impl<T: Keyed> Table<T> {
    /// Adds an object; the table has to be sorted before it is looked up in.
    pub(super) fn push(&mut self, object: Arc<T>) {
        Arc::make_mut(&mut self.0).push(object);
    }

    /// Drops the objects of a kind.
    pub(super) fn forget(&mut self, kind: Kind) {
        let info = kind.info();
        Arc::make_mut(&mut self.0).retain(|o| o.group_kind().is_some_and(|of| of != (info.group, info.name)));
    }

    /// Sorts the objects. Of two with the same key and kind the newer one stays, by their resource versions; where these
    /// do not tell, the one read last, as a later file amends an earlier. `kind` is what the others are noted as.
    pub(super) fn sort(&mut self, kind: &str, twice: &mut Twice) {
        let objects = Arc::make_mut(&mut self.0);
        objects.sort_by(|a, b| {
            let version = |o: &T| o.meta().resource_version;
            key(&**a)
                .cmp(&key(&**b))
                .then_with(|| a.group_kind().cmp(&b.group_kind()))
                .then_with(|| version(a).cmp(&version(b)))
        });
        objects.reverse();
        objects.dedup_by(|old, new| {
            let same = key(&**old) == key(&**new) && old.group_kind() == new.group_kind();
            let version = old.meta().resource_version;
            if same && (version == 0 || version != new.meta().resource_version) {
                twice.note(|| format!("{} {}", old.group_kind().map_or(kind, |(_, kind)| kind), old.meta().path()));
            }
            same
        });
        objects.reverse();
        objects.shrink_to_fit();
    }

    /// The objects of a namespace.
    pub fn in_namespace(&self, ns: &str) -> &[Arc<T>] {
        let from = self.0.partition_point(|o| o.meta().ns() < ns);
        let to = self.0.partition_point(|o| o.meta().ns() <= ns);
        self.0.get(from..to).unwrap_or_default()
    }

    /// Where the object stands; the first one where kinds share the table.
    pub fn position(&self, ns: &str, name: &str) -> Option<usize> {
        let at = self.0.partition_point(|o| key(&**o) < (ns, name));
        self.0.get(at).filter(|o| key(&***o) == (ns, name)).map(|_| at)
    }

    /// The object of a namespace and name; the namespace is empty for kinds outside namespaces.
    pub fn named(&self, ns: &str, name: &str) -> Option<&Arc<T>> {
        self.position(ns, name).and_then(|at| self.0.get(at))
    }

    /// Puts an object in the place of the one with the same key and kind, or adds it. Other holders of the table keep
    /// theirs.
    pub fn put(&mut self, object: Arc<T>) {
        let list = Arc::make_mut(&mut self.0);
        let at = list.partition_point(|o| key(&**o) < key(&*object));
        let mut same_key = list.iter_mut().skip(at).take_while(|o| key(&***o) == key(&*object));
        match same_key.find(|o| o.group_kind() == object.group_kind()) {
            Some(there) => *there = object,
            None => list.insert(at, object),
        }
    }

    /// Takes an object out.
    pub fn remove(&mut self, ns: &str, name: &str) {
        if let Some(at) = self.position(ns, name) {
            Arc::make_mut(&mut self.0).remove(at);
        }
    }

    /// Whether it is the very same table: a clone of which nothing was changed.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// For each object in turn, where the very same one stands in another table; `None` for one that is not there, or that
    /// stands there with the same key and is another.
    pub fn places_in(&self, other: &Self) -> impl Iterator<Item = Option<usize>> {
        let mut next = 0;
        self.iter().map(move |object| {
            // Keys are compared only where the tables differ.
            let mut there = other.get(next)?;
            while !Arc::ptr_eq(there, object) && key(&**there) < key(&**object) {
                next += 1;
                there = other.get(next)?;
            }
            let at = next;
            Arc::ptr_eq(there, object).then(|| {
                next += 1;
                at
            })
        })
    }

    /// Changes every object for which `change` returns another.
    pub fn update(&mut self, change: impl Fn(&Arc<T>) -> Option<Arc<T>>) {
        let list = Arc::make_mut(&mut self.0);
        for o in list {
            if let Some(new) = change(o) {
                *o = new;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::workload::Workload;
    use crate::testing::{cluster, object, pod};

    #[test]
    fn the_last_of_a_name_stays_and_the_order_is_by_namespace_and_name() {
        let twice = |label: &str| pod("b/x").label("read", label);
        let snapshot = cluster().add(twice("first")).add(pod("b/a")).add(pod("a/z")).add(twice("last")).snapshot();
        let paths: Vec<_> = snapshot.pods.iter().map(|p| p.meta.path()).collect();
        assert_eq!(paths, ["a/z", "b/a", "b/x"]);
        assert_eq!(snapshot.pods.named("b", "x").unwrap().meta.labels.get("read").map(|v| &**v), Some("last"));
        for (ns, want) in [("a", 1), ("b", 2), ("", 0), ("aa", 0), ("c", 0)] {
            assert_eq!(snapshot.pods.in_namespace(ns).len(), want, "{ns}");
        }
        assert!(snapshot.pods.named("a", "x").is_none());
    }

    #[test]
    fn kinds_that_share_a_table_and_a_name_stay_apart() {
        let of = |kind: &str| object("apps/v1", kind, "a/x");
        let snapshot = cluster().add(of("Deployment")).add(of("ReplicaSet")).add(of("Deployment")).snapshot();
        let kinds = |table: &super::Table<Workload>| {
            let mut kinds: Vec<String> = table.iter().map(|w| w.kind.to_string()).collect();
            kinds.sort();
            kinds
        };
        assert_eq!(kinds(&snapshot.workloads), ["Deployment", "ReplicaSet"]);
        for changed in ["Deployment", "ReplicaSet"] {
            let mut table = snapshot.workloads.clone();
            let mut one = (**snapshot.workload(changed, "a", "x").unwrap()).clone();
            one.meta.generation = 7;
            table.put(std::sync::Arc::new(one));
            assert_eq!(kinds(&table), ["Deployment", "ReplicaSet"], "{changed}");
            assert!(table.iter().all(|w| (w.meta.generation == 7) == (&*w.kind == changed)), "{changed}");
        }
        assert!(snapshot.workloads.iter().all(|w| w.meta.generation == 1), "other holders keep theirs");
    }

    #[test]
    fn the_places_of_objects_in_another_table() {
        let before = cluster().all(["a/p1", "a/p2", "b/p1", "b/p2"].map(pod)).snapshot();
        let new = cluster().all(["a/p0", "a/p2", "b/p3"].map(pod)).snapshot();
        let mut changed = before.clone();
        changed.pods.remove("b", "p1");
        new.pods.iter().for_each(|p| changed.pods.put(p.clone()));
        let places: Vec<Option<usize>> = changed.pods.places_in(&before.pods).collect();
        assert_eq!(places, [None, Some(0), None, Some(3), None]);
    }
}
