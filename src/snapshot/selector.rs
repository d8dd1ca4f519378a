//! Label and node selectors. Mirrors `apimachinery/pkg/apis/meta/v1/helpers.go` (LabelSelectorAsSelector),
//! `apimachinery/pkg/labels/selector.go` and `component-helpers/scheduling/corev1/nodeaffinity`.

use super::intern::{Interner, Map, Str};
use crate::wire::{meta as wire_meta, node};
use std::fmt;

/// How a requirement compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The value is one of the list.
    In,
    /// The value is none of the list, or the key is absent.
    NotIn,
    /// The key is there.
    Exists,
    /// The key is not there.
    DoesNotExist,
    /// The value is an integer greater than the one given (node selectors only).
    Gt,
    /// The value is an integer less than the one given (node selectors only).
    Lt,
}

impl Operator {
    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            "Gt" => Self::Gt,
            "Lt" => Self::Lt,
            _ => return None,
        })
    }
}

/// One condition on one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The label key, or the field name.
    pub key: Str,
    /// How the value compares.
    pub operator: Operator,
    /// What it is compared with.
    pub values: Box<[Str]>,
}

impl Requirement {
    /// A requirement `key = value`.
    pub fn equals(key: Str, value: Str) -> Self {
        Self { key, operator: Operator::In, values: Box::new([value]) }
    }

    /// `None` for an operator that does not exist, or values that do not go with it.
    pub fn read(key: &str, operator: &str, values: &[String], i: &mut Interner) -> Option<Self> {
        let operator = Operator::read(operator)?;
        let fits = match operator {
            Operator::In | Operator::NotIn => !values.is_empty(),
            Operator::Exists | Operator::DoesNotExist => values.is_empty(),
            Operator::Gt | Operator::Lt => matches!(values, [one] if one.parse::<i64>().is_ok()),
        };
        fits.then(|| Self { key: i.str(key), operator, values: i.strs(values) })
    }

    /// Whether a value (or its absence) meets the requirement.
    pub fn accepts(&self, value: Option<&str>) -> bool {
        let listed = |v: &str| self.values.iter().any(|x| **x == *v);
        match (self.operator, value) {
            (Operator::In, Some(v)) => listed(v),
            (Operator::NotIn, Some(v)) => !listed(v),
            (Operator::NotIn | Operator::DoesNotExist, None) | (Operator::Exists, Some(_)) => true,
            (Operator::Gt, Some(v)) => self.compare(v, |a, b| a > b),
            (Operator::Lt, Some(v)) => self.compare(v, |a, b| a < b),
            (Operator::In | Operator::Exists | Operator::Gt | Operator::Lt, None)
            | (Operator::DoesNotExist, Some(_)) => false,
        }
    }

    fn compare(&self, value: &str, by: impl Fn(i64, i64) -> bool) -> bool {
        let limit = self.values.first().and_then(|v| v.parse().ok());
        matches!((value.parse(), limit), (Ok(v), Some(l)) if by(v, l))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.values.join(",");
        match (self.operator, self.values.len()) {
            (Operator::In, 1) => write!(f, "{}={values}", self.key),
            (Operator::NotIn, 1) => write!(f, "{}!={values}", self.key),
            (Operator::In, _) => write!(f, "{} in ({values})", self.key),
            (Operator::NotIn, _) => write!(f, "{} notin ({values})", self.key),
            (Operator::Exists, _) => write!(f, "{}", self.key),
            (Operator::DoesNotExist, _) => write!(f, "!{}", self.key),
            (Operator::Gt, _) => write!(f, "{}>{values}", self.key),
            (Operator::Lt, _) => write!(f, "{}<{values}", self.key),
        }
    }
}

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
        let mut all = Self::from_map(&i.map(&wire.match_labels)).into_requirements();
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
        let mut all = Vec::new();
        for term in split_terms(text) {
            all.push(parse_term(term.trim()).ok_or_else(|| format!("{:?} is no label requirement", term.trim()))?);
        }
        Ok(Self::All(all.into()))
    }

    fn into_requirements(self) -> Vec<Requirement> {
        match self {
            Self::All(r) => r.into_vec(),
            Self::Nothing | Self::Invalid => Vec::new(),
        }
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

fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0u32;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .filter(|t| !t.trim().is_empty())
}

fn parse_term(term: &str) -> Option<Requirement> {
    let key_ok = |k: &str| !k.is_empty() && k.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    let make = |key: &str, operator, values: &[&str]| {
        let key = key.trim();
        key_ok(key).then(|| Requirement {
            key: key.into(),
            operator,
            values: values.iter().map(|v| v.trim().into()).collect(),
        })
    };
    if let Some((key, list)) = term.strip_suffix(')').and_then(|t| t.split_once('(')) {
        let values: Vec<&str> = list.split(',').collect();
        let (key, op) = key.trim_end().rsplit_once(char::is_whitespace)?;
        let operator = match op {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            _ => return None,
        };
        return make(key, operator, &values);
    }
    if let Some((key, value)) = term.split_once("!=") {
        return make(key, Operator::NotIn, &[value]);
    }
    if let Some((key, value)) = term.split_once('=') {
        return make(key, Operator::In, &[value.strip_prefix('=').unwrap_or(value)]);
    }
    match term.strip_prefix('!') {
        Some(key) => make(key, Operator::DoesNotExist, &[]),
        None => make(term, Operator::Exists, &[]),
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
    fn read(wire: &node::NodeSelectorTerm, i: &mut Interner) -> Self {
        let mut invalid = false;
        let mut read = |list: &[node::NodeSelectorRequirement], field: bool| {
            let mut all = Vec::new();
            for r in list {
                match Requirement::read(&r.key, &r.operator, &r.values, i) {
                    // A field is compared with exactly one value, by In or NotIn.
                    Some(q) if !field || (q.values.len() == 1 && &*q.key == "metadata.name") => all.push(q),
                    _ => invalid = true,
                }
            }
            all.into_boxed_slice()
        };
        let labels = read(&wire.match_expressions, false);
        let fields = read(&wire.match_fields, true);
        Self { labels, fields, invalid }
    }

    /// Whether the term matches a node of this name and these labels.
    pub fn matches(&self, name: &str, labels: &Map) -> bool {
        let empty = self.labels.is_empty() && self.fields.is_empty();
        !(self.invalid || empty)
            && self.labels.iter().all(|r| r.accepts(labels.get(&r.key).map(|v| &**v)))
            && self.fields.iter().all(|r| r.accepts(Some(name)))
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
mod tests {
    use super::*;

    #[test]
    fn matches_as_upstream() {
        let labels: Map = [("app", "web"), ("tier", "front")].into_iter().collect();
        for (selector, want) in [
            ("app=web", true),
            ("app==web", true),
            ("app=api", false),
            ("app!=api", true),
            ("other!=x", true),
            ("app in (api, web)", true),
            ("app notin (api,web)", false),
            ("tier", true),
            ("!tier", false),
            ("!other", true),
            ("app=web,tier=front", true),
            ("app in (web),!tier", false),
            ("", true),
        ] {
            assert_eq!(LabelSelector::parse(selector).map(|s| s.matches(&labels)), Ok(want), "{selector}");
        }
        assert!(!LabelSelector::Nothing.matches(&labels));
        for bad in ["a b=c", "(x)", "a within (b)", "=x"] {
            assert!(LabelSelector::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn node_terms_compare_integers_and_names() {
        let labels: Map = [("cores", "8")].into_iter().collect();
        let mut i = Interner::default();
        let req = |key: &str, op: &str, values: &[&str]| node::NodeSelectorRequirement {
            key: key.into(),
            operator: op.into(),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        };
        for (expressions, fields, want) in [
            (vec![req("cores", "Gt", &["4"])], vec![], true),
            (vec![req("cores", "Lt", &["4"])], vec![], false),
            (vec![req("cores", "Gt", &["x"])], vec![], false),
            (vec![], vec![req("metadata.name", "In", &["n1"])], true),
            (vec![], vec![req("metadata.name", "NotIn", &["n1"])], false),
            (vec![], vec![], false),
        ] {
            let wire = node::NodeSelectorTerm { match_expressions: expressions, match_fields: fields };
            assert_eq!(NodeTerm::read(&wire, &mut i).matches("n1", &labels), want, "{wire:?}");
        }
    }
}
