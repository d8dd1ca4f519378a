//! Why an expression has no value.

use std::fmt;

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Error {
    /// It fails, in cel-go's words.
    Failed(String),
    /// It needs something that is not evaluated here.
    Unsupported(String),
    /// It takes too many steps.
    TooCostly,
}

impl Error {
    pub(super) fn failed(words: impl Into<String>) -> Self {
        Self::Failed(words.into())
    }

    pub(super) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(words) => f.write_str(words),
            Self::Unsupported(what) => write!(f, "{what} is not evaluated by this program"),
            Self::TooCostly => f.write_str("its evaluation takes too many steps"),
        }
    }
}

/// A value, or why there is none.
pub type Result<T> = std::result::Result<T, Error>;
