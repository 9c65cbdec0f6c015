//! Reads one directory with the attributes of its entries, as fast as the system allows.
//!
//! This crate is the first stop of the data's path (`docs/ARCHITECTURE.md`): it turns directory
//! records of the kernel into a [`Batch`]. It does not walk: the `transect` crate decides which
//! directory comes next, and filters and counts entries. It is the only crate of the project that
//! contains `unsafe` code.
//!
//! # What every reader guarantees
//!
//! A reader implements [`Reader`]. The walker relies on these guarantees without checking them:
//!
//! * [`Reader::list`] yields every name of a directory exactly once, including the last one of each
//!   batch, and never `.` or `..`. Names are the bytes that the system stores; nothing is decoded.
//! * A file type is the one in the directory record. If the record has none (`DT_UNKNOWN`),
//!   [`Reader::fill`] queries it. The walker sees an unknown type only if the query failed, too.
//! * An entry that disappears between listing and query is [`Fault::Vanished`], never an error. The
//!   walker then checks whether the directory still lists it ([`Inconsistent`]).
//! * An interrupted call is repeated. A call that the kernel or a sandbox refuses (`ENOSYS`,
//!   `EPERM`) is replaced by an older one, for the rest of the process.
//! * A field that the system did not report is absent from [`Attributes`], never zero.
//!
//! # The readers
//!
//! | name | system | listing | attributes |
//! |---|---|---|---|
//! | `getdents-statx` | Linux | `getdents64` | `statx` relative to the directory handle |
//! | `getdents-fstatat` | Linux | `getdents64` | `fstatat` relative to the directory handle |
//! | `nt-query` | Windows | `NtQueryDirectoryFile` | part of the record |
//! | `by-handle` | Windows | `GetFileInformationByHandleEx` | part of the record |
//! | `find-first-file` and four more | Windows | `FindFirstFile`, `FindFirstFileEx` | part of the record, except allocated size and file id |
//! | `file-attributes-ex` | Windows | `FindFirstFile` | `GetFileAttributesEx` by path |
//! | `portable` | all | `std::fs::read_dir` | `std::fs::symlink_metadata` by path |
//! | `fake` | tests (feature `fake`) | in memory | in memory, with faults on request |
//!
//! Those of whole volumes (`ext4`, `btrfs`, `ntfs`) are in `transect-volumes`. With the feature `volumes`, this crate has
//! what they need of the kernel and of the processor.

mod alternate_streams;
mod attributes;
#[cfg(feature = "serde")]
mod attributes_as_text;
mod batch;
pub mod dir_handle;
mod disk_space;
pub mod extents;
mod fault;
pub mod file;
pub mod host;
pub mod input;
#[cfg(any(target_os = "linux", windows))]
mod mapping;
pub mod memory;
mod name;
mod name_buffer;
mod opener;
mod output_path;
#[expect(clippy::disallowed_methods, reason = "this reader is built on them")]
mod portable;
pub mod private_dir;
#[cfg(feature = "volumes")]
pub mod processor;
mod read_at;
mod reader;
mod reader_of_kinds;
mod registry;
pub mod residency;
mod setters;
mod settings;
mod system_reader;
mod usage;
mod volume;
pub mod watch;
mod words;

pub mod record;

#[cfg(feature = "fake")]
pub mod fake;
#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(windows)]
pub mod windows;

pub use alternate_streams::AlternateStreams;
pub use attributes::{Attributes, FieldMask, FileId, FileType};
pub use batch::{Batch, EntryRef, Verdict};
pub use disk_space::DiskSpace;
pub use fault::{Fault, FaultKind, Inconsistent};
#[cfg(any(target_os = "linux", windows))]
pub use mapping::Mapping;
pub use name::name_from_bytes;
#[doc(hidden)]
pub use name::name_prefix;
pub use name_buffer::NameBuffer;
pub use opener::open_command;
pub use output_path::check_output_path;
pub use portable::PortableReader;
pub use read_at::ReadAt;
pub use reader::{ListStatus, Reader, Want};
#[doc(hidden)]
pub use reader_of_kinds::foreign_handle;
pub use registry::ReaderKind;
pub use settings::{ReaderSettings, StatOrder};
pub use system_reader::{SystemHandle, SystemReader};
pub use volume::{EndDetection, Reliability, Volume};
