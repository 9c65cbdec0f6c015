//! The stat order: the order of attribute queries within one listing.

/// The order in which a reader queries the attributes of the entries from one listing call.
///
/// It changes only when queries are made, never the result or the order of delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StatOrder {
    /// Listing order. Nothing is sorted: the best choice if the answers are in memory.
    #[default]
    Listing,
    /// Ascending inode numbers.
    ///
    /// Many file systems list names by hash but store inodes in tables, by number. With queries in
    /// that order and a cold cache, the heads of a rotating disk move through the table in one
    /// direction and each block of it is read once. Each listing call is sorted on its own, so a
    /// directory with more entries than [`ReaderSettings::buffer_size`] holds takes several passes.
    ///
    /// [`ReaderSettings::buffer_size`]: crate::ReaderSettings::buffer_size
    Inode,
}

impl StatOrder {
    /// All stat orders.
    pub const ALL: &'static [Self] = &[Self::Listing, Self::Inode];

    /// Returns the name that users type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Listing => "listing",
            Self::Inode => "inode",
        }
    }
}
