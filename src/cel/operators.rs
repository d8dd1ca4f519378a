//! Operators: arithmetic, comparison, fields and indices. Mirrors the traits of `cel-go/common/types` and
//! `interpreter/attributes.go`.

use super::error::{Error, Result};
use super::value::{Value, compare_numbers};
use cel::common::ast::operators as op;
use std::cmp::Ordering;
use std::sync::Arc;

pub(super) fn no_overload<T>() -> Result<T> {
    Err(Error::failed("no such overload"))
}

fn missing<T>(key: &str) -> Result<T> {
    Err(Error::failed(format!("no such key: {key}")))
}

/// A field of a value. What follows an optional field is optional, too.
pub(super) fn select(operand: &Value, field: &str) -> Result<Value> {
    match operand {
        Value::Map(m) => m.field(field).cloned().map_or_else(|| missing(field), Ok),
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => optional_index(inner, &Value::string(field)),
        Value::List(_) => Err(Error::failed("unsupported index type 'string' in list")),
        _ => missing(field),
    }
}

/// Whether a value has a field.
pub(super) fn has(operand: &Value, field: &str) -> Result<bool> {
    match operand {
        Value::Map(m) => Ok(m.field(field).is_some()),
        Value::Optional(None) => Ok(false),
        Value::Optional(Some(inner)) => has(inner, field),
        Value::List(_) => Err(Error::failed("unsupported index type 'string' in list")),
        _ => Ok(false),
    }
}

/// `a[b]`.
pub(super) fn index(operand: &Value, key: &Value) -> Result<Value> {
    match operand {
        Value::Map(m) => m.find(key).cloned().map_or_else(|| missing(&key.printed()), Ok),
        Value::List(l) => {
            let at = list_index(key)?;
            let found = usize::try_from(at).ok().and_then(|at| l.get(at)).cloned();
            found.ok_or_else(|| Error::failed(format!("index out of bounds: {}", key.printed())))
        }
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => optional_index(inner, key),
        _ => missing(&key.printed()),
    }
}

/// `a[?b]`, `a.?b`: nothing where it is not there.
pub(super) fn optional_index(operand: &Value, key: &Value) -> Result<Value> {
    let found = match operand {
        Value::Map(m) => m.find(key).cloned(),
        Value::List(l) => usize::try_from(list_index(key)?).ok().and_then(|at| l.get(at)).cloned(),
        Value::Optional(None) => None,
        Value::Optional(Some(inner)) => return optional_index(inner, key),
        _ => None,
    };
    Ok(Value::Optional(found.map(Arc::new)))
}

fn list_index(key: &Value) -> Result<i64> {
    match key {
        Value::Int(i) => Ok(*i),
        Value::Uint(u) => Ok(i64::try_from(*u).unwrap_or(i64::MAX)),
        Value::Double(d) => match i64::try_from(*d as i128) {
            Ok(i) if d.fract() == 0.0 => Ok(i),
            _ => Err(Error::failed(format!("unsupported index value {} in list", key.printed()))),
        },
        other => Err(Error::failed(format!("unsupported index type '{}' in list", other.type_name()))),
    }
}

/// `a in b`.
pub(super) fn contains(container: &Value, element: &Value) -> Result<bool> {
    match container {
        Value::List(l) => Ok(l.iter().any(|e| element.equals(e).is_ok_and(|same| same))),
        Value::Map(m) => Ok(m.entry(element).is_some()),
        _ => no_overload(),
    }
}

/// How two values compare, for `<` and its like.
pub(super) fn compare(operator: &str, a: &Value, b: &Value) -> Result<Ordering> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Ok(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            compare_numbers(a, b).ok_or_else(|| Error::failed("NaN values cannot be ordered"))
        }
        (
            Value::Bool(_) | Value::String(_) | Value::Bytes(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_),
            _,
        ) => no_overload(),
        _ => untyped(operator),
    }
}

/// Upstream's words where the type on the left knows no such operator.
fn untyped<T>(operator: &str) -> Result<T> {
    Err(Error::failed(format!("no such overload: {operator}")))
}

/// `+`, `-`, `*`, `/`, `%`.
pub(super) fn arithmetic(operator: &str, a: &Value, b: &Value) -> Result<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => whole(operator, *a, *b, INT, "integer overflow").map(Value::Int),
        (Value::Uint(a), Value::Uint(b)) => whole(operator, *a, *b, UINT, "unsigned integer overflow").map(Value::Uint),
        (Value::Double(a), Value::Double(b)) => match operator {
            op::ADD => Ok(Value::Double(a + b)),
            op::SUBSTRACT => Ok(Value::Double(a - b)),
            op::MULTIPLY => Ok(Value::Double(a * b)),
            op::DIVIDE => Ok(Value::Double(a / b)),
            _ => untyped(operator),
        },
        (Value::String(a), Value::String(b)) if operator == op::ADD => Ok(Value::String(format!("{a}{b}").into())),
        (Value::Bytes(a), Value::Bytes(b)) if operator == op::ADD => Ok(Value::Bytes([&**a, &**b].concat().into())),
        (Value::List(a), Value::List(b)) if operator == op::ADD => Ok(Value::list(a.iter().chain(b.iter()).cloned())),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_), _) => no_overload(),
        (Value::Bytes(_) | Value::List(_), _) if operator == op::ADD => no_overload(),
        _ => untyped(operator),
    }
}

/// What a type of whole numbers computes; `None` where the result is not of the type.
type Checked<T> = fn(T, T) -> Option<T>;

const INT: [Checked<i64>; 5] =
    [i64::checked_add, i64::checked_sub, i64::checked_mul, i64::checked_div, i64::checked_rem];
const UINT: [Checked<u64>; 5] =
    [u64::checked_add, u64::checked_sub, u64::checked_mul, u64::checked_div, u64::checked_rem];

/// Arithmetic of whole numbers of one type. `overflow`: upstream's words.
fn whole<T: Default + PartialEq>(
    operator: &str,
    a: T,
    b: T,
    [add, subtract, multiply, divide, modulo]: [Checked<T>; 5],
    overflow: &str,
) -> Result<T> {
    let by_zero = b == T::default();
    let result = match operator {
        op::ADD => add(a, b),
        op::SUBSTRACT => subtract(a, b),
        op::MULTIPLY => multiply(a, b),
        op::DIVIDE if by_zero => return Err(Error::failed("division by zero")),
        op::MODULO if by_zero => return Err(Error::failed("modulus by zero")),
        op::DIVIDE => divide(a, b),
        _ => modulo(a, b),
    };
    result.ok_or_else(|| Error::failed(overflow))
}

/// `-a`.
pub(super) fn negate(a: &Value) -> Result<Value> {
    match a {
        Value::Int(i) => i.checked_neg().map(Value::Int).ok_or_else(|| Error::failed("integer overflow")),
        Value::Double(d) => Ok(Value::Double(-d)),
        Value::Bool(_) | Value::String(_) => no_overload(),
        _ => untyped(op::NEGATE),
    }
}

/// Upstream's words where a function of a library does not take such values.
pub(super) fn no_overload_of<T>(name: &str, values: &[&Value]) -> Result<T> {
    let types: Vec<&str> = values.iter().map(|v| v.type_name()).collect();
    Err(Error::failed(format!("no such overload: {name}({})", types.join(", "))))
}

/// The same of a function of a value.
pub(super) fn no_overload_on<T>(name: &str, target: &Value, args: &[Value]) -> Result<T> {
    no_overload_of(name, &[target].into_iter().chain(args).collect::<Vec<_>>())
}

/// A function that is not evaluated here.
pub(super) fn unknown<T>(name: &str) -> Result<T> {
    Err(Error::unsupported(format!("the function {name}()")))
}
