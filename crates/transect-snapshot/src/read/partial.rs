//! The largest directories as a table that is not complete: a view shows it until all rows are read.

use transect::FieldMask;
use transect::table::{PartialDirectory, PartialTable};
use transect_sys::{ReadAt, name_from_bytes};

use super::Snapshot;
use super::error::ReadError;
use super::largest::{LargestLimits, StoredMeasure};
use super::rows::StoredTotals;

/// A directory, and what is in it beside the other directories.
struct LargeDirectory {
    parent: Option<u32>,
    name: std::ffi::OsString,
    own: transect::Attributes,
    rest: StoredTotals,
    /// The newest change in the rest; `None` if it is not known, as a change elsewhere is as new.
    rest_newest: Option<i64>,
}

impl<S: ReadAt> Snapshot<S> {
    /// Returns the root and the some `count` directories in it that occupy most, as a table that is not complete: other
    /// entries only count in the totals. With `nested`, also as many at any depth, which takes longer.
    ///
    /// Returns `None` if only a table of all rows has the answer, as [`Snapshot::largest_directories`] does.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn partial_table(
        &self,
        columns: FieldMask,
        count: usize,
        nested: bool,
    ) -> Result<Option<PartialTable>, ReadError> {
        let mut rows = self.rows();
        if !rows.advance(true)? || rows.entries() != self.len() {
            return Ok(None);
        }
        let mut limits = LargestLimits::new(count);
        let mut largest = Vec::new();
        for depth in [Some(1), None].into_iter().take(1 + usize::from(nested)) {
            limits.depth = depth;
            let Some(some) = self.candidates(StoredMeasure::DiskUsage, &limits)? else {
                return Ok(None);
            };
            largest.extend(some.iter().map(|directory| directory.row));
        }
        largest.sort_unstable();
        largest.dedup();
        let mut directories: Vec<LargeDirectory> = Vec::new();
        // The directories above the current one.
        let mut open: Vec<usize> = Vec::new();
        let mut rows = self.rows();
        for row in largest {
            rows.skip_to(row)?;
            let Some(totals) = rows.totals() else { return Ok(None) };
            let own = rows.attributes_of(columns | FieldMask::ALLOCATED);
            let newest = rows.newest();
            open.truncate(rows.depth() as usize);
            let parent = open.last().copied();
            if let Some(above) = parent {
                let above = &mut directories[above];
                // A file that claims more below a directory than in it is damaged: all of it must be read.
                let Some(less) = without(above.rest, totals) else { return Ok(None) };
                above.rest = less;
                above.rest_newest.take_if(|time| Some(*time) <= newest);
            }
            let itself = StoredTotals {
                entries: 1,
                directories: 1,
                allocated: own.allocated().unwrap_or(0),
                ..StoredTotals::default()
            };
            let Some(rest) = without(totals, itself) else { return Ok(None) };
            open.push(directories.len());
            let parent = parent.and_then(|parent| u32::try_from(parent).ok());
            let name = name_from_bytes(rows.name().to_vec());
            let rest_newest = newest.filter(|time| Some(*time) > own.mtime());
            directories.push(LargeDirectory { parent, name, own, rest, rest_newest });
        }
        rows.check_columns()?;
        let directories = directories.iter().map(|of| PartialDirectory {
            parent: of.parent,
            name: &of.name,
            own: of.own,
            unlisted: of.rest.of_subtree(of.rest_newest),
        });
        Ok(Some(PartialTable::of(columns, directories)))
    }
}

fn without(all: StoredTotals, part: StoredTotals) -> Option<StoredTotals> {
    Some(StoredTotals {
        entries: all.entries.checked_sub(part.entries)?,
        files: all.files.checked_sub(part.files)?,
        directories: all.directories.checked_sub(part.directories)?,
        apparent: all.apparent.checked_sub(part.apparent)?,
        allocated: all.allocated.checked_sub(part.allocated)?,
        errors: all.errors,
    })
}
