//! What counts, once, and for whom.

mod links;
mod sum;

pub(crate) use links::Links;
pub use sum::Sum;
