//! What is required of one label, as Karpenter keeps it: a set of values, or all but a set, within bounds. Mirrors
//! `pkg/scheduling/requirement.go`.

use super::labels::Provider;
use crate::snapshot::Str;
use crate::snapshot::selector::{self, Operator as NodeOperator};
use std::collections::BTreeSet;
use std::fmt;

/// How a requirement compares, as NodePools write it: as node selectors do, and with two bounds more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the API")]
pub enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
    Gte,
    Lte,
}

impl Operator {
    /// Reads the API's word.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "Gte" => Some(Self::Gte),
            "Lte" => Some(Self::Lte),
            _ => NodeOperator::read(text).map(Self::from),
        }
    }
}

impl From<NodeOperator> for Operator {
    fn from(operator: NodeOperator) -> Self {
        match operator {
            NodeOperator::In => Self::In,
            NodeOperator::NotIn => Self::NotIn,
            NodeOperator::Exists => Self::Exists,
            NodeOperator::DoesNotExist => Self::DoesNotExist,
            NodeOperator::Gt => Self::Gt,
            NodeOperator::Lt => Self::Lt,
        }
    }
}

/// What is required of one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The label, by its present name.
    pub key: Str,
    /// Whether `values` are those that are not allowed.
    complement: bool,
    values: BTreeSet<Str>,
    at_least: Option<i64>,
    at_most: Option<i64>,
    /// Among how many values the provider must be able to choose.
    pub min_values: Option<usize>,
}

impl Requirement {
    /// From operator and values. Values that go with no operator are taken as upstream takes them after validation.
    pub fn new(key: Str, operator: Operator, values: impl IntoIterator<Item = Str>) -> Self {
        let (mut complement, mut set) = (true, BTreeSet::new());
        let (mut at_least, mut at_most) = (None, None);
        let mut values = values.into_iter();
        let mut bound = || values.next().and_then(|v| v.parse::<i64>().ok()).unwrap_or_default();
        match operator {
            Operator::In | Operator::NotIn => {
                complement = operator == Operator::NotIn;
                set = values.collect();
            }
            Operator::Exists => {}
            Operator::DoesNotExist => complement = false,
            // Nothing is greater than the greatest integer.
            Operator::Gt => match bound().checked_add(1) {
                Some(n) => at_least = Some(n),
                None => complement = false,
            },
            Operator::Lt => at_most = Some(bound().wrapping_sub(1)),
            Operator::Gte => at_least = Some(bound()),
            Operator::Lte => at_most = Some(bound()),
        }
        Self { key, complement, values: set, at_least, at_most, min_values: None }
    }

    /// The same, with so many values among which the provider must be able to choose.
    #[must_use]
    pub fn with_min_values(self, min_values: Option<usize>) -> Self {
        Self { min_values, ..self }
    }

    /// `key = value`.
    pub fn equals(key: &str, value: Str) -> Self {
        Self::new(key.into(), Operator::In, [value])
    }

    /// One requirement of a node selector, its label by its present name.
    pub fn of_selector(r: &selector::Requirement, provider: Provider) -> Self {
        Self::new(provider.normalized(&r.key).into(), r.operator.into(), r.values.iter().cloned())
    }

    /// Any value.
    pub fn exists(key: &str) -> Self {
        Self::new(key.into(), Operator::Exists, [])
    }

    /// No value.
    pub fn nothing(key: &str) -> Self {
        Self::new(key.into(), Operator::DoesNotExist, [])
    }

    /// What meets both. Mirrors `Intersection`.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let min_values = self.min_values.max(other.min_values);
        let (at_least, at_most) = self.bounds(other);
        if is_empty(at_least, at_most) {
            return Self { min_values, ..Self::nothing(&self.key) };
        }
        let complement = self.complement && other.complement;
        let mut values: BTreeSet<Str> = match (self.complement, other.complement) {
            (true, true) => self.values.union(&other.values).cloned().collect(),
            (true, false) => other.values.difference(&self.values).cloned().collect(),
            (false, true) => self.values.difference(&other.values).cloned().collect(),
            (false, false) => self.values.intersection(&other.values).cloned().collect(),
        };
        values.retain(|v| within(v, at_least, at_most));
        // The bounds of a set of values have done their work.
        let (at_least, at_most) = if complement { (at_least, at_most) } else { (None, None) };
        Self { key: self.key.clone(), complement, values, at_least, at_most, min_values }
    }

    /// Whether some value meets both. Mirrors `HasIntersection`.
    pub fn intersects(&self, other: &Self) -> bool {
        let (at_least, at_most) = self.bounds(other);
        if is_empty(at_least, at_most) {
            return false;
        }
        let (few, many) = match (self.complement, other.complement) {
            (true, true) => return true,
            (true, false) => (other, self),
            (false, _) => (self, other),
        };
        few.values.iter().any(|v| many.values.contains(v) != many.complement && within(v, at_least, at_most))
    }

    fn bounds(&self, other: &Self) -> (Option<i64>, Option<i64>) {
        let least = [self.at_least, other.at_least].into_iter().flatten().max();
        let most = [self.at_most, other.at_most].into_iter().flatten().min();
        (least, most)
    }

    /// Whether a value meets it.
    pub fn has(&self, value: &str) -> bool {
        self.values.contains(value) != self.complement && within(value, self.at_least, self.at_most)
    }

    /// The values that are listed: those allowed, or those not allowed.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Str> {
        self.values.iter()
    }

    /// The values that are allowed, where they are listed.
    pub fn listed(&self) -> Option<&BTreeSet<Str>> {
        (!self.complement && !self.values.is_empty()).then_some(&self.values)
    }

    /// The one value that is allowed, where there is just one.
    pub fn only(&self) -> Option<&Str> {
        self.listed().filter(|v| v.len() == 1).and_then(BTreeSet::first)
    }

    /// Whether no value meets it: the label must be absent.
    pub fn is_nothing(&self) -> bool {
        !self.complement && self.values.is_empty()
    }

    /// Whether a node without the label could meet it: `NotIn` and `DoesNotExist`. A bound is an `Exists`.
    pub fn allows_absence(&self) -> bool {
        self.is_nothing() || self.complement && !self.values.is_empty()
    }

    /// Allows one value more.
    pub fn insert(&mut self, value: Str) {
        self.values.insert(value);
    }
}

fn is_empty(at_least: Option<i64>, at_most: Option<i64>) -> bool {
    matches!((at_least, at_most), (Some(least), Some(most)) if least > most)
}

/// Within bounds only integers count.
fn within(value: &str, at_least: Option<i64>, at_most: Option<i64>) -> bool {
    if at_least.is_none() && at_most.is_none() {
        return true;
    }
    value.parse::<i64>().is_ok_and(|n| at_least.is_none_or(|least| n >= least) && at_most.is_none_or(|most| n <= most))
}

/// As kubectl writes a selector: `zone in (a,b)`, `!disk`, `cpus>3`.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let values = crate::lists::some(self.values.iter(), 4);
        let bounds = [self.at_least.map(|n| format!("{key}>={n}")), self.at_most.map(|n| format!("{key}<={n}"))];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        match (self.complement, self.values.len()) {
            (false, 0) => write!(f, "!{key}"),
            (false, 1) => write!(f, "{key}={values}"),
            (false, _) => write!(f, "{key} in ({values})"),
            (true, 0) if bounds.is_empty() => write!(f, "{key}"),
            (true, 0) => f.write_str(&bounds.join(",")),
            (true, 1) => write!(f, "{key}!={values}{}", bounds.iter().map(|b| format!(",{b}")).collect::<String>()),
            (true, _) => {
                write!(f, "{key} notin ({values}){}", bounds.iter().map(|b| format!(",{b}")).collect::<String>())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(text: &str) -> Requirement {
        let mut words = text.split(' ');
        let operator = Operator::read(words.next().expect("an operator")).expect("a known operator");
        Requirement::new("k".into(), operator, words.map(Str::from))
    }

    #[test]
    fn requirements_meet_as_upstream() {
        // After the table of `Requirement` intersections in `requirement_test.go`: two requirements, and what meets both.
        for (a, b, want) in [
            ("Exists", "Exists", "k"),
            ("Exists", "DoesNotExist", "!k"),
            ("Exists", "In A", "k=A"),
            ("Exists", "NotIn A", "k!=A"),
            ("Exists", "Gt 1", "k>=2"),
            ("DoesNotExist", "NotIn A", "!k"),
            ("In A", "NotIn A", "!k"),
            ("In A B", "NotIn A", "k=B"),
            ("In A B", "In B C", "k=B"),
            ("In A", "In B", "!k"),
            ("NotIn A", "NotIn B", "k notin (A, B)"),
            ("In A", "Gt 1", "!k"),
            ("In 1 9", "Gt 1", "k=9"),
            ("In 1 9", "Lt 9", "k=1"),
            ("NotIn 1", "Gt 8", "k>=9"),
            ("NotIn 9", "Gt 8", "k!=9,k>=9"),
            ("Gt 1", "Lt 9", "k>=2,k<=8"),
            ("Gt 1", "Lt 2", "!k"),
            ("Gt 9", "Gt 1", "k>=10"),
            ("Gte 9", "Lte 9", "k>=9,k<=9"),
            ("Gte 9", "Lt 9", "!k"),
            ("Gt 9223372036854775807", "Exists", "!k"),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                let (a, b) = (r(a), r(b));
                assert_eq!(a.intersection(&b).to_string(), want, "{a} and {b}");
                // A gap between bounds without an integer in it is the one case that is not nothing for upstream.
                assert_eq!(a.intersects(&b), want != "!k", "{a} and {b}");
            }
        }
    }

    #[test]
    fn values_are_looked_up_as_upstream() {
        // After the table of `Has`: requirement, value, whether it is met.
        for (requirement, value, want) in [
            ("Exists", "A", true),
            ("DoesNotExist", "A", false),
            ("In A", "A", true),
            ("In A", "B", false),
            ("NotIn A", "A", false),
            ("NotIn A", "B", true),
            ("Gt 1", "2", true),
            ("Gt 1", "1", false),
            ("Gt 1", "A", false),
            ("Lt 9", "8", true),
            ("Lt 9", "9", false),
            ("Gte 9", "9", true),
            ("Lte 9", "10", false),
        ] {
            assert_eq!(r(requirement).has(value), want, "{requirement}: {value}");
        }
    }

    #[test]
    fn a_bound_asks_for_the_label() {
        for (requirement, want) in
            [("Exists", false), ("DoesNotExist", true), ("In A", false), ("NotIn A", true), ("Gt 1", false)]
        {
            assert_eq!(r(requirement).allows_absence(), want, "{requirement}");
        }
    }
}
