//! The second pass over the parts: their rows, page by page, with what the first pass found.
//!
//! Attributes are copied column by column, as many rows at a time as follow each other in a page of a part. Everything
//! else depends on where a row is.

use std::io;
use std::ops::Range;

use transect::{Cancel, FieldMask, FileType};

use super::graft::{Graft, Step};
use super::limits::Resources;
use super::outline::{Outline, SIZES};
use super::part_set::PartSet;
use super::spine::Totals;
use crate::attribute_columns::ATTRIBUTES;
use crate::read::{ReadError, StoredTotals};
use crate::schema::Column;
use crate::tasks::{TaskError, read_error};
use crate::write::{DirectoryValues, PageColumns, ParentPaths, RowValues};

/// The rows of the whole tree.
pub(super) struct RowStream<'c> {
    set: &'c PartSet,
    graft: Graft<'c>,
    outline: Outline,
    fields: FieldMask,
    paths: ParentPaths,
    cancel: &'c Cancel,
    resources: &'c Resources,
}

/// A page that is being filled.
struct Page {
    columns: PageColumns,
    /// Whether each row that was read is a directory.
    directories: Vec<bool>,
    /// The number of rows whose attributes are copied.
    copied: usize,
}

impl<'c> RowStream<'c> {
    /// Returns the rows, before the first one.
    pub(super) fn new(
        set: &'c PartSet,
        outline: Outline,
        resources: &'c Resources,
        cancel: &'c Cancel,
    ) -> Self {
        let graft = Graft::new(set, resources.open_parts);
        let (fields, paths) = (set.fields() | SIZES, ParentPaths::default());
        Self { set, graft, outline, fields, paths, cancel, resources }
    }

    /// Returns the next page, of which these are the rows.
    pub(super) fn page(&mut self, rows: Range<usize>) -> Result<PageColumns, TaskError> {
        let directories = Vec::with_capacity(rows.len());
        let mut page = Page { columns: PageColumns::new(), directories, copied: 0 };
        page.columns.clear(rows.len());
        self.paths.begin_page();
        while page.directories.len() < rows.len() {
            match self.graft.step(true)? {
                Step::Row => {}
                Step::Part => {
                    self.copy_attributes(&mut page)?;
                    continue;
                }
                Step::End => return Err(changed()),
            }
            self.set(&mut page).map_err(|error| self.resources.failed(error))?;
            if self.graft.rows().ends_pages() {
                self.copy_attributes(&mut page)?;
            }
        }
        self.copy_attributes(&mut page)?;
        if self.cancel.is_cancelled() {
            return Err(TaskError::Cancelled);
        }
        // Errors of columns show when the next row is read.
        if rows.end as u64 == self.outline.rows && self.graft.advance(true)? {
            return Err(changed());
        }
        Ok(page.columns)
    }

    /// Copies the attributes of the rows that were read last.
    fn copy_attributes(&self, page: &mut Page) -> Result<(), TaskError> {
        let Page { columns, directories, copied } = page;
        let first = std::mem::replace(copied, directories.len());
        let directories = &directories[first..];
        if directories.is_empty() {
            return Ok(());
        }
        let rows = self.graft.rows();
        let end = self.graft.row_in_part_behind();
        let of_part = end - directories.len() as u64..end;
        let failed = |error: ReadError| read_error(&self.set.parts[self.graft.part()].path, error);
        let stored = ATTRIBUTES.iter().filter(|(field, ..)| self.fields.contains(*field));
        for &(_, column, _) in stored {
            let mut index = first;
            rows.numbers(column, of_part.clone(), |numbers| {
                columns.numbers(column, index, &numbers);
                index += numbers.values.len();
            })
            .map_err(failed)?;
        }
        let mut of_rows = directories.iter();
        rows.numbers(Column::Nlink, of_part, |numbers| {
            // Without an early exit, many rows are checked at once.
            for (count, &is_directory) in numbers.rows().zip(&mut of_rows) {
                columns.is_linked |= !is_directory & (count != Some(1));
            }
        })
        .map_err(failed)
    }

    /// Sets the values of the current row, without its attributes.
    fn set(&mut self, page: &mut Page) -> io::Result<()> {
        let Self { graft, outline, paths, .. } = self;
        let (rows, row) = (graft.rows(), graft.row);
        let file_type = rows.file_type();
        let of =
            RowValues { name: graft.name(), depth: graft.level as u32, file_type, directory: None };
        let index = page.directories.len();
        page.directories.push(file_type == FileType::Directory);
        if file_type != FileType::Directory {
            page.columns.set(index, &of, paths);
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
        let (apparent, allocated) = outline.changes.between(row, end)?;
        let Totals { entries, files, directories, newest, errors, .. } = totals;
        let totals = StoredTotals {
            entries,
            files,
            directories,
            apparent: saturate(totals.apparent, apparent),
            allocated: saturate(totals.allocated, allocated),
            errors,
        };
        let unread = rows.unread();
        let directory = Some(DirectoryValues { totals, newest, unread, digest: &digest });
        page.columns.set(index, &RowValues { directory, ..of }, paths);
        Ok(())
    }
}

/// Returns a sum of bytes as it is stored: `u64::MAX` means that much or more.
fn saturate(bytes: u128, change: i128) -> u64 {
    u64::try_from(bytes.saturating_add_signed(change)).unwrap_or(u64::MAX)
}

fn changed() -> TaskError {
    TaskError::Invalid("the parts changed while they were read".to_owned())
}
