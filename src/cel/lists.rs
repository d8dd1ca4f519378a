//! Functions of lists and sets. Mirrors `ext/{lists,sets}.go` and Kubernetes' `library/lists.go`.

use super::error::{Error, Result};
use super::operators::{self, no_overload, no_overload_on, unknown};
use super::steps::Steps;
use super::value::Value;
use cel::common::ast::operators as op;
use std::cmp::Ordering;

/// What lists have.
pub(super) const NAMES: &[&str] =
    &["isSorted", "sum", "min", "max", "sort", "distinct", "flatten", "reverse", "slice", "includes"];

pub(super) fn member(steps: &mut Steps<'_>, name: &str, target: &Value, args: &[Value]) -> Result<Value> {
    steps.charge(steps.for_all_of(target))?;
    if name == "includes" {
        return includes(target, args);
    }
    let Value::List(l) = target else {
        if name == "sort" {
            return Err(Error::failed("no such overload: sort"));
        }
        return no_overload_on(name, target, args);
    };
    // Upstream picks these functions by the type of the elements.
    let kind = l.first().map_or("int", Value::type_name);
    let summed = matches!(kind, "int" | "uint" | "double");
    let ordered = summed || matches!(kind, "bool" | "string" | "bytes");
    let takes = if name == "sum" { summed } else { ordered };
    if matches!(name, "sum" | "min" | "max" | "isSorted" | "sort")
        && !(takes && l.iter().all(|v| v.type_name() == kind))
    {
        return Err(Error::unsupported(format!("{name}() of such a list")));
    }
    match (name, args) {
        ("isSorted", []) => {
            for pair in l.windows(2) {
                if let [a, b] = pair
                    && compare(a, b)? == Ordering::Greater
                {
                    return Ok(Value::Bool(false));
                }
            }
            Ok(Value::Bool(true))
        }
        ("sum", []) => {
            let mut elements = l.iter();
            let Some(first) = elements.next() else { return Ok(Value::Int(0)) };
            elements.try_fold(first.clone(), |sum, v| operators::arithmetic(op::ADD, &sum, v))
        }
        ("min" | "max", []) => {
            let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
            let mut elements = l.iter();
            let Some(mut best) = elements.next() else {
                return Err(Error::failed(format!("{name} called on empty list")));
            };
            for v in elements {
                if compare(v, best)? == wanted {
                    best = v;
                }
            }
            Ok(best.clone())
        }
        ("indexOf", [v]) => Ok(at(l.iter().position(|e| same(v, e)))),
        ("lastIndexOf", [v]) => Ok(at(l.iter().rposition(|e| same(v, e)))),
        ("reverse", []) => Ok(Value::list(l.iter().rev().cloned())),
        ("sort", []) => {
            let mut sorted = l.to_vec();
            sorted.sort_by(|a, b| compare(a, b).unwrap_or(Ordering::Equal));
            Ok(Value::list(sorted))
        }
        ("distinct", []) => {
            if l.iter().any(|v| matches!(v, Value::Semver(_) | Value::Quantity { .. })) {
                steps.stumbled = Some("distinct() of such a list".to_owned());
            }
            steps.charge((l.len() as u64).saturating_mul(l.len() as u64))?;
            let mut distinct: Vec<Value> = Vec::new();
            for v in l.iter() {
                if !distinct.iter().any(|d| same(v, d)) {
                    distinct.push(v.clone());
                }
            }
            Ok(Value::list(distinct))
        }
        ("flatten", []) => Ok(Value::list(l.iter().flat_map(|v| match v {
            Value::List(inner) => inner.to_vec(),
            other => vec![other.clone()],
        }))),
        ("slice", [Value::Int(from), Value::Int(to)]) => {
            let range = usize::try_from(*from).ok().zip(usize::try_from(*to).ok());
            match range.and_then(|(from, to)| l.get(from..to)) {
                Some(part) => Ok(Value::list(part.iter().cloned())),
                None => {
                    let n = l.len();
                    Err(Error::failed(format!("cannot slice({from}, {to}), list is length {n}")))
                }
            }
        }
        _ => unknown(name),
    }
}

fn compare(a: &Value, b: &Value) -> Result<Ordering> {
    operators::compare(op::LESS, a, b)
}

fn same(a: &Value, b: &Value) -> bool {
    a.equals(b).is_ok_and(|same| same)
}

fn at(position: Option<usize>) -> Value {
    Value::Int(position.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

/// A list includes an element, any other value itself. Mirrors `includes` of 1.37.
fn includes(target: &Value, args: &[Value]) -> Result<Value> {
    match (target, args) {
        (Value::List(l), [v]) => Ok(Value::Bool(l.iter().any(|e| same(e, v)))),
        (other, [v]) => Ok(Value::Bool(same(other, v))),
        _ => no_overload(),
    }
}

pub(super) fn range(steps: &mut Steps<'_>, n: i64) -> Result<Value> {
    steps.charge(u64::try_from(n).unwrap_or_default())?;
    Ok(Value::list((0..n).map(Value::Int)))
}

pub(super) fn sets(steps: &mut Steps<'_>, name: &str, a: &[Value], b: &[Value]) -> Result<Value> {
    steps.charge((a.len() as u64).saturating_mul(b.len() as u64))?;
    let has = |l: &[Value], v: &Value| l.iter().any(|e| same(v, e));
    Ok(Value::Bool(match name {
        "contains" => b.iter().all(|v| has(a, v)),
        "equivalent" => b.iter().all(|v| has(a, v)) && a.iter().all(|v| has(b, v)),
        "intersects" => a.iter().any(|v| has(b, v)),
        _ => return unknown(&format!("sets.{name}")),
    }))
}
