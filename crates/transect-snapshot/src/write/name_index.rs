//! Makes the index of names.

use std::io::{self, Write};
use std::path::Path;

use crate::byte_values::ByteValues;
use crate::name_index::{BLOCK_ROWS, HASHES, IndexShape, MAX_SLICE_HASHES, checksum, each_hash};
use crate::schema::{Column, PAGE_ROWS};
use crate::scratch::Scratch;

use super::columns::{PageColumns, Values};

/// The bytes of the bits of a block while they are collected: a bit for each hash.
const BLOCK_BYTES: usize = HASHES / 8;

/// The number of blocks in a tile, except the last.
const TILE_BLOCKS: usize = 128;

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
        each_hash(name, |hash| block[usize::from(hash / 8)] |= 1 << (hash % 8));
    }
}

/// The index while its blocks are collected. They are wanted block by block and stored slice by slice, so
/// they are turned in tiles: a row of a tile has the bits of one hash.
pub(super) struct NameIndexWriter {
    rows: usize,
    /// The blocks of the next tile.
    tile: Vec<u8>,
    tiles: Scratch,
    /// The number of bits that are set.
    set: u64,
}

impl NameIndexWriter {
    /// Returns the index of `rows` rows, without their blocks.
    pub(super) fn new(rows: usize, folder: Option<&Path>) -> Self {
        Self { rows, tile: Vec::new(), tiles: Scratch::new(folder), set: 0 }
    }

    /// Adds the blocks of a page, in the order of rows.
    pub(super) fn add(&mut self, blocks: &[u8]) -> io::Result<()> {
        for block in blocks.chunks_exact(BLOCK_BYTES) {
            let words = block.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
            self.set += words.map(|word| u64::from(word.count_ones())).sum::<u64>();
            self.tile.extend_from_slice(block);
            if self.tile.len() == TILE_BLOCKS * BLOCK_BYTES {
                self.end_tile()?;
            }
        }
        Ok(())
    }

    fn end_tile(&mut self) -> io::Result<()> {
        let blocks = self.tile.len() / BLOCK_BYTES;
        let width = blocks.div_ceil(8);
        let mut turned = vec![0; width * HASHES];
        for group in 0..width {
            for byte in 0..BLOCK_BYTES {
                let mut square = [0; 8];
                for (row, block) in square.iter_mut().zip(group * 8..blocks) {
                    *row = self.tile[block * BLOCK_BYTES + byte];
                }
                let square = transposed(u64::from_le_bytes(square)).to_le_bytes();
                for (hash, value) in square.into_iter().enumerate() {
                    turned[(byte * 8 + hash) * width + group] = value;
                }
            }
        }
        self.tile.clear();
        self.tiles.append(&turned)
    }

    /// Returns the shape with at least a third more slices than a block has hashes on average. Then about half of the bits
    /// are set, and a word with six grams leaves one page of 64 to be read in vain.
    fn shape(&self) -> IndexShape {
        let blocks = self.rows.div_ceil(BLOCK_ROWS);
        let slice_hashes = 3 * (HASHES * blocks) as u64 / (4 * self.set.max(1));
        IndexShape {
            rows: self.rows as u64,
            block_rows: BLOCK_ROWS as u32,
            slice_hashes: slice_hashes.clamp(1, MAX_SLICE_HASHES.into()) as u32,
        }
    }

    /// Writes the index, and returns its length.
    pub(super) fn finish(mut self, out: &mut dyn Write) -> io::Result<u64> {
        if !self.tile.is_empty() {
            self.end_tile()?;
        }
        let shape = self.shape();
        out.write_all(&shape.header())?;
        let length = shape.blocks().div_ceil(8) as usize;
        debug_assert_eq!(self.tiles.len(), (length * HASHES) as u64, "BUG: a block is missing");
        let (slices, slice_hashes) = (shape.slices() as usize, shape.slice_hashes as usize);
        // As many slices at a time as fit into some memory.
        let at_once = (WRITE_BYTES / length).clamp(1, slices);
        let (mut bits, mut part) = (Vec::new(), Vec::new());
        for first in (0..slices).step_by(at_once) {
            let count = at_once.min(slices - first);
            let hashes = first * slice_hashes..HASHES.min((first + count) * slice_hashes);
            bits.clear();
            bits.resize(count * length, 0);
            let (mut tile, mut column) = (0, 0);
            while column < length {
                let width = (length - column).min(TILE_BLOCKS / 8);
                part.resize(hashes.len() * width, 0);
                self.tiles.read_exact_at(tile + (hashes.start * width) as u64, &mut part)?;
                let of_slices =
                    part.chunks(slice_hashes * width).zip(bits.chunks_exact_mut(length));
                for (rows, slice) in of_slices {
                    for row in rows.chunks_exact(width) {
                        let slice = &mut slice[column..column + width];
                        slice.iter_mut().zip(row).for_each(|(bits, more)| *bits |= more);
                    }
                }
                tile += (width * HASHES) as u64;
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
        // Hash 5 of block 3, and the last hash of block 11.
        bits[3 * BLOCK_BYTES] = 1 << 5;
        bits[12 * BLOCK_BYTES - 1] = 0x80;
        let shape = |slice_hashes| IndexShape { rows: rows as u64, block_rows: 2048, slice_hashes };
        let assert_slices = |index: &[u8], shape: IndexShape, of: &dyn Fn(u32) -> [u8; 2]| {
            assert_eq!(index.len() as u64, shape.length());
            for slice in 0..shape.slices() {
                let at = HEADER_BYTES + slice as usize * (2 + CHECKSUM_BYTES);
                assert_eq!(index[at..at + 2], of(slice), "{slice}");
                assert_eq!(index[at + 2..at + 6], checksum(slice, &of(slice)), "{slice}");
            }
        };
        // With two bits of 12 blocks, as many hashes as possible share a slice.
        assert_slices(&encode(rows, &bits), shape(64), &|slice| match slice {
            0 => [1 << 3, 0],
            1023 => [0, 1 << 3],
            _ => [0, 0],
        });
        // A quarter of all bits: three hashes each, and one in the last slice.
        bits[..3 * BLOCK_BYTES].fill(0xff);
        bits[3 * BLOCK_BYTES] = 0;
        bits[BLOCK_BYTES - 1] = 0x7f;
        assert_slices(&encode(rows, &bits), shape(3), &|slice| match slice {
            21845 => [0b110, 1 << 3],
            _ => [0b111, 0],
        });
        bits.fill(0xff);
        assert_slices(&encode(rows, &bits), shape(1), &|_| [0xff, 0x0f]);
    }

    #[test]
    fn encode_joins_tiles() {
        let blocks = TILE_BLOCKS + 9;
        let mut bits = vec![0; blocks * BLOCK_BYTES];
        bits[(TILE_BLOCKS + 8) * BLOCK_BYTES] = 1;
        bits[7 * BLOCK_BYTES] = 1;
        let index = encode(blocks * BLOCK_ROWS, &bits);
        let mut expected = vec![0; blocks.div_ceil(8)];
        (expected[0], expected[TILE_BLOCKS / 8 + 1]) = (1 << 7, 1);
        assert_eq!(index[HEADER_BYTES..][..expected.len()], expected);
    }
}
