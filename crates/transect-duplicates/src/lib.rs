//! Finds files of the same content in a scanned tree, and removes, links or clones the copies.
//!
//! ```text
//! table ─► files of the same length ─► of the same head and tail ─► of the same digest ─► groups
//!          (hard links are one file)    (small files: the whole)      (BLAKE3)
//! ```
//!
//! [`find`] reads only files that another file of the same length exists for, and reads a file
//! completely only if another one has the same head and tail. It groups files by their BLAKE3
//! digests: for the content of two files to differ in a group, the digests would have to collide.
//!
//! * **Hard links** are one file with several names. It is read once.
//! * **Clones** (reflinks) are copies that free nothing: [`Group::freed`] counts the blocks that
//!   the files of a group already share once.
//! * **Every file is compared with the scan** after it was read: file id, size and modification
//!   time. A file that changed, vanished or cannot be read is an error, and in no group.
//! * **Links are not followed**, unless the walk followed them.
//! * **Few files are open** at a time: one per thread, and its directory.
//!
//! A [`DigestStore`] keeps digests for the next search, which then opens only new and changed files.
//!
//! [`shared_space`] queries what the files of a tree share as clones already: it reads no content.
//!
//! [`apply`] acts on groups. It compares each copy once more, with the scan and byte by byte with
//! the file that is kept.

mod action;
mod candidates;
mod digests;
mod freed;
mod group;
mod keep;
mod parallel;
mod progress;
mod read;
mod search;
mod shared_space;

use transect::FieldMask;
use transect_remove::Removal;

pub use action::{Action, ActionReport, apply};
pub use digests::{DigestStore, DigestStoreError};
pub use group::{Duplicate, Group};
pub use keep::{Keep, KeepRule};
pub use progress::{Phase, Progress};
pub use search::{Duplicates, FindOptions, find};
pub use shared_space::{SharedSpace, shared_space};
pub use transect_remove::{Counts, KeepReason, KeptEntry, RemovalError, Report};

/// The columns that a table must have for [`find`] and [`apply`].
pub const COLUMNS: FieldMask = Removal::COLUMNS.union(FieldMask::FILE_ID).union(FieldMask::NLINK);
