//! What is required of all labels of a node. Mirrors `pkg/scheduling/requirements.go`.

use super::labels::Provider;
use super::requirement::Requirement;
use crate::snapshot::pod::PodSpec;
use crate::snapshot::selector::NodeTerm;
use crate::snapshot::{Map, Str};
use std::collections::BTreeMap;

/// Requirements by label; one each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements(BTreeMap<Str, Requirement>);

/// Where two sets of requirements do not go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What is asked for.
    pub asked: Requirement,
    /// What is offered of the same label; `None` where the node would not have it.
    pub offered: Option<Requirement>,
}

impl Requirements {
    /// Narrows what is there by one more. Mirrors `Add`.
    pub fn add(&mut self, requirement: Requirement) {
        let narrowed = match self.0.get(&requirement.key) {
            Some(there) => requirement.intersection(there),
            None => requirement,
        };
        self.0.insert(narrowed.key.clone(), narrowed);
    }

    /// Puts a requirement in the place of the one on the same label.
    pub fn set(&mut self, requirement: Requirement) {
        self.0.insert(requirement.key.clone(), requirement);
    }

    /// Narrows by all of another set.
    pub fn add_all(&mut self, others: &Self) {
        others.iter().for_each(|r| self.add(r.clone()));
    }

    /// What is required of a label, where something is.
    pub fn get(&self, key: &str) -> Option<&Requirement> {
        self.0.get(key)
    }

    /// All of them, by label.
    pub fn iter(&self) -> impl Iterator<Item = &Requirement> {
        self.0.values()
    }

    /// Whether a node that meets these can meet what is asked. Labels for which `open` holds may be left out here: the
    /// instance type may bring them. Mirrors `Compatible`.
    pub fn compatible(&self, asked: &Self, open: impl Fn(&str) -> bool) -> bool {
        self.clash(asked, open).is_none()
    }

    /// Where they do not go together, if so.
    pub fn mismatch(&self, asked: &Self, open: impl Fn(&str) -> bool) -> Option<Mismatch> {
        let (asked, offered) = self.clash(asked, open)?;
        Some(Mismatch { asked: asked.clone(), offered: offered.cloned() })
    }

    /// Whether no label that both name is without a common value. Mirrors `Intersects`.
    pub fn intersects(&self, asked: &Self) -> bool {
        self.disjoint(asked).is_none()
    }

    fn clash<'a>(
        &'a self,
        asked: &'a Self,
        open: impl Fn(&str) -> bool,
    ) -> Option<(&'a Requirement, Option<&'a Requirement>)> {
        let undefined = |r: &&Requirement| !r.allows_absence() && self.get(&r.key).is_none() && !open(&r.key);
        let undefined = asked.iter().find(undefined).map(|r| (r, None));
        undefined.or_else(|| self.disjoint(asked).map(|(asked, there)| (asked, Some(there))))
    }

    fn disjoint<'a>(&'a self, asked: &'a Self) -> Option<(&'a Requirement, &'a Requirement)> {
        asked.iter().find_map(|r| {
            let there = self.get(&r.key)?;
            // Two that both allow the label to be absent do not exclude each other.
            let both_absent = r.allows_absence() && there.allows_absence();
            (!both_absent && !there.intersects(r)).then_some((r, there))
        })
    }

    /// Whether a node with exactly these labels meets what is asked.
    pub fn met_by(&self, labels: &Map, provider: Provider) -> bool {
        self.met_where(|key| label(labels, key, provider))
    }

    /// The same of a node whose labels are looked up by their present names.
    pub fn met_where<'l>(&self, label: impl Fn(&str) -> Option<&'l Str>) -> bool {
        self.iter().all(|r| match label(&r.key) {
            Some(value) => r.has(value),
            None => r.allows_absence(),
        })
    }
}

/// The value of a label, under its present name or an older one.
pub fn label<'a>(labels: &'a Map, key: &str, provider: Provider) -> Option<&'a Str> {
    labels.get(key).or_else(|| labels.iter().find(|(k, _)| provider.normalized(k) == key).map(|(_, v)| v))
}

impl FromIterator<Requirement> for Requirements {
    fn from_iter<I: IntoIterator<Item = Requirement>>(all: I) -> Self {
        let mut requirements = Self::default();
        all.into_iter().for_each(|r| requirements.add(r));
        requirements
    }
}

/// That a node has these labels. Mirrors `NewLabelRequirements`.
pub fn of_labels(labels: &Map, provider: Provider) -> Requirements {
    labels.iter().map(|(k, v)| Requirement::equals(provider.normalized(k), v.clone())).collect()
}

/// What one term of a node affinity requires of labels; fields are not looked at.
pub fn of_term(term: &NodeTerm, provider: Provider) -> Requirements {
    term.labels.iter().map(|r| Requirement::of_selector(r, provider)).collect()
}

/// What a pod requires of its node: its selector, the first term of its required affinity, and with `wishes` its
/// heaviest preference. The other terms come in turn, as [`relax`](super::relax) drops the first. Mirrors
/// `newPodRequirements`.
pub fn of_pod(spec: &PodSpec, wishes: bool, provider: Provider) -> Requirements {
    let mut all = of_labels(&spec.node_selector, provider);
    let heaviest = spec.preferred_node_affinity.iter().rev().max_by_key(|p| p.weight).filter(|_| wishes);
    let required = spec.node_affinity.as_ref().and_then(|a| a.0.first());
    for term in heaviest.map(|p| &p.term).into_iter().chain(required) {
        all.add_all(&of_term(term, provider));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::requirement::Operator;
    use super::*;

    fn set(text: &str) -> Requirements {
        let one = |text: &str| {
            let mut words = text.split(' ');
            let key = words.next()?.into();
            let operator = Operator::read(words.next()?)?;
            Some(Requirement::new(key, operator, words.map(Str::from)))
        };
        text.split(", ").filter_map(one).collect()
    }

    #[test]
    fn sets_go_together_as_upstream() {
        // After the tables of compatibility in `requirements_test.go`: rows are what a node has, columns what is asked;
        // first for a label that must be known, then for one that instance types may bring.
        const OPERATORS: [&str; 9] = ["-", "Exists", "DoesNotExist", "In A", "In B", "NotIn A", "In 1", "Gt 1", "Lt 1"];
        const ROWS: [&str; 9] = [
            "y n y n n y n n n", // -
            "y y n y y y y y y", // Exists
            "y n y n n y n n n", // DoesNotExist
            "y y n y n n n n n", // In A
            "y y n n y y n n n", // In B
            "y y y n y y y y y", // NotIn A
            "y y n n n y y n n", // In 1
            "y y n n n y n y n", // Gt 1
            "y y n n n y n n y", // Lt 1
        ];
        const OPEN: &str = "y y y y y y y y y";
        for (open, first) in [(false, ROWS[0]), (true, OPEN)] {
            for (row, have) in std::iter::once(first).chain(ROWS[1..].iter().copied()).zip(OPERATORS) {
                for (want, ask) in row.split(' ').zip(OPERATORS) {
                    let (have, ask) = (set(&format!("k {have}")), set(&format!("k {ask}")));
                    let got = have.compatible(&ask, |_| open);
                    assert_eq!(got, want == "y", "{have:?} asked {ask:?}, open {open}");
                }
            }
        }
    }

    #[test]
    fn requirements_on_one_label_are_narrowed() {
        let both = set("k In a b, k NotIn a");
        assert_eq!(both.get("k").map(ToString::to_string).as_deref(), Some("k=b"));
        // Two that contradict each other count as an absent label.
        let none = set("k In a, k In b");
        assert!(none.get("k").is_some_and(Requirement::is_nothing));
        assert!(set("").compatible(&none, |_| false));
    }
}
