//! Which file of a group is kept.

use std::path::PathBuf;

use transect::table::{Row, Table};

use crate::group::Duplicate;

transect_sys::words! {
    /// Which file of a group is kept if no preferred directory holds one.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum KeepRule {
        /// The first in the order of paths.
        #[default]
        First = "first",
        /// The one that changed last.
        Newest = "newest",
        /// The one that did not change for the longest time.
        Oldest = "oldest",
        /// The one with the shortest path in bytes.
        ShortestPath = "shortest-path",
    }
}

/// Which file of a group is kept. Of several that are equally good, the first in the order of paths.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Keep {
    /// Keep a file with a name in or below the first of these paths that holds one.
    pub prefer: Vec<PathBuf>,
    /// Then this rule decides.
    pub rule: KeepRule,
}

impl Keep {
    /// Returns this with absolute paths.
    pub(crate) fn absolute(&self) -> Self {
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Self { prefer: self.prefer.iter().map(absolute).collect(), rule: self.rule }
    }

    /// Moves the file to be kept to the front. The paths must be absolute.
    pub(crate) fn choose(&self, table: &Table, copies: &mut [Duplicate]) {
        let best = (0..copies.len()).min_by_key(|&index| {
            let names = &copies[index].names;
            (self.priority(table, names), self.rank(table, names), index)
        });
        if let Some(best) = best {
            copies[..=best].rotate_right(1);
        }
    }

    fn priority(&self, table: &Table, names: &[Row]) -> usize {
        if self.prefer.is_empty() {
            return 0;
        }
        let priorities = names.iter().map(|&row| {
            let path = table.path(row);
            let path = std::path::absolute(&path).unwrap_or(path);
            self.prefer.iter().position(|prefix| path.starts_with(prefix))
        });
        priorities.flatten().min().unwrap_or(self.prefer.len())
    }

    fn rank(&self, table: &Table, names: &[Row]) -> i64 {
        let mtime = || table.mtime(names[0]);
        match self.rule {
            KeepRule::First => 0,
            KeepRule::Newest => mtime().map_or(i64::MAX, |mtime| mtime.saturating_neg()),
            KeepRule::Oldest => mtime().unwrap_or(i64::MAX),
            KeepRule::ShortestPath => {
                let lengths = names.iter().map(|&row| table.path(row).as_os_str().len() as i64);
                lengths.min().unwrap_or(i64::MAX)
            }
        }
    }
}
