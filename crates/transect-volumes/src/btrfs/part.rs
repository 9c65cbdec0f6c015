//! What the items of a range of inode numbers show.

use super::super::index::Names;
use super::super::inode_table::{InodePart, Role};
use super::super::threads::Effort;
use super::items::{DirectoryEntry, Inode, Item, kind};

/// Records in one group.
pub(super) const PER_GROUP: usize = 1024;

/// What was found of the inodes in a range.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) inodes: InodePart,
    /// For each record, its inode number. They ascend.
    pub(super) inode_numbers: Vec<u64>,
    pub(super) directories: Vec<Found>,
    /// The entries of the directories.
    pub(super) names: Names,
    /// For each name, the inode number; 0 for the tops of other subvolumes.
    pub(super) named: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Its record: the place in the part.
    pub(super) record: usize,
    /// Whether entries are missing.
    pub(super) is_damaged: bool,
}

impl Part {
    /// Adds what an item shows. Items come in ascending order of their keys.
    pub(super) fn add(&mut self, item: &Item<'_>, sector_size: u32, effort: Effort) {
        let is_known = self.inode_numbers.last() == Some(&item.key.object);
        match item.key.kind {
            kind::INODE if self.inode_numbers.last().is_none_or(|&it| it < item.key.object) => {
                if let Some(inode) = Inode::new(item.content) {
                    self.add_inode(item.key.object, inode, sector_size, effort.all_times);
                }
            }
            kind::DIRECTORY_ENTRY if is_known => self.add_entry(item.content),
            _ => {}
        }
    }

    fn add_inode(&mut self, number: u64, inode: Inode<'_>, sector_size: u32, all_times: bool) {
        let mut record = inode.record(sector_size);
        record.set_role(Role::Entry);
        if inode.is_directory() {
            let directory = self.directories.len() as u32;
            record.set_role(Role::Directory(directory));
            let found = Found { record: self.inode_numbers.len(), is_damaged: false };
            self.directories.push(found);
            self.names.begin(directory, 0);
        }
        self.inodes.records.push(record);
        if all_times {
            self.inodes.times.push(inode.times());
        }
        self.inode_numbers.push(number);
    }

    fn add_entry(&mut self, content: &[u8]) {
        let last = self.inode_numbers.len() - 1;
        let Some(directory) = self.directories.last_mut().filter(|it| it.record == last) else {
            return;
        };
        match DirectoryEntry::new(content) {
            Some(entry) => {
                // Which record the inode has is known only after all parts were read.
                self.names.push(entry.name, 0, entry.is_directory);
                self.named.push(entry.inode.unwrap_or(0));
            }
            None => directory.is_damaged = true,
        }
    }

    /// Marks the directory read last: the rest of it cannot be read.
    pub(super) fn damage_last(&mut self) {
        self.directories.iter_mut().last().into_iter().for_each(|it| it.is_damaged = true);
    }
}
