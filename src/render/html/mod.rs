//! `-o html`: one page that stands by itself, to be handed on or attached to a ticket. It needs no script and loads
//! nothing. All text of the cluster is escaped, as everything is that maud splices in.

mod check;
mod lanes;
mod page;
mod parts;
mod pending;
mod picture;
mod plan;
mod status;

pub use check::check;
pub use pending::pending;
pub use plan::plan;
pub use status::status;
