//! Encodes a column of a page.

use std::io;

use crate::byte_values::ByteValues;
use crate::schema::{ColumnSpec, Layout, NAME_PAGE_ROWS, Physical};

use super::bounds::Bounds;
use super::columns::{ColumnValues, Values};
use super::dictionary::{IndexedPage, PageDictionary};
use super::encodings::{self, RepeatedBytes};
use super::page::{DataPage, PageEncoder, PageFacts, encoding};

/// A column of a page: encoded, or waiting for the dictionary of its row group.
#[derive(Debug)]
pub(super) enum ColumnPage {
    Encoded(Vec<DataPage>),
    Indexed(IndexedPage),
}

/// Encodes columns, one after the other.
pub(super) struct ColumnEncoder {
    pub(super) pages: PageEncoder,
    /// Which rows had a value in the column before: often the same as in this one.
    levels: Levels,
    /// Memory that is used again.
    content: Vec<u8>,
}

/// Which rows have a value.
#[derive(Debug, Default)]
struct Levels {
    defined: Vec<bool>,
    nulls: usize,
    /// The same encoded, with the length of that; empty for a column that is not optional.
    encoded: Vec<u8>,
}

impl Levels {
    fn set(&mut self, defined: &[bool]) {
        if self.defined == defined {
            return;
        }
        self.defined.clear();
        self.defined.extend_from_slice(defined);
        self.nulls = defined.iter().filter(|&&is_defined| !is_defined).count();
        self.encoded.clear();
        if !defined.is_empty() {
            self.encoded.extend_from_slice(&[0; 4]);
            encodings::runs(defined, 1, &mut self.encoded);
            let length = self.encoded.len() as u32 - 4;
            self.encoded[..4].copy_from_slice(&length.to_le_bytes());
        }
    }
}

impl ColumnEncoder {
    pub(super) fn new() -> io::Result<Self> {
        let pages = PageEncoder::new()?;
        Ok(Self { pages, levels: Levels::default(), content: Vec::new() })
    }

    /// Encodes a column of a page of `rows` rows.
    pub(super) fn encode(
        &mut self,
        spec: &ColumnSpec,
        rows: usize,
        column: &ColumnValues,
    ) -> io::Result<ColumnPage> {
        self.levels.set(&column.defined);
        let nulls = self.levels.nulls;
        if spec.layout == Layout::Dictionary {
            let dictionary = PageDictionary::of(&column.values);
            let bounds = dictionary.bounds(spec);
            let facts = PageFacts { rows, nulls, bounds };
            let levels = self.levels.encoded.clone();
            return Ok(ColumnPage::Indexed(IndexedPage { levels, dictionary, facts }));
        }
        if let (Values::Bytes(names), Layout::DeltaLength) = (&column.values, spec.layout) {
            return self.encode_names(spec, names).map(ColumnPage::Encoded);
        }
        let bounds = Bounds::are_stored(spec).then(|| bounds(spec, &column.values)).flatten();
        let facts = PageFacts { rows, nulls, bounds };
        let mut content = std::mem::take(&mut self.content);
        content.clear();
        content.extend_from_slice(&self.levels.encoded);
        values(spec, &column.values, &mut content);
        let page = self.pages.data(facts, encoding(spec.layout), &content);
        self.content = content;
        Ok(ColumnPage::Encoded(vec![page?]))
    }

    /// Encodes names in pages of their own size.
    fn encode_names(&mut self, spec: &ColumnSpec, names: &ByteValues) -> io::Result<Vec<DataPage>> {
        let mut pages = Vec::with_capacity(names.len().div_ceil(NAME_PAGE_ROWS));
        for first in (0..names.len()).step_by(NAME_PAGE_ROWS) {
            let mut of_page = ByteValues::default();
            let rows = NAME_PAGE_ROWS.min(names.len() - first);
            (first..first + rows).for_each(|row| of_page.push(names.get(row)));
            self.content.clear();
            encodings::delta_length(&of_page, &mut self.content);
            let facts = PageFacts { rows, nulls: 0, bounds: None };
            pages.push(self.pages.data(facts, encoding(spec.layout), &self.content)?);
        }
        Ok(pages)
    }
}

fn bounds(spec: &ColumnSpec, values: &Values) -> Option<Bounds> {
    match values {
        Values::Numbers(numbers) => Bounds::of_numbers(spec, numbers),
        Values::Bytes(values) => bounds_of_texts(values),
        Values::RepeatedBytes(RepeatedBytes { values, .. }) => bounds_of_texts(values),
        Values::Words(_) | Values::Digests(_) => None,
    }
}

/// Returns the bounds of a column whose values were made as UTF-8.
fn bounds_of_texts(values: &ByteValues) -> Option<Bounds> {
    Bounds::of_texts(values.iter().map(|text| std::str::from_utf8(text).unwrap_or_default()))
}

fn values(spec: &ColumnSpec, values: &Values, out: &mut Vec<u8>) {
    let width = if spec.physical == Physical::Int32 { 4 } else { 8 };
    match (spec.layout, values) {
        (Layout::ByteStreamSplit, Values::Numbers(values)) => {
            encodings::byte_stream_split(values, width, out);
        }
        (Layout::Delta, Values::Numbers(values)) => encodings::delta(values.iter().copied(), out),
        (Layout::Plain, Values::Numbers(values)) => encodings::plain(values, width, out),
        (Layout::Plain, Values::Bytes(values)) => encodings::plain_bytes(values.iter(), out),
        (Layout::Plain, Values::Digests(values)) => out.extend_from_slice(values.as_flattened()),
        (Layout::DeltaBytes, Values::RepeatedBytes(values)) => {
            encodings::delta_bytes(values, out);
        }
        _ => unreachable!("BUG: a column has values of another kind"),
    }
}
