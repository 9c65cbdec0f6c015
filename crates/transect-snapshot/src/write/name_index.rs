//! Makes the index of names.

use crate::byte_values::ByteValues;
use crate::name_index::{
    BLOCK_ROWS, CHECKSUM_BYTES, IndexShape, MAX_SLICES, MIN_SLICES, checksum, grams, slice_of,
};
use crate::schema::{Column, PAGE_ROWS};

use super::columns::{PageColumns, Values};

/// The bytes of the bits of a block while they are collected.
const BLOCK_BYTES: usize = MAX_SLICES / 8;

const _: () = assert!(PAGE_ROWS.is_multiple_of(BLOCK_ROWS), "a block has rows of one page");

/// Returns the bits of the blocks of a page, one block after the other.
pub(super) fn bits_of_page(rows: usize, columns: &PageColumns) -> Vec<u8> {
    let mut bits = vec![0; rows.div_ceil(BLOCK_ROWS) * BLOCK_BYTES];
    if let Values::Bytes(names) = &columns.all[Column::Name as usize].values {
        add_names(names, 0..rows, &mut bits);
    }
    // A name that is not UTF-8 is found by its bytes.
    let raw = &columns.all[Column::NameRaw as usize];
    if let Values::Bytes(names) = &raw.values {
        let rows = raw.defined.iter().enumerate().filter(|(_, defined)| **defined);
        add_names(names, rows.map(|(row, _)| row), &mut bits);
    }
    bits
}

/// Sets the bits of names, of which these are the rows.
fn add_names(names: &ByteValues, rows: impl Iterator<Item = usize>, bits: &mut [u8]) {
    // All at once is faster than letter by letter.
    let lower = ByteValues { bytes: names.bytes.to_ascii_lowercase(), ends: names.ends.clone() };
    for (name, row) in lower.iter().zip(rows) {
        let block = &mut bits[row / BLOCK_ROWS * BLOCK_BYTES..];
        let block: &mut [u8; BLOCK_BYTES] =
            block.first_chunk_mut().expect("BUG: a block is missing");
        for gram in grams(name) {
            let slice = slice_of(gram) as usize % MAX_SLICES;
            block[slice / 8] |= 1 << (slice % 8);
        }
    }
}

/// Returns the index of `rows` rows, whose blocks have these bits.
pub(super) fn encode(rows: usize, mut bits: Vec<u8>) -> Vec<u8> {
    let blocks = rows.div_ceil(BLOCK_ROWS);
    debug_assert_eq!(bits.len(), blocks * BLOCK_BYTES, "BUG: a block is missing");
    let mut slices = MAX_SLICES;
    while slices > MIN_SLICES {
        let Some(half) = halved(&bits, slices) else { break };
        bits = half;
        slices /= 2;
    }
    let shape =
        IndexShape { rows: rows as u64, block_rows: BLOCK_ROWS as u32, slices: slices as u32 };
    let mut out = Vec::with_capacity(shape.length() as usize);
    out.extend_from_slice(&shape.header());
    let bytes = slices / 8;
    let length = blocks.div_ceil(8);
    // Eight slices at a time: a byte of each block.
    let mut eight = vec![0; 8 * (length + CHECKSUM_BYTES)];
    for byte in 0..bytes {
        for group in 0..length {
            let mut square = [0; 8];
            for (row, block) in square.iter_mut().zip(group * 8..blocks) {
                *row = bits[block * bytes + byte];
            }
            let square = transposed(u64::from_le_bytes(square)).to_le_bytes();
            for (slice, value) in square.into_iter().enumerate() {
                eight[slice * (length + CHECKSUM_BYTES) + group] = value;
            }
        }
        for (slice, bytes) in eight.chunks_exact_mut(length + CHECKSUM_BYTES).enumerate() {
            let (bits, end) = bytes.split_at_mut(length);
            end.copy_from_slice(&checksum((byte * 8 + slice) as u32, bits));
        }
        out.extend_from_slice(&eight);
    }
    out
}

/// Returns the bits of half as many slices; `None` if more than half of them would be set.
fn halved(bits: &[u8], slices: usize) -> Option<Vec<u8>> {
    let half = slices / 16;
    let mut out = Vec::with_capacity(bits.len() / 2);
    for block in bits.chunks_exact(slices / 8) {
        let (low, high) = block.split_at(half);
        out.extend(low.iter().zip(high).map(|(low, high)| low | high));
    }
    let set: u64 = out.iter().map(|byte| u64::from(byte.count_ones())).sum();
    (set <= out.len() as u64 * 4).then_some(out)
}

/// Returns the columns of a square of eight by eight bits as its rows.
///
/// Source: Hacker's Delight, `transpose8`.
fn transposed(mut square: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swapped = (square ^ (square >> shift)) & mask;
        square = square ^ swapped ^ (swapped << shift);
    }
    square
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::name_index::HEADER_BYTES;

    proptest! {
        #[test]
        fn transposed_swaps_rows_and_columns(square in any::<u64>()) {
            let bit = |square: u64, row: u32, column: u32| square >> (8 * row + column) & 1;
            let swapped = transposed(square);
            for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
                prop_assert_eq!(bit(square, row, column), bit(swapped, column, row));
            }
        }
    }

    #[test]
    fn encode_sets_the_bit_of_each_block_in_the_slice() {
        let rows = 11 * BLOCK_ROWS + 1;
        let mut bits = vec![0; 12 * BLOCK_BYTES];
        // Slice 5 of block 3, slice 16383 of block 11, and too many in block 0 to halve them twice.
        bits[3 * BLOCK_BYTES] = 1 << 5;
        bits[12 * BLOCK_BYTES - 1] = 0x80;
        let index = encode(rows, bits.clone());
        // One block of twelve, with every bit set, leaves more than half unset.
        bits[..BLOCK_BYTES].fill(0xff);
        assert_eq!(encode(rows, bits.clone()).len(), index.len());
        bits[..5 * BLOCK_BYTES].fill(0xff);
        let shape = |slices| IndexShape { rows: rows as u64, block_rows: 512, slices };
        assert_eq!(encode(rows, bits.clone()).len() as u64, shape(1024).length());
        bits[5 * BLOCK_BYTES..8 * BLOCK_BYTES].fill(0xff);
        assert_eq!(encode(rows, bits).len() as u64, shape(16384).length());
        assert_eq!(index.len() as u64, shape(1024).length());
        for slice in 0..1024 {
            let bytes = &index[HEADER_BYTES + slice * 6..][..6];
            let expected: [u8; 2] = match slice {
                5 => [1 << 3, 0],
                1023 => [0, 1 << 3],
                _ => [0, 0],
            };
            assert_eq!(bytes[..2], expected, "{slice}");
            assert_eq!(bytes[2..], checksum(slice as u32, &expected), "{slice}");
        }
    }
}
