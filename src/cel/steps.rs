//! How far an evaluation goes.

use super::error::{Error, Result};
use super::value::Value;

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
