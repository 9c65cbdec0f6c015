//! Btrfs: the tree of a mounted subvolume, which the kernel reads for us.
//!
//! ```text
//! tree search ─► items ─► part ─► join ─► VolumeIndex
//!  (many items)           (a range of inode numbers)
//! ```
//!
//! A subvolume is a tree of items in the order of inode numbers: the attributes of an inode, and, if it is a
//! directory, its entries. The search copies them out, many with each call. Several threads take ranges of
//! inode numbers. Each subvolume has a tree and a device number of its own, so that it is a volume of its own
//! here: its top is unknown to the tree above, and is read when a walk gets there.
//!
//! The subvolume changes meanwhile. A transaction makes each change visible as a whole, and the inodes that
//! it changes get its number, the *generation*. The file system is written (`syncfs`) before the tree is read, and
//! again after it. Then inodes of later generations are searched for, which reads only nodes that are new. Files
//! and directories that did not change have been the same all the time, so that their items are right; all
//! others are for the caller to read in the usual way.

mod items;
mod join;
mod part;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::BorrowedFd;

use transect_sys::linux::{BtrfsKey, SearchBuffer, TreeSearch, btrfs_info};

use super::index::VolumeIndex;
use super::threads::{Effort, share_out};
use items::{Inode, Items, kind};
use part::Part;

/// The inode of the top directory of a subvolume.
pub(super) const ROOT: u64 = 256;
/// The last inode number (`BTRFS_LAST_FREE_OBJECTID`).
const LAST: u64 = u64::MAX - 255;

/// Bytes of items that one call returns. No item is longer than 64 KiB.
const BUFFER: usize = 256 * 1024;
/// Ranges of inode numbers for each thread: some hold more than others.
const RANGES_PER_THREAD: u64 = 32;
/// The least inode numbers in a range.
const MIN_RANGE: u64 = 4096;

/// What the caller knows of a mounted subvolume.
pub(super) struct Mounted<'a> {
    /// A directory in it.
    pub(super) directory: BorrowedFd<'a>,
    pub(super) device: u64,
    /// The inode of the directory that the walk begins at.
    pub(super) root: u64,
    /// Waits until the file system is written.
    pub(super) settle: &'a dyn Fn() -> io::Result<()>,
}

/// Checks whether the tree of the subvolume that a directory is on can be read, without reading it.
pub(super) fn check(directory: BorrowedFd<'_>) -> io::Result<()> {
    btrfs_info(directory)?;
    first_at(directory, &mut SearchBuffer::new(BUFFER), ROOT).map(drop)
}

/// Reads the tree of a subvolume. Returns also, for each directory, whether its entries cannot be trusted.
/// Directories with errors are marked: the caller walks them, which shows why.
pub(super) fn read(mounted: &Mounted<'_>, effort: Effort) -> io::Result<(VolumeIndex, Vec<bool>)> {
    // Before the first change that is not written below.
    let info = btrfs_info(mounted.directory)?;
    (mounted.settle)()?;
    let parts = read_parts(mounted.directory, info.sector_size, effort)?;
    (mounted.settle)()?;
    let changed = changed_after(mounted.directory, info.generation)?;
    let (mut index, mut doubtful) =
        join::join(parts, mounted.device, mounted.root, effort.threads)?;
    for inode in changed {
        match index.find_directory(inode) {
            Some(directory) => doubtful[directory as usize] = true,
            None => index.set_changed(inode),
        }
    }
    Ok((index, doubtful))
}

/// Reads all items of a subvolume, in the order of their inode numbers.
fn read_parts(
    directory: BorrowedFd<'_>,
    sector_size: u32,
    effort: Effort,
) -> io::Result<Vec<Part>> {
    let end = last_inode(directory)? + 1;
    let ranges = match effort.threads {
        1 => 1,
        threads => threads as u64 * RANGES_PER_THREAD,
    };
    let length = (end - ROOT).div_ceil(ranges).max(MIN_RANGE);
    let pieces = 0..(end - ROOT).div_ceil(length);
    let begin = || (SearchBuffer::new(BUFFER), Vec::new());
    let parts = share_out(effort.threads, pieces, begin, |(buffer, parts), number| {
        let first = ROOT + number * length;
        let mut part = Part::default();
        let mut search = TreeSearch::objects(first..=first.saturating_add(length - 1).min(LAST));
        let add = |items: Items<'_>| {
            items.for_each(|item| part.add(&item, sector_size, effort));
        };
        if search_all(directory, &mut search, buffer, add).is_err() {
            part.damage_last();
        }
        parts.push((number, part));
    });
    let mut parts: Vec<_> = parts.into_iter().flat_map(|(_, parts)| parts).collect();
    parts.sort_unstable_by_key(|(number, _)| *number);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// Reads items as one search returns them: hostile ones, from a program that looks for faults.
pub(super) fn read_items(bytes: &[u8]) -> io::Result<VolumeIndex> {
    /// A part needs some memory, even if there is one inode in it.
    const MAX_PARTS: usize = 8;
    let effort = Effort { threads: 1, all_times: true };
    let (mut parts, mut last) = (vec![Part::default()], 0);
    for item in (Items { left: u32::MAX, bytes }) {
        // The kernel returns them in this order.
        if item.key.object < last {
            continue;
        }
        let begins_part = item.key.object > last && item.key.object.is_multiple_of(16);
        last = item.key.object;
        if begins_part && parts.len() < MAX_PARTS {
            parts.push(Part::default());
        }
        parts.iter_mut().last().into_iter().for_each(|part| part.add(&item, 4096, effort));
    }
    Ok(join::join(parts, 0, ROOT, 1)?.0)
}

/// Passes all items that a search finds to `take`, as many at a time as one call returns. Some that are neither inodes
/// nor entries of directories are left out.
fn search_all(
    directory: BorrowedFd<'_>,
    search: &mut TreeSearch,
    buffer: &mut SearchBuffer,
    mut take: impl FnMut(Items<'_>),
) -> io::Result<()> {
    while search.first.object <= search.last_object {
        let (left, bytes) = search.read(directory, buffer)?;
        let items = Items { left, bytes };
        let Some(last) = items.last() else { break };
        take(items);
        let Some(first) = after(last.key) else { break };
        search.first = first;
    }
    Ok(())
}

/// Returns where to continue after an item: at the next one that is wanted.
fn after(last: BtrfsKey) -> Option<BtrfsKey> {
    let entries = |offset: u64| BtrfsKey { kind: kind::DIRECTORY_ENTRY, offset, ..last };
    Some(match last.kind {
        kind::DIRECTORY_ENTRY if last.offset < u64::MAX => entries(last.offset + 1),
        before if (kind::INODE..kind::DIRECTORY_ENTRY).contains(&before) => entries(0),
        _ => BtrfsKey { object: last.object.checked_add(1)?, kind: 0, offset: 0 },
    })
}

/// Returns the inode number of the last inode. The tree finds the first item behind a number, so this takes some
/// fifty searches.
fn last_inode(directory: BorrowedFd<'_>) -> io::Result<u64> {
    let mut buffer = SearchBuffer::new(BUFFER);
    // There is one at the first or behind it, and none behind the second.
    let (mut low, mut high) = (ROOT, LAST);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match first_at(directory, &mut buffer, middle)? {
            Some(found) => low = found,
            None => high = middle - 1,
        }
    }
    Ok(low)
}

/// Returns the first inode number with items from this one on.
fn first_at(
    directory: BorrowedFd<'_>,
    buffer: &mut SearchBuffer,
    inode: u64,
) -> io::Result<Option<u64>> {
    let search = TreeSearch { max_items: 1, ..TreeSearch::objects(inode..=LAST) };
    let (left, bytes) = search.read(directory, buffer)?;
    Ok(Items { left, bytes }.next().map(|item| item.key.object))
}

/// Returns the inodes that changed in a later generation than this one, in ascending order. Only nodes that are
/// newer are read.
pub(super) fn changed_after(directory: BorrowedFd<'_>, generation: u64) -> io::Result<Vec<u64>> {
    let mut changed = Vec::new();
    let search = TreeSearch::objects(ROOT..=LAST);
    let mut search = TreeSearch { min_generation: generation.saturating_add(1), ..search };
    search_all(directory, &mut search, &mut SearchBuffer::new(BUFFER), |items| {
        for item in items.filter(|item| item.key.kind == kind::INODE) {
            if Inode::new(item.content).is_none_or(|inode| inode.changed_in() > generation) {
                changed.push(item.key.object);
            }
        }
    })?;
    Ok(changed)
}
