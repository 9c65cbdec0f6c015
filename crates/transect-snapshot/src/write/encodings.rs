//! Encodes the values of a page.
//!
//! Source: `Encodings.md` of apache/parquet-format.

use crate::byte_values::ByteValues;

use super::thrift::{varint, zigzag};

/// The numbers in a block of differences, and in its parts, which have a width each.
const BLOCK: usize = 256;
const PART: usize = 64;

/// The equal numbers that are a run. Shorter runs, from 8 on, are smaller here, but larger when they are
/// compressed.
const MIN_RUN: usize = 32;

/// Values of which many are equal to the one before.
#[derive(Debug, Default)]
pub(super) struct RepeatedBytes {
    /// The distinct values, as far as they are neighbours.
    pub(super) values: ByteValues,
    /// For each row, the index of its value.
    pub(super) of_row: Vec<u32>,
}

impl RepeatedBytes {
    pub(super) fn get(&self, row: usize) -> &[u8] {
        self.values.get(self.of_row[row] as usize)
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.of_row.clear();
    }
}

/// Encodes numbers of 4 or 8 bytes, one after the other.
pub(super) fn plain(values: &[u64], width: usize, out: &mut Vec<u8>) {
    match width {
        4 => values.iter().for_each(|&value| out.extend_from_slice(&(value as u32).to_le_bytes())),
        _ => values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes())),
    }
}

/// Encodes values with a length of 4 bytes each.
pub(super) fn plain_bytes<'v>(values: impl Iterator<Item = &'v [u8]>, out: &mut Vec<u8>) {
    for value in values {
        out.extend_from_slice(&(value.len() as u32).to_le_bytes());
        out.extend_from_slice(value);
    }
}

/// Encodes numbers as differences: in each block those from the least one.
pub(super) fn delta(mut values: impl ExactSizeIterator<Item = u64>, out: &mut Vec<u8>) {
    varint(out, BLOCK as u64);
    varint(out, (BLOCK / PART) as u64);
    varint(out, values.len() as u64);
    let mut last = values.next().unwrap_or(0);
    zigzag(out, last as i64);
    let mut block = [0; BLOCK];
    while values.len() > 0 {
        let count = values.len().min(BLOCK);
        let mut least = i64::MAX;
        for (difference, value) in block.iter_mut().zip(&mut values) {
            *difference = value.wrapping_sub(std::mem::replace(&mut last, value));
            least = least.min(*difference as i64);
        }
        zigzag(out, least);
        for difference in &mut block[..count] {
            *difference = difference.wrapping_sub(least as u64);
        }
        // A part is whole even if the values end in it.
        block[count..].fill(0);
        let width = |part: &[u64]| 64 - part.iter().fold(0, |bits, it| bits | it).leading_zeros();
        out.extend(block.chunks(PART).map(|part| width(part) as u8));
        block[..count.next_multiple_of(PART)]
            .chunks(PART)
            .for_each(|part| pack(part.iter().copied(), width(part), out));
    }
}

/// Returns the number of bits that numbers up to `most` need.
pub(super) fn bits(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}

/// Encodes numbers of `width` bits as runs of equal ones, and as groups of eight.
pub(super) fn runs<T: Copy + Eq + Into<u64>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    // Where the groups begin that are not written yet.
    let mut begin = 0;
    let mut at = 0;
    while at < values.len() {
        let rest = &values[at..];
        let equal = rest.iter().take_while(|&&value| value == rest[0]).count();
        if equal < MIN_RUN {
            at += rest.len().min(8);
            continue;
        }
        groups(&values[begin..at], width, out);
        varint(out, (equal as u64) << 1);
        let value: u64 = rest[0].into();
        out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
        at += equal;
        begin = at;
    }
    groups(&values[begin..], width, out);
}

/// Encodes groups of eight; the last one is filled with zeros.
fn groups<T: Copy + Into<u64>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let groups = values.len().div_ceil(8);
    varint(out, (groups as u64) << 1 | 1);
    let filling = groups * 8 - values.len();
    let values = values.iter().map(|&value| value.into());
    pack(values.chain(std::iter::repeat_n(0, filling)), width, out);
}

/// Appends numbers of `width` bits, the lowest bits first. All together are whole bytes.
fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut pending, mut count) = (0_u128, 0);
    for value in values {
        pending |= u128::from(value) << count;
        count += width;
        if count >= 64 {
            out.extend_from_slice(&(pending as u64).to_le_bytes());
            pending >>= 64;
            count -= 64;
        }
    }
    out.extend_from_slice(&pending.to_le_bytes()[..count.div_ceil(8) as usize]);
}

#[cfg(test)]
mod tests;
