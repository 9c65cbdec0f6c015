//! Entries that are neither files nor directories: links, pipes, sockets and devices.
//!
//! Windows marks them with reparse points. Interix (Services for Unix), and ntfs-3g by default, use system
//! files with certain content instead.
//!
//! Sources: [MS-FSCC] 2.1.2; `ntfs_fuse_getattr` and `layout.h` (`INTX_FILE`) of ntfs-3g.

use transect_sys::FileType;

use super::super::inode_table::{InodeRecord, Role};
use super::super::source::Fields;
use super::record::bit;

const TAG_MOUNT_POINT: u32 = 0xA000_0003;
const TAG_SYMLINK: u32 = 0xA000_000C;
const TAG_LINUX_SYMLINK: u32 = 0xA000_001D;

/// The longest content of a reparse point.
const MAX_REPARSE_DATA: u64 = 16 << 10;
/// The longest content of an Interix file: a link to a path of 4,096 units of UTF-16.
const MAX_INTERIX: u64 = 8 + 2 * 4096;

/// What an entry is, from its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    /// A reparse point; of a link, the length of its target as UTF-8.
    ReparsePoint { tag: u32, target: Option<u64> },
    /// What a system file of Interix stands for, and its size.
    Interix { file_type: FileType, size: u64 },
}

/// Which content it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    ReparsePoint,
    Interix,
}

impl Content {
    /// Returns whether content of this size, in bytes, can mean something.
    pub(super) fn may_have(self, size: u64) -> bool {
        match self {
            Self::ReparsePoint => (8..=MAX_REPARSE_DATA).contains(&size),
            Self::Interix => size <= MAX_INTERIX,
        }
    }

    /// Returns whether it says what a file with these attributes is.
    pub(super) fn matters(self, record: &InodeRecord) -> bool {
        let [bits, _] = record.more;
        match self {
            Self::ReparsePoint => bits & bit::REPARSE_POINT != 0,
            Self::Interix => {
                record.role() == Role::Entry
                    && bits & (bit::SYSTEM | bit::REPARSE_POINT) == bit::SYSTEM
            }
        }
    }

    pub(super) fn meaning(self, content: &[u8]) -> Option<Special> {
        match self {
            Self::ReparsePoint => Some(reparse_point(content)),
            Self::Interix => interix(content),
        }
    }
}

fn reparse_point(content: &[u8]) -> Special {
    let fields = Fields(content);
    let tag = fields.u32(0);
    let path = |paths: usize| {
        let name = |at: usize| {
            let begin = paths + usize::from(fields.u16(at));
            content.get(begin..begin + usize::from(fields.u16(at + 2)))
        };
        // The name to print, unless there is only that to substitute.
        let print = name(12).filter(|print| !print.is_empty());
        print.or_else(|| name(8)).map(length_as_utf8)
    };
    let target = match tag {
        TAG_SYMLINK => path(20),
        TAG_MOUNT_POINT => path(16),
        TAG_LINUX_SYMLINK => content.get(12..).map(|target| target.len() as u64),
        _ => None,
    };
    Special::ReparsePoint { tag, target }
}

fn interix(content: &[u8]) -> Option<Special> {
    let length = content.len();
    let (file_type, size) = match content {
        [] => (FileType::Fifo, 0),
        [_] => (FileType::Socket, 1),
        [b'I', b'n', b't', b'x', b'L', b'N', b'K', 1, target @ ..] if !target.is_empty() => {
            (FileType::Symlink, length_as_utf8(target))
        }
        [b'I', b'n', b't', b'x', b'B', b'L', b'K', 0, ..] if length == 24 => (FileType::Block, 24),
        [b'I', b'n', b't', b'x', b'C', b'H', b'R', 0, ..] if length == 24 => (FileType::Char, 24),
        _ => return None,
    };
    Some(Special::Interix { file_type, size })
}

/// Returns the length of UTF-16 text as UTF-8, up to a NUL.
fn length_as_utf8(text: &[u8]) -> u64 {
    let units = text.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
    let length = |character: Result<char, _>| character.map_or(3, char::len_utf8) as u64;
    char::decode_utf16(units.take_while(|&unit| unit != 0)).map(length).sum()
}

/// Makes the record that of what the file is.
pub(super) fn apply(special: Special, record: &mut InodeRecord) {
    let [bits, _] = record.more;
    let file_type = match special {
        Special::ReparsePoint { tag, target } if Content::ReparsePoint.matters(record) => {
            record.more[1] = tag;
            record.size = target.unwrap_or(record.size);
            FileType::from_attributes(bits, tag)
        }
        // Hidden system files without content are those of Windows.
        Special::Interix { file_type: FileType::Fifo | FileType::Socket, .. }
            if bits & bit::HIDDEN != 0 =>
        {
            return;
        }
        Special::Interix { file_type, size } if Content::Interix.matters(record) => {
            record.size = size;
            file_type
        }
        _ => return,
    };
    let (mode, role) = match file_type {
        FileType::Directory => (0o040_000, record.role()),
        FileType::Symlink => (0o120_000, Role::Entry),
        FileType::Block => (0o060_000, Role::Entry),
        FileType::Char => (0o020_000, Role::Entry),
        FileType::Fifo => (0o010_000, Role::Entry),
        FileType::Socket => (0o140_000, Role::Entry),
        FileType::File | FileType::Unknown => (0o100_000, Role::Entry),
    };
    record.mode = mode;
    record.set_role(role);
}
