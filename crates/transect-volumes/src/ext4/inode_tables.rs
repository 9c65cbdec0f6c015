//! Reads the inodes of all groups, several groups at once.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use transect_sys::ReadAt;
use transect_sys::processor::crc32c;

use super::super::error::invalid;
use super::super::inode_table::{InodeGroup, InodePart, InodeRecord, InodeTable, Role};
use super::super::source::Buffer;
use super::super::threads::{Effort, on_threads};
use super::content::{Content, DirectoryRun};
use super::groups::Group;
use super::inode::{Inode, flag};
use super::superblock::Superblock;

const MAX_READ: usize = 1 << 19;
/// So many blocks without an inode in use are read along rather than skipped.
const MAX_GAP: usize = 16;

/// A directory, before its entries are read.
#[derive(Clone, Copy, Default)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "for mounted volumes"))]
pub(super) struct Found {
    pub(super) inode: u32,
    /// The beginning of the checksums of its blocks.
    pub(super) seed: u32,
    /// The block with its inode.
    pub(super) block: u64,
    /// See [`Inode::stamp`].
    pub(super) stamp: u32,
    /// Names are encrypted: any bytes, so they are shown as text.
    pub(super) encrypted: bool,
    /// It changed since reading began.
    pub(super) is_recent: bool,
}

/// What the inodes of a volume show.
#[derive(Default)]
pub(super) struct Inodes {
    pub(super) table: InodeTable,
    pub(super) directories: Vec<Found>,
    /// The blocks of the directories: those that one thread found after those of another, each in order.
    pub(super) runs: Vec<DirectoryRun>,
    /// Records that are in the inodes of directories.
    pub(super) inline: Vec<(u32, Vec<u8>)>,
    /// Why entries of directories are missing.
    pub(super) errors: Vec<(u32, io::Error)>,
    /// About as many inodes are in use.
    pub(super) in_use: usize,
}

/// What one thread found. Directories of the group that is being read do not have their numbers yet.
#[derive(Default)]
struct Part {
    inodes: InodePart,
    groups: Vec<(u32, InodeGroup)>,
    directories: Vec<Found>,
    /// The number of the first directory of each group, and its place in this part.
    numbers: Vec<(u32, usize)>,
    runs: Vec<DirectoryRun>,
    inline: Vec<(u32, Vec<u8>)>,
    errors: Vec<(u32, io::Error)>,
}

/// Reads the inodes of all groups. What changed `since` a time, in nanoseconds since 1970 UTC, is marked.
pub(super) fn read(
    source: &dyn ReadAt,
    superblock: &Superblock,
    groups: Vec<io::Result<Group>>,
    since: Option<i64>,
    effort: Effort,
) -> Inodes {
    let mut all = Inodes::default();
    all.table.first_inode = 1;
    all.table.per_group = superblock.inodes_per_group;
    all.table.groups.resize_with(groups.len(), InodeGroup::default);
    let mut readable = Vec::new();
    for (number, group) in groups.into_iter().enumerate() {
        match group {
            Ok(group) => readable.push(group),
            Err(error) => all.table.groups[number].error = Some(error),
        }
    }
    all.in_use = readable.iter().map(|group| group.in_use as usize).sum();
    let blocks_left = AtomicU64::new(superblock.blocks);
    let all_times = effort.all_times;
    let directories = AtomicU32::new(0);
    let reader = Reader { source, superblock, since, all_times, blocks_left, directories };
    let next = AtomicUsize::new(0);
    let work = || {
        // There are some without use between them, and one thread may read more than the others.
        let room = all.in_use / effort.threads / 4 * 5;
        let inodes = InodePart::with_room(room, all_times);
        let (mut part, mut buffer) = (Part { inodes, ..Part::default() }, Buffer::default());
        while let Some(group) = readable.get(next.fetch_add(1, Ordering::Relaxed)) {
            let read = reader.read_group(group, &mut buffer, &mut part);
            part.groups.push((group.number, read));
        }
        part.runs.sort_unstable_by_key(|run| run.physical);
        part
    };
    let parts = on_threads(effort.threads, work);
    all.directories.resize(reader.directories.into_inner() as usize, Found::default());
    for (number, part) in (0..).zip(parts) {
        all.add(number, part);
    }
    all
}

impl Inodes {
    fn add(&mut self, number: u32, mut part: Part) {
        for (at, group) in part.groups {
            self.table.groups[at as usize] = InodeGroup { part: number, ..group };
        }
        self.table.parts.push(part.inodes);
        let ends = part.numbers.iter().skip(1).map(|&(_, place)| place);
        let ends = ends.chain([part.directories.len()]);
        for (&(first, begin), end) in part.numbers.iter().zip(ends) {
            let own = &part.directories[begin..end];
            self.directories[first as usize..first as usize + own.len()].copy_from_slice(own);
        }
        self.runs.append(&mut part.runs);
        self.inline.append(&mut part.inline);
        self.errors.append(&mut part.errors);
    }
}

struct Reader<'a> {
    source: &'a dyn ReadAt,
    superblock: &'a Superblock,
    since: Option<i64>,
    all_times: bool,
    /// Each block belongs to one directory, so all of them have no more than there are.
    blocks_left: AtomicU64,
    directories: AtomicU32,
}

impl Reader<'_> {
    fn read_group(&self, group: &Group, buffer: &mut Buffer, part: &mut Part) -> InodeGroup {
        let mut table = part.inodes.begin();
        if group.used == 0 {
            return table;
        }
        let first_directory = part.directories.len();
        let first = [part.runs.len(), part.inline.len(), part.errors.len()];
        let per_block = (self.superblock.block_size / self.superblock.inode_size) as usize;
        let bitmap = self.bitmap(group);
        let is_used =
            |inode: usize| inode < group.used as usize && bitmap[inode / 8] >> (inode % 8) & 1 != 0;
        let blocks = (group.used as usize).div_ceil(per_block);
        let has_used = |block: usize| (block * per_block..(block + 1) * per_block).any(is_used);
        // The device works on the next blocks while these inodes are read.
        let block_size = u64::from(self.superblock.block_size);
        for run in runs(blocks, usize::MAX, has_used) {
            let offset = (group.table + run.start as u64) * block_size;
            self.source.prefetch(offset, run.len() as u64 * block_size);
        }
        // The places of inodes in the group, and whether their checksums are right.
        let mut checked = Vec::new();
        for run in runs(blocks, MAX_READ / block_size as usize, has_used) {
            let length = run.len() * block_size as usize;
            let offset = (group.table + run.start as u64) * block_size;
            let bytes = match buffer.read(self.source, offset, length) {
                Ok(bytes) => bytes,
                Err(error) => {
                    table.error.get_or_insert(error);
                    continue;
                }
            };
            let first = group.number * self.superblock.inodes_per_group + 1;
            let inode_size = self.superblock.inode_size as usize;
            let inodes = bytes.chunks_exact(inode_size);
            let inodes = (run.start * per_block..).zip(inodes).filter(|&(at, _)| is_used(at));
            let inodes = inodes.map(|(at, bytes)| (at, Inode::new(first + at as u32, bytes)));
            // In a loop that does nothing else, the processor calculates several checksums at once.
            checked.clear();
            let used = inodes.filter(|(_, inode)| inode.is_used());
            checked.extend(used.map(|(at, it)| (at, it.checksum_is_right(self.superblock))));
            for &(at, is_right) in &checked {
                let bytes = &bytes[(at - run.start * per_block) * inode_size..][..inode_size];
                let inode = Inode::new(first + at as u32, bytes);
                self.add(group, at, inode, is_right, &mut table, part);
            }
        }
        self.number_directories(part, &table, first_directory, first);
        table
    }

    /// Numbers the directories of a group, which are those of the part from `first_directory` on.
    fn number_directories(
        &self,
        part: &mut Part,
        inodes: &InodeGroup,
        first_directory: usize,
        [first_run, first_inline, first_error]: [usize; 3],
    ) {
        let own = &part.directories[first_directory..];
        if own.is_empty() {
            return;
        }
        let first = self.directories.fetch_add(own.len() as u32, Ordering::Relaxed);
        for (number, found) in (first..).zip(own) {
            let at = (found.inode - 1) % self.superblock.inodes_per_group;
            part.inodes.records[(inodes.first + at) as usize].set_role(Role::Directory(number));
        }
        let renumber =
            |directory: &mut u32| *directory = *directory - first_directory as u32 + first;
        part.runs[first_run..].iter_mut().for_each(|run| renumber(&mut run.directory));
        part.inline[first_inline..].iter_mut().for_each(|(directory, _)| renumber(directory));
        part.errors[first_error..].iter_mut().for_each(|(directory, _)| renumber(directory));
        part.numbers.push((first, first_directory));
    }

    /// Returns which inodes are in use: all of them, if that is not known.
    fn bitmap(&self, group: &Group) -> Vec<u8> {
        let length = self.superblock.inodes_per_group.div_ceil(8) as usize;
        let read = group.is_right.then(|| self.read_bitmap(group, length)).flatten();
        read.unwrap_or_else(|| vec![0xFF; length])
    }

    fn read_bitmap(&self, group: &Group, length: usize) -> Option<Vec<u8>> {
        let mut bits = vec![0; length];
        let offset = group.bitmap * u64::from(self.superblock.block_size);
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

    fn add(
        &self,
        group: &Group,
        at: usize,
        inode: Inode<'_>,
        is_right: bool,
        inodes: &mut InodeGroup,
        part: &mut Part,
    ) {
        let superblock = self.superblock;
        let mut record = InodeRecord::default();
        record.set_role(Role::Damaged);
        if is_right {
            record = inode.record(superblock);
            let is_recent = self.since.is_some_and(|since| may_be_since(inode.ctime(), since));
            if inode.is_directory() {
                // It gets its number when the group is complete.
                record.set_role(Role::Directory(0));
                let per_block = (superblock.block_size / superblock.inode_size) as usize;
                let block = group.table + (at / per_block) as u64;
                self.add_directory(inode, block, is_recent, part);
            } else if !inode.is_possible(&record, superblock) {
                record.set_role(Role::Impossible);
            } else if is_recent {
                record.set_role(Role::Changed);
            }
        }
        part.inodes.set(inodes, at, record, self.all_times.then(|| inode.times()));
    }

    fn add_directory(&self, inode: Inode<'_>, block: u64, is_recent: bool, part: &mut Part) {
        let number = part.directories.len() as u32;
        let found = Found {
            inode: inode.number,
            seed: inode.seed(self.superblock),
            block,
            stamp: inode.stamp(),
            encrypted: inode.flags() & flag::ENCRYPTED != 0,
            is_recent,
        };
        part.directories.push(found);
        if inode.flags() & flag::INLINE_DATA != 0 {
            // The first four bytes are the number of the directory above.
            let rest = inode.inline_rest().unwrap_or(&[]);
            part.inline.push((number, [&inode.content()[4..], rest].concat()));
            return;
        }
        let begin = part.runs.len();
        let result = Content::add_to(&mut part.runs, number, self.source, self.superblock, inode);
        part.errors.extend(result.err().map(|error| (number, error)));
        let blocks = part.runs[begin..].iter().map(|run| u64::from(run.count)).sum::<u64>();
        let spend = |left: u64| left.checked_sub(blocks);
        if self.blocks_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() {
            part.runs.truncate(begin);
            let text = "the directories claim more blocks than the volume has".to_owned();
            part.errors.push((number, invalid(text)));
        }
    }
}

/// Returns whether something changed at or after `since`. Small inodes store whole seconds.
fn may_be_since(ctime: i64, since: i64) -> bool {
    ctime >= since || ctime.saturating_add(999_999_999) >= since && ctime % 1_000_000_000 == 0
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
