//! The attributes of all files of a volume, by inode number.

use std::io;

/// What a record of the table of attributes stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing: the record is free.
    #[default]
    Free,
    /// The record is there and cannot be trusted.
    Damaged,
    /// The record claims what cannot be, or more than the volume can hold.
    Impossible,
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
    /// Nanoseconds since 1970 UTC; `i64::MIN` if it is not stored.
    pub(super) mtime: i64,
    pub(super) allocated: Sectors,
    pub(super) mode: u16,
    pub(super) nlink: u16,
    /// Owner and group, or attributes of Windows and the tag of a reparse point: [`About::fields`] says which.
    pub(super) more: [u32; 2],
    /// A [`Role`] in four bytes instead of eight.
    role: u32,
}

impl InodeRecord {
    pub(super) fn role(&self) -> Role {
        match self.role {
            0 => Role::Free,
            1 => Role::Damaged,
            2 => Role::Changed,
            3 => Role::Entry,
            4 => Role::Impossible,
            directory => Role::Directory(directory - 5),
        }
    }

    /// Returns the number of the directory; `None` if it is not one.
    pub(super) fn directory(&self) -> Option<u32> {
        match self.role() {
            Role::Directory(directory) => Some(directory),
            _ => None,
        }
    }

    pub(super) fn set_role(&mut self, role: Role) {
        self.role = match role {
            Role::Free => 0,
            Role::Damaged => 1,
            Role::Changed => 2,
            Role::Entry => 3,
            Role::Impossible => 4,
            // There are fewer inodes than that.
            Role::Directory(directory) => directory.saturating_add(5),
        };
    }
}

/// A number of 512 bytes, up to 48 bits: the lower half, and the upper bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sectors([u16; 3]);

impl Sectors {
    /// Returns as many sectors, or the most that there can be.
    pub(super) fn new(sectors: u64) -> Self {
        let sectors = sectors.min((1 << 48) - 1);
        Self([sectors as u16, (sectors >> 16) as u16, (sectors >> 32) as u16])
    }

    pub(super) fn bytes(self) -> u64 {
        let [low, middle, high] = self.0.map(u64::from);
        (low | middle << 16 | high << 32) * 512
    }
}

/// The times of one file that few walks want, in nanoseconds since 1970 UTC; `i64::MIN` if one is not stored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) ctime: i64,
    pub(super) atime: i64,
    pub(super) btime: i64,
}

/// Returns a vector with room for `count` values, as far as there is memory. What is not filled takes none.
pub(super) fn with_room<T>(count: usize) -> Vec<T> {
    let mut room = Vec::new();
    // Without it, the vector grows step by step.
    let _ = room.try_reserve_exact(count);
    room
}

/// The records that one thread read, group after group.
#[derive(Debug, Default)]
pub(super) struct InodePart {
    pub(super) records: Vec<InodeRecord>,
    /// Those of the records, or none.
    pub(super) times: Vec<Times>,
}

/// Where the records of consecutive inode numbers are.
#[derive(Debug, Default)]
pub(super) struct InodeGroup {
    pub(super) part: u32,
    /// The first of them in the part.
    pub(super) first: u32,
    /// Up to the last one in use.
    pub(super) count: u32,
    /// Why some could not be read.
    pub(super) error: Option<io::Error>,
}

impl InodePart {
    pub(super) fn with_room(records: usize, all_times: bool) -> Self {
        let times = if all_times { records } else { 0 };
        Self { records: with_room(records), times: with_room(times) }
    }

    /// Returns an empty group, which begins at the next record.
    pub(super) fn begin(&self) -> InodeGroup {
        InodeGroup { first: self.records.len() as u32, ..InodeGroup::default() }
    }

    /// Sets the record at this place of the group begun last, behind all others; `times` if they are wanted.
    #[inline]
    pub(super) fn set(
        &mut self,
        group: &mut InodeGroup,
        at: usize,
        record: InodeRecord,
        times: Option<Times>,
    ) {
        let place = group.first as usize + at;
        self.records.resize_with(place, InodeRecord::default);
        self.records.push(record);
        if let Some(times) = times {
            self.times.resize_with(place, Times::default);
            self.times.push(times);
        }
        group.count = at as u32 + 1;
    }
}

#[derive(Debug, Default)]
pub(super) struct InodeTable {
    pub(super) parts: Vec<InodePart>,
    pub(super) groups: Vec<InodeGroup>,
    pub(super) first_inode: u32,
    pub(super) per_group: u32,
}

impl InodeTable {
    /// Returns the group of an inode, and its place in it.
    #[inline]
    pub(super) fn group_of(&self, inode: u32) -> Option<(&InodeGroup, u32)> {
        let number = inode.checked_sub(self.first_inode)?;
        let group = self.groups.get((number / self.per_group) as usize)?;
        Some((group, number % self.per_group))
    }

    /// Returns the number of the part with the record of an inode, and its place in it.
    #[inline]
    pub(super) fn place(&self, inode: u32) -> Option<(usize, usize)> {
        let (group, at) = self.group_of(inode)?;
        (at < group.count).then(|| (group.part as usize, group.first as usize + at as usize))
    }

    #[inline]
    pub(super) fn find(&self, inode: u32) -> Option<(&InodePart, usize)> {
        let (part, at) = self.place(inode)?;
        Some((self.parts.get(part)?, at))
    }

    #[inline]
    pub(super) fn get(&self, inode: u32) -> Option<&InodeRecord> {
        let (part, at) = self.find(inode)?;
        part.records.get(at)
    }

    pub(super) fn get_mut(&mut self, inode: u32) -> Option<&mut InodeRecord> {
        let (part, at) = self.place(inode)?;
        self.parts.get_mut(part)?.records.get_mut(at)
    }
}
