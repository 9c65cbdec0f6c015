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
mod file;
mod footer;
mod name_index;
mod outline;
mod page;
mod parallel;
mod thrift;

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use transect::Cancel;
use transect::table::Table;

use crate::linked_blocks::{self, LINKED_BLOCK_ROWS};
use crate::metadata::Metadata;
use crate::schema::PAGE_ROWS;

pub(crate) use columns::{DirectoryValues, PageColumns, ParentPaths, RowValues};
pub(crate) use parallel::PageSource;

use file::FileWriter;
use name_index::NameIndexWriter;
use outline::Outline;

const _: () = assert!(PAGE_ROWS as u64 == LINKED_BLOCK_ROWS, "a block has the rows of a page");

/// The maximum number of threads that encode.
const MAX_THREADS: usize = 8;

/// Writes a table as a snapshot. Rows are encoded on as many threads as there are processors, at most
/// eight; the bytes are the same for any number. Link counts are stored if the metadata have that column, even if the table
/// has not: it has those of files with several names. Memory is needed for 20 bytes per entry, 28 per directory, and a
/// few row groups as they are in the file. Returns the length of the file.
///
/// # Errors
/// The output fails, or `cancel` is set. What was written until then is not a snapshot.
pub fn write(
    table: &Table,
    metadata: &Metadata,
    cancel: &Cancel,
    out: &mut dyn Write,
) -> io::Result<u64> {
    write_on(threads(), table, metadata, cancel, out)
}

pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |threads| threads.get()).min(MAX_THREADS)
}

fn write_on(
    threads: usize,
    table: &Table,
    metadata: &Metadata,
    cancel: &Cancel,
    out: &mut dyn Write,
) -> io::Result<u64> {
    if cancel.is_cancelled() {
        return Err(parallel::interrupted());
    }
    let outline = &Outline::of(table, metadata.fields(), threads);
    let source = PageSource {
        rows: outline.rows.len(),
        next: Ok::<_, io::Error>,
        build: |rows, columns: &mut PageColumns| columns::build(table, outline, rows, columns),
    };
    write_pages(source, threads, metadata, cancel, None, out)
}

/// Writes rows as a snapshot, and returns the length of the file. What is needed again at the end
/// is kept in a temporary file in `folder`, or in memory.
pub(crate) fn write_pages<P: Send, E: From<io::Error>>(
    source: PageSource<
        impl FnMut(Range<usize>) -> Result<P, E>,
        impl Fn(P, &mut PageColumns) + Sync,
    >,
    threads: usize,
    metadata: &Metadata,
    cancel: &Cancel,
    folder: Option<&Path>,
    out: &mut dyn Write,
) -> Result<u64, E> {
    let rows = source.rows;
    let mut file = FileWriter::new(out, folder)?;
    let mut names = parallel::is_indexed(rows).then(|| NameIndexWriter::new(rows, folder));
    let mut linked = Vec::with_capacity(rows.div_ceil(PAGE_ROWS));
    parallel::encode(source, threads, cancel, |group| {
        for page in group.findings {
            linked.push(page.is_linked);
            names.as_mut().map_or(Ok(()), |names| names.add(&page.names))?;
        }
        file.append(group.rows, group.columns.into_iter().flatten())
    })?;
    if let Some(names) = names {
        file.append_name_index(names)?;
    }
    let json = serde_json::to_string(metadata).map_err(io::Error::from)?;
    let linked = linked_blocks::text(rows as u64, &linked);
    Ok(file.finish(&json, &linked)?)
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
