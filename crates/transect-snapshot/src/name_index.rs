//! The index of names: which sequences of four bytes (grams) occur in the names of each block of rows. A search
//! reads the few parts of it that its words need, and then only the pages that can have a match.
//!
//! ```text
//! header, 32 bytes │ slice │ slice │ …       a slice: a bit for each block of rows, then a checksum
//! ```
//!
//! A gram belongs to one slice, which it shares with others: a bit that is set means *maybe*. It lies
//! between the columns and the description of the file, where other programs do not look.
//! `docs/FORMAT.md` describes it.

/// The key of its place, as two numbers: offset and length.
pub(crate) const INDEX_KEY: &str = "transect.name_index";

pub(crate) const GRAM_BYTES: usize = 4;

/// The number of rows of a block. Smaller blocks rule out more, but each needs its own bits.
pub(crate) const BLOCK_ROWS: usize = 512;

/// The numbers of slices that the writer makes: as few as leave half of the bits unset.
pub(crate) const MIN_SLICES: usize = 1 << 10;
pub(crate) const MAX_SLICES: usize = 1 << 14;

/// The maximum number of slices that a reader accepts.
const MAX_READ_SLICES: u32 = 1 << 16;

pub(crate) const HEADER_BYTES: usize = 32;

/// The length of the checksum of a slice.
pub(crate) const CHECKSUM_BYTES: usize = 4;

const MAGIC: &[u8; 8] = b"TRNAMES1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexShape {
    pub(crate) rows: u64,
    pub(crate) block_rows: u32,
    /// A power of two.
    pub(crate) slices: u32,
}

impl IndexShape {
    pub(crate) fn blocks(self) -> u64 {
        self.rows.div_ceil(self.block_rows.into())
    }

    /// Returns the length of a slice, with its checksum.
    pub(crate) fn slice_bytes(self) -> u64 {
        self.blocks().div_ceil(8) + CHECKSUM_BYTES as u64
    }

    /// Returns the length of all of it.
    pub(crate) fn length(self) -> u64 {
        // At most 2^16 slices of 2^32 bits.
        HEADER_BYTES as u64 + self.slice_bytes() * u64::from(self.slices)
    }

    pub(crate) fn header(self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(MAGIC);
        header[8..16].copy_from_slice(&self.rows.to_le_bytes());
        header[16..20].copy_from_slice(&self.block_rows.to_le_bytes());
        header[20..24].copy_from_slice(&self.slices.to_le_bytes());
        let checksum = blake3::hash(&header[..24]);
        header[24..].copy_from_slice(&checksum.as_bytes()[..8]);
        header
    }

    /// Reads the header of an index of `rows` rows; `None` for anything else.
    pub(crate) fn parse(header: &[u8; HEADER_BYTES], rows: u64) -> Option<Self> {
        let number =
            |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("BUG: four bytes"));
        let shape = Self { rows, block_rows: number(16), slices: number(20) };
        let is_valid = shape.block_rows > 0
            && shape.slices.is_power_of_two()
            && shape.slices <= MAX_READ_SLICES
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

/// Returns the number that the slice of a gram has, in the lower bits: as many as there are slices.
#[inline]
pub(crate) fn slice_of(gram: u32) -> u32 {
    let mixed = gram.wrapping_mul(0x9e37_79b1);
    mixed ^ (mixed >> 16)
}

/// Returns the grams of a name whose ASCII letters are in lower case.
#[inline]
pub(crate) fn grams(name: &[u8]) -> impl Iterator<Item = u32> {
    let gram = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("BUG: four bytes"));
    name.windows(GRAM_BYTES).map(gram)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(name: &str) -> Vec<u32> {
        grams(&name.as_bytes().to_ascii_lowercase()).collect()
    }

    #[test]
    fn grams_are_four_bytes_without_case() {
        assert!(all("abc").is_empty());
        let gram = |text: &[u8; 4]| u32::from_le_bytes(*text);
        assert_eq!(all("ABcd\u{e9}"), [gram(b"abcd"), gram(b"bcd\xc3"), gram(b"cd\xc3\xa9")]);
        assert_eq!(all("Readme"), all("README"));
    }

    #[test]
    fn header_that_does_not_fit_is_refused() {
        let shape = IndexShape { rows: 200_000, block_rows: 512, slices: 4096 };
        let header = shape.header();
        assert_eq!(IndexShape::parse(&header, 200_000), Some(shape));
        assert_eq!(IndexShape::parse(&header, 199_999), None);
        for at in 0..HEADER_BYTES {
            let mut damaged = header;
            damaged[at] ^= 1;
            assert_eq!(IndexShape::parse(&damaged, 200_000), None, "{at}");
        }
        for (block_rows, slices) in [(0, 4096), (512, 0), (512, 4095), (512, 1 << 17)] {
            let shape = IndexShape { rows: 9, block_rows, slices };
            let header = IndexShape { block_rows, ..shape }.header();
            assert_eq!(IndexShape::parse(&header, 9), None, "{block_rows} {slices}");
        }
        assert_eq!((shape.blocks(), shape.slice_bytes()), (391, 53));
        assert_eq!(shape.length(), 32 + 4096 * 53);
    }
}
