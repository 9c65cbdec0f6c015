//! Which transactions of a journal are complete, and what they changed.
//!
//! It ends where the kernel's recovery ends, and fails where that fails:
//!
//! - The log ends at a block with another magic number, transaction or kind than expected.
//! - A wrong checksum before the commit of a transaction is damage, unless the commit is older than the one
//!   before: then the blocks are left from an earlier use of the journal, and the log ends.
//! - A wrong checksum of a commit is damage, with the same exception. Where commits may be written before their
//!   blocks (`async_commit`), the log ends there instead; in the first version of checksums only if no other
//!   commit follows.
//! - A revoke block must have room for its records, also in a transaction without a commit.
//! - Copies of blocks must have their checksums, unless they were revoked later.
//!
//! Source: Linux, `include/linux/jbd2.h`, `fs/jbd2/recovery.c`.

use std::collections::{BTreeMap, HashMap};
use std::io;

use transect_sys::processor::crc32c;

use super::checksum::crc32;
use super::journal::{
    ASYNC_COMMIT, BITS_64, CHECKSUMS_2, CHECKSUMS_3, Copied, Fields, Log, MAGIC, damaged,
};

/// Types of blocks in the journal (`h_blocktype`).
const DESCRIPTOR: u32 = 1;
const COMMIT: u32 = 2;
const REVOKE: u32 = 5;

/// What a tag says of its block.
const ESCAPED: u32 = 1;
const SAME_UUID: u32 = 2;
const LAST: u32 = 8;

/// Where a commit has its checksum, and the part of it that is written at once (`struct commit_header`).
const COMMIT_CHECKSUM: usize = 0x10;
const COMMIT_LENGTH: usize = 64;
/// The kind and the length of the first version's checksums (`JBD2_CRC32_CHKSUM`).
const CRC32: [u8; 2] = [1, 4];

/// A scan of the log for its end.
struct Scan {
    /// The next block that is read.
    at: u32,
    /// The number of the transaction that it must belong to.
    sequence: u32,
    /// More blocks than this are not followed: twice as many as there are, since a wrong descriptor may claim too many.
    left: usize,
    /// The first version's checksum of the transaction so far.
    crc: u32,
    /// A block of the transaction has a wrong checksum.
    is_suspect: bool,
    /// The time of the last commit, in seconds.
    committed: u64,
    /// The transaction that the log ends before, although its commit is there.
    end: Option<u32>,
}

impl Log<'_> {
    /// Returns the blocks of the volume that complete transactions changed.
    /// Fails where the kernel's recovery would fail.
    pub(super) fn replay(&self) -> io::Result<BTreeMap<u64, Copied>> {
        let mut changes = Changes::default();
        if self.start == 0 {
            return Ok(BTreeMap::new());
        }
        let end = self.scan(&mut changes)?;
        changes.keep_before(end);
        self.copied(&changes)
    }

    /// Collects the changes of all transactions. Returns the number of the first one that is not complete.
    fn scan(&self, changes: &mut Changes) -> io::Result<u32> {
        let mut scan = Scan {
            at: self.start,
            sequence: self.sequence,
            left: 2 * self.ring.len(),
            crc: !0,
            is_suspect: false,
            committed: 0,
            end: None,
        };
        loop {
            let block = self.read(scan.at)?;
            let fields = Fields(&block);
            if fields.u32(0) != MAGIC || fields.u32(8) != scan.sequence {
                break;
            }
            self.advance(&mut scan)?;
            match fields.u32(4) {
                DESCRIPTOR => self.scan_descriptor(&block, &mut scan, changes)?,
                REVOKE => {
                    scan.is_suspect |= !self.tail_is_right(&block);
                    self.add_revoked(&block, scan.sequence, changes)?;
                }
                COMMIT if self.scan_commit(&block, &mut scan)? => {}
                _ => break,
            }
        }
        Ok(scan.end.unwrap_or(scan.sequence))
    }

    /// Goes to the next block. A log that has no end is damaged.
    fn advance(&self, scan: &mut Scan) -> io::Result<()> {
        scan.at = self.after(scan.at);
        scan.left = scan.left.checked_sub(1).ok_or_else(damaged)?;
        Ok(())
    }

    fn scan_descriptor(
        &self,
        block: &[u8],
        scan: &mut Scan,
        changes: &mut Changes,
    ) -> io::Result<()> {
        scan.is_suspect |= !self.tail_is_right(block);
        let is_summed = self.has_transaction_checksums && scan.end.is_none();
        if is_summed {
            scan.crc = crc32(scan.crc, block);
        }
        for tag in self.tags(block) {
            if is_summed {
                scan.crc = crc32(scan.crc, &self.read(scan.at)?);
            }
            changes.written.push(Written { tag, sequence: scan.sequence, at: scan.at });
            self.advance(scan)?;
        }
        Ok(())
    }

    /// Goes to the next transaction. Returns false if the log ends before this one.
    fn scan_commit(&self, block: &[u8], scan: &mut Scan) -> io::Result<bool> {
        let time = Fields(block).u64(0x30);
        let is_right = !scan.is_suspect && self.commit_is_right(block, scan.crc);
        // Another commit follows one that is wrong: the first version's checksums were not just interrupted.
        if self.has_transaction_checksums && scan.end.is_some() {
            return Err(damaged());
        }
        if !is_right {
            if time < scan.committed {
                return Ok(false);
            }
            if scan.is_suspect || self.features & ASYNC_COMMIT == 0 {
                return Err(damaged());
            }
            scan.end = Some(scan.sequence);
        }
        scan.committed = time;
        scan.sequence = scan.sequence.wrapping_add(1);
        scan.crc = !0;
        Ok(true)
    }

    fn tail_is_right(&self, block: &[u8]) -> bool {
        let (covered, tail) = block.split_at(block.len() - 4);
        !self.has_checksums() || crc32c(crc32c(self.seed, covered), &[0; 4]) == Fields(tail).u32(0)
    }

    /// Returns whether the checksum of a commit is right. In the first version, `crc` is that of its transaction,
    /// and may be missing.
    fn commit_is_right(&self, block: &[u8], crc: u32) -> bool {
        let stored = Fields(block).u32(COMMIT_CHECKSUM);
        if self.has_transaction_checksums {
            let kind = &block[0xC..0xE];
            return (kind == CRC32 && stored == crc) || (kind == [0, 0] && stored == 0);
        }
        if !self.has_checksums() {
            return true;
        }
        let mut block = block.to_vec();
        block[COMMIT_CHECKSUM..COMMIT_CHECKSUM + 4].fill(0);
        let is_whole = crc32c(self.seed, &block) == stored;
        // A device may have written only the first sector. All that matters is in it.
        block[COMMIT_LENGTH..].fill(0);
        is_whole || crc32c(self.seed, &block) == stored
    }

    /// Returns where the last content of each block is.
    fn copied(&self, changes: &Changes) -> io::Result<BTreeMap<u64, Copied>> {
        // The kernel copies to the whole device.
        let blocks = self.source.size()? / u64::from(self.superblock.block_size);
        let copied = changes.not_revoked().map(|written| {
            self.check_content(written)?;
            if written.tag.block >= blocks {
                return Err(damaged());
            }
            let is_escaped = written.tag.flags & ESCAPED != 0;
            let physical = self.physical(written.at)?;
            Ok((written.tag.block, Copied { physical, is_escaped }))
        });
        copied.collect()
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
    fn add_revoked(&self, block: &[u8], sequence: u32, changes: &mut Changes) -> io::Result<()> {
        let length = if self.features & BITS_64 != 0 { 8 } else { 4 };
        let room = block.len() - if self.has_checksums() { 4 } else { 0 };
        let end = Fields(block).u32(12) as usize;
        if end > room {
            return Err(damaged());
        }
        for record in block.get(16..end).unwrap_or(&[]).chunks_exact(length) {
            let fields = Fields(record);
            let number = if length == 8 { fields.u64(0) } else { fields.u32(0).into() };
            changes.revoked.push((number, sequence));
        }
        Ok(())
    }
}

/// What a descriptor says of a block that follows it.
struct Tag {
    block: u64,
    flags: u32,
    checksum: u32,
}

struct Written {
    tag: Tag,
    sequence: u32,
    at: u32,
}

/// The blocks that transactions wrote and revoked.
#[derive(Default)]
struct Changes {
    written: Vec<Written>,
    /// Blocks, with the number of the transaction.
    revoked: Vec<(u64, u32)>,
}

/// Returns whether a transaction is older than another one. Their numbers begin again after the highest.
fn is_before(sequence: u32, other: u32) -> bool {
    sequence.wrapping_sub(other).cast_signed() < 0
}

impl Changes {
    /// Drops what the transactions from `end` on changed.
    fn keep_before(&mut self, end: u32) {
        self.written.retain(|it| is_before(it.sequence, end));
        self.revoked.retain(|&(_, sequence)| is_before(sequence, end));
    }

    /// Returns the blocks that were not revoked in the same transaction or later.
    fn not_revoked(&self) -> impl Iterator<Item = &Written> {
        let revoked: HashMap<u64, u32> = self.revoked.iter().copied().collect();
        self.written.iter().filter(move |it| {
            revoked.get(&it.tag.block).is_none_or(|&until| is_before(until, it.sequence))
        })
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
        let written = vec![written(5, 7, 1), written(6, 7, 2), written(5, 9, 3), written(8, 10, 4)];
        let revoked = vec![(6, 8), (5, 8), (5, 10)];
        let mut changes = Changes { written, revoked };
        changes.keep_before(10);
        let found: Vec<_> = changes.not_revoked().map(|it| (it.tag.block, it.at)).collect();
        assert_eq!(found, [(5, 3)]);
    }

    #[test]
    fn is_before_across_the_highest_number() {
        assert!(is_before(u32::MAX, 0) && is_before(3, 4));
        assert!(!is_before(0, u32::MAX) && !is_before(4, 4));
    }
}
