//! Puts encoded pages into the file, row group by row group, and describes them at its end.

use std::io::{self, Write};
use std::path::Path;

use crate::linked_blocks::LINKED_KEY;
use crate::metadata::{METADATA_KEY, VERSION_KEY};
use crate::name_index::INDEX_KEY;
use crate::schema::{COLUMNS, ColumnSpec, VERSION};
use crate::scratch::Scratch;

use super::bounds::Bounds;
use super::dictionary::DictionaryPages;
use super::footer::{
    ColumnChunk, IndexBases, IndexPlace, PlacedPage, RowGroup, describe, describe_bounds,
    describe_places,
};
use super::name_index::NameIndexWriter;
use super::page::DataPage;

/// The beginning and the end of every Parquet file.
const MARK: &[u8] = b"PAR1";

pub(super) struct FileWriter<'o> {
    out: &'o mut dyn Write,
    /// The number of bytes written.
    offset: u64,
    groups: Vec<RowGroup>,
    /// The bounds and the places of all pages, which follow the last group. Each kind lies together: some programs
    /// read all of it at once.
    bounds: Scratch,
    places: Scratch,
    name_index: Option<IndexPlace>,
}

impl<'o> FileWriter<'o> {
    pub(super) fn new(out: &'o mut dyn Write, folder: Option<&Path>) -> io::Result<Self> {
        let (bounds, places) = (Scratch::new(folder), Scratch::new(folder));
        let mut file =
            Self { out, offset: 0, groups: Vec::new(), bounds, places, name_index: None };
        file.write(MARK)?;
        Ok(file)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.offset += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Appends a row group: for each column its pages.
    pub(super) fn append(
        &mut self,
        rows: usize,
        columns: impl Iterator<Item = DictionaryPages>,
    ) -> io::Result<()> {
        let chunks =
            columns.zip(COLUMNS).map(|(column, spec)| self.append_column(rows, column, spec));
        let chunks = chunks.collect::<io::Result<_>>()?;
        self.groups.push(RowGroup { rows, columns: chunks });
        Ok(())
    }

    fn append_column(
        &mut self,
        rows: usize,
        column: DictionaryPages,
        spec: &ColumnSpec,
    ) -> io::Result<ColumnChunk> {
        let begin = self.offset;
        let dictionary_offset = column.dictionary.is_some().then_some(begin);
        let mut uncompressed = 0;
        if let Some(dictionary) = column.dictionary {
            uncompressed += dictionary.uncompressed as u64;
            self.write(&dictionary.bytes)?;
        }
        let data_offset = self.offset;
        let mut first_row = 0;
        let mut pages = Vec::with_capacity(column.pages.len());
        for DataPage { page, facts } in column.pages {
            let (offset, length, rows) = (self.offset, page.bytes.len(), facts.rows);
            uncompressed += page.uncompressed as u64;
            self.write(&page.bytes)?;
            pages.push(PlacedPage { offset, length, first_row, facts });
            first_row += rows;
        }
        debug_assert_eq!(first_row, rows, "BUG: a column has another number of rows");
        let bounds = pages.iter().filter_map(|page| page.facts.bounds.clone());
        let bounds_index = match Bounds::are_stored(spec) {
            true => Some(append_index(&mut self.bounds, &describe_bounds(&pages, spec))?),
            false => None,
        };
        Ok(ColumnChunk {
            dictionary_offset,
            data_offset,
            rows,
            length: self.offset - begin,
            uncompressed,
            nulls: pages.iter().map(|page| page.facts.nulls).sum(),
            bounds: bounds.reduce(Bounds::join).map(|bounds| bounds.stored(spec.physical)),
            bounds_index,
            pages_index: append_index(&mut self.places, &describe_places(&pages))?,
        })
    }

    pub(super) fn append_name_index(&mut self, index: NameIndexWriter) -> io::Result<()> {
        let length = index.finish(self.out)?;
        self.name_index = Some(IndexPlace { offset: self.offset, length: length as usize });
        self.offset += length;
        Ok(())
    }

    /// Ends the file, and returns its length; `metadata` describes the snapshot, `linked` which blocks have files of
    /// several names.
    pub(super) fn finish(mut self, metadata: &str, linked: &str) -> io::Result<u64> {
        let bases = IndexBases { bounds: self.offset, pages: self.offset + self.bounds.len() };
        let description = describe(&self.groups, bases, &self.key_values(metadata, linked));
        self.bounds.copy_to(self.out)?;
        self.places.copy_to(self.out)?;
        self.offset = bases.pages + self.places.len();
        self.write(&description)?;
        self.write(&(description.len() as u32).to_le_bytes())?;
        self.write(MARK)?;
        self.out.flush()?;
        Ok(self.offset)
    }

    fn key_values(&self, metadata: &str, linked: &str) -> Vec<(&'static str, String)> {
        let place = |IndexPlace { offset, length }| (INDEX_KEY, format!("{offset} {length}"));
        let pairs = [
            Some((VERSION_KEY, VERSION.to_string())),
            Some((METADATA_KEY, metadata.to_owned())),
            Some((LINKED_KEY, linked.to_owned())),
            self.name_index.map(place),
        ];
        pairs.into_iter().flatten().collect()
    }
}

/// Appends the description of pages to those of the same kind.
fn append_index(to: &mut Scratch, bytes: &[u8]) -> io::Result<IndexPlace> {
    let place = IndexPlace { offset: to.len(), length: bytes.len() };
    to.append(bytes)?;
    Ok(place)
}
