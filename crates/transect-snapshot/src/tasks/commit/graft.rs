//! Puts the rows of the parts together, row by row.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;

use transect::table::{Table, TableImporter};
use transect::{FieldMask, FileType, SkipReason};
use transect_sys::name_from_bytes;

use super::Commit;
use super::parts::{PartFile, Place, inconsistent, part_of};
use crate::read::words::unread_reason;
use crate::read::{ReadError, RowReader};
use crate::tasks::{Item, StoredPath, TaskError, read_error};

/// The number of parts that stay open for the next of their roots.
const OPEN_PARTS: usize = 16;

/// What all tables need: totals, and which names are one file.
const TOTALS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::NLINK);

/// A part whose rows are being read.
struct Frame<'c> {
    part: usize,
    rows: RowReader<'c, PartFile>,
    /// The depth of its root in the tree.
    base: usize,
    /// The name of its root in the tree.
    name: Option<OsString>,
}

/// Puts parts together, row by row.
pub(super) struct Graft<'c> {
    commit: &'c Commit,
    importer: TableImporter,
    fields: FieldMask,
    /// The parts that are being read: each continues when the next one has ended.
    frames: Vec<Frame<'c>>,
    /// Readers of parts that were read before, the last one last.
    closed: VecDeque<(usize, RowReader<'c, PartFile>)>,
    /// For each open directory its part, and the errors in and below it in that part, without those of directories
    /// below it.
    errors: Vec<(usize, u64)>,
    /// The path from the root, and where each open directory of it ends.
    path: PathBuf,
    root: usize,
    /// The number of directories that were left over and have been come to. A part cannot have one twice:
    /// the names in a directory are sorted.
    placed: usize,
}

impl<'c> Graft<'c> {
    pub(super) fn new(commit: &'c Commit) -> Self {
        let fields = commit.fields();
        let rows = commit.parts[0].snapshot.rows();
        Self {
            commit,
            importer: TableImporter::new(fields),
            fields: fields | TOTALS,
            frames: vec![Frame { part: 0, rows, base: 0, name: None }],
            closed: VecDeque::new(),
            errors: Vec::new(),
            path: PathBuf::new(),
            root: 0,
            placed: 0,
        }
    }

    /// Goes on with the next row, and returns whether there is one.
    pub(super) fn advance(&mut self) -> Result<bool, TaskError> {
        let Some(frame) = self.frames.last_mut() else { return Ok(false) };
        let part = frame.part;
        let failed = |error: ReadError| read_error(&self.commit.parts[part].path, error);
        if frame.rows.advance().map_err(failed)? {
            self.add().map(|()| true)
        } else if let Some(Frame { part, rows, .. }) = self.frames.pop() {
            self.closed.push_back((part, rows));
            if self.closed.len() > OPEN_PARTS {
                self.closed.pop_front();
            }
            Ok(true)
        } else {
            Ok(false)
        }
    }

    /// Adds the current row to the table, or begins with the part that read it.
    fn add(&mut self) -> Result<(), TaskError> {
        let frame = self.frames.last_mut().expect("BUG: there is a current row");
        let (part, rows) = (frame.part, &frame.rows);
        let level = frame.base + rows.depth() as usize;
        let name = frame.name.take().unwrap_or_else(|| name_from_bytes(rows.name().to_vec()));
        let is_left_over = rows.file_type() == FileType::Directory
            && rows.unread() == Some(SkipReason::LeftOver.as_str());
        let attributes = rows.attributes_of(self.fields);
        let (own_errors, unread) = (rows.errors().unwrap_or(0), rows.unread());
        while self.importer.depth() > level {
            self.leave()?;
        }
        if level == 0 {
            self.root = self.root_of(&name)?;
        }
        if is_left_over {
            return self.begin(part, level, name);
        }
        if attributes.file_type() != FileType::Directory {
            self.importer.add_entry(&name, &attributes);
            return Ok(());
        }
        if let Some((above, errors)) = self.errors.last_mut()
            && *above == part
        {
            *errors = errors.saturating_sub(own_errors);
        }
        self.importer.enter(&name, &attributes);
        self.errors.push((part, own_errors));
        if level > 0 {
            self.path.push(&name);
        }
        if let Some(word) = unread {
            self.importer.mark_unread(unread_reason(word));
        }
        Ok(())
    }

    /// Begins with the part that read a directory which a part left over, if it was still there.
    fn begin(&mut self, part: usize, level: usize, name: OsString) -> Result<(), TaskError> {
        let path = if level == 0 { PathBuf::new() } else { self.path.join(&name) };
        let item = Item { root: self.root, path: StoredPath::new(&path) };
        self.placed += 1;
        match self.commit.places.get(&(part, item)).copied() {
            Some(Place::Rows { part, first, rows: count }) => {
                let kept = self.closed.iter().position(|(closed, _)| *closed == part);
                let rows = match kept.and_then(|at| self.closed.remove(at)) {
                    Some((_, mut rows)) => {
                        rows.restart(first, first + count);
                        rows
                    }
                    None => self.commit.parts[part].snapshot.rows_of(first, count),
                };
                self.frames.push(Frame { part, rows, base: level, name: Some(name) });
                Ok(())
            }
            Some(Place::Gone) => Ok(()),
            None => {
                let part = &self.commit.parts[part];
                Err(inconsistent(part, &format!("left '{}' over for no task", path.display())))
            }
        }
    }

    fn root_of(&self, name: &OsString) -> Result<usize, TaskError> {
        let first = &self.commit.parts[0];
        let mut roots = part_of(&first.snapshot).roots.iter();
        let root = roots.position(|root| root.to_path().as_os_str() == name);
        root.ok_or_else(|| inconsistent(first, "has a root that its scan does not have"))
    }

    fn leave(&mut self) -> Result<(), TaskError> {
        // Each costs memory; a count that no walk can reach is a claim.
        let (_, own) = self.errors.pop().unwrap_or_default();
        self.importer.count_errors(own.min(1 << 20));
        if self.importer.depth() > 1 {
            self.path.pop();
        }
        self.importer
            .leave()
            .map_err(|name| TaskError::Invalid(format!("two parts have '{}'", name.display())))
    }

    pub(super) fn finish(mut self) -> Result<Table, TaskError> {
        let left = self.commit.places.len() - self.placed;
        if left > 0 {
            let what = format!("{left} directories that were left over are in no part");
            return Err(TaskError::Invalid(what));
        }
        while self.importer.depth() > 0 {
            self.leave()?;
        }
        self.importer.set_diagnostics(self.commit.metadata().diagnostics());
        self.importer.finish().map_err(TaskError::Walk)
    }
}
