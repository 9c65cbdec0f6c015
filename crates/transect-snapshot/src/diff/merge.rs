//! Merges two trees in tree order, as two sorted lists.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::path::{MAIN_SEPARATOR, is_separator};

use transect::{FieldMask, FileType};

use crate::digest::COMPARED;
use crate::read::{CommonRows, ReadError};
use crate::tree::{Position, TreeRows};

use super::change::{Change, ChangeKind, Diff, DiffOptions, Facts, Growth};
use super::compare::changed_fields;

#[derive(Clone, Copy, Debug)]
pub(super) enum Pair<'p> {
    /// All entries of both trees.
    Whole {
        /// The roots correspond whatever their names are.
        pairs_roots: bool,
    },
    /// A directory that moved: its paths in both trees.
    Moved(&'p [u8], &'p [u8]),
}

/// Two entries of one name.
#[derive(Clone, Copy)]
struct Place<'p> {
    pair: Pair<'p>,
    /// The number of steps from the first entry.
    level: u32,
    /// Attributes that are known to be equal.
    same: FieldMask,
}

/// An entry of one tree only.
#[derive(Clone, Debug)]
pub(super) struct Lone {
    pub(super) path: Vec<u8>,
    pub(super) facts: Facts,
    pub(super) at: Position,
    /// The number of entries below it that have moved.
    pub(super) moved_entries: u64,
}

impl Lone {
    fn of(rows: &TreeRows<'_>, directory: &[u8]) -> Self {
        let (path, facts, at) = (join(directory, rows.name()), Facts::of(rows), rows.position());
        Self { path, facts, at, moved_entries: 0 }
    }

    /// Returns whether there may be entries below it.
    pub(super) fn is_directory(&self) -> bool {
        self.facts.totals.is_some()
    }
}

/// A directory that both trees have, on the way to the current entries.
#[derive(Debug, Default)]
struct Level {
    /// The lengths of its paths.
    path: (usize, usize),
    unread: (bool, bool),
    allocated: (u64, u64),
    /// The difference of the entry in it that changed most.
    largest: i128,
}

/// Collects changes.
pub(super) struct Merger {
    options: DiffOptions,
    uses_digests: bool,
    diff: Diff,
    growth: BinaryHeap<GrowthRank>,
    pub(super) removed: Vec<Lone>,
    pub(super) added: Vec<Lone>,
    /// Entries that have moved, by their positions in both trees.
    pub(super) moved: (HashSet<Position>, HashSet<Position>),
}

/// A directory, ordered by its difference; the smallest is on top of the heap.
#[derive(Debug, PartialEq, Eq)]
struct GrowthRank(Growth);

impl Ord for GrowthRank {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |growth: &Growth| growth.difference().abs();
        rank(&other.0).cmp(&rank(&self.0)).then_with(|| self.0.path.cmp(&other.0.path))
    }
}

impl PartialOrd for GrowthRank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The paths of the directories on the way to the current entries, in both trees.
#[derive(Debug, Default)]
struct Paths {
    a: Vec<u8>,
    b: Vec<u8>,
    levels: Vec<Level>,
}

/// Returns the path of an entry in a directory; of a root, if the directory has no path.
pub(super) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(directory.len() + name.len() + 1);
    path.extend_from_slice(directory);
    append(&mut path, name);
    path
}

/// Extends the path of a directory to that of an entry in it.
fn append(path: &mut Vec<u8>, name: &[u8]) {
    if path.last().is_some_and(|&last| !is_separator(last.into())) {
        path.push(MAIN_SEPARATOR as u8);
    }
    path.extend_from_slice(name);
}

impl Merger {
    pub(super) fn new(options: DiffOptions, uses_digests: bool) -> Self {
        Self {
            options,
            uses_digests,
            diff: Diff::default(),
            growth: BinaryHeap::new(),
            removed: Vec::new(),
            added: Vec::new(),
            moved: (HashSet::new(), HashSet::new()),
        }
    }

    pub(super) fn push(&mut self, change: Change) {
        self.diff.changes.push(change);
    }

    /// Adds a move, without attributes that are not compared.
    pub(super) fn push_rename(&mut self, change: Change) {
        let fields = change.fields - self.options.ignored;
        self.push(Change { fields, ..change });
    }

    pub(super) fn merge(
        &mut self,
        mut a: TreeRows<'_>,
        mut b: TreeRows<'_>,
        pair: Pair<'_>,
    ) -> Result<(), ReadError> {
        let mut paths = Paths::default();
        let mut common = CommonRows::new(COMPARED - self.options.ignored);
        let (mut has_a, mut has_b) = (a.advance(true)?, b.advance(true)?);
        let base_a = if has_a { a.depth() } else { 0 };
        let base_b = if has_b { b.depth() } else { 0 };
        while has_a || has_b {
            let level_a = if has_a { a.depth() - base_a } else { 0 };
            let level_b = if has_b { b.depth() - base_b } else { 0 };
            let are_paired = match pair {
                Pair::Whole { pairs_roots } => pairs_roots,
                Pair::Moved(..) => true,
            };
            let order = match (has_a, has_b) {
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                // Deeper entries come first: the other tree has no more in their directory.
                _ => level_b.cmp(&level_a).then_with(|| match level_a {
                    0 if are_paired => Ordering::Equal,
                    _ => a.name().cmp(b.name()),
                }),
            };
            match order {
                Ordering::Less => {
                    self.leave(&mut paths, level_a);
                    self.only_in_a(&a, &paths);
                    has_a = a.advance(false)?;
                }
                Ordering::Greater => {
                    self.leave(&mut paths, level_b);
                    self.only_in_b(&b, &paths);
                    has_b = b.advance(false)?;
                }
                Ordering::Equal => {
                    self.leave(&mut paths, level_a);
                    if level_a > 0 && self.is_moved(&a, &b) {
                        self.only_in_a(&a, &paths);
                        self.only_in_b(&b, &paths);
                        (has_a, has_b) = (a.advance(false)?, b.advance(false)?);
                        continue;
                    }
                    let place = Place { pair, level: level_a, same: common.same() };
                    let enters = self.compare(&a, &b, place, &mut paths);
                    (has_a, has_b) = match pair {
                        Pair::Whole { .. } => a.advance_both(&mut b, &mut common, enters)?,
                        // Entries may have moved from here or to here although nothing else differs.
                        Pair::Moved(..) => (a.advance(enters)?, b.advance(enters)?),
                    };
                }
            }
        }
        self.leave(&mut paths, 0);
        Ok(())
    }

    fn is_moved(&self, a: &TreeRows<'_>, b: &TreeRows<'_>) -> bool {
        let (moved_a, moved_b) = &self.moved;
        !moved_a.is_empty() && (moved_a.contains(&a.position()) || moved_b.contains(&b.position()))
    }

    /// Leaves the directories that are not on the way to an entry at `level`.
    fn leave(&mut self, paths: &mut Paths, level: u32) {
        while paths.levels.len() > level as usize {
            let Some(left) = paths.levels.pop() else { return };
            let (before, after) = left.allocated;
            let difference = i128::from(after) - i128::from(before);
            if let Some(above) = paths.levels.last_mut()
                && difference.abs() > above.largest.abs()
            {
                above.largest = difference;
            }
            // Nearly all of it is in one of its directories, which is listed instead.
            let is_explained = left.largest.signum() == difference.signum()
                && left.largest.abs() >= difference.abs() / 10 * 9;
            if difference != 0 && !is_explained {
                let growth = Growth { path: paths.b.clone(), before, after };
                self.growth.push(GrowthRank(growth));
                if self.growth.len() > self.options.max_growth {
                    self.growth.pop();
                }
            }
            let (path_a, path_b) = paths.levels.last().map_or((0, 0), |above| above.path);
            paths.a.truncate(path_a);
            paths.b.truncate(path_b);
        }
    }

    fn only_in_a(&mut self, a: &TreeRows<'_>, paths: &Paths) {
        // What could not be read may still exist.
        let is_unread = paths.levels.last().is_some_and(|level| level.unread.1);
        if !is_unread && !self.moved.0.contains(&a.position()) {
            self.removed.push(Lone::of(a, &paths.a));
        }
    }

    fn only_in_b(&mut self, b: &TreeRows<'_>, paths: &Paths) {
        let is_unread = paths.levels.last().is_some_and(|level| level.unread.0);
        if !is_unread && !self.moved.1.contains(&b.position()) {
            self.added.push(Lone::of(b, &paths.b));
        }
    }

    /// Compares two entries of one name. Returns whether what is below them is to be compared, too.
    fn compare(
        &mut self,
        a: &TreeRows<'_>,
        b: &TreeRows<'_>,
        Place { pair, level, same }: Place<'_>,
        paths: &mut Paths,
    ) -> bool {
        let compared = COMPARED - self.options.ignored - same;
        let fields = changed_fields(&a.attributes_of(compared), &b.attributes_of(compared));
        let is_other_type = a.file_type() != b.file_type();
        let is_directory =
            a.file_type() == FileType::Directory || b.file_type() == FileType::Directory;
        if fields.is_empty() && !is_other_type && !is_directory {
            return true;
        }
        let is_same =
            self.uses_digests && !is_other_type && a.digest().is_some() && a.digest() == b.digest();
        if is_same && fields.is_empty() && level > 0 {
            return false;
        }
        let path_of = |paths: &Paths| match pair {
            Pair::Moved(from, to) if level == 0 => (from.to_vec(), to.to_vec()),
            _ => (join(&paths.a, a.name()), join(&paths.b, b.name())),
        };
        // A move reports the attributes of the directory itself.
        let is_reported = level == 0 && matches!(pair, Pair::Moved(..));
        if (is_other_type || !fields.is_empty()) && !is_reported {
            let kind = if is_other_type { ChangeKind::TypeChanged } else { ChangeKind::Modified };
            let (path_a, path_b) = path_of(paths);
            self.push(Change {
                from: (path_a != path_b).then_some(path_a),
                before: Some(Facts::of(a)),
                after: Some(Facts::of_second(b, a, same)),
                fields,
                ..Change::new(kind, path_b)
            });
        }
        if !is_directory {
            return true;
        }
        let totals = (a.total_allocated(), b.total_allocated());
        if level == 0 && matches!(pair, Pair::Whole { .. }) {
            self.diff.summary.allocated_before += totals.0;
            self.diff.summary.allocated_after += totals.1;
        }
        let mut unread = (a.unread().is_some(), b.unread().is_some());
        if is_other_type {
            unread = (false, false);
        } else if unread.0 != unread.1 {
            let kind = if unread.1 { ChangeKind::Unreadable } else { ChangeKind::Readable };
            self.push(Change {
                before: Some(Facts::of(a)),
                after: Some(Facts::of(b)),
                reason: a.unread().or(b.unread()).map(str::to_owned),
                ..Change::new(kind, path_of(paths).1)
            });
        }
        match pair {
            Pair::Moved(from, to) if level == 0 => {
                (paths.a, paths.b) = (from.to_vec(), to.to_vec());
            }
            _ => {
                append(&mut paths.a, a.name());
                append(&mut paths.b, b.name());
            }
        }
        paths.levels.push(Level {
            path: (paths.a.len(), paths.b.len()),
            unread,
            allocated: totals,
            largest: 0,
        });
        // Only the directory itself changed, which may have grown.
        !is_same
    }

    pub(super) fn finish(mut self) -> Diff {
        for Lone { path, facts, moved_entries, .. } in std::mem::take(&mut self.removed) {
            let change = Change::new(ChangeKind::Removed, path);
            self.push(Change { before: Some(facts), moved_entries, ..change });
        }
        for Lone { path, facts, moved_entries, .. } in std::mem::take(&mut self.added) {
            let change = Change::new(ChangeKind::Added, path);
            self.push(Change { after: Some(facts), moved_entries, ..change });
        }
        let Self { mut diff, growth, .. } = self;
        diff.changes.sort_by(|a, b| (&a.path, a.kind).cmp(&(&b.path, b.kind)));
        diff.growth = growth.into_sorted_vec().into_iter().map(|GrowthRank(it)| it).collect();
        let summary = &mut diff.summary;
        for change in &diff.changes {
            let entries = |facts: &Option<Facts>| {
                facts.as_ref().map_or(0, Facts::entries).saturating_sub(change.moved_entries)
            };
            match change.kind {
                ChangeKind::Added => summary.added += entries(&change.after),
                ChangeKind::Removed => summary.removed += entries(&change.before),
                ChangeKind::Modified => summary.modified += 1,
                ChangeKind::Renamed => summary.renamed += 1,
                ChangeKind::TypeChanged => summary.type_changed += 1,
                ChangeKind::Unreadable => summary.unreadable += 1,
                ChangeKind::Readable => summary.readable += 1,
            }
        }
        diff
    }
}
