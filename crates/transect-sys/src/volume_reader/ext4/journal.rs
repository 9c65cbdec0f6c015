//! Changes that are only in the journal: the volume was not unmounted.
//!
//! The kernel writes changes to the journal first, and to their places later. When it mounts the volume
//! again, it copies what was not written. This does the same in memory: blocks are read from the journal
//! instead of their places.
//!
//! Source: Linux, `include/linux/jbd2.h`, `fs/jbd2/recovery.c`, `Documentation/filesystems/ext4/journal.rst`.
//! Numbers of the journal are big-endian.

use std::collections::{BTreeMap, HashMap};
use std::io;

use crate::read_at::ReadAt;

use super::super::error::invalid;
use super::checksum::crc32c;
use super::content::{Content, DirectoryRun};
use super::groups;
use super::inode::Inode;
use super::superblock::Superblock;

const MAGIC: u32 = 0xC03B_3998;

/// Kinds of blocks.
const DESCRIPTOR: u32 = 1;
const COMMIT: u32 = 2;
const SUPERBLOCKS: [u32; 2] = [3, 4];
const REVOKE: u32 = 5;

/// Features of the journal.
const BITS_64: u32 = 0x2;
const CHECKSUMS_2: u32 = 0x8;
const CHECKSUMS_3: u32 = 0x10;
const FAST_COMMIT: u32 = 0x20;
/// Also that it may revoke blocks, and that commits may be written out of order.
const KNOWN: u32 = 0x1 | BITS_64 | 0x4 | CHECKSUMS_2 | CHECKSUMS_3;

/// What a tag says of its block.
const ESCAPED: u32 = 1;
const SAME_UUID: u32 = 2;
const LAST: u32 = 8;

/// A volume with the changes of its journal.
pub(super) struct Recovered<'a, S: ?Sized> {
    source: &'a S,
    block_size: u64,
    /// The blocks of the volume that are in the journal.
    blocks: BTreeMap<u64, Copied>,
}

/// Where the content of a block is.
#[derive(Clone, Copy, Debug)]
struct Copied {
    /// A block of the journal, counted on the volume.
    physical: u64,
    /// It begins with [`MAGIC`], which is not in the journal.
    is_escaped: bool,
}

impl<S: ReadAt + ?Sized> ReadAt for Recovered<'_, S> {
    fn size(&self) -> io::Result<u64> {
        self.source.size()
    }

    fn read_exact_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.source.read_exact_at(offset, bytes)?;
        let end = offset.saturating_add(bytes.len() as u64);
        let concerned = offset / self.block_size..end.div_ceil(self.block_size);
        for (&block, copied) in self.blocks.range(concerned) {
            let begin = block * self.block_size;
            let (from, to) = (begin.max(offset), (begin + self.block_size).min(end));
            let part = &mut bytes[(from - offset) as usize..(to - offset) as usize];
            self.source.read_exact_at(copied.physical * self.block_size + (from - begin), part)?;
            if copied.is_escaped {
                let missing = MAGIC.to_be_bytes().into_iter().enumerate();
                for (at, byte) in missing.skip((from - begin).min(4) as usize) {
                    if let Some(place) = part.get_mut(at - (from - begin) as usize) {
                        *place = byte;
                    }
                }
            }
        }
        Ok(())
    }

    fn prefetch(&self, offset: u64, length: u64) {
        self.source.prefetch(offset, length);
    }
}

/// Reads the journal of a volume that was not unmounted.
///
/// # Errors
/// The journal cannot be read, is damaged, is on another device, or has features that are not supported.
pub(super) fn recover<'a, S: ReadAt + ?Sized>(
    source: &'a S,
    superblock: &Superblock,
) -> io::Result<Recovered<'a, S>> {
    let log = Log::open(source, superblock)?;
    let blocks = log.replay()?;
    Ok(Recovered { source, block_size: superblock.block_size.into(), blocks })
}

/// Big-endian numbers of a block. Beyond its end, there are zeros.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u16(self, at: usize) -> u32 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |&bytes| u16::from_be_bytes(bytes).into())
    }

    fn u32(self, at: usize) -> u32 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |&bytes| u32::from_be_bytes(bytes))
    }

    fn u64(self, at: usize) -> u64 {
        u64::from(self.u32(at)) << 32 | u64::from(self.u32(at + 4))
    }
}

/// The blocks of the journal, of which the first describes it.
struct Log<'a, S: ?Sized> {
    source: &'a S,
    superblock: &'a Superblock,
    runs: Vec<DirectoryRun>,
    features: u32,
    /// The beginning of its checksums.
    seed: u32,
    /// The blocks used in turn.
    ring: std::ops::Range<u32>,
    start: u32,
    sequence: u32,
}

impl<'a, S: ReadAt + ?Sized> Log<'a, S> {
    fn open(source: &'a S, superblock: &'a Superblock) -> io::Result<Self> {
        let number = superblock.journal_inode;
        let Some(at) = number.checked_sub(1) else {
            return Err(unsupported("its journal, which has changes, is on another device"));
        };
        // The kernel, too, needs the tables for this before it has read the journal.
        let groups = groups::read(source, superblock)?;
        let group = groups.into_iter().nth((at / superblock.inodes_per_group) as usize);
        let group = group.ok_or_else(damaged)??;
        let in_table =
            u64::from(at % superblock.inodes_per_group) * u64::from(superblock.inode_size);
        let mut bytes = vec![0; superblock.inode_size as usize];
        let table = group.table * u64::from(superblock.block_size);
        source.read_exact_at(table + in_table, &mut bytes)?;
        let inode = Inode::new(number, &bytes);
        if !inode.checksum_is_right(superblock) {
            return Err(damaged());
        }
        let mut runs = Vec::new();
        Content::add_to(&mut runs, 0, source, superblock, inode).map_err(|_| damaged())?;
        runs.sort_unstable_by_key(|run| run.logical);
        let mut log = Self {
            source,
            superblock,
            runs,
            features: 0,
            seed: 0,
            ring: 0..1,
            start: 0,
            sequence: 0,
        };
        log.read_description()?;
        Ok(log)
    }

    fn read_description(&mut self) -> io::Result<()> {
        let block = self.read(0)?;
        let fields = Fields(&block);
        let length: u32 = self.runs.last().map_or(0, |run| run.logical.saturating_add(run.blocks));
        let (first, end) = (fields.u32(0x14), fields.u32(0x10));
        let is_possible = fields.u32(0) == MAGIC
            && SUPERBLOCKS.contains(&fields.u32(4))
            && fields.u32(0xC) == self.superblock.block_size
            && (1..end).contains(&first)
            && end <= length;
        if !is_possible {
            return Err(damaged());
        }
        // The first version has no features.
        self.features = if fields.u32(4) == SUPERBLOCKS[0] { 0 } else { fields.u32(0x28) };
        if self.features & FAST_COMMIT != 0 {
            return Err(unsupported("its journal has changes as fast commits"));
        }
        if self.features & !KNOWN != 0 {
            return Err(unsupported("its journal has features that are not supported"));
        }
        self.seed = crc32c(!0, &block[0x30..0x40]);
        (self.ring, self.start, self.sequence) = (first..end, fields.u32(0x1C), fields.u32(0x18));
        if self.start != 0 && !self.ring.contains(&self.start) {
            return Err(damaged());
        }
        Ok(())
    }

    fn has_checksums(&self) -> bool {
        self.features & (CHECKSUMS_2 | CHECKSUMS_3) != 0
    }

    /// Returns where a block of the journal is on the volume.
    fn physical(&self, block: u32) -> io::Result<u64> {
        let after = self.runs.partition_point(|run| run.logical <= block);
        let run = after.checked_sub(1).map(|at| &self.runs[at]).ok_or_else(damaged)?;
        let within = block - run.logical;
        if within >= run.blocks {
            return Err(damaged());
        }
        Ok(run.physical + u64::from(within))
    }

    fn read(&self, block: u32) -> io::Result<Vec<u8>> {
        let size = u64::from(self.superblock.block_size);
        let mut bytes = vec![0; size as usize];
        self.source.read_exact_at(self.physical(block)? * size, &mut bytes)?;
        Ok(bytes)
    }

    fn after(&self, block: u32) -> u32 {
        if block + 1 < self.ring.end { block + 1 } else { self.ring.start }
    }

    /// Returns the blocks of the volume that complete transactions changed.
    fn replay(&self) -> io::Result<BTreeMap<u64, Copied>> {
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

fn damaged() -> io::Error {
    invalid("its journal, which has changes, is damaged; repair it with `e2fsck`".to_owned())
}

fn unsupported(text: &'static str) -> io::Error {
    let text = format!("{text}; mount it once, or repair it with `e2fsck`");
    io::Error::new(io::ErrorKind::Unsupported, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovered_blocks_read_from_journal() {
        let mut volume = vec![1; 4096];
        volume[3072..].fill(9);
        volume[3072..3076].fill(0);
        let copied = Copied { physical: 3, is_escaped: true };
        let blocks = [(1, copied)].into_iter().collect();
        let recovered = Recovered { source: &volume[..], block_size: 1024, blocks };
        let mut expected = volume.clone();
        expected[1024..2048].fill(9);
        expected[1024..1028].copy_from_slice(&MAGIC.to_be_bytes());
        for offset in [0, 1000, 1023, 1024, 1025, 1027, 1028, 1100, 2047, 2048] {
            for length in [0, 1, 2, 5, 30, 1500, 2000] {
                let mut bytes = vec![0; length];
                recovered.read_exact_at(offset as u64, &mut bytes).unwrap();
                assert_eq!(bytes, expected[offset..offset + length], "{offset} {length}");
            }
        }
    }

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
