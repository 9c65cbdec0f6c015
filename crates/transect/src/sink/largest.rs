//! The largest of many entries, in little memory and independent of the order in which they come.

use std::cmp::{Ordering, Reverse};
use std::path::PathBuf;

use transect_sys::FileId;

use crate::account::SizeTotals;

/// The measure that ranks entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankBy {
    /// Allocated bytes, including those of directories, as `du` counts.
    #[default]
    DiskUsage,
    /// Length in bytes.
    Apparent,
}

impl RankBy {
    /// Returns the measure, in bytes.
    pub fn value(self, sizes: &SizeTotals) -> u64 {
        match self {
            Self::DiskUsage => sizes.disk_usage(),
            Self::Apparent => sizes.apparent,
        }
    }
}

/// One of the largest entries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LargestEntry {
    /// Its path.
    pub path: PathBuf,
    /// Its sizes; for a directory, those of everything in and below it.
    pub sizes: SizeTotals,
    /// Errors in and below it. With errors, it may be larger.
    pub errors: u64,
    rank: u64,
    id: Option<FileId>,
}

impl LargestEntry {
    /// Orders by size, largest first, then by file id, which is cheap to compare, then by path.
    fn compare(&self, other: &Self) -> Ordering {
        let key = |entry: &Self| (Reverse(entry.rank), entry.id);
        key(self).cmp(&key(other)).then_with(|| self.path.cmp(&other.path))
    }
}

/// The `limit` largest entries offered so far, sorted.
#[derive(Debug)]
pub(crate) struct Ranking {
    rank_by: RankBy,
    limit: usize,
    largest: Vec<LargestEntry>,
}

impl Ranking {
    pub(crate) fn new(rank_by: RankBy, limit: usize) -> Self {
        Self { rank_by, limit, largest: Vec::new() }
    }

    /// Offers an entry. Its id and path are requested only if it is among the largest, which is rare.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        sizes: &SizeTotals,
        errors: u64,
        id: impl Fn() -> Option<FileId>,
        path: impl FnOnce() -> PathBuf,
    ) {
        let rank = self.rank_by.value(sizes);
        if rank == 0 || self.is_below_all(rank, &id) {
            return;
        }
        self.insert(LargestEntry { path: path(), sizes: *sizes, errors, rank, id: id() });
    }

    #[inline]
    fn is_below_all(&self, rank: u64, id: impl Fn() -> Option<FileId>) -> bool {
        if self.largest.len() < self.limit {
            return false;
        }
        match self.largest.last() {
            Some(last) => rank < last.rank || (rank == last.rank && id() > last.id),
            None => true,
        }
    }

    fn insert(&mut self, new: LargestEntry) {
        // A file with several names is listed once, by the smallest path.
        if let Some(same) = self.largest.iter_mut().find(|old| new.id.is_some() && old.id == new.id)
        {
            if new.path < same.path {
                same.path = new.path;
            }
            return;
        }
        let at = self.largest.partition_point(|old| old.compare(&new) == Ordering::Less);
        self.largest.insert(at, new);
        self.largest.truncate(self.limit);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.largest.into_iter().for_each(|largest| self.insert(largest));
    }

    pub(crate) fn as_slice(&self) -> &[LargestEntry] {
        &self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn offer(ranking: &mut Ranking, size: u64, inode: u64) {
        let sizes = SizeTotals { allocated: size, ..SizeTotals::default() };
        let id = Some(FileId { device: 1, inode });
        ranking.offer(&sizes, 0, || id, || PathBuf::from(format!("f{inode}")));
    }

    proptest! {
        /// The largest do not depend on which thread offered what, or when.
        #[test]
        fn ranking_merged_equals_single(
            sizes in prop::collection::vec(0u64..6, 0..60),
            cut in 0usize..60,
        ) {
            let (mut all, mut a, mut b) =
                (Ranking::new(RankBy::DiskUsage, 5), Ranking::new(RankBy::DiskUsage, 5),
                 Ranking::new(RankBy::DiskUsage, 5));
            for (inode, &size) in sizes.iter().enumerate() {
                offer(&mut all, size, inode as u64);
                offer(if inode < cut { &mut a } else { &mut b }, size, inode as u64);
            }
            b.merge(a);
            prop_assert_eq!(all.as_slice(), b.as_slice());

            let mut expected: Vec<(u64, usize)> =
                sizes.iter().copied().enumerate().map(|(i, size)| (size, i)).collect();
            expected.sort_by_key(|&(size, inode)| (std::cmp::Reverse(size), inode));
            expected.retain(|&(size, _)| size > 0);
            expected.truncate(5);
            let got: Vec<(u64, usize)> = all.as_slice().iter()
                .map(|largest| (largest.rank, largest.id.unwrap().inode as usize)).collect();
            prop_assert_eq!(got, expected);
        }
    }

    #[test]
    fn ranking_file_with_several_names_listed_once_by_smallest_path() {
        let mut ranking = Ranking::new(RankBy::Apparent, 3);
        let sizes = SizeTotals { apparent: 9, ..SizeTotals::default() };
        let id = Some(FileId { device: 1, inode: 1 });
        for name in ["b", "a", "c"] {
            ranking.offer(&sizes, 0, || id, || PathBuf::from(name));
        }
        assert_eq!(ranking.as_slice().len(), 1);
        assert_eq!(ranking.as_slice()[0].path, PathBuf::from("a"));
    }
}
