//! One inode: its attributes, and what describes its content.
//!
//! Source: Linux, `fs/ext4/ext4.h` (`struct ext4_inode`), `fs/ext4/inode.c` (`__ext4_iget`,
//! `ext4_inode_blocks`, `ext4_file_getattr`), `Documentation/filesystems/ext4/inodes.rst`.

use transect_sys::FileType;
use transect_sys::processor::{crc32c, crc32c_of_words};

use super::super::inode_table::{InodeRecord, Role, Sectors, Times};
use super::super::source::Fields;
use super::superblock::{Superblock, incompat, ro_compat};

pub(super) mod flag {
    pub(in super::super) const ENCRYPTED: u32 = 0x800;
    pub(in super::super) const HUGE_FILE: u32 = 0x4_0000;
    pub(in super::super) const EXTENTS: u32 = 0x8_0000;
    pub(in super::super) const INLINE_DATA: u32 = 0x1000_0000;
}

/// The length of an inode without the fields that came later.
const OLD_LENGTH: usize = 128;
const OLD_WORDS: usize = OLD_LENGTH / 8;
/// The field with the beginning of the content, or of its description.
const CONTENT: std::ops::Range<usize> = 0x28..0x64;
const XATTR_MAGIC: u32 = 0xEA02_0000;
const XATTR_SYSTEM: u8 = 7;

/// Sets words to those of a part of an inode.
fn set_words(words: &mut [u64], part: &[u8; OLD_LENGTH]) {
    for (word, bytes) in words.iter_mut().zip(part.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
}

#[derive(Clone, Copy)]
pub(super) struct Inode<'a> {
    pub(super) number: u32,
    old: &'a [u8; OLD_LENGTH],
    /// The fields that came later, if any.
    later: &'a [u8],
}

impl<'a> Inode<'a> {
    /// `bytes` are at least 128.
    pub(super) fn new(number: u32, bytes: &'a [u8]) -> Self {
        let (old, later) = bytes.split_first_chunk().expect("BUG: an inode is too short");
        Self { number, old, later }
    }

    /// Returns the fields that all inodes have.
    fn fields(self) -> Fields<'a> {
        Fields(self.old)
    }

    /// Returns a field that came later, which has four bytes.
    fn later_u32(self, at: usize) -> u32 {
        Fields(self.later).u32(at - OLD_LENGTH)
    }

    /// Returns the length of the fields that came later, as far as they are in use.
    fn later_length(self) -> usize {
        Fields(self.later).u16(0).into()
    }

    /// Returns whether it stands for a file that has a name.
    pub(super) fn is_used(self) -> bool {
        self.fields().u16(0) != 0 && self.fields().u16(0x1A) != 0
    }

    pub(super) fn flags(self) -> u32 {
        self.fields().u32(0x20)
    }

    pub(super) fn is_directory(self) -> bool {
        FileType::from_mode(self.fields().u16(0).into()) == FileType::Directory
    }

    /// Returns the beginning of the content, or of its description: 60 bytes.
    pub(super) fn content(self) -> &'a [u8] {
        &self.old[CONTENT]
    }

    /// Returns what the checksums of its metadata begin with: its number and its generation.
    fn identity(self) -> u64 {
        u64::from(self.number) | u64::from(self.fields().u32(0x64)) << 32
    }

    /// Returns the beginning of the checksums of its other metadata.
    pub(super) fn seed(self, superblock: &Superblock) -> u32 {
        crc32c_of_words(superblock.seed, &[self.identity()])
    }

    pub(super) fn checksum_is_right(self, superblock: &Superblock) -> bool {
        if !superblock.has_checksums() {
            return true;
        }
        // It covers its own two halves as zeros. All words are given at once: so the processor is soon done with the
        // instructions of one inode, and begins with the next before the first checksum is there.
        let mut words = [0; 1 + 2 * OLD_WORDS];
        words[0] = self.identity();
        set_words(&mut words[1..=OLD_WORDS], self.old);
        words[1 + 0x78 / 8] &= !(0xFFFF << 32);
        let low = self.fields().u16(0x7C);
        let Some((later, more)) = self.later.split_first_chunk() else {
            let old: &[u64; 1 + OLD_WORDS] = words.first_chunk().expect("BUG: there are more");
            return crc32c_of_words(superblock.seed, old) as u16 == low;
        };
        set_words(&mut words[1 + OLD_WORDS..], later);
        let high = (self.later_u32(0x80) >> 16) as u16;
        let has_high = self.has_field(0x82, 2);
        if has_high {
            words[1 + OLD_WORDS] &= !(0xFFFF << 16);
        }
        let crc = crc32c_of_words(superblock.seed, &words);
        let crc = more.chunks(OLD_LENGTH).fold(crc, crc32c);
        crc as u16 == low && (!has_high || (crc >> 16) as u16 == high)
    }

    /// Returns a number that differs after the file changed: from all fields but the time of last access
    /// and the checksum.
    pub(super) fn stamp(self) -> u32 {
        let later = self.later.get(0x84 - OLD_LENGTH..0x8C - OLD_LENGTH).unwrap_or(&[]);
        let crc = crc32c(crc32c(!0, &self.old[..0x8]), &self.old[0xC..0x7C]);
        crc32c(crc, later)
    }

    /// Returns whether one of the fields that came later is in use.
    fn has_field(self, at: usize, length: usize) -> bool {
        !self.later.is_empty() && at + length <= OLD_LENGTH + self.later_length()
    }

    pub(super) fn size(self, superblock: &Superblock) -> u64 {
        let fields = self.fields();
        let is_file = FileType::from_mode(fields.u16(0).into()) == FileType::File;
        if is_file || superblock.has_incompat(incompat::LARGE_DIRECTORIES) {
            fields.u64_of(0x4, 0x6C)
        } else {
            fields.u32(0x4).into()
        }
    }

    /// Returns whether there can be such a file, and the volume can hold it. Directories are checked block by block.
    /// `record` has its attributes.
    pub(super) fn is_possible(self, record: &InodeRecord, superblock: &Superblock) -> bool {
        let block_size = u64::from(superblock.block_size);
        let blocks = record.allocated.bytes() / block_size;
        let max_size = match FileType::from_mode(record.mode.into()) {
            FileType::Directory => return true,
            FileType::Unknown => return false,
            // The target is in the inode, with a byte behind it.
            FileType::Symlink if blocks == 0 && self.flags() & flag::INLINE_DATA == 0 => {
                CONTENT.len() as u64 - 1
            }
            FileType::Symlink => block_size,
            // Blocks of a file have numbers of 32 bits. Most of them may be holes.
            _ => block_size << 32,
        };
        record.size <= max_size && blocks <= superblock.blocks
    }

    fn allocated(self, superblock: &Superblock) -> Sectors {
        let fields = self.fields();
        let mut sectors = u64::from(fields.u32(0x1C));
        if superblock.has_ro_compat(ro_compat::HUGE_FILE) {
            sectors |= u64::from(fields.u16(0x74)) << 32;
            if self.flags() & flag::HUGE_FILE != 0 {
                sectors = sectors.saturating_mul(u64::from(superblock.block_size / 512));
            }
        }
        // The kernel shows content in the inode as sectors, so that the file does not seem to be a hole.
        let is_file = FileType::from_mode(fields.u16(0).into()) == FileType::File;
        if is_file && self.flags() & flag::INLINE_DATA != 0 {
            sectors = sectors.saturating_add(self.size(superblock).div_ceil(512));
        }
        Sectors::new(sectors)
    }

    /// Returns a time in nanoseconds since 1970 UTC. The field that came later has two more bits of
    /// seconds, and the nanoseconds.
    fn time(self, seconds: u32, extra: usize) -> i64 {
        let base = i64::from(seconds.cast_signed());
        if !self.has_field(extra, 4) {
            return base * 1_000_000_000;
        }
        let extra = self.later_u32(extra);
        let seconds = base + (i64::from(extra & 3) << 32);
        seconds.saturating_mul(1_000_000_000).saturating_add(i64::from(extra >> 2))
    }

    /// Returns the attributes, except for the number of a directory.
    pub(super) fn record(self, superblock: &Superblock) -> InodeRecord {
        let fields = self.fields();
        let mut record = InodeRecord::default();
        record.size = self.size(superblock);
        record.allocated = self.allocated(superblock);
        record.mtime = self.time(fields.u32(0x10), 0x88);
        let half = |low: usize, high: usize| {
            u32::from(fields.u16(low)) | u32::from(fields.u16(high)) << 16
        };
        record.more = [half(0x2, 0x78), half(0x18, 0x7A)];
        record.mode = fields.u16(0);
        record.nlink = fields.u16(0x1A);
        record.set_role(Role::Entry);
        record
    }

    pub(super) fn ctime(self) -> i64 {
        self.time(self.fields().u32(0xC), 0x84)
    }

    /// Returns all times but that of the content.
    pub(super) fn times(self) -> Times {
        Times {
            ctime: self.ctime(),
            atime: self.time(self.fields().u32(0x8), 0x8C),
            btime: if self.has_field(0x90, 4) {
                self.time(self.later_u32(0x90), 0x94)
            } else {
                i64::MIN
            },
        }
    }

    /// Returns the rest of content that begins in the inode: the value of its attribute `system.data`.
    ///
    /// Source: `fs/ext4/inline.c`, `fs/ext4/xattr.h` (`struct ext4_xattr_entry`).
    pub(super) fn inline_rest(self) -> Option<&'a [u8]> {
        let all = self.later.get(self.later_length()..)?;
        if Fields(all).u32(0) != XATTR_MAGIC {
            return None;
        }
        let values = &all[4..];
        let mut at = 0;
        loop {
            let entry = Fields(values.get(at..at + 16)?);
            if entry.u32(0) == 0 {
                return None;
            }
            let length = usize::from(entry.u8(0));
            let name = values.get(at + 16..at + 16 + length)?;
            if entry.u8(1) == XATTR_SYSTEM && name == b"data" {
                let value = usize::from(entry.u16(2));
                return values.get(value..value.checked_add(entry.u32(8) as usize)?);
            }
            at += (16 + length).next_multiple_of(4);
        }
    }
}
