//! Reads the rows of all parts as those of one tree.
//!
//! Where the rows of a part come to a directory that was left over, those of the part that read it follow: its root
//! stands for the directory. If several parts have ranges of its names, the root of the first one does, and of the
//! others only what is below their roots follows. Every part is read forwards.

use std::collections::VecDeque;
use std::path::PathBuf;

use transect::{FileType, SkipReason};
use transect_sys::name_from_bytes;

use super::part_set::PartSet;
use super::parts::inconsistent;
use super::places::Place;
use crate::read::rows::NameStack;
use crate::read::{ReadError, RowReader};
use crate::tasks::{Item, StoredPath, TaskError, part_of, read_error};

/// A part whose rows are being read.
struct Frame<'c> {
    part: usize,
    rows: RowReader<'c>,
    /// The depth of its root in the tree.
    base: usize,
    /// The name of its root in the tree, until that was the current row.
    name: Option<Vec<u8>>,
    /// Another part stands for the directory of its root, whose next range it has.
    is_continued: bool,
    /// The places of the ranges after it.
    ranges: &'c [Place],
}

/// The next range of a directory begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Continued {
    pub(super) level: usize,
    /// The part that has it, and there the row of the directory, and the errors in and below it.
    pub(super) part: usize,
    pub(super) row_in_part: u64,
    pub(super) errors: u64,
}

/// What a step led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The next row is in the same part.
    Row,
    /// The next row is in another part.
    Part,
    /// There are no more rows.
    End,
}

/// What comes before the next row.
enum Pending {
    Nothing,
    /// The current row is a directory that was left over.
    Begin,
    /// The current part has ended.
    End,
}

/// The rows of the tree, one after the other.
pub(super) struct Graft<'c> {
    set: &'c PartSet,
    /// The parts that are being read: each continues when the next one has ended.
    frames: Vec<Frame<'c>>,
    /// Readers of parts that were read before, the last one last: for the next of their roots.
    closed: VecDeque<(usize, RowReader<'c>)>,
    /// The number of readers that keep decoded pages.
    open_parts: usize,
    /// The number of the current row in the tree, and of the next one.
    pub(super) row: u64,
    next: u64,
    /// The number of steps from the root to the current row.
    pub(super) level: usize,
    /// The name of the current row if it is the root of a part.
    root_name: Option<Vec<u8>>,
    /// The names of the directories above the current row, and its own if it is one.
    names: NameStack,
    root: usize,
    pending: Pending,
    /// The number of directories that were left over and have been come to. A part cannot have one twice:
    /// the names in a directory are sorted.
    placed: usize,
    continued: Vec<Continued>,
}

impl<'c> Graft<'c> {
    /// Returns the rows, before the first one. `open_parts` readers keep decoded pages, which take some memory.
    pub(super) fn new(set: &'c PartSet, open_parts: usize) -> Self {
        let first = &set.parts[0].snapshot;
        first.source.keep_open();
        let rows = first.rows();
        let frame = Frame { part: 0, rows, base: 0, name: None, is_continued: false, ranges: &[] };
        Self {
            set,
            frames: vec![frame],
            closed: VecDeque::new(),
            open_parts: open_parts.max(1),
            row: 0,
            next: 0,
            level: 0,
            root_name: None,
            names: NameStack::default(),
            root: 0,
            pending: Pending::Nothing,
            placed: 0,
            continued: Vec::new(),
        }
    }

    /// Goes to the next row, and returns whether there is one. Unless it `enters`, skips everything below the
    /// current one, which must be in one part.
    pub(super) fn advance(&mut self, enters: bool) -> Result<bool, TaskError> {
        loop {
            match self.step(enters)? {
                Step::Row => return Ok(true),
                Step::Part => {}
                Step::End => return Ok(false),
            }
        }
    }

    /// As [`Graft::advance`], but stops before it goes to another part: until the next call, the rows that were read
    /// last can still be read.
    pub(super) fn step(&mut self, mut enters: bool) -> Result<Step, TaskError> {
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing if !enters => {
                let entries = self.frames.last().map_or(0, |frame| frame.rows.entries());
                self.next = self.row.saturating_add(entries);
            }
            Pending::Nothing => {}
            // If the part has no row for the directory that it left over, that is skipped.
            Pending::Begin => enters = self.begin_part()?,
            // Without another range, the directory that this part stood for is skipped.
            Pending::End => enters = self.end_part(),
        }
        while let Some(frame) = self.frames.last_mut() {
            let part = frame.part;
            let failed = |error: ReadError| read_error(&self.set.parts[part].path, error);
            if !frame.rows.advance(enters).map_err(failed)? {
                self.pending = Pending::End;
                return Ok(Step::Part);
            }
            if frame.rows.depth() == 0 && frame.is_continued {
                let (level, rows) = (frame.base, &frame.rows);
                let errors = rows.errors().unwrap_or(0);
                self.continued.push(Continued { level, part, row_in_part: rows.row(), errors });
                enters = rows.file_type() == FileType::Directory;
                continue;
            }
            if frame.rows.depth() == 0 && frame.rows.file_type() != FileType::Directory {
                // It is something else by now: nothing can be in it.
                frame.ranges = &[];
            }
            self.level = frame.base + frame.rows.depth() as usize;
            self.root_name = frame.name.take();
            if self.level == 0 {
                self.root = self.root_of(self.name())?;
            }
            let rows = &self.frames[self.frames.len() - 1].rows;
            if rows.file_type() == FileType::Directory {
                if rows.unread() == Some(SkipReason::LeftOver.as_str()) {
                    self.pending = Pending::Begin;
                    return Ok(Step::Part);
                }
                let name = self.root_name.as_deref().unwrap_or_else(|| rows.name());
                self.names.truncate(self.level);
                self.names.push(name);
            }
            self.row = self.next;
            self.next += 1;
            return Ok(Step::Row);
        }
        Ok(Step::End)
    }

    /// Begins with the part that read the current directory, if that was still there.
    fn begin_part(&mut self) -> Result<bool, TaskError> {
        let (part, level, name) = (self.part(), self.level, self.name().to_vec());
        let mut path = PathBuf::new();
        if level > 0 {
            let above = (1..level).filter_map(|level| self.names.get(level));
            path.extend(above.map(|name| name_from_bytes(name.to_vec())));
            path.push(name_from_bytes(name.clone()));
        }
        let item = Item { root: self.root, path: StoredPath::new(&path), names: None };
        self.placed += 1;
        let set = self.set;
        match set.places.get(&(part, item)).map(Vec::as_slice) {
            Some(&[Place::Rows { part, first, rows: count }, ref ranges @ ..]) => {
                let rows = self.reader(part, first, count);
                let (name, is_continued) = (Some(name), false);
                self.frames.push(Frame { part, rows, base: level, name, is_continued, ranges });
                // Of parts in parts in parts only the last ones keep their pages.
                if let Some(above) = self.frames.len().checked_sub(self.open_parts + 1) {
                    let Frame { part, rows, .. } = &mut self.frames[above];
                    rows.release();
                    self.set.parts[*part].snapshot.source.close();
                }
                Ok(true)
            }
            Some(_) => Ok(false),
            None => {
                let part = &self.set.parts[part];
                Err(inconsistent(part, &format!("left '{}' over for no task", path.display())))
            }
        }
    }

    fn reader(&mut self, part: usize, first: u64, count: u64) -> RowReader<'c> {
        let kept = self.closed.iter().position(|(closed, _)| *closed == part);
        match kept.and_then(|at| self.closed.remove(at)) {
            Some((_, mut rows)) => {
                rows.restart(first, first + count);
                rows
            }
            None => {
                let snapshot = &self.set.parts[part].snapshot;
                snapshot.source.keep_open();
                snapshot.rows_of(first, count)
            }
        }
    }

    /// Ends with the current part, and begins with the next range of its directory. Returns whether there is one.
    fn end_part(&mut self) -> bool {
        let Some(Frame { part, rows, base, mut ranges, .. }) = self.frames.pop() else {
            return false;
        };
        if let Some(above) = self.frames.last() {
            self.set.parts[above.part].snapshot.source.keep_open();
        }
        self.closed.push_back((part, rows));
        if self.closed.len() > self.open_parts
            && let Some((part, _)) = self.closed.pop_front()
        {
            self.set.parts[part].snapshot.source.close();
        }
        while let [range, others @ ..] = ranges {
            ranges = others;
            if let &Place::Rows { part, first, rows: count } = range {
                let rows = self.reader(part, first, count);
                let (name, is_continued) = (None, true);
                self.frames.push(Frame { part, rows, base, name, is_continued, ranges });
                return true;
            }
        }
        false
    }

    fn root_of(&self, name: &[u8]) -> Result<usize, TaskError> {
        let first = &self.set.parts[0];
        let name = name_from_bytes(name.to_vec());
        let mut roots = part_of(&first.snapshot).roots.iter();
        let root = roots.position(|root| root.to_path().as_os_str() == name);
        root.ok_or_else(|| inconsistent(first, "has a root that its scan does not have"))
    }

    /// Returns the name of the current row; of a root, its path.
    pub(super) fn name(&self) -> &[u8] {
        self.root_name.as_deref().unwrap_or_else(|| self.rows().name())
    }

    /// Returns whether the current row is the root of a part.
    pub(super) fn is_root_of_part(&self) -> bool {
        self.root_name.is_some() || self.level == 0
    }

    /// Returns whether the current row is a directory whose names are divided among parts.
    pub(super) fn is_divided(&self) -> bool {
        self.root_name.is_some() && !self.frame().ranges.is_empty()
    }

    /// Removes and returns the ranges that began since the last call.
    pub(super) fn take_continued(&mut self) -> Vec<Continued> {
        std::mem::take(&mut self.continued)
    }

    /// Returns the number, in the current part, of the row that follows the last one read.
    pub(super) fn row_in_part_behind(&self) -> u64 {
        match self.pending {
            Pending::Nothing => self.rows().row() + 1,
            Pending::Begin | Pending::End => self.rows().row(),
        }
    }

    /// Returns the number of the part that has the current row.
    pub(super) fn part(&self) -> usize {
        self.frame().part
    }

    /// Returns the current row of that part. Only its name is that in the part.
    pub(super) fn rows(&self) -> &RowReader<'c> {
        &self.frame().rows
    }

    fn frame(&self) -> &Frame<'c> {
        self.frames.last().expect("BUG: there is a current row")
    }

    /// Returns the number of directories that were left over and are in no part, at the end.
    pub(super) fn missing(&self) -> usize {
        self.set.places.len() - self.placed
    }
}
