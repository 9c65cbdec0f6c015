//! Volumes that the kernel has mounted, and that change while they are read.
//!
//! The kernel keeps the tables of ext4 in the cache of the block device, so that reading the device
//! shows them as they are, apart from what it has not put there yet (sizes of files being written). The
//! caller has the volume written (`syncfs`) before, and gets directories that did not change from a time
//! before that until all names were read. What such a directory lists is right: its entries have existed
//! all the time, so that none of their inodes was used for another file. All other directories are for
//! the caller to list in the usual way, and so are files that changed since.
//!
//! A change is part of a transaction: blocks of a directory, then the times in its inode. Having the
//! volume written again between reading the blocks and looking at the inodes waits for all transactions,
//! so that no change is seen by halves. Meanwhile, names and inodes are joined. If nothing was written to the device meanwhile, there was no transaction, and
//! the inodes need not be looked at. Without a journal there are no transactions: such volumes are
//! refused.

use std::io;

use transect_sys::ReadAt;

use super::super::error::unsupported;
use super::super::index::VolumeIndex;
use super::super::source::Buffer;
use super::super::threads::{Effort, both, share_out};
use super::directories::together;
use super::groups::Group;
use super::inode::Inode;
use super::inode_tables::{Found, Inodes};
use super::superblock::Superblock;
use super::{directories, groups, inode_tables, join};

/// The kernel may be changing what has a checksum.
const ATTEMPTS: u32 = 8;
const MAX_READ: u64 = 1 << 20;
/// So many other blocks are read along rather than skipped.
const MAX_GAP: u64 = 16;
/// Directories that a thread takes at once.
const TAKEN: usize = 1024;

/// What the caller knows of a mounted volume.
pub(in super::super) struct Mounted<'a> {
    /// Changes at or after this time are found, in nanoseconds since 1970 UTC.
    pub(in super::super) since: i64,
    pub(in super::super) device: u64,
    /// The inode of the directory that the walk begins at.
    pub(in super::super) root: u32,
    /// Waits until the volume is written.
    pub(in super::super) settle: &'a (dyn Fn() -> io::Result<()> + Sync),
    /// How much was ever written to the device; `None` if that is not counted.
    pub(in super::super) written: &'a dyn Fn() -> Option<u64>,
}

/// Reads all tables of a mounted volume. Returns also, for each directory, whether its entries cannot be
/// trusted.
pub(in super::super) fn read(
    source: &dyn ReadAt,
    effort: Effort,
    mounted: &Mounted<'_>,
) -> io::Result<(VolumeIndex, Vec<bool>)> {
    (mounted.settle)()?;
    let written = (mounted.written)();
    let superblock = superblock_of(source)?;
    let read_groups = || {
        let groups = groups::read(source, &superblock)?.into_iter();
        Ok::<Vec<_>, io::Error>(groups.map(|group| group.and_then(Group::checked)).collect())
    };
    let mut groups = read_groups()?;
    for _ in 1..ATTEMPTS {
        if groups.iter().all(Result::is_ok) {
            break;
        }
        groups = read_groups()?;
    }
    let since = Some(mounted.since);
    let mut inodes = inode_tables::read(source, &superblock, groups, since, effort);
    let names = directories::read(source, &superblock, &mut inodes, effort.threads);
    let Inodes { table, directories, errors, .. } = inodes;
    let mut doubtful: Vec<bool> = directories.iter().map(is_doubtful).collect();
    errors.iter().for_each(|(number, _)| doubtful[*number as usize] = true);
    // The device takes its time, and tables in memory do not change.
    let (settled, index) = both(2, mounted.settle, || {
        join(table, &directories, names, errors, mounted.device, mounted.root)
    });
    settled?;
    // A journal on the same device is written with every transaction.
    let has_counted_journal = superblock.journal_inode != 0 && written.is_some();
    if !has_counted_journal || (mounted.written)() != written {
        for number in changed(source, &superblock, &directories, effort.threads) {
            doubtful[number as usize] = true;
        }
    }
    Ok((index, doubtful))
}

pub(in super::super) fn check(source: &dyn ReadAt) -> io::Result<()> {
    superblock_of(source).map(drop)
}

fn superblock_of(source: &dyn ReadAt) -> io::Result<Superblock> {
    let mut result = Superblock::read(source);
    for _ in 1..ATTEMPTS {
        match result {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                result = Superblock::read(source);
            }
            _ => break,
        }
    }
    let superblock = result?;
    if !superblock.has_journal {
        return Err(unsupported(
            "it has no journal, so that changes while it is read would not be noticed",
        ));
    }
    Ok(superblock)
}

/// Returns whether a directory is known to have changed, or has encrypted names: the kernel may have the key.
fn is_doubtful(directory: &Found) -> bool {
    directory.is_recent || directory.encrypted
}

/// Returns which directories changed since their inodes were read.
fn changed(
    source: &dyn ReadAt,
    superblock: &Superblock,
    directories: &[Found],
    threads: usize,
) -> Vec<u32> {
    let mut order: Vec<u32> = (0..directories.len() as u32).collect();
    order.sort_unstable_by_key(|&number| directories[number as usize].block);
    let found = share_out(threads, order.chunks(TAKEN), Default::default, |state, taken| {
        let (found, buffer) = state;
        find_changed(source, superblock, directories, taken, buffer, found);
    });
    found.into_iter().flat_map(|(found, _)| found).collect()
}

/// Reads the inodes of directories again, which are in the order of their blocks, and collects those that
/// differ.
fn find_changed(
    source: &dyn ReadAt,
    superblock: &Superblock,
    directories: &[Found],
    taken: &[u32],
    buffer: &mut Buffer,
    changed: &mut Vec<u32>,
) {
    let (block_size, inode_size) = (superblock.block_size as usize, superblock.inode_size as usize);
    let max = MAX_READ / u64::from(superblock.block_size);
    let block = |number: &u32| directories[*number as usize].block;
    for (blocks, now) in together(taken, max, MAX_GAP, |it| block(it)..block(it) + 1) {
        let length = (blocks.end - blocks.start) as usize * block_size;
        let Ok(bytes) = buffer.read(source, blocks.start * block_size as u64, length) else {
            changed.extend(now);
            continue;
        };
        for &number in now {
            let found = &directories[number as usize];
            let in_block = (found.inode - 1)
                % superblock.inodes_per_group
                % (superblock.block_size / superblock.inode_size);
            let at = (found.block - blocks.start) as usize * block_size;
            let at = at + in_block as usize * inode_size;
            let inode = Inode::new(found.inode, &bytes[at..at + inode_size]);
            if inode.stamp() != found.stamp {
                changed.push(number);
            }
        }
    }
}
