//! Label and node selectors. Mirrors `apimachinery/pkg/apis/meta/v1/helpers.go` (LabelSelectorAsSelector),
//! `apimachinery/pkg/labels/selector.go` and `component-helpers/scheduling/corev1/nodeaffinity`.

use super::intern::{Interner, Map};
pub use super::requirement::{Operator, Requirement};
use super::selector_text;
use crate::wire::{core, meta as wire_meta, node};
use std::fmt;

/// A label selector.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum LabelSelector {
    /// Absent (`null`): selects nothing.
    #[default]
    Nothing,
    /// All requirements must hold; with none, everything is selected.
    All(Box<[Requirement]>),
    /// Cannot be used as written: selects nothing, and a controller that needs it fails.
    Invalid,
}

impl LabelSelector {
    /// Reads the wire form.
    pub fn read(wire: Option<&wire_meta::LabelSelector>, i: &mut Interner) -> Self {
        let Some(wire) = wire else { return Self::Nothing };
        let mut all = Vec::new();
        for (key, value) in &wire.match_labels {
            match Requirement::new(i.str(key), Operator::In, Box::new([i.str(value)])) {
                Some(r) => all.push(r),
                None => return Self::Invalid,
            }
        }
        for e in &wire.match_expressions {
            match Requirement::read(&e.key, &e.operator, &e.values, i) {
                Some(r) if !matches!(r.operator, Operator::Gt | Operator::Lt) => all.push(r),
                _ => return Self::Invalid,
            }
        }
        Self::All(all.into())
    }

    /// The selector that a plain map of labels means.
    pub fn from_map(map: &Map) -> Self {
        Self::All(map.iter().map(|(k, v)| Requirement::equals(k.clone(), v.clone())).collect())
    }

    /// Reads kubectl's `-l` syntax: `a=b,c!=d,e in (f,g),h,!i`. The error says what cannot be read.
    pub fn parse(text: &str) -> Result<Self, String> {
        selector_text::parse(text).map(|all| Self::All(all.into()))
    }

    /// The requirements, empty for a selector that selects nothing.
    pub fn requirements(&self) -> &[Requirement] {
        match self {
            Self::All(r) => r,
            Self::Nothing | Self::Invalid => &[],
        }
    }

    /// Whether it selects an object with these labels.
    pub fn matches(&self, labels: &Map) -> bool {
        match self {
            Self::All(requirements) => requirements.iter().all(|r| r.accepts(labels.get(&r.key).map(|v| &**v))),
            Self::Nothing | Self::Invalid => false,
        }
    }

    /// Whether it is there and asks for nothing: it selects everything.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::All(r) if r.is_empty())
    }
}

/// As `kubectl` prints a selector: `app=web,tier in (a,b)`; `<none>` for nothing and `<all>` for everything.
impl core::ServiceSpec {
    /// Whether pods with these labels are behind the Service. One without a selector has none: its endpoints are kept by
    /// others.
    pub fn selects(&self, labels: &Map) -> bool {
        let has = |(key, value): (&String, &String)| labels.get(key).is_some_and(|l| **l == **value);
        !self.selector.is_empty() && self.selector.iter().all(has)
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("<none>"),
            Self::Invalid => f.write_str("<invalid>"),
            Self::All(r) if r.is_empty() => f.write_str("<all>"),
            Self::All(r) => f.write_str(&r.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")),
        }
    }
}

/// A node selector: any of its terms must match.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct NodeSelector(pub Box<[NodeTerm]>);

/// One term of a node selector: all of it must hold. A term without requirements, or an invalid one, matches nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct NodeTerm {
    /// On the node's labels.
    pub labels: Box<[Requirement]>,
    /// On the node's fields; only `metadata.name` exists.
    pub fields: Box<[Requirement]>,
    /// Set when a requirement could not be read: the term then matches nothing.
    pub invalid: bool,
}

impl NodeSelector {
    /// Reads the wire form.
    pub fn read(wire: &node::NodeSelector, i: &mut Interner) -> Self {
        Self(wire.node_selector_terms.iter().map(|t| NodeTerm::read(t, i)).collect())
    }

    /// Whether some term matches a node of this name and these labels.
    pub fn matches(&self, name: &str, labels: &Map) -> bool {
        self.0.iter().any(|t| t.matches(name, labels))
    }
}

impl NodeTerm {
    /// Reads the wire form.
    pub fn read(wire: &node::NodeSelectorTerm, i: &mut Interner) -> Self {
        let labels: Option<Box<[_]>> =
            wire.match_expressions.iter().map(|r| Requirement::read(&r.key, &r.operator, &r.values, i)).collect();
        // A field is compared with exactly one value, which need not be one that a label can have.
        let mut field = |r: &node::NodeSelectorRequirement| match (Operator::read(&r.operator)?, &*r.values) {
            (operator @ (Operator::In | Operator::NotIn), [one]) => {
                Some(Requirement { key: i.str(&r.key), operator, values: Box::new([i.str(one)]) })
            }
            _ => None,
        };
        let fields: Option<Box<[_]>> = wire.match_fields.iter().map(&mut field).collect();
        let invalid = labels.is_none() || fields.is_none();
        let (labels, fields) = (labels.unwrap_or_default(), fields.unwrap_or_default());
        Self { labels, fields, invalid }
    }

    /// Whether the term matches a node of this name and these labels.
    pub fn matches(&self, name: &str, labels: &Map) -> bool {
        let empty = self.labels.is_empty() && self.fields.is_empty();
        !(self.invalid || empty)
            && self.labels.iter().all(|r| r.accepts(labels.get(&r.key).map(|v| &**v)))
            && self.fields.iter().all(|r| r.accepts(Some(if *r.key == *"metadata.name" { name } else { "" })))
    }
}

/// The node selector that allowed topologies of a StorageClass mean.
pub fn topology_terms(wire: &[node::TopologySelectorTerm], i: &mut Interner) -> NodeSelector {
    let term = |t: &node::TopologySelectorTerm| NodeTerm {
        labels: t
            .match_label_expressions
            .iter()
            .map(|e| Requirement { key: i.str(&e.key), operator: Operator::In, values: i.strs(&e.values) })
            .collect(),
        ..NodeTerm::default()
    };
    NodeSelector(wire.iter().map(term).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::Value;

    /// The labels that the tables of `tests/tables` are about, of nodes n0, n1, n2 and web.
    pub(in super::super) fn label_sets() -> [Map; 4] {
        [
            Map::default(),
            [("app", "web"), ("cores", "8"), ("tier", "front")].into_iter().collect(),
            [("app", "api"), ("cores", "-3"), ("x", "")].into_iter().collect(),
            [("cores", "many"), ("example.com/app", "web"), ("tier", "in")].into_iter().collect(),
        ]
    }

    #[derive(Deserialize)]
    struct Row(Value, Option<Vec<bool>>);

    fn agrees(table: &str, ours: impl Fn(Value) -> Option<Vec<bool>>) {
        let mut wrong = Vec::new();
        for line in table.lines() {
            let Row(selector, want) = serde_json::from_str(line).unwrap();
            let chosen = ours(selector.clone());
            if chosen != want {
                wrong.push(format!("{selector}: {chosen:?}, upstream {want:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.lines().count(), wrong.join("\n"));
    }

    #[test]
    fn label_selectors_agree_with_upstream() {
        agrees(include_str!("../../tests/tables/label-selectors.jsonl"), |selector| {
            let wire: Option<wire_meta::LabelSelector> = serde_json::from_value(selector).unwrap();
            let selector = LabelSelector::read(wire.as_ref(), &mut Interner::default());
            let chosen = label_sets().iter().map(|labels| selector.matches(labels)).collect();
            (selector != LabelSelector::Invalid).then_some(chosen)
        });
    }

    #[test]
    fn node_selectors_agree_with_upstream() {
        agrees(include_str!("../../tests/tables/node-selectors.jsonl"), |selector| {
            let wire: node::NodeSelector = serde_json::from_value(selector).unwrap();
            let selector = NodeSelector::read(&wire, &mut Interner::default());
            let nodes = ["n0", "n1", "n2", "web"].into_iter().zip(label_sets());
            Some(nodes.map(|(name, labels)| selector.matches(name, &labels)).collect())
        });
    }
}
