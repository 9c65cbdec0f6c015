//! Selects the largest directories of a tree.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use transect::FileType;
use transect::table::{Row, Table};

use super::measure::Measure;

/// Limits on the lines shown.
pub(super) struct Limits {
    /// The most lines.
    pub(super) lines: usize,
    /// The most levels below a root.
    pub(super) depth: Option<usize>,
    /// The smallest size shown.
    pub(super) min_size: u64,
    /// Show files as well.
    pub(super) files: bool,
}

/// One line of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) row: Row,
    pub(super) size: u64,
    /// For each step below the root, whether the entry is the last of its siblings.
    pub(super) last: Vec<bool>,
}

/// Returns the largest entries, up to the limit of lines. The parent of an entry is at least as large,
/// so it is always among them. Siblings are sorted by size; roots keep their order.
pub(super) fn largest(table: &Table, measure: Measure, limits: &Limits) -> Vec<Line> {
    let size = |row: Row| measure.size(&table.totals(row));
    let shown_at_all = |row: Row| limits.files || table.file_type(row) == FileType::Directory;
    let mut waiting: BinaryHeap<(u64, Reverse<usize>, Row, usize)> = BinaryHeap::new();
    let mut met = 0;
    let mut offer = |waiting: &mut BinaryHeap<_>, row, depth| {
        met += 1;
        waiting.push((size(row), Reverse(met), row, depth));
    };
    table.roots().for_each(|root| offer(&mut waiting, root, 0));

    let mut below: HashMap<Option<Row>, Vec<Row>> = HashMap::new();
    let mut left = limits.lines.max(1);
    while let Some((_, _, row, depth)) = waiting.pop().filter(|_| left > 0) {
        left -= 1;
        below.entry(table.parent(row)).or_default().push(row);
        if limits.depth.is_some_and(|most| depth >= most) {
            continue;
        }
        // At most `left` children of a directory can be shown.
        let large = |row: Row| if shown_at_all(row) { size(row) } else { 0 };
        for child in table.largest(table.children(row), left, large) {
            if size(child) >= limits.min_size {
                offer(&mut waiting, child, depth + 1);
            }
        }
    }
    let mut lines = Vec::new();
    for &root in below.get(&None).into_iter().flatten() {
        append(&mut lines, &below, root, &size);
    }
    lines
}

/// Appends an entry and its shown descendants. Not recursive: a tree may be deeper than the stack.
fn append(
    lines: &mut Vec<Line>,
    below: &HashMap<Option<Row>, Vec<Row>>,
    root: Row,
    size: &impl Fn(Row) -> u64,
) {
    let mut waiting = vec![(root, Vec::new())];
    while let Some((row, last)) = waiting.pop() {
        // Children are stored in the order of their sizes.
        let children = below.get(&Some(row)).map(Vec::as_slice).unwrap_or_default();
        for (place, &child) in children.iter().enumerate().rev() {
            let mut last = last.clone();
            last.push(place + 1 == children.len());
            waiting.push((child, last));
        }
        lines.push(Line { row, size: size(row), last });
    }
}
