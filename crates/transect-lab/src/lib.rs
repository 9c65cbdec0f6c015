//! The lab: every way of asking a file system, measured on the machine at hand under rules that
//! make the numbers worth having.
//!
//! ```text
//! methods ─► rounds, each method once, in a new order ─► samples, appended as they come ─► ranking
//!    │             │
//!    │             └─ one run: a fresh process, its own clock, a limit, proof of the cache's state
//!    └─ readers × orders of this engine, contenders in other languages: all speak one protocol
//! ```
//!
//! * Nothing is ranked that did not find the same files, directories and bytes as a plain recursion.
//! * A method that hangs, dies or breaks the protocol becomes a row with the reason.
//! * Samples are written before the next one is taken: a session that was stopped goes on.

pub mod corpora;
pub mod experiments;
pub mod explain;
#[cfg(test)]
mod fixtures;
pub mod harness;
pub mod published;
pub mod report;
pub mod rivals;
pub mod spec;
pub mod stats;
pub mod tune;
