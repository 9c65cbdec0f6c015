//! Random trees, compared with an oracle that reads everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use transect_duplicates::{Duplicates, find};
use transect_testkit::TempDir;

use crate::support::{groups_of, options, scan};

/// Lengths around those that decide how much is read first.
const LENGTHS: [usize; 10] = [0, 1, 4095, 4096, 4097, 8192, 16384, 16385, 24576, 300_000];

/// A file of a tree.
#[derive(Clone, Debug)]
enum File {
    /// A length, and a byte that differs from zeros: the place of it, and its value.
    Content { length: usize, place: usize, value: u8 },
    /// A hard link to an earlier file.
    Link(usize),
}

fn file() -> impl Strategy<Value = File> {
    let content = (0..LENGTHS.len(), 0..4_usize, 0..3_u8)
        .prop_map(|(length, place, value)| File::Content { length: LENGTHS[length], place, value });
    prop_oneof![4 => content, 1 => any::<usize>().prop_map(File::Link)]
}

/// Writes a tree of three directories.
fn make(root: &Path, files: &[File]) {
    let directories = ["", "one", "one/two"];
    fs::create_dir_all(root.join("one/two")).unwrap();
    let mut paths: Vec<PathBuf> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let path = root.join(directories[number % 3]).join(format!("file{number}"));
        match file {
            File::Link(of) if !paths.is_empty() => {
                fs::hard_link(&paths[of % paths.len()], &path).unwrap();
            }
            File::Link(_) => fs::write(&path, "first").unwrap(),
            &File::Content { length, place, value } => {
                let mut content = vec![0; length];
                let at = [0, length / 2, length.saturating_sub(5000), length.saturating_sub(1)];
                if let Some(byte) = content.get_mut(at[place]) {
                    *byte = value;
                }
                fs::write(&path, content).unwrap();
            }
        }
        paths.push(path);
    }
}

/// The content of files, and for each content the sets of names of its files.
type Expected = BTreeSet<BTreeSet<BTreeSet<PathBuf>>>;

/// Reads everything. The content of `identity` identifies a file.
fn oracle(root: &Path, empty_files: bool) -> Expected {
    let mut by_content: BTreeMap<Vec<u8>, BTreeMap<String, BTreeSet<PathBuf>>> = BTreeMap::new();
    for directory in ["", "one", "one/two"] {
        for entry in fs::read_dir(root.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let content = fs::read(&path).unwrap();
                let files = by_content.entry(content).or_default();
                files.entry(identity(&path)).or_default().insert(path);
            }
        }
    }
    let groups = by_content
        .into_iter()
        .filter(|(content, files)| files.len() > 1 && (empty_files || !content.is_empty()));
    groups.map(|(_, files)| files.into_values().collect()).collect()
}

fn identity(path: &Path) -> String {
    let id = transect_sys::file::query_attributes(path, transect::FieldMask::FILE_ID, false);
    format!("{:?}", id.unwrap().file_id().expect("this system has file ids"))
}

fn sets(groups: Vec<Vec<Vec<PathBuf>>>) -> Expected {
    let files = |group: Vec<Vec<PathBuf>>| {
        group.into_iter().map(|names| names.into_iter().collect()).collect()
    };
    groups.into_iter().map(files).collect()
}

fn assert_sorted(found: &Duplicates) {
    let keys: Vec<_> =
        found.groups.iter().map(|group| std::cmp::Reverse((group.freed, group.size))).collect();
    assert!(keys.is_sorted());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_trees_same_groups_as_reading_everything(
        files in prop::collection::vec(file(), 0..40),
        empty_files in any::<bool>(),
        threads in 1..4_usize,
    ) {
        let temp = TempDir::new();
        make(temp.path(), &files);
        let table = scan(temp.path());
        let options = options(|options| {
            (options.empty_files, options.threads) = (empty_files, Some(threads));
        });
        let found = find(&table, &options);
        prop_assert!(found.diagnostics.is_complete());
        prop_assert_eq!(sets(groups_of(&table, &found)), oracle(temp.path(), empty_files));
        assert_sorted(&found);
    }
}
