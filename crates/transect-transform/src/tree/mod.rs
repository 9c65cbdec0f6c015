//! Transforms many files, such as those of whole trees, each on its own.
//!
//! ```text
//! roots ─► walker ─► inputs, sorted ─► threads, each with its own chain ─► outcome of each input,
//!                    (find)            (job)                               in the same order
//! ```
//!
//! All inputs are known before the first is changed: a walk that continued while files are replaced
//! would find some of them twice. A file that several inputs name is processed once
//! (`hard_links.rs`).

mod find;
mod hard_links;
mod job;
mod journal;

pub use find::{Input, InputSet, find_inputs, find_leftovers};
pub use job::{FileOutcome, FileStatus, Job, OutputTarget, Skip};
pub use journal::JobJournal;
