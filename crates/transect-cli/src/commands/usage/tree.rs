//! Selects the largest directories of a tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use transect::table::Row;
use transect_snapshot::LargestLimits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<E = Row> {
    pub(super) row: E,
    pub(super) size: u64,
    /// For each step below the root, whether the entry is the last of its siblings.
    pub(super) last: Vec<bool>,
}

/// An entry that may be shown.
struct Node<E> {
    /// `None` for the directory above the roots, which is the first node.
    entry: Option<E>,
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
pub(super) fn largest<E: Copy>(
    limits: &LargestLimits,
    children: impl Fn(Option<E>, usize) -> Vec<(E, u64)>,
) -> Vec<Line<E>> {
    let mut nodes = vec![Node { entry: None, size: 0, level: 0, parent: 0, shown: Vec::new() }];
    let mut waiting = BinaryHeap::new();
    let mut left = limits.count.max(1);
    let mut parent = 0;
    loop {
        let Node { entry, level, .. } = nodes[parent];
        if limits.depth.is_none_or(|most| level <= most) {
            // At most `left` children of a directory can be shown.
            for (child, size) in children(entry, left) {
                if size >= limits.min_size || level == 0 {
                    waiting.push((size, Reverse(nodes.len())));
                    let (entry, level, shown) = (Some(child), level + 1, Vec::new());
                    nodes.push(Node { entry, size, level, parent, shown });
                }
            }
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
        for (place, &child) in node.shown.iter().enumerate().rev() {
            let mut last = last.clone();
            if node.level > 0 {
                last.push(place + 1 == node.shown.len());
            }
            waiting.push((&nodes[child], last));
        }
        lines.extend(node.entry.map(|row| Line { row, size: node.size, last }));
    }
    lines
}
