//! Properties of the file system that a directory is on.

/// Properties of a file system that matter to the walker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Volume {
    /// Device number, if it was queried.
    pub device: Option<u64>,
    /// The files show kernel state and occupy no storage (`/proc`, `/sys` and similar). Not set for
    /// `tmpfs`: its files hold data.
    pub pseudo: bool,
    /// How to detect the end of a directory.
    pub end_detection: EndDetection,
    /// Which conclusions from a listing remain valid, apart from directories that fold case. Known
    /// on Linux only.
    pub reliability: Reliability,
}

/// How to detect that a listing has reached the end of its directory.
///
/// Free space in the buffer proves nothing: the kernel also returns early when a signal is pending
/// (`fs/readdir.c`, `filldir64`) or when it cannot read the next block. But the last record holds
/// the offset at which the next call would continue (`d_off`), and on some file systems the offset
/// at the end is a value that no entry has. This saves the last call, which would return nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndDetection {
    /// By a call that returns no entries. Works everywhere.
    #[default]
    EmptyResult,
    /// By this offset in the last record.
    Offset(i64),
    /// By the size of the directory, but at least one directory block, in units of eight bytes
    /// (XFS).
    DirectorySize {
        /// Size of a directory block in bytes.
        block: u32,
    },
}

impl EndDetection {
    /// Returns whether a listing has reached the end of its directory, given the `offset` in the
    /// last record and the `size` of the directory, where known.
    #[inline]
    pub fn is_reached(self, offset: Option<i64>, size: Option<u64>) -> bool {
        match (self, offset) {
            (Self::Offset(end), Some(offset)) => offset == end,
            (Self::DirectorySize { block }, Some(offset)) => size.is_some_and(|size| {
                u64::try_from(offset).is_ok_and(|offset| offset == size.max(block.into()) / 8)
            }),
            (Self::EmptyResult, _) | (_, None) => false,
        }
    }
}

/// Which conclusions from a directory listing remain valid afterwards. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reliability {
    /// A name that the listing does not contain does not exist. If false, it may be a different
    /// spelling of a name that does: another case, another Unicode composition, or a short name.
    pub exact_names: bool,
    /// Only this system can change the directory, so its notifications are complete.
    pub local: bool,
}
