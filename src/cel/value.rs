//! Values of expressions. Mirrors `cel-go/common/types`.

use super::error::{Error, Result};
use crate::snapshot::quantity::Quantity;
use std::cmp::Ordering;
use std::fmt::Write;
use std::sync::Arc;

/// A value.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are CEL's own")]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<[Value]>),
    Map(Arc<Map>),
    Quantity {
        amount: Quantity,
        /// A result of `add` or `sub`, which on the right of `==` cannot be compared.
        computed: bool,
    },
    Semver(Arc<semver::Version>),
    Optional(Option<Arc<Value>>),
    Type(&'static str),
}

/// A map. Of two entries with one key the first counts.
#[derive(Debug, Clone, Default)]
pub struct Map {
    /// Keys and values.
    pub entries: Vec<(Value, Value)>,
    /// What is found under a key that is not there, as upstream has it for the attributes of an unknown domain.
    pub default: Option<Value>,
}

impl Map {
    /// The value under a key.
    pub fn find(&self, key: &Value) -> Option<&Value> {
        self.entry(key).or(self.default.as_ref())
    }

    /// The value under a key that is there.
    pub fn entry(&self, key: &Value) -> Option<&Value> {
        self.entries.iter().find(|(k, _)| k.equals(key).is_ok_and(|same| same)).map(|(_, v)| v)
    }

    /// The value under a field's name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let named = |(k, _): &&(Value, Value)| matches!(k, Value::String(k) if **k == *name);
        self.entries.iter().find(named).map(|(_, v)| v).or(self.default.as_ref())
    }
}

impl Value {
    /// A string.
    pub fn string(text: &str) -> Self {
        Self::String(text.into())
    }

    /// A list.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(elements.into_iter().collect())
    }

    /// A map of names.
    pub fn map<'a>(entries: impl IntoIterator<Item = (&'a str, Self)>, default: Option<Self>) -> Self {
        let entries = entries.into_iter().map(|(k, v)| (Self::string(k), v)).collect();
        Self::Map(Arc::new(Map { entries, default }))
    }

    /// The name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Quantity { .. } => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
        }
    }

    /// Whether two values are equal. Mirrors `types.Equal`: numbers of different types may be equal, values of other
    /// different types are not, and Kubernetes' types cannot be compared with others.
    pub fn equals(&self, other: &Self) -> Result<bool> {
        Ok(match (self, other) {
            (Self::Null, _) | (_, Self::Null) => matches!((self, other), (Self::Null, Self::Null)),
            (Self::Int(_) | Self::Uint(_) | Self::Double(_), Self::Int(_) | Self::Uint(_) | Self::Double(_)) => {
                compare_numbers(self, other) == Some(Ordering::Equal)
            }
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Quantity { amount: a, .. }, Self::Quantity { amount: b, computed: false }) => a == b,
            (Self::Semver(a), Self::Semver(b)) => a.cmp_precedence(b).is_eq(),
            (Self::Quantity { .. } | Self::Semver(_), _) => return Err(Error::failed("no such overload")),
            (Self::List(a), Self::List(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(b.iter()) {
                    if !a.equals(b).unwrap_or_default() {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Map(a), Self::Map(b)) => {
                let found = |(k, v): &(Self, Self)| b.entry(k).is_some_and(|w| v.equals(w).unwrap_or_default());
                a.entries.len() == b.entries.len() && a.entries.iter().all(found)
            }
            (Self::Optional(None), Self::Optional(None)) => true,
            (Self::Optional(Some(a)), Self::Optional(Some(b))) => a.equals(b)?,
            _ => false,
        })
    }

    /// How many bytes and elements comparing or walking it looks at. Counts no further than `most`: one list may stand many
    /// times in another, and that in a third.
    pub(super) fn size(&self, most: u64) -> u64 {
        self.add_size(0, most)
    }

    fn add_size(&self, sum: u64, most: u64) -> u64 {
        if sum > most {
            return sum;
        }
        match self {
            Self::String(s) => sum + s.len() as u64 / 8,
            Self::Bytes(b) => sum + b.len() as u64 / 8,
            Self::List(l) => l.iter().fold(sum, |sum, v| v.add_size(sum + 1, most)),
            Self::Map(m) => m.entries.iter().fold(sum, |sum, (k, v)| v.add_size(k.add_size(sum + 2, most), most)),
            Self::Optional(Some(v)) => v.add_size(sum, most),
            _ => sum,
        }
    }

    /// As cel-go prints it in messages: a key, an index.
    pub fn printed(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(b) => write!(out, "{b}").unwrap_or_default(),
            Self::Int(i) => write!(out, "{i}").unwrap_or_default(),
            Self::Uint(u) => write!(out, "{u}").unwrap_or_default(),
            Self::Double(d) => write!(out, "{d}").unwrap_or_default(),
            Self::String(s) => out.push_str(s),
            Self::Quantity { amount, .. } => write!(out, "{amount}").unwrap_or_default(),
            Self::Semver(v) => write!(out, "{v}").unwrap_or_default(),
            other => out.push_str(other.type_name()),
        }
        out
    }
}

/// Compares numbers of any types; `None` where one is not a number, or is NaN.
pub(super) fn compare_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Double(a), b) => compare_double(*a, b),
        (a, Value::Double(b)) => compare_double(*b, a).map(Ordering::reverse),
        _ => None,
    }
}

fn compare_double(a: f64, b: &Value) -> Option<Ordering> {
    let (low, high, as_double) = match b {
        #[allow(clippy::cast_precision_loss, reason = "as upstream compares them")]
        Value::Int(b) => (i64::MIN as f64, i64::MAX as f64, *b as f64),
        #[allow(clippy::cast_precision_loss, reason = "as upstream compares them")]
        Value::Uint(b) => (0.0, u64::MAX as f64, *b as f64),
        _ => return None,
    };
    if a < low {
        Some(Ordering::Less)
    } else if a > high {
        Some(Ordering::Greater)
    } else {
        a.partial_cmp(&as_double)
    }
}
