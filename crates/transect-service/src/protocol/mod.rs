//! The messages of the service, as functions on bytes; `docs/SERVICE.md` specifies them.
//!
//! Nothing here does input or output. Input is either parsed or a [`ProtocolError`]; no number in a
//! message determines an allocation.

mod answer;
mod bytes;
mod frame;
mod live;
mod message;
mod paths;
mod record;

use std::fmt;

pub use answer::{ResolvedName, append_attributes, append_exists, append_resolved};
pub use answer::{take_attributes, take_exists, take_resolved};
pub use bytes::ByteReader;
pub use frame::{Frame, FrameReader, append_frame};
pub use live::{ChangesHeader, EntryRow, EntryStart, MAX_WORDS, Part, PlaceOfClient, WordSearch};
pub use live::{append_change, append_entry, take_change, take_entry};
pub use message::{ErrorCode, ErrorReply, Request, ServerInfo, append_stats, take_stats};
pub use paths::{PathList, PathsEncoder, path_from_bytes};
pub use record::WireLayout;

/// The protocol version. There is no other yet.
pub const VERSION: u16 = 1;

/// The first bytes of hello, so that a connection made by mistake is recognised.
pub const MAGIC: [u8; 4] = *b"TSCT";

/// The largest request: thousands of paths, or of directories to search.
pub const MAX_REQUEST_BYTES: usize = 1 << 20;

/// The largest answer: to the most paths of a frame, with all attributes.
pub const MAX_ANSWER_BYTES: usize = 512 << 10;

/// The most paths or names in a request.
pub const MAX_PATHS: usize = 4 << 10;

/// The longest path in bytes. Linux accepts half of 8 KiB, so a truncated path fails with the same
/// error as the whole; Windows accepts 32,767 units of UTF-16. Without a limit, a frame with one long
/// directory and many names in it would grow a thousandfold when parsed.
pub const MAX_PATH_BYTES: usize = if cfg!(windows) { 32 << 10 } else { 8 << 10 };

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Version and properties of the service.
    Hello = 1,
    /// Attributes of paths.
    Attributes = 2,
    /// Whether paths exist.
    Exists = 3,
    /// Which directories contain names.
    Resolve = 4,
    /// Drop a path and everything below it.
    Invalidate = 5,
    /// Freeze the cache.
    Freeze = 6,
    /// Thaw the cache.
    Thaw = 7,
    /// Return the counters of service and cache.
    Stats = 9,
    /// The entries of a followed tree.
    Entries = 10,
    /// What changed in a followed tree.
    Changes = 11,
}

impl Kind {
    /// All kinds of request.
    pub const ALL: [Self; 10] = [
        Self::Hello,
        Self::Attributes,
        Self::Exists,
        Self::Resolve,
        Self::Invalidate,
        Self::Freeze,
        Self::Thaw,
        Self::Stats,
        Self::Entries,
        Self::Changes,
    ];

    /// The number of an error reply.
    pub const ERROR: u8 = 0xFF;

    /// Returns the number of a request.
    pub fn request(self) -> u8 {
        self as u8
    }

    /// Returns the number of an answer.
    pub fn answer(self) -> u8 {
        0x80 | self as u8
    }

    /// Returns the kind of a request with this number.
    pub fn of_request(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.request() == number)
    }
}

/// Why a message cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolError(pub &'static str);

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for ProtocolError {}

#[cfg(test)]
mod tests {
    use super::*;
    use transect::FieldMask;

    #[test]
    fn max_answer_holds_all_attributes_of_max_paths() {
        // With a status, and the index of a directory.
        let most = MAX_PATHS * (1 + 4 + WireLayout::new(FieldMask::all()).bytes());
        assert!(most < MAX_ANSWER_BYTES, "{most}");
    }

    #[test]
    fn kind_numbers_distinct() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of_request(kind.request()), Some(kind));
            assert_eq!(Kind::of_request(kind.answer()), None);
            assert_ne!(kind.answer(), Kind::ERROR);
        }
    }
}
