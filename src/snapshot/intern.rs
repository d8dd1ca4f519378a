//! Strings and structures that occur many times, kept once.

use foldhash::{HashSet, HashSetExt};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

/// A string kept once however often it occurs. Equal strings of one snapshot share their bytes.
pub type Str = Arc<str>;

/// Keeps one copy of every string, label set and pod template that a snapshot is built from.
#[derive(Default)]
pub struct Interner {
    strings: HashSet<Str>,
    maps: HashSet<Arc<[(Str, Str)]>>,
}

impl Interner {
    /// The one copy of this string.
    pub fn str(&mut self, text: &str) -> Str {
        if let Some(known) = self.strings.get(text) {
            return known.clone();
        }
        let new: Str = text.into();
        self.strings.insert(new.clone());
        new
    }

    /// As [`str`](Self::str), with `None` for the empty string, as the API means it.
    pub fn opt(&mut self, text: &str) -> Option<Str> {
        if text.is_empty() { None } else { Some(self.str(text)) }
    }

    /// Every string of a list.
    pub fn strs<'a>(&mut self, list: impl IntoIterator<Item = &'a String>) -> Box<[Str]> {
        list.into_iter().map(|s| self.str(s)).collect()
    }

    /// The one copy of a map, sorted by key.
    pub fn map(&mut self, map: &BTreeMap<String, String>) -> Map {
        let pairs: Vec<(Str, Str)> = map.iter().map(|(k, v)| (self.str(k), self.str(v))).collect();
        Map(keep(&mut self.maps, pairs))
    }
}

fn keep<T: ?Sized + Hash + Eq, V: Borrow<T> + Into<Arc<T>>>(known: &mut HashSet<Arc<T>>, value: V) -> Arc<T> {
    if let Some(shared) = known.get(value.borrow()) {
        return shared.clone();
    }
    let shared: Arc<T> = value.into();
    known.insert(shared.clone());
    shared
}

/// Keeps one copy of equal values of one type.
pub struct Shared<T>(HashSet<Arc<T>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(HashSet::new())
    }
}

impl<T: Hash + Eq> Shared<T> {
    /// The one copy of this value.
    pub fn share(&mut self, value: T) -> Arc<T> {
        keep(&mut self.0, value)
    }
}

/// A small map of strings, sorted by key: labels, annotations, a node selector. Cloning shares it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Map(Arc<[(Str, Str)]>);

impl Default for Map {
    fn default() -> Self {
        Self(Arc::new([]))
    }
}

impl Map {
    /// The value under a key.
    pub fn get(&self, key: &str) -> Option<&Str> {
        self.0.binary_search_by(|(k, _)| (**k).cmp(key)).ok().and_then(|i| self.0.get(i)).map(|(_, v)| v)
    }

    /// Whether the key is there.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// All pairs, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &Str)> {
        self.0.iter().map(|(k, v)| (k, v))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is the very same map, kept once. Equal maps of one snapshot are.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A copy with one more pair, or another value under a known key.
    #[must_use]
    pub fn with(&self, key: &str, value: &str) -> Self {
        let mut pairs: Vec<_> = self.0.iter().filter(|(k, _)| **k != *key).cloned().collect();
        pairs.push((key.into(), value.into()));
        pairs.into_iter().collect()
    }
}

impl FromIterator<(Str, Str)> for Map {
    fn from_iter<I: IntoIterator<Item = (Str, Str)>>(pairs: I) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort();
        Self(pairs.into())
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Map {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        pairs.into_iter().map(|(k, v)| (Str::from(k), Str::from(v))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_and_maps_are_kept_once() {
        let mut i = Interner::default();
        let (a, b) = (i.str("web"), i.str(&String::from("web")));
        assert!(Arc::ptr_eq(&a, &b));
        let map = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
        let (a, b) = (i.map(&map), i.map(&map));
        assert!(Arc::ptr_eq(&a.0, &b.0));
        assert_eq!(a.get("app").map(|s| &**s), Some("web"));
        assert_eq!(a.with("app", "api").get("app").map(|s| &**s), Some("api"));
    }
}
