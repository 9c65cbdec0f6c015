//! Counts and sizes, for `scan`. Memory does not grow with the tree.

use std::sync::{Mutex, MutexGuard};

use transect_sys::{Attributes, FieldMask, FileType, Want};

use crate::account::{HardLinks, SizeTotals};
use crate::dir::{Dir, Tag};
use crate::lock::lock;
use crate::sink::largest::{LargestEntry, RankBy, Ranking};
use crate::sink::{Diagnostics, Entering, Flow, Omission, Sink, Visit};

/// The number of entries, their sizes, and the largest of them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Totals {
    /// Regular files: names, not file ids.
    pub files: u64,
    /// Directories, roots included.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Devices, pipes, sockets, and entries of unknown type.
    pub others: u64,
    /// Names beyond the first of each file; their bytes are counted once.
    pub hard_links: u64,
    /// The sizes.
    pub sizes: SizeTotals,
    /// Errors, and counts of entries that are not in the totals.
    pub diagnostics: Diagnostics,
    rank_by: RankBy,
    largest_files: Ranking,
    largest_directories: Ranking,
    /// Allocated bytes for progress; during the walk each hard link counts.
    bytes: u64,
}

/// The totals of a directory and of the finished directories below it.
#[derive(Debug, Default)]
pub(super) struct DirTotals {
    sizes: SizeTotals,
    links: HardLinks,
    errors: u64,
}

impl Totals {
    /// Returns empty totals that keep the `largest` files and directories.
    pub fn new(largest: usize) -> Self {
        Self::ranked(largest, RankBy::default())
    }

    /// Returns empty totals that rank the largest by `rank_by`.
    pub fn ranked(largest: usize, rank_by: RankBy) -> Self {
        Self {
            files: 0,
            directories: 0,
            symlinks: 0,
            others: 0,
            hard_links: 0,
            sizes: SizeTotals::default(),
            diagnostics: Diagnostics::new(Diagnostics::DEFAULT_KEPT),
            rank_by,
            largest_files: Ranking::new(rank_by, largest),
            largest_directories: Ranking::new(rank_by, largest),
            bytes: 0,
        }
    }

    /// Keeps the text of every error, without a limit.
    pub fn keep_all_errors(mut self) -> Self {
        self.diagnostics = Diagnostics::new(usize::MAX);
        self
    }

    /// Returns the measure that ranks the largest.
    pub fn rank_by(&self) -> RankBy {
        self.rank_by
    }

    /// Returns the largest files, largest first. A file with several names appears once.
    pub fn largest_files(&self) -> &[LargestEntry] {
        self.largest_files.as_slice()
    }

    /// Returns the largest directories below the roots, each with everything below it.
    pub fn largest_directories(&self) -> &[LargestEntry] {
        self.largest_directories.as_slice()
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        self.files + self.directories + self.symlinks + self.others
    }
}

/// Locks what is known so far of a directory. Only the thread that reads it and those that finish a directory below
/// it take the lock, so it is hardly ever contended.
fn totals_of(dir: &Dir) -> MutexGuard<'_, DirTotals> {
    lock(dir.tag.value::<Mutex<DirTotals>>().expect("BUG: every directory was entered"))
}

fn size_of(attributes: &Attributes) -> SizeTotals {
    SizeTotals {
        apparent: attributes.size().unwrap_or(0),
        allocated: attributes.allocated().unwrap_or(0),
        ..SizeTotals::default()
    }
}

impl Sink for Totals {
    fn want(&self) -> Want {
        let sizes = FieldMask::SIZE | FieldMask::ALLOCATED;
        Want::nothing()
            .entries(sizes | FieldMask::FILE_ID)
            .opportunistic(FieldMask::NLINK)
            .opened(sizes | FieldMask::DEVICE)
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        let mut totals = DirTotals::default();
        if entering.parent.is_some() && entering.listed {
            self.directories += 1;
            totals.sizes.directories_apparent = entering.attributes.size().unwrap_or(0);
            totals.sizes.directories_allocated = entering.attributes.allocated().unwrap_or(0);
        }
        Tag::Value(Box::new(Mutex::new(totals)))
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        let totals = &mut *totals_of(visit.dir);
        for index in visit.batch.delivered() {
            let attributes = visit.batch.attributes_at(index);
            match attributes.file_type() {
                // Counted in `enter`, together with its own size.
                FileType::Directory => continue,
                FileType::File => self.files += 1,
                FileType::Symlink => self.symlinks += 1,
                _ => self.others += 1,
            }
            let size = size_of(attributes);
            if totals.links.add_entry(attributes, visit.follow, size) {
                totals.sizes += size;
                self.bytes = self.bytes.saturating_add(size.allocated);
            }
            let path = || visit.dir.path_of(visit.batch.name_at(index));
            self.largest_files.offer(&size, 0, || attributes.file_id(), path);
        }
        Flow::Continue
    }

    fn leave(&mut self, dir: &Dir) {
        let mut totals = std::mem::take(&mut *totals_of(dir));
        let Some(parent) = dir.parent() else {
            self.sizes += totals.sizes;
            self.hard_links += totals.links.extra_names();
            return;
        };
        if dir.depth() > Some(0) {
            self.largest_directories.offer(&totals.sizes, totals.errors, || dir.id, || dir.path());
        }
        let mut above = totals_of(parent);
        above.errors += totals.errors;
        if !totals.links.is_empty() {
            // Subtract before adding, so that no sum exceeds the bytes there are.
            totals.sizes -= above.links.merge(totals.links);
        }
        above.sizes += totals.sizes;
    }

    fn omit(&mut self, dir: &Dir, omission: Omission<'_>) -> Flow {
        if let Omission::Failed(_) = omission {
            totals_of(dir).errors += 1;
        }
        self.diagnostics.add(omission);
        Flow::Continue
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn merge(&mut self, other: Self) {
        self.files += other.files;
        self.directories += other.directories;
        self.symlinks += other.symlinks;
        self.others += other.others;
        self.hard_links += other.hard_links;
        self.sizes += other.sizes;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.diagnostics.merge(other.diagnostics);
        self.largest_files.merge(other.largest_files);
        self.largest_directories.merge(other.largest_directories);
    }
}
