//! Compares the values of a column in two files: by the bytes of their pages, or one by one.

use crate::byte_values::ByteValues;
use crate::read::error::ReadError;
use crate::read::page::PageHeader;
use crate::read::values::Values;

use super::{ColumnReader, Page};

impl ColumnReader<'_> {
    /// Returns whether the pages of two rows have the same bytes, and the rows are at the same place in
    /// them; and how many rows both pages have from there on. Nothing is decompressed.
    pub(in crate::read) fn compare_page(
        &mut self,
        row: u64,
        (other, other_row): (&mut ColumnReader<'_>, u64),
    ) -> Result<(bool, u64), ReadError> {
        self.locate(row)?;
        other.locate(other_row)?;
        let rows = (self.after - row).min(other.after - other_row);
        let (Page { header: a, begin }, Page { header: b, begin: other_begin }) =
            (self.current, other.current);
        let facts = |header: &PageHeader| {
            let PageHeader { size, compressed, values, encoding, level_encoding, .. } = *header;
            (size, compressed, values, encoding, level_encoding)
        };
        if row - self.first != other_row - other.first
            || facts(&a) != facts(&b)
            || self.chunk.codec != other.chunk.codec
        {
            return Ok((false, rows));
        }
        let is_same = self.window.get(self.source, begin, a.compressed, self.chunk.end)?
            == other.window.get(other.source, other_begin, b.compressed, other.chunk.end)?;
        let has_dictionary = matches!(a.encoding, 2 | 8);
        Ok((is_same && (!has_dictionary || self.has_same_dictionary(other)?), rows))
    }

    fn has_same_dictionary(&mut self, other: &ColumnReader<'_>) -> Result<bool, ReadError> {
        let (a, b) = match (self.dictionary_page, other.dictionary_page) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return Ok(true),
            _ => return Ok(false),
        };
        // All pages of a row group have the same one.
        let places = (a.begin, b.begin);
        if let Some((compared, is_same)) = self.compared_dictionaries
            && compared == places
        {
            return Ok(is_same);
        }
        let is_same = a.header.compressed == b.header.compressed
            && a.header.size == b.header.size
            && a.bytes(self.source)? == b.bytes(other.source)?;
        self.compared_dictionaries = Some((places, is_same));
        Ok(is_same)
    }

    /// Returns how many rows have the same value in both, from these rows of the current pages on: at most
    /// `most`, which both pages have.
    pub(in crate::read) fn common_rows(
        &self,
        row: u64,
        (other, other_row): (&ColumnReader<'_>, u64),
        most: u64,
    ) -> u64 {
        let (from, other_from) = ((row - self.first) as usize, (other_row - other.first) as usize);
        let most = most as usize;
        let common = match (&self.values, &other.values) {
            (Values::Numbers(a), Values::Numbers(b)) => {
                common_length(&a[from..from + most], &b[other_from..other_from + most])
            }
            (Values::Bytes(a), Values::Bytes(b)) => a.common_from(from, (b, other_from), most),
            _ => 0,
        };
        // Only with nulls: 0 and the empty text may stand for them.
        let differs =
            |row: &usize| self.is_defined(from + row) != other.is_defined(other_from + row);
        let has_nulls = self.has_nulls() || other.has_nulls();
        let common = (0..common).find(|row| has_nulls && differs(row)).unwrap_or(common);
        common as u64
    }

    /// Marks which rows have another value in the other file, from these rows of the current pages on.
    pub(in crate::read) fn mark_differing(
        &self,
        row: u64,
        (other, other_row): (&ColumnReader<'_>, u64),
        marks: &mut [bool],
    ) {
        let (from, other_from) = ((row - self.first) as usize, (other_row - other.first) as usize);
        match (&self.values, &other.values) {
            (Values::Numbers(a), Values::Numbers(b)) => {
                let pairs = a[from..].iter().zip(&b[other_from..]);
                marks.iter_mut().zip(pairs).for_each(|(mark, (a, b))| *mark |= a != b);
            }
            (Values::Bytes(a), Values::Bytes(b)) => {
                let mut done = 0;
                while done < marks.len() {
                    done += a.common_from(from + done, (b, other_from + done), marks.len() - done);
                    marks.get_mut(done).into_iter().for_each(|mark| *mark = true);
                    done += 1;
                }
            }
            _ => marks.fill(true),
        }
        if self.has_nulls() || other.has_nulls() {
            for (index, mark) in marks.iter_mut().enumerate() {
                *mark |= self.is_defined(from + index) != other.is_defined(other_from + index);
            }
        }
    }

    fn has_nulls(&self) -> bool {
        !self.defined.is_empty()
    }

    /// Returns whether a row of the page has a value.
    fn is_defined(&self, index: usize) -> bool {
        self.defined.get(index).copied().unwrap_or(true)
    }
}

/// Returns how many values are the same in both, which have the same length.
fn common_length<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    // Many at once.
    const CHUNK: usize = 64;
    let chunks = a.chunks(CHUNK).zip(b.chunks(CHUNK));
    let same = CHUNK * chunks.take_while(|(a, b)| a == b).count();
    let rest = a.iter().zip(b).skip(same);
    (same + rest.take_while(|(a, b)| a == b).count()).min(a.len())
}

impl ByteValues {
    /// Returns how many values are the same in both, from these on: at most `most`, which both have.
    fn common_from(&self, from: usize, (other, other_from): (&Self, usize), most: usize) -> usize {
        let begin =
            |of: &Self, from: usize| from.checked_sub(1).map_or(0, |before| of.ends[before]);
        let (begin_a, begin_b) = (begin(self, from), begin(other, other_from));
        let ends_a = &self.ends[from..from + most];
        let ends_b = &other.ends[other_from..other_from + most];
        let has_same_end = |(a, b): (&u32, &u32)| a - begin_a == b - begin_b;
        let same_ends = ends_a.iter().zip(ends_b).take_while(|&ends| has_same_end(ends)).count();
        let Some(last) = same_ends.checked_sub(1) else { return 0 };
        let bytes_a = &self.bytes[begin_a as usize..ends_a[last] as usize];
        let bytes_b = &other.bytes[begin_b as usize..ends_b[last] as usize];
        let same_bytes = common_length(bytes_a, bytes_b);
        if same_bytes == bytes_a.len() {
            return same_ends;
        }
        // The first value that ends behind the same bytes.
        ends_a[..same_ends].partition_point(|&end| (end - begin_a) as usize <= same_bytes)
    }
}
