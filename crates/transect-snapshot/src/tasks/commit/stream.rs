//! The second pass over the parts: their rows, page by page, with what the first pass found.

use std::io;
use std::ops::Range;

use transect::{Cancel, FieldMask, FileType};

use super::graft::Graft;
use super::links::Bytes;
use super::outline::{Outline, SIZES};
use super::spine::Totals;
use super::{Commit, Resources};
use crate::tasks::TaskError;
use crate::write::{DirectoryValues, PageColumns, ParentPaths, RowValues};

/// The rows of the whole tree.
pub(super) struct RowStream<'c> {
    graft: Graft<'c>,
    outline: Outline,
    fields: FieldMask,
    paths: ParentPaths,
    cancel: &'c Cancel,
    resources: &'c Resources,
}

impl<'c> RowStream<'c> {
    /// Returns the rows, before the first one.
    pub(super) fn new(
        commit: &'c Commit,
        outline: Outline,
        resources: &'c Resources,
        cancel: &'c Cancel,
    ) -> Self {
        let graft = Graft::new(commit, resources.open_parts);
        let (fields, paths) = (commit.fields() | SIZES, ParentPaths::default());
        Self { graft, outline, fields, paths, cancel, resources }
    }

    /// Returns the next page, of which these are the rows.
    pub(super) fn page(&mut self, rows: Range<usize>) -> Result<PageColumns, TaskError> {
        let mut columns = PageColumns::new();
        columns.clear(rows.len());
        self.paths.begin_page();
        for index in 0..rows.len() {
            if !self.graft.advance(true)? {
                return Err(changed());
            }
            let failed = |error| self.resources.failed(error);
            self.set(index, &mut columns).map_err(failed)?;
        }
        if self.cancel.is_cancelled() {
            return Err(TaskError::Cancelled);
        }
        // Errors of columns show when the next row is read.
        if rows.end as u64 == self.outline.rows && self.graft.advance(true)? {
            return Err(changed());
        }
        Ok(columns)
    }

    /// Sets the values of the current row.
    fn set(&mut self, index: usize, columns: &mut PageColumns) -> io::Result<()> {
        let Self { graft, outline, fields, paths, .. } = self;
        let (rows, row) = (graft.rows(), graft.row());
        let attributes = &rows.attributes_of(*fields);
        let of = RowValues {
            name: graft.name(),
            depth: graft.level() as u32,
            attributes,
            directory: None,
        };
        if attributes.file_type() != FileType::Directory {
            columns.set(index, &of, paths);
            return Ok(());
        }
        let (totals, digest) = match outline.spine.get(row)? {
            Some(computed) => computed,
            None => {
                let stored = rows.totals().unwrap_or_default();
                (Totals::stored(stored, rows.newest()), rows.digest().unwrap_or_default())
            }
        };
        let end = row.saturating_add(totals.entries);
        let changed = outline.changes.between(row, end)?;
        let (unread, digest) = (rows.unread(), &digest);
        let directory = Some(directory(&totals, changed, unread, digest));
        columns.set(index, &RowValues { directory, ..of }, paths);
        Ok(())
    }
}

fn directory<'d>(
    of: &Totals,
    (apparent, allocated): Bytes,
    unread: Option<&'static str>,
    digest: &'d crate::Digest,
) -> DirectoryValues<'d> {
    DirectoryValues {
        entries: of.entries,
        files: of.files,
        directories: of.directories,
        apparent: saturate(of.apparent, apparent),
        allocated: saturate(of.allocated, allocated),
        newest: of.newest,
        errors: of.errors,
        unread,
        digest,
    }
}

/// Returns a sum of bytes as it is stored: `u64::MAX` means that much or more.
fn saturate(bytes: u128, change: i128) -> u64 {
    u64::try_from(bytes.saturating_add_signed(change)).unwrap_or(u64::MAX)
}

fn changed() -> TaskError {
    TaskError::Invalid("the parts changed while they were read".to_owned())
}
