//! `Level::Watched`: which changes it detects, and what happens to lost notifications, row by row
//! of `docs/CACHE.md`.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use transect_cache::{AttributeCache, CacheCosts, CacheOptions, Level};
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::support::{
    EAGER, NEVER, cache, costs, eager, make_dir, oracle, oracle_exists, seen, seen_exists,
    watching, write,
};

/// The first of [`caches`] watch at the first lookup.
const WATCHING_AT_ONCE: usize = 3;

/// Caches that list always, never, and when it pays; and that watch after some lookups, or not yet.
fn caches() -> [AttributeCache; 6] {
    let with = |costs| CacheOptions::new(Level::Watched).costs(costs).open().unwrap();
    let (soon, listing) = (watching(5_000), costs(1_000_000, 1, u64::MAX));
    let (never, default) = (with(NEVER), with(CacheCosts::new()));
    [eager(Level::Watched), never, cache(Level::Watched), with(soon), with(listing), default]
}

/// Looks up every path, makes a change, and compares later lookups with the oracle.
fn assert_change_detected(what: &str, paths: &[PathBuf], change: impl Fn(), undo: impl Fn()) {
    for cache in caches() {
        for turn in 0..2 {
            for path in paths {
                assert_eq!(seen(&cache.get(path)), oracle(path, true), "{what}, before");
                assert_eq!(seen(&cache.get_link(path)), oracle(path, false), "{what}, before");
            }
            change();
            assert!(cache.settle());
            for path in paths {
                let context = format!("{what}, turn {turn}, {}", path.display());
                assert_eq!(seen(&cache.get(path)), oracle(path, true), "{context}");
                assert_eq!(seen(&cache.get_link(path)), oracle(path, false), "{context}");
                assert_eq!(seen_exists(&cache, path), oracle_exists(path), "{context}");
            }
            undo();
            assert!(cache.settle());
        }
        assert_eq!(cache.counts().lost, 0);
        assert_eq!(cache.counts().unwatched, 0, "{what}");
    }
}

#[test]
fn watched_unchanged_files_not_queried_again() {
    let temp = TempDir::new();
    let files: Vec<PathBuf> =
        (0..20).map(|number| write(temp.join(format!("file{number}")), "1")).collect();
    for cache in caches().into_iter().take(WATCHING_AT_ONCE) {
        let ask = || {
            for path in &files {
                assert_eq!(cache.get(path).unwrap().size(), Some(1));
                assert_eq!(cache.exists(path.with_extension("missing")), Ok(false));
            }
        };
        ask();
        let before = cache.counts();
        // Reading is not a change.
        files.iter().for_each(|file| drop(std::fs::read(file).unwrap()));
        assert!(cache.settle());
        ask();
        let after = cache.counts();
        assert_eq!(after.hits - before.hits, 40, "{after:?}");
        assert_eq!((after.queries, after.listings), (before.queries, before.listings));
        assert!(after.watches > 0);
        // Only the changed file is queried again.
        write(files[3].clone(), "12");
        assert!(cache.settle());
        assert_eq!(cache.get(&files[3]).unwrap().size(), Some(2));
        ask_all_but(&cache, &files, 3);
        assert_eq!(cache.counts().queries, after.queries + 1);
        write(files[3].clone(), "1");
    }
}

fn ask_all_but(cache: &AttributeCache, files: &[PathBuf], left_out: usize) {
    for (number, file) in files.iter().enumerate() {
        if number != left_out {
            assert_eq!(cache.get(file).unwrap().size(), Some(1));
        }
    }
}

#[test]
fn watched_file_changes_detected() {
    let temp = TempDir::new();
    let file = write(temp.join("file"), "1");
    let paths = [file.clone(), temp.join("other")];
    let rewrite = || drop(write(file.clone(), "1"));
    let mode = |mode| std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    assert_change_detected("written", &paths, || drop(write(file.clone(), "12345")), rewrite);
    assert_change_detected(
        "truncated",
        &paths,
        || drop(std::fs::File::create(&file).unwrap()),
        rewrite,
    );
    assert_change_detected("permitted", &paths, || mode(0o600), || mode(0o644));
    let back = || {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        std::fs::File::open(&file).unwrap().set_modified(time).unwrap();
    };
    assert_change_detected("set back", &paths, back, rewrite);
    let other = temp.join("other");
    let rename = |from: &Path, to: &Path| std::fs::rename(from, to).unwrap();
    assert_change_detected("renamed", &paths, || rename(&file, &other), || rename(&other, &file));
    assert_change_detected("removed", &paths, || std::fs::remove_file(&file).unwrap(), rewrite);
    let replace = || {
        write(temp.join("new"), "123");
        rename(&temp.join("new"), &file);
    };
    assert_change_detected("replaced", &paths, replace, rewrite);
}

#[test]
fn watched_entries_created_and_removed_detected() {
    let temp = TempDir::new();
    let dir = make_dir(temp.join("dir"));
    let names = ["dir/new", "dir/sub", "dir/sub/x", "dir/sub/y/z", "dir", "dir/sub/", "other/new"];
    let paths: Vec<PathBuf> = names.iter().map(|name| temp.join(name)).collect();
    let remove = |path: PathBuf| {
        let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
    };
    let (new, sub) = (dir.join("new"), dir.join("sub"));
    assert_change_detected(
        "a file",
        &paths,
        || drop(write(new.clone(), "1")),
        || remove(new.clone()),
    );
    let deep = || {
        make_dir(sub.join("y"));
        write(sub.join("y/z"), "1");
        write(sub.join("x"), "12");
    };
    assert_change_detected("directories", &paths, deep, || remove(sub.clone()));
    assert_change_detected(
        "a link",
        &paths,
        || symlink("..", &sub).unwrap(),
        || remove(sub.clone()),
    );
    assert_change_detected(
        "a file for a directory",
        &paths,
        || drop(write(sub.clone(), "")),
        || remove(sub.clone()),
    );
    let other = temp.join("other");
    let away = || std::fs::rename(&dir, &other).unwrap();
    assert_change_detected("the directory's name", &paths, away, || {
        std::fs::rename(&other, &dir).unwrap()
    });
    let swap = || {
        std::fs::rename(&dir, temp.join("kept")).unwrap();
        make_dir(dir.clone());
        write(dir.join("new"), "other");
    };
    let back = || {
        remove(dir.clone());
        std::fs::rename(temp.join("kept"), &dir).unwrap();
    };
    assert_change_detected("another directory", &paths, swap, back);
    let gone = || remove(dir.clone());
    assert_change_detected("no directory", &paths, gone, || drop(make_dir(dir.clone())));
}

#[test]
fn watched_changes_in_path_detected() {
    let temp = TempDir::new();
    for way in ["one", "two"] {
        make_dir(temp.join(way).join("a/b"));
        write(temp.join(way).join("a/b/file"), way);
        write(temp.join(way).join("top"), way);
    }
    write(temp.join("two/a/b/more"), "");
    let link = temp.join("link");
    symlink("one", &link).unwrap();
    symlink(temp.join("link/a"), temp.join("chain")).unwrap();
    let names = [
        "link/a/b/file",
        "link/a/b/more",
        "link/a/b/../../top",
        "chain/b/file",
        "chain/../top",
        "link",
        "one/a/b/file",
    ];
    let paths: Vec<PathBuf> = names.iter().map(|name| temp.join(name)).collect();
    let lead = |to: &str| {
        std::fs::remove_file(&link).unwrap();
        symlink(to, &link).unwrap();
    };
    assert_change_detected("a link's target", &paths, || lead("two"), || lead("one"));
    assert_change_detected("a dangling link", &paths, || lead("nowhere"), || lead("one"));
    assert_change_detected("a loop", &paths, || lead("link"), || lead("one"));
    let rename = |from: &str, to: &str| std::fs::rename(temp.join(from), temp.join(to)).unwrap();
    assert_change_detected(
        "a parent's name",
        &paths,
        || rename("one/a", "one/z"),
        || rename("one/z", "one/a"),
    );
    let exchange = || {
        rename("one", "three");
        rename("two", "one");
        rename("three", "two");
    };
    assert_change_detected("two parents", &paths, exchange, exchange);
}

#[test]
fn watched_parent_permissions_changed_detected() {
    // Root has access everywhere; the query shows that the directory was dropped.
    let temp = TempDir::new();
    let file = write(make_dir(temp.join("a/b")).join("file"), "1");
    let cache = cache(Level::Watched);
    assert!(cache.get(&file).is_ok());
    let queries = cache.counts().queries;
    std::fs::set_permissions(temp.join("a"), PermissionsExt::from_mode(0o700)).unwrap();
    assert!(cache.settle());
    assert!(cache.get(&file).is_ok());
    assert_eq!(cache.counts().queries, queries + 1);
}

#[test]
fn watched_link_targets_and_directories_queried() {
    let (temp, elsewhere) = (TempDir::new(), TempDir::new());
    let target = write(elsewhere.join("target"), "1");
    symlink(&target, temp.join("link")).unwrap();
    make_dir(temp.join("dir"));
    for cache in caches() {
        write(target.clone(), "1");
        for path in ["link", "dir"].map(|name| temp.join(name)) {
            assert_eq!(seen(&cache.get(&path)), oracle(&path, true));
        }
        // Neither is an event of a watched directory.
        write(target.clone(), "12345");
        write(temp.join("dir/new"), "");
        for path in ["link", "dir"].map(|name| temp.join(name)) {
            assert_eq!(seen(&cache.get(&path)), oracle(&path, true));
        }
        std::fs::remove_file(temp.join("dir/new")).unwrap();
    }
}

#[test]
fn watched_other_hard_link_not_detected() {
    let (temp, elsewhere) = (TempDir::new(), TempDir::new());
    let file = write(temp.join("file"), "1");
    let other = elsewhere.join("other");
    std::fs::hard_link(&file, &other).unwrap();
    let cache = cache(Level::Watched);
    assert_eq!(cache.get(&file).unwrap().size(), Some(1));
    write(other, "12345");
    assert!(cache.settle());
    // Documented: use another level where this matters.
    assert_eq!(cache.get(&file).unwrap().size(), Some(1));
    cache.invalidate(&file).unwrap();
    assert_eq!(cache.get(&file).unwrap().size(), Some(5));
}

#[test]
fn watched_bind_mount_second_path_checked() {
    let test = "watched_bind_mount_second_path_checked";
    let temp = TempDir::new();
    let file = write(make_dir(temp.join("dir")).join("file"), "1");
    let source = temp.join("dir");
    let mount = Mount::new(&["--bind", source.to_str().unwrap()], &temp.join("bound"));
    let mount = match mount {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip(test, reason),
    };
    let bound = mount.path().join("file");
    let cache = cache(Level::Watched);
    for path in [&file, &bound] {
        assert_eq!(cache.get(path).unwrap().size(), Some(1));
    }
    assert_eq!(cache.counts().unwatched, 1, "the second is checked");
    for content in ["12", "123"] {
        write(bound.clone(), content);
        assert!(cache.settle());
        for path in [&file, &bound] {
            assert_eq!(seen(&cache.get(path)), oracle(path, true), "{}", path.display());
        }
    }
}

#[test]
fn watched_synthetic_file_system_checked() {
    let cache = cache(Level::Watched);
    let path = Path::new("/proc/self/stat");
    assert!(cache.get(path).is_ok());
    let counts = cache.counts();
    assert_eq!(counts.unwatched, 1);
    assert!(cache.get(path).is_ok());
    assert_eq!(cache.counts().queries, counts.queries + 1, "asked each time");
}

#[test]
fn watched_limit_of_options_reached_checked() {
    let temp = TempDir::new();
    let files: Vec<PathBuf> = (0..20)
        .map(|number| write(make_dir(temp.join(format!("dir{number}"))).join("file"), "1"))
        .collect();
    let options = CacheOptions::new(Level::Watched).watches(10).costs(EAGER);
    let cache = options.open().unwrap();
    for content in ["1", "12", "123"] {
        for file in &files {
            write(file.clone(), content);
        }
        assert!(cache.settle());
        for file in &files {
            assert_eq!(seen(&cache.get(file)), oracle(file, true));
            assert_eq!(cache.exists(file.with_extension("h")), Ok(false));
        }
    }
    let counts = cache.counts();
    assert_eq!(counts.watches, 10);
    assert!(counts.unwatched >= 10, "{counts:?}");
    // Evicted directories release their watches.
    cache.clear();
    assert_eq!(cache.counts().watches, 0);
    assert!(cache.get(&files[19]).is_ok());
    assert_eq!(cache.counts().unwatched, counts.unwatched);
}

#[test]
fn watched_changes_while_frozen_seen_after_thaw() {
    let temp = TempDir::new();
    let (file, late) = (write(temp.join("file"), "1"), temp.join("late"));
    symlink("file", temp.join("link")).unwrap();
    make_dir(temp.join("dir"));
    for cache in caches() {
        write(file.clone(), "1");
        let paths = [&file, &late, &temp.join("link"), &temp.join("dir")];
        let ask = |context: &str| {
            for path in paths {
                assert_eq!(seen(&cache.get(path)), oracle(path, true), "{context}");
            }
        };
        ask("at first");
        cache.freeze();
        ask("frozen");
        write(file.clone(), "12345");
        write(late.clone(), "");
        write(temp.join("dir/new"), "");
        assert_eq!(cache.get(&file).unwrap().size(), Some(1), "frozen");
        assert_eq!(cache.get(temp.join("link")).unwrap().size(), Some(1), "frozen");
        assert!(cache.get(&late).is_err(), "frozen");
        cache.thaw();
        assert!(cache.settle());
        ask("thawed");
        cache.freeze();
        ask("frozen again");
        cache.thaw();
        std::fs::remove_file(&late).unwrap();
        std::fs::remove_file(temp.join("dir/new")).unwrap();
    }
}

/// The system's own limit, lowered in a user namespace of this test.
#[test]
fn watched_limit_of_system_reached_checked() {
    const LIMIT: &str = "/proc/sys/user/max_inotify_watches";
    const INSIDE: &str = "TRANSECT_CACHE_NAMESPACE";
    let test = "watched::watched_limit_of_system_reached_checked";
    if std::env::var_os(INSIDE).is_some() {
        let temp = TempDir::new();
        let files: Vec<PathBuf> = (0..20)
            .map(|number| write(make_dir(temp.join(format!("dir{number}"))).join("file"), "1"))
            .collect();
        std::fs::write(LIMIT, "8").unwrap();
        let cache = cache(Level::Watched);
        for content in ["1", "12", "123"] {
            for file in &files {
                write(file.clone(), content);
            }
            assert!(cache.settle());
            for file in &files {
                assert_eq!(seen(&cache.get(file)), oracle(file, true));
            }
        }
        let counts = cache.counts();
        assert!(counts.watches > 2 && counts.watches <= 8, "{counts:?}");
        assert!(counts.unwatched >= 13, "{counts:?}");
        return;
    }
    let probe = format!("test -w {LIMIT} && echo 8 > {LIMIT}");
    let unshare = |arguments: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--user", "--map-root-user"]).args(arguments).env(INSIDE, "1").output()
    };
    if !unshare(&["sh", "-c", &probe]).is_ok_and(|said| said.status.success()) {
        return loudly_skip(test, "no user namespace with limits of its own is to be had");
    }
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().expect("a path of tests is text");
    let output = unshare(&[program, test, "--exact", "--nocapture"]).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{complained}");
}

/// A closure of headers, as a compiler reads it: watching would cost ten times as much as it saves.
#[test]
fn watched_small_set_not_watched_until_it_pays() {
    let temp = TempDir::new();
    let files: Vec<PathBuf> = (0..65)
        .map(|number| {
            let dir = make_dir(temp.join(format!("dir{}", number % 6)));
            write(dir.join(format!("header{number}.h")), "1")
        })
        .collect();
    for batch in [false, true] {
        let cache = CacheOptions::new(Level::Watched).open().unwrap();
        let ask = || match batch {
            true => cache.get_many(&files).iter().all(Result::is_ok),
            false => files.iter().all(|file| cache.get(file).is_ok()),
        };
        assert!(ask());
        let counts = cache.counts();
        assert_eq!((counts.watches, counts.unwatched), (0, 0), "{counts:?}");
        assert!(counts.queries == 65, "{counts:?}");
        // Those who ask on pay at most twice.
        let mut rounds = 1;
        while cache.counts().watches == 0 {
            rounds += 1;
            assert!(rounds < 1000 && ask(), "{:?}", cache.counts());
        }
        let CacheCosts { query, watcher, .. } = CacheCosts::new();
        let paid = cache.counts().queries * query;
        assert!((watcher..watcher + 2 * 65 * query).contains(&paid), "{:?}", cache.counts());
        // Every directory is watched at its next lookup, and then answers from memory.
        assert!(ask() && ask());
        let queries = cache.counts().queries;
        assert!(ask());
        assert_eq!(cache.counts().queries, queries);
    }
}

/// What a frozen cache stores of a directory that is not watched is not used after `thaw`.
#[test]
fn watched_unwatched_directory_forgotten_by_thaw() {
    let temp = TempDir::new();
    let file = write(temp.join("file"), "1");
    let [missing, other] = ["missing", "other"].map(|name| temp.join(name));
    // The second name that is missing causes a listing.
    let options = CacheOptions::new(Level::Watched).costs(costs(20, 13, u64::MAX));
    let cache = options.open().unwrap();
    cache.freeze();
    assert!(cache.get(&file).is_ok());
    std::fs::remove_file(&file).unwrap();
    crate::support::let_time_pass();
    assert_eq!([&missing, &other].map(|path| cache.exists(path)), [Ok(false); 2]);
    assert_eq!(cache.counts().listings, 1);
    assert!(cache.get(&file).is_ok(), "frozen");
    cache.thaw();
    for path in [&file, &missing, &other] {
        assert_eq!(seen_exists(&cache, path), oracle_exists(path));
        assert_eq!(seen(&cache.get(path)), oracle(path, true));
    }
    assert_eq!(cache.counts().watches, 0);
}
