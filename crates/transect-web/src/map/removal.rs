//! Removal from a served page: a request reports what would be freed, a second one confirms it.

use std::path::Path;

use serde_json::{Value, json};
use transect::Cancel;
use transect::table::{Row, Table};
use transect_remove::{Counts, Removal, RemovalKind, Report, Trash};

use crate::page::Nonce;
use crate::serve::Refusal;

/// Returns the user's trash, or the reason why there is none.
pub type TrashSource = fn() -> Result<Trash, String>;

/// A removal that waits for its confirmation.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedRemoval {
    /// Random, so that only the page that asked can confirm it.
    pub(super) number: u128,
    /// The version of the map that `row` belongs to.
    pub(super) version: u64,
    pub(super) kind: RemovalKind,
    pub(super) row: Row,
    /// The number of entries to delete, or of paths to move.
    pub(super) total: u64,
}

impl PreparedRemoval {
    /// Prepares the removal of an entry. Returns also what the page shows before it is confirmed.
    ///
    /// # Errors
    /// The entry cannot be removed.
    pub(super) fn of(
        table: &Table,
        version: u64,
        kind: RemovalKind,
        row: Row,
    ) -> Result<(Self, Value), Refusal> {
        if table.parent(row).is_none() {
            return Err(Refusal::conflict("the map's own root cannot be removed from its page"));
        }
        let removal =
            Removal::new(table, [row]).map_err(|error| Refusal::conflict(error.to_string()))?;
        let summary = removal.summary();
        let total = match kind {
            RemovalKind::Delete => summary.entries(),
            RemovalKind::Trash => 1,
        };
        let random = Nonce::random().map_err(|error| Refusal::conflict(error.to_string()))?;
        let number = random.0;
        // What would be freed and what would stay.
        let shown = json!({
            "confirm": random.to_string(),
            "kind": kind.as_str(),
            "path": text(&table.path(row)),
            "files": summary.files,
            "directories": summary.directories,
            "others": summary.others,
            "disk_usage": summary.disk_usage,
            "freed": summary.freed,
            "shared": summary.shared,
            "shared_files": summary.shared_files,
            "mounts": summary.mounts,
            "unread": summary.unread,
            "errors": summary.errors,
        });
        Ok((Self { number, version, kind, row, total }, shown))
    }

    pub(super) fn run(
        &self,
        table: &Table,
        trash: TrashSource,
        cancel: &Cancel,
        show: &mut dyn FnMut(RemovalProgress),
    ) -> Result<Report, String> {
        let removal = Removal::new(table, [self.row]).map_err(|error| error.to_string())?;
        let trash = match self.kind {
            RemovalKind::Delete => None,
            RemovalKind::Trash => Some(trash()?),
        };
        Ok(removal.run(trash.as_ref(), cancel, &mut |&counts, row| {
            show(RemovalProgress { counts, total: self.total, path: text(&table.path(row)) });
        }))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct RemovalProgress {
    counts: Counts,
    total: u64,
    path: String,
}

impl RemovalProgress {
    /// Returns the progress before the first entry.
    pub(super) fn new(total: u64) -> Self {
        Self { total, ..Self::default() }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "done": self.counts.done(),
            "total": self.total,
            "freed": self.counts.freed,
            "kept": self.counts.kept,
            "path": self.path,
        })
    }
}

/// Returns the outcome for the page; an error if nothing could be removed.
pub(super) fn outcome(kind: RemovalKind, report: &Result<Report, String>) -> Value {
    match report {
        Ok(Report { counts, cancelled, kept: entries, .. }) => {
            let Counts { removed, vanished, kept, freed, .. } = counts;
            json!({
                "kind": kind.as_str(),
                "removed": removed,
                "vanished": vanished,
                "kept": kept,
                "freed": freed,
                "stopped": cancelled,
                "kept_entries": entries.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "error": null,
            })
        }
        Err(error) => json!({ "kind": kind.as_str(), "removed": 0, "kept": 0, "error": error }),
    }
}

fn text(path: &Path) -> String {
    super::columns::text(path.as_os_str())
}
