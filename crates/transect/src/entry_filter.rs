//! A closure of the caller that judges entries before their attributes are queried.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use transect_sys::{EntryRef, FileType, Verdict};

use crate::dir::Dir;

/// An entry that was listed, and whose attributes are not queried yet: see
/// [`ScanOptions::filter_entry`](crate::ScanOptions::filter_entry).
pub struct Candidate<'a> {
    dir: &'a Dir,
    entry: EntryRef<'a>,
}

impl<'a> Candidate<'a> {
    /// Returns the name.
    pub fn file_name(&self) -> &'a OsStr {
        self.entry.name
    }

    /// Returns the path: the root as given, then the names below it. Builds it anew at each call.
    pub fn path(&self) -> PathBuf {
        self.dir.path_of(self.entry.name)
    }

    /// Returns the number of steps below the root, which has depth 0.
    pub fn depth(&self) -> u32 {
        self.dir.entry_depth()
    }

    /// Returns the file type. A symbolic link is not followed, unless the walk follows links.
    pub fn file_type(&self) -> FileType {
        self.entry.file_type()
    }
}

impl fmt::Debug for Candidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate").field("path", &self.path()).finish_non_exhaustive()
    }
}

/// The closure, shared by the threads of a walk.
#[derive(Clone)]
pub(crate) struct EntryFilter(Arc<dyn Fn(&Candidate<'_>) -> Verdict + Send + Sync>);

impl EntryFilter {
    pub(crate) fn new<V: Into<Verdict>>(
        closure: impl Fn(&Candidate<'_>) -> V + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |candidate| closure(candidate).into()))
    }

    /// Returns the verdict on an entry that other filters have judged. The closure can only take away.
    pub(crate) fn judge(&self, dir: &Dir, entry: EntryRef<'_>) -> Verdict {
        match entry.verdict {
            Verdict::Drop => Verdict::Drop,
            before => before.and((self.0)(&Candidate { dir, entry })),
        }
    }
}

impl fmt::Debug for EntryFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EntryFilter")
    }
}
