//! Many files: those of whole trees, each transformed on its own.
//!
//! ```text
//! roots ─► walker ─► inputs, sorted ─► threads, each with a chain of its own ─► what became of each,
//!                    (find)            (Job)                                     in the same order
//! ```
//!
//! All inputs are known before the first is touched: a walk that goes on while files are replaced
//! would meet them twice. A file that has several names among them is passed over once (`hard_links.rs`).

mod find;
mod hard_links;
mod job;
mod journal;

pub use find::{Input, InputSet, find_inputs, find_leftovers};
pub use job::{FileOutcome, FileStatus, Job, OutputTarget, Skip};
pub use journal::JobJournal;
