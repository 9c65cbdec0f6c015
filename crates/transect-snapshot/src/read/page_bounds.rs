//! The ranges of values of pages, from the indexes at the end of the file: pages without a value that is looked for are
//! not read.
//!
//! Source: `PageIndex.md` and `parquet.thrift` of apache/parquet-format.

use std::ops::Range;

use transect_sys::ReadAt;

use crate::checksum::{Seal, verify};
use crate::schema::Column;

use super::Snapshot;
use super::error::{ReadError, damaged};
use super::footer::{PageIndex, RowGroup};
use super::thrift::{BINARY, Thrift};

/// Rows of a column of unsigned numbers, and what these can be.
#[derive(Clone, Debug)]
pub(super) struct PageBounds {
    pub(super) rows: Range<u64>,
    pub(super) least: u64,
    pub(super) greatest: u64,
    /// Where the page of these rows begins in the file; `None` if they have several pages, which nothing describes.
    pub(super) offset: Option<u64>,
}

impl<S: ReadAt> Snapshot<S> {
    /// Returns the bounds of all pages that have values, in the order of rows.
    pub(super) fn page_bounds(&self, column: Column) -> Result<Vec<PageBounds>, ReadError> {
        let mut all = Vec::new();
        for group in &self.footer.groups {
            match &group.columns[column as usize].index {
                Some(index) => all.extend(read(&self.source, group, index)?),
                None => {
                    let rows = group.first_row..group.first_row + group.rows;
                    all.push(PageBounds { rows, least: 0, greatest: u64::MAX, offset: None });
                }
            }
        }
        Ok(all)
    }
}

fn read(
    source: &dyn ReadAt,
    group: &RowGroup,
    index: &PageIndex,
) -> Result<Vec<PageBounds>, ReadError> {
    let bounds = sealed(source, &index.bounds)?;
    let (mut least, mut greatest) = (Vec::new(), Vec::new());
    Thrift::new(&bounds).fields(|thrift, id, _| {
        match id {
            2 => least = numbers(thrift)?,
            3 => greatest = numbers(thrift)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let places = sealed(source, &index.places)?;
    let places = pages(&places)?;
    let is_ascending = places.is_sorted_by(|(_, a), (_, b)| a < b);
    if (least.len(), greatest.len()) != (places.len(), places.len())
        || places.first().is_none_or(|(_, row)| *row != 0)
        || places.last().is_none_or(|(_, row)| *row >= group.rows)
        || !is_ascending
    {
        return damaged("the bounds of pages do not match the pages");
    }
    let ends = places.iter().skip(1).map(|(_, row)| *row).chain([group.rows]);
    let pages = places.iter().zip(ends).zip(least.into_iter().zip(greatest));
    let pages = pages.filter_map(|((&(offset, row), end), (least, greatest))| {
        let rows = group.first_row + row..group.first_row + end;
        // A page without values has no bounds.
        Some(PageBounds { rows, least: least?, greatest: greatest?, offset: Some(offset) })
    });
    Ok(pages.collect())
}

/// Returns the bytes of a structure, whose checksum is intact.
fn sealed(source: &dyn ReadAt, place: &Range<u64>) -> Result<Vec<u8>, ReadError> {
    // The length is limited.
    let mut bytes = vec![0; (place.end - place.start) as usize];
    source.read_exact_at(place.start, &mut bytes)?;
    match verify(&bytes) {
        Seal::Intact => Ok(bytes),
        _ => damaged("the index of pages has a wrong checksum"),
    }
}

/// Reads a list of numbers of at most eight bytes; `None` for those of no bytes.
fn numbers(thrift: &mut Thrift<'_>) -> Result<Vec<Option<u64>>, ReadError> {
    let (kind, length) = thrift.list()?;
    if kind != BINARY && length > 0 {
        return damaged("bounds of another type");
    }
    let mut numbers = Vec::new();
    for _ in 0..length {
        let bytes = thrift.binary()?;
        let mut eight = [0; 8];
        let Some(used) = eight.get_mut(..bytes.len()) else {
            return damaged("bounds of another type");
        };
        used.copy_from_slice(bytes);
        numbers.push((!bytes.is_empty()).then_some(u64::from_le_bytes(eight)));
    }
    Ok(numbers)
}

/// Reads where pages begin: the offset of each in the file, and its first row in the group.
fn pages(bytes: &[u8]) -> Result<Vec<(u64, u64)>, ReadError> {
    let mut pages = Vec::new();
    Thrift::new(bytes).fields(|thrift, id, _| {
        if id != 1 {
            return Ok(false);
        }
        thrift.structs(|thrift| {
            let (mut offset, mut row) = (0, 0);
            thrift.fields(|thrift, id, _| {
                match id {
                    1 => offset = thrift.size()?,
                    3 => row = thrift.size()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            pages.push((offset, row));
            Ok(())
        })?;
        Ok(true)
    })?;
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use transect::table::TableImporter;
    use transect::{Attributes, Cancel, FieldMask, FileType};

    use super::*;
    use crate::Metadata;
    use crate::schema::GROUP_ROWS;

    #[test]
    fn page_bounds_are_those_of_the_values_of_each_page() {
        let mut importer = TableImporter::new(FieldMask::empty());
        let directory = Attributes::of_type(FileType::Directory);
        importer.enter(OsStr::new("/root"), &directory);
        let mut file = Attributes::of_type(FileType::File);
        // The files of the second one are more than a page, which has no directory.
        for (number, files) in [30, 20_000, 7, 0, GROUP_ROWS as u64].into_iter().enumerate() {
            importer.enter(OsStr::new(&format!("{number}")), &directory);
            importer.enter(OsStr::new("inner"), &directory);
            for name in 0..files {
                file.set_allocated(name);
                importer.add_entry(OsStr::new(&format!("{name:06}")), &file);
            }
            importer.leave().expect("names differ");
            importer.leave().expect("names differ");
        }
        let table = importer.finish().expect("few entries");
        let mut bytes = Vec::new();
        crate::write(&table, &Metadata::default(), &Cancel::new(), &mut bytes).expect("memory");
        let snapshot = Snapshot::new(bytes).expect("a snapshot");
        for column in [Column::Depth, Column::TotalAllocated, Column::Entries] {
            let mut expected = Vec::new();
            let (mut reader, mut row) = (snapshot.column(column), 0);
            while row < snapshot.len() {
                let numbers = reader.read_numbers(row).expect("a snapshot");
                let end = row + numbers.values.len() as u64;
                let (least, greatest) = (numbers.rows().flatten().min(), numbers.rows().max());
                expected.extend(least.zip(greatest.flatten()).map(|it| (row..end, it)));
                row = end;
            }
            let bounds = snapshot.page_bounds(column).expect("a snapshot");
            assert!(bounds.iter().all(|page| page.offset.is_some()));
            let bounds = bounds.into_iter().map(|it| (it.rows, (it.least, it.greatest)));
            assert_eq!(bounds.collect::<Vec<_>>(), expected);
            let has_empty_page = expected.len() < snapshot.len().div_ceil(8192) as usize;
            assert_eq!(has_empty_page, column != Column::Depth);
        }
    }
}
