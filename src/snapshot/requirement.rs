//! One requirement of a selector. Mirrors `labels.Requirement` of `apimachinery/pkg/labels/selector.go`.

use super::intern::{Interner, Str};
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
    /// As the API writes it.
    pub fn read(text: &str) -> Option<Self> {
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

    /// `None` where the values do not go with the operator, or where key or values cannot be labels. Mirrors
    /// `labels.NewRequirement`.
    pub fn new(key: Str, operator: Operator, values: Box<[Str]>) -> Option<Self> {
        let fits = match operator {
            Operator::In | Operator::NotIn => !values.is_empty(),
            Operator::Exists | Operator::DoesNotExist => values.is_empty(),
            Operator::Gt | Operator::Lt => matches!(&*values, [one] if one.parse::<i64>().is_ok()),
        };
        let valid = fits && is_label_key(&key) && values.iter().all(|v| is_label_value(v));
        valid.then_some(Self { key, operator, values })
    }

    /// Reads the wire form; `None` as for [`new`](Self::new), and for an operator that does not exist.
    pub fn read(key: &str, operator: &str, values: &[String], i: &mut Interner) -> Option<Self> {
        Self::new(i.str(key), Operator::read(operator)?, i.strs(values))
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

/// Whether the API takes a text as the key of a label: a name, with or without a DNS subdomain before it. Mirrors
/// `IsQualifiedName`.
fn is_label_key(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let is_part = |part: &str| {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        part.bytes().all(inner) && !part.is_empty() && !part.starts_with('-') && !part.ends_with('-')
    };
    prefix.is_none_or(|p| p.len() <= 253 && p.split('.').all(is_part)) && !name.is_empty() && is_label_value(name)
}

/// Whether the API takes a text as the value of a label. Mirrors `IsValidLabelValue`.
fn is_label_value(value: &str) -> bool {
    let bytes = value.as_bytes();
    let ends = [bytes.first(), bytes.last()].into_iter().flatten().all(u8::is_ascii_alphanumeric);
    value.len() <= 63 && ends && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}
