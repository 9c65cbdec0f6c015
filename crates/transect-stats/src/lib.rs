//! Statistics: from samples to verdicts.
//!
//! Results are reproducible: every random draw comes from a seed stored beside the result.
//!
//! ```text
//! samples of one cell ──────────────▶ Summary             what was measured
//! samples of two cells, by round ───▶ Ratios ──▶ judge    whether they differ
//!                                       ▲   p of all cells, corrected together (holm)
//! ```

pub mod paired;
pub mod random;
pub mod rank_sum;
pub mod samples;
pub mod significance;
pub mod summary;
mod unpaired;
pub mod verdict;

pub use paired::Ratios;
pub use random::SplitMix64;
pub use rank_sum::rank_sum_p;
pub use significance::{holm, sign_flip_p};
pub use summary::Summary;
pub use verdict::{Judgement, Verdict, aa_check, judge, judge_all};
