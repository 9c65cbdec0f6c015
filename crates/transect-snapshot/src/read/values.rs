//! The values of one page of a column.

use transect::FileType;

use crate::byte_values::ByteValues;
use crate::schema::{COLUMNS, Column, Physical};

use super::decode::{self, PageBytes};
use super::error::{ReadError, damaged};
use super::page::MAX_PAGE_BYTES;

/// The values of a page: one for each row. Null is 0 or empty.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Numbers(Vec<u64>),
    Bytes(ByteValues),
    Digests(Vec<[u8; 16]>),
}

impl Values {
    pub(super) fn new(column: Column) -> Self {
        match COLUMNS[column as usize].physical {
            _ if column == Column::Type => Self::Numbers(Vec::new()),
            Physical::Int32 | Physical::Int64 => Self::Numbers(Vec::new()),
            Physical::Bytes => Self::Bytes(ByteValues::default()),
            Physical::Fixed16 => Self::Digests(Vec::new()),
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Numbers(values) => values.clear(),
            Self::Bytes(values) => values.clear(),
            Self::Digests(values) => values.clear(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Bytes(values) => values.len(),
            Self::Digests(values) => values.len(),
        }
    }

    /// Moves the values to the rows that are `defined`; the others are null.
    pub(super) fn spread(&mut self, defined: &[bool]) {
        match self {
            Self::Numbers(values) => spread(values, defined),
            Self::Digests(values) => spread(values, defined),
            // Of most pages of `name_raw`, no row has a value.
            Self::Bytes(values) if values.ends.is_empty() => values.ends.resize(defined.len(), 0),
            Self::Bytes(values) => {
                let mut stored = std::mem::take(&mut values.ends).into_iter();
                let mut last = 0;
                values.ends.reserve(defined.len());
                for &is_defined in defined {
                    if is_defined {
                        last = stored.next().unwrap_or(last);
                    }
                    values.ends.push(last);
                }
            }
        }
    }
}

/// Moves each value to the next place that is `defined`; of these, there are as many as values.
fn spread<T: Copy + Default>(values: &mut Vec<T>, defined: &[bool]) {
    let mut next = values.len();
    values.resize(defined.len(), T::default());
    // The last ones first: none is moved to a place of one that is still to be moved. Without branches: few rows are
    // defined, and no pattern predicts which.
    for (row, &is_defined) in defined.iter().enumerate().rev() {
        next -= usize::from(is_defined);
        let value = values[next];
        values[row] = if is_defined { value } else { T::default() };
    }
}

/// Decodes `count` values, one after the other, which begin at an offset of a page. The bytes of the page are used up.
pub(super) fn plain_values(
    column: Column,
    page: &mut Vec<u8>,
    begin: usize,
    count: usize,
    values: &mut Values,
) -> Result<(), ReadError> {
    let mut rest = PageBytes::new(&page[begin..]);
    match values {
        Values::Numbers(values) if column == Column::Type => {
            let mut words = ByteValues::default();
            decode::plain_bytes(page, begin, count, &mut words)?;
            for index in 0..count {
                let is_it = |it: &FileType| it.as_str().as_bytes() == words.get(index);
                match FileType::ALL.iter().position(is_it) {
                    Some(number) => values.push(number as u64),
                    None => return damaged("an unknown file type"),
                }
            }
            Ok(())
        }
        Values::Numbers(values) => {
            let is_short = COLUMNS[column as usize].physical == Physical::Int32;
            decode::plain(rest, count, if is_short { 4 } else { 8 }, values)
        }
        Values::Bytes(values) => decode::plain_bytes(page, begin, count, values),
        Values::Digests(values) => {
            values.extend_from_slice(rest.take(count * 16)?.as_chunks().0);
            Ok(())
        }
    }
}

/// Decodes `count` values that are places in a dictionary.
pub(super) fn from_dictionary(
    mut page: PageBytes<'_>,
    count: usize,
    dictionary: &Values,
    values: &mut Values,
) -> Result<(), ReadError> {
    let width = usize::from(page.byte()?);
    let mut is_outside = false;
    match (dictionary, values) {
        (Values::Numbers(dictionary), Values::Numbers(values)) => {
            decode::runs(page, width, count, |index, length| {
                match dictionary.get(index as usize) {
                    Some(&value) if length == 1 => values.push(value),
                    Some(&value) => values.resize(values.len() + length, value),
                    None => is_outside = true,
                }
            })?;
        }
        (Values::Bytes(dictionary), Values::Bytes(values)) => {
            decode::runs(page, width, count, |index, length| {
                if index as usize >= dictionary.len() || values.bytes.len() as u64 > MAX_PAGE_BYTES
                {
                    is_outside = true;
                    return;
                }
                let value = dictionary.get(index as usize);
                for _ in 0..length {
                    if values.bytes.len() as u64 > MAX_PAGE_BYTES {
                        is_outside = true;
                        return;
                    }
                    values.bytes.extend_from_slice(value);
                    values.ends.push(values.bytes.len() as u32);
                }
            })?;
        }
        _ => return damaged("a dictionary that no snapshot has"),
    }
    if is_outside { damaged("a value is not in its dictionary") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spread_moves_values_to_defined_rows(rows in prop::collection::vec(any::<Option<u8>>(), 0..50)) {
            let defined: Vec<bool> = rows.iter().map(Option::is_some).collect();
            let mut values: Vec<u8> = rows.iter().copied().flatten().collect();
            spread(&mut values, &defined);
            let expected: Vec<u8> = rows.iter().map(|value| value.unwrap_or(0)).collect();
            prop_assert_eq!(values, expected);
        }
    }
}
