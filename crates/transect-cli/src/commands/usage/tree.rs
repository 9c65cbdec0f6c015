//! Selects the largest directories of a tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::path::PathBuf;

use transect::table::Row;
use transect_snapshot::LargestLimits;

use crate::output::quote;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<E = Row> {
    pub(super) row: E,
    /// The directories above it that share its line, the outermost first.
    pub(super) above: Vec<E>,
    pub(super) size: u64,
    /// For each step below the root, whether the entry is the last of its siblings.
    pub(super) last: Vec<bool>,
}

impl<E: Copy> Line<E> {
    /// Returns the names on the line as a path, for a terminal.
    pub(super) fn name<N: AsRef<OsStr>>(&self, name: impl Fn(E) -> N) -> String {
        let rows = self.above.iter().chain([&self.row]);
        let path: PathBuf = rows.map(|&row| name(row).as_ref().to_owned()).collect();
        quote::for_terminal(path.as_os_str())
    }
}

/// The share of a directory, in percent, that a single entry of it must have to share its line.
const FOLDED_PERCENT: u128 = 95;

/// The maximum number of names on a line.
pub(super) const MAX_NAMES: usize = 8;

/// An entry that may be shown.
struct Node<E> {
    /// `None` for the directory above the roots, which is the first node.
    entry: Option<E>,
    /// The directories above it that share its line.
    above: Vec<E>,
    size: u64,
    /// The number of steps from the first node.
    level: u32,
    parent: usize,
    /// The entries in it that are shown, by size.
    shown: Vec<usize>,
}

/// Returns the largest entries, up to the limit of lines. The parent of an entry is at least as large,
/// so it is always among them. Siblings are sorted by size; roots keep their order.
///
/// `children` returns the entries in a directory that can be shown, with their sizes, equal ones in the order of their
/// names; for `None` the roots. It may leave out all but the given number of the largest.
///
/// A directory below a root that `folds`, and is hardly larger than an entry in it, shares the line of that entry.
pub(super) fn largest<E: Copy>(
    limits: &LargestLimits,
    folds: impl Fn(E) -> bool,
    children: impl Fn(Option<E>, usize) -> Vec<(E, u64)>,
) -> Vec<Line<E>> {
    let node = |entry, size, level, parent| {
        let (above, shown) = (Vec::new(), Vec::new());
        Node { entry, above, size, level, parent, shown }
    };
    let mut nodes = vec![node(None, 0, 0, 0)];
    let mut waiting = BinaryHeap::new();
    let mut left = limits.count.max(1);
    let mut parent = 0;
    loop {
        // At most `left` children of a directory can be shown, and one can share its line.
        let shown_in = |node: &Node<E>| {
            let is_deep = limits.depth.is_some_and(|most| node.level > most);
            let mut found = if is_deep { Vec::new() } else { children(node.entry, left.max(1)) };
            found.retain(|(_, size)| *size >= limits.min_size || node.level == 0);
            found
        };
        let found = share_line(&mut nodes[parent], &folds, shown_in);
        let level = nodes[parent].level + 1;
        for (child, size) in found {
            waiting.push((size, Reverse(nodes.len())));
            nodes.push(node(Some(child), size, level, parent));
        }
        let Some((_, Reverse(next))) = waiting.pop().filter(|_| left > 0) else { break };
        left -= 1;
        let above = nodes[next].parent;
        nodes[above].shown.push(next);
        parent = next;
    }
    // Not recursive: a tree may be deeper than the stack.
    let mut lines = Vec::new();
    let mut waiting = vec![(&nodes[0], Vec::new())];
    while let Some((node, last)) = waiting.pop() {
        let mut shown = node.shown.clone();
        if node.level > 0 {
            // An entry that shares a line is smaller than the directory that was chosen for its size.
            shown.sort_by_key(|&child| Reverse(nodes[child].size));
        }
        for (place, &child) in shown.iter().enumerate().rev() {
            let mut last = last.clone();
            if node.level > 0 {
                last.push(place + 1 == shown.len());
            }
            waiting.push((&nodes[child], last));
        }
        let above = node.above.clone();
        lines.extend(node.entry.map(|row| Line { row, above, size: node.size, last }));
    }
    lines
}

/// Puts the entries of a directory that are nearly all of it on its line, as long as there are such. Returns the entries
/// in the last one.
fn share_line<E: Copy>(
    node: &mut Node<E>,
    folds: impl Fn(E) -> bool,
    shown_in: impl Fn(&Node<E>) -> Vec<(E, u64)>,
) -> Vec<(E, u64)> {
    let least = (u128::from(node.size) * FOLDED_PERCENT).div_ceil(100).max(1);
    let mut found = shown_in(node);
    while node.level > 1
        && node.above.len() + 1 < MAX_NAMES
        && let Some(&(child, size)) = found.iter().max_by_key(|(_, size)| *size)
        && u128::from(size) >= least
        && let Some(entry) = node.entry.filter(|&entry| folds(entry))
    {
        node.above.push(entry);
        (node.entry, node.size, node.level) = (Some(child), size, node.level + 1);
        found = shown_in(node);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a tree of directories: for each, its parent and its size; the first one is the root.
    fn lines(
        tree: &[(Option<usize>, u64)],
        folds: impl Fn(usize) -> bool,
    ) -> Vec<(Vec<usize>, u64)> {
        let children = |of: Option<usize>, _| {
            let inside = tree.iter().enumerate().filter(|(_, (parent, _))| *parent == of);
            inside.map(|(at, (_, size))| (at, *size)).collect()
        };
        let shown = largest(&LargestLimits::new(100), folds, children);
        shown.into_iter().map(|it| ([it.above, vec![it.row]].concat(), it.size)).collect()
    }

    #[test]
    fn directory_hardly_larger_than_an_entry_shares_its_line() {
        // Of 1000 bytes below 1, its entry 2 has 980, of which 3 has 960 and 4 940: less than 95 % of 1.
        let tree = [(None, 1000), (Some(0), 1000), (Some(1), 980), (Some(2), 960), (Some(3), 940)];
        assert_eq!(lines(&tree, |_| true), [(vec![0], 1000), (vec![1, 2, 3], 960), (vec![4], 940)]);
        // What one of them could not read stays visible.
        let all = tree.iter().enumerate().map(|(at, (_, size))| (vec![at], *size));
        assert_eq!(lines(&tree, |_| false), all.collect::<Vec<_>>());
        assert_eq!(lines(&tree, |of| of != 2)[1], (vec![1, 2], 980));
    }

    #[test]
    fn line_has_few_names() {
        let tree: Vec<_> = (0..30).map(|at: usize| (at.checked_sub(1), 10)).collect();
        let lengths = lines(&tree, |_| true).into_iter().map(|(names, _)| names.len());
        assert_eq!(lengths.collect::<Vec<_>>(), [1, 8, 8, 8, 5]);
    }
}
