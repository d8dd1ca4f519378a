//! Macros that the parser leaves as calls: `cel.bind`, those of optional values, and those with two variables.

use super::error::{Error, Result};
use super::operators::{no_overload, unknown};
use super::steps::Steps;
use super::value::Value;
use cel::common::ast::{Expr, IdedExpr};
use std::sync::Arc;

/// What evaluates the parts of a macro.
pub(super) trait Evaluate<'a> {
    /// The value of a part.
    fn eval(&mut self, e: &'a IdedExpr) -> Result<Value>;
    /// The same with variables set; one without a name is none.
    fn eval_with(&mut self, variables: &[(&'a str, Result<Value>)], e: &'a IdedExpr) -> Result<Value>;
    /// What a loop over a value goes through: index and element of a list (the element apart), keys of a map.
    fn pairs(&mut self, range: &Value) -> Result<Vec<(Value, Option<Value>)>>;
    /// How far it goes.
    fn steps(&mut self) -> &mut Steps<'a>;
}

/// `cel.bind(name, value, expression)`.
pub(super) fn bind<'a>(run: &mut impl Evaluate<'a>, args: &'a [IdedExpr]) -> Result<Value> {
    let [IdedExpr { expr: Expr::Ident(name), .. }, value, then] = args else { return unknown("cel.bind") };
    let value = run.eval(value);
    if let Err(Error::TooCostly) = value {
        return value;
    }
    run.eval_with(&[(name, value)], then)
}

/// `optMap` and `optFlatMap`.
pub(super) fn optional_map<'a>(
    run: &mut impl Evaluate<'a>,
    name: &str,
    target: &'a IdedExpr,
    variable: &'a IdedExpr,
    then: &'a IdedExpr,
) -> Result<Value> {
    let Expr::Ident(variable) = &variable.expr else { return unknown(name) };
    match run.eval(target)? {
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(value)) => {
            let mapped = run.eval_with(&[(variable, Ok((*value).clone()))], then)?;
            Ok(if name == "optMap" { Value::Optional(Some(Arc::new(mapped))) } else { mapped })
        }
        _ => no_overload(),
    }
}

/// Macros with two variables, and `existsOne` with one of them. Mirrors `ext/comprehensions.go`.
pub(super) fn with_two_variables<'a>(
    run: &mut impl Evaluate<'a>,
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
        run.steps().charge(1)?;
        let (one, two) = match (value, &range) {
            (Some(element), _) if second.is_empty() => (element, Value::Null),
            (Some(element), _) => (key, element),
            (None, Value::Map(m)) => {
                let value = m.entry(&key).cloned().unwrap_or(Value::Null);
                (key, value)
            }
            (None, _) => (key, Value::Null),
        };
        let mut judge = |e: &'a IdedExpr| run.eval_with(&[(first, Ok(one.clone())), (second, Ok(two.clone()))], e);
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
        ("transformList", None) => {
            let list = Value::list(found);
            let size = run.steps().for_all_of(&list);
            run.steps().charge(size)?;
            Ok(list)
        }
        _ => Ok(Value::Bool(found.len() == 1)),
    }
}
