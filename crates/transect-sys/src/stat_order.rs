//! The stat order: which entry of a listing is asked about first.

/// In which order a reader asks for the attributes of the entries that one listing call brought.
///
/// It changes when a question is put, never what is found or the order in which it is delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StatOrder {
    /// As they were listed. Nothing is sorted: the best there is while the answers are in memory.
    #[default]
    Listing,
    /// By ascending inode number.
    ///
    /// Many file systems list names by their hash but store inodes in tables, by number: asked in
    /// that order, a rotating disk with a cold cache moves its heads one way through the table,
    /// and a block of it is read once. Each listing call is sorted by itself, so a directory of
    /// more entries than [`ReaderSettings::buffer_size`] holds is asked in several passes.
    ///
    /// [`ReaderSettings::buffer_size`]: crate::ReaderSettings::buffer_size
    Inode,
}

impl StatOrder {
    /// All stat orders.
    pub const ALL: &'static [Self] = &[Self::Listing, Self::Inode];

    /// Returns the name, as users type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Listing => "listing",
            Self::Inode => "inode",
        }
    }
}
