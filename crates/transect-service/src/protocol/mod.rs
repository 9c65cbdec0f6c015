//! What is said between a service and those who ask it: `docs/SERVICE.md`, as functions on bytes.
//!
//! Nothing here reads or writes anywhere. Whatever comes in is understood or [`ProtocolError`]; nothing
//! is taken for granted, and nothing is allocated because of a number that somebody sent.

mod answer;
mod bytes;
mod frame;
mod message;
mod paths;
mod record;

use std::fmt;

pub use answer::{ResolvedName, append_attributes, append_exists, append_resolved};
pub use answer::{take_attributes, take_exists, take_resolved};
pub use bytes::ByteReader;
pub use frame::{Frame, FrameReader, append_frame};
pub use message::{
    AttributeQuery, ErrorCode, ErrorReply, Request, ServerInfo, append_stats, take_stats,
};
pub use paths::{PathList, PathsEncoder};
pub use record::WireLayout;

/// The version that is spoken here. There is no other yet.
pub const VERSION: u16 = 1;

/// What every greeting begins with, so that whoever is reached by mistake is told apart.
pub const MAGIC: [u8; 4] = *b"TSCT";

/// The most bytes of a frame that asks: thousands of paths, or of directories in which names are looked
/// for.
pub const MAX_REQUEST_BYTES: usize = 1 << 20;

/// The most bytes of a frame that answers: the most questions of a frame, with all attributes each.
pub const MAX_ANSWER_BYTES: usize = 512 << 10;

/// The most paths or names in a frame that asks.
pub const MAX_PATHS: usize = 4 << 10;

/// The most bytes of a path. Linux takes half of that; so a path that is cut here is refused for the
/// same reason as a whole. Without a limit a frame that names a long directory once, and many names in
/// it, would grow a thousandfold when it is read.
pub const MAX_PATH_BYTES: usize = 8 << 10;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Who is there?
    Hello = 1,
    /// Attributes of paths.
    Attributes = 2,
    /// Whether paths lead to something.
    Exists = 3,
    /// Which of some directories hold names.
    Resolve = 4,
    /// Forget a path, and what is below it.
    Invalidate = 5,
    /// Answer as things are now, whatever happens.
    Freeze = 6,
    /// No longer do.
    Thaw = 7,
    /// Take note of all that has happened.
    Settle = 8,
    /// What has been done so far?
    Stats = 9,
}

impl Kind {
    /// All kinds of request.
    pub const ALL: [Self; 9] = [
        Self::Hello,
        Self::Attributes,
        Self::Exists,
        Self::Resolve,
        Self::Invalidate,
        Self::Freeze,
        Self::Thaw,
        Self::Settle,
        Self::Stats,
    ];

    /// The number of a frame that complains.
    pub const ERROR: u8 = 0xFF;

    /// Returns the number of a request.
    pub fn request(self) -> u8 {
        self as u8
    }

    /// Returns the number of an answer to it.
    pub fn answer(self) -> u8 {
        0x80 | self as u8
    }

    /// Returns the kind of request that a number stands for.
    pub fn of_request(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.request() == number)
    }
}

/// What came makes no sense: why.
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
        // With a status in front, and the index of the directory that holds a name.
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
