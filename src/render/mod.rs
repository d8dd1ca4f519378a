//! How answers are written: the only place that knows colour and width.

pub mod check;
pub mod digest;
pub mod findings;
pub mod format;
pub mod html;
pub mod pending;
pub mod plan;
mod screen;
pub mod status;
pub mod style;
pub mod table;
pub mod template;

use crate::error::{Failure, FailureKind, Result};
use crate::report::Document;
pub use format::{FORMATS, Format, Output};
pub use screen::Screen;
use serde::Serialize;

/// A document as JSON, ending in a newline.
pub fn json<T: Serialize>(document: &T) -> Result<String> {
    let mut text = serde_json::to_string_pretty(document).map_err(no_json)?;
    text.push('\n');
    Ok(text)
}

fn no_json(e: serde_json::Error) -> Failure {
    Failure::new(FailureKind::Internal, "the answer cannot be written as JSON").caused_by(e)
}

/// A document as YAML, ending in a newline.
pub fn yaml<T: Serialize>(document: &T) -> Result<String> {
    serde_saphyr::to_string(document)
        .map_err(|e| Failure::new(FailureKind::Internal, "the answer cannot be written as YAML").caused_by(e))
}

/// A document through the template of `-o`, where it has one.
///
/// # Errors
/// A template that cannot be read.
pub fn templated<T: Serialize>(document: &T, output: &Output, screen: &Screen) -> Result<String> {
    let value = serde_json::to_value(document).map_err(no_json)?;
    if output.format == Format::JsonPath {
        return template::json_path(&value, &output.template);
    }
    let items = ["items", "nodes"].iter().find_map(|field| value.get(field)?.as_array());
    template::custom_columns(items.map_or(&[][..], Vec::as_slice), &output.template, screen)
}

/// The kinds that the input merely does not have, in a line.
pub(super) fn taken_as_empty<B>(document: &Document<B>) -> Option<String> {
    let rest = document.taken_as_empty();
    let kinds = if rest == 1 { "1 further kind is".to_owned() } else { format!("{rest} further kinds are") };
    (rest > 0).then(|| format!("{kinds} not in the input, and taken as empty (gaps in -o json names each)"))
}

/// What could not be read, in a few lines; nothing where the answer is whole.
pub fn gaps<B>(document: &Document<B>, screen: &Screen) -> String {
    let mut out = String::new();
    for gap in document.told_gaps() {
        let line = format!("{} ({}): {}", gap.resource, gap.reason.as_str(), style::safe(&gap.effect));
        out.push_str(&format!("  {}\n", table::wrap(&line, screen.prose_width(), 4)));
    }
    if let Some(rest) = taken_as_empty(document) {
        out.push_str(&format!("  {}\n", table::wrap(&rest, screen.prose_width(), 4)));
    }
    if out.is_empty() {
        return out;
    }
    format!("\n{}\n{out}", style::paint("not everything could be read:", style::Tone::Waiting))
}
