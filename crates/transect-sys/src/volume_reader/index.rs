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
    /// The file changed since reading began: only the system knows its attributes.
    Changed,
    /// Anything but a directory.
    Entry,
    /// The directory with this number.
    Directory(u32),
}

/// The attributes of one file that most walks want. There is one for every inode, so it is small.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InodeRecord {
    pub(super) size: u64,
    /// Nanoseconds since 1970 UTC.
    pub(super) mtime: i64,
    pub(super) allocated: Sectors,
    pub(super) mode: u16,
    pub(super) nlink: u16,
    pub(super) uid: u32,
    pub(super) gid: u32,
    role: RoleNumber,
}

impl InodeRecord {
    pub(super) fn role(&self) -> Role {
        match self.role.0 {
            0 => Role::Free,
            1 => Role::Damaged,
            2 => Role::Changed,
            3 => Role::Entry,
            directory => Role::Directory(directory - 4),
        }
    }

    pub(super) fn set_role(&mut self, role: Role) {
        self.role.0 = match role {
            Role::Free => 0,
            Role::Damaged => 1,
            Role::Changed => 2,
            Role::Entry => 3,
            // There are fewer inodes than that.
            Role::Directory(directory) => directory.saturating_add(4),
        };
    }
}

/// A [`Role`] in four bytes instead of eight.
#[derive(Clone, Copy, Debug, Default)]
struct RoleNumber(u32);

/// A number of 512 bytes, up to 48 bits: the lower half, and the upper bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sectors([u16; 3]);

impl Sectors {
    /// Returns as many sectors, or the most that there can be.
    pub(super) fn new(sectors: u64) -> Self {
        let sectors = sectors.min((1 << 48) - 1);
        Self([sectors as u16, (sectors >> 16) as u16, (sectors >> 32) as u16])
    }

    fn bytes(self) -> u64 {
        let [low, middle, high] = self.0.map(u64::from);
        (low | middle << 16 | high << 32) * 512
    }
}

/// The times of one file that few walks want, in nanoseconds since 1970 UTC.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) ctime: i64,
    pub(super) atime: i64,
    /// `i64::MIN` if it is not stored.
    pub(super) btime: i64,
}

/// The names of some directories, in the order in which they were read.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// For each name its inode number (four bytes), its length (one byte), and the name.
    bytes: Vec<u8>,
    segments: Vec<Segment>,
    /// Entries that may be directories: the directory that they are in, and their offset.
    subdirectories: Vec<(u32, u64)>,
}

/// Names that belong to one directory and lie beside each other.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The offset of the first.
    first: u64,
    directory: u32,
    /// The place in the directory: segments are in this order.
    logical: u32,
    part: u32,
    count: u32,
}

/// The bytes before a name.
const BEFORE_NAME: usize = 5;

impl Names {
    /// Begins the entries of a directory at this place.
    pub(super) fn begin(&mut self, directory: u32, logical: u32) {
        let first = self.bytes.len() as u64;
        self.segments.push(Segment { first, directory, logical, part: 0, count: 0 });
    }

    /// Adds an entry to the directory begun last. A name has 1 to 255 bytes.
    pub(super) fn push(&mut self, name: &[u8], inode: u32, may_be_directory: bool) {
        let segment = self.segments.last_mut().expect("BUG: a directory was begun");
        segment.count += 1;
        if may_be_directory {
            self.subdirectories.push((segment.directory, self.bytes.len() as u64));
        }
        self.bytes.extend_from_slice(&inode.to_le_bytes());
        self.bytes.push(name.len() as u8);
        self.bytes.extend_from_slice(name);
    }

    /// Returns the name at an offset, and its inode number.
    #[inline]
    fn entry(&self, offset: u64) -> (&[u8], u32) {
        let (before, rest) = self.bytes[offset as usize..].split_at(BEFORE_NAME);
        let inode = u32::from_le_bytes([before[0], before[1], before[2], before[3]]);
        (&rest[..usize::from(before[4])], inode)
    }
}

/// The records of consecutive inode numbers.
#[derive(Debug, Default)]
pub(super) struct InodeGroup {
    /// Up to the last one in use.
    pub(super) records: Vec<InodeRecord>,
    /// Those of the records, or none.
    pub(super) times: Vec<Times>,
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
    /// By the hash of parent and name: the directory found last. Others with the same hash follow.
    by_name: HashMap<u64, u32>,
    /// The directory that the walk begins at.
    top: Option<u32>,
    /// For each directory, which name leads to it.
    entered_by: Vec<EnteredBy>,
    hasher: RandomState,
}

/// A place among the entries of a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    segment: usize,
    end: usize,
    row: u32,
    offset: u64,
}

/// The only name that leads to a directory.
#[derive(Clone, Copy, Debug)]
struct EnteredBy {
    offset: u64,
    part: u32,
    /// [`NONE`] for the top, and for directories without a name.
    parent: u32,
    /// The next directory whose hash is the same.
    next: u32,
}

/// No directory.
const NONE: u32 = u32::MAX;

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
            top: None,
            entered_by: Vec::new(),
            hasher: RandomState::new(),
        };
        index.find_subdirectories(root);
        index
    }

    /// Records which names lead to which directories. A directory that a second name leads to, or
    /// the top, is entered by its first name only: so there is no loop, whatever a volume claims.
    fn find_subdirectories(&mut self, root: u32) {
        let no_name = EnteredBy { offset: 0, part: 0, parent: NONE, next: NONE };
        self.entered_by = vec![no_name; self.directories.len()];
        self.by_name.reserve(self.directories.len());
        self.top = self.directory(root);
        for part in 0..self.parts.len() {
            for (parent, offset) in std::mem::take(&mut self.parts[part].subdirectories) {
                let (name, inode) = self.parts[part].entry(offset);
                let Role::Directory(directory) = self.role(inode) else { continue };
                let is_entered = self.entered_by[directory as usize].parent != NONE;
                if is_entered || Some(directory) == self.top {
                    continue;
                }
                let hash = self.hasher.hash_one((parent, name));
                let next = self.by_name.insert(hash, directory).unwrap_or(NONE);
                self.entered_by[directory as usize] =
                    EnteredBy { offset, part: part as u32, parent, next };
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
        let mut at = self.by_name.get(&self.hasher.hash_one((parent, name))).copied()?;
        while at != NONE {
            if self.entered_by[at as usize].parent == parent && self.name_of(at) == name {
                return Some(at);
            }
            at = self.entered_by[at as usize].next;
        }
        None
    }

    /// Returns the name that leads to a directory.
    fn name_of(&self, directory: u32) -> &[u8] {
        let by = &self.entered_by[directory as usize];
        self.parts[by.part as usize].entry(by.offset).0
    }

    /// Returns the names that lead from the top to a directory; `None` if it is not below the top.
    #[cfg(target_os = "linux")]
    pub(super) fn steps_to(&self, directory: u32) -> Option<Vec<&[u8]>> {
        let (mut at, mut steps) = (directory, Vec::new());
        while Some(at) != self.top {
            let parent = self.entered_by[at as usize].parent;
            // A loop of directories apart from the top has no end.
            if parent == NONE || steps.len() > self.directories.len() {
                return None;
            }
            steps.push(self.name_of(at));
            at = parent;
        }
        steps.reverse();
        Some(steps)
    }

    /// Returns the directory that the walk begins at.
    pub(super) fn top(&self) -> Option<u32> {
        self.top
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
        Position { segment, end, row: 0, offset: 0 }
    }

    /// Returns the next entry, name and inode number, and goes past it.
    #[inline]
    pub(super) fn next(&self, at: &mut Position) -> Option<(&[u8], u32)> {
        while at.segment < at.end {
            let segment = &self.segments[at.segment];
            if at.row < segment.count {
                if at.row == 0 {
                    at.offset = segment.first;
                }
                let (name, inode) = self.parts[segment.part as usize].entry(at.offset);
                at.row += 1;
                at.offset += (BEFORE_NAME + name.len()) as u64;
                return Some((name, inode));
            }
            (at.segment, at.row) = (at.segment + 1, 0);
        }
        None
    }

    fn role(&self, inode: u32) -> Role {
        self.record(inode).map_or(Role::Free, InodeRecord::role)
    }

    fn record(&self, inode: u32) -> Option<&InodeRecord> {
        let (group, at) = self.find(inode)?;
        group.records.get(at)
    }

    /// Returns the group of an inode, and its place in it.
    fn find(&self, inode: u32) -> Option<(&InodeGroup, usize)> {
        let number = inode.checked_sub(1)?;
        let group = self.groups.get((number / self.inodes_per_group) as usize)?;
        Some((group, (number % self.inodes_per_group) as usize))
    }

    /// Returns the attributes of a file.
    ///
    /// # Errors
    /// Its record is free, damaged, or could not be read.
    pub(super) fn attributes(&self, inode: u32) -> io::Result<Attributes> {
        let found = self.find(inode);
        let record = found.and_then(|(group, at)| group.records.get(at)).copied();
        let record = record.unwrap_or_default();
        match record.role() {
            Role::Free => Err(self.why_missing(inode)),
            Role::Damaged => {
                let text = format!("inode {inode} is damaged: its checksum is wrong");
                Err(io::Error::new(io::ErrorKind::InvalidData, text))
            }
            Role::Changed => {
                let text = format!("inode {inode} changed while it was read");
                Err(io::Error::new(io::ErrorKind::InvalidData, text))
            }
            Role::Entry | Role::Directory(_) => {
                let times = found.and_then(|(group, at)| group.times.get(at)).copied();
                Ok(self.known(inode, &record, times))
            }
        }
    }

    fn known(&self, inode: u32, record: &InodeRecord, times: Option<Times>) -> Attributes {
        let mut known = FieldMask::SIZE
            | FieldMask::ALLOCATED
            | FieldMask::MTIME
            | FieldMask::FILE_ID
            | FieldMask::MODE
            | FieldMask::NLINK
            | FieldMask::UID
            | FieldMask::GID;
        known.set(FieldMask::CTIME | FieldMask::ATIME, times.is_some());
        known.set(FieldMask::BTIME, times.is_some_and(|times| times.btime != i64::MIN));
        let times = times.unwrap_or_default();
        Attributes {
            known,
            file_type: FileType::from_mode(record.mode.into()),
            mode: record.mode,
            nlink: record.nlink.into(),
            uid: record.uid,
            gid: record.gid,
            size: record.size,
            allocated: record.allocated.bytes(),
            inode: inode.into(),
            device: self.device,
            mtime: record.mtime,
            ctime: times.ctime,
            atime: times.atime,
            btime: times.btime,
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
