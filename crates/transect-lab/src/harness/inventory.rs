//! The inventory of a tree, by a plain recursion: the reference for methods and peers.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::harness::reference_walk::{self, Entry, EntryAttributes, Failed, Visitor};
use crate::harness::tree_digest::TreeDigest;
use crate::harness::work::Work;

/// Entries of a tree by type, the root included. Links are not followed, mount points are crossed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    pub files: TypeTotals,
    /// Directories; their lengths are those of the directories themselves.
    pub directories: TypeTotals,
    /// Symbolic links; their lengths are those of their targets' paths.
    pub symlinks: TypeTotals,
    pub others: TypeTotals,
    /// Errors as [`Work`] counts them: unreadable directories and entries, and files of unknown length.
    pub errors: u64,
    /// Directories, links and others of unknown length: an error only for programs that query lengths.
    pub unasked: u64,
    /// The digest of files and directories; `None` in sessions of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<TreeDigest>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeTotals {
    pub names: u64,
    /// Sum of the lengths of all names, in bytes.
    pub bytes: u64,
    /// The same, each file counted once. Equal to `bytes` on Windows, where `std` reports no link count.
    pub distinct_bytes: u64,
}

impl Inventory {
    /// Takes the inventory of a tree, of any depth and with paths of any length.
    pub fn of(root: &Path) -> Self {
        Self::take(root, &mut |_, _, _| {})
    }

    /// Takes the inventory of a tree; `failed` receives each of its errors.
    pub(crate) fn take(root: &Path, failed: &mut Failed<'_>) -> Self {
        let (mut inventory, mut digest) = (Self::default(), TreeDigest::default());
        let (mut seen, mut errors) = (Seen::new(), 0);
        inventory.directories.names = 1;
        match reference_walk::attributes(root) {
            Ok(attributes) => inventory.directories.add_lengths(attributes, &mut seen),
            Err(_) => inventory.unasked += 1,
        }
        let prefix = digest.add_root();
        let mut entry = |Entry { parent, name, file_type, attributes }: Entry<'_>| {
            let part = match file_type {
                it if it.is_file() => &mut inventory.files,
                it if it.is_dir() => &mut inventory.directories,
                it if it.is_symlink() => &mut inventory.symlinks,
                _ => &mut inventory.others,
            };
            part.names += 1;
            match attributes {
                Some(attributes) => {
                    part.add_lengths(attributes, &mut seen);
                    if file_type.is_file() {
                        digest.add_file(parent, name, attributes.length);
                    }
                }
                None => inventory.unasked += u64::from(!file_type.is_file()),
            }
            file_type.is_dir().then(|| digest.add_directory(parent, name))
        };
        let mut failed = |operation, path: &Path, error| {
            errors += 1;
            failed(operation, path, error);
        };
        let visitor = Visitor { entry: &mut entry, failed: &mut failed };
        reference_walk::walk(root, prefix, visitor);
        Self { digest: Some(digest), errors, ..inventory }
    }

    pub fn work(&self) -> Work {
        Work {
            files: self.files.names,
            directories: self.directories.names,
            bytes: self.files.bytes,
            errors: self.errors,
        }
    }

    pub fn parts(&self) -> [TypeTotals; 4] {
        [self.files, self.directories, self.symlinks, self.others]
    }
}

/// Files with several names already counted: device and inode.
type Seen = HashSet<(u64, u64)>;

impl TypeTotals {
    fn add_lengths(&mut self, attributes: EntryAttributes, seen: &mut Seen) {
        self.bytes += attributes.length;
        if attributes.shared_id.is_none_or(|id| seen.insert(id)) {
            self.distinct_bytes += attributes.length;
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
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

    /// The paths are longer than the system accepts, and the tree deeper than a stack.
    #[cfg(target_os = "linux")]
    #[test]
    fn inventory_complete_beyond_path_max_and_30000_levels_deep() {
        type Build = fn(&Path) -> transect_testkit::Counts;
        let deepest: Build = |at| trees::chain_of_levels(at, 30_000);
        for (name, build) in [("long", trees::beyond_path_max as Build), ("deep", deepest)] {
            let temp = TempDir::new();
            let counts = build(temp.path());
            let work = Inventory::of(temp.path()).work();
            let Work { files, directories, bytes, errors } = work;
            let found = (files, directories, bytes, errors);
            let expected = (counts.files, counts.directories, counts.apparent_size, 0);
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn inventory_complete_with_directories_on_both_sides_of_every_level() {
        let temp = TempDir::new();
        let mut path = temp.path().to_owned();
        for level in 0..100 {
            for name in ["before", "x", "z-after"] {
                std::fs::create_dir(path.join(name)).unwrap();
                std::fs::write(path.join(name).join("file"), vec![0; level]).unwrap();
            }
            path.push("x");
        }
        let inventory = Inventory::of(temp.path());
        let work = Work { files: 300, directories: 301, bytes: 3 * 4950, errors: 0 };
        assert_eq!(inventory.work(), work);
    }

    #[test]
    fn inventory_digest_finds_file_exchanged_for_link() {
        let digest = |build: &dyn Fn(&Path)| {
            let temp = TempDir::new();
            std::fs::write(temp.join("file"), "12345").unwrap();
            build(temp.path());
            Inventory::of(temp.path()).digest.unwrap()
        };
        let empty = digest(&|at| std::fs::write(at.join("a"), "").unwrap());
        let link = digest(&|at| std::os::unix::fs::symlink("file", at.join("a")).unwrap());
        let other = digest(&|at| std::fs::write(at.join("b"), "").unwrap());
        assert!(empty != link && empty != other && link != other);
        assert_eq!(empty, digest(&|at| std::fs::write(at.join("a"), "").unwrap()));
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
