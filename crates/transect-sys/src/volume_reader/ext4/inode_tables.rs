//! Reads the inodes of all groups, several groups at once.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::read_at::ReadAt;

use super::super::error::invalid;
use super::super::index::{InodeGroup, InodeRecord, Role, Times};
use super::super::source::Buffer;
use super::super::threads::{Effort, on_threads};
use super::checksum::crc32c;
use super::content::{Content, Run};
use super::groups::Group;
use super::inode::{Inode, flag};
use super::superblock::Superblock;

/// The most bytes read at once.
const MAX_READ: usize = 1 << 19;
/// So many blocks without an inode in use are read along rather than skipped.
const MAX_GAP: usize = 16;

/// A directory, before its entries are read.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "for mounted volumes"))]
pub(super) struct Found {
    pub(super) inode: u32,
    pub(super) seed: u32,
    pub(super) encrypted: bool,
    /// Records that are in the inode itself.
    pub(super) inline: Vec<u8>,
    pub(super) runs: Vec<Run>,
    pub(super) error: Option<io::Error>,
    /// The block with its inode.
    pub(super) block: u64,
    /// See [`Inode::stamp`].
    pub(super) stamp: u32,
    /// It changed since reading began.
    pub(super) is_recent: bool,
}

/// The inodes of a group. Directories are numbered within it.
#[derive(Default)]
pub(super) struct GroupTable {
    pub(super) inodes: InodeGroup,
    pub(super) directories: Vec<Found>,
}

/// Reads the inodes of all groups. What changed `since` a time, in nanoseconds since 1970 UTC, is marked.
pub(super) fn read<S: ReadAt + ?Sized>(
    source: &S,
    superblock: &Superblock,
    groups: Vec<io::Result<Group>>,
    since: Option<i64>,
    effort: Effort,
) -> Vec<GroupTable> {
    let mut tables: Vec<GroupTable> = Vec::with_capacity(groups.len());
    tables.resize_with(groups.len(), GroupTable::default);
    let mut readable = Vec::new();
    for (number, group) in groups.into_iter().enumerate() {
        match group {
            Ok(group) => readable.push(group),
            Err(error) => tables[number].inodes.error = Some(error),
        }
    }
    let blocks_left = AtomicU64::new(superblock.blocks);
    let all_times = effort.all_times;
    let reader = Reader { source, superblock, since, all_times, blocks_left };
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut done, mut buffer) = (Vec::new(), Buffer::default());
        while let Some(group) = readable.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((group.number, reader.read_group(group, &mut buffer)));
        }
        done
    };
    let done = on_threads(effort.threads, work);
    for (number, table) in done.into_iter().flatten() {
        tables[number as usize] = table;
    }
    tables
}

struct Reader<'a, S: ?Sized> {
    source: &'a S,
    superblock: &'a Superblock,
    since: Option<i64>,
    all_times: bool,
    /// Each block belongs to one directory, so all of them have no more than there are.
    blocks_left: AtomicU64,
}

impl<S: ReadAt + ?Sized> Reader<'_, S> {
    fn read_group(&self, group: &Group, buffer: &mut Buffer) -> GroupTable {
        let mut table = GroupTable::default();
        if group.used == 0 {
            return table;
        }
        let per_block = (self.superblock.block_size / self.superblock.inode_size) as usize;
        let bitmap = self.bitmap(group);
        let is_used = |inode: usize| {
            inode < group.used as usize
                && bitmap.as_ref().is_none_or(|bits| bits[inode / 8] >> (inode % 8) & 1 != 0)
        };
        let blocks = (group.used as usize).div_ceil(per_block);
        let has_used = |block: usize| (block * per_block..(block + 1) * per_block).any(is_used);
        let records = (0..group.used as usize).rfind(|&at| is_used(at)).map_or(0, |last| last + 1);
        table.inodes.records.reserve_exact(records);
        if self.all_times {
            table.inodes.times.reserve_exact(records);
        }
        // The device works on the next blocks while these inodes are read.
        let block_size = u64::from(self.superblock.block_size);
        for run in runs(blocks, usize::MAX, has_used) {
            let offset = (group.table + run.start as u64) * block_size;
            self.source.prefetch(offset, run.len() as u64 * block_size);
        }
        let mut are_right = Vec::new();
        for run in runs(blocks, self.max_blocks(), has_used) {
            let length = run.len() * self.superblock.block_size as usize;
            let offset = (group.table + run.start as u64) * block_size;
            let bytes = match buffer.read(self.source, offset, length) {
                Ok(bytes) => bytes,
                Err(error) => {
                    table.inodes.error.get_or_insert(error);
                    continue;
                }
            };
            let first = group.number * self.superblock.inodes_per_group + 1;
            let inodes = bytes.chunks_exact(self.superblock.inode_size as usize);
            let inodes = (run.start * per_block..).zip(inodes).filter(|&(at, _)| is_used(at));
            let inodes = inodes.map(|(at, bytes)| (at, Inode::new(first + at as u32, bytes)));
            // In a loop that does nothing else, the processor calculates several checksums at once.
            are_right.clear();
            are_right.extend(inodes.clone().map(|(_, it)| it.checksum_is_right(self.superblock)));
            for ((at, inode), &is_right) in inodes.zip(&are_right) {
                self.add(group, at, inode, is_right, &mut table);
            }
        }
        table.inodes.records.shrink_to_fit();
        table.inodes.times.shrink_to_fit();
        table
    }

    fn max_blocks(&self) -> usize {
        MAX_READ / self.superblock.block_size as usize
    }

    /// Returns which inodes are in use; `None` if that is not known.
    fn bitmap(&self, group: &Group) -> Option<Vec<u8>> {
        let block_size = self.superblock.block_size;
        let mut bits = vec![0; self.superblock.inodes_per_group.div_ceil(8) as usize];
        let offset = group.bitmap * u64::from(block_size);
        self.source.read_exact_at(offset, &mut bits).ok()?;
        if self.superblock.has_checksums() {
            let mask = if self.superblock.descriptor_size >= 64 { u32::MAX } else { 0xFFFF };
            let covered = &bits[..self.superblock.inodes_per_group as usize / 8];
            let crc = crc32c(self.superblock.seed, covered);
            if crc & mask != group.bitmap_checksum & mask {
                return None;
            }
        }
        Some(bits)
    }

    /// Adds the inode at a place in its group.
    fn add(
        &self,
        group: &Group,
        at: usize,
        inode: Inode<'_>,
        is_right: bool,
        table: &mut GroupTable,
    ) {
        let superblock = self.superblock;
        if !inode.is_used() {
            return;
        }
        let mut record = InodeRecord::default();
        record.set_role(Role::Damaged);
        if is_right {
            record = inode.record(superblock);
            let is_recent = self.since.is_some_and(|since| may_be_since(inode.ctime(), since));
            if inode.is_directory() {
                record.set_role(Role::Directory(table.directories.len() as u32));
                let per_block = (superblock.block_size / superblock.inode_size) as usize;
                let block = group.table + (at / per_block) as u64;
                let found = self.directory(inode);
                table.directories.push(Found { block, is_recent, ..found });
            } else if is_recent {
                record.set_role(Role::Changed);
            }
        }
        let InodeGroup { records, times, .. } = &mut table.inodes;
        records.resize_with(at, InodeRecord::default);
        records.push(record);
        if self.all_times {
            times.resize_with(at, Times::default);
            times.push(inode.times());
        }
    }

    fn directory(&self, inode: Inode<'_>) -> Found {
        let mut found = Found {
            inode: inode.number(),
            seed: inode.seed(self.superblock),
            encrypted: inode.flags() & flag::ENCRYPTED != 0,
            inline: Vec::new(),
            runs: Vec::new(),
            error: None,
            block: 0,
            stamp: inode.stamp(),
            is_recent: false,
        };
        if inode.flags() & flag::INLINE_DATA != 0 {
            // The first four bytes are the number of the directory above.
            found.inline.extend_from_slice(&inode.content()[4..]);
            found.inline.extend_from_slice(inode.inline_rest().unwrap_or(&[]));
            return found;
        }
        let (runs, result) = Content::of(self.source, self.superblock, inode);
        found.error = result.err();
        let blocks = runs.iter().map(|run| u64::from(run.blocks)).sum::<u64>();
        let spend = |left: u64| left.checked_sub(blocks);
        match self.blocks_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend) {
            Ok(_) => found.runs = runs,
            Err(_) => {
                let text = "the directories claim more blocks than the volume has".to_owned();
                found.error = Some(invalid(text));
            }
        }
        found
    }
}

/// Returns whether something changed at or after `since`. Small inodes store whole seconds.
fn may_be_since(ctime: i64, since: i64) -> bool {
    let latest = if ctime % 1_000_000_000 == 0 { 999_999_999 } else { 0 };
    ctime.saturating_add(latest) >= since
}

/// Returns all blocks to read, as runs of at most `max`.
fn runs(
    blocks: usize,
    max: usize,
    has_used: impl Fn(usize) -> bool + Copy,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let run = next_run(next..blocks, max, has_used)?;
        next = run.end;
        Some(run)
    })
}

/// Returns the next blocks to read at once: those with an inode in use, and short gaps between them.
fn next_run(
    blocks: std::ops::Range<usize>,
    max: usize,
    has_used: impl Fn(usize) -> bool,
) -> Option<std::ops::Range<usize>> {
    let end = blocks.end;
    let begin = blocks.clone().find(|&block| has_used(block))?;
    let mut last = begin;
    for block in begin + 1..end.min(begin.saturating_add(max)) {
        if has_used(block) {
            last = block;
        } else if block - last > MAX_GAP {
            break;
        }
    }
    Some(begin..last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn may_be_since_whole_seconds_last_to_their_end() {
        let second = 1_000_000_000;
        assert!(may_be_since(7 * second + 5, 7 * second + 5));
        assert!(!may_be_since(7 * second + 4, 7 * second + 5));
        assert!(may_be_since(7 * second, 7 * second + 5));
        assert!(!may_be_since(6 * second, 7 * second));
        assert!(may_be_since(i64::MAX, 7 * second));
    }

    #[test]
    fn next_run_bridges_short_gaps_only() {
        let used = |all: &'static [usize]| move |block: usize| all.contains(&block);
        assert_eq!(next_run(0..40, 256, used(&[])), None);
        assert_eq!(next_run(0..40, 256, used(&[3, 5, 21])), Some(3..22));
        assert_eq!(next_run(0..40, 256, used(&[3, 5, 23])), Some(3..6));
        assert_eq!(next_run(6..40, 256, used(&[3, 5, 23])), Some(23..24));
        assert_eq!(next_run(0..40, 2, used(&[3, 4, 5])), Some(3..5));
        assert_eq!(next_run(0..4, 256, used(&[3, 4])), Some(3..4));
    }
}
