//! `Level::Frozen`: nothing is queried twice until the cache is cleared.

use std::os::unix::fs::symlink;

use transect_cache::{CacheOptions, Level};
use transect_testkit::TempDir;

use crate::support::{NEVER, cache, eager, make_dir, oracle, seen, write};

#[test]
fn frozen_results_stay_until_clear() {
    let temp = TempDir::new();
    let file = write(temp.join("file"), "1");
    let missing = temp.join("missing");
    for cache in [cache(Level::Frozen), eager(Level::Frozen)] {
        write(file.clone(), "1");
        let _ = std::fs::remove_file(&missing);
        assert_eq!(cache.get(&file).unwrap().size(), Some(1));
        assert!(cache.get(&missing).is_err());
        let before = cache.counts();
        write(file.clone(), "changed");
        write(missing.clone(), "came");
        assert_eq!(cache.get(&file).unwrap().size(), Some(1));
        assert!(cache.get(&missing).is_err());
        cache.freeze();
        assert_eq!(cache.get(&file).unwrap().size(), Some(1));
        cache.thaw();
        assert!(cache.get(&missing).is_err(), "a pass between both drops nothing");
        let after = cache.counts();
        assert_eq!(after.hits - before.hits, 4);
        assert_eq!((after.queries, after.listings), (before.queries, before.listings));
        cache.clear();
        assert_eq!(cache.get(&file).unwrap().size(), Some(7));
        assert_eq!(cache.get(&missing).unwrap().size(), Some(4));
    }
}

#[test]
fn frozen_link_target_queried_once() {
    let temp = TempDir::new();
    write(temp.join("file"), "12345");
    symlink("file", temp.join("link")).unwrap();
    symlink("nowhere", temp.join("dangling")).unwrap();
    for cache in [cache(Level::Frozen), eager(Level::Frozen)] {
        for name in ["link", "dangling"] {
            let path = temp.join(name);
            assert_eq!(seen(&cache.get(&path)), oracle(&path, true));
            assert_eq!(seen(&cache.get_link(&path)), oracle(&path, false));
            let queries = cache.counts().queries;
            assert_eq!(seen(&cache.get(&path)), oracle(&path, true));
            assert_eq!(seen(&cache.get_link(&path)), oracle(&path, false));
            assert_eq!(cache.exists(&path), Ok(name == "link"));
            assert_eq!(cache.counts().queries, queries, "{name}");
        }
    }
}

#[test]
fn freeze_at_checked_starts_and_ends_empty() {
    let temp = TempDir::new();
    let file = write(temp.join("file"), "1");
    let cache = CacheOptions::new(Level::Checked).costs(NEVER).open().unwrap();
    assert_eq!(cache.get(&file).unwrap().size(), Some(1));
    write(file.clone(), "12");
    cache.freeze();
    assert_eq!(cache.level(), Level::Frozen);
    assert_eq!(cache.get(&file).unwrap().size(), Some(2), "asked since it is frozen");
    write(file.clone(), "123");
    assert_eq!(cache.get(&file).unwrap().size(), Some(2));
    // A revalidation begun before the thaw answers as it began, and stores nothing.
    let revalidation = cache.revalidation();
    cache.thaw();
    assert_eq!(cache.level(), Level::Checked);
    let _ = revalidation.get(&file);
    assert_eq!(cache.get(&file).unwrap().size(), Some(3));
    cache.freeze();
    assert_eq!(cache.get(&file).unwrap().size(), Some(3));
}

#[test]
fn invalidate_drops_path_and_everything_below() {
    let temp = TempDir::new();
    let dir = make_dir(temp.join("dir/below"));
    let (file, beside) = (write(dir.join("file"), "1"), write(temp.join("beside"), "1"));
    let cache = cache(Level::Frozen);
    for path in [&file, &beside] {
        assert_eq!(cache.get(path).unwrap().size(), Some(1));
        write(path.clone(), "12");
    }
    cache.invalidate(temp.join("dir")).unwrap();
    assert_eq!(cache.get(&file).unwrap().size(), Some(2));
    write(file.clone(), "123");
    cache.invalidate(&file).unwrap();
    assert_eq!(cache.get(&file).unwrap().size(), Some(3));
    cache.invalidate(&beside).unwrap();
    assert_eq!(cache.get(&beside).unwrap().size(), Some(2));
    write(beside.clone(), "");
    cache.clear();
    assert_eq!(cache.get(&beside).unwrap().size(), Some(0));
    let counts = cache.counts();
    assert_eq!((counts.directories, counts.names), (1, 1), "{counts:?}");
}

#[test]
fn frozen_only_requested_fields_returned() {
    use transect::FieldMask;
    let temp = TempDir::new();
    let file = write(temp.join("file"), "1");
    let want = FieldMask::MTIME | FieldMask::UID | FieldMask::NLINK | FieldMask::GID;
    let cache = CacheOptions::new(Level::Frozen).want(want).open().unwrap();
    for _ in 0..2 {
        let got = cache.get(&file).unwrap();
        assert!(got.mtime().is_some() && got.uid().is_some() && got.gid().is_some());
        assert_eq!(got.nlink(), Some(1));
    }
    assert_eq!(cache.get(&file).unwrap().known(), want);
    assert_eq!(cache.get(&file).unwrap().file_type(), transect::FileType::File);
}
