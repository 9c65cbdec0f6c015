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
mod superblock;

use std::io;

use crate::read_at::ReadAt;

use super::index::{About, Directory, InodeGroup, Names, Role, UNIX_FIELDS, VolumeIndex};
use super::threads::Effort;
use inode_tables::{Found, GroupTable};
use superblock::{Superblock, incompat};

/// The inode of the top directory.
pub(super) const ROOT: u32 = 2;

/// Returns whether there seems to be such a volume.
pub(super) fn is_likely(source: &(impl ReadAt + ?Sized)) -> bool {
    let mut magic = [0; 2];
    source.read_exact_at(superblock::MAGIC_OFFSET, &mut magic).is_ok()
        && u16::from_le_bytes(magic) == superblock::MAGIC
}

/// Reads all tables of a volume that does not change.
///
/// # Errors
/// It is no such volume, it is damaged so far that nothing can be read, or it has features that are
/// not supported. Later errors are those of single directories and entries.
pub(super) fn read<S: ReadAt + ?Sized>(source: &S, effort: Effort) -> io::Result<VolumeIndex> {
    let superblock = Superblock::read(source)?;
    if !superblock.has_incompat(incompat::RECOVER) {
        return read_tables(source, &superblock, effort);
    }
    let recovered = journal::recover(source, &superblock)?;
    read_tables(&recovered, &Superblock::read(&recovered)?, effort)
}

fn read_tables<S: ReadAt + ?Sized>(
    source: &S,
    superblock: &Superblock,
    effort: Effort,
) -> io::Result<VolumeIndex> {
    let groups = groups::read(source, superblock)?;
    let tables = inode_tables::read(source, superblock, groups, None, effort);
    let mut tables = Tables::new(superblock, tables);
    tables.read_names(source, superblock, effort.threads);
    Ok(tables.join(superblock, superblock.device(), ROOT))
}

/// The tables of a volume, before they are joined.
struct Tables {
    inodes: Vec<InodeGroup>,
    directories: Vec<Found>,
    names: Vec<Names>,
}

impl Tables {
    /// Numbers the directories of all groups.
    fn new(superblock: &Superblock, tables: Vec<GroupTable>) -> Self {
        let mut directories = Vec::new();
        let mut inodes = Vec::with_capacity(tables.len());
        for mut table in tables {
            for found in table.directories {
                let at = ((found.inode - 1) % superblock.inodes_per_group) as usize;
                table.inodes.records[at].set_role(Role::Directory(directories.len() as u32));
                directories.push(found);
            }
            inodes.push(table.inodes);
        }
        Self { inodes, directories, names: Vec::new() }
    }

    /// Reads the entries of all directories.
    fn read_names<S: ReadAt + ?Sized>(
        &mut self,
        source: &S,
        superblock: &Superblock,
        threads: usize,
    ) {
        self.names = directories::read(source, superblock, &mut self.directories, threads);
    }

    /// Joins both tables. `root` is the inode of the top directory.
    fn join(self, superblock: &Superblock, device: u64, root: u32) -> VolumeIndex {
        let directory = |it: Found| Directory { inode: it.inode, error: it.error };
        let directories = self.directories.into_iter().map(directory).collect();
        let about = About {
            device,
            root,
            first_inode: 1,
            inodes_per_group: superblock.inodes_per_group,
            fields: UNIX_FIELDS,
            inode: "inode",
        };
        VolumeIndex::new(about, self.inodes, directories, self.names)
    }
}
