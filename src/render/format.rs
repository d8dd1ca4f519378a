//! Output formats, as kubectl's `-o` has them.

/// What `-o` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// A table, or prose.
    #[default]
    #[value(skip)]
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
}
