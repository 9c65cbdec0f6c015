//! The first pass over the parts: what must be known before the first row is written.
//!
//! A part has the totals and the digests of its directories. Anew are only those computed that have something of another
//! part in them, here called the spine, and what files with several names change. So of most directories one
//! row is read, and everything below it skipped.

use std::io;

use transect::{Cancel, FieldMask, FileType};

use super::graft::{Continued, Graft};
use super::limits::Resources;
use super::linked_rows::LinkedRowsOfParts;
use super::links::{Changes, LinkedName, LinkedNames, NamePlace};
use super::part_set::PartSet;
use super::parts::OpenPart;
use super::spine::{OpenSpine, Spine, SpineReader, Totals};
use crate::read::StoredTotals;
use crate::tasks::TaskError;

/// What all totals need.
pub(super) const SIZES: FieldMask = FieldMask::SIZE.union(FieldMask::ALLOCATED);

/// What the first pass over all parts found.
pub(super) struct Outline {
    /// The number of rows of the tree.
    pub(super) rows: u64,
    pub(super) spine: SpineReader,
    pub(super) changes: Changes,
}

/// A directory whose entries are being read.
struct OpenDirectory {
    /// Its row in the whole tree.
    row: u64,
    part: usize,
    row_in_part: u64,
    name: Vec<u8>,
    /// The errors in and below it in that part, without those of directories in it.
    errors: u64,
    /// `None` if it is complete in its part, and read only for the names in it.
    spine: Option<OpenSpine>,
}

struct Outliner<'c> {
    set: &'c PartSet,
    graft: Graft<'c>,
    fields: FieldMask,
    open: Vec<OpenDirectory>,
    spine: Spine,
    links: LinkedNames,
    linked_rows: LinkedRowsOfParts<'c>,
    resources: &'c Resources,
}

/// Reads what is needed of all parts.
pub(super) fn outline(
    set: &PartSet,
    resources: &Resources,
    cancel: &Cancel,
) -> Result<Outline, TaskError> {
    let Resources { folder, sort_memory, open_parts, .. } = resources;
    let mut outliner = Outliner {
        set,
        graft: Graft::new(set, *open_parts),
        fields: set.fields() | SIZES,
        open: Vec::new(),
        spine: Spine::new(folder, *sort_memory),
        links: LinkedNames::new(folder, *sort_memory),
        linked_rows: LinkedRowsOfParts::new(set, *open_parts),
        resources,
    };
    let rows = outliner.read(cancel)?;
    let Outliner { spine, links, .. } = outliner;
    let failed = |error: io::Error| resources.failed(error);
    Ok(Outline {
        rows,
        spine: spine.in_order().map_err(failed)?,
        changes: links.changes().map_err(failed)?,
    })
}

impl Outliner<'_> {
    fn read(&mut self, cancel: &Cancel) -> Result<u64, TaskError> {
        let (mut rows, mut enters) = (0, true);
        while self.graft.advance(enters)? {
            if cancel.is_cancelled() {
                return Err(TaskError::Cancelled);
            }
            self.continue_divided()?;
            self.leave_to(self.graft.level)?;
            (rows, enters) = self.add()?;
            // Rows have numbers of 32 bits.
            if rows > u64::from(u32::MAX) {
                return Err(TaskError::Walk(transect::Error::TooManyEntries));
            }
        }
        self.continue_divided()?;
        self.leave_to(0)?;
        match self.graft.missing() {
            0 => Ok(rows),
            left => {
                let what = format!("{left} directories that were left over are in no part");
                Err(TaskError::Invalid(what))
            }
        }
    }

    /// Adds the current row. Returns the number of rows up to it, or with everything below it if that is not
    /// entered, and whether it is.
    fn add(&mut self) -> Result<(u64, bool), TaskError> {
        let row = self.graft.row;
        match self.graft.rows().file_type() {
            FileType::Directory => {
                let entries = self.graft.rows().entries();
                let enters = self.add_directory()?;
                Ok((if enters { row + 1 } else { row.saturating_add(entries) }, enters))
            }
            _ => {
                self.add_name().map_err(|error| self.resources.failed(error))?;
                let (graft, fields) = (&self.graft, self.fields);
                if let Some(OpenDirectory { spine: Some(spine), .. }) = self.open.last_mut() {
                    spine.add(graft.name(), &graft.rows().attributes_of(fields), None);
                }
                Ok((row + 1, true))
            }
        }
    }

    /// Records the name of a file that may have others.
    fn add_name(&mut self) -> io::Result<()> {
        let (rows, part) = (self.graft.rows(), self.graft.part());
        if rows.attributes_of(FieldMask::NLINK).nlink() == Some(1) {
            return Ok(());
        }
        let attributes = rows.attributes_of(FieldMask::FILE_ID | SIZES);
        let Some(id) = attributes.file_id() else { return Ok(()) };
        // Rows of a file are numbered with 32 bits; the tree is checked.
        let place = |parent: Option<u64>, row: u64| NamePlace {
            parent: parent.map_or(0, |row| row as u32 + 1),
            row: row as u32,
        };
        let parent = self.open.last();
        let of_part = parent.filter(|_| !self.graft.is_root_of_part());
        self.links.add(LinkedName {
            id,
            place: place(parent.map(|it| it.row), self.graft.row),
            in_part: place(of_part.map(|it| it.row_in_part), rows.row()),
            part: part as u32,
            is_charged_by_part: parent.is_some_and(|it| it.spine.is_none()),
            size: attributes.size().unwrap_or(0),
            allocated: attributes.allocated().unwrap_or(0),
        })
    }

    /// Adds a directory, and returns whether it is entered.
    fn add_directory(&mut self) -> Result<bool, TaskError> {
        let (graft, rows) = (&self.graft, self.graft.rows());
        let part: &OpenPart = &self.set.parts[graft.part()];
        let below = rows.row() + 1..rows.row().saturating_add(rows.entries());
        let errors = rows.errors().unwrap_or(0);
        let mut is_complete = self.open.last().is_some_and(|above| above.spine.is_none());
        let mut spine = None;
        if !is_complete {
            let stored = rows.totals().unwrap_or_default();
            let is_whole = !part.leaves_over(&below) && !graft.is_divided();
            is_complete = is_whole && !is_saturated(&stored);
            let attributes = rows.attributes_of(self.fields);
            let above = self.open.last_mut();
            if let Some(above) = above {
                if above.part == graft.part() && !graft.is_root_of_part() {
                    above.errors = above.errors.saturating_sub(errors);
                }
                if let Some(above) = &mut above.spine {
                    match is_complete {
                        true => {
                            let totals = Totals::stored(stored, rows.newest());
                            let digest = rows.digest().unwrap_or_default();
                            above.add(graft.name(), &attributes, Some((&totals, &digest)));
                        }
                        false => above.pause(),
                    }
                }
            }
            spine = (!is_complete).then(|| OpenSpine::new(attributes, rows.unread()));
        }
        if is_complete {
            let linked = self.linked_rows.next(graft.part(), below.start)?;
            if linked.is_none_or(|row| row >= below.end) {
                return Ok(false);
            }
        }
        self.open.push(OpenDirectory {
            row: graft.row,
            part: graft.part(),
            row_in_part: rows.row(),
            // Only the spine needs it.
            name: if is_complete { Vec::new() } else { graft.name().to_vec() },
            errors,
            spine,
        });
        Ok(true)
    }

    /// Continues with directories whose names are divided, where they are in the next part.
    fn continue_divided(&mut self) -> Result<(), TaskError> {
        for Continued { level, part, row_in_part, errors } in self.graft.take_continued() {
            self.leave_to(level + 1)?;
            let open = self.open.last_mut().expect("BUG: a divided directory is of the spine");
            (open.part, open.row_in_part) = (part, row_in_part);
            open.errors = open.errors.saturating_add(errors);
        }
        Ok(())
    }

    /// Leaves the directories from this level on.
    fn leave_to(&mut self, level: usize) -> Result<(), TaskError> {
        while self.open.len() > level
            && let Some(OpenDirectory { row, name, errors, spine, .. }) = self.open.pop()
        {
            let Some(spine) = spine else { continue };
            let (attributes, totals, digest) = spine.finish(errors);
            let added = self.spine.add(row, &totals, &digest);
            added.map_err(|error| self.resources.failed(error))?;
            if let Some(OpenDirectory { spine: Some(above), .. }) = self.open.last_mut() {
                above.add(&name, &attributes, Some((&totals, &digest)));
            }
        }
        Ok(())
    }
}

/// Returns whether a sum of bytes is so large that it is not known.
fn is_saturated(totals: &StoredTotals) -> bool {
    totals.apparent == u64::MAX || totals.allocated == u64::MAX
}
