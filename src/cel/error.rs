//! Why an expression has no value, and how far an evaluation goes.

use super::value::Value;
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

/// How far an evaluation goes.
#[derive(Debug)]
pub(super) struct Steps<'a> {
    left: &'a mut u64,
    /// Something that upstream's runtime stumbles over: no other part of the expression makes up for it.
    pub stumbled: Option<String>,
}

impl<'a> Steps<'a> {
    pub fn new(left: &'a mut u64) -> Self {
        Self { left, stumbled: None }
    }

    /// How many steps a look at all of a value takes; of one that takes more than are left, some number above that.
    pub fn for_all_of(&self, value: &Value) -> u64 {
        value.size(*self.left)
    }

    /// Takes steps, or gives up.
    pub fn charge(&mut self, n: u64) -> Result<()> {
        match self.left.checked_sub(n) {
            Some(left) => {
                *self.left = left;
                Ok(())
            }
            None => {
                *self.left = 0;
                Err(Error::TooCostly)
            }
        }
    }
}
