//! Finds a subtree that is small enough to be walked many times.

use std::path::{Path, PathBuf};

/// Fewest entries of a sample tree: a smaller one mostly measures the start of a walk.
pub const SMALLEST_SAMPLE_TREE: u64 = 500;

/// A tree that is small enough to be walked many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleTree {
    /// Its root: the path itself, or a directory below it.
    pub root: PathBuf,
    pub entries: u64,
}

/// Returns `path` if it has at most `most` entries, or else its largest subdirectory that has, or the first
/// one with more than half of that. If all subdirectories are too small, or none fits, it searches a
/// subdirectory that is too large. A tree that cannot be divided is returned whole. A path that cannot be
/// read has no entries.
pub fn sample_tree(path: &Path, most: u64) -> SampleTree {
    let whole = SampleTree { root: path.to_owned(), entries: count(path, most) };
    if whole.entries <= most {
        return whole;
    }
    let (mut largest, mut too_large): (Option<SampleTree>, _) = (None, None);
    for root in directories(path) {
        let entries = count(&root, most);
        if entries > most {
            too_large = too_large.or(Some(root));
        } else if largest.as_ref().is_none_or(|largest| entries > largest.entries) {
            largest = Some(SampleTree { root, entries });
            // Large enough; do not count the rest.
            if entries > most / 2 {
                break;
            }
        }
    }
    match (largest.filter(|largest| largest.entries >= SMALLEST_SAMPLE_TREE), too_large) {
        (Some(largest), _) => largest,
        (None, Some(too_large)) => sample_tree(&too_large, most),
        // Counted to its end: calls and times are divided by this number.
        (None, None) => SampleTree { entries: count(path, u64::MAX), ..whole },
    }
}

#[expect(clippy::disallowed_methods, reason = "one directory, to choose what is measured")]
fn directories(path: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_directory =
        |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|file_type| file_type.is_dir());
    entries.filter(is_directory).map(|entry| entry.path())
}

/// Counts the entries of a tree that can be read, root included, until there are more than `most`.
fn count(path: &Path, most: u64) -> u64 {
    let entries = transect::walk(path).into_iter().flatten();
    entries.take((most as usize).saturating_add(1)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn sample_tree_is_path_or_largest_fitting_subdirectory() {
        let temp = TempDir::new();
        for (name, files) in [("small", 20), ("large/inner", 700), ("large/other", 600)] {
            std::fs::create_dir_all(temp.join(name)).unwrap();
            for file in 0..files {
                std::fs::write(temp.join(name).join(file.to_string()), "").unwrap();
            }
        }
        let of = |most| {
            let sample_tree = sample_tree(temp.path(), most);
            (sample_tree.root.strip_prefix(temp.path()).unwrap().to_owned(), sample_tree.entries)
        };
        assert_eq!(of(10_000), (PathBuf::new(), 1325));
        // `large/other` is not large enough to end the search, whatever the order of the listing.
        assert_eq!(of(1300), (PathBuf::from("large/inner"), 701));
        assert_eq!(of(650), (PathBuf::from("large/other"), 601));
        assert_eq!(sample_tree(&temp.join("missing"), 10).entries, 0);
        assert_eq!(sample_tree(&temp.join("small"), 10).entries, 21, "it cannot be divided");
    }
}
