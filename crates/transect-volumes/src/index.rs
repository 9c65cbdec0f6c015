//! The tables of a volume in memory, joined: a directory's entries, and an entry's attributes.
//!
//! A file system keeps attributes in one table and names in directories. The readers of both add
//! what they find, in any order and on several threads; [`VolumeIndex`] answers as directories do.

use std::collections::{HashMap, HashSet};
use std::io;
use std::mem::take;

use transect_sys::processor::prefetch;
use transect_sys::{AlternateStreams, Attributes, FieldMask, FileType, name_prefix};

use super::error::{invalid, same_error};
use super::inode_table::{InodeRecord, InodeTable, Role, Times, with_room};
use super::subdirectories::{Subdirectories, Subdirectory, sorted_by_directory};
use super::threads::both;

/// The names of some directories, in the order in which they were read.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// For each name its inode number (four bytes), its length (two bytes), and the name.
    bytes: Vec<u8>,
    segments: Vec<Segment>,
    /// Entries that may be directories.
    candidates: Vec<Candidate>,
}

/// An entry that may be a directory.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// The [`name_prefix`] of the name.
    prefix: u64,
    offset: u64,
    parent: u32,
    inode: u32,
}

/// Names that belong to one directory and lie beside each other.
#[derive(Clone, Copy, Debug)]
struct Segment {
    first: u64,
    directory: u32,
    /// The place in the directory: segments are in this order.
    logical: u32,
    part: u32,
    count: u32,
}

const BEFORE_NAME: usize = 6;

impl Names {
    /// Returns a value with room for this many bytes of entries.
    pub(super) fn with_room(bytes: usize) -> Self {
        Self { bytes: with_room(bytes), ..Self::default() }
    }

    /// Begins the entries of a directory at this place.
    pub(super) fn begin(&mut self, directory: u32, logical: u32) {
        let first = self.bytes.len() as u64;
        self.segments.push(Segment { first, directory, logical, part: 0, count: 0 });
    }

    /// Adds an entry to the directory begun last. A name has 1 to 65,535 bytes, and no NUL.
    #[inline]
    pub(super) fn push(&mut self, name: &[u8], inode: u32, may_be_directory: bool) {
        let [a, b, c, d] = inode.to_le_bytes();
        let [low, high] = (name.len() as u16).to_le_bytes();
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&[a, b, c, d, low, high]);
        self.bytes.extend_from_slice(name);
        self.count(begin, inode, may_be_directory);
    }

    /// Adds an entry as [`Self::push`] does; `append` appends its name.
    /// After an error of `append`, no entry is added.
    pub(super) fn push_with<E>(
        &mut self,
        inode: u32,
        may_be_directory: bool,
        append: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(&inode.to_le_bytes());
        self.bytes.extend_from_slice(&[0; BEFORE_NAME - 4]);
        if let Err(error) = append(&mut self.bytes) {
            self.bytes.truncate(begin);
            return Err(error);
        }
        let length = (self.bytes.len() - begin - BEFORE_NAME) as u16;
        self.bytes[begin + 4..begin + BEFORE_NAME].copy_from_slice(&length.to_le_bytes());
        self.count(begin, inode, may_be_directory);
        Ok(())
    }

    #[inline]
    fn count(&mut self, begin: usize, inode: u32, may_be_directory: bool) {
        let segment = self.segments.last_mut().expect("BUG: a directory was begun");
        segment.count += 1;
        if may_be_directory {
            let prefix = name_prefix(&self.bytes[begin + BEFORE_NAME..]);
            let (offset, parent) = (begin as u64, segment.directory);
            self.candidates.push(Candidate { prefix, offset, parent, inode });
        }
    }

    /// Gives all entries the numbers that are known only after everything was read: adds `first_directory` to
    /// those of directories, and replaces that of each name's inode by the next one.
    #[cfg(target_os = "linux")]
    pub(super) fn renumber(&mut self, first_directory: u32, inodes: impl IntoIterator<Item = u32>) {
        self.segments.iter_mut().for_each(|it| it.directory += first_directory);
        let mut candidates = self.candidates.iter_mut().peekable();
        let (mut offset, mut inodes) = (0, inodes.into_iter());
        while let Some((before, _)) = self.bytes[offset..].split_first_chunk_mut::<BEFORE_NAME>()
            && let Some(inode) = inodes.next()
        {
            before[..4].copy_from_slice(&inode.to_le_bytes());
            if let Some(it) = candidates.next_if(|it| it.offset == offset as u64) {
                (it.inode, it.parent) = (inode, it.parent + first_directory);
            }
            offset += BEFORE_NAME + usize::from(u16::from_le_bytes([before[4], before[5]]));
        }
    }

    /// Replaces the numbers of all directories: that at each number, or [`NO_DIRECTORY`] to drop the entries.
    pub(super) fn renumber_directories(&mut self, numbers: &[u32]) {
        let renumber = |directory: &mut u32| {
            *directory = numbers[*directory as usize];
            *directory != NO_DIRECTORY
        };
        self.segments.retain_mut(|segment| renumber(&mut segment.directory));
        self.candidates.retain_mut(|it| renumber(&mut it.parent));
    }

    /// Drops the entries of these directories that are not among those given for them.
    pub(super) fn retain_in(&mut self, listed: &HashMap<u32, HashSet<(u32, Vec<u8>)>>) {
        let (mut kept, mut dropped) = (Vec::with_capacity(self.segments.len()), HashSet::new());
        for segment in take(&mut self.segments) {
            let Some(listed) = listed.get(&segment.directory) else {
                kept.push(segment);
                continue;
            };
            let mut offset = segment.first;
            for _ in 0..segment.count {
                let (name, inode) = self.entry(offset);
                if listed.contains(&(inode, name.to_vec())) {
                    kept.push(Segment { first: offset, count: 1, ..segment });
                } else {
                    dropped.insert(offset);
                }
                offset += (BEFORE_NAME + name.len()) as u64;
            }
        }
        self.segments = kept;
        self.candidates.retain(|it| !dropped.contains(&it.offset));
    }

    /// Returns the name at an offset, and its inode number.
    #[inline]
    fn entry(&self, offset: u64) -> (&[u8], u32) {
        let (before, rest) = self.bytes[offset as usize..].split_at(BEFORE_NAME);
        let inode = u32::from_le_bytes([before[0], before[1], before[2], before[3]]);
        (&rest[..usize::from(u16::from_le_bytes([before[4], before[5]]))], inode)
    }
}

/// What the files of a volume have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    /// The number of the file system.
    pub(super) device: u64,
    /// The inode of the top directory, whether it can be read or not.
    pub(super) root: u32,
    /// The attributes in the records, besides those in [`Times`].
    pub(super) fields: FieldMask,
    /// What the file system calls an inode.
    pub(super) inode: &'static str,
}

/// What the inode of a Unix file system holds besides times.
pub(super) const UNIX_FIELDS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::MODE)
    .union(FieldMask::NLINK)
    .union(FieldMask::UID)
    .union(FieldMask::GID);

/// All that was read of a volume.
#[derive(Debug)]
pub(super) struct VolumeIndex {
    pub(super) about: About,
    pub(super) inodes: InodeTable,
    /// Where records are not at the places of their inode numbers: these, in ascending order.
    inode_numbers: Vec<u64>,
    /// The inode of each directory.
    directories: Vec<u32>,
    /// Why entries of some directories are missing, by directory.
    errors: Vec<(u32, io::Error)>,
    parts: Vec<Names>,
    /// The segments of all directories, one directory after the other.
    segments: Vec<Segment>,
    /// For each directory, its first segment; one more at the end.
    first_segment: Vec<u32>,
    subdirectories: Subdirectories,
    /// The directory that the walk begins at.
    pub(super) top: Option<u32>,
    /// Where the file system has them.
    pub(super) alternate_streams: Option<AlternateStreams>,
}

/// Returns the record of an inode number, if it is one of these, in ascending order: its place, counted from 1.
#[cfg(target_os = "linux")]
pub(super) fn record_of(inode_numbers: &[u64], inode_number: u64) -> Option<u32> {
    let at = inode_numbers.partition_point(|&it| it < inode_number);
    inode_numbers.get(at).filter(|&&it| it == inode_number).map(|_| at as u32 + 1)
}

/// The record of a file.
pub(super) struct Found<'a> {
    pub(super) record: &'a InodeRecord,
    times: Option<&'a Times>,
}

/// A place among the entries of a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    segment: usize,
    end: usize,
    row: u32,
    offset: u64,
}

/// Returns the segments of all parts by directory, in the order of their places in it; for each directory, the first of
/// its segments, and one more at the end.
fn sorted_segments(parts: &[Vec<Segment>], directories: usize) -> (Vec<Segment>, Vec<u32>) {
    let numbered = |(part, segments)| {
        let segments: &Vec<Segment> = segments;
        segments.iter().map(move |it| (it.directory, Segment { part, ..*it }))
    };
    let all = (0..).zip(parts).flat_map(numbered);
    sorted_by_directory(all, directories, |a, b| a.logical.cmp(&b.logical))
}

pub(super) const NO_DIRECTORY: u32 = u32::MAX;

impl VolumeIndex {
    /// Joins what was read: the inode of each directory, the names in them, and why some of those are missing.
    pub(super) fn new(
        about: About,
        inodes: InodeTable,
        directories: Vec<u32>,
        mut parts: Vec<Names>,
        mut errors: Vec<(u32, io::Error)>,
    ) -> Self {
        let segments: Vec<_> = parts.iter_mut().map(|part| take(&mut part.segments)).collect();
        let candidates = parts.iter_mut().map(|part| take(&mut part.candidates)).collect();
        // One thread has one part of the records.
        let (threads, count) = (inodes.parts.len(), directories.len());
        errors.sort_by_key(|(directory, _)| *directory);
        errors.dedup_by_key(|(directory, _)| *directory);
        let mut index = Self {
            about,
            inodes,
            inode_numbers: Vec::new(),
            directories,
            errors,
            parts,
            segments: Vec::new(),
            first_segment: Vec::new(),
            subdirectories: Subdirectories::default(),
            top: None,
            alternate_streams: None,
        };
        index.top = index.directory(index.about.root);
        let (sorted, subdirectories) = both(
            threads,
            move || sorted_segments(&segments, count),
            || index.find_subdirectories(candidates),
        );
        (index.segments, index.first_segment) = sorted;
        index.subdirectories = subdirectories;
        index
    }

    /// Returns which names lead to which directories. A directory that a second name leads to, or
    /// the top, is entered by its first name only: so there is no loop, whatever a volume claims.
    fn find_subdirectories(&self, candidates: Vec<Vec<Candidate>>) -> Subdirectories {
        let mut is_entered = vec![false; self.directories.len()];
        self.top.into_iter().for_each(|top| is_entered[top as usize] = true);
        let mut found = Vec::with_capacity(self.directories.len());
        for (part, candidates) in (0..).zip(candidates) {
            for it in candidates {
                let Candidate { prefix, offset, parent, inode } = it;
                let Some(directory) = self.directory(inode) else { continue };
                if !std::mem::replace(&mut is_entered[directory as usize], true) {
                    found.push((parent, Subdirectory { prefix, offset, part, directory }));
                }
            }
        }
        Subdirectories::new(self.directories.len(), &found, |it| self.name_of(it))
    }

    /// Sets which inode numbers the records have, in ascending order: instead of 1, 2 and so on.
    #[cfg(target_os = "linux")]
    pub(super) fn with_inode_numbers(self, inode_numbers: Vec<u64>) -> Self {
        Self { inode_numbers, ..self }
    }

    pub(super) fn inode_number(&self, inode: u32) -> u64 {
        match self.inode_numbers.is_empty() {
            true => inode.into(),
            false => inode
                .checked_sub(1)
                .map_or(0, |at| self.inode_numbers.get(at as usize).copied().unwrap_or(0)),
        }
    }

    /// Returns the directory with this inode number of the file system.
    #[cfg(target_os = "linux")]
    pub(super) fn find_directory(&self, inode_number: u64) -> Option<u32> {
        let inode = match self.inode_numbers.is_empty() {
            true => u32::try_from(inode_number).ok()?,
            false => record_of(&self.inode_numbers, inode_number)?,
        };
        self.directory(inode)
    }

    /// Marks a file with this inode number of the file system: only the system knows its attributes.
    #[cfg(target_os = "linux")]
    pub(super) fn set_changed(&mut self, inode_number: u64) {
        let record = record_of(&self.inode_numbers, inode_number)
            .and_then(|inode| self.inodes.get_mut(inode));
        record.into_iter().for_each(|record| record.set_role(Role::Changed));
    }

    pub(super) fn directory(&self, inode: u32) -> Option<u32> {
        self.inodes.get(inode)?.directory()
    }

    pub(super) fn subdirectory(&self, parent: u32, name: &[u8]) -> Option<u32> {
        let (all, prefix) = (self.subdirectories.of(parent), name_prefix(name));
        let order =
            |it: &Subdirectory| it.prefix.cmp(&prefix).then_with(|| self.name_of(it).cmp(name));
        all.binary_search_by(order).ok().map(|at| all[at].directory)
    }

    fn name_of(&self, subdirectory: &Subdirectory) -> &[u8] {
        self.parts[subdirectory.part as usize].entry(subdirectory.offset).0
    }

    /// Returns the names that lead from the top to a directory; `None` if it is not below the top.
    pub(super) fn steps_to(&self, directory: u32) -> Option<Vec<&[u8]>> {
        let (mut at, mut steps) = (directory, Vec::new());
        while Some(at) != self.top {
            let (parent, leading) = self.subdirectories.leading_to(at)?;
            // A loop of directories apart from the top has no end.
            if steps.len() > self.directories.len() {
                return None;
            }
            steps.push(self.name_of(leading));
            at = parent;
        }
        steps.reverse();
        Some(steps)
    }

    #[cfg(windows)]
    pub(super) fn begin_walk_at(&mut self, directory: u32) {
        self.about.root = self.inode_of(directory);
        self.top = Some(directory);
    }

    pub(super) fn directories(&self) -> u32 {
        self.directories.len() as u32
    }

    pub(super) fn error(&self, directory: u32) -> Option<&io::Error> {
        let at = self.errors.binary_search_by_key(&directory, |(directory, _)| *directory).ok()?;
        Some(&self.errors[at].1)
    }

    pub(super) fn inode_of(&self, directory: u32) -> u32 {
        self.directories[directory as usize]
    }

    /// Returns the place before the first entry of a directory.
    pub(super) fn begin(&self, directory: u32) -> Position {
        let at = directory as usize;
        let (segment, end) = (self.first_segment[at] as usize, self.first_segment[at + 1] as usize);
        if let Some(first) = self.segments[..end].get(segment) {
            prefetch(&self.parts[first.part as usize].bytes[first.first as usize..]);
        }
        prefetch(self.subdirectories.of(directory));
        Position { segment, end, row: 0, offset: 0 }
    }

    /// Has the processor fetch what [`Self::begin`] needs of a directory.
    #[inline]
    pub(super) fn prefetch_directory(&self, directory: u32) {
        let first = self.first_segment[directory as usize] as usize;
        self.segments.get(first).into_iter().for_each(prefetch);
        prefetch(&self.directories[directory as usize]);
    }

    /// Has the processor fetch the record of a file.
    #[inline]
    pub(super) fn prefetch(&self, inode: u32) {
        self.inodes.get(inode).into_iter().for_each(prefetch);
    }

    /// Returns the next entry, name and inode number, and goes past it.
    #[inline(always)]
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
        self.inodes.get(inode).map_or(Role::Free, InodeRecord::role)
    }

    pub(super) fn attributes(&self, inode: u32) -> io::Result<Attributes> {
        if let Some(found) = self.trusted(inode) {
            return Ok(self.attributes_of(inode, &found));
        }
        Err(match self.role(inode) {
            Role::Damaged => self.wrong(inode, "is damaged: its checksum is wrong"),
            Role::Impossible => self.wrong(
                inode,
                "is damaged: its type, its size or its number of blocks is impossible",
            ),
            Role::Changed => self.wrong(inode, "changed while it was read"),
            _ => self.why_missing(inode),
        })
    }

    /// Returns the record of a file, if it can be trusted.
    #[inline]
    pub(super) fn trusted(&self, inode: u32) -> Option<Found<'_>> {
        let (part, at) = self.inodes.find(inode)?;
        let record = part.records.get(at)?;
        let is_trusted = matches!(record.role(), Role::Entry | Role::Directory(_));
        is_trusted.then(|| Found { record, times: part.times.get(at) })
    }

    /// Returns the attributes in the record of an inode. Always inline: otherwise, they are copied twice.
    #[inline(always)]
    pub(super) fn attributes_of(&self, inode: u32, found: &Found<'_>) -> Attributes {
        let &Found { record, times } = found;
        let mut known = self.about.fields;
        known.set(FieldMask::MTIME, record.mtime != i64::MIN);
        if let Some(times) = times {
            known.set(FieldMask::CTIME, times.ctime != i64::MIN);
            known.set(FieldMask::ATIME, times.atime != i64::MIN);
            known.set(FieldMask::BTIME, times.btime != i64::MIN);
        }
        let times = times.copied().unwrap_or_default();
        let [owner_or_attributes, group_or_tag] = record.more;
        let mut found = Attributes::of_type(FileType::from_mode(record.mode.into()));
        found.set_mode(record.mode);
        found.set_nlink(record.nlink.into());
        found.set_uid(owner_or_attributes);
        found.set_gid(group_or_tag);
        found.set_size(record.size);
        found.set_allocated(record.allocated.bytes());
        found.set_inode(self.inode_number(inode));
        found.set_device(self.about.device);
        found.set_mtime(record.mtime);
        found.set_ctime(times.ctime);
        found.set_atime(times.atime);
        found.set_btime(times.btime);
        found.set_attribute_bits(owner_or_attributes);
        found.set_reparse_tag(group_or_tag);
        found.retain(known);
        found
    }

    fn why_missing(&self, inode: u32) -> io::Error {
        match self.inodes.group_of(inode).and_then(|(group, _)| group.error.as_ref()) {
            Some(error) => same_error(error),
            None => self.wrong(inode, "is not in use"),
        }
    }

    fn wrong(&self, inode: u32, what: &str) -> io::Error {
        invalid(format!("{} {} {what}", self.about.inode, self.inode_number(inode)))
    }
}
