//! Sizes, and hard links counted once.

mod hard_links;
mod size_totals;

pub(crate) use hard_links::HardLinks;
pub use size_totals::SizeTotals;
