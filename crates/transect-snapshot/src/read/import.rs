//! Reads a snapshot into a table.

use transect::table::{Table, TableImporter};
use transect::{Diagnostics, FieldMask, FileType, Operation, SkipReason};
use transect_sys::{ReadAt, name_from_bytes};

use crate::metadata::Metadata;
use crate::stored_error::StoredError;

use super::Snapshot;
use super::error::{ReadError, damaged};
use super::words::{fault_kind, unread_reason};

/// What every table needs of its entries: totals, and which names are one file.
const TOTALS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::NLINK);

impl<S: ReadAt> Snapshot<S> {
    /// Reads all rows into a table with these columns, besides names, types and both sizes.
    ///
    /// Memory grows with the number of entries and the lengths of their names.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has more entries than a table can hold.
    pub fn table(&self, columns: FieldMask) -> Result<Table, ReadError> {
        let mut importer = TableImporter::new(columns);
        let mut rows = self.rows();
        // The errors in and below the open directories, without those of directories below them.
        let mut errors: Vec<u64> = Vec::new();
        while rows.advance(true)? {
            let depth = rows.depth() as usize;
            while importer.depth() > depth {
                leave(&mut importer, &mut errors)?;
            }
            let name = name_from_bytes(rows.name().to_vec());
            let attributes = rows.attributes_of(columns | TOTALS);
            if attributes.file_type() != FileType::Directory {
                importer.add_entry(&name, &attributes);
                continue;
            }
            let own = rows.errors().unwrap_or(0);
            if let Some(above) = errors.last_mut() {
                *above = above.saturating_sub(own);
            }
            importer.enter(&name, &attributes);
            errors.push(own);
            if let Some(word) = rows.unread() {
                importer.mark_unread(unread_reason(word));
            }
        }
        while importer.depth() > 0 {
            leave(&mut importer, &mut errors)?;
        }
        importer.set_diagnostics(self.metadata().diagnostics());
        importer.finish().map_err(ReadError::Table)
    }
}

fn leave(importer: &mut TableImporter, errors: &mut Vec<u64>) -> Result<(), ReadError> {
    // Each costs memory; a count that no walk can reach is a claim.
    let own = errors.pop().unwrap_or(0).min(1 << 20);
    importer.count_errors(own);
    importer.leave().or_else(|name| damaged(format!("'{}' is there twice", name.display())))
}

impl Metadata {
    /// Returns what the walk left out or could not read. Of many errors, only the first have paths.
    pub fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::new(0);
        diagnostics.errors = self.errors;
        diagnostics.vanished = self.vanished;
        let listed = self.error_list.iter().filter_map(StoredError::to_scan_error);
        // A file that lists more than it counts is not right.
        diagnostics.kept_errors =
            listed.take(usize::try_from(self.errors).unwrap_or(usize::MAX)).collect();
        for &operation in Operation::ALL {
            for (kind, &count) in self.errors_by.get(operation.as_str()).into_iter().flatten() {
                *diagnostics.errors_by.entry((operation, fault_kind(kind))).or_default() += count;
            }
        }
        for &skip in SkipReason::ALL {
            if let Some(&count) = self.skipped.get(skip.as_str()) {
                diagnostics.skipped.insert(skip, count);
            }
        }
        diagnostics
    }
}
