//! Windows: whole directories as records, directories opened relative to their parent's handle.
//!
//! A directory record carries sizes, times, attributes and, where the class has it, the file id:
//! nothing has to be asked of a file. What a record has not (the link count; with the readers by
//! path also allocated size and file id) is asked of an opened handle, if it is wanted.
//!
//! The calls are those of the Windows Driver Kit and of the Windows SDK as Microsoft documents
//! them; statuses of the kernel are told as the Win32 errors that they mean.

mod caching;
mod fill;
mod find;
mod handle_reader;
mod list;
mod mapping;
mod name;
mod open;
mod path;
mod query_attributes;
pub(crate) mod residency;
mod sparse;
mod status;
pub mod system;
mod watch;

pub use caching::{open_sequential, open_unbuffered, reopen_write_unbuffered, sector_size};
pub use find::{FindCall, FindReader};
pub use handle_reader::{HandleReader, ListingHandle};
pub use list::DirectoryCall;
pub use mapping::Mapping;
pub use sparse::{make_sparse, next_allocated_range, zero_range};
pub use watch::Watcher;

pub(crate) use find::{listed_type, stored_name};
pub(crate) use path::verbatim;
pub(crate) use query_attributes::{attributes_of, fill_missing};
