//! What a search found.

use std::sync::Arc;
use std::time::Duration;

use transect::Outcome;
use transect::table::Table;
use transect_duplicates::{Action, DigestStore, Duplicates, Group};

use transect_program::ExitStatus;

/// The result of a search, with the groups to show.
pub(super) struct Found {
    pub(super) table: Table,
    pub(super) walk: Outcome<()>,
    pub(super) duplicates: Duplicates,
    /// The digests that were known before.
    pub(super) known: Option<Arc<DigestStore>>,
    pub(super) elapsed: Duration,
    /// How many groups are shown, and acted on.
    pub(super) shown: usize,
    pub(super) action: Option<Action>,
}

impl Found {
    pub(super) fn groups(&self) -> &[Group] {
        &self.duplicates.groups[..self.shown]
    }

    /// Returns the number of files that could go, of all groups.
    pub(super) fn copies(&self) -> u64 {
        self.duplicates.groups.iter().map(|group| group.copies.len() as u64 - 1).sum()
    }

    /// Returns the bytes that removing them would free.
    pub(super) fn freed(&self) -> u64 {
        self.duplicates.groups.iter().fold(0, |sum, group| sum.saturating_add(group.freed))
    }

    pub(super) fn interrupted(&self) -> bool {
        self.walk.interrupted || self.duplicates.interrupted
    }

    pub(super) fn complete(&self) -> bool {
        self.status() == ExitStatus::Complete
    }

    pub(super) fn status(&self) -> ExitStatus {
        let interrupted = self.interrupted();
        match ExitStatus::from_diagnostics(self.table.diagnostics(), interrupted) {
            ExitStatus::Complete => {
                ExitStatus::from_diagnostics(&self.duplicates.diagnostics, interrupted)
            }
            status => status,
        }
    }
}
