//! Walks an expression. Mirrors cel-go's interpreter: `&&` and `||` take the side that decides although the other fails,
//! every other operation fails with its first failing part.

use super::error::{Error, Result};
use super::macros::{self, Evaluate};
use super::steps::Steps;
use super::value::{Map, Value};
use super::{functions, operators};
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, SelectExpr,
    operators as op,
};
use std::sync::Arc;

/// The value of an expression, with the variables that `root` knows.
pub(super) fn value_of<'a>(
    e: &'a IdedExpr,
    root: &'a dyn Fn(&str) -> Option<Value>,
    left: &'a mut u64,
) -> Result<Value> {
    let mut run = Run { root, variables: Vec::new(), steps: Steps::new(left) };
    let value = run.eval(e);
    run.steps.stumbled.map_or(value, |what| Err(Error::Unsupported(what)))
}

/// One evaluation.
struct Run<'a> {
    root: &'a dyn Fn(&str) -> Option<Value>,
    /// Variables of macros, the innermost last. That of an accumulator may be a failure which a later step mends.
    variables: Vec<(&'a str, Result<Value>)>,
    steps: Steps<'a>,
}

impl<'a> Evaluate<'a> for Run<'a> {
    fn eval(&mut self, e: &'a IdedExpr) -> Result<Value> {
        self.steps.charge(1)?;
        match &e.expr {
            Expr::Literal(l) => literal(l),
            Expr::Ident(name) => self.variable(name),
            Expr::Select(s) => self.select(s),
            Expr::Call(c) => self.call(c),
            Expr::List(l) => self.list(l),
            Expr::Map(m) => self.map(m),
            Expr::Comprehension(c) => self.comprehension(c),
            Expr::Struct(s) => Err(Error::unsupported(format!("a message of type {}", s.type_name))),
            Expr::Unspecified => Err(Error::unsupported("an empty expression")),
        }
    }

    fn eval_with(&mut self, variables: &[(&'a str, Result<Value>)], e: &'a IdedExpr) -> Result<Value> {
        let before = self.variables.len();
        self.variables.extend(variables.iter().filter(|(name, _)| !name.is_empty()).cloned());
        let result = self.eval(e);
        self.variables.truncate(before);
        result
    }

    fn pairs(&mut self, range: &Value) -> Result<Vec<(Value, Option<Value>)>> {
        match range {
            Value::List(l) => {
                self.steps.charge(l.len() as u64)?;
                let indices = (0i64..).map(Value::Int);
                Ok(indices.zip(l.iter().cloned().map(Some)).collect())
            }
            Value::Map(m) => Ok(m.entries.iter().map(|(k, _)| (k.clone(), None)).collect()),
            other => {
                let go = match other {
                    Value::Bool(_) => "types.Bool",
                    Value::Int(_) => "types.Int",
                    Value::Uint(_) => "types.Uint",
                    Value::Double(_) => "types.Double",
                    Value::String(_) => "types.String",
                    Value::Bytes(_) => "types.Bytes",
                    Value::Null => "types.Null",
                    _ => return Err(Error::unsupported(format!("a loop over a {}", other.type_name()))),
                };
                Err(Error::failed(format!("got '{go}', expected iterable type")))
            }
        }
    }

    fn steps(&mut self) -> &mut Steps<'a> {
        &mut self.steps
    }
}

impl<'a> Run<'a> {
    fn is_variable(&self, name: &str) -> bool {
        self.variables.iter().any(|(n, _)| *n == name) || (self.root)(name).is_some()
    }

    fn variable(&mut self, name: &str) -> Result<Value> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if let Some((_, value)) = self.variables.iter().rev().find(|(n, _)| *n == name) {
            return value.clone();
        }
        let of_type = || functions::TYPES.iter().find(|t| **t == name).map(|t| Value::Type(t));
        (self.root)(name).or_else(of_type).ok_or_else(|| Error::unsupported(format!("the variable {name}")))
    }

    fn select(&mut self, s: &'a SelectExpr) -> Result<Value> {
        let operand = self.eval(&s.operand)?;
        if s.test {
            return operators::has(&operand, &s.field).map(Value::Bool);
        }
        operators::select(&operand, &s.field)
    }

    fn call(&mut self, c: &'a CallExpr) -> Result<Value> {
        match (&*c.func_name, &*c.args, c.target.as_deref()) {
            (op::LOGICAL_AND, [a, b], None) => self.logic(a, b, false),
            (op::LOGICAL_OR, [a, b], None) => self.logic(a, b, true),
            (op::CONDITIONAL, [condition, yes, no], None) => match self.eval(condition)? {
                Value::Bool(true) => self.eval(yes),
                Value::Bool(false) => self.eval(no),
                _ => Err(Error::failed("no such overload")),
            },
            // An accumulator that failed goes on: what comes may mend it.
            (op::NOT_STRICTLY_FALSE, [a], None) => match self.eval(a) {
                Err(Error::TooCostly) => Err(Error::TooCostly),
                Ok(Value::Bool(b)) => Ok(Value::Bool(b)),
                _ => Ok(Value::Bool(true)),
            },
            (op::OPT_SELECT, [operand, field], None) => {
                let (operand, field) = (self.eval(operand)?, self.eval(field)?);
                operators::optional_index(&operand, &field)
            }
            (name, args, None) => {
                let args = self.values(args)?;
                functions::global(&mut self.steps, name, &args)
            }
            (name, args, Some(target)) => self.call_on(name, target, args),
        }
    }

    /// Calls a function of a value, or of a library.
    fn call_on(&mut self, name: &'a str, target: &'a IdedExpr, args: &'a [IdedExpr]) -> Result<Value> {
        // `sets.contains(a, b)` and its like look as if `sets` were a value.
        if let Expr::Ident(library) = &target.expr
            && !self.is_variable(library)
        {
            if library == "cel" && name == "bind" {
                return macros::bind(self, args);
            }
            let args = self.values(args)?;
            return functions::of_library(&mut self.steps, library, name, &args);
        }
        match (name, args) {
            ("optMap" | "optFlatMap", [variable, then]) => {
                return macros::optional_map(self, name, target, variable, then);
            }
            ("all" | "exists" | "existsOne" | "exists_one" | "transformList", [first, .., _])
                if matches!(first.expr, Expr::Ident(_)) =>
            {
                return macros::with_two_variables(self, name, target, args);
            }
            _ => {}
        }
        let target = match self.eval(target) {
            // Upstream does not look whether its list failed, and its runtime may panic over that.
            Err(e @ Error::Failed(_)) if matches!(name, "sort" | "distinct") => {
                self.steps.stumbled = Some(format!("{name}() of a list that fails"));
                return Err(e);
            }
            other => other?,
        };
        if let ("or" | "orValue", Value::Optional(value), [other]) = (name, &target, args) {
            return match (value, name) {
                (Some(_), "or") => Ok(target),
                (Some(value), _) => Ok((**value).clone()),
                (None, _) => self.eval(other),
            };
        }
        let args = self.values(args)?;
        functions::member(&mut self.steps, name, &target, &args)
    }

    /// The values of all parts; upstream looks at failures only then, and takes the first.
    fn values(&mut self, args: &'a [IdedExpr]) -> Result<Vec<Value>> {
        let values: Vec<Result<Value>> = args.iter().map(|a| self.eval(a)).collect();
        values.into_iter().collect()
    }

    /// `&&` (`decisive` false) and `||` (true).
    fn logic(&mut self, a: &'a IdedExpr, b: &'a IdedExpr, decisive: bool) -> Result<Value> {
        let decides = |r: &Result<Value>| matches!(r, Ok(Value::Bool(v)) if *v == decisive);
        let left = self.eval(a);
        if decides(&left) {
            return left;
        }
        let right = match left {
            Err(Error::TooCostly) => return left,
            _ => self.eval(b),
        };
        if decides(&right) {
            return right;
        }
        // What cannot be known weighs more than a failure: it might have decided.
        let weighty = |r: &Result<Value>| matches!(r, Err(Error::TooCostly | Error::Unsupported(_)));
        for side in [&left, &right] {
            if weighty(side) {
                return side.clone();
            }
        }
        for side in [left, right] {
            match side {
                Ok(Value::Bool(_)) => {}
                Ok(_) => return Err(Error::failed("no such overload")),
                Err(e) => return Err(e),
            }
        }
        Ok(Value::Bool(!decisive))
    }

    fn list(&mut self, l: &'a ListExpr) -> Result<Value> {
        let mut elements = Vec::with_capacity(l.elements.len());
        for (at, e) in l.elements.iter().enumerate() {
            let value = self.eval(e)?;
            match value {
                Value::Optional(inner) if l.optional_indices.contains(&at) => {
                    elements.extend(inner.map(|v| (*v).clone()));
                }
                value => elements.push(value),
            }
        }
        self.made(Value::list(elements))
    }

    /// A value made of others: what stands in it many times counts as often.
    fn made(&mut self, value: Value) -> Result<Value> {
        self.steps.charge(self.steps.for_all_of(&value))?;
        Ok(value)
    }

    fn map(&mut self, m: &'a MapExpr) -> Result<Value> {
        let mut map = Map::default();
        for entry in &m.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else {
                return Err(Error::unsupported("a message"));
            };
            let (key, value) = (self.eval(&entry.key)?, self.eval(&entry.value)?);
            self.steps.charge(map.entries.len() as u64)?;
            if map.entry(&key).is_some() {
                return Err(Error::failed(format!("Failed with repeated key: {}", key.printed())));
            }
            match value {
                Value::Optional(inner) if entry.optional => {
                    map.entries.extend(inner.map(|v| (key, (*v).clone())));
                }
                value => map.entries.push((key, value)),
            }
        }
        self.made(Value::Map(Arc::new(map)))
    }

    /// What a macro stands for: a loop with an accumulator. Mirrors `evalFold`.
    fn comprehension(&mut self, c: &'a ComprehensionExpr) -> Result<Value> {
        if c.iter_var2.as_deref().is_some_and(|v| !v.is_empty()) {
            return Err(Error::unsupported("a macro with two variables"));
        }
        let range = self.eval(&c.iter_range)?;
        let elements = self.elements(&range)?;
        let mut accumulator = self.eval(&c.accu_init);
        for element in elements {
            self.steps.charge(1)?;
            match self.eval_with(&[(&c.accu_var, accumulator.clone())], &c.loop_cond)? {
                Value::Bool(true) => {}
                _ => break,
            }
            accumulator = self.eval_with(&[(&c.accu_var, accumulator), (&c.iter_var, Ok(element))], &c.loop_step);
            match &accumulator {
                Err(Error::TooCostly) => return accumulator,
                // Lists are made anew for each element that is added.
                Ok(Value::List(l)) => self.steps.charge(l.len() as u64)?,
                _ => {}
            }
        }
        self.eval_with(&[(&c.accu_var, accumulator)], &c.result)
    }

    /// What a loop over a value goes through: the elements of a list, the keys of a map.
    fn elements(&mut self, range: &Value) -> Result<Vec<Value>> {
        Ok(self.pairs(range)?.into_iter().map(|(key, value)| value.unwrap_or(key)).collect())
    }
}

fn literal(l: &LiteralValue) -> Result<Value> {
    Ok(match l {
        LiteralValue::Null => Value::Null,
        LiteralValue::Boolean(b) => Value::Bool(*b.inner()),
        LiteralValue::Int(i) => Value::Int(*i.inner()),
        LiteralValue::UInt(u) => Value::Uint(*u.inner()),
        LiteralValue::Double(d) => Value::Double(*d.inner()),
        LiteralValue::String(s) => Value::string(s.inner()),
        LiteralValue::Bytes(b) => Value::Bytes(b.inner().into()),
    })
}
