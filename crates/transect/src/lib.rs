//! Walks directory trees as fast as the kernel allows, and counts their entries.
//!
//! ```text
//! kernel → READER → Batch → WALKER → Visit → SINK → Totals, list, table → your program
//! ```
//!
//! A [reader](transect_sys::Reader) lists one directory into a batch. The walker reads directories
//! on one or more threads. A [`Sink`] receives the entries: one sink per thread,
//! without locks, merged at the end. [`ScanOptions`] describe a walk; [`ScanOptions::plan`]
//! validates them and returns a [`ScanPlan`].
//!
//! ```
//! use transect::{ScanOptions, Totals};
//!
//! let outcome = ScanOptions::new(["src"]).plan()?.run(|| Totals::new(10))?;
//! println!("{} files, {} bytes", outcome.sink.files, outcome.sink.sizes.apparent);
//! # Ok::<(), transect::Error>(())
//! ```
//!
//! Where a loop or a closure is enough, no sink is needed: a `for` loop over [`walk`] and its options,
//! [`ScanOptions::visit_parallel`] calls a closure on every thread, and [`table::Table::read`] reads a tree
//! into memory.
//!
//! ```
//! use transect::{FieldMask, walk};
//!
//! let options = walk("src")
//!     .max_depth(3)
//!     .filter_entry(|entry| entry.file_name() != "target")
//!     .sort_by_name(true)
//!     .want(FieldMask::SIZE);
//! for entry in options {
//!     let entry = entry?;
//!     println!("{:?} {}", entry.attributes().size(), entry.path().display());
//! }
//! # Ok::<(), transect::Error>(())
//! ```
//!
//! [`walkdir`] and [`ignore`] have the interfaces of the crates of these names.
//!
//! Features: `filters` (default) for globs, regular expressions and `.gitignore` rules; `serde` for
//! entries, errors, counts and filters as text; `volumes` for reading the tables of ext4, NTFS and Btrfs.
//!
//! The library prints nothing, never ends the process, and reads neither configuration nor the
//! environment, except where `.gitignore` files apply: then also git's settings. Errors inside a tree do not end a walk: sinks receive them like entries, and the
//! result is partial.

mod account;
#[cfg(feature = "serde")]
mod as_text;
mod cancel;
mod dir;
mod entry_filter;
mod error;
mod filter;
#[cfg(feature = "filters")]
pub mod ignore;
#[doc(hidden)]
pub mod internal;
mod iter;
mod lock;
pub mod ncdu;
mod options;
mod order;
mod path;
mod plan;
mod profile;
mod progress;
mod reader;
mod run;
mod sibling_order;
mod sink;
pub mod table;
mod visitor;
mod walk;
pub mod walkdir;

pub use account::SizeTotals;
pub use cancel::Cancel;
pub use dir::{Dir, Tag};
pub use entry_filter::Candidate;
pub use error::{Error, Operation, ScanError, reason};
pub use filter::{Conditions, Filters, ModeCondition};
pub use iter::{DirEntry, Walk, walk};
pub use options::ScanOptions;
pub use plan::ScanPlan;
pub use progress::{Progress, ProgressCounts};
pub use run::Outcome;
pub use sink::{
    Diagnostics, Entering, Flow, LargestEntry, Omission, RankBy, Sink, SkipReason, Totals, Visit,
    VisitEntry,
};

pub use transect_sys::{
    AlternateStreams, Attributes, Batch, EntryRef, FaultKind, FieldMask, FileId, FileType,
    ReaderKind, Verdict, Want,
};
