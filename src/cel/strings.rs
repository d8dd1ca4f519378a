//! Functions of strings. Mirrors the standard ones, `ext/strings.go` (version 2) and Kubernetes' `library/regex.go`.
//! Positions count characters.

use super::error::{Error, Result};
use super::operators::{no_overload, no_overload_of, no_overload_on, unknown};
use super::steps::Steps;
use super::value::Value;

/// What strings have.
pub(super) const NAMES: &[&str] = &[
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "find",
    "findAll",
    "charAt",
    "indexOf",
    "lastIndexOf",
    "join",
    "lowerAscii",
    "upperAscii",
    "replace",
    "split",
    "substring",
    "trim",
];

pub(super) fn member(steps: &mut Steps<'_>, name: &str, target: &Value, args: &[Value]) -> Result<Value> {
    steps.charge(steps.for_all_of(target))?;
    let text = |s: String| Ok(Value::String(s.into()));
    let out_of_range = |at: i64| Err(Error::failed(format!("index out of range: {at}")));
    match (name, target, args) {
        ("contains", Value::String(s), [Value::String(part)]) => Ok(Value::Bool(s.contains(&**part))),
        ("startsWith", Value::String(s), [Value::String(part)]) => Ok(Value::Bool(s.starts_with(&**part))),
        ("endsWith", Value::String(s), [Value::String(part)]) => Ok(Value::Bool(s.ends_with(&**part))),
        ("matches", _, [pattern]) => matches(steps, target, pattern),
        ("contains" | "startsWith" | "endsWith" | "matches", _, _) => no_overload(),
        ("find" | "findAll", _, _) if !matches!(target, Value::String(_)) => no_overload(),
        ("find", Value::String(s), [Value::String(pattern)]) => {
            let regex = compile(steps, s, pattern)?;
            text(regex.find(s).map_or("", |m| m.as_str()).to_owned())
        }
        ("findAll", Value::String(s), [Value::String(pattern), rest @ ..]) => {
            let limit = match rest {
                [] => usize::MAX,
                [Value::Int(n)] => usize::try_from(*n).unwrap_or(usize::MAX),
                _ => return no_overload_of(name, &[target]),
            };
            let regex = compile(steps, s, pattern)?;
            Ok(Value::list(regex.find_iter(s).take(limit).map(|m| Value::string(m.as_str()))))
        }
        ("lowerAscii", Value::String(s), []) => text(s.to_ascii_lowercase()),
        ("upperAscii", Value::String(s), []) => text(s.to_ascii_uppercase()),
        ("trim", Value::String(s), []) => text(s.trim().to_owned()),
        ("charAt", Value::String(s), [Value::Int(at)]) => {
            let chars = s.chars().count();
            match usize::try_from(*at) {
                Ok(at) if at <= chars => text(s.chars().nth(at).map(String::from).unwrap_or_default()),
                _ => out_of_range(*at),
            }
        }
        ("substring", Value::String(s), [Value::Int(from)]) => match position(s, *from) {
            Some(from) => text(s.get(from..).unwrap_or_default().to_owned()),
            None => out_of_range(*from),
        },
        ("substring", Value::String(s), [Value::Int(from), Value::Int(to)]) => {
            if from > to {
                return Err(Error::failed(format!("invalid substring range. start: {from}, end: {to}")));
            }
            match (position(s, *from), position(s, *to)) {
                (Some(from), Some(to)) => text(s.get(from..to).unwrap_or_default().to_owned()),
                (None, _) => out_of_range(*from),
                (_, None) => out_of_range(*to),
            }
        }
        ("indexOf", Value::String(s), [Value::String(part)]) => Ok(Value::Int(char_index(s, s.find(&**part)))),
        ("lastIndexOf", Value::String(s), [Value::String(part)]) => Ok(Value::Int(char_index(s, s.rfind(&**part)))),
        ("replace", Value::String(s), [Value::String(from), Value::String(to)]) => {
            steps.charge((s.matches(&**from).count() as u64 + 1) * (to.len() as u64 + 8) / 8)?;
            text(s.replace(&**from, to))
        }
        ("split", Value::String(s), [Value::String(by)]) => {
            steps.charge(s.len() as u64 + 1)?;
            let parts: Vec<Value> = match &**by {
                "" => s.chars().map(|c| Value::string(c.encode_utf8(&mut [0; 4]))).collect(),
                by => s.split(by).map(Value::string).collect(),
            };
            Ok(Value::list(parts))
        }
        ("join", Value::List(l), rest) => {
            let by = match rest {
                [] => "",
                [Value::String(by)] => by,
                _ => return no_overload_of(name, &[target]),
            };
            steps.charge(l.len() as u64 * (by.len() as u64 / 8 + 1) + steps.for_all_of(target))?;
            let parts: Option<Vec<&str>> =
                l.iter().map(|v| if let Value::String(s) = v { Some(&**s) } else { None }).collect();
            match parts {
                Some(parts) => text(parts.join(by)),
                None => Err(Error::unsupported("join() of values that are no strings")),
            }
        }
        ("replace", Value::String(s), [Value::String(from), Value::String(to), Value::Int(n)]) => {
            steps.charge((s.matches(&**from).count() as u64 + 1) * (to.len() as u64 + 8) / 8)?;
            text(s.replacen(&**from, to, usize::try_from(*n).unwrap_or(usize::MAX)))
        }
        ("split", Value::String(s), [Value::String(by), Value::Int(n)]) if !by.is_empty() => {
            steps.charge(s.len() as u64 + 1)?;
            let n = usize::try_from(*n).unwrap_or(usize::MAX);
            Ok(Value::list(s.splitn(n, &**by).map(Value::string)))
        }
        ("indexOf" | "lastIndexOf" | "split", Value::String(_), [Value::String(_), Value::Int(_)]) => {
            unknown(&format!("{name} with a number"))
        }
        _ => no_overload_on(name, target, args),
    }
}

/// The byte at which a character begins; the end of the text counts as one.
fn position(s: &str, chars: i64) -> Option<usize> {
    let chars = usize::try_from(chars).ok()?;
    s.char_indices().map(|(at, _)| at).chain([s.len()]).nth(chars)
}

fn char_index(s: &str, byte: Option<usize>) -> i64 {
    let before = |at: usize| s.get(..at).map_or(0, |before| before.chars().count());
    byte.map_or(-1, |at| i64::try_from(before(at)).unwrap_or(i64::MAX))
}

/// Whether a part of the text matches an expression of RE2's syntax.
pub(super) fn matches(steps: &mut Steps<'_>, text: &Value, pattern: &Value) -> Result<Value> {
    let (Value::String(text), Value::String(pattern)) = (text, pattern) else { return no_overload() };
    let regex = compile(steps, text, pattern)?;
    Ok(Value::Bool(regex.is_match(text)))
}

/// So large a compiled expression may be, in bytes.
const REGEX_LIMIT: usize = 1 << 18;

fn compile(steps: &mut Steps<'_>, text: &str, pattern: &str) -> Result<regex::Regex> {
    // Upstream's cost of a match, times what a compilation costs here.
    steps.charge((text.len() as u64 / 8 + 1) * (pattern.len() as u64 / 4 + 1) + 100)?;
    // RE2's classes are those of ASCII.
    if !text.is_ascii() && (pattern.contains('\\') || pattern.contains("(?i")) {
        return Err(Error::unsupported("a regular expression on text beyond ASCII"));
    }
    let regex = regex::RegexBuilder::new(pattern).size_limit(REGEX_LIMIT).build();
    regex.map_err(|_| Error::unsupported("such a regular expression"))
}
