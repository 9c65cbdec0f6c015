//! Snapshots: directory trees with their attributes in Parquet files.
//!
//! ```text
//! Table ─► write() ─► file.parquet ─► Snapshot ─► rows(), table()
//!                                        └─► diff() ◄─ LiveTree
//! ```
//!
//! `docs/FORMAT.md` describes the file. [`write()`] (feature `write`) uses the crate `parquet`; reading does
//! not, because a file is not trusted.

mod diff;
mod digest;
mod metadata;
mod read;
mod schema;
mod tree;
#[cfg(feature = "write")]
mod write;

pub use diff::{
    Change, ChangeKind, Diff, DiffOptions, DiffSummary, Facts, Growth, changed_fields, diff,
};
pub use digest::{COMPARED, Digest};
pub use metadata::{FileSystem, Metadata};
pub use read::{ReadAt, ReadError, RowReader, Snapshot, StoredTotals};
pub use tree::{LiveTree, TableRows, Tree, TreeRows};
#[cfg(feature = "write")]
pub use write::{WriteError, write};
