//! Which function a call means, by its name. Arguments are evaluated in order; the first that fails is the result.

use super::eval::Run;
use super::operators::{self, no_overload};
use super::value::Value;
use super::{Error, Result, kubernetes, lists, strings};
use cel::common::ast::{Expr, IdedExpr, operators as op};
use std::cmp::Ordering;
use std::sync::Arc;

/// Names of types, which are values.
pub(super) const TYPES: &[&str] =
    &["bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type", "optional_type"];

/// Calls a function.
pub(super) fn call<'a>(
    run: &mut Run<'a>,
    name: &'a str,
    target: Option<&'a IdedExpr>,
    args: &'a [IdedExpr],
) -> Result<Value> {
    let Some(target) = target else {
        let args = values(run, args)?;
        return global(run, name, &args);
    };
    // `sets.contains(a, b)` and its like look as if `sets` were a value.
    if let Expr::Ident(library) = &target.expr
        && !run.is_variable(library)
    {
        if library == "cel" && name == "bind" {
            return bind(run, args);
        }
        let args = values(run, args)?;
        return of_library(run, library, name, &args);
    }
    match (name, args) {
        ("optMap" | "optFlatMap", [variable, then]) => return optional_map(run, name, target, variable, then),
        ("all" | "exists" | "existsOne" | "exists_one" | "transformList", [first, .., _])
            if matches!(first.expr, Expr::Ident(_)) =>
        {
            return with_two_variables(run, name, target, args);
        }
        _ => {}
    }
    let target = match run.eval(target) {
        // Upstream does not look whether its list failed, and its runtime may panic over that.
        Err(e @ Error::Failed(_)) if matches!(name, "sort" | "distinct") => {
            run.stumbled = Some(format!("{name}() of a list that fails"));
            return Err(e);
        }
        other => other?,
    };
    if let ("or" | "orValue", Value::Optional(value), [other]) = (name, &target, args) {
        return match (value, name) {
            (Some(_), "or") => Ok(target),
            (Some(value), _) => Ok((**value).clone()),
            (None, _) => run.eval(other),
        };
    }
    let args = values(run, args)?;
    member(run, name, &target, &args)
}

fn values<'a>(run: &mut Run<'a>, args: &'a [IdedExpr]) -> Result<Vec<Value>> {
    let values: Vec<Result<Value>> = args.iter().map(|a| run.eval(a)).collect();
    values.into_iter().collect()
}

/// Upstream's words where a function of a library does not take such values.
pub(super) fn no_overload_of<T>(name: &str, values: &[&Value]) -> Result<T> {
    let types: Vec<&str> = values.iter().map(|v| v.type_name()).collect();
    Err(Error::failed(format!("no such overload: {name}({})", types.join(", "))))
}

/// A function that is not evaluated here.
pub(super) fn unknown<T>(name: &str) -> Result<T> {
    Err(Error::unsupported(format!("the function {name}()")))
}

fn global(run: &mut Run<'_>, name: &str, args: &[Value]) -> Result<Value> {
    match (name, args) {
        (op::EQUALS | op::NOT_EQUALS | op::IN, [a, b]) => {
            run.charge(a.size().min(b.size()) + if name == op::IN { b.size() } else { 0 })?;
            if name == op::IN && matches!((a, b), (Value::Semver(_), Value::List(_))) {
                run.stumbled = Some("a version looked for in a list".to_owned());
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
            run.charge(a.size() + b.size())?;
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
        ("matches", [text, pattern]) => strings::matches(run, text, pattern),
        ("quantity" | "isQuantity" | "semver" | "isSemver" | "sign", _) => kubernetes::global(name, args),
        _ => unknown(name),
    }
}

fn of_library(run: &mut Run<'_>, library: &str, name: &str, args: &[Value]) -> Result<Value> {
    match (library, name, args) {
        ("optional", "of", [v]) => Ok(Value::Optional(Some(Arc::new(v.clone())))),
        ("optional", "none", []) => Ok(Value::Optional(None)),
        ("optional", "ofNonZeroValue", [v]) => Ok(Value::Optional((!is_zero(v)).then(|| Arc::new(v.clone())))),
        ("sets", _, [Value::List(a), Value::List(b)]) => lists::sets(run, name, a, b),
        ("lists", "range", [Value::Int(n)]) => lists::range(run, *n),
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
        Value::Quantity(..) | Value::Semver(_) | Value::Type(_) => false,
    }
}

fn member(run: &mut Run<'_>, name: &str, target: &Value, args: &[Value]) -> Result<Value> {
    match (name, target, args) {
        ("hasValue", Value::Optional(v), []) => Ok(Value::Bool(v.is_some())),
        ("value", Value::Optional(v), []) => {
            v.as_deref().cloned().ok_or_else(|| Error::failed("optional.none() dereference"))
        }
        ("size", _, []) => size(target),
        (_, Value::Quantity(..) | Value::Semver(_), _) if kubernetes::NAMES.contains(&name) => {
            kubernetes::member(name, target, args)
        }
        ("hasValue" | "value", _, []) => no_overload_of(name, &[target]),
        ("indexOf" | "lastIndexOf" | "reverse" | "includes", Value::List(_), _) => {
            lists::member(run, name, target, args)
        }
        _ if strings::NAMES.contains(&name) => strings::member(run, name, target, args),
        _ if lists::NAMES.contains(&name) => lists::member(run, name, target, args),
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

/// `cel.bind(name, value, expression)`.
fn bind<'a>(run: &mut Run<'a>, args: &'a [IdedExpr]) -> Result<Value> {
    let [IdedExpr { expr: Expr::Ident(name), .. }, value, then] = args else { return unknown("cel.bind") };
    let value = run.eval(value);
    if let Err(Error::TooCostly) = value {
        return value;
    }
    run.with(name, value, then)
}

fn optional_map<'a>(
    run: &mut Run<'a>,
    name: &str,
    target: &'a IdedExpr,
    variable: &'a IdedExpr,
    then: &'a IdedExpr,
) -> Result<Value> {
    let Expr::Ident(variable) = &variable.expr else { return unknown(name) };
    match run.eval(target)? {
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(value)) => {
            let mapped = run.with(variable, Ok((*value).clone()), then)?;
            Ok(if name == "optMap" { Value::Optional(Some(Arc::new(mapped))) } else { mapped })
        }
        _ => no_overload(),
    }
}

/// Macros with two variables, and `existsOne` with one of them. Mirrors `ext/comprehensions.go`.
fn with_two_variables<'a>(
    run: &mut Run<'a>,
    name: &'a str,
    range: &'a IdedExpr,
    args: &'a [IdedExpr],
) -> Result<Value> {
    let (first, second, filter, body) = match args {
        [first, body] => (first, None, None, body),
        [first, second, body] => (first, Some(second), None, body),
        [first, second, filter, body] if name == "transformList" => (first, Some(second), Some(filter), body),
        _ => return unknown(name),
    };
    let name_of = |e: &'a IdedExpr| match &e.expr {
        Expr::Ident(name) => Some(name.as_str()),
        _ => None,
    };
    let (Some(first), Some(second)) = (name_of(first), second.map_or(Some(""), name_of)) else { return unknown(name) };
    if second.is_empty() && name == "transformList" {
        return unknown(name);
    }
    let range = run.eval(range)?;
    let mut found: Vec<Value> = Vec::new();
    let mut failed = None;
    for (key, value) in run.pairs(&range)? {
        run.charge(1)?;
        let (one, two) = match (value, &range) {
            (Some(element), _) if second.is_empty() => (element, Value::Null),
            (Some(element), _) => (key, element),
            (None, Value::Map(m)) => {
                let value = m.entry(&key).cloned().unwrap_or(Value::Null);
                (key, value)
            }
            (None, _) => (key, Value::Null),
        };
        let mut judge = |e: &'a IdedExpr| run.with_both((first, one.clone()), (second, two.clone()), e);
        if let Some(filter) = filter {
            match judge(filter)? {
                Value::Bool(true) => {}
                Value::Bool(false) => continue,
                _ => return no_overload(),
            }
        }
        let result = judge(body);
        match (name, result) {
            (_, Err(Error::TooCostly)) => return Err(Error::TooCostly),
            ("transformList", result) => found.push(result?),
            ("all", Ok(Value::Bool(false))) => return Ok(Value::Bool(false)),
            ("exists", Ok(Value::Bool(true))) => return Ok(Value::Bool(true)),
            ("all" | "exists", Ok(Value::Bool(_))) => {}
            ("all" | "exists", Ok(_)) => failed = failed.or(Some(Error::failed("no such overload"))),
            ("all" | "exists", Err(e)) => failed = failed.or(Some(e)),
            (_, Ok(Value::Bool(true))) => found.push(Value::Bool(true)),
            (_, Ok(Value::Bool(false))) => {}
            (_, Ok(_)) => return no_overload(),
            (_, Err(e)) => return Err(e),
        }
    }
    match (name, failed) {
        (_, Some(e)) => Err(e),
        ("all", None) => Ok(Value::Bool(true)),
        ("exists", None) => Ok(Value::Bool(false)),
        ("transformList", None) => Ok(Value::list(found)),
        _ => Ok(Value::Bool(found.len() == 1)),
    }
}
