//! Rankings: what the samples of a session say about its cells.
//!
//! A session stores raw samples; everything here is calculated again from them.

mod besides;
mod best;
pub mod compare;
mod impossible;
mod metric;
pub mod minimum_cost;
mod needs;
pub mod pair_answers;
mod plausibility;
mod rank;
mod row;
mod run_cpu;
mod runs;
pub mod stopping;
mod why;

pub use metric::Metric;
pub use rank::{Ranking, Unranked, rank, rank_by};
pub use row::Row;
pub use why::Why;
