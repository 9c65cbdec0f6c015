//! ext4, ext3 and ext2: the inode tables, and the blocks of directories.
//!
//! ```text
//! superblock ─► groups ─► inode_tables ─► directories ─► VolumeIndex
//!                          (inode, content)  (directory)
//! ```
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
mod superblock;

use std::fs::File;
use std::io;

use crate::read_at::ReadAt;

use super::error::invalid;
use super::index::{Directory, Role, VolumeIndex};
use superblock::{Superblock, incompat};

/// The inode of the top directory.
pub(super) const ROOT: u32 = 2;

/// Returns whether a file seems to be such a volume.
pub(super) fn is_likely(file: &File) -> bool {
    let mut magic = [0; 2];
    file.read_exact_at(superblock::MAGIC_OFFSET, &mut magic).is_ok()
        && u16::from_le_bytes(magic) == superblock::MAGIC
}

/// Reads all tables of a volume, on so many threads.
///
/// # Errors
/// It is no such volume, it is damaged so far that nothing can be read, or it has features that are
/// not supported. Later errors are those of single directories and entries.
pub(super) fn read<S: ReadAt + ?Sized>(source: &S, threads: usize) -> io::Result<VolumeIndex> {
    let superblock = Superblock::read(source)?;
    if superblock.has_incompat(incompat::RECOVER) {
        let text = "its journal has changes that are not in its tables yet; \
                    mount it once, or repair it with `e2fsck`";
        return Err(invalid(text.to_owned()));
    }
    let groups = groups::read(source, &superblock)?;
    let tables = inode_tables::read(source, &superblock, groups, threads);
    let mut directories = Vec::new();
    let mut inodes = Vec::with_capacity(tables.len());
    for mut table in tables {
        for found in table.directories {
            let at = ((found.inode - 1) % superblock.inodes_per_group) as usize;
            table.inodes.records[at].role = Role::Directory(directories.len() as u32);
            directories.push(found);
        }
        inodes.push(table.inodes);
    }
    let parts = directories::read(source, &superblock, &mut directories, threads);
    let directories =
        directories.into_iter().map(|it| Directory { inode: it.inode, error: it.error }).collect();
    let per_group = superblock.inodes_per_group;
    Ok(VolumeIndex::new(superblock.device(), per_group, inodes, directories, parts, ROOT))
}
