//! Columns with few different values: each page has the indices of its values in a dictionary, and the
//! dictionaries of the pages of a row group become one.

use std::collections::HashMap;
use std::io;

use foldhash::fast::FixedState;

use crate::schema::{ColumnSpec, Physical};

use super::bounds::Bounds;
use super::columns::word;
use super::encodings;
use super::page::{DataPage, PLAIN, Page, PageEncoder, PageFacts, RLE_DICTIONARY};

/// A page that waits for the dictionary of its row group.
#[derive(Debug)]
pub(super) struct IndexedPage {
    /// Which rows have a value, encoded.
    pub(super) levels: Vec<u8>,
    pub(super) dictionary: PageDictionary,
    pub(super) facts: PageFacts,
}

/// The different values of a page in the order of their first use, and for each value its index.
#[derive(Debug)]
pub(super) struct PageDictionary {
    values: Vec<u64>,
    /// Pages have less than 2^16 rows.
    indices: Vec<u16>,
}

/// The encoded pages of a row group, with their dictionary unless all values are null.
#[derive(Debug)]
pub(super) struct DictionaryPages {
    pub(super) dictionary: Option<Page>,
    pub(super) pages: Vec<DataPage>,
}

impl PageDictionary {
    pub(super) fn of(values: &[u64]) -> Self {
        let mut distinct = DistinctValues::default();
        let mut last: Option<(u64, u32)> = None;
        let index = |&value: &u64| match last {
            Some((before, index)) if before == value => index as u16,
            _ => {
                let index = distinct.index(value);
                last = Some((value, index));
                index as u16
            }
        };
        let indices = values.iter().map(index).collect();
        Self { values: distinct.values, indices }
    }

    pub(super) fn bounds(&self, spec: &ColumnSpec) -> Option<Bounds> {
        match spec.physical {
            Physical::Bytes => {
                Bounds::of_texts(self.values.iter().map(|&it| word(spec, it).as_bytes()))
            }
            _ => Bounds::of_numbers(spec, &self.values),
        }
    }
}

/// Different values by their indices, and the other way round.
#[derive(Default)]
struct DistinctValues {
    values: Vec<u64>,
    indices: HashMap<u64, u32, FixedState>,
}

impl DistinctValues {
    fn index(&mut self, value: u64) -> u32 {
        *self.indices.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.values.len() as u32 - 1
        })
    }
}

/// Encodes the pages of a column of a row group.
pub(super) fn encode(
    spec: &ColumnSpec,
    pages: Vec<IndexedPage>,
    encoder: &mut PageEncoder,
) -> io::Result<DictionaryPages> {
    let mut distinct = DistinctValues::default();
    let indices_of = |page: &IndexedPage| -> Vec<u32> {
        page.dictionary.values.iter().map(|&value| distinct.index(value)).collect()
    };
    let indices: Vec<Vec<u32>> = pages.iter().map(indices_of).collect();
    let count = distinct.values.len();
    let words = distinct.values.iter().map(|&number| word(spec, number).as_bytes());
    let mut content = Vec::new();
    match spec.physical {
        Physical::Bytes => encodings::plain_bytes(words, &mut content),
        Physical::Int32 => encodings::plain(&distinct.values, 4, &mut content),
        _ => encodings::plain(&distinct.values, 8, &mut content),
    }
    let dictionary = match count {
        0 => None,
        _ => Some(encoder.dictionary(count, &content)?),
    };
    let width = encodings::bits(count.saturating_sub(1) as u32);
    let pages = pages.into_iter().zip(indices).map(|(page, indices)| {
        content.clear();
        content.extend_from_slice(&page.levels);
        if count == 0 {
            return encoder.data(page.facts, PLAIN, &content);
        }
        content.push(width as u8);
        let values = page.dictionary.indices.iter().map(|&index| indices[usize::from(index)]);
        encodings::runs(&values.collect::<Vec<_>>(), width, &mut content);
        encoder.data(page.facts, RLE_DICTIONARY, &content)
    });
    let pages = pages.collect::<io::Result<_>>()?;
    Ok(DictionaryPages { dictionary, pages })
}
