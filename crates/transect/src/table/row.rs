//! The number of a row.

/// The number of an entry in its table.
///
/// Entries of one directory have consecutive numbers. A number has no other meaning, and differs
/// between tables of the same tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row(pub(super) u32);

/// The number of rows in a chunk.
pub(super) const CHUNK: usize = 1 << Row::BITS_IN_CHUNK;

impl Row {
    /// The number of bits that hold the index within a chunk.
    const BITS_IN_CHUNK: u32 = 16;

    /// Returns the row `index` of `chunk`; `None` if it exceeds what a table can hold.
    pub(super) fn new(chunk: usize, index: usize) -> Option<Self> {
        let number = (chunk << Self::BITS_IN_CHUNK) + index;
        // The largest number is not used: a range of rows must have an end.
        u32::try_from(number).ok().filter(|&number| number != u32::MAX).map(Self)
    }

    #[inline]
    pub(super) fn chunk(self) -> usize {
        (self.0 >> Self::BITS_IN_CHUNK) as usize
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        (self.0 & ((1 << Self::BITS_IN_CHUNK) - 1)) as usize
    }

    /// Returns the number.
    pub fn number(self) -> u32 {
        self.0
    }
}
