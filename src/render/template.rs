//! `-o jsonpath=`, `-o custom-columns=` and `-o csv`: parts of the document, as kubectl prints them.
//!
//! A template is text with expressions in braces: `{.items[*].name}`, a string in quotes, and `{range …}…{end}`. The
//! expressions are those of RFC 9535; kubectl's leave the `$` out, and so may these.

use super::Screen;
use super::table::Table;
use crate::error::{Failure, Result};
use jsonpath_rust::JsonPath;
use serde_json::Value;

/// A part of a template.
#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    Path(String),
    Range(String, Vec<Part>),
}

/// The document through a kubectl template.
///
/// # Errors
/// A template that cannot be read.
pub fn json_path(document: &Value, template: &str) -> Result<String> {
    // As kubectl: an expression alone needs no braces.
    let braced = if template.contains('{') { template.to_owned() } else { format!("{{{template}}}") };
    let mut rest = braced.as_str();
    let parts = parts(&mut rest, false)?;
    let mut out = String::new();
    write(document, &parts, &mut out)?;
    if !out.ends_with('\n') {
        out.push('\n');
    }
    Ok(out)
}

fn bad(template: &str, why: &str) -> Failure {
    Failure::usage(format!("the template cannot be read at {template:?}: {why}"))
        .hint("write it like -o jsonpath='{.items[*].name}'")
}

fn parts(rest: &mut &str, inner: bool) -> Result<Vec<Part>> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let Some(text) = rest.strip_prefix('{') else {
            let end = rest.find('{').unwrap_or(rest.len());
            let (text, after) = rest.split_at(end);
            all.push(Part::Text(text.to_owned()));
            *rest = after;
            continue;
        };
        let end = end_of(text).ok_or_else(|| bad(rest, "a brace is not closed"))?;
        let (inside, after) = (text[..end].trim(), &text[end + 1..]);
        *rest = after;
        if inside == "end" {
            return if inner { Ok(all) } else { Err(bad(inside, "there is no range to end")) };
        } else if let Some(path) = inside.strip_prefix("range ") {
            let body = parts(rest, true)?;
            all.push(Part::Range(path.trim().to_owned(), body));
        } else if inside.starts_with(['"', '\'']) {
            all.push(Part::Text(unquoted(inside).ok_or_else(|| bad(inside, "a quote is not closed"))?));
        } else {
            all.push(Part::Path(inside.to_owned()));
        }
    }
    if inner { Err(bad("", "a range has no {end}")) } else { Ok(all) }
}

/// Where the brace is closed, which no quoted brace does.
fn end_of(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '}') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

fn unquoted(text: &str) -> Option<String> {
    let quote = text.chars().next()?;
    let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
    Some(inside.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\"))
}

fn write(value: &Value, parts: &[Part], out: &mut String) -> Result<()> {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(path) => out.push_str(&words(&query(value, path)?, " ")),
            Part::Range(path, body) => {
                for item in query(value, path)? {
                    write(item, body, out)?;
                }
            }
        }
    }
    Ok(())
}

fn words(values: &[&Value], between: &str) -> String {
    values.iter().map(|v| plain(v)).collect::<Vec<_>>().join(between)
}

/// A value as kubectl prints it: strings without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The values at a path.
fn query<'a>(value: &'a Value, path: &str) -> Result<Vec<&'a Value>> {
    let path = path.trim();
    let path = match path.strip_prefix('@').unwrap_or(path) {
        "" | "." | "$" => return Ok(vec![value]),
        path if path.starts_with('$') => path.to_owned(),
        path if path.starts_with(['.', '[']) => format!("${path}"),
        path => format!("$.{path}"),
    };
    // As kubectl writes a filter; the RFC compares with a single form of quotes or the other, and both are read.
    value.query(&path).map_err(|e| bad(&path, &e.to_string()))
}

/// A table of the columns given: `NAME:.name,VERDICT:.verdict`.
///
/// # Errors
/// Columns that cannot be read.
pub fn custom_columns(items: &[Value], columns: &str, screen: &Screen) -> Result<String> {
    let mut headers = Vec::new();
    let mut paths = Vec::new();
    for column in columns.split(',') {
        let (header, path) =
            column.split_once(':').filter(|(h, p)| !h.is_empty() && !p.is_empty()).ok_or_else(|| {
                Failure::usage(format!("the column {column:?} cannot be read"))
                    .hint("write it like -o custom-columns=NAME:.name,VERDICT:.verdict")
            })?;
        headers.push(header.to_owned());
        paths.push(path);
    }
    let mut table = Table::of(headers);
    for item in items {
        let cells = paths.iter().map(|path| Ok(words(&query(item, path)?, ",").into())).collect::<Result<Vec<_>>>()?;
        table.row(cells);
    }
    // As kubectl, which cuts no column.
    Ok(table.render(&Screen { width: None, ..*screen }))
}

/// Rows under headers as comma-separated values, as RFC 4180 has them.
pub fn csv(headers: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| format!("{}\n", cells.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(","));
    let mut out = line(headers.iter().map(|h| (*h).to_owned()).collect());
    rows.into_iter().for_each(|row| out.push_str(&line(row)));
    out
}

fn quoted(cell: &str) -> String {
    // A spreadsheet takes a cell that begins like this for a formula.
    let cell = if cell.starts_with(['=', '+', '@']) { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

/// Sorts items by what stands at a path, numbers as numbers; items without it come last.
///
/// # Errors
/// A path that cannot be read.
pub fn sort_by<T: serde::Serialize>(items: &mut Vec<T>, path: &str) -> Result<()> {
    let path = path.trim_start_matches('{').trim_end_matches('}');
    let mut keyed = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        let value = serde_json::to_value(&item).unwrap_or_default();
        let key = query(&value, path)?.first().map(|v| (v.as_f64(), plain(v)));
        keyed.push((key, item));
    }
    if !keyed.is_empty() && keyed.iter().all(|(key, _)| key.is_none()) {
        return Err(Failure::usage(format!("no item has the field {path:?}")).hint("see the fields with -o json"));
    }
    keyed.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some((Some(a), _)), Some((Some(b), _))) => a.total_cmp(b),
        (Some(a), Some(b)) => a.1.cmp(&b.1),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    items.extend(keyed.into_iter().map(|(_, item)| item));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Format;
    use serde_json::json;

    fn document() -> Value {
        json!({"items": [
            {"name": "web", "verdict": "never", "allowed": 0},
            {"name": "api", "verdict": "allows", "allowed": 10, "pods": [{"name": "api-0"}, {"name": "api-1"}]},
            {"name": "db", "verdict": "allows", "allowed": 2},
        ]})
    }

    /// What `kubectl get -o jsonpath` prints of the same.
    #[test]
    fn templates_read_as_kubectls() {
        for (template, want) in [
            ("{.items[*].name}", "web api db\n"),
            (".items[0].name", "web\n"),
            ("{.items[?(@.verdict==\"never\")].name}", "web\n"),
            ("{range .items[*]}{.name}{\"\\t\"}{.allowed}{\"\\n\"}{end}", "web\t0\napi\t10\ndb\t2\n"),
            ("{range .items[*]}{.name}:{range .pods[*]} {.name}{end};{end}", "web:;api: api-0 api-1;db:;\n"),
            ("{.items[1].pods[0]}", "{\"name\":\"api-0\"}\n"),
            ("{.nothing}", "\n"),
        ] {
            assert_eq!(json_path(&document(), template).unwrap(), want, "{template}");
        }
        for bad in ["{.items", "{end}", "{range .items[*]}", "{.items[}"] {
            assert!(json_path(&document(), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn columns_are_those_given() {
        let items = document()["items"].as_array().cloned().unwrap_or_default();
        let screen = Screen { format: Format::CustomColumns, width: Some(10), no_headers: false };
        let text = custom_columns(&items, "NAME:.name,PODS:.pods[*].name", &screen).unwrap();
        let text = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(text, "NAME   PODS\nweb    <none>\napi    api-0,api-1\ndb     <none>\n");
        assert!(custom_columns(&items, "NAME", &screen).is_err());
    }

    #[test]
    fn cells_are_quoted_where_they_need_to_be() {
        let row = ["a", "b,c", "d\"e", "=f()"].map(str::to_owned).to_vec();
        assert_eq!(csv(&["w", "x", "y", "z"], [row]), "w,x,y,z\na,\"b,c\",\"d\"\"e\",'=f()\n");
    }

    #[test]
    fn numbers_are_sorted_as_numbers() {
        let sorted = |path: &str| {
            let mut items = document()["items"].as_array().cloned().unwrap_or_default();
            sort_by(&mut items, path).map(|()| words(&query(&json!(items), "[*].name").unwrap(), " ")).ok()
        };
        assert_eq!(sorted(".allowed").as_deref(), Some("web db api"));
        assert_eq!(sorted("{.name}").as_deref(), Some("api db web"));
        assert_eq!(sorted("verdict").as_deref(), Some("api db web"));
        assert_eq!(sorted(".nothing"), None);
    }
}
