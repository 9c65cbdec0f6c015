//! At every level, with and without listings, results equal those of the system.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use transect::FaultKind;
use transect_cache::{AttributeCache, CacheOptions, Level, LookupError};
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::support::{
    EAGER, NEVER, cache, eager, make_dir, oracle, oracle_exists, seen, seen_exists, write,
};

/// Caches at every level, with and without listings.
fn caches() -> Vec<(String, AttributeCache)> {
    let mut caches = Vec::new();
    for &level in Level::ALL {
        for (word, costs) in [("eager", EAGER), ("never", NEVER)] {
            let options = CacheOptions::new(level).costs(costs);
            caches.push((format!("{} {word}", level.as_str()), options.open().unwrap()));
        }
    }
    caches
}

/// Looks up every path in every way, twice and in both orders, and compares with the oracle.
fn assert_oracle(paths: &[PathBuf]) {
    for (word, cache) in caches() {
        for turn in 0..2 {
            for path in paths {
                for follow in [true, false] {
                    let answer = if follow { cache.get(path) } else { cache.get_link(path) };
                    let context = format!("{word}, {}, {follow}, turn {turn}", path.display());
                    assert_eq!(seen(&answer), oracle(path, follow), "{context}");
                }
                let exists = seen_exists(&cache, path);
                assert_eq!(exists, oracle_exists(path), "{word}, {}", path.display());
            }
        }
    }
    for (word, cache) in caches() {
        for follow in [true, false, true] {
            let answers = if follow { cache.get_many(paths) } else { cache.get_many_links(paths) };
            for (path, answer) in paths.iter().zip(&answers) {
                let context = format!("{word}, many, {}, {follow}", path.display());
                assert_eq!(seen(answer), oracle(path, follow), "{context}");
            }
        }
        // Enough paths in random order to be sorted by directory.
        let scattered: Vec<&PathBuf> = paths.iter().cycle().take(300.max(paths.len())).collect();
        for (path, answer) in scattered.iter().zip(cache.get_many(&scattered)) {
            assert_eq!(seen(&answer), oracle(path, true), "{word}, scattered, {}", path.display());
        }
    }
}

/// A tree with every kind of path through it.
fn tree(root: &Path) {
    make_dir(root.join("a/b/c"));
    write(root.join("a/file"), "12345");
    write(root.join("a/b/file"), "1");
    write(root.join(OsStr::from_bytes(b"a/not \xff text")), "x");
    make_dir(root.join("empty"));
    for (link, target) in [
        ("to-file", "a/file"),
        ("to-b", "a/b"),
        ("a/b/up", "../.."),
        ("dangling", "nowhere/at/all"),
        ("loop", "loop"),
        ("ping", "pong"),
        ("pong", "ping"),
        ("a/b/c/absolute", root.join("a").to_str().unwrap()),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
}

/// Paths through the tree as users may write them.
fn any_way() -> impl Strategy<Value = String> {
    const PARTS: [&str; 12] =
        ["a", "b", "c", "file", "to-b", "to-file", "up", "dangling", "missing", ".", "..", ""];
    prop::collection::vec(prop::sample::select(&PARTS[..]), 1..8).prop_map(|parts| parts.join("/"))
}

#[test]
fn lookup_random_paths_equal_system() {
    let temp = TempDir::new();
    // So deep that no path leaves the temporary directory.
    let root = make_dir(temp.join("1/2/3/4/5/6/7/8"));
    tree(&root);
    let check = |ways: Vec<String>| {
        for (word, cache) in caches() {
            // The second time from memory.
            for way in ways.iter().chain(&ways) {
                let path = root.join(way);
                let (own, target) = (seen(&cache.get_link(&path)), seen(&cache.get(&path)));
                prop_assert_eq!(target, oracle(&path, true), "{}, {}", word, way);
                prop_assert_eq!(own, oracle(&path, false), "{}, {}", word, way);
            }
        }
        Ok(())
    };
    TestRunner::default().run(&prop::collection::vec(any_way(), 1..12), check).unwrap();
}

#[test]
fn lookup_odd_paths_equal_system() {
    let temp = TempDir::new();
    tree(temp.path());
    let long = "x".repeat(256);
    let longest = "x".repeat(255);
    let far = "y/".repeat(2500);
    let names = [
        "",
        "a",
        "a/",
        "a/.",
        "a/..",
        "a/file",
        "a/file/",
        "a/file/.",
        "a/file/x",
        "a/./file",
        "a//file",
        "./a/../a/file",
        "a/b/../file",
        "to-b/../file",
        "to-b/file",
        "to-b/",
        "to-b/.",
        "to-b",
        "to-file",
        "to-file/",
        "to-file/x",
        "dangling",
        "dangling/",
        "dangling/x",
        "loop",
        "loop/x",
        "ping",
        "a/b/up/a/file",
        "a/b/up/to-b/up/a",
        "a/b/c/absolute/b/file",
        "a/b/c/absolute/../empty",
        "missing",
        "missing/",
        "missing/..",
        "missing/../a",
        "empty/x",
        "empty",
        "a/missing/file",
        "a/b/c/../../file",
        "A",
        "a/FILE",
        &long,
        &longest,
        &far,
    ];
    let mut paths: Vec<PathBuf> = names.iter().map(|name| temp.join(name)).collect();
    paths.push(temp.join(OsStr::from_bytes(b"a/not \xff text")));
    paths.push(temp.join(OsStr::from_bytes(b"a/not \xfe text")));
    paths.push("/".into());
    paths.push("//".into());
    paths.push("/..".into());
    paths.push("/dev/null".into());
    // In a synthetic file system, a listing proves nothing.
    paths.push("/proc/self/exe".into());
    paths.push("/proc/self/missing".into());
    assert_oracle(&paths);
    paths.reverse();
    assert_oracle(&paths);
}

#[test]
fn lookup_invalid_paths_refused() {
    let temp = TempDir::new();
    write(temp.join("file"), "1");
    for (word, cache) in caches() {
        let refusal = |path: &Path| cache.get(path).unwrap_err();
        let invalid = LookupError::System { kind: FaultKind::InvalidName, os_error: None };
        assert_eq!(refusal(&temp.join("a\0b")), invalid, "{word}");
        assert_eq!(refusal(Path::new("")).kind(), Some(FaultKind::NotFound), "{word}");
        assert_eq!(refusal(Path::new("file")), LookupError::NoBase, "{word}");
        let many = cache.get_many(&[Path::new("x"), &temp.join("file"), Path::new("")]);
        assert_eq!(many[0].as_ref().unwrap_err(), &LookupError::NoBase, "{word}");
        assert_eq!(many[1].as_ref().unwrap().size(), Some(1), "{word}");
        assert_eq!(many[2].as_ref().unwrap_err().kind(), Some(FaultKind::NotFound), "{word}");
    }
}

#[test]
fn lookup_relative_path_resolved_from_base() {
    let temp = TempDir::new();
    make_dir(temp.join("base/below"));
    write(temp.join("base/below/file"), "12");
    write(temp.join("beside"), "1");
    let cache = CacheOptions::new(Level::Frozen).base(temp.join("base")).open().unwrap();
    for path in ["below/file", "./below//file", "below/../below/file"] {
        assert_eq!(cache.get(path).unwrap().size(), Some(2), "{path}");
        assert_eq!(cache.get_many(&[path])[0].unwrap().size(), Some(2), "{path}");
    }
    assert_eq!(cache.get("../beside").unwrap().size(), Some(1));
    assert!(cache.get(".").is_ok() && cache.get("..").is_ok());
    let relative = CacheOptions::new(Level::Frozen).base("base").open().unwrap_err();
    assert_eq!(relative.to_string(), "'base' is not an absolute path");
}

#[test]
fn lookup_outside_roots_refused() {
    let temp = TempDir::new();
    make_dir(temp.join("root"));
    write(temp.join("root/file"), "1");
    write(temp.join("secret"), "1");
    for costs in [EAGER, NEVER] {
        let options = CacheOptions::new(Level::Frozen).root(temp.join("root")).costs(costs);
        let cache = options.open().unwrap();
        // The parent of the root is cached, but no other name in it may be looked up.
        assert!(cache.get(temp.join("root")).is_ok());
        assert!(cache.get(temp.join("root/missing")).is_err());
        for path in ["secret", "missing", "root/../secret", "rooted", "", "root/.."] {
            for _ in 0..2 {
                let refused = cache.get(temp.join(path)).unwrap_err();
                assert_eq!(refused, LookupError::OutsideRoots, "{path}");
                let refused = cache.get_many(&[temp.join(path)])[0].unwrap_err();
                assert_eq!(refused, LookupError::OutsideRoots, "{path}");
                assert_eq!(cache.exists(temp.join(path)), Err(LookupError::OutsideRoots), "{path}");
            }
        }
        assert_eq!(cache.search_dirs([temp.path()]).unwrap_err(), LookupError::OutsideRoots);
        assert!(cache.get(temp.join("root/file")).is_ok());
    }
}

#[test]
fn checked_mount_in_path_detected() {
    let temp = TempDir::new();
    let test = "checked_mount_in_path_detected";
    make_dir(temp.join("below/inner"));
    write(temp.join("below/file"), "below");
    let cache = eager(Level::Checked);
    assert_eq!(cache.get(temp.join("below/file")).unwrap().size(), Some(5));
    assert_eq!(cache.exists(temp.join("below/mounted")), Ok(false));
    let mount = match Mount::tmpfs("1m", &temp.join("below")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip(test, reason),
    };
    write(temp.join("below/mounted"), "x");
    let paths: Vec<_> =
        ["below", "below/file", "below/mounted", "below/.."].map(|path| temp.join(path)).into();
    for path in &paths {
        assert_eq!(seen(&cache.get(path)), oracle(path, true), "{}", path.display());
        assert_eq!(seen_exists(&cache, path), oracle_exists(path), "{}", path.display());
    }
    assert_oracle(&paths);
    drop(mount);
    for path in &paths {
        assert_eq!(seen_exists(&cache, path), oracle_exists(path), "{}", path.display());
    }
}

#[test]
fn listing_case_folding_proves_nothing() {
    let test = "listing_case_folding_proves_nothing";
    let temp = TempDir::new();
    // Not every kernel can fold case in ext4, but every kernel has FUSE.
    let (ext4, ntfs) =
        (folding_ext4(&temp), Mount::ntfs(&temp.join("ntfs"), &temp.join("at-ntfs")));
    if let (Err(ext4), Err(ntfs)) = (&ext4, &ntfs) {
        return loudly_skip(test, format!("{ext4}; {ntfs}"));
    }
    for mount in [ext4, ntfs].into_iter().flatten() {
        case_makes_no_difference(&make_dir(mount.path().join("folding")));
    }
}

/// Mounts an ext4 whose directories fold case.
fn folding_ext4(temp: &TempDir) -> Result<Mount, String> {
    let mount = Mount::ext4(&temp.join("ext4"), &["-O", "casefold"], &temp.join("at-ext4"))?;
    let folding = make_dir(mount.path().join("folding"));
    let said = std::process::Command::new("chattr").arg("+F").arg(&folding).output();
    if said.as_ref().is_ok_and(|said| said.status.success()) {
        return Ok(mount);
    }
    Err(format!("case folding cannot be enabled: {said:?}"))
}

fn case_makes_no_difference(folding: &Path) {
    write(folding.join("Header.h"), "12345");
    for (word, cache) in caches() {
        assert!(cache.get(folding.join("missing")).is_err(), "{word}");
        for name in ["Header.h", "header.h", "HEADER.H", "header.h", "header.x"] {
            let path = folding.join(name);
            assert_eq!(seen(&cache.get(&path)), oracle(&path, true), "{word}, {name}");
            assert_eq!(seen_exists(&cache, &path), oracle_exists(&path), "{word}, {name}");
        }
    }
    // The result is stored under the spelling looked up.
    let cache = eager(Level::Frozen);
    assert!(cache.get(folding.join("HEADER.h")).is_ok());
    let queries = cache.counts().queries;
    assert!(cache.get(folding.join("HEADER.h")).is_ok());
    assert_eq!(cache.counts().queries, queries);
}

#[test]
fn lookup_root_deleted_missing_after_clear() {
    let temp = TempDir::new();
    let root = make_dir(temp.join("root"));
    write(root.join("file"), "1");
    let (frozen, checked) = (eager(Level::Frozen), eager(Level::Checked));
    for cache in [&frozen, &checked] {
        assert!(cache.get(root.join("file")).is_ok());
        assert_eq!(cache.exists(root.join("missing")), Ok(false));
    }
    std::fs::remove_dir_all(&root).unwrap();
    assert!(frozen.get(root.join("file")).is_ok(), "nothing is asked twice");
    assert!(checked.get(root.join("file")).unwrap_err().is_missing());
    assert_eq!(checked.exists(root.join("file")), Ok(false));
    frozen.clear();
    assert!(frozen.get(root.join("file")).unwrap_err().is_missing());
    assert_eq!(cache(Level::Frozen).exists(&root), Ok(false));
}

#[test]
fn lookup_denied_not_missing() {
    use std::os::unix::fs::PermissionsExt;
    let test = "answers::lookup_denied_not_missing";
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    if let Some(place) = std::env::var_os(crate::support::AT) {
        let temp = PathBuf::from(place);
        let mut paths = Vec::new();
        for folder in ["closed", "unsearchable", "unlistable"] {
            for name in ["", "file", "missing", "below/file", ".", "file/x"] {
                paths.push(temp.join(folder).join(name));
            }
        }
        let denied = cache(Level::Frozen).get(temp.join("closed/file")).unwrap_err();
        assert_eq!(denied.kind(), Some(FaultKind::Denied));
        return assert_oracle(&paths);
    }
    let temp = TempDir::new();
    mode(temp.path(), 0o755);
    for (folder, bits) in [("closed", 0o000), ("unsearchable", 0o744), ("unlistable", 0o711)] {
        let folder = make_dir(temp.join(folder));
        make_dir(folder.join("below"));
        write(folder.join("file"), "1");
        write(folder.join("below/file"), "1");
        mode(&folder, bits);
    }
    crate::support::as_nobody(test, temp.path());
}
