//! `Level::Checked`: which changes it detects, row by row of `docs/CACHE.md`.

use std::path::Path;
use std::process::Command;

use transect_cache::{CacheOptions, Level};
use transect_testkit::TempDir;

use crate::support::{
    NEVER, eager, let_time_pass, make_dir, oracle, oracle_exists, seen, seen_exists, write,
};

#[test]
fn checked_valid_listing_answers_missing_names() {
    let temp = TempDir::new();
    write(temp.join("file"), "1");
    let_time_pass();
    let cache = eager(Level::Checked);
    let revalidation = cache.revalidation();
    for number in 0..100 {
        assert_eq!(revalidation.exists(temp.join(format!("missing {number}"))), Ok(false));
        assert_eq!(revalidation.exists(temp.join("file")), Ok(true));
    }
    let counts = cache.counts();
    assert_eq!((counts.listings, counts.queries, counts.checks), (1, 0, 0), "{counts:?}");
    // Each of the next revalidations checks the directory once.
    for passes in 1..4 {
        let revalidation = cache.revalidation();
        for number in 0..100 {
            assert_eq!(revalidation.exists(temp.join(format!("missing {number}"))), Ok(false));
        }
        let counts = cache.counts();
        assert_eq!((counts.listings, counts.queries, counts.checks), (1, 0, passes));
    }
}

#[test]
fn checked_attributes_always_queried() {
    let temp = TempDir::new();
    let file = write(temp.join("file"), "1");
    let_time_pass();
    let cache = eager(Level::Checked);
    assert_eq!(cache.get(&file).unwrap().size(), Some(1));
    // This does not change the directory's times.
    write(file.clone(), "12345");
    assert_eq!(cache.get(&file).unwrap().size(), Some(5));
    assert_eq!(seen(&cache.get(&file)), oracle(&file, true));
}

#[test]
fn checked_names_created_removed_renamed_detected() {
    let temp = TempDir::new();
    write(temp.join("one"), "1");
    let cache = eager(Level::Checked);
    let names = ["one", "two", "three"].map(|name| temp.join(name));
    let changes: [&dyn Fn(); 5] = [
        &|| {
            write(temp.join("two"), "2");
        },
        &|| std::fs::remove_file(temp.join("one")).unwrap(),
        &|| std::fs::rename(temp.join("two"), temp.join("three")).unwrap(),
        &|| std::fs::hard_link(temp.join("three"), temp.join("one")).unwrap(),
        &|| std::os::unix::fs::symlink("nowhere", temp.join("two")).unwrap(),
    ];
    // Every other change waits until listings are not racy.
    for (step, change) in changes.iter().enumerate() {
        for path in &names {
            assert_eq!(seen_exists(&cache, path), oracle_exists(path), "before {step}");
        }
        if step % 2 == 0 {
            let_time_pass();
            assert_eq!(seen_exists(&cache, &names[0]), oracle_exists(&names[0]));
        }
        change();
        for path in &names {
            assert_eq!(seen_exists(&cache, path), oracle_exists(path), "after {step}");
        }
    }
}

#[test]
fn checked_racy_listing_not_trusted() {
    let temp = TempDir::new();
    let cache = eager(Level::Checked);
    for round in 0..100 {
        let path = temp.join(format!("file {round}"));
        assert_eq!(cache.exists(&path), Ok(false), "round {round}");
        write(path.clone(), "");
        assert_eq!(cache.exists(&path), Ok(true), "round {round}");
    }
    // Newer kernels distinguish changes within a tick if the directory was queried in between; not
    // all file systems do. So a directory with a time in the future is tested, too: it always
    // counts as young.
    let believed = || {
        cache.clear();
        let before = cache.counts();
        (0..3).for_each(|_| assert_eq!(cache.exists(temp.join("missing")), Ok(false)));
        let after = cache.counts();
        (after.listings - before.listings, after.checks - before.checks)
    };
    touch(temp.path(), "2100-01-01");
    let_time_pass();
    assert_eq!(believed(), (2, 0), "listed, not believed, listed");
    touch(temp.path(), "2001-01-01");
    let_time_pass();
    assert_eq!(believed(), (1, 2), "listed, and checked twice");
}

#[test]
fn checked_mtime_set_back_detected_by_ctime() {
    let temp = TempDir::new();
    let dir = make_dir(temp.join("dir"));
    write(dir.join("file"), "1");
    touch(&dir, "2001-01-01");
    let_time_pass();
    let cache = eager(Level::Checked);
    assert_eq!(cache.exists(dir.join("new")), Ok(false));
    write(dir.join("new"), "1");
    touch(&dir, "2001-01-01");
    assert_eq!(cache.exists(dir.join("new")), Ok(true));
}

fn touch(path: &Path, date: &str) {
    let said = Command::new("touch").args(["-d", date]).arg(path).output().unwrap();
    assert!(said.status.success(), "{said:?}");
}

#[test]
fn checked_directory_replaced_detected() {
    let temp = TempDir::new();
    for dir in ["dir", "other"] {
        make_dir(temp.join(dir));
        write(temp.join(dir).join(dir), "1");
    }
    let_time_pass();
    let cache = eager(Level::Checked);
    let (old, new) = (temp.join("dir/dir"), temp.join("dir/other"));
    assert_eq!((cache.exists(&old), cache.exists(&new)), (Ok(true), Ok(false)));
    std::fs::rename(temp.join("dir"), temp.join("away")).unwrap();
    assert_eq!((cache.exists(&old), cache.exists(&new)), (Ok(false), Ok(false)));
    std::fs::rename(temp.join("other"), temp.join("dir")).unwrap();
    assert_eq!((cache.exists(&old), cache.exists(&new)), (Ok(false), Ok(true)));
}

#[test]
fn checked_parent_renamed_or_link_changed_detected() {
    let temp = TempDir::new();
    make_dir(temp.join("one/dir"));
    make_dir(temp.join("two/dir"));
    write(temp.join("two/dir/file"), "1");
    std::os::unix::fs::symlink("one", temp.join("link")).unwrap();
    let_time_pass();
    let cache = eager(Level::Checked);
    let by_link = temp.join("link/dir/file");
    assert_eq!(cache.exists(&by_link), Ok(false));
    std::fs::remove_file(temp.join("link")).unwrap();
    std::os::unix::fs::symlink("two", temp.join("link")).unwrap();
    assert_eq!(cache.exists(&by_link), Ok(true));
    assert_eq!(cache.exists(temp.join("two/dir/file")), Ok(true));
    std::fs::rename(temp.join("two"), temp.join("three")).unwrap();
    assert_eq!(cache.exists(temp.join("two/dir/file")), Ok(false));
    assert_eq!(cache.exists(temp.join("three/dir/file")), Ok(true));
    assert_eq!(cache.exists(&by_link), Ok(false));
}

#[test]
fn revalidation_checks_directory_once() {
    let temp = TempDir::new();
    let_time_pass();
    let cache = eager(Level::Checked);
    let (revalidation, path) = (cache.revalidation(), temp.join("new"));
    assert_eq!(revalidation.exists(&path), Ok(false));
    write(path.clone(), "");
    assert_eq!(revalidation.exists(&path), Ok(false), "checked once in a pass");
    assert_eq!(cache.exists(&path), Ok(true), "and again in the next");
}

#[test]
fn revalidation_missing_directory_queried_once() {
    let temp = TempDir::new();
    let cache = eager(Level::Checked);
    let revalidation = cache.revalidation();
    for number in 0..50 {
        assert_eq!(revalidation.exists(temp.join(format!("missing/{number}"))), Ok(false));
    }
    let counts = cache.counts();
    assert_eq!((counts.queries, counts.listings_given_up), (0, 1), "{counts:?}");
    make_dir(temp.join("missing"));
    write(temp.join("missing/1"), "");
    assert_eq!(cache.exists(temp.join("missing/1")), Ok(true));
}

#[test]
fn checked_without_listings_every_lookup_queried() {
    let temp = TempDir::new();
    let cache = CacheOptions::new(Level::Checked).costs(NEVER).open().unwrap();
    for _ in 0..10 {
        assert_eq!(cache.exists(temp.join("missing")), Ok(false));
    }
    let counts = cache.counts();
    assert_eq!((counts.queries, counts.hits, counts.checks), (10, 0, 0));
}
