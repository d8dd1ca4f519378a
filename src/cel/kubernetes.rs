//! Kubernetes' own types: quantities and semantic versions. Mirrors `apiserver/pkg/cel/library/{quantity,semverlib}.go`.

use super::error::{Error, Result};
use super::operators::{no_overload, no_overload_of, no_overload_on, unknown};
use super::value::Value;
use crate::snapshot::quantity::Quantity;
use std::cmp::Ordering;
use std::sync::Arc;

/// What these types have.
pub(super) const NAMES: &[&str] = &[
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "asApproximateFloat",
    "asInteger",
    "isInteger",
    "sign",
    "add",
    "sub",
    "major",
    "minor",
    "patch",
];

impl Value {
    /// A quantity as it is written.
    pub fn quantity(text: &str) -> Option<Self> {
        Some(Self::Quantity { amount: Quantity::parse(text)?, computed: false })
    }

    /// A semantic version as it is written.
    pub fn version(text: &str) -> Option<Self> {
        semver::Version::parse(text).ok().map(|v| Self::Semver(Arc::new(v)))
    }
}

pub(super) fn global(name: &str, args: &[Value]) -> Result<Value> {
    match (name, args) {
        ("quantity", [Value::String(s)]) => Value::quantity(s).ok_or_else(|| no_quantity(s)),
        ("isQuantity", [Value::String(s)]) => Ok(Value::Bool(Quantity::parse(s).is_some())),
        ("semver" | "isSemver", [Value::String(s), rest @ ..]) => {
            let version = match rest {
                [] | [Value::Bool(false)] => Value::version(s),
                [Value::Bool(true)] => normalized(s).and_then(|s| Value::version(&s)),
                _ => return no_overload_of(name, &args.iter().collect::<Vec<_>>()),
            };
            if name == "isSemver" {
                return Ok(Value::Bool(version.is_some()));
            }
            version.ok_or_else(|| no_version(s))
        }
        ("sign", [q @ Value::Quantity { .. }]) => member(name, q, &[]),
        _ => no_overload_of(name, &args.iter().collect::<Vec<_>>()),
    }
}

/// Upstream's words for text that is no quantity.
fn no_quantity(text: &str) -> Error {
    let digits = text.trim_start_matches(['+', '-']);
    let suffix = digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let numbers = suffix.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let looks_right =
        digits.len() > suffix.len() && numbers.trim_start_matches(['+', '-']).chars().all(|c| c.is_ascii_digit());
    Error::failed(if looks_right && !suffix.is_empty() {
        "unable to parse quantity's suffix"
    } else {
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    })
}

/// Upstream's words for text that is no semantic version, where they are known.
fn no_version(text: &str) -> Error {
    let parts: Vec<&str> = text.splitn(3, '.').collect();
    let [major, minor, _] = parts[..] else { return Error::failed("No Major.Minor.Patch elements found") };
    for (which, part) in [("major", major), ("minor", minor)] {
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return Error::failed(format!("Invalid character(s) found in {which} number {part:?}"));
        }
        if part.len() > 1 && part.starts_with('0') {
            let which = if which == "major" { "Major" } else { "Minor" };
            return Error::failed(format!("{which} number must not contain leading zeroes {part:?}"));
        }
    }
    Error::unsupported("the failure of such a semantic version")
}

/// Without a `v` before it, with all three numbers, without leading zeros. Mirrors `normalizeAndParse`.
fn normalized(text: &str) -> Option<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(str::to_owned).collect();
    for part in &mut parts {
        if part.len() > 1 {
            let trimmed = part.trim_start_matches('0');
            *part = if trimmed.starts_with(|c: char| c.is_ascii_digit()) {
                trimmed.to_owned()
            } else {
                format!("0{trimmed}")
            };
        }
    }
    if parts.len() < 3 && parts.last().is_some_and(|p| p.contains(['+', '-'])) {
        return None;
    }
    parts.resize(3, "0".to_owned());
    Some(parts.join("."))
}

pub(super) fn member(name: &str, target: &Value, args: &[Value]) -> Result<Value> {
    let order = |o: Ordering| match name {
        "isGreaterThan" => Value::Bool(o.is_gt()),
        "isLessThan" => Value::Bool(o.is_lt()),
        _ => Value::Int(o as i64),
    };
    match (name, target, args) {
        (
            "isGreaterThan" | "isLessThan" | "compareTo",
            Value::Quantity { amount: a, .. },
            [Value::Quantity { amount: b, .. }],
        ) => Ok(order(a.cmp(b))),
        ("isGreaterThan" | "isLessThan" | "compareTo", Value::Semver(a), [Value::Semver(b)]) => {
            Ok(order(a.cmp_precedence(b)))
        }
        ("major", Value::Semver(v), []) => Ok(Value::Int(v.major as i64)),
        ("minor", Value::Semver(v), []) => Ok(Value::Int(v.minor as i64)),
        ("patch", Value::Semver(v), []) => Ok(Value::Int(v.patch as i64)),
        ("isInteger", Value::Quantity { amount, .. }, []) => Ok(Value::Bool(amount.as_int64().is_some())),
        ("asInteger", Value::Quantity { amount, .. }, []) => {
            amount.as_int64().map(Value::Int).ok_or_else(|| Error::failed("cannot convert value to integer"))
        }
        ("asApproximateFloat", Value::Quantity { amount, .. }, []) => {
            Ok(Value::Double(amount.as_approximate_float64()))
        }
        ("sign", Value::Quantity { amount, .. }, []) => Ok(Value::Int(amount.cmp(&Quantity::ZERO) as i64)),
        ("add" | "sub", Value::Quantity { amount: a, .. }, [b @ (Value::Quantity { .. } | Value::Int(_))]) => {
            // Up to 1.36 that changes the quantity itself, so that what comes of it hangs on what came before.
            if a.is_decimal() {
                return Err(Error::unsupported(format!("{name}() on a quantity such as {a}")));
            }
            let b = match b {
                Value::Quantity { amount, .. } => *amount,
                Value::Int(b) => Quantity::units(*b),
                _ => return no_overload(),
            };
            Ok(Value::Quantity { amount: if name == "add" { *a + b } else { *a - b }, computed: true })
        }
        _ if NAMES.contains(&name) => no_overload_on(name, target, args),
        _ => unknown(name),
    }
}
