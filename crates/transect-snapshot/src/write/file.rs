//! Puts encoded pages into the file, row group by row group, and describes them at its end.

use std::io::{self, Write};

use crate::linked_blocks::LINKED_KEY;
use crate::metadata::{METADATA_KEY, VERSION_KEY};
use crate::name_index::INDEX_KEY;
use crate::schema::{COLUMNS, ColumnSpec, VERSION};

use super::bounds::Bounds;
use super::dictionary::DictionaryPages;
use super::footer::{ColumnChunk, IndexPlace, IndexPlaces, PagePlace, RowGroup, describe};
use super::page::Page;

/// The beginning and the end of every Parquet file.
const MARK: &[u8] = b"PAR1";

/// A file that is being written.
pub(super) struct FileWriter<'o> {
    out: &'o mut dyn Write,
    /// The number of bytes written.
    offset: u64,
    groups: Vec<RowGroup>,
    name_index: Option<IndexPlace>,
}

impl<'o> FileWriter<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> io::Result<Self> {
        let mut file = Self { out, offset: 0, groups: Vec::new(), name_index: None };
        file.write(MARK)?;
        Ok(file)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.offset += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Appends a row group: for each column its pages.
    pub(super) fn append(&mut self, rows: usize, columns: Vec<DictionaryPages>) -> io::Result<()> {
        let mut chunks = Vec::with_capacity(columns.len());
        for column in columns {
            chunks.push(self.append_column(rows, column)?);
        }
        self.groups.push(RowGroup { rows, columns: chunks });
        Ok(())
    }

    fn append_column(&mut self, rows: usize, column: DictionaryPages) -> io::Result<ColumnChunk> {
        let mut chunk = ColumnChunk { rows, ..ColumnChunk::default() };
        if let Some(dictionary) = column.dictionary {
            chunk.dictionary_offset = Some(self.offset);
            self.append_page(&dictionary, &mut chunk)?;
        }
        let mut first_row = 0;
        for data in column.pages {
            let length = data.page.bytes.len();
            chunk.places.push(PagePlace { offset: self.offset, length, first_row });
            self.append_page(&data.page, &mut chunk)?;
            first_row += data.facts.rows;
            chunk.facts.push(data.facts);
        }
        debug_assert_eq!(first_row, rows, "BUG: a column has another number of rows");
        Ok(chunk)
    }

    fn append_page(&mut self, page: &Page, chunk: &mut ColumnChunk) -> io::Result<()> {
        chunk.length += page.bytes.len() as u64;
        chunk.uncompressed += page.uncompressed as u64;
        self.write(&page.bytes)
    }

    /// Appends the index of names.
    pub(super) fn append_name_index(&mut self, index: &[u8]) -> io::Result<()> {
        self.name_index = Some(IndexPlace { offset: self.offset, length: index.len() });
        self.write(index)
    }

    /// Ends the file; `metadata` describes the snapshot, `linked` which blocks have files of several names.
    pub(super) fn finish(mut self, metadata: &str, linked: &str) -> io::Result<()> {
        let groups = std::mem::take(&mut self.groups);
        let mut indexes = Vec::with_capacity(groups.len());
        for group in &groups {
            let columns = group.columns.iter().zip(COLUMNS);
            let places = columns.map(|(column, spec)| self.append_indexes(column, spec));
            indexes.push(places.collect::<io::Result<Vec<_>>>()?);
        }
        let description = describe(&groups, &indexes, &self.key_values(metadata, linked));
        self.write(&description)?;
        self.write(&(description.len() as u32).to_le_bytes())?;
        self.write(MARK)?;
        self.out.flush()
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

    fn append_indexes(
        &mut self,
        column: &ColumnChunk,
        spec: &ColumnSpec,
    ) -> io::Result<IndexPlaces> {
        let bounds = match Bounds::are_stored(spec) {
            true => Some(self.append_index(|out| column.write_bounds(spec, out))?),
            false => None,
        };
        let pages = self.append_index(|out| column.write_places(out))?;
        Ok(IndexPlaces { bounds, pages })
    }

    fn append_index(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<IndexPlace> {
        let mut bytes = Vec::new();
        write(&mut bytes);
        let place = IndexPlace { offset: self.offset, length: bytes.len() };
        self.write(&bytes)?;
        Ok(place)
    }
}
