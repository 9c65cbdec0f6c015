//! The columns of a snapshot: one list for writer and reader. `docs/FORMAT.md` describes them.

/// The version of the format. A reader rejects files of a later one.
pub(crate) const VERSION: u32 = 2;

/// The first version whose files have checksums of everything.
pub(crate) const CHECKED_VERSION: u32 = 2;

/// The number of rows in a row group, except the last.
pub(crate) const GROUP_ROWS: usize = 131_072;

/// The number of rows in a page, at most.
pub(crate) const PAGE_ROWS: usize = 8192;

/// The number of rows in a page of names, or of paths of directories, at most. They are smaller, so that a search
/// decompresses less for each match.
pub(crate) const TEXT_PAGE_ROWS: usize = 2048;

/// The length of a page of texts from which on no other text is added. Only long paths reach it: few bytes of names
/// can stand for many of them.
pub(crate) const TEXT_PAGE_BYTES: usize = 1 << 20;

/// The maximum length of `dir` in bytes: `PATH_MAX` of Linux. Longer paths are cut, because a tree
/// can be deep enough for the paths of all its directories to exceed any memory.
pub(crate) const MAX_DIR_BYTES: usize = 4096;

/// How a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Physical {
    /// 4 bytes, unsigned.
    Int32,
    /// 8 bytes.
    Int64,
    /// Bytes with a length.
    Bytes,
    /// 16 bytes.
    Fixed16,
}

impl Physical {
    /// Returns the number of the type in Parquet (`Type` in `parquet.thrift`).
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Int32 => 1,
            Self::Int64 => 2,
            Self::Bytes => 6,
            Self::Fixed16 => 7,
        }
    }
}

/// What a value means to programs that read the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Text,
    Binary,
    /// An unsigned number of this many bits.
    Unsigned(i8),
    /// Nanoseconds since 1970 UTC.
    Time,
}

/// The encoding of a column: of those that all programs read, the one that was measured to be smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Plain,
    Dictionary,
    Delta,
}

/// How a column is named, typed and encoded.
#[derive(Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) name: &'static str,
    pub(crate) physical: Physical,
    pub(crate) meaning: Meaning,
    pub(crate) layout: Layout,
    pub(crate) optional: bool,
}

/// Defines the columns and their numbers.
macro_rules! columns {
    ($($id:ident $name:literal $physical:ident $meaning:expr, $layout:ident, $optional:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Column { $($id,)* }

        impl Column {
            /// In the order of the file.
            pub(crate) const ALL: &[Self] = &[$(Self::$id,)*];
        }

        /// All columns, in the order of the file.
        pub(crate) const COLUMNS: &[ColumnSpec] = &[$(ColumnSpec {
            name: $name,
            physical: Physical::$physical,
            meaning: $meaning,
            layout: Layout::$layout,
            optional: $optional,
        },)*];
    };
}

columns! {
    Dir "dir" Bytes Meaning::Text, Plain, false;
    Name "name" Bytes Meaning::Text, Plain, false;
    NameRaw "name_raw" Bytes Meaning::Binary, Plain, true;
    Depth "depth" Int32 Meaning::Unsigned(32), Dictionary, false;
    Type "type" Bytes Meaning::Text, Dictionary, false;
    Size "size" Int64 Meaning::Unsigned(64), Plain, true;
    Allocated "allocated" Int64 Meaning::Unsigned(64), Plain, true;
    Mtime "mtime" Int64 Meaning::Time, Plain, true;
    Ctime "ctime" Int64 Meaning::Time, Plain, true;
    Atime "atime" Int64 Meaning::Time, Plain, true;
    Btime "btime" Int64 Meaning::Time, Plain, true;
    Mode "mode" Int32 Meaning::Unsigned(16), Dictionary, true;
    Uid "uid" Int32 Meaning::Unsigned(32), Dictionary, true;
    Gid "gid" Int32 Meaning::Unsigned(32), Dictionary, true;
    Nlink "nlink" Int32 Meaning::Unsigned(32), Dictionary, true;
    Inode "inode" Int64 Meaning::Unsigned(64), Delta, true;
    Device "device" Int64 Meaning::Unsigned(64), Dictionary, true;
    Attributes "attributes" Int32 Meaning::Unsigned(32), Dictionary, true;
    ReparseTag "reparse_tag" Int32 Meaning::Unsigned(32), Dictionary, true;
    Entries "entries" Int64 Meaning::Unsigned(64), Plain, true;
    Files "files" Int64 Meaning::Unsigned(64), Plain, true;
    Directories "directories" Int64 Meaning::Unsigned(64), Plain, true;
    TotalSize "total_size" Int64 Meaning::Unsigned(64), Plain, true;
    TotalAllocated "total_allocated" Int64 Meaning::Unsigned(64), Plain, true;
    NewestMtime "newest_mtime" Int64 Meaning::Time, Plain, true;
    Errors "errors" Int64 Meaning::Unsigned(64), Dictionary, true;
    Unread "unread" Bytes Meaning::Text, Dictionary, true;
    Digest "digest" Fixed16 Meaning::Binary, Plain, true;
}
