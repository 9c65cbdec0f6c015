//! What is found, and how failures are reported.

use std::fs;
use std::path::Path;

use transect::table::TableBuilder;
use transect::{Cancel, FieldMask, Operation, ScanOptions};
use transect_duplicates::{COLUMNS, FindOptions, KeepRule, find};
use transect_testkit::TempDir;

use crate::support::{groups_of, keeping, lines, options, scan, scan_with};

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn set_age(path: &Path, seconds: u64) {
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn groups_sorted_by_freed_bytes() {
    let temp = TempDir::new();
    let large = "large".repeat(10_000);
    let files =
        [("a/1", "small"), ("a/2", "other"), ("b/1", "small"), ("b/2", &large), ("b/3", &large)];
    write(temp.path(), &files);
    let table = scan(temp.path());
    let found = find(&table, &FindOptions::default());
    assert_eq!(lines(temp.path(), &table, &found), ["b/2, b/3", "a/1, b/1"]);
    assert_eq!(found.groups[0].size, large.len() as u64);
    assert_eq!(found.groups[0].digest, *blake3::hash(large.as_bytes()).as_bytes());
    assert_eq!(found.groups[0].copies[0].freed, 0);
    assert_eq!(found.groups[0].freed, found.groups[0].copies[1].freed);
}

#[test]
fn hard_links_are_one_file() {
    let temp = TempDir::new();
    write(temp.path(), &[("a", "same"), ("b", "same"), ("x", "alone")]);
    for (of, name) in [("a", "c"), ("x", "y")] {
        fs::hard_link(temp.join(of), temp.join(name)).unwrap();
    }
    let table = scan(temp.path());
    let found = find(&table, &FindOptions::default());
    assert_eq!(lines(temp.path(), &table, &found), ["a = c, b"]);
}

#[test]
fn names_outside_the_scan_free_nothing() {
    let temp = TempDir::new();
    write(temp.path(), &[("in/a", "same"), ("in/b", "same"), ("out/x", "y")]);
    fs::hard_link(temp.join("in/b"), temp.join("out/c")).unwrap();
    let table = scan(&temp.join("in"));
    let found = find(&table, &FindOptions::default());
    let group = &found.groups[0];
    assert_eq!((group.freed, group.copies[1].has_other_names), (0, true));
    assert!(!group.copies[0].has_other_names);
}

#[test]
fn search_below_directory_ignores_the_rest() {
    let temp = TempDir::new();
    write(
        temp.path(),
        &[("in/a", "same"), ("in/deep/b", "same"), ("in/c", "twice"), ("d", "twice")],
    );
    fs::hard_link(temp.join("in/deep/b"), temp.join("e")).unwrap();
    for columns in [COLUMNS, FieldMask::MTIME | FieldMask::FILE_ID] {
        let builder = TableBuilder::new(columns);
        let plan = ScanOptions::new([temp.path()]).plan().unwrap();
        let table = plan.run(|| builder.sink()).unwrap().sink.into_table().unwrap();
        let root = table.roots().next().unwrap();
        let below = table.child(root, "in".as_ref());
        let found = find(&table, &options(|options| options.below = below));
        let inside = temp.join("in");
        assert_eq!(lines(&inside, &table, &found), ["a, deep/b"]);
        let group = &found.groups[0];
        assert!(group.copies[1].has_other_names, "its other name is not below the directory");
        assert_eq!((group.freed, group.copies[1].freed), (0, 0));
        let all = find(&table, &FindOptions::default());
        let kept = all.groups.iter().flat_map(|group| &group.copies);
        assert!(kept.into_iter().all(|copy| !copy.has_other_names), "all names are known");
    }
}

#[test]
fn root_given_twice_files_counted_once() {
    let temp = TempDir::new();
    write(temp.path(), &[("a", "same"), ("sub/b", "other"), ("sub/c", "same")]);
    let inside = temp.join("sub");
    let roots = [temp.path(), temp.path(), &inside, &inside.join("../sub")];
    let table = scan_with(ScanOptions::new(roots));
    let found = find(&table, &FindOptions::default());
    let groups = groups_of(&table, &found);
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!(groups[0].len(), 2, "{groups:?}");
}

#[cfg(unix)]
#[test]
fn symlinks_never_followed_unless_asked() {
    use std::os::unix::fs::symlink;
    let temp = TempDir::new();
    write(temp.path(), &[("tree/a", "same"), ("outside/b", "same")]);
    symlink("a", temp.join("tree/link")).unwrap();
    symlink("../outside", temp.join("tree/directory")).unwrap();
    let root = temp.join("tree");
    let table = scan(&root);
    assert!(find(&table, &FindOptions::default()).groups.is_empty());
    let table = scan_with(ScanOptions::new([&root]).follow_links(true));
    let found = find(&table, &options(|options| options.follow = true));
    assert!(found.diagnostics.is_complete(), "{:?}", found.diagnostics);
    assert_eq!(lines(&root, &table, &found), ["a = link, directory/b"]);
}

#[test]
fn keep_rules_choose_the_first_file() {
    let temp = TempDir::new();
    write(temp.path(), &[("a/long name", "same"), ("b/name", "same"), ("c/the name", "same")]);
    for (name, age) in [("a/long name", 2000), ("b/name", 3000), ("c/the name", 1000)] {
        set_age(&temp.join(name), age);
    }
    let table = scan(temp.path());
    let first = |options: &FindOptions| {
        let found = find(&table, options);
        let line = lines(temp.path(), &table, &found).remove(0);
        line.split(", ").next().unwrap().to_owned()
    };
    assert_eq!(first(&keeping(KeepRule::First)), "a/long name");
    assert_eq!(first(&keeping(KeepRule::Newest)), "b/name");
    assert_eq!(first(&keeping(KeepRule::Oldest)), "c/the name");
    assert_eq!(first(&keeping(KeepRule::ShortestPath)), "b/name");
    let prefer = vec![temp.join("missing"), temp.join("c"), temp.join("b")];
    let mut keep = keeping(KeepRule::Newest);
    keep.keep.prefer = prefer;
    assert_eq!(first(&keep), "c/the name");
    // Names are compared, not bytes: `c/the` is not a directory above `c/the name`.
    let keep = options(|options| options.keep.prefer = vec![temp.join("c/the")]);
    assert_eq!(first(&keep), "a/long name");
}

#[test]
fn files_that_changed_or_vanished_are_errors() {
    let temp = TempDir::new();
    let names = ["a", "b", "grown", "replaced", "shrunk", "touched", "vanished"];
    names.iter().for_each(|name| write(temp.path(), &[(name, "same")]));
    let table = scan(temp.path());
    write(temp.path(), &[("grown", "same and more"), ("shrunk", "s"), ("new", "same")]);
    set_age(&temp.join("touched"), 1000);
    fs::remove_file(temp.join("vanished")).unwrap();
    let old = fs::metadata(temp.join("replaced")).unwrap().modified().unwrap();
    fs::rename(temp.join("new"), temp.join("replaced")).unwrap();
    let replaced = fs::File::options().write(true).open(temp.join("replaced")).unwrap();
    replaced.set_modified(old).unwrap();
    let found = find(&table, &FindOptions::default());
    assert_eq!(lines(temp.path(), &table, &found), ["a, b"]);
    assert_eq!((found.changed, found.diagnostics.errors), (4, 5));
    let errors = found.diagnostics.kept_errors.iter();
    let failed: Vec<_> = errors.map(|it| it.path().file_name().unwrap()).collect();
    assert_eq!(failed, ["grown", "replaced", "shrunk", "touched", "vanished"]);
    assert!(found.diagnostics.kept_errors.iter().all(|it| it.operation() == Operation::ReadFile));
}

#[cfg(unix)]
#[test]
fn file_replaced_by_a_pipe_does_not_block() {
    let temp = TempDir::new();
    write(temp.path(), &[("a", "same"), ("b", "same"), ("pipe", "same"), ("link", "same")]);
    let table = scan(temp.path());
    fs::remove_file(temp.join("pipe")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(temp.join("pipe")).status();
    assert!(made.unwrap().success());
    fs::remove_file(temp.join("link")).unwrap();
    std::os::unix::fs::symlink("a", temp.join("link")).unwrap();
    let root = temp.path().to_owned();
    let found = transect_testkit::within("a search", move || {
        let found = find(&table, &FindOptions::default());
        (lines(&root, &table, &found), found.diagnostics.errors)
    });
    assert_eq!(found, (vec!["a, b".to_owned()], 2));
}

#[test]
fn cancelled_search_reports_it() {
    let temp = TempDir::new();
    write(temp.path(), &[("a", "same"), ("b", "same")]);
    let table = scan(temp.path());
    let cancel = Cancel::new();
    cancel.cancel();
    let found = find(&table, &options(|options| options.cancel = cancel));
    assert!(found.interrupted && found.groups.is_empty());
}

#[cfg(unix)]
#[test]
fn paths_of_any_length_are_read() {
    let temp = TempDir::new();
    transect_testkit::trees::beyond_path_max(temp.path());
    let table = scan(temp.path());
    let found = find(&table, &options(|options| options.empty_files = true));
    assert!(found.diagnostics.is_complete(), "{:?}", found.diagnostics.kept_errors);
}

#[cfg(unix)]
#[test]
fn names_of_any_bytes_are_read() {
    use std::os::unix::ffi::OsStrExt;
    let temp = TempDir::new();
    let names: [&[u8]; 4] = [b"new\nline", b"not\xffutf8", b"\x1b[2J", b" -rf"];
    for name in names {
        fs::write(temp.join(std::ffi::OsStr::from_bytes(name)), "same").unwrap();
    }
    let table = scan(temp.path());
    let found = find(&table, &FindOptions::default());
    assert_eq!(found.groups[0].copies.len(), 4);
}
