//! Windows: directory records with attributes; directories are opened relative to their parent's
//! handle.
//!
//! A directory record contains sizes, times, attributes and, depending on its class, the file id.
//! The rest (the link count; for readers by path also allocated size and file id) is queried
//! through a handle of the file, if it is wanted.
//!
//! The calls are those of the Windows Driver Kit and the Windows SDK, as Microsoft documents them.
//! Statuses of the kernel are converted to Win32 errors.

mod bare;
mod caching;
mod fill;
mod find;
mod handle_reader;
mod list;
mod mapping;
mod name;
mod open;
mod overlapped;
mod path;
mod pipe;
mod query_attributes;
pub(crate) mod residency;
mod sparse;
pub mod standby;
mod status;
pub mod system;
mod user;
mod watch;

pub use bare::{BareDirectory, BareEntry};
pub use caching::{open_sequential, open_unbuffered, reopen_write_unbuffered, sector_size};
pub use find::{FindCall, FindHandle, FindReader};
pub use handle_reader::{HandleReader, ListingHandle};
pub use list::DirectoryCall;
pub use overlapped::Event;
pub use path::ends_with_separator;
pub use pipe::{Pipe, PipeListener};
pub use sparse::{make_sparse, next_allocated_range};
pub use user::UserId;
pub use watch::Watcher;

pub(crate) use find::{listed_type, stored_name};
pub(crate) use mapping::View;
pub(crate) use path::verbatim;
pub(crate) use query_attributes::{attributes_of, fill_missing};
