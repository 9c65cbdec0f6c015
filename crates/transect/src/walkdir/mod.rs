//! The interface of the crate `walkdir`, on the readers of this library.
//!
//! `use transect::walkdir::WalkDir` in place of `use walkdir::WalkDir`: the same methods, order and errors,
//! one entry at a time, and nothing is read before it is asked for. A program that need not have a
//! certain order is faster with [`walk`](crate::walk), which reads on several threads.
//!
//! ```
//! use transect::walkdir::WalkDir;
//!
//! let hidden = |entry: &transect::walkdir::DirEntry| {
//!     entry.file_name().to_str().is_some_and(|name| name.starts_with('.'))
//! };
//! for entry in WalkDir::new("src").into_iter().filter_entry(|entry| !hidden(entry)) {
//!     println!("{}", entry?.path().display());
//! }
//! # Ok::<(), transect::walkdir::Error>(())
//! ```
//!
//! What differs:
//!
//! | in `walkdir` | here |
//! |---|---|
//! | `DirEntry::file_type` is `std::fs::FileType` | [`FileType`](crate::FileType), with the same `is_dir`, `is_file`, `is_symlink` |
//! | `max_open` limits how many directories are open | at most 32 are open, whatever it is |
//! | a directory is opened before its entry is returned | when its first entry is asked for: a directory that is skipped is never opened |
//! | entries of one directory are read while they are returned | their names are read at once |
//! | `contents_first` returns a root that is a link first, and other directories late | as any directory, after its entries |
//! | `contents_first` and `filter_entry` leave out what follows a directory, too | only that directory |
//! | `DirEntryExt::ino` on Unix | `DirEntry::ino`, `None` where the system does not list it |
//! | a path too long for the system is an error | its entries are returned, unless links are followed |

mod entry;
mod iter;
mod options;

pub use entry::{DirEntry, Error, Result};
pub use iter::{FilterEntry, IntoIter};
pub use options::WalkDir;
