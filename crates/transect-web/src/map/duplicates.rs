//! Groups of duplicates for a served page.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use serde_json::{Value, json};
use transect::Cancel;
use transect::table::{Row, Table};
use transect_duplicates::{Duplicates, FindOptions, Phase, Progress, find};

use super::columns::text;
use super::selection::Item;

/// The maximum number of groups, and of files of a group, that a page receives.
const MAX_GROUPS: usize = 1000;
const MAX_COPIES: usize = 1000;

/// The progress of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct SearchProgress(Arc<Progress>);

impl SearchProgress {
    pub(super) fn json(&self) -> Value {
        let (done, total) = self.0.files();
        let phase = match self.0.phase() {
            Phase::Walk => "candidates",
            Phase::Ends => "ends",
            Phase::Whole => "whole",
        };
        json!({ "phase": phase, "done": done, "total": total, "bytes": self.0.bytes() })
    }

    /// Searches below a directory of a table.
    pub(super) fn find(&self, table: &Table, below: Row, cancel: &Cancel) -> Duplicates {
        let mut options = FindOptions::default();
        options.below = Some(below);
        (options.cancel, options.progress) = (cancel.clone(), Arc::clone(&self.0));
        find(table, &options)
    }
}

/// Returns the groups for the page. Files are indices into `items`; of a file that the map does not
/// show individually, the page receives the path.
pub(super) fn outcome(table: &Table, items: &[Item], found: &Duplicates) -> Value {
    let groups = &found.groups[..found.groups.len().min(MAX_GROUPS)];
    let indices = indices(items, groups.iter().flat_map(|group| &group.copies).map(|c| c.names[0]));
    let copy = |copy: &transect_duplicates::Duplicate| {
        let entry = indices.get(&copy.names[0]).copied().flatten();
        json!({
            "entry": entry,
            "path": if entry.is_none() { Some(text(table.path(copy.names[0]).as_os_str())) } else { None },
            "names": copy.names.len(),
            "freed": copy.freed,
            "clone": copy.is_clone,
        })
    };
    let group = |group: &transect_duplicates::Group| {
        json!({
            "size": group.size,
            "freed": group.freed,
            "count": group.copies.len(),
            "copies": group.copies.iter().take(MAX_COPIES).map(copy).collect::<Vec<_>>(),
        })
    };
    json!({
        "group_count": found.groups.len(),
        "freed": found.groups.iter().fold(0_u64, |sum, group| sum.saturating_add(group.freed)),
        "groups": groups.iter().map(group).collect::<Vec<_>>(),
        "errors": found.diagnostics.errors + found.diagnostics.vanished,
        "stopped": found.interrupted,
    })
}

/// Returns the indices of rows in `items`; `None` for those that are not shown.
fn indices(
    items: &[Item],
    rows: impl Iterator<Item = Row>,
) -> HashMap<Row, Option<u32>, FixedState> {
    let mut indices: HashMap<Row, Option<u32>, FixedState> = rows.map(|row| (row, None)).collect();
    for (index, item) in (0..).zip(items) {
        if let Item::Entry(row) = item
            && let Some(place) = indices.get_mut(row)
        {
            *place = Some(index);
        }
    }
    indices
}
