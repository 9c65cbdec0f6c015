//! Snapshots: directory trees with their attributes in Parquet files.
//!
//! ```text
//! Table ─► write() ─► file.parquet ─► Snapshot ─► rows(), table()
//! ```
//!
//! `docs/FORMAT.md` describes the file. [`write()`] (feature `write`) uses the crate `parquet`; reading does
//! not, because a file is not trusted.

mod digest;
mod metadata;
mod read;
mod schema;
#[cfg(feature = "write")]
mod write;

pub use digest::{COMPARED, Digest};
pub use metadata::{FileSystem, Metadata};
pub use read::{ReadAt, ReadError, RowReader, Snapshot, StoredTotals};
#[cfg(feature = "write")]
pub use write::{WriteError, write};
