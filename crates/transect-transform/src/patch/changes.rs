//! The changes of a patch: new bytes at some offsets.

use crate::step::InvalidData;

/// New bytes at one offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) offset: u64,
    /// The required old bytes, if the patch specifies them; as long as the new ones.
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Vec<u8>,
}

impl Change {
    pub(super) fn end(&self) -> u64 {
        self.offset + self.new.len() as u64
    }
}

/// The sizes and checksums that a patch specifies for the files before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownFiles {
    pub(super) size: u64,
    /// CRC-32 of the file before, and after.
    pub(super) before: u32,
    pub(super) after: u32,
}

/// Changes of a file, in order and without overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) list: Vec<Change>,
    /// The maximum length of the result.
    pub(super) cut: Option<u64>,
    /// Whether changes beyond the end of the file extend it.
    pub(super) grows: bool,
    pub(super) known: Option<KnownFiles>,
}

impl Changes {
    /// Returns whether all changes lie within a file of this size, and its length stays.
    pub(super) fn keep_size(&self, size: u64) -> bool {
        self.list.last().is_none_or(|last| last.end() <= size)
            && self.cut.is_none_or(|cut| cut >= size)
    }

    /// Returns the error for a file that is too short.
    pub(super) fn too_short(&self) -> InvalidData {
        let end = self.list.last().map_or(0, Change::end);
        InvalidData::new(format!("it ends before byte {}, which is to be changed", end - 1))
    }
}
