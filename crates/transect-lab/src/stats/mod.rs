//! What may be said of samples.
//!
//! The samples of a session are kept as they are; everything here is recomputed from them, and
//! comes out the same every time: what is drawn at random is drawn from a seed that is recorded
//! beside the result. The way through:
//!
//! ```text
//! samples of one cell ──────────────▶ Summary             what was measured
//! samples of two cells, by round ───▶ Ratios ──▶ judge    what may be said of the difference
//!                                       ▲   p of all cells, corrected together (holm)
//! ```
//!
//! The reductions of [`article_stats`] are not on that way: they show what the articles that this lab
//! grew from would have printed for the same samples.

pub mod compare;
pub mod paired;
pub mod article_stats;
pub mod random;
pub mod ranking;
pub mod rank_sum;
pub mod samples;
pub mod significance;
pub mod summary;
mod unpaired;
pub mod verdict;

pub use paired::Ratios;
pub use random::SplitMix64;
pub use rank_sum::rank_sum_p;
pub use samples::SampleError;
pub use significance::{holm, sign_flip_p};
pub use summary::Summary;
pub use verdict::{Judgement, Verdict, aa_check, judge, judge_all};

#[cfg(test)]
mod synthetic;
