//! A plain recursion over `std::fs`: slow, simple and correct.

use std::collections::HashSet;
use std::fs::{DirEntry, Metadata};
use std::path::Path;

use crate::counts::Counts;

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

/// The content of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oracle {
    /// Entries by type, and the sums of their sizes.
    pub counts: Counts,
    /// The path of every entry, sorted as bytes; first the root as it was given.
    pub paths: Vec<Vec<u8>>,
}

/// What the counts need of an entry.
struct Entry {
    kind: EntryKind,
    device: u64,
    /// The file id: the same for all names of a file on one device.
    number: u64,
    size: u64,
    /// `None` where `std` does not provide it.
    allocated: Option<u64>,
}

enum EntryKind {
    File,
    Directory,
    Symlink,
    Other,
}

impl EntryKind {
    fn of(metadata: &Metadata) -> Self {
        match metadata.file_type() {
            it if it.is_dir() => Self::Directory,
            it if it.is_file() => Self::File,
            it if it.is_symlink() => Self::Symlink,
            _ => Self::Other,
        }
    }
}

/// Returns the content of the tree at `root`.
///
/// # Panics
/// If anything cannot be read.
pub fn oracle(root: impl AsRef<Path>) -> Oracle {
    count_tree(root.as_ref(), |_| true)
}

/// Returns the content of the tree at `root` as `find -xdev` finds it: a directory on another
/// device is listed, but neither its size nor its content is read.
///
/// # Panics
/// If anything cannot be read.
pub fn oracle_on_one_device(root: impl AsRef<Path>) -> Oracle {
    let device = expect_readable(root.as_ref(), system::root(root.as_ref())).device;
    count_tree(root.as_ref(), |there| there == device)
}

fn count_tree(root: &Path, enter: impl Fn(u64) -> bool) -> Oracle {
    let mut oracle = Oracle::default();
    let entry = expect_readable(root, system::root(root));
    add(root, &entry, &mut oracle, &mut HashSet::new(), &enter);
    oracle.paths.sort_unstable();
    oracle
}

#[expect(clippy::disallowed_methods, reason = "the oracle is independent of the readers")]
fn add(
    path: &Path,
    entry: &Entry,
    oracle: &mut Oracle,
    seen: &mut HashSet<(u64, u64)>,
    enter: &dyn Fn(u64) -> bool,
) {
    oracle.paths.push(path.as_os_str().as_encoded_bytes().to_vec());
    let counts = &mut oracle.counts;
    counts.allocation_unknown |= entry.allocated.is_none();
    let allocated = entry.allocated.unwrap_or(0);
    match entry.kind {
        EntryKind::File => counts.files += 1,
        EntryKind::Symlink => counts.symlinks += 1,
        EntryKind::Other => counts.others += 1,
        EntryKind::Directory => {
            counts.directories += 1;
            if enter(entry.device) {
                counts.directories_allocated_size += allocated;
                for child in expect_readable(path, std::fs::read_dir(path)) {
                    let child: DirEntry = expect_readable(path, child);
                    let entry = expect_readable(&child.path(), system::listed(&child));
                    add(&child.path(), &entry, oracle, seen, enter);
                }
            }
            return;
        }
    }
    if seen.insert((entry.device, entry.number)) {
        counts.apparent_size += entry.size;
        counts.allocated_size += allocated;
    } else {
        counts.hard_links += 1;
    }
}

fn expect_readable<T>(path: &Path, answer: std::io::Result<T>) -> T {
    answer.unwrap_or_else(|error| panic!("the oracle cannot read '{}': {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::path::MAIN_SEPARATOR_STR;

    use super::*;
    use crate::TempDir;

    #[test]
    fn oracle_small_tree_counts() {
        let temp = TempDir::new();
        std::fs::create_dir_all(temp.join("a/b")).unwrap();
        std::fs::write(temp.join("a/x"), [0; 1000]).unwrap();
        std::fs::write(temp.join("a/b/y"), [0; 24]).unwrap();
        std::fs::hard_link(temp.join("a/x"), temp.join("z")).unwrap();
        let Oracle { counts, paths } = oracle(temp.path());
        assert_eq!(
            (counts.files, counts.directories, counts.symlinks, counts.others),
            (3, 3, 0, 0)
        );
        assert_eq!((counts.apparent_size, counts.hard_links), (1024, 1));
        assert!(counts.allocation_unknown || counts.allocated_size >= 1024);
        let below: Vec<_> =
            ["", "a", "a/b", "a/b/y", "a/x", "z"].iter().map(|path| temp.join(path)).collect();
        let below: Vec<_> = below
            .iter()
            .map(|path| path.as_os_str().as_encoded_bytes())
            // Joining an empty path adds a separator.
            .map(|path| path.strip_suffix(MAIN_SEPARATOR_STR.as_bytes()).unwrap_or(path))
            .collect();
        assert_eq!(paths, below);
    }

    #[cfg(unix)]
    #[test]
    fn oracle_links_not_followed() {
        let temp = TempDir::new();
        std::os::unix::fs::symlink("12345", temp.join("link")).unwrap();
        std::os::unix::fs::symlink(".", temp.join("here")).unwrap();
        let Oracle { counts, paths } = oracle(temp.path());
        assert_eq!((counts.files, counts.directories, counts.symlinks), (0, 1, 2));
        assert_eq!((counts.apparent_size, paths.len()), (6, 3));
    }

    /// As far as Wine distinguishes links from their targets: links to directories.
    #[cfg(windows)]
    #[test]
    fn oracle_wine_links_not_followed() {
        let temp = TempDir::new();
        std::fs::create_dir(temp.join("real")).unwrap();
        let links = u64::from(crate::unix_shell(temp.path(), "ln -s real link").is_some());
        let Oracle { counts, paths } = oracle(temp.path());
        assert_eq!((counts.files, counts.directories, counts.symlinks), (0, 2, links));
        assert_eq!((counts.apparent_size, paths.len() as u64), (0, 2 + links));
    }
}
