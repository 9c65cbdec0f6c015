//! The first of many directories that contains a name.

use std::path::PathBuf;

use transect_cache::{CacheOptions, Level};
use transect_testkit::TempDir;

use crate::support::{cache, eager, let_time_pass, make_dir, write};

/// Ten directories: number 3 contains `three.h`, and so on; all contain `common.h`; number 2
/// contains a directory `five.h`.
fn dirs(temp: &TempDir) -> Vec<PathBuf> {
    let names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let dir = |name: &&str| {
        let dir = make_dir(temp.join(name));
        write(dir.join(format!("{name}.h")), name);
        write(dir.join("common.h"), "c");
        dir
    };
    let dirs = names.iter().map(dir).collect();
    make_dir(temp.join("two/five.h"));
    make_dir(temp.join("six/sys"));
    write(temp.join("six/sys/types.h"), "t");
    dirs
}

#[test]
fn resolve_first_directory_wins() {
    let temp = TempDir::new();
    let dirs = dirs(&temp);
    for &level in &[Level::Frozen, Level::Checked, Level::Verified] {
        for cache in [cache(level), eager(level)] {
            let search = cache.search_dirs(&dirs).unwrap();
            for _ in 0..3 {
                let find = |name: &str| {
                    let found = cache.resolve(name, &search).unwrap();
                    found.map(|found| (found.index, found.path, found.attributes.size().unwrap()))
                };
                let at =
                    |index: usize, name: &str, size| Some((index, dirs[index].join(name), size));
                assert_eq!(find("common.h"), at(0, "common.h", 1));
                assert_eq!(find("seven.h"), at(7, "seven.h", 5));
                assert_eq!(find("five.h"), at(5, "five.h", 4), "a directory is nothing to include");
                assert_eq!(find("sys/types.h"), at(6, "sys/types.h", 1));
                assert_eq!(find("../six/six.h"), at(0, "../six/six.h", 3));
                assert_eq!(find("missing.h"), None);
                assert_eq!(find("sys"), None);
            }
            assert!(cache.resolve("", &search).is_err());
            assert!(cache.resolve("/etc/passwd", &search).is_err());
            assert!(cache.resolve("a\0b", &search).is_err());
        }
    }
}

#[test]
fn resolve_missing_names_one_listing_per_directory() {
    let temp = TempDir::new();
    let mut dirs = dirs(&temp);
    dirs.push(temp.join("not/there"));
    let cache = cache(Level::Frozen);
    let search = cache.search_dirs(&dirs).unwrap();
    for number in 0..2000 {
        assert!(cache.resolve(format!("missing{number}.h"), &search).unwrap().is_none());
    }
    let counts = cache.counts();
    assert_eq!(counts.listings, 10, "{counts:?}");
    assert!(counts.queries < 200, "{counts:?}");
    assert_eq!(counts.hits + counts.misses, 2000 * 11, "{counts:?}");
}

#[test]
fn resolve_below_missing_directory_no_query() {
    let temp = TempDir::new();
    let dirs = dirs(&temp);
    for level in [Level::Frozen, Level::Checked] {
        let_time_pass();
        let cache = eager(level);
        let search = cache.search_dirs(&dirs).unwrap();
        let revalidation = cache.revalidation();
        assert!(revalidation.resolve("missing.h", &search).unwrap().is_none());
        let before = cache.counts();
        for number in 0..100 {
            let name = format!("missing/{number}.h");
            assert!(revalidation.resolve(name, &search).unwrap().is_none());
        }
        let after = cache.counts();
        assert_eq!(after.queries, before.queries, "{after:?}");
        assert_eq!(after.listings_given_up, before.listings_given_up, "{after:?}");
        make_dir(dirs[5].join("missing"));
        write(dirs[5].join("missing/7.h"), "");
        cache.clear();
        let found = cache.resolve("missing/7.h", &search).unwrap().unwrap();
        assert_eq!(found.index, 5);
        std::fs::remove_dir_all(dirs[5].join("missing")).unwrap();
    }
}

#[test]
fn resolve_evicted_directories_searched() {
    let temp = TempDir::new();
    let dirs = dirs(&temp);
    let cache = CacheOptions::new(Level::Frozen).memory(1).open().unwrap();
    let search = cache.search_dirs(&dirs).unwrap();
    for _ in 0..3 {
        let found = cache.resolve("nine.h", &search).unwrap().unwrap();
        assert_eq!((found.index, found.attributes.size()), (9, Some(4)));
        assert!(cache.resolve("missing", &search).unwrap().is_none());
    }
    assert!(cache.counts().evictions > 0);
    cache.clear();
    assert_eq!(cache.resolve("nine.h", &search).unwrap().unwrap().index, 9);
}

#[test]
fn resolve_unsearchable_directory_error() {
    let temp = TempDir::new();
    let dirs = dirs(&temp);
    std::os::unix::fs::symlink("loop.h", dirs[4].join("loop.h")).unwrap();
    write(dirs[8].join("loop.h"), "");
    for cache in [cache(Level::Frozen), eager(Level::Checked)] {
        let search = cache.search_dirs(&dirs).unwrap();
        let refusal = cache.resolve("loop.h", &search).unwrap_err();
        assert_eq!(refusal.kind(), Some(transect::FaultKind::Loop));
    }
}
