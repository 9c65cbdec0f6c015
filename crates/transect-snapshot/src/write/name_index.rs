//! Makes the index of names.

use std::io::{self, Write};
use std::path::Path;

use crate::byte_values::ByteValues;
use crate::name_index::{
    BLOCK_ROWS, IndexShape, MAX_SLICES, MIN_SLICES, checksum, grams, slice_of,
};
use crate::schema::{Column, PAGE_ROWS};
use crate::scratch::Scratch;

use super::columns::{PageColumns, Values};

/// The bytes of the bits of a block while they are collected.
const BLOCK_BYTES: usize = MAX_SLICES / 8;

/// The number of blocks in a tile, except the last.
const TILE_BLOCKS: usize = 512;

/// The numbers of slices that are possible.
const LEVELS: usize = (MAX_SLICES / MIN_SLICES).ilog2() as usize + 1;

/// The bytes of slices that are put together at a time.
const WRITE_BYTES: usize = 8 << 20;

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

/// The index while its blocks are collected. They are wanted block by block and stored slice by slice, so
/// they are turned in tiles: a row of a tile has the bits of one slice.
pub(super) struct NameIndexWriter {
    rows: usize,
    /// The blocks of the next tile.
    tile: Vec<u8>,
    tiles: Scratch,
    /// The bits that are set if there were `MAX_SLICES` slices, half of them, and so on.
    set: [u64; LEVELS],
}

impl NameIndexWriter {
    /// Returns the index of `rows` rows, without their blocks.
    pub(super) fn new(rows: usize, folder: Option<&Path>) -> Self {
        Self { rows, tile: Vec::new(), tiles: Scratch::new(folder), set: [0; LEVELS] }
    }

    /// Adds the blocks of a page, in the order of rows.
    pub(super) fn add(&mut self, blocks: &[u8]) -> io::Result<()> {
        for block in blocks.chunks_exact(BLOCK_BYTES) {
            self.count(block);
            self.tile.extend_from_slice(block);
            if self.tile.len() == TILE_BLOCKS * BLOCK_BYTES {
                self.end_tile()?;
            }
        }
        Ok(())
    }

    fn count(&mut self, block: &[u8]) {
        let mut bits = [0; BLOCK_BYTES];
        bits.copy_from_slice(block);
        let mut length = BLOCK_BYTES;
        for set in &mut self.set {
            let words = bits[..length].as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
            *set += words.map(|word| u64::from(word.count_ones())).sum::<u64>();
            length /= 2;
            let (low, high) = bits.split_at_mut(length);
            low.iter_mut().zip(high).for_each(|(low, high)| *low |= *high);
        }
    }

    fn end_tile(&mut self) -> io::Result<()> {
        let blocks = self.tile.len() / BLOCK_BYTES;
        let width = blocks.div_ceil(8);
        let mut turned = vec![0; width * MAX_SLICES];
        for byte in 0..BLOCK_BYTES {
            for group in 0..width {
                let mut square = [0; 8];
                for (row, block) in square.iter_mut().zip(group * 8..blocks) {
                    *row = self.tile[block * BLOCK_BYTES + byte];
                }
                let square = transposed(u64::from_le_bytes(square)).to_le_bytes();
                for (slice, value) in square.into_iter().enumerate() {
                    turned[(byte * 8 + slice) * width + group] = value;
                }
            }
        }
        self.tile.clear();
        self.tiles.append(&turned)
    }

    /// Returns the number of slices: as few as leave half of the bits unset.
    fn slices(&self, blocks: usize) -> usize {
        let mut slices = MAX_SLICES;
        for &set in &self.set[1..] {
            if set * 2 > (blocks * slices / 2) as u64 {
                break;
            }
            slices /= 2;
        }
        slices
    }

    /// Writes the index, and returns its length.
    pub(super) fn finish(mut self, out: &mut dyn Write) -> io::Result<u64> {
        if !self.tile.is_empty() {
            self.end_tile()?;
        }
        let blocks = self.rows.div_ceil(BLOCK_ROWS);
        let slices = self.slices(blocks);
        let shape = IndexShape {
            rows: self.rows as u64,
            block_rows: BLOCK_ROWS as u32,
            slices: slices as u32,
        };
        out.write_all(&shape.header())?;
        let length = blocks.div_ceil(8);
        debug_assert_eq!(self.tiles.len(), (length * MAX_SLICES) as u64, "BUG: a block is missing");
        // As many slices at a time as fit into some memory.
        let at_once = (WRITE_BYTES / length).clamp(1, slices);
        let (mut bits, mut part) = (Vec::new(), Vec::new());
        for first in (0..slices).step_by(at_once) {
            let count = at_once.min(slices - first);
            bits.clear();
            bits.resize(count * length, 0);
            let (mut tile, mut column) = (0, 0);
            while column < length {
                let width = (length - column).min(TILE_BLOCKS / 8);
                // A slice has the grams of all that it would be divided into.
                for of in (first..MAX_SLICES).step_by(slices) {
                    part.resize(count * width, 0);
                    self.tiles.read_exact_at(tile + (of * width) as u64, &mut part)?;
                    for (row, slice) in part.chunks_exact(width).zip(bits.chunks_exact_mut(length))
                    {
                        let slice = &mut slice[column..column + width];
                        slice.iter_mut().zip(row).for_each(|(bits, more)| *bits |= more);
                    }
                }
                tile += (width * MAX_SLICES) as u64;
                column += width;
            }
            for (slice, bits) in bits.chunks_exact(length).enumerate() {
                out.write_all(bits)?;
                out.write_all(&checksum((first + slice) as u32, bits))?;
            }
        }
        Ok(shape.length())
    }
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
    use crate::name_index::{CHECKSUM_BYTES, HEADER_BYTES};

    fn encode(rows: usize, bits: &[u8]) -> Vec<u8> {
        let mut index = NameIndexWriter::new(rows, None);
        let mut out = Vec::new();
        index.add(bits).unwrap();
        assert_eq!(index.finish(&mut out).unwrap(), out.len() as u64);
        out
    }

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
        let index = encode(rows, &bits);
        // One block of twelve, with every bit set, leaves more than half unset.
        bits[..BLOCK_BYTES].fill(0xff);
        assert_eq!(encode(rows, &bits).len(), index.len());
        bits[..5 * BLOCK_BYTES].fill(0xff);
        let shape = |slices| IndexShape { rows: rows as u64, block_rows: 512, slices };
        assert_eq!(encode(rows, &bits).len() as u64, shape(1024).length());
        bits[5 * BLOCK_BYTES..8 * BLOCK_BYTES].fill(0xff);
        assert_eq!(encode(rows, &bits).len() as u64, shape(16384).length());
        assert_eq!(index.len() as u64, shape(1024).length());
        for slice in 0..1024 {
            let bytes = &index[HEADER_BYTES + slice * (2 + CHECKSUM_BYTES)..][..6];
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
