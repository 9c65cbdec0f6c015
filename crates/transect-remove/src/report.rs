//! What became of entries that were to be removed.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::FaultKind;

use transect::table::Row;

/// Why an entry was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KeepReason {
    /// It is not what the scan found under this name: another type, size, time or file.
    Changed,
    /// The scan knows nothing of it: it came later, was left out, or lies in a directory that was
    /// not read.
    NotScanned,
    /// Another file system begins there, or something is mounted there.
    MountBoundary,
    /// There is no trash for it on its file system, or nothing can be put there.
    NoTrash,
    /// The system refused.
    Failed(FaultKind),
}

impl KeepReason {
    /// Returns what an error means for the entry that it is about.
    pub(super) fn of(error: &io::Error) -> Self {
        match (error.kind(), FaultKind::of(error)) {
            (io::ErrorKind::CrossesDevices, _) => Self::MountBoundary,
            // What was a directory is a link now, or something else; or the other way round.
            (io::ErrorKind::IsADirectory, _) => Self::Changed,
            (_, FaultKind::NotADirectory | FaultKind::Loop) => Self::Changed,
            (_, kind) => Self::Failed(kind),
        }
    }

    /// Returns the word for the reason, as it stands in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::NotScanned => "not_scanned",
            Self::MountBoundary => "mount_boundary",
            Self::NoTrash => "no_trash",
            Self::Failed(kind) => kind.as_str(),
        }
    }
}

/// An entry that was to be removed and is still there, with all directories above it.
#[derive(Debug)]
pub struct KeptEntry {
    path: PathBuf,
    row: Row,
    reason: KeepReason,
    error: Option<io::Error>,
}

impl KeptEntry {
    pub(super) fn new(
        path: PathBuf,
        row: Row,
        reason: KeepReason,
        error: Option<io::Error>,
    ) -> Self {
        Self { path, row, reason, error }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its row; of what has none, that of the directory that holds it.
    pub fn row(&self) -> Row {
        self.row
    }

    /// Returns why it was kept.
    pub fn reason(&self) -> KeepReason {
        self.reason
    }

    /// Returns what the system said, if it was asked and refused.
    pub fn io_error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}

impl fmt::Display for KeptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kept '{}': ", self.path.display())?;
        match (self.reason, &self.error) {
            (KeepReason::Changed, _) => write!(f, "it changed since the scan"),
            (KeepReason::NotScanned, _) => write!(f, "the scan did not see it"),
            (KeepReason::MountBoundary, _) => write!(f, "another file system is mounted there"),
            (KeepReason::NoTrash, None) => write!(f, "there is no trash for it"),
            (KeepReason::NoTrash, Some(error)) => {
                write!(f, "there is no trash for it: {}", transect::reason(error))
            }
            (KeepReason::Failed(_), Some(error)) => write!(f, "{}", transect::reason(error)),
            (KeepReason::Failed(kind), None) => write!(f, "{}", kind.as_str()),
        }
    }
}

/// How many entries became what, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Names that were there and were removed. What is moved to the trash is one, with all below.
    pub removed: u64,
    /// Entries that had gone before their turn came; what was below them is not counted.
    pub vanished: u64,
    /// Entries that were kept for a reason of their own; directories above them are not counted.
    pub kept: u64,
    /// Allocated bytes of what was removed under its last name. They are free as soon as nobody has
    /// it open any more, and no snapshot of the file system holds it.
    pub freed: u64,
}

/// What became of all that was to be removed.
#[derive(Debug, Default)]
pub struct Report {
    /// How many entries became what.
    pub counts: Counts,
    /// How many were kept for which reason.
    pub kept_by: BTreeMap<KeepReason, u64>,
    /// What was kept, the first [`Report::KEPT`] of it.
    pub kept: Vec<KeptEntry>,
    /// Rows of what is not there any more, removed or vanished: of a directory that has gone with
    /// all below it, its own alone.
    pub gone: Vec<Row>,
    /// Somebody asked to stop before all was done.
    pub cancelled: bool,
}

impl Report {
    /// How many kept entries are told with their paths.
    pub const KEPT: usize = 1000;

    /// Returns whether all is gone that was to be.
    pub fn is_complete(&self) -> bool {
        self.counts.kept == 0 && !self.cancelled
    }

    pub(super) fn keep(
        &mut self,
        reason: KeepReason,
        error: Option<io::Error>,
        row: Row,
        path: impl FnOnce() -> PathBuf,
    ) {
        self.counts.kept += 1;
        *self.kept_by.entry(reason).or_default() += 1;
        if self.kept.len() < Self::KEPT {
            self.kept.push(KeptEntry::new(path(), row, reason, error));
        }
    }
}
