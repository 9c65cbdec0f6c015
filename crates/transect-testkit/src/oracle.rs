//! A plain recursion over `std::fs`: slow, simple and right.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::counts::Counts;

/// What is in a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oracle {
    /// How many of everything, and how large.
    pub counts: Counts,
    /// The path of every entry, the root first as it was given, sorted as bytes.
    pub paths: Vec<Vec<u8>>,
}

/// Returns what is in the tree at `root`.
///
/// # Panics
/// If anything cannot be read: an oracle does not guess.
pub fn oracle(root: impl AsRef<Path>) -> Oracle {
    let mut oracle = Oracle::default();
    let mut seen = HashSet::new();
    add(root.as_ref(), &mut oracle, &mut seen, &|_| true);
    oracle.paths.sort_unstable();
    oracle
}

/// Returns what is in the tree at `root` as `find -xdev` sees it: a directory on another device is
/// there, but neither its size nor what is in it is looked at.
///
/// # Panics
/// If anything cannot be read.
#[expect(clippy::disallowed_methods, reason = "the oracle is independent of the readers")]
pub fn oracle_on_one_device(root: impl AsRef<Path>) -> Oracle {
    let device = std::fs::symlink_metadata(root.as_ref()).expect("the root can be asked").dev();
    let mut oracle = Oracle::default();
    let mut seen = HashSet::new();
    add(root.as_ref(), &mut oracle, &mut seen, &|there| there == device);
    oracle.paths.sort_unstable();
    oracle
}

#[expect(clippy::disallowed_methods, reason = "the oracle is independent of the readers")]
fn add(
    path: &Path,
    oracle: &mut Oracle,
    seen: &mut HashSet<(u64, u64)>,
    enter: &dyn Fn(u64) -> bool,
) {
    let metadata = must(path, std::fs::symlink_metadata(path));
    oracle.paths.push(path.as_os_str().as_bytes().to_vec());
    let counts = &mut oracle.counts;
    let file_type = metadata.file_type();
    if file_type.is_dir() {
        counts.directories += 1;
        if enter(metadata.dev()) {
            counts.directories_allocated_size += metadata.blocks() * 512;
            for entry in must(path, std::fs::read_dir(path)) {
                add(&must(path, entry).path(), oracle, seen, enter);
            }
        }
        return;
    }
    if file_type.is_file() {
        counts.files += 1;
    } else if file_type.is_symlink() {
        counts.symlinks += 1;
    } else {
        counts.others += 1;
    }
    if seen.insert((metadata.dev(), metadata.ino())) {
        counts.apparent_size += metadata.size();
        counts.allocated_size += metadata.blocks() * 512;
    } else {
        counts.hard_links += 1;
    }
}

fn must<T>(path: &Path, answer: std::io::Result<T>) -> T {
    answer.unwrap_or_else(|error| panic!("the oracle cannot read '{}': {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TempDir;

    #[test]
    fn the_oracle_counts_a_tree_that_was_counted_by_hand() {
        let temp = TempDir::new();
        std::fs::create_dir_all(temp.join("a/b")).unwrap();
        std::fs::write(temp.join("a/x"), [0; 1000]).unwrap();
        std::fs::write(temp.join("a/b/y"), [0; 24]).unwrap();
        std::fs::hard_link(temp.join("a/x"), temp.join("z")).unwrap();
        std::os::unix::fs::symlink("12345", temp.join("link")).unwrap();
        let Oracle { counts, paths } = oracle(temp.path());
        assert_eq!(
            (counts.files, counts.directories, counts.symlinks, counts.others),
            (3, 3, 1, 0)
        );
        assert_eq!((counts.apparent_size, counts.hard_links), (1029, 1));
        assert!(counts.allocated_size >= 1024);
        let root = temp.path().as_os_str().as_bytes();
        let below: Vec<_> = paths
            .iter()
            .map(|path| path.strip_prefix(root).unwrap())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        assert_eq!(below, ["", "/a", "/a/b", "/a/b/y", "/a/x", "/link", "/z"]);
    }
}
