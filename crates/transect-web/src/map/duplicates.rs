//! Groups of duplicates for a served page.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde_json::{Value, json};
use transect::table::{Row, Table};
use transect_duplicates::{Duplicates, Phase, Progress};

use super::columns::text;
use super::selection::Item;

/// The maximum number of groups, and of files of a group, that a page receives.
const MAX_GROUPS: usize = 1000;
const MAX_COPIES: usize = 1000;

/// Returns the progress of a search for the page.
pub(super) fn progress(of: &Progress) -> Value {
    let (done, total) = of.files();
    let phase = match of.phase() {
        Phase::Walk => "candidates",
        Phase::Ends => "ends",
        Phase::Whole => "whole",
    };
    json!({ "phase": phase, "done": done, "total": total, "bytes": of.bytes() })
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
