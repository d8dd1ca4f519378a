//! Names as users give them, and what they may have meant.

use crate::error::{Failure, Result};
use crate::snapshot::{Kind, Snapshot};
use std::collections::BTreeSet;
use strsim::levenshtein;

/// The name in `web`, `pdb/web`, `poddisruptionbudget.policy/web` …
///
/// # Errors
/// What stands before the slash is another kind.
pub fn of(kind: Kind, name: &str) -> Result<&str> {
    match name.split_once('/') {
        None => Ok(name),
        Some((word, name)) if Kind::from_word(word) == Some(kind) => Ok(name),
        Some((word, rest)) => {
            let failure = Failure::usage(format!("{name:?} is not a {kind}"));
            Err(match Kind::from_word(word) {
                None if kind.info().namespaced => failure.hint(format!("a namespace is given by -n: {rest} -n {word}")),
                _ => failure,
            })
        }
    }
}

/// What to do about a name that is not there: the namespaces that have it, else names that are near, else all.
pub fn hint<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    elsewhere: impl Iterator<Item = String>,
) -> String {
    let elsewhere: Vec<String> = elsewhere.take(4).collect();
    if !elsewhere.is_empty() {
        return format!(
            "it is in namespace {}: give -n {}",
            elsewhere.join(", "),
            elsewhere.first().map_or("", |ns| ns)
        );
    }
    let mut near: Vec<&str> =
        known.clone().filter(|k| levenshtein(name, k) <= name.len() / 3 + 1 || k.contains(name)).collect();
    near.sort_by_key(|k| levenshtein(name, k));
    near.truncate(4);
    if !near.is_empty() {
        return format!("did you mean {}?", near.join(" or "));
    }
    let all: Vec<&str> = known.clone().take(8).collect();
    match (all.is_empty(), known.count() > all.len()) {
        (true, _) => "there is none in this namespace: give -n, or -A for all namespaces".to_owned(),
        (false, true) => format!("there are: {} and more", all.join(", ")),
        (false, false) if all.len() == 1 => format!("there is only: {}", all.join(", ")),
        (false, false) => format!("there are: {}", all.join(", ")),
    }
}

/// What to add where nothing was found in a namespace that holds no pod and no budget; empty where others are not known,
/// as of a cluster of which that namespace alone was read.
pub fn namespace_hint(namespace: &str, snapshot: &Snapshot) -> String {
    let used = snapshot.pods.iter().map(|p| p.meta.ns()).chain(snapshot.budgets.iter().map(|b| b.meta.ns()));
    let used: BTreeSet<&str> = used.collect();
    if used.is_empty() || used.contains(namespace) {
        return String::new();
    }
    format!(" No pod and no budget is in that namespace: {}", hint(namespace, used.iter().copied(), std::iter::empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, pod};

    #[test]
    fn a_namespace_that_is_not_there_is_told() {
        let snapshot = cluster().add(pod("web/site")).add(pod("shop/cart")).snapshot();
        for (namespace, want) in [
            ("wep", " No pod and no budget is in that namespace: did you mean web?"),
            ("elsewhere", " No pod and no budget is in that namespace: there are: shop, web"),
            ("web", ""),
        ] {
            assert_eq!(namespace_hint(namespace, &snapshot), want, "{namespace}");
        }
        assert_eq!(namespace_hint("wep", &cluster().snapshot()), "");
    }

    #[test]
    fn a_kind_may_stand_before_the_name() {
        for (name, want) in [
            ("web", Some("web")),
            ("pdb/web", Some("web")),
            ("poddisruptionbudgets.policy/web", Some("web")),
            ("pod/web", None),
            ("shop/web", None),
        ] {
            assert_eq!(of(Kind::PodDisruptionBudget, name).ok(), want, "{name}");
        }
    }

    #[test]
    fn near_names_are_offered() {
        let known = ["web", "api", "worker"];
        assert_eq!(hint("wbe", known.into_iter(), std::iter::empty()), "did you mean web?");
        assert_eq!(hint("zzzzzz", known.into_iter(), std::iter::empty()), "there are: web, api, worker");
        assert_eq!(
            hint("web", known.into_iter(), ["shop".to_owned()].into_iter()),
            "it is in namespace shop: give -n shop"
        );
    }
}
