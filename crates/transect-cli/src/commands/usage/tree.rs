//! Selects the largest directories of a tree.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;

use transect::FileType;
use transect::table::{Row, Table};

use super::measure::Measure;

/// A tree whose entries have sizes: a directory is at least as large as what is in it.
pub(super) trait Tree {
    type Entry: Copy + Eq + Hash + Ord;

    fn roots(&self) -> Vec<Self::Entry>;

    /// Returns the directory that holds an entry; `None` for a root.
    fn parent(&self, of: Self::Entry) -> Option<Self::Entry>;

    fn size(&self, of: Self::Entry) -> u64;

    /// Returns the largest entries in a directory that can be shown, in descending order, equal ones in the
    /// order of their names.
    fn largest_children(&self, of: Self::Entry, most: usize) -> Vec<Self::Entry>;
}

pub(super) struct TableTree<'t> {
    pub(super) table: &'t Table,
    pub(super) measure: Measure,
    pub(super) files: bool,
}

impl Tree for TableTree<'_> {
    type Entry = Row;

    fn roots(&self) -> Vec<Row> {
        self.table.roots().collect()
    }

    fn parent(&self, of: Row) -> Option<Row> {
        self.table.parent(of)
    }

    fn size(&self, of: Row) -> u64 {
        self.measure.size(&self.table.totals(of))
    }

    fn largest_children(&self, of: Row, most: usize) -> Vec<Row> {
        let is_shown = |row: Row| self.files || self.table.file_type(row) == FileType::Directory;
        let rank = |row: Row| if is_shown(row) { self.size(row) } else { 0 };
        self.table.largest(self.table.children(of), most, rank)
    }
}

pub(super) struct Limits {
    pub(super) lines: usize,
    pub(super) depth: Option<usize>,
    pub(super) min_size: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<E = Row> {
    pub(super) row: E,
    pub(super) size: u64,
    /// For each step below the root, whether the entry is the last of its siblings.
    pub(super) last: Vec<bool>,
}

/// Returns the largest entries, up to the limit of lines. The parent of an entry is at least as large,
/// so it is always among them. Siblings are sorted by size; roots keep their order.
pub(super) fn largest<T: Tree>(tree: &T, limits: &Limits) -> Vec<Line<T::Entry>> {
    let mut waiting: BinaryHeap<(u64, Reverse<usize>, T::Entry, usize)> = BinaryHeap::new();
    let mut met = 0;
    let mut offer = |waiting: &mut BinaryHeap<_>, entry, depth| {
        met += 1;
        waiting.push((tree.size(entry), Reverse(met), entry, depth));
    };
    tree.roots().into_iter().for_each(|root| offer(&mut waiting, root, 0));

    let mut below: HashMap<Option<T::Entry>, Vec<T::Entry>> = HashMap::new();
    let mut left = limits.lines.max(1);
    while let Some((_, _, entry, depth)) = waiting.pop().filter(|_| left > 0) {
        left -= 1;
        below.entry(tree.parent(entry)).or_default().push(entry);
        if limits.depth.is_some_and(|most| depth >= most) {
            continue;
        }
        // At most `left` children of a directory can be shown.
        for child in tree.largest_children(entry, left) {
            if tree.size(child) >= limits.min_size {
                offer(&mut waiting, child, depth + 1);
            }
        }
    }
    let mut lines = Vec::new();
    for &root in below.get(&None).into_iter().flatten() {
        append(tree, &mut lines, &below, root);
    }
    lines
}

/// Appends an entry and its shown descendants. Not recursive: a tree may be deeper than the stack.
fn append<T: Tree>(
    tree: &T,
    lines: &mut Vec<Line<T::Entry>>,
    below: &HashMap<Option<T::Entry>, Vec<T::Entry>>,
    root: T::Entry,
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
        lines.push(Line { row, size: tree.size(row), last });
    }
}
