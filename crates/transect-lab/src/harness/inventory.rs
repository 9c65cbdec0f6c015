//! The inventory of a tree, by a plain recursion: the reference for methods and peers.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::harness::work::Work;

/// Entries of a tree by type, the root included. Links are not followed, mount points are crossed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Regular files.
    pub files: TypeTotals,
    /// Directories; their lengths are those of the directories themselves.
    pub directories: TypeTotals,
    /// Symbolic links; their lengths are those of their targets' paths.
    pub symlinks: TypeTotals,
    /// All other types: pipes, sockets, devices.
    pub others: TypeTotals,
    /// Errors as [`Work`] counts them: unreadable directories and entries, and files of unknown length.
    pub errors: u64,
    /// Directories, links and others of unknown length: an error only for programs that query lengths.
    pub unasked: u64,
}

/// All entries of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeTotals {
    /// Number of names, hard links included.
    pub names: u64,
    /// Sum of the lengths of all names, in bytes.
    pub bytes: u64,
    /// The same, each file counted once. Equal to `bytes` on Windows, where `std` reports no link count.
    pub distinct_bytes: u64,
}

impl Inventory {
    /// Takes the inventory of a tree: slow, simple, and sharing no code with any method.
    ///
    /// It keeps a list of pending directories instead of recursing, so deep trees do not overflow the
    /// stack, and the id of every file with several names.
    #[expect(clippy::disallowed_methods, reason = "what peers are compared with shares no reader")]
    pub fn of(root: &Path) -> Self {
        let mut inventory = Self::default();
        let mut seen = HashSet::new();
        inventory.directories.names = 1;
        match std::fs::symlink_metadata(root) {
            Ok(metadata) => inventory.directories.add_lengths(&metadata, &mut seen),
            Err(_) => inventory.unasked += 1,
        }
        let mut waiting = vec![root.to_owned()];
        while let Some(directory) = waiting.pop() {
            let Ok(entries) = std::fs::read_dir(&directory) else {
                inventory.errors += 1;
                continue;
            };
            for entry in entries {
                if entry.and_then(|it| inventory.add(&it, &mut seen, &mut waiting)).is_err() {
                    inventory.errors += 1;
                }
            }
        }
        inventory
    }

    /// Adds an entry, and a directory to the pending ones. Returns errors that [`Work`] counts.
    fn add(
        &mut self,
        entry: &std::fs::DirEntry,
        seen: &mut Seen,
        waiting: &mut Vec<PathBuf>,
    ) -> std::io::Result<()> {
        let file_type = entry.file_type()?;
        let part = if file_type.is_dir() {
            waiting.push(entry.path());
            &mut self.directories
        } else if file_type.is_file() {
            &mut self.files
        } else if file_type.is_symlink() {
            &mut self.symlinks
        } else {
            &mut self.others
        };
        part.names += 1;
        match entry.metadata() {
            Ok(metadata) => part.add_lengths(&metadata, seen),
            Err(error) if file_type.is_file() => return Err(error),
            Err(_) => self.unasked += 1,
        }
        Ok(())
    }

    /// Returns the counts that all methods report.
    pub fn work(&self) -> Work {
        Work {
            files: self.files.names,
            directories: self.directories.names,
            bytes: self.files.bytes,
            errors: self.errors,
        }
    }

    /// Returns the totals of all four types.
    pub fn parts(&self) -> [TypeTotals; 4] {
        [self.files, self.directories, self.symlinks, self.others]
    }
}

/// Files with several names already counted: device and inode.
type Seen = HashSet<(u64, u64)>;

impl TypeTotals {
    fn add_lengths(&mut self, metadata: &Metadata, seen: &mut Seen) {
        self.bytes += metadata.len();
        if is_first_name(metadata, seen) {
            self.distinct_bytes += metadata.len();
        }
    }
}

#[cfg(unix)]
fn is_first_name(metadata: &Metadata, seen: &mut Seen) -> bool {
    use std::os::unix::fs::MetadataExt;
    // The link count of a directory counts its subdirectories; it is found once.
    metadata.is_dir() || metadata.nlink() < 2 || seen.insert((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn is_first_name(_: &Metadata, _: &mut Seen) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use transect_testkit::{TempDir, oracle, trees};

    use super::*;

    #[test]
    fn inventory_matches_hand_count() {
        let temp = TempDir::new();
        std::fs::create_dir_all(temp.join("a/b")).unwrap();
        std::fs::write(temp.join("a/x"), [0; 1000]).unwrap();
        std::fs::write(temp.join("a/b/y"), [0; 24]).unwrap();
        std::fs::hard_link(temp.join("a/x"), temp.join("z")).unwrap();
        std::os::unix::fs::symlink("12345", temp.join("link")).unwrap();
        std::fs::hard_link(temp.join("link"), temp.join("a/link")).unwrap();
        let inventory = Inventory::of(temp.path());
        assert_eq!(inventory.files, TypeTotals { names: 3, bytes: 2024, distinct_bytes: 1024 });
        assert_eq!(inventory.symlinks, TypeTotals { names: 2, bytes: 10, distinct_bytes: 5 });
        assert_eq!((inventory.directories.names, inventory.others), (3, TypeTotals::default()));
        assert_eq!((inventory.errors, inventory.unasked), (0, 0));
    }

    /// Compares two independent recursions.
    #[test]
    fn inventory_matches_oracle_on_named_trees() {
        for (name, build) in trees::ALL {
            let temp = TempDir::new();
            let tree = temp.join("tree");
            std::fs::create_dir(&tree).unwrap();
            build(&tree);
            let inventory = Inventory::of(&tree);
            let counts = oracle::oracle(&tree).counts;
            let names = inventory.parts().map(|part| part.names);
            let expected = [counts.files, counts.directories, counts.symlinks, counts.others];
            assert_eq!(names, expected, "{name}");
            let Inventory { files, symlinks, others, .. } = inventory;
            let distinct = files.distinct_bytes + symlinks.distinct_bytes + others.distinct_bytes;
            assert_eq!(distinct, counts.apparent_size, "{name}");
        }
    }

    #[test]
    fn unreadable_root_counts_one_error() {
        let temp = TempDir::new();
        for root in [temp.join("nowhere"), temp.join("file")] {
            let inventory = Inventory::of(&root);
            let expected = Work { directories: 1, errors: 1, ..Work::default() };
            assert_eq!(inventory.work(), expected);
            std::fs::write(temp.join("file"), "no directory").unwrap();
        }
    }
}
