//! The settings of a reader.

use std::ops::RangeInclusive;

/// Options of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderSettings {
    /// Buffer size of one listing call in bytes, within [`ReaderSettings::BUFFER_SIZES`]. Only for
    /// readers that have such a buffer: [`ReaderKind::takes_buffer_size`](crate::ReaderKind::takes_buffer_size).
    pub buffer_size: usize,
    /// The order of attribute queries within one listing. Only for readers that query entry by
    /// entry: [`ReaderKind::takes_stat_order`](crate::ReaderKind::takes_stat_order).
    pub stat_order: StatOrder,
    /// The first listing has only 4 KiB, for loops that may end after a few entries. A larger first directory takes
    /// one call more.
    #[doc(hidden)]
    pub begins_small: bool,
}

impl ReaderSettings {
    /// The valid buffer sizes: one page to 4 MiB.
    ///
    /// The smallest holds the longest record that a local file system creates.
    pub const BUFFER_SIZES: RangeInclusive<usize> = 4 << 10..=4 << 20;
}

impl Default for ReaderSettings {
    /// 64 KiB, queries in listing order.
    ///
    /// From 4 KiB to 1 MiB the size made no measurable difference to a warm scan on Linux
    /// (peers-scan: floor variants b4k, b32k, b1m within 3 %). With 64 KiB a directory of 2,000
    /// names takes one call, 32 threads need 2 MiB, and older versions of SMB return no more in one
    /// answer.
    fn default() -> Self {
        Self { buffer_size: 64 << 10, stat_order: StatOrder::default(), begins_small: false }
    }
}

crate::words! {
    /// The order in which a reader queries the attributes of the entries from one listing call.
    ///
    /// It changes only when queries are made, never the result or the order of delivery.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
    #[non_exhaustive]
    pub enum StatOrder {
        /// Listing order. Nothing is sorted: the best choice if the answers are in memory.
        #[default]
        Listing = "listing",
        /// Ascending inode numbers.
        ///
        /// Many file systems list names by hash but store inodes in tables, by number. With queries in
        /// that order and a cold cache, the heads of a rotating disk move through the table in one
        /// direction and each block of it is read once. Each listing call is sorted on its own, so a
        /// directory with more entries than [`ReaderSettings::buffer_size`] holds takes several passes.
        Inode = "inode",
    }
}
