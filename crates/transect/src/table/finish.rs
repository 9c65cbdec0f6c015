//! The last steps of a table, when all threads have finished.
//!
//! ```text
//! directories in the order of entering ─► each finds its row, by its name in its parent
//!                                      ─► sorted by row, identified by their index
//!                                      ─► hard links charged; totals added from the deepest upwards
//! ```

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::columns::Rows;
use super::directories::{Directories, Directory, EnteredDirectory, UnreadReason};
use super::rank_bitmap::RankBitmap;
use super::row::Row;

/// Finds the row of each directory among the entries of its parent, and copies the own attributes
/// of the directory there. Returns the rows of all directories.
pub(super) fn assign_rows(
    rows: &mut Rows,
    own_rows: Rows,
    entered: &mut [EnteredDirectory],
) -> RankBitmap {
    let mut taken = RankBitmap::with_limit(rows.limit());
    // The first is the top, which has no row.
    for number in 1..entered.len() {
        let EnteredDirectory { directory, .. } = entered[number];
        let own_row = Row(directory.row);
        let name = own_rows.name(own_row);
        let parent = entered[directory.parent as usize].directory;
        let mut row = parent
            .lower_bound(|row| rows.name(row), name)
            .expect("BUG: a directory is not among the entries")
            .0;
        // A directory that changes during its listing may list a name twice. Then it was also
        // entered twice.
        while !taken.insert(row) {
            row += 1;
        }
        debug_assert_eq!(rows.name(Row(row)), name, "BUG: a directory in a foreign row");
        rows.set(Row(row), &own_rows, own_row);
        entered[number].directory.row = row;
    }
    taken.indexed()
}

/// Returns the index of a directory in the order of rows; `None` for the top.
pub(super) fn index_of(
    taken: &RankBitmap,
    entered: &[EnteredDirectory],
    number: u32,
) -> Option<u32> {
    (number != 0).then(|| taken.rank(entered[number as usize].directory.row))
}

/// Sorts directories by row; from here on they are identified by their index.
pub(super) fn sort_by_row(
    rows: RankBitmap,
    mut entered: Vec<EnteredDirectory>,
    unread: HashMap<u32, UnreadReason, FixedState>,
) -> Directories {
    for number in 0..entered.len() {
        let parent = entered[number].directory.parent;
        let known = (parent != Directory::TOP).then(|| index_of(&rows, &entered, parent));
        entered[number].directory.parent = known.flatten().unwrap_or(Directory::TOP);
    }
    // Swapping them into place would wait for memory at each step.
    let top = entered[0].directory;
    let mut all = vec![top; entered.len() - 1];
    for EnteredDirectory { directory, .. } in &entered[1..] {
        all[rows.rank(directory.row) as usize] = *directory;
    }
    drop(entered);
    Directories::new(top, all, rows, unread)
}

/// Adds the errors of every directory to all directories above it, in one pass from the deepest
/// upwards: in a deep tree, walking up from each error would be slow.
pub(super) fn accumulate_errors(
    directories: &Directories,
    errors: Vec<u32>,
    order: &[u32],
) -> HashMap<u32, u64, FixedState> {
    let mut counts: HashMap<u32, u64, FixedState> = HashMap::default();
    if errors.is_empty() {
        return counts;
    }
    for index in errors {
        *counts.entry(index).or_default() += 1;
    }
    for &index in order.iter().rev() {
        let parent = directories.all[index as usize].parent;
        if let Some(&count) = counts.get(&index)
            && parent != Directory::TOP
        {
            *counts.entry(parent).or_default() += count;
        }
    }
    counts
}

/// Adds the totals of every directory to all directories above it.
pub(super) fn accumulate_totals(directories: &mut Directories, preorder: &[u32]) {
    let Directories { top, all, .. } = directories;
    for &index in preorder.iter().rev() {
        let Directory { parent, totals, .. } = all[index as usize];
        match all.get_mut(parent as usize) {
            Some(parent) => parent.totals += totals,
            None => top.totals += totals,
        }
    }
}
