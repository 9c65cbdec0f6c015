//! Encodes a column of a page.

use std::io;

use crate::schema::{ColumnSpec, Layout, Physical, TEXT_PAGE_BYTES, TEXT_PAGE_ROWS};

use super::bounds::Bounds;
use super::columns::{ColumnValues, Values};
use super::dictionary::{IndexedPage, PageDictionary};
use super::encodings;
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
        if let (Layout::Dictionary, Values::Numbers(numbers)) = (spec.layout, &column.values) {
            let dictionary = PageDictionary::of(numbers);
            let bounds = dictionary.bounds(spec);
            let facts = PageFacts { rows, nulls, bounds };
            let levels = self.levels.encoded.clone();
            return Ok(ColumnPage::Indexed(IndexedPage { levels, dictionary, facts }));
        }
        let texts = match &column.values {
            Values::Bytes(names) if spec.name == "name" => {
                Some(self.encode_texts(spec, rows, |row| names.get(row)))
            }
            Values::RepeatedBytes(dirs) => Some(self.encode_texts(spec, rows, |row| dirs.get(row))),
            _ => None,
        };
        if let Some(pages) = texts {
            return pages.map(ColumnPage::Encoded);
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

    /// Encodes texts, of which every row has one, in pages of at most [`TEXT_PAGE_ROWS`] and little more than
    /// [`TEXT_PAGE_BYTES`].
    fn encode_texts<'t>(
        &mut self,
        spec: &ColumnSpec,
        rows: usize,
        text: impl Fn(usize) -> &'t [u8] + Copy,
    ) -> io::Result<Vec<DataPage>> {
        let mut pages = Vec::with_capacity(rows.div_ceil(TEXT_PAGE_ROWS));
        let has_bounds = Bounds::are_stored(spec);
        let mut distinct: Vec<&[u8]> = Vec::new();
        let mut first = 0;
        while first < rows {
            self.content.clear();
            distinct.clear();
            let mut end = first;
            while end < rows.min(first + TEXT_PAGE_ROWS) && self.content.len() < TEXT_PAGE_BYTES {
                let value = text(end);
                encodings::plain_bytes(std::iter::once(value), &mut self.content);
                // Many neighbours have the same path, which is compared only once.
                if has_bounds && distinct.last().is_none_or(|last| !std::ptr::eq(*last, value)) {
                    distinct.push(value);
                }
                end += 1;
            }
            let bounds = Bounds::of_texts(distinct.iter().copied());
            let facts = PageFacts { rows: end - first, nulls: 0, bounds };
            pages.push(self.pages.data(facts, encoding(spec.layout), &self.content)?);
            first = end;
        }
        Ok(pages)
    }
}

fn bounds(spec: &ColumnSpec, values: &Values) -> Option<Bounds> {
    match values {
        Values::Numbers(numbers) => Bounds::of_numbers(spec, numbers),
        Values::Bytes(values) => Bounds::of_texts(values.iter()),
        Values::RepeatedBytes(_) | Values::Digests(_) => None,
    }
}

fn values(spec: &ColumnSpec, values: &Values, out: &mut Vec<u8>) {
    let width = if spec.physical == Physical::Int32 { 4 } else { 8 };
    match (spec.layout, values) {
        (Layout::Delta, Values::Numbers(values)) => encodings::delta(values.iter().copied(), out),
        (Layout::Plain, Values::Numbers(values)) => encodings::plain(values, width, out),
        (Layout::Plain, Values::Bytes(values)) => encodings::plain_bytes(values.iter(), out),
        (Layout::Plain, Values::Digests(values)) => out.extend_from_slice(values.as_flattened()),
        _ => unreachable!("BUG: a column has values of another kind"),
    }
}
