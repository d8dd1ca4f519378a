//! Kinds of which there are few: kept as their slim wire form beside the interned metadata.

use super::meta::Meta;
use super::table::Keyed;

/// An object whose fields are kept as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Object<T> {
    /// Names, labels, owner, age.
    pub meta: Meta,
    /// The object as it was read, its metadata taken out.
    pub body: T,
}

impl<T> std::ops::Deref for Object<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.body
    }
}

impl<T> Keyed for Object<T> {
    fn meta(&self) -> &Meta {
        &self.meta
    }
}
