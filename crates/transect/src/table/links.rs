//! Hard links: to which of its names a file is charged, and what directories share.
//!
//! A file is charged to the first of its names: in the order in which a walk by names meets the
//! directories that hold them, a directory before those in it. That depends on the tree alone, and
//! sums of directories beside each other can be added.
//!
//! What a directory *shares* is what would stay occupied if it were removed: files that are named
//! in it and elsewhere. Both questions are answered without looking at all directories for each
//! file. In the order above the names of a file that lie in one directory are neighbours, so each
//! directory counts a file once if every name adds it, and the directory that holds two neighbours
//! takes it back once:
//!
//! ```text
//!          top  −b               x has the names a/x, b/c/x, b/d/x:
//!         /   \                  +x in a, in b/c and in b/d;
//!     a +x    b −x               −x in top (a/x, b/c/x) and in b (b/c/x, b/d/x)
//!            /    \
//!        c +x    d +x            sums upwards: a 1, c 1, d 1, b 1, top 1
//! ```

use transect_sys::{FileId, FileType};

use super::Row;
use super::columns::Rows;
use super::directories::{Directories, Directory};
use super::rank::Ranks;

/// A name of a file that may have further ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) id: FileId,
    pub(super) row: u32,
    /// How many names the file has; 0 if that is not known.
    pub(super) names: u32,
}

/// What has further names.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Files with further names, in the table or not.
    files: Ranks,
    /// Names that nothing is charged to.
    further: Ranks,
    /// For each directory, by its place; nothing if no file has further names.
    directories: Vec<InDirectory>,
    names: u64,
    /// The rows of `files`, those of a file one after the other, the one it is charged to first.
    rows: Vec<u32>,
    groups: Vec<Group>,
}

/// The names of one file among the rows that have further ones.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Where those of the next file begin.
    end: u32,
    /// No name of it lies elsewhere than in the table.
    all_here: bool,
}

/// A file with several names, as far as the table knows them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linked<'t> {
    /// The rows of its names, the one it is charged to first.
    pub(super) rows: &'t [u32],
    /// No name of it lies elsewhere than in the table.
    pub(super) all_here: bool,
}

/// Allocated bytes in and below a directory: wide enough for whatever a file system says.
#[derive(Clone, Copy, Debug, Default)]
struct InDirectory {
    /// Of files that are named here and charged to a name elsewhere.
    charged_elsewhere: i128,
    /// Of files that are also named elsewhere.
    shared: i128,
}

impl Shared {
    /// Returns how many names there are beyond the first of each file.
    pub(super) fn further_names(&self) -> u64 {
        self.names
    }

    pub(super) fn has_further_names(&self, row: Row) -> bool {
        self.files.contains(row.0)
    }

    pub(super) fn is_charged_elsewhere(&self, row: Row) -> bool {
        self.further.contains(row.0)
    }

    /// Iterates over the files with further names, in the table or not.
    pub(super) fn linked(&self) -> impl Iterator<Item = Linked<'_>> {
        let mut begin = 0;
        self.groups.iter().map(move |&Group { end, all_here }| {
            let rows = &self.rows[begin..end as usize];
            begin = end as usize;
            Linked { rows, all_here }
        })
    }

    pub(super) fn shared(&self, place: u32) -> u64 {
        self.directories.get(place as usize).map_or(0, |found| told(found.shared))
    }

    pub(super) fn charged_elsewhere(&self, place: u32) -> u64 {
        self.directories.get(place as usize).map_or(0, |found| told(found.charged_elsewhere))
    }
}

/// Returns a sum that is complete, as far as it can be told.
fn told(sum: i128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// Takes back what directories counted more than once, and finds what they share.
pub(super) fn charge(
    mut links: Vec<Link>,
    rows: &Rows,
    directories: &mut Directories,
    parents_first: &[u32],
) -> Shared {
    if links.is_empty() {
        return Shared::default();
    }
    let tree = Tree::new(directories, parents_first);
    links.sort_unstable_by_key(|link| {
        (link.id, tree.met(directories.holder(Row(link.row))), link.row)
    });

    let mut shared = Shared {
        files: Ranks::below(rows.limit()),
        further: Ranks::below(rows.limit()),
        directories: vec![InDirectory::default(); directories.all.len()],
        names: 0,
        rows: Vec::new(),
        groups: Vec::new(),
    };
    for names in links.chunk_by(|a, b| a.id == b.id) {
        shared.charge_file(names, rows, directories, &tree);
    }
    shared.rows.shrink_to_fit();
    shared.groups.shrink_to_fit();
    for &place in parents_first.iter().rev() {
        let below = shared.directories[place as usize];
        let parent = directories.all[place as usize].parent;
        if let Some(above) = shared.directories.get_mut(parent as usize) {
            above.charged_elsewhere += below.charged_elsewhere;
            above.shared += below.shared;
        }
    }
    shared.count_again(rows, directories);
    shared
}

impl Shared {
    /// Charges a file to the first of its `names`, which are in the order in which they are met.
    fn charge_file(
        &mut self,
        names: &[Link],
        rows: &Rows,
        directories: &mut Directories,
        tree: &Tree,
    ) {
        let [first, further @ ..] = names else { return };
        let all_here = first.names == 0 || first.names as usize <= names.len();
        if further.is_empty() && all_here {
            return;
        }
        self.rows.extend(names.iter().map(|name| name.row));
        // No table has more rows than a number of 32 bits counts.
        self.groups.push(Group { end: self.rows.len() as u32, all_here });
        let bytes = i128::from(allocated(rows, first.row));
        let mut before = directories.holder(Row(first.row));
        let mut holder_of_all = before;
        self.files.insert(first.row);
        self.add(before, |found| found.shared += bytes);
        for name in further {
            self.files.insert(name.row);
            self.further.insert(name.row);
            self.names += 1;
            let holder = directories.holder(Row(name.row));
            let meet = tree.holder_of_both(directories, before, holder);
            holder_of_all = tree.holder_of_both(directories, holder_of_all, holder);
            // While a file grows its names have different sizes: each takes back its own.
            take_back(rows, directories, name.row, holder);
            for (place, sign) in [(holder, bytes), (meet, -bytes)] {
                self.add(place, |found| {
                    found.charged_elsewhere += sign;
                    found.shared += sign;
                });
            }
            before = holder;
        }
        if all_here {
            self.add(holder_of_all, |found| found.shared -= bytes);
        }
    }

    /// Adds up the bytes of directories anew from which nothing could be taken back: the names in them
    /// came to more than can be told, but perhaps not the files.
    fn count_again(&self, rows: &Rows, directories: &mut Directories) {
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
            for row in range.filter(|&row| !self.further.contains(row)) {
                let (chunk, index) = rows.at(Row(row));
                // Directories add theirs later.
                if chunk.file_type(index) != FileType::Directory {
                    let size = chunk.size(rows.columns(), index).unwrap_or(0);
                    totals.apparent = totals.apparent.saturating_add(size);
                    totals.disk_usage = totals.disk_usage.saturating_add(allocated(rows, row));
                }
            }
        }
    }

    fn add(&mut self, place: u32, add: impl FnOnce(&mut InDirectory)) {
        // Nobody asks what all roots together share.
        if let Some(found) = self.directories.get_mut(place as usize) {
            add(found);
        }
    }
}

fn allocated(rows: &Rows, row: u32) -> u64 {
    let (chunk, index) = rows.at(Row(row));
    chunk.allocated(rows.columns(), index).unwrap_or(0)
}

fn take_back(rows: &Rows, directories: &mut Directories, row: u32, holder: u32) {
    let (chunk, index) = rows.at(Row(row));
    let totals = match directories.all.get_mut(holder as usize) {
        Some(holder) => &mut holder.totals,
        None => &mut directories.top.totals,
    };
    let (size, allocated) =
        (chunk.size(rows.columns(), index), chunk.allocated(rows.columns(), index));
    totals.subtract(size.unwrap_or(0), allocated.unwrap_or(0));
}

/// Where directories lie, as intervals of the order in which they are met.
struct Tree {
    begin: Vec<u32>,
    /// The first that is met after all below it.
    end: Vec<u32>,
}

impl Tree {
    fn new(directories: &Directories, parents_first: &[u32]) -> Self {
        let mut begin = vec![0; parents_first.len()];
        for (met, &place) in (0..).zip(parents_first) {
            begin[place as usize] = met;
        }
        let mut end: Vec<u32> = begin.iter().map(|met| met + 1).collect();
        for &place in parents_first.iter().rev() {
            let parent = directories.all[place as usize].parent as usize;
            let last = end[place as usize];
            if let Some(end) = end.get_mut(parent) {
                *end = last.max(*end);
            }
        }
        Self { begin, end }
    }

    /// Returns when a directory is met; that above the roots before all others.
    fn met(&self, place: u32) -> Option<u32> {
        self.begin.get(place as usize).copied()
    }

    /// Returns the lowest directory that holds two others, or is one of them.
    fn holder_of_both(&self, directories: &Directories, mut a: u32, b: u32) -> u32 {
        while a != Directory::TOP && !self.holds(a, b) {
            a = directories.all[a as usize].parent;
        }
        a
    }

    fn holds(&self, above: u32, below: u32) -> bool {
        let interval = self.begin[above as usize]..self.end[above as usize];
        self.met(below).is_some_and(|met| interval.contains(&met))
    }
}
