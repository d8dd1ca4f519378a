//! Which function a call means, by its name and by what it is called with.

use super::error::{Error, Result};
use super::operators::{self, no_overload, no_overload_of, unknown};
use super::steps::Steps;
use super::value::Value;
use super::{kubernetes, lists, strings};
use cel::common::ast::operators as op;
use std::cmp::Ordering;
use std::sync::Arc;

/// Names of types, which are values.
pub(super) const TYPES: &[&str] =
    &["bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type", "optional_type"];

/// A function without a target, or an operator.
pub(super) fn global(steps: &mut Steps<'_>, name: &str, args: &[Value]) -> Result<Value> {
    match (name, args) {
        (op::EQUALS | op::NOT_EQUALS | op::IN, [a, b]) => {
            let (size, other) = (steps.for_all_of(a), steps.for_all_of(b));
            steps.charge(size.min(other) + if name == op::IN { other } else { 0 })?;
            if name == op::IN && matches!((a, b), (Value::Semver(_), Value::List(_))) {
                steps.stumbled = Some("a version looked for in a list".to_owned());
            }
            Ok(Value::Bool(match name {
                op::IN => operators::contains(b, a)?,
                op::EQUALS => a.equals(b)?,
                // Values that cannot be compared are not equal.
                _ => !a.equals(b).is_ok_and(|same| same),
            }))
        }
        (op::LESS | op::LESS_EQUALS | op::GREATER | op::GREATER_EQUALS, [a, b]) => {
            let order = operators::compare(name, a, b)?;
            Ok(Value::Bool(match name {
                op::LESS => order.is_lt(),
                op::LESS_EQUALS => order.is_le(),
                op::GREATER => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
        (op::ADD | op::SUBSTRACT | op::MULTIPLY | op::DIVIDE | op::MODULO, [a, b]) => {
            steps.charge(steps.for_all_of(a) + steps.for_all_of(b))?;
            operators::arithmetic(name, a, b)
        }
        (op::NEGATE, [a]) => operators::negate(a),
        (op::LOGICAL_NOT, [Value::Bool(b)]) => Ok(Value::Bool(!b)),
        (op::LOGICAL_NOT, [_]) => no_overload(),
        (op::INDEX, [a, key]) => operators::index(a, key),
        (op::OPT_INDEX, [a, key]) => operators::optional_index(a, key),
        ("size", [a]) => size(a),
        ("type", [a]) => Ok(Value::Type(a.type_name())),
        ("dyn", [a]) => Ok(a.clone()),
        ("int" | "uint" | "double" | "string" | "bool" | "bytes", [a]) => convert(name, a),
        ("matches", [text, pattern]) => strings::matches(steps, text, pattern),
        ("quantity" | "isQuantity" | "semver" | "isSemver" | "sign", _) => kubernetes::global(name, args),
        _ => unknown(name),
    }
}

/// A function of a library: `sets.contains(a, b)`.
pub(super) fn of_library(steps: &mut Steps<'_>, library: &str, name: &str, args: &[Value]) -> Result<Value> {
    match (library, name, args) {
        ("optional", "of", [v]) => Ok(Value::Optional(Some(Arc::new(v.clone())))),
        ("optional", "none", []) => Ok(Value::Optional(None)),
        ("optional", "ofNonZeroValue", [v]) => Ok(Value::Optional((!is_zero(v)).then(|| Arc::new(v.clone())))),
        ("sets", _, [Value::List(a), Value::List(b)]) => lists::sets(steps, name, a, b),
        ("lists", "range", [Value::Int(n)]) => lists::range(steps, *n),
        _ => unknown(&format!("{library}.{name}")),
    }
}

fn is_zero(v: &Value) -> bool {
    match v {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Int(i) => *i == 0,
        Value::Uint(u) => *u == 0,
        Value::Double(d) => d.partial_cmp(&0.0) == Some(Ordering::Equal),
        Value::String(s) => s.is_empty(),
        Value::Bytes(b) => b.is_empty(),
        Value::List(l) => l.is_empty(),
        Value::Map(m) => m.entries.is_empty(),
        Value::Optional(v) => v.is_none(),
        Value::Quantity { .. } | Value::Semver(_) | Value::Type(_) => false,
    }
}

/// A function of a value.
pub(super) fn member(steps: &mut Steps<'_>, name: &str, target: &Value, args: &[Value]) -> Result<Value> {
    match (name, target, args) {
        ("hasValue", Value::Optional(v), []) => Ok(Value::Bool(v.is_some())),
        ("value", Value::Optional(v), []) => {
            v.as_deref().cloned().ok_or_else(|| Error::failed("optional.none() dereference"))
        }
        ("size", _, []) => size(target),
        (_, Value::Quantity { .. } | Value::Semver(_), _) if kubernetes::NAMES.contains(&name) => {
            kubernetes::member(name, target, args)
        }
        ("hasValue" | "value", _, []) => no_overload_of(name, &[target]),
        ("indexOf" | "lastIndexOf" | "reverse" | "includes", Value::List(_), _) => {
            lists::member(steps, name, target, args)
        }
        _ if strings::NAMES.contains(&name) => strings::member(steps, name, target, args),
        _ if lists::NAMES.contains(&name) => lists::member(steps, name, target, args),
        _ if kubernetes::NAMES.contains(&name) => kubernetes::member(name, target, args),
        _ => unknown(name),
    }
}

fn size(a: &Value) -> Result<Value> {
    let n = match a {
        Value::String(s) => s.chars().count(),
        Value::Bytes(b) => b.len(),
        Value::List(l) => l.len(),
        Value::Map(m) => m.entries.len(),
        _ => return Err(Error::failed("no such overload: size")),
    };
    Ok(Value::Int(i64::try_from(n).unwrap_or(i64::MAX)))
}

/// Mirrors the types' `ConvertToType`.
fn convert(to: &str, a: &Value) -> Result<Value> {
    let refused = || {
        let from = a.type_name();
        Error::failed(format!("type conversion error from '{from}' to '{to}'"))
    };
    let overflow = |what: &str| Error::failed(format!("{what} overflow"));
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "checked")]
    Ok(match (to, a) {
        ("int", Value::Int(_))
        | ("uint", Value::Uint(_))
        | ("double", Value::Double(_))
        | ("string", Value::String(_))
        | ("bool", Value::Bool(_))
        | ("bytes", Value::Bytes(_)) => a.clone(),
        ("int", Value::Uint(u)) => Value::Int(i64::try_from(*u).map_err(|_| overflow("integer"))?),
        ("int", Value::Double(d)) if *d > i64::MIN as f64 && *d < i64::MAX as f64 => Value::Int(*d as i64),
        ("int", Value::Double(_)) => return Err(overflow("integer")),
        ("int", Value::String(s)) => Value::Int(s.parse().map_err(|_| refused())?),
        ("uint", Value::Int(i)) => Value::Uint(u64::try_from(*i).map_err(|_| overflow("unsigned integer"))?),
        ("uint", Value::Double(d)) if *d >= 0.0 && *d < u64::MAX as f64 => Value::Uint(*d as u64),
        ("uint", Value::Double(_)) => return Err(overflow("unsigned integer")),
        ("uint", Value::String(s)) => Value::Uint(s.parse().map_err(|_| refused())?),
        ("double", Value::Int(i)) => Value::Double(*i as f64),
        ("double", Value::Uint(u)) => Value::Double(*u as f64),
        ("double", Value::String(s)) => Value::Double(s.parse().map_err(|_| refused())?),
        ("string", Value::Int(_) | Value::Uint(_) | Value::Bool(_)) => Value::string(&a.printed()),
        ("string", Value::Double(_)) => return Err(Error::unsupported("a number with a fraction as text")),
        ("string", Value::Bytes(b)) => match std::str::from_utf8(b) {
            Ok(text) => Value::string(text),
            Err(_) => return Err(Error::failed("invalid UTF-8 in bytes, cannot convert to string")),
        },
        ("bytes", Value::String(s)) => Value::Bytes(s.as_bytes().into()),
        ("bool", Value::String(s)) => match &**s {
            "true" | "TRUE" | "True" | "t" | "1" => Value::Bool(true),
            "false" | "FALSE" | "False" | "f" | "0" => Value::Bool(false),
            _ => return Err(refused()),
        },
        _ => return no_overload_of(to, &[a]),
    })
}
