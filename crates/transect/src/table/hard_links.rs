//! Hard links: the name that a file is charged to, and the bytes that directories share.
//!
//! A file is charged to the first of its names, in the preorder of the directories that hold them.
//! That depends on the tree alone, so the totals of sibling directories can be added.
//!
//! The *shared* bytes of a directory would stay occupied if it were removed: files named in it and
//! elsewhere. Both are computed without checking all directories for each file. In preorder, the
//! names of a file in one directory are neighbours. So every name adds the file to its directory,
//! and the common ancestor of two neighbours subtracts it once; then each directory counts it once:
//!
//! ```text
//!          top  −x               x has the names a/x, b/c/x, b/d/x:
//!         /   \                  +x in a, in b/c and in b/d;
//!     a +x    b −x               −x in top (a/x, b/c/x) and in b (b/c/x, b/d/x)
//!            /    \
//!        c +x    d +x            sums upwards: a 1, c 1, d 1, b 1, top 1
//! ```

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use transect_sys::{FileId, FileType};

use super::columns::Rows;
use super::directories::{Directories, Directory};
use super::rank_bitmap::RankBitmap;
use super::row::Row;

/// A name of a file that may have others.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkedName {
    pub(super) id: FileId,
    pub(super) row: u32,
    /// The link count of the file; 0 if unknown.
    pub(super) link_count: u32,
}

/// The files with several names.
#[derive(Debug, Default)]
pub(super) struct HardLinkIndex {
    /// The names of files with several names, in the table or not.
    files: RankBitmap,
    /// The names that nothing is charged to.
    extra_names: RankBitmap,
    /// Per directory, by its index; empty if no file has several names.
    directories: Vec<DirectoryShares>,
    /// The rows in `files`, grouped by file, the charged one first.
    rows: Vec<u32>,
    /// Sorted by id.
    linked: Vec<LinkedFile>,
    /// The place in `linked` of each row in `rows`, once it is needed.
    by_row: OnceLock<HashMap<u32, u32, FixedState>>,
}

/// A file with several names.
#[derive(Debug)]
pub(super) struct LinkedFile {
    /// Where the names of the next file begin in `rows`.
    end: u32,
    /// All names of the file are in the table.
    pub(super) all_here: bool,
    pub(super) id: FileId,
    /// The link count of the file; 0 if unknown.
    pub(super) link_count: u32,
}

/// The names of a file with several, in the table or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkedNames<'t> {
    pub(super) id: FileId,
    /// The rows of its names in the table; the one that it is charged to first.
    pub(super) rows: &'t [u32],
    /// All its names are in the table.
    pub(super) all_here: bool,
    /// 0 if unknown.
    pub(super) link_count: u32,
}

/// Allocated bytes in and below a directory; `i128` cannot overflow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DirectoryShares {
    /// Of files named here and charged to a name elsewhere.
    pub(super) charged_elsewhere: i128,
    /// Of files also named elsewhere.
    pub(super) shared: i128,
}

impl DirectoryShares {
    pub(super) fn shared(&self) -> u64 {
        saturate(self.shared)
    }

    pub(super) fn charged_elsewhere(&self) -> u64 {
        saturate(self.charged_elsewhere)
    }
}

impl LinkedFile {
    pub(super) fn names<'t>(&self, rows: &'t [u32]) -> LinkedNames<'t> {
        let &Self { all_here, id, link_count, .. } = self;
        LinkedNames { id, rows, all_here, link_count }
    }
}

impl HardLinkIndex {
    /// Returns the number of names beyond the first of each file.
    pub(super) fn extra_name_count(&self) -> u64 {
        (self.rows.len() - self.linked.len()) as u64
    }

    pub(super) fn has_extra_names(&self, row: Row) -> bool {
        self.files.contains(row.0)
    }

    pub(super) fn is_charged_elsewhere(&self, row: Row) -> bool {
        self.extra_names.contains(row.0)
    }

    /// Iterates over the files with several names, in the table or not, and the rows of those in the table:
    /// the charged one first.
    pub(super) fn linked(&self) -> impl Iterator<Item = (&LinkedFile, &[u32])> {
        let mut begin = 0;
        self.linked.iter().map(move |file| {
            let rows = &self.rows[begin..file.end as usize];
            begin = file.end as usize;
            (file, rows)
        })
    }

    pub(super) fn shares(&self, index: u32) -> DirectoryShares {
        self.directories.get(index as usize).copied().unwrap_or_default()
    }

    /// Returns the file with this id, if it has several names, and its rows.
    pub(super) fn find(&self, id: FileId) -> Option<(&LinkedFile, &[u32])> {
        self.linked.binary_search_by_key(&id, |file| file.id).ok().map(|place| self.file_at(place))
    }

    fn file_at(&self, place: usize) -> (&LinkedFile, &[u32]) {
        let begin = place.checked_sub(1).map_or(0, |before| self.linked[before].end as usize);
        let file = &self.linked[place];
        (file, &self.rows[begin..file.end as usize])
    }

    /// Returns the id of a file, if it has several names.
    pub(super) fn id_of(&self, row: Row) -> Option<FileId> {
        if !self.has_extra_names(row) {
            return None;
        }
        let by_row = self.by_row.get_or_init(|| {
            let files = (0..).zip(self.linked());
            files.flat_map(|(place, (_, rows))| rows.iter().map(move |&row| (row, place))).collect()
        });
        by_row.get(&row.0).map(|&place| self.linked[place as usize].id)
    }
}

/// Returns a complete sum, saturated.
fn saturate(sum: i128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// Subtracts bytes that directories counted more than once, and computes the bytes that they share.
pub(super) fn charge(
    mut links: Vec<LinkedName>,
    rows: &Rows,
    directories: &mut Directories,
    preorder: &[u32],
) -> HardLinkIndex {
    if links.is_empty() {
        return HardLinkIndex::default();
    }
    let tree = PreorderTree::new(directories, preorder);
    links.sort_unstable_by_key(|link| {
        (link.id, tree.position_of(directories.parent_of(Row(link.row))), link.row)
    });

    let mut shared = HardLinkIndex {
        files: RankBitmap::with_limit(rows.limit()),
        extra_names: RankBitmap::with_limit(rows.limit()),
        directories: vec![DirectoryShares::default(); directories.all.len()],
        ..HardLinkIndex::default()
    };
    for names in links.chunk_by(|a, b| a.id == b.id) {
        shared.charge_file(names, rows, directories, &tree);
    }
    shared.rows.shrink_to_fit();
    shared.linked.shrink_to_fit();
    for &index in preorder.iter().rev() {
        let below = shared.directories[index as usize];
        let parent = directories.all[index as usize].parent;
        if let Some(above) = shared.directories.get_mut(parent as usize) {
            above.charged_elsewhere += below.charged_elsewhere;
            above.shared += below.shared;
        }
    }
    shared.recount_saturated(rows, directories);
    shared
}

impl HardLinkIndex {
    /// Charges a file to the first of its `names`, which are sorted by preorder.
    fn charge_file(
        &mut self,
        names: &[LinkedName],
        rows: &Rows,
        directories: &mut Directories,
        tree: &PreorderTree,
    ) {
        let [first, others @ ..] = names else { return };
        let all_here = first.link_count == 0 || first.link_count as usize <= names.len();
        if others.is_empty() && all_here {
            return;
        }
        self.rows.extend(names.iter().map(|name| name.row));
        // A table has no more rows than 32 bits can count.
        let &LinkedName { id, link_count, .. } = first;
        self.linked.push(LinkedFile { end: self.rows.len() as u32, all_here, id, link_count });
        let bytes = i128::from(allocated(rows, first.row));
        let mut before = directories.parent_of(Row(first.row));
        let mut lowest_common = before;
        self.files.insert(first.row);
        self.add(before, |shares| shares.shared += bytes);
        for name in others {
            self.files.insert(name.row);
            self.extra_names.insert(name.row);
            let parent = directories.parent_of(Row(name.row));
            let ancestor = tree.common_ancestor(directories, before, parent);
            lowest_common = tree.common_ancestor(directories, lowest_common, parent);
            // While a file grows, its names have different sizes: subtract the size of this one.
            subtract_name(rows, directories, name.row, parent);
            for (index, sign) in [(parent, bytes), (ancestor, -bytes)] {
                self.add(index, |shares| {
                    shares.charged_elsewhere += sign;
                    shares.shared += sign;
                });
            }
            before = parent;
        }
        if all_here {
            self.add(lowest_common, |shares| shares.shared -= bytes);
        }
    }

    /// Recomputes the bytes of saturated directories, from which nothing could be subtracted: the
    /// names in them exceed what can be counted, but the files may not.
    fn recount_saturated(&self, rows: &Rows, directories: &mut Directories) {
        let Directories { top, all, .. } = directories;
        let own = |row: u32| Some(allocated(rows, row));
        let all = all.iter_mut().map(|directory| (own(directory.row), directory));
        for (own, directory) in all.chain([(None, top)]) {
            if !directory.totals.is_saturated() {
                continue;
            }
            let range = directory.range();
            let totals = &mut directory.totals;
            (totals.apparent, totals.disk_usage) = (0, own.unwrap_or(0));
            for row in range.filter(|&row| !self.extra_names.contains(row)) {
                let (chunk, index) = rows.locate(Row(row));
                // Directories add their own bytes later.
                if chunk.file_type(index) != FileType::Directory {
                    let size = chunk.size(rows.columns(), index).unwrap_or(0);
                    totals.apparent = totals.apparent.saturating_add(size);
                    totals.disk_usage = totals.disk_usage.saturating_add(allocated(rows, row));
                }
            }
        }
    }

    fn add(&mut self, index: u32, add: impl FnOnce(&mut DirectoryShares)) {
        // The bytes shared by all roots together are never needed.
        if let Some(shares) = self.directories.get_mut(index as usize) {
            add(shares);
        }
    }
}

fn allocated(rows: &Rows, row: u32) -> u64 {
    let (chunk, index) = rows.locate(Row(row));
    chunk.allocated(rows.columns(), index).unwrap_or(0)
}

fn subtract_name(rows: &Rows, directories: &mut Directories, row: u32, parent: u32) {
    let (chunk, index) = rows.locate(Row(row));
    let totals = match directories.all.get_mut(parent as usize) {
        Some(parent) => &mut parent.totals,
        None => &mut directories.top.totals,
    };
    let (size, allocated) =
        (chunk.size(rows.columns(), index), chunk.allocated(rows.columns(), index));
    totals.subtract(size.unwrap_or(0), allocated.unwrap_or(0));
}

/// The positions of directories as intervals of the preorder.
struct PreorderTree {
    begin: Vec<u32>,
    /// The position after the last directory below.
    end: Vec<u32>,
}

impl PreorderTree {
    fn new(directories: &Directories, preorder: &[u32]) -> Self {
        let mut begin = vec![0; preorder.len()];
        for (position, &index) in (0..).zip(preorder) {
            begin[index as usize] = position;
        }
        let mut end: Vec<u32> = begin.iter().map(|position| position + 1).collect();
        for &index in preorder.iter().rev() {
            let parent = directories.all[index as usize].parent as usize;
            let last = end[index as usize];
            if let Some(end) = end.get_mut(parent) {
                *end = last.max(*end);
            }
        }
        Self { begin, end }
    }

    /// Returns the position of a directory in the preorder; `None` for the top, which comes first.
    fn position_of(&self, index: u32) -> Option<u32> {
        self.begin.get(index as usize).copied()
    }

    /// Returns the lowest directory that holds two others, or is one of them.
    fn common_ancestor(&self, directories: &Directories, mut a: u32, b: u32) -> u32 {
        while a != Directory::TOP && !self.holds(a, b) {
            a = directories.all[a as usize].parent;
        }
        a
    }

    fn holds(&self, above: u32, below: u32) -> bool {
        let interval = self.begin[above as usize]..self.end[above as usize];
        self.position_of(below).is_some_and(|position| interval.contains(&position))
    }
}
