//! The result of a removal.

use std::fmt;
use std::io;
use std::path::PathBuf;

use transect_sys::FaultKind;

use crate::trashed::TrashedEntry;
use transect::table::Row;

/// Why an entry was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KeepReason {
    /// It differs from the entry of this name that the walk saw: another type, size, time or file.
    Changed,
    /// The walk did not see it: it is new, was filtered out, or is in a directory that was not read.
    NotSeen,
    /// Another file system begins there, or something is mounted there.
    MountBoundary,
    /// Its file system has no trash, or none that can be written.
    NoTrash,
    /// Its content differs from that of the copy to be kept.
    Differs,
    /// Owner, group or permissions differ from those of the copy to be kept.
    OtherAttributes,
    /// The copy to be kept changed since the walk, or cannot be read.
    NoCopy,
    /// It is the copy to be kept, seen through another mount.
    SameFile,
    /// A hard link is impossible: the copy to be kept is on another file system.
    OtherFileSystem,
    /// Its file system cannot share content between files.
    NoClones,
    /// The system reported an error.
    Failed(FaultKind),
}

impl KeepReason {
    /// Returns the meaning of an error for its entry.
    pub(super) fn of(error: &io::Error) -> Self {
        match (error.kind(), FaultKind::of(error)) {
            (io::ErrorKind::CrossesDevices, _) => Self::MountBoundary,
            // A directory was replaced by a link or a file, or the other way round.
            (io::ErrorKind::IsADirectory, _) => Self::Changed,
            (_, FaultKind::NotADirectory | FaultKind::Loop) => Self::Changed,
            (_, kind) => Self::Failed(kind),
        }
    }

    /// Returns the word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::NotSeen => "not_seen",
            Self::MountBoundary => "mount_boundary",
            Self::NoTrash => "no_trash",
            Self::Differs => "differs",
            Self::OtherAttributes => "other_attributes",
            Self::NoCopy => "no_copy",
            Self::SameFile => "same_file",
            Self::OtherFileSystem => "other_file_system",
            Self::NoClones => "no_clones",
            Self::Failed(kind) => kind.as_str(),
        }
    }
}

/// An entry that was to be removed and still exists, with all directories above it.
#[derive(Debug)]
#[non_exhaustive]
pub struct KeptEntry {
    /// Its path.
    pub path: PathBuf,
    /// Its row, or the row of its directory if it has none.
    pub row: Row,
    /// Why it was kept.
    pub reason: KeepReason,
    /// The system's error, if there was one.
    pub error: Option<io::Error>,
}

impl fmt::Display for KeptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.reason {
            KeepReason::Changed => "it changed since the walk",
            KeepReason::NotSeen => "the walk did not see it",
            KeepReason::MountBoundary => "another file system is mounted there",
            KeepReason::NoTrash => "there is no trash for it",
            KeepReason::Differs => "its content differs from the copy to keep",
            KeepReason::OtherAttributes => "owner or permissions differ from the copy to keep",
            KeepReason::NoCopy if self.error.is_some() => "cannot read the copy to keep",
            KeepReason::NoCopy => "the copy to keep changed since the walk",
            KeepReason::SameFile => "it is the copy to keep, seen through another mount",
            KeepReason::OtherFileSystem => "the copy to keep is on another file system",
            KeepReason::NoClones => "its file system cannot share content between files",
            KeepReason::Failed(kind) => kind.as_str(),
        };
        let path = self.path.display();
        let reason = self.error.as_ref().map(transect::reason);
        match (self.reason, reason) {
            (KeepReason::NoTrash | KeepReason::NoCopy, Some(reason)) => {
                write!(f, "kept '{path}': {text}: {reason}")
            }
            (KeepReason::Failed(_), Some(reason)) => write!(f, "kept '{path}': {reason}"),
            _ => write!(f, "kept '{path}': {text}"),
        }
    }
}

/// The counts of a removal so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Names removed. A directory moved to the trash counts once.
    pub removed: u64,
    /// Entries that were gone before their turn; entries below them are not counted.
    pub vanished: u64,
    /// Entries kept for a reason of their own; directories above them are not counted.
    pub kept: u64,
    /// Allocated bytes of files whose last name was removed. They become free once no process has
    /// the file open and no snapshot of the file system contains it.
    pub freed: u64,
}

impl Counts {
    /// Returns the number of entries that had their turn.
    pub fn done(&self) -> u64 {
        self.removed + self.vanished + self.kept
    }
}

/// The result of a removal.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// What was removed, kept and found missing.
    pub counts: Counts,
    /// The first [`Report::KEPT`] entries that were kept.
    pub kept: Vec<KeptEntry>,
    /// Rows of entries that no longer exist, removed or vanished; of a directory that is gone with
    /// everything below it, only its own.
    pub gone: Vec<Row>,
    /// The entries that are in a trash now.
    pub trashed: Vec<TrashedEntry>,
    /// The removal was cancelled before it was complete.
    pub cancelled: bool,
}

impl Report {
    /// How many kept entries are reported with their paths.
    pub const KEPT: usize = 1000;

    /// Returns whether every entry is gone.
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
        if self.kept.len() < Self::KEPT {
            self.kept.push(KeptEntry { path: path(), row, reason, error });
        }
    }
}
