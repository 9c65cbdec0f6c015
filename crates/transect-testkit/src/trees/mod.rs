//! Trees by name: one for everything that has ever broken a walker.
//!
//! Every function builds its tree in an existing, empty directory.

use std::path::Path;

#[cfg(target_os = "linux")]
mod linux;
mod portable;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::*;
pub use portable::{empty, single, times, very_wide};
#[cfg(windows)]
pub use windows::*;

/// Builds a tree in a directory.
pub type Build = fn(&Path);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TempDir, oracle::oracle};

    #[test]
    fn trees_counts_as_documented() {
        let as_large_as_here = if cfg!(windows) {
            [("wide", 300, 23), ("deep", 40, 41), ("many_small_dirs", 42, 69)]
        } else {
            [("wide", 3500, 1003), ("deep", 300, 301), ("many_small_dirs", 1173, 2059)]
        };
        let everywhere = [("empty", 0, 1), ("single", 1, 1)];
        for (tree, files, directories) in everywhere.into_iter().chain(as_large_as_here) {
            let temp = TempDir::new();
            let build = ALL.iter().find(|(name, _)| *name == tree).unwrap().1;
            build(temp.path());
            let counts = oracle(temp.path()).counts;
            assert_eq!((counts.files, counts.directories), (files, directories), "{tree}");
        }
    }

    #[test]
    fn trees_hard_link_outside_not_counted() {
        let temp = TempDir::new();
        let tree = temp.join("tree");
        std::fs::create_dir(&tree).unwrap();
        hardlinks(&tree);
        // 2 + 3 + 19 + 0 + 1, and where a link and a pipe have names of their own, 1 + 1
        let inside = if cfg!(windows) { 25 } else { 27 };
        assert_eq!(oracle(&tree).counts.hard_links, inside);
        assert_eq!(oracle(temp.path()).counts.hard_links, inside + 2);
    }
}
