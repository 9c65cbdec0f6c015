//! The words of the column `unread`.

use transect::table::UnreadReason;
use transect::{FaultKind, SkipReason};

pub(crate) fn unread_reason(word: &str) -> UnreadReason {
    if word == UnreadReason::Unvisited.as_str() {
        return UnreadReason::Unvisited;
    }
    let skip = SkipReason::ALL.iter().find(|skip| skip.as_str() == word);
    match skip {
        // `loop` is a reason for skipping a link, and an error of a directory.
        Some(&skip) if skip != SkipReason::Loop => UnreadReason::Skipped(skip),
        _ => UnreadReason::Failed(fault_kind(word)),
    }
}

/// Returns the kind of error that a word stands for.
pub(crate) fn fault_kind(word: &str) -> FaultKind {
    let kind = FaultKind::ALL.iter().find(|kind| kind.as_str() == word);
    kind.copied().unwrap_or(FaultKind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_reason_of_every_word_is_its_own() {
        let failed = FaultKind::ALL.iter().map(|&kind| UnreadReason::Failed(kind));
        let skips = SkipReason::ALL.iter().filter(|&&skip| skip != SkipReason::Loop);
        let skipped = skips.map(|&skip| UnreadReason::Skipped(skip));
        for reason in failed.chain(skipped).chain([UnreadReason::Unvisited]) {
            assert_eq!(unread_reason(reason.as_str()), reason);
        }
        assert_eq!(unread_reason("invented later"), UnreadReason::Failed(FaultKind::Other));
    }
}
