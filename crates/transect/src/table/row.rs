//! The numbers of a table's rows.

/// The number of an entry in its table.
///
/// Entries of one directory have numbers one after the other; other than that a number says
/// nothing, and it is not the same in another table of the same tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row(pub(super) u32);

impl Row {
    /// Bits of a row's number that say where in its chunk it lies.
    pub(super) const BITS_IN_CHUNK: u32 = 16;

    /// Returns the row `index` of `chunk`; `None` if a table cannot have that many.
    pub(super) fn new(chunk: usize, index: usize) -> Option<Self> {
        let number = (chunk << Self::BITS_IN_CHUNK) + index;
        // The largest number is that of no row: a range of rows must have an end.
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
