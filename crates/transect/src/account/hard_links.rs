//! Hard links: a file with several names counts once in every directory that holds any of them.
//!
//! Each directory keeps the files with several names met in and below it until it is finished; then
//! its set is merged into its parent's. A file in both sets was counted by both directories, so the
//! parent subtracts it once. The total of a directory is therefore what `du` prints for that
//! directory alone, whichever thread met which name first. There is no rule about "the first name",
//! and nothing depends on the schedule.
//!
//! ```text
//!        top   {X}: 100 + 100 − 100           X has three names:
//!       /   \                                 /a/x, /a/y and /b/z
//!   a {X}   b {X}
//!   100     100
//! ```
//!
//! A file is removed from the set once all its names were met, so on most trees the sets stay
//! small. Merging moves the smaller set into the larger one, so an id moves at most log₂(n) times.
//!
//! While a file grows, its names have different sizes. Each set keeps the size that its directory
//! counted, so nothing is subtracted that was not added before.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;
use transect_sys::{Attributes, FileId};

use super::SizeTotals;

/// A file with several names, as seen from one directory.
///
/// Where link counts are unknown (Windows) every file has an entry: 40 bytes with its id.
#[derive(Clone, Copy, Debug)]
struct LinkedFile {
    /// Names met in and below the directory.
    names_seen: u32,
    /// The file's link count; 0 if it is unknown, or the file may be met more often (links are
    /// followed). Then it is kept to the end.
    link_count: u32,
    apparent: u64,
    allocated: u64,
}

impl LinkedFile {
    fn size(&self) -> SizeTotals {
        let Self { apparent, allocated, .. } = *self;
        SizeTotals { apparent, allocated, ..SizeTotals::default() }
    }
}

/// Which size of a file with two known ones is part of the directory's total.
#[derive(Clone, Copy)]
enum Counted {
    Known,
    New,
}

/// The files with several names in and below a directory.
#[derive(Debug, Default)]
pub(crate) struct HardLinks {
    files: HashMap<FileId, LinkedFile, FixedState>,
    /// Names met beyond the first of each file.
    extra_names: u64,
}

impl HardLinks {
    /// Counts an entry, and returns whether it is the first name of its file that is met here. With `follow`, an
    /// entry may be met more often than it has names.
    pub(crate) fn add_entry(
        &mut self,
        attributes: &Attributes,
        follow: bool,
        size: SizeTotals,
    ) -> bool {
        // Windows listings have no link count: any file may have more names.
        let names = attributes.nlink();
        match attributes.file_id().filter(|_| names != Some(1) || follow) {
            Some(id) => self.add(id, names.filter(|_| !follow), size),
            None => true,
        }
    }

    /// Counts one name of a file, and returns whether it is the first one met here. `link_count` is
    /// `None` if it is unknown, or if the file may be met more often (links are followed).
    fn add(&mut self, id: FileId, link_count: Option<u32>, size: SizeTotals) -> bool {
        let SizeTotals { apparent, allocated, .. } = size;
        let new =
            LinkedFile { names_seen: 1, link_count: link_count.unwrap_or(0), apparent, allocated };
        self.absorb(id, new, Counted::Known).is_none()
    }

    /// Returns the number of names met beyond the first of each file.
    pub(crate) fn extra_names(&self) -> u64 {
        self.extra_names
    }

    /// Returns whether merging would change nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.extra_names == 0
    }

    /// Merges the files of a directory below, and returns the bytes that it counted, too.
    pub(crate) fn merge(&mut self, mut below: Self) -> SizeTotals {
        let mut counted = Counted::Known;
        if below.files.len() > self.files.len() {
            std::mem::swap(self, &mut below);
            counted = Counted::New;
        }
        self.extra_names += below.extra_names;
        let mut counted_twice = SizeTotals::default();
        for (id, linked) in below.files {
            if let Some(size) = self.absorb(id, linked, counted) {
                counted_twice += size;
            }
        }
        counted_twice
    }

    /// Adds names of one file. If it was counted already, keeps the size that is `counted`, and returns
    /// the other one.
    fn absorb(&mut self, id: FileId, new: LinkedFile, counted: Counted) -> Option<SizeTotals> {
        match self.files.entry(id) {
            Entry::Vacant(vacant) => {
                if new.names_seen != new.link_count {
                    vacant.insert(new);
                }
                None
            }
            Entry::Occupied(mut occupied) => {
                let known = occupied.get_mut();
                known.names_seen += new.names_seen;
                self.extra_names += 1;
                let twice = match counted {
                    Counted::Known => new.size(),
                    Counted::New => {
                        let size = known.size();
                        (known.apparent, known.allocated) = (new.apparent, new.allocated);
                        size
                    }
                };
                if known.names_seen == known.link_count {
                    occupied.remove();
                }
                Some(twice)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(inode: u64) -> FileId {
        FileId { device: 1, inode }
    }

    fn bytes(apparent: u64) -> SizeTotals {
        SizeTotals { apparent, allocated: 512, ..SizeTotals::default() }
    }

    #[test]
    fn hard_links_names_in_two_directories_counted_once_in_parent() {
        let (mut a, mut b) = (HardLinks::default(), HardLinks::default());
        assert!(a.add(id(7), Some(3), bytes(100)));
        assert!(!a.add(id(7), Some(3), bytes(100)));
        assert!(b.add(id(7), Some(3), bytes(100)));
        assert_eq!(a.merge(b), bytes(100));
        assert_eq!(a.extra_names(), 2);
        assert!(a.files.is_empty(), "all three names were met");
    }

    #[test]
    fn hard_links_merge_symmetric() {
        let make = |ids: &[u64]| {
            let mut links = HardLinks::default();
            for &inode in ids {
                links.add(id(inode), Some(9), bytes(inode));
            }
            links
        };
        let mut small = make(&[1, 2]);
        let mut large = make(&[2, 3, 4]);
        assert_eq!(small.merge(make(&[2, 3, 4])), large.merge(make(&[1, 2])));
        assert_eq!(small.extra_names(), large.extra_names());
        assert_eq!(small.files.len(), large.files.len());
    }

    /// A file grows while it is met in two directories.
    #[test]
    fn hard_links_merge_subtracts_size_that_was_counted_below() {
        let make = |size, others: &[u64]| {
            let mut links = HardLinks::default();
            links.add(id(1), None, bytes(size));
            others.iter().for_each(|&inode| assert!(links.add(id(inode), None, bytes(1))));
            links
        };
        for (others_above, others_below) in [(&[][..], &[][..]), (&[2, 3], &[]), (&[], &[2, 3])] {
            let mut above = make(500, others_above);
            assert_eq!(above.merge(make(100, others_below)), bytes(100));
            assert_eq!(make(70, &[]).merge(above), bytes(500), "it keeps its own size");
        }
    }

    #[test]
    fn hard_links_followed_file_never_forgotten() {
        let mut links = HardLinks::default();
        for (round, first) in [(1, true), (2, false), (3, false)] {
            assert_eq!(links.add(id(1), None, bytes(5)), first, "round {round}");
        }
        assert_eq!(links.extra_names(), 2);
    }
}
