//! One inode: its attributes, and what describes its content.
//!
//! Source: Linux, `fs/ext4/ext4.h` (`struct ext4_inode`), `fs/ext4/inode.c` (`__ext4_iget`,
//! `ext4_inode_blocks`, `ext4_file_getattr`), `Documentation/filesystems/ext4/inodes.rst`.

use crate::attributes::FileType;

use super::super::inode_table::{InodeRecord, Role, Sectors, Times};
use super::super::source::Fields;
use super::checksum::crc32c;
use super::superblock::{Superblock, incompat, ro_compat};

/// Flags of an inode.
pub(super) mod flag {
    pub(in super::super) const ENCRYPTED: u32 = 0x800;
    pub(in super::super) const HUGE_FILE: u32 = 0x4_0000;
    pub(in super::super) const EXTENTS: u32 = 0x8_0000;
    pub(in super::super) const INLINE_DATA: u32 = 0x1000_0000;
}

/// The length of an inode without the fields that came later.
const OLD_LENGTH: usize = 128;
/// The field with the beginning of the content, or of its description.
const CONTENT: std::ops::Range<usize> = 0x28..0x64;
const XATTR_MAGIC: u32 = 0xEA02_0000;
const XATTR_SYSTEM: u8 = 7;

/// An inode as it is stored.
#[derive(Clone, Copy)]
pub(super) struct Inode<'a> {
    number: u32,
    bytes: &'a [u8],
}

impl<'a> Inode<'a> {
    /// `bytes` are at least 128.
    pub(super) fn new(number: u32, bytes: &'a [u8]) -> Self {
        Self { number, bytes }
    }

    pub(super) fn number(self) -> u32 {
        self.number
    }

    fn fields(self) -> Fields<'a> {
        Fields(self.bytes)
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
        &self.bytes[CONTENT]
    }

    /// Returns the beginning of the checksums of its other metadata.
    pub(super) fn seed(self, superblock: &Superblock) -> u32 {
        let (number, generation) = (self.number, self.fields().u32(0x64));
        let both = u64::from(number) | u64::from(generation) << 32;
        crc32c(superblock.seed, &both.to_le_bytes())
    }

    pub(super) fn checksum_is_right(self, superblock: &Superblock) -> bool {
        if !superblock.has_checksums() {
            return true;
        }
        // It covers its own two halves as zeros.
        let fields = self.fields();
        let (low, high) = (fields.u16(0x7C), u32::from(fields.u16(0x82)));
        let around_low = fields.u64(0x78) & !(0xFFFF << 32);
        let crc = crc32c(self.seed(superblock), &self.bytes[..0x78]);
        let crc = crc32c(crc, &around_low.to_le_bytes());
        let Some(rest) = self.bytes.get(0x88..) else { return crc as u16 == low };
        let has_high = self.has_field(0x82, 2);
        let around_high = fields.u64(0x80) & if has_high { !(0xFFFF << 16) } else { !0 };
        let crc = crc32c(crc32c(crc, &around_high.to_le_bytes()), rest);
        if has_high { crc == high << 16 | u32::from(low) } else { crc as u16 == low }
    }

    /// Returns a number that differs after the file changed: from all fields but the time of last access
    /// and the checksum.
    pub(super) fn stamp(self) -> u32 {
        let crc = crc32c(crc32c(!0, &self.bytes[..0x8]), &self.bytes[0xC..0x7C]);
        crc32c(crc, self.bytes.get(0x84..0x8C).unwrap_or(&[]))
    }

    /// Returns whether one of the fields that came later is in use.
    fn has_field(self, at: usize, length: usize) -> bool {
        let extra = usize::from(self.fields().u16(OLD_LENGTH));
        self.bytes.len() > OLD_LENGTH && at + length <= OLD_LENGTH + extra
    }

    /// Returns the size in bytes.
    pub(super) fn size(self, superblock: &Superblock) -> u64 {
        let fields = self.fields();
        let is_file = FileType::from_mode(fields.u16(0).into()) == FileType::File;
        if is_file || superblock.has_incompat(incompat::LARGE_DIRECTORIES) {
            fields.u64_of(0x4, 0x6C)
        } else {
            fields.u32(0x4).into()
        }
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
    fn time(self, seconds: usize, extra: usize) -> i64 {
        let base = i64::from(self.fields().u32(seconds).cast_signed());
        if !self.has_field(extra, 4) {
            return base * 1_000_000_000;
        }
        let extra = self.fields().u32(extra);
        let seconds = base + (i64::from(extra & 3) << 32);
        seconds.saturating_mul(1_000_000_000).saturating_add(i64::from(extra >> 2))
    }

    /// Returns the attributes, except for the number of a directory.
    pub(super) fn record(self, superblock: &Superblock) -> InodeRecord {
        let fields = self.fields();
        let mut record = InodeRecord::default();
        record.size = self.size(superblock);
        record.allocated = self.allocated(superblock);
        record.mtime = self.time(0x10, 0x88);
        let half = |low: usize, high: usize| {
            u32::from(fields.u16(low)) | u32::from(fields.u16(high)) << 16
        };
        record.more = [half(0x2, 0x78), half(0x18, 0x7A)];
        record.mode = fields.u16(0);
        record.nlink = fields.u16(0x1A);
        record.set_role(Role::Entry);
        record
    }

    /// Returns the time of the last change.
    pub(super) fn ctime(self) -> i64 {
        self.time(0xC, 0x84)
    }

    /// Returns all times but that of the content.
    pub(super) fn times(self) -> Times {
        Times {
            ctime: self.ctime(),
            atime: self.time(0x8, 0x8C),
            btime: if self.has_field(0x90, 4) { self.time(0x90, 0x94) } else { i64::MIN },
        }
    }

    /// Returns the rest of content that begins in the inode: the value of its attribute `system.data`.
    ///
    /// Source: `fs/ext4/inline.c`, `fs/ext4/xattr.h` (`struct ext4_xattr_entry`).
    pub(super) fn inline_rest(self) -> Option<&'a [u8]> {
        let begin = OLD_LENGTH + usize::from(self.fields().u16(OLD_LENGTH));
        let all = self.bytes.get(begin..)?;
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
