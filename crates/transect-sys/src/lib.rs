//! Reads one directory, with the attributes of what it holds, as fast as the system allows.
//!
//! This crate is the first stop of the data's way (`docs/ARCHITECTURE.md`): it turns what a kernel
//! hands out into a [`Batch`]. It does not walk: which directory comes next, what is left out and
//! what is counted is decided by the `transect` crate. It is also the only crate of the project
//! that says `unsafe`.
//!
//! # What every reader must offer
//!
//! A reader implements [`Reader`]. Its promises, on which the walker relies without checking:
//!
//! * [`Reader::list`] yields every name of a directory exactly once, the last one of each batch
//!   included, and never `.` or `..`. Names come as the system stores them; nothing is decoded.
//! * A file type is what the directory record says. Where the record does not say
//!   (`DT_UNKNOWN`), [`Reader::fill`] finds out; the walker never sees an unknown type that a
//!   question could have settled.
//! * What went away between listing and asking is [`Fault::Vanished`], never an error. The walker
//!   checks whether the directory still lists it ([`Inconsistent`]).
//! * Interrupted calls are repeated; calls that a kernel or a sandbox refuses
//!   (`ENOSYS`, `EPERM`) are replaced by older ones, once and for all.
//! * A field that the system did not tell is absent from [`Attributes`], never zero.
//!
//! # The readers
//!
//! | name | system | listing | attributes |
//! |---|---|---|---|
//! | `getdents-statx` | Linux | `getdents64` | `statx` relative to the directory handle |
//! | `getdents-fstatat` | Linux | `getdents64` | `fstatat` relative to the directory handle |
//! | `nt-query` | Windows | `NtQueryDirectoryFile` | come with the listing |
//! | `by-handle` | Windows | `GetFileInformationByHandleEx` | come with the listing |
//! | `find-first-file` and four more | Windows | `FindFirstFile`, `FindFirstFileEx` | come with the listing, but for allocated size and file id |
//! | `file-attributes-ex` | Windows | `FindFirstFile` | `GetFileAttributesEx` by path |
//! | `portable` | all | `std::fs::read_dir` | `std::fs::symlink_metadata` by path |
//! | `fake` | tests (feature `fake`) | in memory | in memory, with faults on request |

mod attributes;
mod batch;
pub mod dir_handle;
mod fault;
pub mod file;
pub mod host;
pub mod memory;
mod name;
mod name_buffer;
#[expect(clippy::disallowed_methods, reason = "the one reader that is made of them")]
mod portable;
pub mod private_dir;
mod reader;
mod registry;
pub mod residency;
mod stat_order;
mod volume;
pub mod watch;

pub mod record;

#[cfg(feature = "fake")]
pub mod fake;
#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(windows)]
pub mod windows;

pub use attributes::{Attributes, FieldMask, FileId, FileType};
pub use batch::{Batch, Entry, EntryRef, Verdict};
pub use fault::{Fault, FaultKind, Inconsistent};
pub use name_buffer::NameBuffer;
pub use portable::PortableReader;
pub use reader::{ListStatus, Reader, Want};
pub use registry::{ReaderKind, ReaderSettings, ReaderVisitor};
pub use stat_order::StatOrder;
pub use volume::{EndDetection, Reliability, Volume};
