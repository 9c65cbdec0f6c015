//! The file system that a directory lies on.

/// What the walker must know of the file system under a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Device number, if it was asked for.
    pub device: Option<u64>,
    /// The files are a view of the kernel's state and occupy no storage (`/proc`, `/sys` and
    /// their like). `tmpfs` is not: its files hold bytes.
    pub pseudo: bool,
    /// What shows that a listing has reached the end of its directory.
    pub end_detection: EndDetection,
}

/// What shows that a listing has reached the end of its directory.
///
/// Room left in the buffer shows nothing: the kernel also returns early when a signal is pending
/// (`fs/readdir.c`, `filldir64`) or when it cannot read the next block. But the last record says
/// where the next call would continue (`d_off`), and on some file systems that is a value at the
/// end which no entry has. Then the call that would only return "no more" can be saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndDetection {
    /// Only an empty answer. Holds everywhere.
    #[default]
    EmptyResult,
    /// This offset in the last record.
    Offset(i64),
    /// The size of the directory, but at least one directory block of this many bytes, in units of
    /// eight bytes (XFS).
    DirectorySize {
        /// Bytes of a directory block.
        block: u32,
    },
}

impl EndDetection {
    /// Returns whether a listing has reached the end of its directory if the last record holds
    /// `offset`. `size` is the directory's, if it is known.
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

/// How far what was learnt of a directory can be relied on afterwards. What is not known to hold
/// does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reliability {
    /// A name that a listing does not hold is not there. Elsewhere it may be the same as one that
    /// is spelt otherwise: in another case, composed of other characters, or shortened.
    pub exact_names: bool,
    /// Nobody but this system changes what is in it, so that its notifications tell of everything.
    pub local: bool,
}
