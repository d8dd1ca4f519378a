//! Functions of lists and sets. Mirrors `ext/{lists,sets}.go` and Kubernetes' `library/lists.go`.

use super::eval::Run;
use super::functions::{no_overload_of, unknown};
use super::operators::{self, no_overload};
use super::value::Value;
use super::{Error, Result};
use std::cmp::Ordering;
use std::sync::Arc;

/// What lists have.
pub(super) const NAMES: &[&str] =
    &["isSorted", "sum", "min", "max", "sort", "distinct", "flatten", "reverse", "slice", "includes"];

pub(super) fn member(run: &mut Run<'_>, name: &str, target: &Value, args: &[Value]) -> Result<Value> {
    run.charge(target.size())?;
    if name == "includes" {
        return includes(target, args);
    }
    let Value::List(l) = target else {
        let all: Vec<&Value> = [target].into_iter().chain(args).collect();
        return no_overload_of(name, &all);
    };
    match (name, args) {
        ("isSorted", []) => {
            for pair in l.windows(2) {
                if let [a, b] = pair
                    && operators::compare(a, b)? == Ordering::Greater
                {
                    return Ok(Value::Bool(false));
                }
            }
            Ok(Value::Bool(true))
        }
        ("sum", []) => {
            let mut elements = l.iter();
            let Some(first) = elements.next() else { return unknown("sum of nothing") };
            elements.try_fold(first.clone(), |sum, v| operators::arithmetic('+', &sum, v))
        }
        ("min" | "max", []) => {
            let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
            let mut elements = l.iter();
            let Some(mut best) = elements.next() else {
                return Err(Error::failed(format!("{name} called on empty list")));
            };
            for v in elements {
                if operators::compare(v, best)? == wanted {
                    best = v;
                }
            }
            Ok(best.clone())
        }
        ("indexOf", [v]) => Ok(at(l.iter().position(|e| same(v, e)))),
        ("lastIndexOf", [v]) => Ok(at(l.iter().rposition(|e| same(v, e)))),
        ("reverse", []) => Ok(Value::list(l.iter().rev().cloned())),
        ("sort", []) => sort(l),
        ("distinct", []) => {
            run.charge((l.len() as u64).saturating_mul(l.len() as u64))?;
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
                None => unknown("slice outside of a list"),
            }
        }
        _ => unknown(name),
    }
}

fn same(a: &Value, b: &Value) -> bool {
    a.equals(b).is_ok_and(|same| same)
}

fn at(position: Option<usize>) -> Value {
    Value::Int(position.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

fn sort(l: &Arc<[Value]>) -> Result<Value> {
    let mut sorted = l.to_vec();
    // Elements of different types cannot be sorted: found out first, as a comparison must not fail midway.
    if let Some(first) = l.first() {
        for v in l.iter() {
            if v.type_name() != first.type_name() {
                return Err(Error::failed("list elements must have the same type"));
            }
            operators::compare(first, v)?;
        }
    }
    sorted.sort_by(|a, b| operators::compare(a, b).unwrap_or(Ordering::Equal));
    Ok(Value::list(sorted))
}

/// A list includes an element, any other value itself. Mirrors `includes` of 1.37.
fn includes(target: &Value, args: &[Value]) -> Result<Value> {
    match (target, args) {
        (Value::List(l), [v]) => Ok(Value::Bool(l.iter().any(|e| same(e, v)))),
        (other, [v]) => Ok(Value::Bool(same(other, v))),
        _ => no_overload(),
    }
}

pub(super) fn range(run: &mut Run<'_>, n: i64) -> Result<Value> {
    run.charge(u64::try_from(n).unwrap_or_default())?;
    Ok(Value::list((0..n).map(Value::Int)))
}

pub(super) fn sets(run: &mut Run<'_>, name: &str, a: &[Value], b: &[Value]) -> Result<Value> {
    run.charge((a.len() as u64).saturating_mul(b.len() as u64))?;
    let has = |l: &[Value], v: &Value| l.iter().any(|e| same(v, e));
    Ok(Value::Bool(match name {
        "contains" => b.iter().all(|v| has(a, v)),
        "equivalent" => b.iter().all(|v| has(a, v)) && a.iter().all(|v| has(b, v)),
        "intersects" => a.iter().any(|v| has(b, v)),
        _ => return unknown(&format!("sets.{name}")),
    }))
}
