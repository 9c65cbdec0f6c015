//! The tables of a volume in memory, joined: a directory's entries, and an entry's attributes.
//!
//! A file system keeps attributes in one table and names in directories. The readers of both add
//! what they find, in any order and on several threads; [`VolumeIndex`] answers as directories do.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;

use super::error::same_error;
use crate::attributes::{Attributes, FieldMask, FileType};

/// What a record of the table of attributes stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing: the record is free.
    #[default]
    Free,
    /// The record is there and cannot be trusted.
    Damaged,
    /// Anything but a directory.
    Entry,
    /// The directory with this number.
    Directory(u32),
}

/// The attributes of one file. Times are nanoseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InodeRecord {
    pub(super) size: u64,
    pub(super) allocated: u64,
    pub(super) mtime: i64,
    pub(super) ctime: i64,
    pub(super) atime: i64,
    /// `i64::MIN` if it is not stored.
    pub(super) btime: i64,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) role: Role,
    pub(super) mode: u16,
    pub(super) nlink: u16,
}

/// The names of some directories, in the order in which they were read.
#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    /// For each name, the offset of its first byte and, in the lowest eight bits, its length.
    places: Vec<u64>,
    inodes: Vec<u32>,
    segments: Vec<Segment>,
    subdirectories: Vec<(u32, u32)>,
}

/// Names that belong to one directory and lie beside each other.
#[derive(Clone, Copy, Debug)]
struct Segment {
    directory: u32,
    /// The place in the directory: segments are in this order.
    logical: u32,
    part: u32,
    first: u32,
    count: u32,
}

impl Names {
    /// Begins the entries of a directory at this place.
    pub(super) fn begin(&mut self, directory: u32, logical: u32) {
        let first = self.inodes.len() as u32;
        self.segments.push(Segment { directory, logical, part: 0, first, count: 0 });
    }

    /// Adds an entry to the directory begun last. A name has 1 to 255 bytes.
    pub(super) fn push(&mut self, name: &[u8], inode: u32, may_be_directory: bool) {
        let segment = self.segments.last_mut().expect("BUG: a directory was begun");
        segment.count += 1;
        if may_be_directory {
            self.subdirectories.push((segment.directory, self.inodes.len() as u32));
        }
        self.places.push((self.bytes.len() as u64) << 8 | name.len() as u64);
        self.bytes.extend_from_slice(name);
        self.inodes.push(inode);
    }

    fn name(&self, row: u32) -> &[u8] {
        let place = self.places[row as usize];
        let begin = (place >> 8) as usize;
        &self.bytes[begin..begin + (place & 0xFF) as usize]
    }
}

/// The records of consecutive inode numbers.
#[derive(Debug, Default)]
pub(super) struct InodeGroup {
    /// Up to the last one in use.
    pub(super) records: Vec<InodeRecord>,
    /// Why some could not be read.
    pub(super) error: Option<io::Error>,
}

/// A directory.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) inode: u32,
    /// Why some of its entries are missing.
    pub(super) error: Option<io::Error>,
}

/// All that was read of a volume.
#[derive(Debug)]
pub(super) struct VolumeIndex {
    device: u64,
    groups: Vec<InodeGroup>,
    inodes_per_group: u32,
    directories: Vec<Directory>,
    parts: Vec<Names>,
    /// By directory.
    segments: Vec<Segment>,
    /// For each directory, its first segment; one more at the end.
    first_segment: Vec<u32>,
    /// The subdirectories by directory and name.
    by_name: HashMap<u64, Subdirectories>,
    hasher: RandomState,
}

/// A place among the entries of a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    segment: usize,
    end: usize,
    row: u32,
}

/// The subdirectories whose hash is the same: nearly always one.
#[derive(Debug)]
enum Subdirectories {
    One(Subdirectory),
    More(Vec<Subdirectory>),
}

#[derive(Clone, Copy, Debug)]
struct Subdirectory {
    parent: u32,
    part: u32,
    row: u32,
    directory: u32,
}

impl VolumeIndex {
    /// Joins what was read. `root` is the inode of the top directory.
    pub(super) fn new(
        device: u64,
        inodes_per_group: u32,
        groups: Vec<InodeGroup>,
        directories: Vec<Directory>,
        mut parts: Vec<Names>,
        root: u32,
    ) -> Self {
        let mut segments = Vec::with_capacity(parts.iter().map(|part| part.segments.len()).sum());
        for (number, part) in parts.iter_mut().enumerate() {
            let own = std::mem::take(&mut part.segments);
            segments.extend(own.into_iter().map(|it| Segment { part: number as u32, ..it }));
        }
        segments.sort_unstable_by_key(|it| (it.directory, it.logical));
        let mut first_segment = vec![0; directories.len() + 1];
        segments.iter().for_each(|it| first_segment[it.directory as usize + 1] += 1);
        for at in 1..first_segment.len() {
            first_segment[at] += first_segment[at - 1];
        }
        let mut index = Self {
            device,
            groups,
            inodes_per_group,
            directories,
            parts,
            segments,
            first_segment,
            by_name: HashMap::new(),
            hasher: RandomState::new(),
        };
        index.find_subdirectories(root);
        index
    }

    /// Records which names lead to which directories. A directory that a second name leads to, or
    /// the top, is entered by its first name only: so there is no loop, whatever a volume claims.
    fn find_subdirectories(&mut self, root: u32) {
        let mut is_entered = vec![false; self.directories.len()];
        if let Role::Directory(top) = self.role(root) {
            is_entered[top as usize] = true;
        }
        for part in 0..self.parts.len() {
            for (parent, row) in std::mem::take(&mut self.parts[part].subdirectories) {
                let Role::Directory(directory) = self.role(self.parts[part].inodes[row as usize])
                else {
                    continue;
                };
                if std::mem::replace(&mut is_entered[directory as usize], true) {
                    continue;
                }
                let found = Subdirectory { parent, part: part as u32, row, directory };
                let hash = self.hasher.hash_one((parent, self.parts[part].name(row)));
                match self.by_name.get_mut(&hash) {
                    None => drop(self.by_name.insert(hash, Subdirectories::One(found))),
                    Some(Subdirectories::More(all)) => all.push(found),
                    Some(one @ &mut Subdirectories::One(first)) => {
                        *one = Subdirectories::More(vec![first, found]);
                    }
                }
            }
        }
    }

    /// Returns the directory with this inode number.
    pub(super) fn directory(&self, inode: u32) -> Option<u32> {
        match self.role(inode) {
            Role::Directory(directory) => Some(directory),
            _ => None,
        }
    }

    /// Returns the subdirectory with this name.
    pub(super) fn subdirectory(&self, parent: u32, name: &[u8]) -> Option<u32> {
        let all = match self.by_name.get(&self.hasher.hash_one((parent, name)))? {
            Subdirectories::One(one) => std::slice::from_ref(one),
            Subdirectories::More(all) => all,
        };
        let is_it = |it: &&Subdirectory| {
            it.parent == parent && self.parts[it.part as usize].name(it.row) == name
        };
        all.iter().find(is_it).map(|it| it.directory)
    }

    /// Returns why entries of a directory are missing.
    pub(super) fn error(&self, directory: u32) -> Option<&io::Error> {
        self.directories[directory as usize].error.as_ref()
    }

    /// Returns the inode number of a directory.
    pub(super) fn inode_of(&self, directory: u32) -> u32 {
        self.directories[directory as usize].inode
    }

    /// Returns the number of the file system.
    pub(super) fn device(&self) -> u64 {
        self.device
    }

    /// Returns the place before the first entry of a directory.
    pub(super) fn begin(&self, directory: u32) -> Position {
        let at = directory as usize;
        let (segment, end) = (self.first_segment[at] as usize, self.first_segment[at + 1] as usize);
        Position { segment, end, row: 0 }
    }

    /// Returns the next entry, name and inode number, and goes past it.
    #[inline]
    pub(super) fn next(&self, at: &mut Position) -> Option<(&[u8], u32)> {
        while at.segment < at.end {
            let segment = &self.segments[at.segment];
            if at.row < segment.count {
                let (part, row) = (&self.parts[segment.part as usize], segment.first + at.row);
                at.row += 1;
                return Some((part.name(row), part.inodes[row as usize]));
            }
            (at.segment, at.row) = (at.segment + 1, 0);
        }
        None
    }

    fn role(&self, inode: u32) -> Role {
        self.record(inode).map_or(Role::Free, |record| record.role)
    }

    fn record(&self, inode: u32) -> Option<&InodeRecord> {
        let number = inode.checked_sub(1)?;
        let group = self.groups.get((number / self.inodes_per_group) as usize)?;
        group.records.get((number % self.inodes_per_group) as usize)
    }

    /// Returns the attributes of a file.
    ///
    /// # Errors
    /// Its record is free, damaged, or could not be read.
    pub(super) fn attributes(&self, inode: u32) -> io::Result<Attributes> {
        let record = self.record(inode).copied().unwrap_or_default();
        match record.role {
            Role::Free => Err(self.why_missing(inode)),
            Role::Damaged => {
                let text = format!("inode {inode} is damaged: its checksum is wrong");
                Err(io::Error::new(io::ErrorKind::InvalidData, text))
            }
            Role::Entry | Role::Directory(_) => Ok(self.known(inode, &record)),
        }
    }

    fn known(&self, inode: u32, record: &InodeRecord) -> Attributes {
        let mut known = FieldMask::SIZE
            | FieldMask::ALLOCATED
            | FieldMask::TIMES
            | FieldMask::FILE_ID
            | FieldMask::MODE
            | FieldMask::NLINK
            | FieldMask::UID
            | FieldMask::GID;
        known.set(FieldMask::BTIME, record.btime != i64::MIN);
        Attributes {
            known,
            file_type: FileType::from_mode(record.mode.into()),
            mode: record.mode,
            nlink: record.nlink.into(),
            uid: record.uid,
            gid: record.gid,
            size: record.size,
            allocated: record.allocated,
            inode: inode.into(),
            device: self.device,
            mtime: record.mtime,
            ctime: record.ctime,
            atime: record.atime,
            btime: record.btime,
            attribute_bits: 0,
            reparse_tag: 0,
        }
    }

    fn why_missing(&self, inode: u32) -> io::Error {
        let number = inode.checked_sub(1).map(|number| number / self.inodes_per_group);
        let group = number.and_then(|number| self.groups.get(number as usize));
        match group.and_then(|group| group.error.as_ref()) {
            Some(error) => same_error(error),
            None => {
                let text = format!("inode {inode} is not in use");
                io::Error::new(io::ErrorKind::InvalidData, text)
            }
        }
    }
}
