//! Snapshots: directory trees with their attributes in Parquet files.
//!
//! ```text
//! Table ─► write() ─► file.parquet ─► Snapshot ─► rows(), table()
//!                                        ├─► diff() ◄─ LiveTree
//!                                        ├─► find(): names, by their index
//!                                        └─► Baseline ─► SinceReader: reads the tree again
//! ```
//!
//! `docs/FORMAT.md` describes the file. Reading does not trust it.

mod attribute_columns;
mod byte_values;
mod checksum;
mod diff;
mod digest;
mod find;
mod linked_blocks;
mod metadata;
mod name_index;
mod part;
mod read;
mod schema;
mod scratch;
mod since;
mod sorter;
mod stored_error;
mod stored_path;
pub mod tasks;
mod tree;
mod workers;
mod write;

pub use diff::{
    Change, ChangeKind, Diff, DiffOptions, DiffSummary, EntryPair, Facts, Growth, changed_fields,
    diff, entry_pairs,
};
pub use digest::{COMPARED, Digest};
pub use find::{Hit, Matcher, NamePattern, Search};
pub use metadata::{FileSystem, Inherited, Metadata, Scope, SeriesPlace};
pub use read::{
    Entries, LargeDirectory, LargestDirectories, LargestLimits, ReadAt, ReadError, RowReader,
    Snapshot, StoredMeasure, StoredTotals,
};
pub use since::{
    Baseline, BaselineRoot, Changes, SinceHandle, SinceLevel, SinceReader, generation_of,
};
pub use stored_error::StoredError;
pub use tree::{LiveTree, Tree};
pub use write::write;
