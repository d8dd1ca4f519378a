//! Output formats, as kubectl's `-o` has them.

/// What `-o` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// A table, or prose.
    #[default]
    Text,
    /// The same with more columns.
    Wide,
    /// The document as JSON.
    Json,
    /// The document as YAML.
    Yaml,
    /// One resource/name a line.
    Name,
    /// One page that stands by itself, to be handed on.
    Html,
    /// A row for each item, comma-separated.
    Csv,
    /// What a template takes from the document.
    JsonPath,
    /// A table of the columns that are given.
    CustomColumns,
    /// check: SARIF 2.1.0, for code scanning.
    Sarif,
    /// check: JUnit's XML, for build servers.
    Junit,
    /// check: annotations of a pull request, as GitHub Actions reads them.
    Github,
}

/// The value of `-o`: a format, and the template of those that need one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The format.
    pub format: Format,
    /// What stands behind `jsonpath=` or `custom-columns=`.
    pub template: String,
}

/// The words for `-o`, and what each writes.
pub const FORMATS: &[(&str, Format, &str)] = &[
    ("wide", Format::Wide, "more columns"),
    ("json", Format::Json, "the document as JSON"),
    ("yaml", Format::Yaml, "the document as YAML"),
    ("name", Format::Name, "one resource/name a line"),
    ("html", Format::Html, "one page that stands by itself"),
    ("csv", Format::Csv, "a row for each item"),
    ("jsonpath=", Format::JsonPath, "a template over the document"),
    ("custom-columns=", Format::CustomColumns, "HEADER:.field,… of each item"),
    ("sarif", Format::Sarif, "check: SARIF 2.1.0, for code scanning"),
    ("junit", Format::Junit, "check: JUnit's XML, for build servers"),
    ("github", Format::Github, "check: annotations of a pull request"),
];

impl Output {
    /// Reads a value of `-o`.
    ///
    /// # Errors
    /// A word that is no format, or a template that is missing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (word, template) = match text.find('=') {
            Some(at) => text.split_at(at + 1),
            None => (text, ""),
        };
        match FORMATS.iter().find(|(known, ..)| *known == word) {
            Some((_, Format::JsonPath | Format::CustomColumns, _)) if template.is_empty() => {
                Err(format!("{word} needs a template behind the ="))
            }
            Some((_, format, _)) => Ok(Self { format: *format, template: template.to_owned() }),
            None => {
                let known: Vec<&str> = FORMATS.iter().map(|(word, ..)| *word).collect();
                Err(format!("the formats are {}", known.join(", ")))
            }
        }
    }
}

impl From<Format> for Output {
    fn from(format: Format) -> Self {
        Self { format, template: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_with_a_template_keeps_it() {
        let of = |text: &str| Output::parse(text).ok().map(|o| (o.format, o.template));
        assert_eq!(of("json"), Some((Format::Json, String::new())));
        assert_eq!(of("jsonpath={.items[*].name}"), Some((Format::JsonPath, "{.items[*].name}".to_owned())));
        assert_eq!(of("custom-columns=A:.a==b"), Some((Format::CustomColumns, "A:.a==b".to_owned())));
        for bad in ["", "jsn", "jsonpath", "jsonpath=", "json=x", "custom-columns="] {
            assert!(Output::parse(bad).is_err(), "{bad}");
        }
    }
}
