//! A reader of directories of any kind that this system has.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
use std::path::Path;

#[cfg(target_os = "linux")]
use crate::linux::{GetdentsReader, StatCall};
use crate::portable::PortableReader;
use crate::registry::ReaderKind;
use crate::settings::ReaderSettings;
use crate::volume::Reliability;
use crate::watch::{WatchId, Watcher};
#[cfg(windows)]
use crate::windows::{DirectoryCall, FindCall, FindReader, HandleReader};

crate::reader_of_kinds! {
    /// A reader of directories, of a [`ReaderKind`].
    SystemReader(Kinds),
    /// An open directory of a [`SystemReader`].
    SystemHandle(Handles):
    #[cfg(target_os = "linux")]
    Getdents(GetdentsReader),
    #[cfg(windows)]
    Handle(HandleReader),
    #[cfg(windows)]
    Find(FindReader),
    Portable(PortableReader),
}

impl SystemReader {
    /// Returns a reader of a kind, or a portable reader if this system does not have the kind, or it reads volumes.
    pub fn new(kind: ReaderKind, settings: ReaderSettings) -> Self {
        let _ = settings;
        #[cfg(target_os = "linux")]
        let getdents = |call| Kinds::Getdents(GetdentsReader::new(call, settings));
        #[cfg(windows)]
        let by_handle = |call| Kinds::Handle(HandleReader::new(call, settings.buffer_size));
        #[cfg(windows)]
        let find = |call| Kinds::Find(FindReader::new(call));
        #[cfg(windows)]
        let find_ex = |basic, large| find(FindCall::Ex { basic, large });
        Self(match kind {
            #[cfg(target_os = "linux")]
            ReaderKind::GetdentsStatx => getdents(StatCall::Statx),
            #[cfg(target_os = "linux")]
            ReaderKind::GetdentsFstatat => getdents(StatCall::Fstatat),
            #[cfg(windows)]
            ReaderKind::NtQuery => by_handle(DirectoryCall::NtQuery),
            #[cfg(windows)]
            ReaderKind::ByHandle => by_handle(DirectoryCall::ByHandle),
            #[cfg(windows)]
            ReaderKind::FindFirstFile => find(FindCall::Plain),
            #[cfg(windows)]
            ReaderKind::FindFirstFileExBasic => find_ex(true, false),
            #[cfg(windows)]
            ReaderKind::FindFirstFileExStandard => find_ex(false, false),
            #[cfg(windows)]
            ReaderKind::FindFirstFileExBasicLarge => find_ex(true, true),
            #[cfg(windows)]
            ReaderKind::FindFirstFileExStandardLarge => find_ex(false, true),
            #[cfg(windows)]
            ReaderKind::FileAttributesEx => find(FindCall::AttributesEx),
            _ => Kinds::Portable(PortableReader::new()),
        })
    }

    /// Watches an open directory, wherever it is now.
    ///
    /// # Errors
    /// Too many directories are watched, or this reader's directories cannot be watched.
    pub fn watch(handle: &SystemHandle, watcher: &Watcher) -> io::Result<WatchId> {
        match &handle.0 {
            #[cfg(target_os = "linux")]
            Handles::Getdents(handle) => watcher.watch_open(handle.as_fd()),
            #[cfg(windows)]
            _ => watcher.watch_in_tree(),
            #[cfg(not(windows))]
            _ => {
                let _ = watcher;
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }

    /// Returns which conclusions from a listing of an open directory remain valid afterwards. `path`
    /// leads to it: not all handles can be asked. [`Reader::stat_open`](crate::Reader::stat_open) must have been called.
    pub fn reliability(handle: &SystemHandle, path: &Path) -> Reliability {
        match &handle.0 {
            #[cfg(target_os = "linux")]
            Handles::Getdents(handle) => handle.reliability(),
            _ => crate::host::reliability(path),
        }
    }
}
