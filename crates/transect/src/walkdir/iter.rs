//! The walk: a stack of directories, of which each is listed when its first entry is asked for.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::iter::FusedIterator;
use std::path::{Path, PathBuf};

use transect_sys::file::query_attributes;
use transect_sys::{
    Attributes, Batch, Fault, FieldMask, FileId, ListStatus, NameBuffer, Reader, ReaderKind,
    ReaderSettings, SystemHandle, SystemReader, Want,
};

use super::entry::{DirEntry, Error, Result};
use super::options::WalkDir;
use crate::{FileType, Operation};

/// How many directories stay open. Those above are opened again if more is to be read in them.
const MAX_OPEN: usize = 32;

/// The entries of a directory that were not returned yet.
enum Listing {
    Unread,
    /// Names in the order of the listing, and the number of the next one.
    Listed(NameBuffer, Vec<(FileType, Option<u64>)>, usize),
    Sorted(VecDeque<DirEntry>),
}

/// A directory on the way down.
struct Level {
    path: PathBuf,
    /// Open while it has directories that were not entered yet.
    handle: Option<SystemHandle>,
    /// Known only if links are followed.
    id: Option<FileId>,
    listing: Listing,
    /// The error that ended the listing.
    error: Option<Error>,
    /// The directory itself, to be returned after its entries.
    deferred: Option<DirEntry>,
}

/// An iterator over the entries of a tree in depth-first order.
pub struct IntoIter {
    options: WalkDir,
    is_started: bool,
    /// `None` before the root was entered.
    root_device: Option<Option<u64>>,
    levels: Vec<Level>,
    /// The directories that contain the root, if links are followed.
    above_root: Vec<(FileId, PathBuf)>,
    reader: SystemReader,
    batch: Batch,
}

impl IntoIter {
    pub(super) fn new(options: WalkDir) -> Self {
        Self {
            options,
            is_started: false,
            root_device: None,
            levels: Vec::new(),
            above_root: Vec::new(),
            reader: SystemReader::new(ReaderKind::best(), ReaderSettings::default()),
            batch: Batch::new(),
        }
    }

    /// Goes on after the directory that was returned last, or, if that is not a directory, after the one that
    /// it is in.
    pub fn skip_current_dir(&mut self) {
        self.levels.pop();
    }

    /// Returns only entries for which the closure returns true, and does not enter other directories.
    pub fn filter_entry<P: FnMut(&DirEntry) -> bool>(self, predicate: P) -> FilterEntry<Self, P> {
        FilterEntry { iter: self, predicate }
    }

    fn root(&mut self) -> Result<DirEntry> {
        let path = std::mem::take(&mut self.options.root);
        if self.options.follow_links
            && let Ok(real) = path.canonicalize()
        {
            let with_id = |path: &Path| Some((file_id(path)?, path.to_owned()));
            self.above_root = real.ancestors().skip(1).filter_map(with_id).collect();
        }
        let root = query_attributes(&path, FieldMask::FILE_ID, false)
            .map_err(|error| Error::new(Operation::Stat, &path, 0, error))?;
        let (file_type, inode) = (root.file_type(), root.inode());
        Ok(DirEntry { path, depth: 0, file_type, is_followed: false, inode })
    }

    /// Prepares an entry that was found: follows its link, and enters it if it is a directory. `None` if it is
    /// returned later or not at all.
    fn found(&mut self, mut entry: DirEntry) -> Result<Option<DirEntry>> {
        if self.options.follow_links && entry.file_type.is_symlink() {
            self.follow(&mut entry)?;
        }
        let is_returned = entry.depth >= self.options.min_depth;
        if self.leads_to_directory(&entry)? {
            self.enter(&entry)?;
            if self.options.contents_first
                && let Some(level) = self.levels.last_mut()
            {
                level.deferred = is_returned.then_some(entry);
                return Ok(None);
            }
        }
        Ok(is_returned.then_some(entry))
    }

    fn leads_to_directory(&self, entry: &DirEntry) -> Result<bool> {
        let is_root_link = entry.depth == 0 && entry.file_type.is_symlink();
        if !is_root_link || !self.options.follow_root_links {
            return Ok(entry.file_type.is_dir());
        }
        Ok(query_target(entry, FieldMask::empty())?.file_type().is_dir())
    }

    /// Replaces the type of a link by that of its target.
    fn follow(&self, entry: &mut DirEntry) -> Result<()> {
        let target = query_target(entry, FieldMask::FILE_ID)?;
        let levels = self.levels.iter().filter_map(|level| Some((level.id?, &level.path)));
        let above_root = self.above_root.iter().map(|(id, path)| (*id, path));
        let target_id = target.file_id();
        if target.file_type().is_dir()
            && let Some((_, above)) =
                levels.chain(above_root).find(|&(id, _)| Some(id) == target_id)
        {
            return Err(Error::of_loop(&entry.path, entry.depth, above.clone()));
        }
        entry.file_type = target.file_type();
        entry.inode = target.inode();
        entry.is_followed = true;
        Ok(())
    }

    /// Makes a directory the current one; without entries if it must not be read.
    fn enter(&mut self, entry: &DirEntry) -> Result<()> {
        let id = match self.options.follow_links || self.options.same_file_system {
            true => query_target(entry, FieldMask::FILE_ID)?.file_id(),
            false => None,
        };
        let device = id.map(|id| id.device);
        let is_elsewhere =
            self.options.same_file_system && device != *self.root_device.get_or_insert(device);
        let listing = match is_elsewhere || entry.depth >= self.options.max_depth {
            true => Listing::Sorted(VecDeque::new()),
            false => Listing::Unread,
        };
        let path = entry.path.clone();
        self.levels.push(Level { path, handle: None, id, listing, error: None, deferred: None });
        if let Some(far) = self.levels.len().checked_sub(MAX_OPEN + 1) {
            self.levels[far].handle = None;
        }
        Ok(())
    }

    fn list(&mut self) {
        let depth = self.levels.len() - 1;
        let (mut names, mut found) = (NameBuffer::default(), Vec::new());
        let mut has_directories = false;
        let opened = self.open(depth);
        let Some(level) = self.levels.last_mut() else { return };
        let failed = |operation, path: &Path, fault: Fault| {
            Error::new(operation, path, depth, io::Error::from(fault))
        };
        match opened {
            Err(fault) => level.error = Some(failed(Operation::OpenDirectory, &level.path, fault)),
            Ok(handle) => {
                level.error = loop {
                    let status = self.reader.list(&handle, &mut self.batch, &Want::nothing());
                    self.reader.fill(&handle, &mut self.batch, &Want::nothing());
                    for entry in self.batch.iter() {
                        has_directories |= entry.file_type().is_dir();
                        names.push(entry.name);
                        found.push((entry.file_type(), entry.attributes.inode()));
                    }
                    match status {
                        Ok(ListStatus::More) => {}
                        Ok(ListStatus::End) => break None,
                        Err(fault) => {
                            break Some(failed(Operation::ReadDirectory, &level.path, fault));
                        }
                    }
                };
                level.handle = has_directories.then_some(handle);
            }
        }
        level.listing = Listing::Listed(names, found, 0);
        if let Some(compare) = &mut self.options.compare {
            let mut entries: Vec<DirEntry> =
                std::iter::from_fn(|| level.next_listed(depth + 1)).collect();
            entries.sort_by(|one, other| compare(one, other));
            level.listing = Listing::Sorted(entries.into());
        }
    }

    /// Opens the directory of a level: from the next open one above it, or by its path.
    fn open(&mut self, depth: usize) -> std::result::Result<SystemHandle, Fault> {
        // A link on the way would not be followed.
        let open = match self.options.follow_links {
            true => None,
            false => self.levels[..depth].iter().rposition(|level| level.handle.is_some()),
        };
        let Some((above, handle)) =
            open.and_then(|above| Some((above, self.levels[above].handle.as_ref()?)))
        else {
            let follow = depth == 0 || self.options.follow_links;
            return self.reader.open_root(&self.levels[depth].path, follow);
        };
        let below = &self.levels[above + 1..=depth];
        let steps: Vec<&OsStr> = below.iter().filter_map(|level| level.path.file_name()).collect();
        self.reader.open(handle, &steps, false)
    }
}

impl Level {
    /// Returns the next entry, which is at this depth.
    fn next_listed(&mut self, depth: usize) -> Option<DirEntry> {
        match &mut self.listing {
            Listing::Unread => None,
            Listing::Sorted(entries) => entries.pop_front(),
            Listing::Listed(names, found, next) => {
                let &(file_type, inode) = found.get(*next)?;
                let name = names.get(*next);
                let length = self.path.as_os_str().len() + 1 + name.len();
                let mut path = PathBuf::with_capacity(length);
                path.push(&self.path);
                path.push(name);
                *next += 1;
                Some(DirEntry { path, depth, file_type, is_followed: false, inode })
            }
        }
    }
}

impl Iterator for IntoIter {
    type Item = Result<DirEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if !std::mem::replace(&mut self.is_started, true) {
            let found = self.root().and_then(|entry| self.found(entry)).transpose();
            if found.is_some() {
                return found;
            }
        }
        loop {
            let depth = self.levels.len();
            let level = self.levels.last_mut()?;
            if matches!(level.listing, Listing::Unread) {
                self.list();
                continue;
            }
            let found = match level.next_listed(depth) {
                Some(entry) => self.found(entry).transpose(),
                None => match level.error.take() {
                    Some(error) => Some(Err(error)),
                    None => self.levels.pop()?.deferred.map(Ok),
                },
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

impl FusedIterator for IntoIter {}

impl IntoIterator for WalkDir {
    type IntoIter = IntoIter;
    type Item = Result<DirEntry>;

    fn into_iter(self) -> IntoIter {
        IntoIter::new(self)
    }
}

/// Queries what a path leads to.
fn query_target(entry: &DirEntry, fields: FieldMask) -> Result<Attributes> {
    let failed = |error| Error::new(Operation::Stat, &entry.path, entry.depth, error);
    query_attributes(&entry.path, fields, true).map_err(failed)
}

fn file_id(path: &Path) -> Option<FileId> {
    query_attributes(path, FieldMask::FILE_ID, true).ok()?.file_id()
}

/// An iterator that leaves out entries, and does not enter directories that it leaves out.
pub struct FilterEntry<I, P> {
    iter: I,
    predicate: P,
}

impl<P: FnMut(&DirEntry) -> bool> FilterEntry<IntoIter, P> {
    /// As [`IntoIter::skip_current_dir`].
    pub fn skip_current_dir(&mut self) {
        self.iter.skip_current_dir();
    }
}

impl<P: FnMut(&DirEntry) -> bool> Iterator for FilterEntry<IntoIter, P> {
    type Item = Result<DirEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entry = match self.iter.next()? {
                Ok(entry) => entry,
                error => return Some(error),
            };
            if (self.predicate)(&entry) {
                return Some(Ok(entry));
            }
            // With `contents_first`, it was read before it is returned.
            if self.iter.levels.len() > entry.depth {
                self.iter.skip_current_dir();
            }
        }
    }
}
