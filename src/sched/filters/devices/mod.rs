mod old;
pub mod selectors;
pub use old::*;
