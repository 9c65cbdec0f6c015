//! The interface of `walkdir` returns what that crate returns.

use std::path::{Path, PathBuf};

use transect_testkit::{TempDir, trees};

/// Depth, path, whether it is a directory, a file and a link, and the number of an error.
type Found = (usize, PathBuf, [bool; 3], Option<i32>);

/// The same program with either crate: what is in a tree, as returned.
macro_rules! found_by {
    ($krate:ident, $root:expr, $options:expr) => {{
        let (min, max, flags) = $options;
        let [follow, root_links, first, same_device, sort, prune] =
            [1, 2, 4, 8, 16, 32].map(|flag| flags & flag != 0);
        let mut walk = $krate::WalkDir::new($root)
            .min_depth(min)
            .max_depth(max)
            .follow_links(follow)
            .follow_root_links(root_links)
            .contents_first(first)
            .same_file_system(same_device);
        if sort {
            walk = walk.sort_by_key(|entry| std::cmp::Reverse(entry.file_name().to_owned()));
        }
        let keep = move |entry: &$krate::DirEntry| {
            !prune || entry.depth() == 0 || entry.file_name().as_encoded_bytes()[0] % 3 > 0
        };
        let found = walk.into_iter().filter_entry(keep).map(|entry| match entry {
            Ok(entry) => {
                let of = entry.file_type();
                let flags = [of.is_dir(), of.is_file(), entry.path_is_symlink()];
                (entry.depth(), entry.into_path(), flags, None)
            }
            Err(error) => {
                let path = error.path().unwrap_or(Path::new("")).to_owned();
                let number = error.io_error().map(|error| error.raw_os_error().unwrap_or(0));
                (error.depth(), path, [false; 3], number.or(Some(-1)))
            }
        });
        found.collect::<Vec<Found>>()
    }};
}

fn compare(root: &Path, options: (usize, usize, u32)) {
    let expected = {
        use ::walkdir;
        found_by!(walkdir, root, options)
    };
    let found = {
        use transect::walkdir;
        found_by!(walkdir, root, options)
    };
    assert_eq!(found, expected, "{} {options:?}", root.display());
}

#[test]
fn walkdir_any_options_any_tree_same_entries() {
    for &(name, build) in trees::ALL {
        let temp = TempDir::new();
        let root = temp.join(name);
        std::fs::create_dir(&root).unwrap();
        build(&root);
        // Under Wine, every open is a request to another process.
        for flags in (0..64).step_by(if cfg!(windows) { 9 } else { 1 }) {
            // With entries left out after their contents, `walkdir` leaves out what follows, too.
            if flags & 4 != 0 && flags & 32 != 0 {
                continue;
            }
            for (min, max) in [(0, usize::MAX), (0, 0), (1, 1), (2, 3)] {
                compare(&root, (min, max, flags));
            }
        }
        compare(&root.join("missing"), (0, 9, 0));
    }
}

#[test]
#[cfg(unix)]
fn walkdir_links_same_entries() {
    let temp = TempDir::new();
    let at = |path: &str| temp.join(path);
    std::fs::create_dir_all(at("a/b/c")).unwrap();
    std::fs::write(at("a/b/file"), "").unwrap();
    for (target, link) in
        [(".", "a/here"), ("../..", "a/b/top"), ("nowhere", "a/broken"), ("b/file", "a/to_file")]
    {
        std::os::unix::fs::symlink(target, at(link)).unwrap();
    }
    std::os::unix::fs::symlink("a", at("root")).unwrap();
    for root in ["a", "root", "a/b", "a/broken", "a/to_file", "root/b/file"] {
        for flags in 0..64 {
            // There, `walkdir` leaves out too much; returns a root that is a link early; wants its target.
            let differs = match root {
                "root" => flags & 4 != 0,
                "a/broken" => flags & 8 != 0,
                _ => flags & 36 == 36,
            };
            if !differs {
                compare(&at(root), (0, usize::MAX, flags));
            }
        }
    }
}

/// A directory that is skipped is never opened.
#[test]
#[cfg(target_os = "linux")]
fn walkdir_skip_current_dir_nothing_opened() {
    let temp = TempDir::new();
    std::fs::create_dir_all(temp.join("a/closed")).unwrap();
    std::fs::write(temp.join("a/file"), "").unwrap();
    let mut walk = transect::walkdir::WalkDir::new(temp.join("a")).sort_by_file_name().into_iter();
    assert_eq!(walk.next().unwrap().unwrap().depth(), 0);
    let closed = walk.next().unwrap().unwrap();
    assert_eq!(closed.file_name(), "closed");
    std::fs::remove_dir(closed.path()).unwrap();
    walk.skip_current_dir();
    assert_eq!(walk.next().unwrap().unwrap().file_name(), "file");
    assert!(walk.next().is_none() && walk.next().is_none());
}

/// Deeper than directories stay open, and longer than the system's limit of a path.
#[test]
#[cfg(target_os = "linux")]
fn walkdir_deep_and_long_every_entry_found() {
    let temp = TempDir::new();
    let root = temp.join("deep");
    std::fs::create_dir(&root).unwrap();
    let counts = trees::beyond_path_max(&root);
    let entries = counts.files + counts.directories;
    for contents_first in [true, false] {
        let walk = transect::walkdir::WalkDir::new(&root).contents_first(contents_first);
        let found: Result<Vec<_>, _> = walk.into_iter().collect();
        assert_eq!(found.unwrap().len() as u64, entries);
    }
}
