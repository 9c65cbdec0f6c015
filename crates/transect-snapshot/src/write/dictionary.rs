//! Columns with few different values: each page has the indices of its values in a dictionary, and the
//! dictionaries of the pages of a row group become one.

use std::collections::HashMap;
use std::hash::Hash;
use std::io;

use foldhash::fast::FixedState;

use crate::schema::{ColumnSpec, Physical};

use super::bounds::Bounds;
use super::columns::{Values, Word};
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
    values: Distinct,
    /// Pages have less than 2^16 rows.
    indices: Vec<u16>,
}

/// Different values.
#[derive(Debug)]
enum Distinct {
    Numbers(Vec<u64>),
    Words(Vec<Word>),
}

/// The encoded pages of a row group, with their dictionary unless all values are null.
#[derive(Debug)]
pub(super) struct DictionaryPages {
    pub(super) dictionary: Option<Page>,
    pub(super) pages: Vec<DataPage>,
}

impl PageDictionary {
    pub(super) fn of(values: &Values) -> Self {
        match values {
            Values::Numbers(values) => {
                let (numbers, indices) = index(values);
                Self { values: Distinct::Numbers(numbers), indices }
            }
            Values::Words(values) => {
                let (words, indices) = index(values);
                Self { values: Distinct::Words(words), indices }
            }
            _ => unreachable!("BUG: a dictionary of other values"),
        }
    }

    /// Returns the bounds of the values.
    pub(super) fn bounds(&self, spec: &ColumnSpec) -> Option<Bounds> {
        match &self.values {
            Distinct::Numbers(numbers) => Bounds::of_numbers(spec, numbers),
            Distinct::Words(words) => Bounds::of_texts(words.iter().map(|word| word.0)),
        }
    }
}

/// Returns the different values, and the index of each value among them.
fn index<T: Copy + Eq + Hash>(values: &[T]) -> (Vec<T>, Vec<u16>) {
    let mut distinct = DistinctValues::default();
    let mut last: Option<(T, u32)> = None;
    let index = |&value: &T| match last {
        Some((before, index)) if before == value => index as u16,
        _ => {
            let index = distinct.index(value);
            last = Some((value, index));
            index as u16
        }
    };
    let indices = values.iter().map(index).collect();
    (distinct.values, indices)
}

/// Different values by their indices, and the other way round.
struct DistinctValues<T> {
    values: Vec<T>,
    indices: HashMap<T, u32, FixedState>,
}

impl<T> Default for DistinctValues<T> {
    fn default() -> Self {
        Self { values: Vec::new(), indices: HashMap::default() }
    }
}

impl<T: Copy + Eq + Hash> DistinctValues<T> {
    fn index(&mut self, value: T) -> u32 {
        *self.indices.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.values.len() as u32 - 1
        })
    }

    /// Adds the values of a page; returns the index of each.
    fn add(&mut self, values: &[T]) -> Vec<u32> {
        values.iter().map(|&value| self.index(value)).collect()
    }
}

/// Encodes the pages of a column of a row group.
pub(super) fn encode(
    spec: &ColumnSpec,
    pages: Vec<IndexedPage>,
    encoder: &mut PageEncoder,
) -> io::Result<DictionaryPages> {
    let mut numbers = DistinctValues::default();
    let mut words = DistinctValues::default();
    let indices: Vec<Vec<u32>> = pages
        .iter()
        .map(|page| match &page.dictionary.values {
            Distinct::Numbers(values) => numbers.add(values),
            Distinct::Words(values) => words.add(values),
        })
        .collect();
    let count = numbers.values.len() + words.values.len();
    let mut content = Vec::new();
    let width = if spec.physical == Physical::Int32 { 4 } else { 8 };
    encodings::plain(&numbers.values, width, &mut content);
    encodings::plain_bytes(words.values.iter().map(|word| word.0.as_bytes()), &mut content);
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
