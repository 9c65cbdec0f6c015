//! The largest directories, from the totals that are stored with directories: only the columns that are
//! needed are read, and names only where they are shown.
//!
//! ```text
//! totals      ─► the least size that may be shown
//!             ─► rows of that size or more: a tree, as a directory is as large as those in it
//! link counts ─► names of files with several ─► bytes that these directories share
//! names       ─► of those that are shown
//! ```

use std::cmp::Reverse;
use std::ops::Range;

use transect::table::{SubtreeTotals, UnreadReason};
use transect_sys::ReadAt;

use crate::schema::Column;

use super::Snapshot;
use super::error::{ReadError, damaged};
use super::linked_rows::{LinkedRow, LinkedRows};
use super::page_bounds::PageBounds;
use super::rows::StoredTotals;
use super::words::unread_reason;

/// The maximum number of directories of the least size, which are read although not all are shown.
const MAX_EQUAL: usize = 10_000;

/// The maximum number of names of files that have several.
const MAX_LINKS: usize = 10_000;

/// The maximum number of times that such a name is compared with a directory.
const MAX_COMPARED: usize = 10_000_000;

transect_sys::words! {
    /// What directories are ranked by: their totals, with everything below them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StoredMeasure {
        /// Bytes occupied, directories included.
        DiskUsage = "disk_usage",
        /// Lengths of files in bytes.
        Apparent = "apparent_size",
        /// Numbers of entries.
        Entries = "entries",
    }
}

impl StoredMeasure {
    /// Returns the size that a table has.
    pub fn size(self, totals: &SubtreeTotals) -> u64 {
        match self {
            Self::DiskUsage => totals.disk_usage,
            Self::Apparent => totals.apparent,
            Self::Entries => totals.entries(),
        }
    }

    fn column(self) -> Column {
        match self {
            Self::DiskUsage => Column::TotalAllocated,
            Self::Apparent => Column::TotalSize,
            Self::Entries => Column::Entries,
        }
    }
}

/// Which directories are read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LargestLimits {
    /// The number of directories.
    pub count: usize,
    /// The most levels below the root.
    pub depth: Option<u32>,
    /// The least size.
    pub min_size: u64,
    /// Whether to read all totals of each directory, not only its size.
    pub totals: bool,
}

impl LargestLimits {
    /// Returns limits with this number of directories, at any depth, of any size but 0.
    pub fn new(count: usize) -> Self {
        Self { count, depth: None, min_size: 1, totals: false }
    }
}

/// A directory, without its name, which [`Snapshot::names_of`] returns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LargeDirectory {
    row: u64,
    /// The directory that holds it, as an index; `None` for the root.
    pub parent: Option<usize>,
    /// The total in the measure.
    pub size: u64,
    /// The allocated bytes in and below it that removing it would not free, as
    /// [`Table::shared`](transect::table::Table::shared) returns them.
    pub shared: u64,
    /// All totals, and the allocated bytes that removing it would free, as
    /// [`Table::exclusive`](transect::table::Table::exclusive) returns them; `None` unless requested.
    pub totals: Option<(SubtreeTotals, u64)>,
    /// Errors in and below it.
    pub errors: u64,
    /// Why it was not read, or not completely.
    pub unread: Option<UnreadReason>,
}

/// The largest directories of a tree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LargestDirectories {
    /// The totals of the root.
    pub total: StoredTotals,
    /// The number of names beyond the first of each file.
    pub hard_links: u64,
    /// The directories in tree order, the root first. Those above each are among them.
    pub directories: Vec<LargeDirectory>,
}

/// A directory that is large enough.
pub(super) struct Candidate {
    pub(super) row: u64,
    size: u64,
}

impl<S: ReadAt> Snapshot<S> {
    /// Returns the largest directories, as many as the limits admit and all others that are as large as the
    /// least of these. The root is always among them.
    ///
    /// Returns `None` if only a table has the answer: for several roots, for a root that is not a directory,
    /// for many directories of one size, or many files with several names.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn largest_directories(
        &self,
        measure: StoredMeasure,
        limits: &LargestLimits,
    ) -> Result<Option<LargestDirectories>, ReadError> {
        let mut rows = self.rows();
        if !rows.advance(true)? || rows.entries() != self.len() {
            return Ok(None);
        }
        let Some(total) = rows.totals() else { return Ok(None) };
        rows.check_columns()?;
        if limits.totals && total.apparent.max(total.allocated) == u64::MAX {
            // What a saturated sum contains is not known.
            return Ok(None);
        }
        let Some(links) = self.links()? else { return Ok(None) };
        let hard_links = links.iter().map(|file| file.names.len() as u64 - 1).sum();
        let Some(candidates) = self.candidates(measure, limits)? else { return Ok(None) };
        if candidates.len().saturating_mul(links.len()) > MAX_COMPARED {
            return Ok(None);
        }
        let mut directories: Vec<LargeDirectory> = Vec::new();
        // The directories above the current one, and their rows.
        let mut open: Vec<(usize, Range<u64>)> = Vec::new();
        for Candidate { row, size } in candidates {
            rows.jump_to(row);
            let of = row..row.saturating_add(rows.entries());
            open.retain(|(_, above)| row < above.end);
            let is_inside = open.last().is_none_or(|(_, above)| of.end <= above.end);
            if of.is_empty() || !is_inside || rows.number(Column::Depth) != Some(open.len() as u64)
            {
                rows.check_columns()?;
                return damaged("the directories are not a tree");
            }
            let parent = open.last().map(|(index, _)| *index);
            let shared_files = || links.iter().filter(|file| file.is_shared(&of));
            let totals = limits.totals.then(|| {
                let is_charged = |file: &&LinkedFile| file.is_charged_in(&of, &open);
                let not_freed = allocated(shared_files().filter(is_charged));
                let totals = rows.directory_totals();
                let exclusive = totals.allocated.saturating_sub(not_freed);
                (totals.of_subtree(rows.newest()), exclusive)
            });
            let shared = allocated(shared_files());
            // Of a tree without errors, the column is not read.
            let errors = if total.errors == 0 { None } else { rows.errors() };
            open.push((directories.len(), of));
            directories.push(LargeDirectory {
                row,
                parent,
                size,
                shared,
                totals,
                errors: errors.unwrap_or(0),
                unread: rows.unread().map(unread_reason),
            });
        }
        rows.check_columns()?;
        Ok(Some(LargestDirectories { total, hard_links, directories }))
    }

    /// Returns the names of directories as the system stores them; of the root, its path. In tree order, each page of names
    /// is read once.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn names_of<'d>(
        &self,
        directories: impl IntoIterator<Item = &'d LargeDirectory>,
    ) -> Result<Vec<Vec<u8>>, ReadError> {
        let mut rows = self.rows();
        let directories = directories.into_iter();
        directories.map(|of| Ok(rows.name_at(of.row, of.parent.is_none())?.to_vec())).collect()
    }

    /// Returns the directories that may be among the largest, in tree order; `None` if they are too many.
    pub(super) fn candidates(
        &self,
        measure: StoredMeasure,
        limits: &LargestLimits,
    ) -> Result<Option<Vec<Candidate>>, ReadError> {
        let mut totals = self.column(measure.column());
        let mut depths = self.column(Column::Depth);
        let count = limits.count.max(1);
        let mut least = limits.min_size.max(1);
        let mut found: Vec<Candidate> = Vec::new();
        for page in self.pages_by_size(measure, limits.depth)? {
            // The first one has the root, which is shown whatever its size is.
            if page.greatest < least && !found.is_empty() {
                break;
            }
            if let Some(offset) = page.offset {
                totals.go_to_page(page.rows.start, offset)?;
            }
            let mut next = page.rows.start;
            while next < page.rows.end {
                let sizes = totals.read_numbers(next)?;
                for (row, size) in (next..page.rows.end).zip(sizes.rows()) {
                    let is_large = |size: &u64| *size >= least || row == 0;
                    let Some(size) = size.filter(is_large) else { continue };
                    if let Some(most) = limits.depth
                        && depths.read_number(row)?.unwrap_or(0) > most.into()
                    {
                        continue;
                    }
                    found.push(Candidate { row, size });
                }
                next += sizes.values.len() as u64;
                if found.len() >= count {
                    let mut sizes: Vec<u64> = found.iter().map(|it| it.size).collect();
                    let (_, &mut size, _) =
                        sizes.select_nth_unstable_by(count - 1, |a, b| b.cmp(a));
                    least = least.max(size);
                    found.retain(|it| it.size >= least || it.row == 0);
                }
                if found.len() > count.saturating_add(MAX_EQUAL) {
                    return Ok(None);
                }
            }
        }
        found.sort_unstable_by_key(|it| it.row);
        let has_root = found.first().is_some_and(|first| first.row == 0);
        Ok(has_root.then_some(found))
    }

    /// Returns the pages that can have directories down to a depth, those first that can have the largest.
    fn pages_by_size(
        &self,
        measure: StoredMeasure,
        depth: Option<u32>,
    ) -> Result<Vec<PageBounds>, ReadError> {
        let mut pages = self.page_bounds(measure.column())?;
        if let Some(most) = depth {
            let mut depths = self.page_bounds(Column::Depth)?;
            depths.retain(|page| page.least <= most.into());
            pages.retain(|page| {
                let next = depths.partition_point(|it| it.rows.end <= page.rows.start);
                depths.get(next).is_some_and(|it| it.rows.start < page.rows.end)
            });
        }
        pages.sort_by_key(|page| Reverse(page.greatest));
        Ok(pages)
    }

    /// Returns the files with several names, sorted by id; `None` if they are too many, or their names have
    /// different attributes.
    fn links(&self) -> Result<Option<Vec<LinkedFile>>, ReadError> {
        let mut inodes = self.column(Column::Inode);
        let mut devices = self.column(Column::Device);
        let mut sizes = self.column(Column::Allocated);
        let mut depths = self.column(Column::Depth);
        let mut names: Vec<LinkedName> = Vec::new();
        let (mut linked, mut next) = (LinkedRows::of(self), 0);
        while let Some(LinkedRow { row, count }) = linked.next(next)? {
            next = row + 1;
            let (inode, device) = (inodes.read_number(row)?, devices.read_number(row)?);
            let Some(id) = device.zip(inode) else { continue };
            let allocated = sizes.read_number(row)?.unwrap_or(0);
            let depth = depths.read_number(row)?.unwrap_or(0);
            names.push(LinkedName { id, row, depth, count, allocated });
            if names.len() > MAX_LINKS {
                return Ok(None);
            }
        }
        Ok(grouped(names))
    }
}

/// A name of a file that may have others.
struct LinkedName {
    id: (u64, u64),
    row: u64,
    depth: u64,
    /// The number of names; 0 if unknown.
    count: u64,
    allocated: u64,
}

/// A file with several names.
struct LinkedFile {
    /// The rows of its names and their depths, in tree order.
    names: Vec<(u64, u64)>,
    allocated: u64,
    /// All names are in the snapshot.
    all_here: bool,
}

/// Returns the files that have several names; `None` if the names of one have different attributes: it
/// changed while it was read.
fn grouped(mut names: Vec<LinkedName>) -> Option<Vec<LinkedFile>> {
    names.sort_unstable_by_key(|name| (name.id, name.row));
    let mut files = Vec::new();
    for names in names.chunk_by(|a, b| a.id == b.id) {
        let [first, others @ ..] = names else { continue };
        let is_same =
            |name: &LinkedName| (name.count, name.allocated) == (first.count, first.allocated);
        if !others.iter().all(is_same) {
            return None;
        }
        let all_here = first.count <= names.len() as u64;
        if !others.is_empty() || !all_here {
            let names = names.iter().map(|name| (name.row, name.depth)).collect();
            files.push(LinkedFile { names, allocated: first.allocated, all_here });
        }
    }
    Some(files)
}

impl LinkedFile {
    /// Returns whether the file has a name in the directory of these rows, and another elsewhere.
    fn is_shared(&self, of: &Range<u64>) -> bool {
        let here = self.names.iter().filter(|(row, _)| of.contains(row)).count();
        here > 0 && !(self.all_here && here == self.names.len())
    }

    /// Returns whether the totals of the directory of these rows, which has a name of the file, contain its bytes.
    /// `above` are the directories that it is in, by depth.
    ///
    /// A file is charged to the first of its names, in the order of the directories that hold them.
    fn is_charged_in(&self, of: &Range<u64>, above: &[(usize, Range<u64>)]) -> bool {
        let is_directly_above = |row: u64, depth: u64| {
            let holder = depth.checked_sub(1).and_then(|depth| above.get(depth as usize));
            holder.is_some_and(|(_, rows)| rows.contains(&row))
        };
        // A name behind the directory comes first if a directory above holds it.
        let is_before = |&(row, depth): &(u64, u64)| {
            row < of.start || row >= of.end && is_directly_above(row, depth)
        };
        !self.names.iter().any(is_before)
    }
}

/// Returns the allocated bytes of all files.
fn allocated<'f>(files: impl Iterator<Item = &'f LinkedFile>) -> u64 {
    files.fold(0, |sum, file| sum.saturating_add(file.allocated))
}
