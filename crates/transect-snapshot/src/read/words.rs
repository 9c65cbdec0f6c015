//! The words of the column `unread`.

use transect::table::UnreadReason;
use transect::{FaultKind, SkipReason};

/// Returns the reason that a word stands for.
pub(crate) fn unread_reason(word: &str) -> UnreadReason {
    if word == UnreadReason::Unvisited.as_str() {
        return UnreadReason::Unvisited;
    }
    let skips = [
        SkipReason::MountBoundary,
        SkipReason::PseudoFileSystem,
        SkipReason::Placeholder,
        SkipReason::LeftOver,
    ];
    if let Some(&skip) = skips.iter().find(|skip| skip.as_str() == word) {
        return UnreadReason::Skipped(skip);
    }
    UnreadReason::Failed(fault_kind(word))
}

/// Returns the kind of error that a word stands for.
pub(crate) fn fault_kind(word: &str) -> FaultKind {
    let kinds = [
        FaultKind::Denied,
        FaultKind::NotFound,
        FaultKind::NotADirectory,
        FaultKind::NameTooLong,
        FaultKind::InvalidName,
        FaultKind::SharingViolation,
        FaultKind::Loop,
        FaultKind::TooManyOpen,
        FaultKind::Io,
        FaultKind::InvalidData,
        FaultKind::Inconsistent,
        FaultKind::TimedOut,
    ];
    kinds.into_iter().find(|kind| kind.as_str() == word).unwrap_or(FaultKind::Other)
}
