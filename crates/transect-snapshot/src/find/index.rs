//! Reads the index of names: in which blocks of rows a name can contain some words.

use crate::name_index::{CHECKSUM_BYTES, HEADER_BYTES, IndexShape, checksum, each_hash};
use crate::read::ReadAt;
use crate::read::error::{ReadError, damaged};

/// The maximum number of slices that are read: more rule out nothing that these leave.
const MAX_SLICES_READ: usize = 64;

/// The blocks of rows that can have a match.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    block_rows: u64,
    bits: Vec<u8>,
}

impl Blocks {
    /// Returns the number of these blocks.
    pub(super) fn len(&self) -> usize {
        self.bits.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Returns the first row, from this one on, that can match.
    pub(super) fn next(&self, row: u64) -> Option<u64> {
        let block = row / self.block_rows;
        let at = (block / 8) as usize;
        let first = self.bits.get(at)? & 0xff << (block % 8);
        let rest = || {
            self.bits[at + 1..].iter().copied().enumerate().map(|(of, bits)| (at + 1 + of, bits))
        };
        let mut bytes = std::iter::once((at, first)).chain(rest());
        let (byte, bits) = bytes.find(|(_, bits)| *bits != 0)?;
        let block = byte as u64 * 8 + u64::from(bits.trailing_zeros());
        Some(row.max(block * self.block_rows))
    }
}

/// Returns the blocks in which a name can contain all of these words, without the case of ASCII letters. `None` if the
/// index cannot tell: there is none, or it is that of another file, or all words are too short.
///
/// `place` is the offset and the end of the index, as the file claims.
///
/// # Errors
/// The file cannot be read, or a slice is damaged.
pub(super) fn blocks_with<'w>(
    source: &impl ReadAt,
    place: Option<(u64, u64)>,
    rows: u64,
    words: impl Iterator<Item = &'w [u8]>,
) -> Result<Option<Blocks>, ReadError> {
    let mut hashes = Vec::new();
    words.for_each(|word| each_hash(&word.to_ascii_lowercase(), |hash| hashes.push(hash)));
    let Some((offset, end)) = place.filter(|_| !hashes.is_empty()) else { return Ok(None) };
    if end - offset < HEADER_BYTES as u64 {
        return Ok(None);
    }
    let mut header = [0; HEADER_BYTES];
    source.read_exact_at(offset, &mut header)?;
    // A program that rewrites the file may keep the place in its metadata.
    let Some(shape) = IndexShape::parse(&header, rows).filter(|it| it.length() == end - offset)
    else {
        return Ok(None);
    };
    let mut wanted: Vec<u32> = hashes.into_iter().map(|hash| shape.slice_of(hash)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.truncate(MAX_SLICES_READ);
    // All slices are in the file: no memory is reserved for a claim.
    let mut slice = vec![0; shape.slice_bytes() as usize];
    let mut bits = vec![0xff; slice.len() - CHECKSUM_BYTES];
    for number in wanted {
        let at = offset + HEADER_BYTES as u64 + u64::from(number) * shape.slice_bytes();
        source.read_exact_at(at, &mut slice)?;
        let (found, sum) = slice.split_at(bits.len());
        if checksum(number, found) != sum {
            return damaged("its index of names has another checksum");
        }
        bits.iter_mut().zip(found).for_each(|(bits, found)| *bits &= found);
        if bits.iter().all(|&bits| bits == 0) {
            break;
        }
    }
    Ok(Some(Blocks { block_rows: shape.block_rows.into(), bits }))
}
