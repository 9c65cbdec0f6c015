//! Changes that are only in the journal: the volume was not unmounted.
//!
//! The kernel writes changes to the journal first, and to their places later. When it mounts the volume
//! again, it copies what was not written. This does the same in memory: blocks are read from the journal
//! instead of their places. `replay.rs` finds out which.
//!
//! Source: Linux, `include/linux/jbd2.h`, `fs/jbd2/recovery.c`, `Documentation/filesystems/ext4/journal.rst`.
//! Numbers of the journal are big-endian.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use transect_sys::ReadAt;
use transect_sys::processor::crc32c;

use super::super::error::{invalid, unsupported};
use super::super::source;
use super::content::{Content, DirectoryRun};
use super::groups;
use super::inode::Inode;
use super::superblock::Superblock;

pub(super) const MAGIC: u32 = 0xC03B_3998;

/// The kinds of blocks that describe the journal: those of its first and second version.
const SUPERBLOCKS: [u32; 2] = [3, 4];

/// Features of the journal.
pub(super) const BITS_64: u32 = 0x2;
pub(super) const CHECKSUMS_2: u32 = 0x8;
pub(super) const CHECKSUMS_3: u32 = 0x10;
const FAST_COMMIT: u32 = 0x20;
/// Commits may be written before the blocks that they belong to.
pub(super) const ASYNC_COMMIT: u32 = 0x4;
/// Also that it may revoke blocks.
const KNOWN: u32 = 0x1 | BITS_64 | ASYNC_COMMIT | CHECKSUMS_2 | CHECKSUMS_3;
/// A feature that others may ignore: each commit has the checksum of its transaction.
const TRANSACTION_CHECKSUMS: u32 = 0x1;

/// What the journal describes itself with, in its first block (`struct journal_superblock_s`).
const DESCRIPTION_LENGTH: usize = 1024;
const DESCRIPTION_CHECKSUM: usize = 0xFC;
/// The kernel mounts no volume with a shorter journal (`JBD2_MIN_JOURNAL_BLOCKS`).
const MIN_BLOCKS: u32 = 1024;
/// The kind of checksum that is CRC32C.
const CRC32C: u8 = 4;

/// A volume with the changes of its journal.
pub(super) struct Recovered<'a> {
    source: &'a dyn ReadAt,
    block_size: u64,
    /// The blocks of the volume that are in the journal.
    blocks: BTreeMap<u64, Copied>,
}

/// Where the content of a block is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    /// A block of the journal, counted on the volume.
    pub(super) physical: u64,
    /// It begins with [`MAGIC`], which is not in the journal.
    pub(super) is_escaped: bool,
}

impl ReadAt for Recovered<'_> {
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

pub(super) fn recover<'a>(
    source: &'a dyn ReadAt,
    superblock: &Superblock,
) -> io::Result<Recovered<'a>> {
    let blocks = Log::open(source, superblock)?.replay()?;
    Ok(Recovered { source, block_size: superblock.block_size.into(), blocks })
}

/// Big-endian numbers of a block. Beyond its end, there are zeros.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn u16(self, at: usize) -> u32 {
        source::Fields(self.0).u16(at).swap_bytes().into()
    }

    pub(super) fn u32(self, at: usize) -> u32 {
        source::Fields(self.0).u32(at).swap_bytes()
    }

    pub(super) fn u64(self, at: usize) -> u64 {
        u64::from(self.u32(at)) << 32 | u64::from(self.u32(at + 4))
    }
}

/// The blocks of the journal, of which the first describes it.
pub(super) struct Log<'a> {
    pub(super) source: &'a dyn ReadAt,
    pub(super) superblock: &'a Superblock,
    runs: Vec<DirectoryRun>,
    pub(super) features: u32,
    /// Each commit has the checksum of its transaction: the first version of checksums.
    pub(super) has_transaction_checksums: bool,
    /// The beginning of its checksums.
    pub(super) seed: u32,
    /// The blocks used in turn.
    pub(super) ring: Range<u32>,
    /// Where the oldest transaction begins; 0 if there is none.
    pub(super) start: u32,
    /// The number of the oldest transaction.
    pub(super) sequence: u32,
}

impl<'a> Log<'a> {
    fn open(source: &'a dyn ReadAt, superblock: &'a Superblock) -> io::Result<Self> {
        let number = superblock.journal_inode;
        let Some(at) = number.checked_sub(1) else {
            return Err(not_read("its journal, which has changes, is on another device"));
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
            has_transaction_checksums: false,
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
        let length: u32 = self.runs.last().map_or(0, |run| run.logical.saturating_add(run.count));
        let (first, end) = (fields.u32(0x14), fields.u32(0x10));
        let is_possible = fields.u32(0) == MAGIC
            && SUPERBLOCKS.contains(&fields.u32(4))
            && fields.u32(0xC) == self.superblock.block_size
            && (1..end).contains(&first)
            && end - first + 1 >= MIN_BLOCKS
            && end <= length;
        if !is_possible {
            return Err(damaged());
        }
        // The first version has no features.
        if fields.u32(4) != SUPERBLOCKS[0] {
            self.read_features(&block)?;
        }
        self.seed = crc32c(!0, &block[0x30..0x40]);
        (self.ring, self.start, self.sequence) = (first..end, fields.u32(0x1C), fields.u32(0x18));
        if self.start != 0 && !self.ring.contains(&self.start) {
            return Err(damaged());
        }
        Ok(())
    }

    fn read_features(&mut self, block: &[u8]) -> io::Result<()> {
        let fields = Fields(block);
        self.features = fields.u32(0x28);
        self.has_transaction_checksums = fields.u32(0x24) & TRANSACTION_CHECKSUMS != 0;
        let versions = [
            self.has_transaction_checksums,
            self.features & CHECKSUMS_2 != 0,
            self.features & CHECKSUMS_3 != 0,
        ];
        let is_possible = versions.into_iter().filter(|&it| it).count() <= 1;
        if !is_possible || (self.has_checksums() && !description_is_right(block)) {
            return Err(damaged());
        }
        if self.features & FAST_COMMIT != 0 {
            return Err(not_read("its journal has changes as fast commits"));
        }
        if self.features & !KNOWN != 0 || fields.u32(0x2C) != 0 {
            return Err(not_read("its journal has features that are not supported"));
        }
        Ok(())
    }

    /// Returns whether blocks have CRC32C checksums (versions 2 and 3 of the feature).
    pub(super) fn has_checksums(&self) -> bool {
        self.features & (CHECKSUMS_2 | CHECKSUMS_3) != 0
    }

    /// Returns where a block of the journal is on the volume.
    pub(super) fn physical(&self, block: u32) -> io::Result<u64> {
        let after = self.runs.partition_point(|run| run.logical <= block);
        let run = after.checked_sub(1).map(|at| &self.runs[at]).ok_or_else(damaged)?;
        let within = block - run.logical;
        if within >= run.count {
            return Err(damaged());
        }
        Ok(run.physical + u64::from(within))
    }

    pub(super) fn read(&self, block: u32) -> io::Result<Vec<u8>> {
        let size = u64::from(self.superblock.block_size);
        let mut bytes = vec![0; size as usize];
        self.source.read_exact_at(self.physical(block)? * size, &mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn after(&self, block: u32) -> u32 {
        if block + 1 < self.ring.end { block + 1 } else { self.ring.start }
    }
}

fn description_is_right(block: &[u8]) -> bool {
    let (before, after) = block[..DESCRIPTION_LENGTH].split_at(DESCRIPTION_CHECKSUM);
    let crc = crc32c(crc32c(crc32c(!0, before), &[0; 4]), &after[4..]);
    block[0x50] == CRC32C && crc == Fields(after).u32(0)
}

pub(super) fn damaged() -> io::Error {
    invalid("its journal, which has changes, is damaged; repair it with `e2fsck`")
}

fn not_read(text: &str) -> io::Error {
    unsupported(format!("{text}; mount it once, or repair it with `e2fsck`"))
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
        let recovered = Recovered { source: &&volume[..], block_size: 1024, blocks };
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
}
