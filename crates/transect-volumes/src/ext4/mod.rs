//! ext4, ext3 and ext2: the inode tables, and the blocks of directories.
//!
//! ```text
//! superblock ─► groups ─► inode_tables ─► directories ─► VolumeIndex
//!                          (inode, content)  (directory)
//! ```
//!
//! A mounted volume changes while it is read: see `mounted.rs`.
//!
//! Both tables are read in the order in which they lie on the volume, in large pieces, and not in the
//! order of the tree: that is why it is faster than a walk. Every number of a volume is checked
//! before it is used, as anybody can make an image.

mod checksum;
mod content;
mod directories;
mod directory;
mod groups;
mod inode;
mod inode_tables;
mod journal;
#[cfg(target_os = "linux")]
pub(super) mod mounted;
mod replay;
mod superblock;

use std::io;

use transect_sys::ReadAt;

use super::index::{About, Names, UNIX_FIELDS, VolumeIndex};
use super::inode_table::{InodeRecord, InodeTable};
use super::threads::Effort;
use inode_tables::{Found, Inodes};
use superblock::{Superblock, incompat};

pub(super) const ROOT: u32 = 2;

pub(super) fn is_likely(source: &dyn ReadAt) -> bool {
    let mut magic = [0; 2];
    source.read_exact_at(superblock::MAGIC_OFFSET, &mut magic).is_ok()
        && u16::from_le_bytes(magic) == superblock::MAGIC
}

/// Reads all tables of a volume that does not change.
/// Errors behind the superblock, groups and journal are those of single directories and entries.
pub(super) fn read(source: &dyn ReadAt, effort: Effort) -> io::Result<VolumeIndex> {
    let superblock = Superblock::read(source)?;
    if !superblock.has_incompat(incompat::RECOVER) {
        return read_tables(source, &superblock, effort);
    }
    let recovered = journal::recover(source, &superblock)?;
    read_tables(&recovered, &Superblock::read(&recovered)?, effort)
}

fn read_tables(
    source: &dyn ReadAt,
    superblock: &Superblock,
    effort: Effort,
) -> io::Result<VolumeIndex> {
    let groups = groups::read(source, superblock)?;
    // The kernel, too, reads what such a descriptor describes, if the volume is mounted read-only.
    let wrong_group = groups.iter().flatten().find_map(|group| group.checked().err());
    let mut inodes = inode_tables::read(source, superblock, groups, None, effort);
    let names = directories::read(source, superblock, &mut inodes, effort.threads);
    let Inodes { table, directories, mut errors, .. } = inodes;
    if let Some(top) = table.get(ROOT).and_then(InodeRecord::directory) {
        errors.extend(wrong_group.map(|error| (top, error)));
    }
    Ok(join(table, &directories, names, errors, superblock.device(), ROOT))
}

/// Joins inodes and names. `root` is the inode of the top directory.
fn join(
    table: InodeTable,
    directories: &[Found],
    names: Vec<Names>,
    errors: Vec<(u32, io::Error)>,
    device: u64,
    root: u32,
) -> VolumeIndex {
    let directories = directories.iter().map(|it| it.inode).collect();
    let about = About { device, root, fields: UNIX_FIELDS, inode: "inode" };
    VolumeIndex::new(about, table, directories, names, errors)
}
