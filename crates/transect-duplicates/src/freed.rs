//! The bytes that removing copies would free: those of files without other names, and without the
//! blocks that the files of a group share already.

use std::ops::Range;

use transect::table::{Row, Table};

use crate::group::Duplicate;

/// Sets what removing each copy but the first would free. `shared` holds the shared parts of each
/// copy, on file systems that have them.
pub(crate) fn set_freed(table: &Table, copies: &mut [Duplicate], shared: &[Vec<Range<u64>>]) {
    for copy in copies.iter_mut() {
        copy.has_other_names = has_other_names(table, &copy.names);
    }
    let stays: Vec<bool> =
        copies.iter().enumerate().map(|(index, copy)| index == 0 || copy.has_other_names).collect();
    let allocated = |copy: &Duplicate| table.allocated(copy.names[0]).unwrap_or(0);
    for (index, copy) in copies.iter_mut().enumerate() {
        let in_shared = shared.get(index).map_or(0, |parts| parts.iter().map(length).sum());
        copy.freed = if stays[index] { 0 } else { allocated(copy).saturating_sub(in_shared) };
    }
    let mut with_first = vec![0_u64; copies.len()];
    for (part, holders) in overlaps(shared) {
        let length = length(&part);
        if holders.first() == Some(&0) {
            holders.iter().for_each(|&index| with_first[index] += length);
        }
        // A part that only one of the files has is shared with something outside the group.
        if holders.len() > 1 && !holders.iter().any(|&index| stays[index]) {
            let freed = &mut copies[holders[0]].freed;
            *freed = freed.saturating_add(length);
        }
    }
    for (copy, with_first) in copies.iter_mut().zip(with_first) {
        copy.is_clone = with_first >= allocated(copy);
    }
}

/// Returns whether a file has names besides these. Without link counts, only those in the table are
/// known.
fn has_other_names(table: &Table, names: &[Row]) -> bool {
    match (table.attributes(names[0]).nlink(), names) {
        (Some(count), _) => count as usize > names.len(),
        (None, &[name]) => table.shared(name) > 0,
        (None, _) => {
            table.selection_totals(&table.outermost(names.iter().copied()), &[]).shared > 0
        }
    }
}

fn length(part: &Range<u64>) -> u64 {
    part.end - part.start
}

/// Cuts the parts where one of them begins or ends. Returns each piece with the copies that have it.
fn overlaps(shared: &[Vec<Range<u64>>]) -> Vec<(Range<u64>, Vec<usize>)> {
    let mut ends: Vec<(u64, bool, usize)> = Vec::new();
    for (index, parts) in shared.iter().enumerate() {
        for part in parts {
            ends.push((part.start, true, index));
            ends.push((part.end, false, index));
        }
    }
    ends.sort_unstable();
    let mut pieces = Vec::new();
    let mut holders: Vec<usize> = Vec::new();
    let mut at = 0;
    for (place, begins, index) in ends {
        if place > at && !holders.is_empty() {
            let mut distinct = holders.clone();
            distinct.sort_unstable();
            distinct.dedup();
            pieces.push((at..place, distinct));
        }
        at = place;
        if begins {
            holders.push(index);
        } else if let Some(held) = holders.iter().position(|&held| held == index) {
            holders.swap_remove(held);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "a file with one shared part")]
    fn overlaps_cut_at_every_end() {
        let shared = [vec![0..10], vec![5..15, 20..30], vec![20..30], vec![]];
        let expected =
            [(0..5, vec![0]), (5..10, vec![0, 1]), (10..15, vec![1]), (20..30, vec![1, 2])];
        assert_eq!(overlaps(&shared), expected);
    }
}
