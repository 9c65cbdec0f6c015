//! Which transactions of a journal are complete, and what they changed.
//!
//! Source: Linux, `include/linux/jbd2.h`, `fs/jbd2/recovery.c`.

use std::collections::{BTreeMap, HashMap};
use std::io;

use crate::read_at::ReadAt;

use super::checksum::crc32c;
use super::journal::{BITS_64, CHECKSUMS_2, CHECKSUMS_3, Copied, Fields, Log, MAGIC, damaged};

/// Kinds of blocks.
const DESCRIPTOR: u32 = 1;
const COMMIT: u32 = 2;
const REVOKE: u32 = 5;

/// What a tag says of its block.
const ESCAPED: u32 = 1;
const SAME_UUID: u32 = 2;
const LAST: u32 = 8;

impl<S: ReadAt + ?Sized> Log<'_, S> {
    /// Returns the blocks of the volume that complete transactions changed.
    pub(super) fn replay(&self) -> io::Result<BTreeMap<u64, Copied>> {
        let mut changes = Changes::default();
        let (mut at, mut sequence) = (self.start, self.sequence);
        // The transaction that is not complete yet.
        let mut open = Changes::default();
        let mut left = self.ring.len();
        while at != 0 && left > 0 {
            left -= 1;
            let block = self.read(at)?;
            let fields = Fields(&block);
            if fields.u32(0) != MAGIC || fields.u32(8) != sequence {
                break;
            }
            at = self.after(at);
            match fields.u32(4) {
                DESCRIPTOR if self.tail_is_right(&block) => {
                    for tag in self.tags(&block) {
                        left = left.saturating_sub(1);
                        open.written.push(Written { tag, sequence, at });
                        at = self.after(at);
                    }
                }
                REVOKE if self.tail_is_right(&block) => {
                    self.add_revoked(&block, sequence, &mut open)
                }
                COMMIT if self.commit_is_right(&block) => {
                    for written in &open.written {
                        self.check_content(written)?;
                    }
                    changes.append(&mut open);
                    sequence = sequence.wrapping_add(1);
                }
                // The end: what follows was not completely written.
                _ => break,
            }
        }
        changes.into_blocks(self.superblock.blocks, |at| self.physical(at))
    }

    /// Returns whether the checksum at the end of a block is right.
    fn tail_is_right(&self, block: &[u8]) -> bool {
        let (covered, tail) = block.split_at(block.len() - 4);
        !self.has_checksums() || crc32c(crc32c(self.seed, covered), &[0; 4]) == Fields(tail).u32(0)
    }

    fn commit_is_right(&self, block: &[u8]) -> bool {
        let (before, after) = (&block[..0x10], &block[0x14..]);
        let crc = || crc32c(crc32c(crc32c(self.seed, before), &[0; 4]), after);
        !self.has_checksums() || crc() == Fields(block).u32(0x10)
    }

    /// Checks that a block in the journal is what was written.
    fn check_content(&self, written: &Written) -> io::Result<()> {
        let content = self.read(written.at)?;
        let crc = || crc32c(crc32c(self.seed, &written.sequence.to_be_bytes()), &content);
        let mask = if self.features & CHECKSUMS_3 != 0 { u32::MAX } else { 0xFFFF };
        match !self.has_checksums() || crc() & mask == written.tag.checksum & mask {
            true => Ok(()),
            false => Err(damaged()),
        }
    }

    /// Returns the blocks that follow a descriptor.
    fn tags(&self, block: &[u8]) -> Vec<Tag> {
        let has = |feature: u32| self.features & feature != 0;
        let length = match has(CHECKSUMS_3) {
            true => 16,
            false => 8 + if has(CHECKSUMS_2) { 2 } else { 0 } + if has(BITS_64) { 4 } else { 0 },
        };
        let end = block.len() - if self.has_checksums() { 4 } else { 0 };
        let (mut at, mut tags) = (12, Vec::new());
        while at + length <= end {
            let fields = Fields(&block[at..at + length]);
            let high = if has(BITS_64) { u64::from(fields.u32(8)) << 32 } else { 0 };
            let (flags, checksum) = match has(CHECKSUMS_3) {
                true => (fields.u32(4), fields.u32(12)),
                false => (fields.u16(6), fields.u16(4)),
            };
            tags.push(Tag { block: u64::from(fields.u32(0)) | high, flags, checksum });
            at += length + if flags & SAME_UUID == 0 { 16 } else { 0 };
            if flags & LAST != 0 {
                break;
            }
        }
        tags
    }

    /// Adds the blocks that a transaction freed: earlier content must not be copied.
    fn add_revoked(&self, block: &[u8], sequence: u32, open: &mut Changes) {
        let length = if self.features & BITS_64 != 0 { 8 } else { 4 };
        let end = (Fields(block).u32(12) as usize).min(block.len());
        for record in block.get(16..end).unwrap_or(&[]).chunks_exact(length) {
            let fields = Fields(record);
            let number = if length == 8 { fields.u64(0) } else { fields.u32(0).into() };
            open.revoked.push((number, sequence));
        }
    }
}

/// What a descriptor says of a block that follows it.
struct Tag {
    block: u64,
    flags: u32,
    checksum: u32,
}

/// A block in the journal.
struct Written {
    tag: Tag,
    /// The number of its transaction.
    sequence: u32,
    /// Its place in the journal.
    at: u32,
}

/// What transactions changed.
#[derive(Default)]
struct Changes {
    written: Vec<Written>,
    /// Blocks, with the number of the transaction.
    revoked: Vec<(u64, u32)>,
}

impl Changes {
    fn append(&mut self, other: &mut Self) {
        self.written.append(&mut other.written);
        self.revoked.append(&mut other.revoked);
    }

    /// Returns the last content of each block below `end`, unless it was revoked in the same transaction or
    /// later.
    fn into_blocks(
        self,
        end: u64,
        physical: impl Fn(u32) -> io::Result<u64>,
    ) -> io::Result<BTreeMap<u64, Copied>> {
        let revoked: HashMap<u64, u32> = self.revoked.into_iter().collect();
        let is_later = |a: u32, b: u32| a.wrapping_sub(b).cast_signed() > 0;
        let is_valid = |it: &Written| {
            let until = revoked.get(&it.tag.block);
            it.tag.block < end && until.is_none_or(|&until| is_later(it.sequence, until))
        };
        let kept = self.written.into_iter().filter(is_valid);
        kept.map(|it| {
            let is_escaped = it.tag.flags & ESCAPED != 0;
            Ok((it.tag.block, Copied { physical: physical(it.at)?, is_escaped }))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_revoked_blocks_not_copied() {
        let written = |block: u64, sequence: u32, at: u32| Written {
            tag: Tag { block, flags: 0, checksum: 0 },
            sequence,
            at,
        };
        let written = vec![written(5, 7, 1), written(6, 7, 2), written(5, 9, 3), written(99, 9, 4)];
        let changes = Changes { written, revoked: vec![(6, 8), (5, 8)] };
        let blocks = changes.into_blocks(99, |at| Ok(at.into())).unwrap();
        let found: Vec<(u64, u64)> = blocks.iter().map(|(&at, it)| (at, it.physical)).collect();
        assert_eq!(found, [(5, 3)]);
    }
}
