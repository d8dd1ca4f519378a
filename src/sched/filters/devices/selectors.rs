//! Selectors of devices: expressions over the variable `device`. Mirrors `dynamic-resource-allocation/cel/compile.go`.

use crate::cel::{Error, Program, Value};
use crate::wire::resource as wire;

/// The variable `device` of an expression.
///
/// # Errors
/// An attribute has no value that is understood; upstream's words.
pub fn variable(driver: &str, device: &wire::Device) -> Result<Value, String> {
    let mut attributes: Vec<(&str, Value)> = Vec::new();
    for (name, attribute) in &device.attributes {
        attributes.push((name, value_of(attribute).map_err(|e| format!("attribute {name}: {e}"))?));
    }
    let capacity = device.capacity.iter().map(|(name, capacity)| {
        let text = capacity.value.as_ref().map_or("0", |q| &q.string);
        (name.as_str(), Value::quantity(text).unwrap_or(Value::Null))
    });
    Ok(Value::map(
        [
            ("driver", Value::string(driver)),
            ("allowMultipleAllocations", Value::Bool(device.allow_multiple_allocations == Some(true))),
            ("attributes", by_domain(driver, attributes)),
            ("capacity", by_domain(driver, capacity)),
        ],
        None,
    ))
}

/// Qualified names as maps within a map: domain, then identifier. A name without a domain has the driver's; a domain that
/// is not there is an empty map.
fn by_domain<'a>(driver: &'a str, named: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let mut domains: Vec<(&str, Vec<(&str, Value)>)> = Vec::new();
    for (name, value) in named {
        let (domain, id) = name.split_once('/').unwrap_or((driver, name));
        match domains.iter_mut().find(|(d, _)| *d == domain) {
            Some((_, values)) => values.push((id, value)),
            None => domains.push((domain, vec![(id, value)])),
        }
    }
    let empty = Value::map([], None);
    Value::map(domains.into_iter().map(|(domain, values)| (domain, Value::map(values, None))), Some(empty))
}

/// Mirrors `getAttributeValue`.
fn value_of(a: &wire::DeviceAttribute) -> Result<Value, String> {
    let version = |text: &str| Value::version(text).ok_or_else(|| "parse semantic version: it is none".to_owned());
    Ok(if !a.ints.is_empty() {
        Value::list(a.ints.iter().map(|i| Value::Int(*i)))
    } else if !a.bools.is_empty() {
        Value::list(a.bools.iter().map(|b| Value::Bool(*b)))
    } else if !a.strings.is_empty() {
        Value::list(a.strings.iter().map(|s| Value::string(s)))
    } else if !a.versions.is_empty() {
        Value::list(a.versions.iter().map(|v| version(v)).collect::<Result<Vec<_>, _>>()?)
    } else if let Some(i) = a.int {
        Value::Int(i)
    } else if let Some(b) = a.bool {
        Value::Bool(b)
    } else if let Some(s) = &a.string {
        Value::string(s)
    } else if let Some(v) = &a.version {
        version(v)?
    } else {
        return Err("unsupported attribute value".to_owned());
    })
}

/// Whether a device matches an expression. Mirrors `DeviceMatches`.
///
/// # Errors
/// The expression has no value, or none that is true or false.
pub fn matches(program: &Program, device: &Value, steps: &mut u64) -> Result<bool, Error> {
    let root = |name: &str| (name == "device").then(|| device.clone());
    match program.value(&root, steps)? {
        Value::Bool(b) => Ok(b),
        other => {
            let of = other.type_name();
            let why = match &other {
                Value::String(_) => "unsupported native conversion from string to 'bool'",
                Value::Semver(_) => "type conversion error from 'Semver' to 'bool'",
                Value::Quantity { .. } => "type conversion error from 'Quantity' to 'bool'",
                Value::Int(_) => "unsupported type conversion from 'int' to bool",
                _ => return Err(Error::Unsupported(format!("a selector whose value is a {of}"))),
            };
            Err(Error::Failed(format!("CEL result of type {of} could not be converted to bool: {why}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    /// What an expression says of a device: upstream's words, or `None` where it is not evaluated here.
    fn said(expression: &str, device: &wire::Device) -> Option<String> {
        let mut steps = 1_000_000;
        let variable = variable("gpu.example.com", device).ok()?;
        match Program::parse(expression).and_then(|p| matches(&p, &variable, &mut steps)) {
            Ok(b) => Some(b.to_string()),
            Err(Error::Failed(words)) => Some(words),
            Err(Error::Unsupported(_) | Error::TooCostly) => None,
        }
    }

    #[test]
    fn expressions_have_upstreams_values() {
        // Random expressions over random devices, with what `k8s.io/dynamic-resource-allocation/cel` made of them.
        for (version, recorded) in [
            ("1.36", include_str!("../../../../tests/tables/cel-1.36.jsonl")),
            ("1.37", include_str!("../../../../tests/tables/cel-1.37.jsonl")),
        ] {
            let (mut known, mut all) = (0, 0);
            for line in recorded.lines() {
                let line: Json = serde_json::from_str(line).unwrap();
                let device: wire::Device = serde_json::from_value(line["device"].clone()).unwrap();
                for row in line["rows"].as_array().unwrap() {
                    let (expression, want) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
                    all += 1;
                    if let Some(said) = said(expression, &device) {
                        known += 1;
                        assert_eq!(said, want, "{version}: {expression} of {}", line["device"]);
                    }
                }
            }
            assert!(known * 100 >= all * 99, "{version}: {known} of {all} are evaluated");
        }
    }

    #[test]
    fn what_is_not_evaluated_is_said() {
        let device = wire::Device::default();
        let deep = format!("device{} == 1", ".a".repeat(120));
        // Each list has the one before it twice, so that the last has 2^60 elements, all of them one.
        let doubled = |twice: &str, then: &str| {
            let each = format!("cel.bind(l, {twice}, ").repeat(60);
            format!("cel.bind(l, [1], {each}{then}{}", ")".repeat(61))
        };
        let lists = doubled("[l, l]", "l == l");
        let maps = doubled("{1: l, 2: l}", "l == l");
        let transformed = doubled("[1, 2].transformList(i, v, l)", "{l: 1, l: 2}.size() == 1");
        for (expression, want) in [
            ("ip('1.2.3.4').family() == 4", Err("the function ip() is not evaluated by this program")),
            ("true || ip('1.2.3.4').family() == 4", Ok(true)),
            ("false && ip('1.2.3.4').family() == 4", Ok(false)),
            (
                "ip('1.2.3.4').family() == 4 && device.attributes['a'].b",
                Err("the function ip() is not evaluated by this program"),
            ),
            ("duration('1h') > duration('1m')", Err("the function duration() is not evaluated by this program")),
            ("nothing", Err("the variable nothing is not evaluated by this program")),
            (&deep, Err("an expression nested so deep is not evaluated by this program")),
            // Doubled forty times.
            (
                "cel.bind(a, 'xxxxxxxxxxxxxxxx', cel.bind(b, a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a, cel.bind(c, b+b+b+b+b+b+b+b+b+b+b+b+b+b+b+b, \
                 cel.bind(d, c+c+c+c+c+c+c+c+c+c+c+c+c+c+c+c, cel.bind(e, d+d+d+d+d+d+d+d+d+d+d+d+d+d+d+d, \
                 cel.bind(f, e+e+e+e+e+e+e+e+e+e+e+e+e+e+e+e, f == ''))))))",
                Err("its evaluation takes too many steps"),
            ),
            (
                "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, true)))",
                Err("its evaluation takes too many steps"),
            ),
            ("lists.range(9223372036854775807).size() == 0", Err("its evaluation takes too many steps")),
            (&lists, Err("its evaluation takes too many steps")),
            (&maps, Err("its evaluation takes too many steps")),
            (&transformed, Err("its evaluation takes too many steps")),
        ] {
            let mut steps = 1_000_000;
            let got = Program::parse(expression)
                .and_then(|p| matches(&p, &variable("d", &device).unwrap(), &mut steps))
                .map_err(|e| e.to_string());
            match want {
                Ok(_) => assert_eq!(got, want.map_err(str::to_owned), "{expression}"),
                Err(words) => assert!(got.clone().is_err_and(|e| e.contains(words)), "{expression}: {got:?}"),
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_an_evaluation_panic(parts in proptest::collection::vec(0..PARTS.len(), 0..25)) {
            let text: String = parts.iter().filter_map(|at| PARTS.get(*at)).copied().collect();
            let mut steps = 10_000;
            if let Ok(program) = Program::parse(&text) {
                let _ = matches(&program, &variable("d", &wire::Device::default()).unwrap(), &mut steps);
            }
        }
    }

    const PARTS: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "!",
        "-",
        "?",
        ":",
        ".",
        ".?",
        "[?",
        ",",
        "'a'",
        "'é'",
        "1",
        "0",
        "1u",
        "1.5",
        "null",
        "device",
        ".attributes",
        ".capacity",
        "['d']",
        " in ",
        " + ",
        " - ",
        " * ",
        " / ",
        " % ",
        " == ",
        " < ",
        " && ",
        " || ",
        "has(",
        "cel.bind(x, 1, x)",
        ".map(x, x)",
        ".all(x, y, x)",
        ".exists_one(x, x == 1)",
        ".substring(1)",
        ".charAt(2)",
        ".slice(3, 1)",
        ".join()",
        ".sort()",
        ".split('')",
        "quantity('1.5Gi')",
        "semver('1.2.3')",
        ".asInteger()",
        "int(",
        "9223372036854775807",
        "-9223372036854775808",
        "string(",
        "optional.of(",
        ".value()",
        ".orValue(",
        "lists.range(3)",
        ".transformList(i, v, i)",
        ".optMap(v, v)",
        ".matches('(')",
        ".find('a*')",
        "type(",
        ".replace('', 'ab')",
        "1e400",
        "sets.contains([1], [2])",
        "b'\\xff'",
    ];
}
