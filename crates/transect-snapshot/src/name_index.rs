//! The index of names: which sequences of three, four and eight bytes (grams) occur in the names of each block of rows. A
//! search reads the few parts of it that its words need, and then only the pages that can have a match.
//!
//! ```text
//! header, 32 bytes │ slice │ slice │ …       a slice: a bit for each block of rows, then a checksum
//! ```
//!
//! A gram belongs to one slice, which it shares with others: a bit that is set means *maybe*. It lies
//! between the columns and the description of the file, where other programs do not look.
//! `docs/FORMAT.md` describes it.

use crate::schema::TEXT_PAGE_ROWS;

/// The key of its place, as two numbers: offset and length.
pub(crate) const INDEX_KEY: &str = "transect.name_index";

/// The number of rows of a block: those of a page, which a search reads as a whole.
pub(crate) const BLOCK_ROWS: usize = TEXT_PAGE_ROWS;

/// The number of different hashes of grams, and the maximum number of slices.
pub(crate) const HASHES: usize = 1 << 16;

/// The maximum number of hashes that share a slice.
pub(crate) const MAX_SLICE_HASHES: u32 = 64;

pub(crate) const HEADER_BYTES: usize = 32;

/// The length of the checksum of a slice.
pub(crate) const CHECKSUM_BYTES: usize = 4;

const MAGIC: &[u8; 8] = b"TRNAMES3";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexShape {
    pub(crate) rows: u64,
    pub(crate) block_rows: u32,
    /// The number of hashes of a slice; the last slice may have fewer.
    pub(crate) slice_hashes: u32,
}

impl IndexShape {
    pub(crate) fn blocks(self) -> u64 {
        self.rows.div_ceil(self.block_rows.into())
    }

    pub(crate) fn slices(self) -> u32 {
        (HASHES as u32).div_ceil(self.slice_hashes)
    }

    pub(crate) fn slice_of(self, hash: u16) -> u32 {
        u32::from(hash) / self.slice_hashes
    }

    /// Returns the length of a slice, with its checksum.
    pub(crate) fn slice_bytes(self) -> u64 {
        self.blocks().div_ceil(8) + CHECKSUM_BYTES as u64
    }

    /// Returns the length of all of it.
    pub(crate) fn length(self) -> u64 {
        // At most 2^16 slices of 2^32 bits.
        HEADER_BYTES as u64 + self.slice_bytes() * u64::from(self.slices())
    }

    pub(crate) fn header(self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(MAGIC);
        header[8..16].copy_from_slice(&self.rows.to_le_bytes());
        header[16..20].copy_from_slice(&self.block_rows.to_le_bytes());
        header[20..24].copy_from_slice(&self.slice_hashes.to_le_bytes());
        let checksum = blake3::hash(&header[..24]);
        header[24..].copy_from_slice(&checksum.as_bytes()[..8]);
        header
    }

    /// Reads the header of an index of `rows` rows; `None` for anything else.
    pub(crate) fn parse(header: &[u8; HEADER_BYTES], rows: u64) -> Option<Self> {
        let number =
            |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("BUG: four bytes"));
        let shape = Self { rows, block_rows: number(16), slice_hashes: number(20) };
        let is_valid = shape.block_rows > 0
            && (1..=MAX_SLICE_HASHES).contains(&shape.slice_hashes)
            && shape.header() == *header;
        is_valid.then_some(shape)
    }
}

pub(crate) fn checksum(slice: u32, bits: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&slice.to_le_bytes()).update(bits);
    let digest = hasher.finalize();
    let [a, b, c, d, ..] = *digest.as_bytes();
    [a, b, c, d]
}

/// Calls `each` with the hashes of the grams of a name whose ASCII letters are in lower case.
///
/// The short ones find short words. Where names are made of few syllables, most blocks have all of those, and only longer
/// ones tell names apart.
#[inline]
pub(crate) fn each_hash(name: &[u8], mut each: impl FnMut(u16)) {
    // The highest bits depend on all bytes.
    let mut hash = |gram: u64| each((gram.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16);
    for &[a, b, c] in name.array_windows() {
        hash(u32::from_le_bytes([a, b, c, 0]).into());
    }
    for gram in name.array_windows() {
        hash(u32::from_le_bytes(*gram).into());
    }
    for gram in name.array_windows() {
        hash(u64::from_le_bytes(*gram));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(name: &str) -> Vec<u16> {
        let mut hashes = Vec::new();
        each_hash(&name.as_bytes().to_ascii_lowercase(), |hash| hashes.push(hash));
        hashes
    }

    #[test]
    fn hashes_are_of_three_four_and_eight_bytes_without_case() {
        assert!(all("ab").is_empty());
        let hash = |text: &[u8]| {
            let number = text.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
            (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
        };
        let threes = [b"abc", b"bcd", b"cd\xc3", b"d\xc3\xa9"].map(|gram| hash(gram));
        let fours = [b"abcd", b"bcd\xc3", b"cd\xc3\xa9"].map(|gram| hash(gram));
        assert_eq!(all("ABcd\u{e9}"), [&threes[..], &fours[..]].concat());
        let both = [b"12345678".as_slice(), b"23456789"];
        let ends: Vec<u16> = both.into_iter().map(hash).collect();
        assert_eq!((all("123456789").len(), &all("123456789")[13..]), (15, &ends[..]));
        assert_eq!(all("Readme"), all("README"));
    }

    #[test]
    fn header_that_does_not_fit_is_refused() {
        let shape = IndexShape { rows: 200_000, block_rows: 2048, slice_hashes: 5 };
        let header = shape.header();
        assert_eq!(IndexShape::parse(&header, 200_000), Some(shape));
        assert_eq!(IndexShape::parse(&header, 199_999), None);
        for at in 0..HEADER_BYTES {
            let mut damaged = header;
            damaged[at] ^= 1;
            assert_eq!(IndexShape::parse(&damaged, 200_000), None, "{at}");
        }
        for (block_rows, slice_hashes) in [(0, 5), (2048, 0), (2048, 65), (2048, u32::MAX)] {
            let header = IndexShape { rows: 9, block_rows, slice_hashes }.header();
            assert_eq!(IndexShape::parse(&header, 9), None, "{block_rows} {slice_hashes}");
        }
        assert_eq!((shape.blocks(), shape.slices(), shape.slice_bytes()), (98, 13_108, 17));
        assert_eq!(
            (shape.slice_of(4), shape.slice_of(5), shape.slice_of(u16::MAX)),
            (0, 1, 13_107)
        );
        assert_eq!(shape.length(), 32 + 13_108 * 17);
    }
}
