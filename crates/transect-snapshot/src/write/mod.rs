//! Writes a table as a snapshot.
//!
//! ```text
//! table ─► outline: rows in tree order, rows below each directory, digests
//!       ─► pages of 8,192 rows ─► threads: columns, encoded
//!       ─► row groups of 131,072 rows, appended to the file in order ─► index of names, footer
//! ```

mod bounds;
mod column;
mod columns;
mod dictionary;
mod encodings;
mod error;
mod file;
mod footer;
mod name_index;
mod outline;
mod page;
mod parallel;
mod thrift;

use std::io::Write;

use transect::Cancel;
use transect::table::Table;

use crate::linked_blocks::{self, LINKED_BLOCK_ROWS};
use crate::metadata::Metadata;
use crate::schema::PAGE_ROWS;

pub use error::WriteError;

use file::FileWriter;
use outline::Outline;

const _: () = assert!(PAGE_ROWS as u64 == LINKED_BLOCK_ROWS, "a block has the rows of a page");

/// The maximum number of threads that encode.
const MAX_THREADS: usize = 8;

/// Writes a table as a snapshot. Rows are encoded on as many threads as there are processors, at most
/// eight; the bytes are the same for any number. Memory is needed for 20 bytes per entry, 28 per directory, and a
/// few row groups as they are in the file.
///
/// # Errors
/// The output fails, or `cancel` is set. What was written until then is not a snapshot.
pub fn write(
    table: &Table,
    metadata: &Metadata,
    cancel: &Cancel,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    write_on(threads.min(MAX_THREADS), table, metadata, cancel, out)
}

fn write_on(
    threads: usize,
    table: &Table,
    metadata: &Metadata,
    cancel: &Cancel,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    if cancel.is_cancelled() {
        return Err(WriteError::Cancelled);
    }
    let outline = Outline::of(table, threads);
    let mut file = FileWriter::new(out).map_err(WriteError::Output)?;
    let append = |rows, columns| file.append(rows, columns);
    let findings = parallel::encode(table, &outline, threads, cancel, append)?;
    let rows = outline.rows.len();
    let linked: Vec<bool> = findings.iter().map(|page| page.is_linked).collect();
    let linked = linked_blocks::text(rows as u64, &linked);
    if parallel::is_indexed(&outline) {
        let names: Vec<Vec<u8>> = findings.into_iter().map(|page| page.names).collect();
        let index = name_index::encode(rows, names.concat());
        file.append_name_index(&index).map_err(WriteError::Output)?;
    }
    let json = serde_json::to_string(metadata).map_err(|error| WriteError::Encode(error.into()))?;
    file.finish(&json, &linked).map_err(WriteError::Output)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use transect::table::TableImporter;
    use transect::{Attributes, FieldMask, FileType};

    use super::*;
    use crate::schema::GROUP_ROWS;

    /// Returns a tree of more than one row group, with directories of all sizes.
    fn table() -> Table {
        let mut importer = TableImporter::new(FieldMask::MTIME | FieldMask::MODE);
        importer.enter(OsStr::new("/root"), &Attributes::of_type(FileType::Directory));
        let mut rows = 1;
        let mut seed = 1_u64;
        while rows <= GROUP_ROWS {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let files = if seed >> 60 == 0 { 9000 } else { seed >> 58 };
            let directory = Attributes::of_type(FileType::Directory);
            importer.enter(OsStr::new(&format!("{rows:06}")), &directory);
            for file in 0..files {
                let mut of = Attributes::of_type(FileType::File);
                of.set_size(seed ^ file);
                of.set_mtime((seed.rotate_left(file as u32)) as i64);
                of.set_mode(file as u16);
                importer.add_entry(OsStr::new(&format!("{file:05}")), &of);
            }
            importer.leave().expect("names differ");
            rows += 1 + files as usize;
        }
        importer.finish().expect("few entries")
    }

    #[test]
    fn write_on_any_number_of_threads_makes_the_same_bytes() {
        let table = table();
        let written = |threads| {
            let mut bytes = Vec::new();
            let metadata = Metadata::default();
            write_on(threads, &table, &metadata, &Cancel::new(), &mut bytes).expect("memory");
            bytes
        };
        let one = written(1);
        for threads in [2, 3, 8] {
            assert!(written(threads) == one, "{threads} threads");
        }
    }
}
