//! The sink of a task: a table, of large directories only the entries in a range.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use transect::table::{Table, TableSink};
use transect::{
    Dir, Entering, EntryRef, Error, Flow, Omission, Sink, SkipReason, Tag, Verdict, Visit, Want,
};

use super::ranges::Bounds;

/// Of roots that are directories whose names are divided: the range, by path.
pub(super) type Ranges = HashMap<OsString, Bounds>;

/// Fills a table.
///
/// Every range but the first gets a row for its directory that says [`SkipReason::LeftOver`], though there
/// are rows below it: the directory is a row of another part.
pub(super) struct TaskSink {
    table: TableSink,
    ranges: Arc<Ranges>,
    left: Left,
}

/// What a task left over that its table does not tell.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Directories that are too large for one task.
    pub(super) large: HashSet<PathBuf>,
    /// Roots with ranges that were not read.
    pub(super) ranges: HashSet<OsString>,
}

impl TaskSink {
    pub(super) fn new(table: TableSink, ranges: &Arc<Ranges>) -> Self {
        Self { table, ranges: Arc::clone(ranges), left: Left::default() }
    }

    pub(super) fn finish(self) -> Result<(Table, Left), Error> {
        Ok((self.table.into_table()?, self.left))
    }

    /// Returns the range of a root.
    fn range(&self, dir: &Dir) -> Option<&Bounds> {
        match self.ranges.is_empty() || dir.entry_depth() != 1 {
            true => None,
            false => self.ranges.get(dir.name()),
        }
    }
}

impl Sink for TaskSink {
    fn want(&self) -> Want {
        self.table.want()
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        self.table.enter(entering)
    }

    fn judges(&self) -> bool {
        true
    }

    fn judge(&mut self, dir: &Dir, entry: EntryRef<'_>) -> Verdict {
        match self.range(dir) {
            Some(range) if !range.contain(entry.name.as_encoded_bytes()) => Verdict::Drop,
            _ => Verdict::Keep,
        }
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        self.table.visit(visit)
    }

    fn leave(&mut self, dir: &Dir) {
        if self.range(dir).is_some_and(|range| !range.has_directory()) {
            let _ = self.table.omit(dir, SkipReason::LeftOver.into());
        }
        self.table.leave(dir);
    }

    fn omit(&mut self, dir: &Dir, mut omission: Omission<'_>) -> Flow {
        if let Omission::Skipped { reason: SkipReason::LargeDirectory, .. } = omission {
            self.left.large.insert(dir.path());
            // For programs that read parts there is no difference: another part has it.
            omission = SkipReason::LeftOver.into();
        }
        if matches!(omission, Omission::Skipped { reason: SkipReason::LeftOver, .. })
            && self.range(dir).is_some()
        {
            self.left.ranges.insert(dir.name().to_owned());
        }
        self.table.omit(dir, omission)
    }

    fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    fn merge(&mut self, other: Self) {
        self.table.merge(other.table);
        self.left.large.extend(other.left.large);
        self.left.ranges.extend(other.left.ranges);
    }
}
