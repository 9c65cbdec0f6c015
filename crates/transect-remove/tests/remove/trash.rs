//! The trash: in the home, at the top of other file systems, and none at all.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use transect::table::Table;
use transect::{Cancel, FaultKind};
use transect_remove::{KeepReason, Removal, RemovalError, Report, Trash};
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::support::{chosen, gone, is_there, kept, paths, scanned, write};

const DATE: &str = "2026-11-21T19:07:37";

fn user() -> u32 {
    transect_sys::host::effective_user_id().unwrap()
}

fn trash_at<const N: usize>(table: &Table, home: &Path, paths: [&str; N]) -> Report {
    let trash = Trash::new(home.to_owned(), DATE).unwrap();
    chosen(table, paths).trash(&trash, &Cancel::new(), &mut |_, _| {})
}

/// Returns the names in a directory, sorted.
fn names(path: impl AsRef<Path>) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn trash_same_file_system_goes_to_home() {
    let temp = TempDir::new();
    write(temp.join("tree/a/file"), "12345");
    write(temp.join("tree/b/file"), "54321");
    write(temp.join("tree/100% sure"), "1");
    symlink("nowhere", temp.join("tree/link")).unwrap();
    let table = scanned(temp.join("tree"));
    // A new entry moves along, and nothing in it is lost.
    write(temp.join("tree/a/new"), "new");
    let home = temp.join("data/home/Trash");
    let report = trash_at(&table, &home, ["a", "b/file", "100% sure", "link"]);
    assert!(report.is_complete(), "{report:?}");
    assert_eq!((report.counts.removed, report.counts.freed), (4, 0));
    let root = temp.join("tree");
    assert_eq!(gone(&table, &report, &root), paths(["100% sure", "a", "b/file", "link"]));
    assert_eq!(names(&root), ["b"]);
    assert_eq!(names(&home), ["files", "info"]);
    assert_eq!(names(home.join("files")), ["100% sure", "a", "file", "link"]);
    assert_eq!(names(home.join("files/a")), ["file", "new"]);
    let noted = std::fs::read_to_string(home.join("info/100% sure.trashinfo")).unwrap();
    let path = format!("{}/100%25%20sure", root.display());
    assert_eq!(noted, format!("[Trash Info]\nPath={path}\nDeletionDate={DATE}\n"));
    for private in [&home, &home.join("files"), &home.join("info")] {
        assert_eq!(private.metadata().unwrap().mode() & 0o777, 0o700, "{private:?}");
    }
}

#[test]
fn trash_same_name_numbered() {
    let temp = TempDir::new();
    for number in 1..=3 {
        write(temp.join(format!("tree/{number}/file")), number.to_string());
    }
    let table = scanned(temp.join("tree"));
    let home = temp.join("Trash");
    // An entry without an info file.
    write(home.join("files/file.2"), "left");
    let report = trash_at(&table, &home, ["1/file", "2/file", "3/file"]);
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(names(home.join("files")), ["file", "file.2", "file.3", "file.4"]);
    assert_eq!(
        names(home.join("info")),
        ["file.3.trashinfo", "file.4.trashinfo", "file.trashinfo"]
    );
    // In the order of the table, which is that in which threads read the directories.
    let mut numbers = ["file", "file.3", "file.4"].map(|name| {
        let number = std::fs::read_to_string(home.join("files").join(name)).unwrap();
        let info = home.join(format!("info/{name}.trashinfo"));
        let path = format!("{}/{number}/file\n", temp.join("tree").display());
        assert!(std::fs::read_to_string(info).unwrap().contains(&path));
        number
    });
    numbers.sort();
    assert_eq!(numbers, ["1", "2", "3"]);
    assert_eq!(std::fs::read_to_string(home.join("files/file.2")).unwrap(), "left");
}

#[test]
fn trash_changed_entries_kept() {
    let temp = TempDir::new();
    write(temp.join("tree/grown"), "12345");
    write(temp.join("tree/vanished"), "12345");
    write(temp.join("tree/directory/file"), "12345");
    write(temp.join("precious/file"), "12345");
    let table = scanned(temp.join("tree"));
    write(temp.join("tree/grown"), "123456");
    std::fs::remove_file(temp.join("tree/vanished")).unwrap();
    std::fs::remove_dir_all(temp.join("tree/directory")).unwrap();
    symlink("../precious", temp.join("tree/directory")).unwrap();
    let home = temp.join("Trash");
    let report = trash_at(&table, &home, ["grown", "vanished", "directory"]);
    assert_eq!(
        kept(&report, &temp.join("tree")),
        [("directory".into(), KeepReason::Changed), ("grown".into(), KeepReason::Changed)]
    );
    assert_eq!((report.counts.removed, report.counts.vanished), (0, 1));
    assert!(is_there(temp.join("tree/grown")) && is_there(temp.join("precious/file")));
    assert!(!is_there(&home), "nothing was needed");
}

/// A file system with entries to trash, and a home on another one.
struct Elsewhere {
    mount: Mount,
    home: PathBuf,
    temp: TempDir,
}

fn elsewhere(test: &str) -> Option<Elsewhere> {
    let temp = TempDir::new();
    match Mount::tmpfs("4m", &temp.join("memory")) {
        Ok(mount) => {
            write(mount.path().join("a/b/file"), "12345");
            write(mount.path().join("a/other"), "12345");
            Some(Elsewhere { mount, home: temp.join("Trash"), temp })
        }
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

#[test]
fn trash_other_file_system_goes_to_its_top() {
    let Some(there) = elsewhere("trash_other_file_system_goes_to_its_top") else { return };
    let top = there.mount.path();
    let table = scanned(top.join("a"));
    let report = trash_at(&table, &there.home, ["b/file"]);
    assert!(report.is_complete(), "{report:?}");
    let own = top.join(format!(".Trash-{}", user()));
    assert_eq!(names(own.join("files")), ["file"]);
    let note = std::fs::read_to_string(own.join("info/file.trashinfo")).unwrap();
    assert!(note.contains("\nPath=a/b/file\n"), "relative to the top: {note}");
    assert_eq!(own.metadata().unwrap().mode() & 0o777, 0o700);

    // A safe shared trash is preferred.
    let shared = top.join(".Trash");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
    let report = trash_at(&table, &there.home, ["other"]);
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(names(shared.join(user().to_string()).join("files")), ["other"]);
    assert!(!is_there(&there.home), "of no use for another file system");
}

#[test]
fn trash_unsafe_shared_directory_not_used() {
    let test = "trash_unsafe_shared_directory_not_used";
    let Some(there) = elsewhere(test) else { return };
    let top = there.mount.path();
    let table = scanned(top.join("a"));
    let own = top.join(format!(".Trash-{}", user()));
    // Without the sticky bit.
    let shared = top.join(".Trash");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(trash_at(&table, &there.home, ["b/file"]).is_complete());
    assert_eq!((names(&shared), names(own.join("files"))), (vec![], vec!["file".to_owned()]));
    // A link to a directory with the sticky bit.
    std::fs::rename(&shared, top.join("sticky")).unwrap();
    let sticky = std::fs::Permissions::from_mode(0o1777);
    std::fs::set_permissions(top.join("sticky"), sticky).unwrap();
    symlink("sticky", &shared).unwrap();
    assert!(trash_at(&table, &there.home, ["other"]).is_complete());
    assert_eq!(names(top.join("sticky")), [""; 0]);
    assert_eq!(names(own.join("files")), ["file", "other"]);
}

#[test]
fn trash_unavailable_entries_kept() {
    let Some(there) = elsewhere("trash_unavailable_entries_kept") else { return };
    let top = there.mount.path();
    let table = scanned(top.join("a"));
    // A directory of another user, and a link: neither is used.
    let own = top.join(format!(".Trash-{}", user()));
    std::fs::create_dir(&own).unwrap();
    std::os::unix::fs::chown(&own, Some(user() + 1), None).unwrap();
    let report = trash_at(&table, &there.home, ["b/file"]);
    assert_eq!(kept(&report, top), [("a/b/file".into(), KeepReason::NoTrash)]);
    let said = FaultKind::of(report.kept[0].error.as_ref().unwrap());
    assert_eq!(said, FaultKind::Denied);
    assert_eq!(names(&own), [""; 0]);
    std::fs::rename(&own, top.join("aside")).unwrap();
    symlink(there.temp.path(), &own).unwrap();
    let report = trash_at(&table, &there.home, ["b/file"]);
    assert_eq!(kept(&report, top), [("a/b/file".into(), KeepReason::NoTrash)]);
    assert!(is_there(top.join("a/b/file")));
}

#[test]
fn trash_directory_with_mount_kept() {
    let temp = TempDir::new();
    write(temp.join("tree/a/b/file"), "12345");
    let table = scanned(temp.join("tree"));
    let removal = chosen(&table, ["a"]);
    let mount = match Mount::tmpfs("4m", &temp.join("tree/a/b")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("trash_directory_with_mount_kept", reason),
    };
    let trash = Trash::new(temp.join("Trash"), DATE).unwrap();
    let report = removal.trash(&trash, &Cancel::new(), &mut |_, _| {});
    assert_eq!(kept(&report, &temp.join("tree")), [("a".into(), KeepReason::MountBoundary)]);
    let report = trash_at(&table, &temp.join("Trash"), ["a/b"]);
    assert_eq!(kept(&report, &temp.join("tree")), [("a/b".into(), KeepReason::MountBoundary)]);
    assert!(is_there(mount.path()) && !is_there(temp.join("Trash")));
}

#[test]
fn trash_invalid_date_refused() {
    let refused = Trash::new("/nowhere".into(), "today").unwrap_err();
    assert_eq!(refused, RemovalError::Date("today".into()));
    let said = refused.to_string();
    assert_eq!(said, "'today' is not written as 2026-11-21T19:07:37");
}

#[test]
fn restore_brings_back_what_was_trashed() {
    let temp = TempDir::new();
    write(temp.join("tree/a/file"), "12345");
    write(temp.join("tree/b"), "1");
    write(temp.join("tree/c"), "1");
    let table = scanned(temp.join("tree"));
    let home = temp.join("Trash");
    let report = trash_at(&table, &home, ["a", "b", "c"]);
    assert!(report.trashed.iter().all(|entry| entry.trash == home), "{report:?}");
    let [a, b, c] = &report.trashed[..] else { panic!("{report:?}") };
    a.restore().unwrap();
    assert_eq!(std::fs::read_to_string(temp.join("tree/a/file")).unwrap(), "12345");
    assert_eq!(names(home.join("info")), ["b.trashinfo", "c.trashinfo"]);
    // Nothing is replaced, and what is not the entry is not moved.
    write(temp.join("tree/b"), "new");
    assert_eq!(b.restore().unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    std::fs::remove_file(home.join("files/c")).unwrap();
    write(home.join("files/c"), "another");
    // The inode may be used again at once; then it is the same file for all programs.
    let is_same = c.restore().is_ok();
    assert_eq!(is_there(temp.join("tree/c")), is_same);
    assert_eq!(std::fs::read_to_string(temp.join("tree/b")).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(home.join("files/b")).unwrap(), "1");
    assert!(a.restore().is_err(), "it is no longer there");
}

#[test]
fn restore_never_through_links() {
    let temp = TempDir::new();
    write(temp.join("tree/a/file"), "12345");
    let table = scanned(temp.join("tree"));
    let report = trash_at(&table, &temp.join("Trash"), ["a/file"]);
    std::fs::remove_dir(temp.join("tree/a")).unwrap();
    std::fs::create_dir(temp.join("elsewhere")).unwrap();
    symlink("../elsewhere", temp.join("tree/a")).unwrap();
    report.trashed[0].restore().unwrap_err();
    assert!(!is_there(temp.join("elsewhere/file")) && is_there(temp.join("Trash/files/file")));
}

#[test]
fn empty_trash_deletes_entries_and_info() {
    let Some(there) = elsewhere("empty_trash_deletes_entries_and_info") else { return };
    let top = there.mount.path();
    let trash = Trash::new(there.home.clone(), DATE).unwrap();
    assert_eq!(trash.contents(top), Vec::<PathBuf>::new());
    let table = scanned(top.join("a"));
    assert!(trash_at(&table, &there.home, ["b", "other"]).is_complete());
    write(there.temp.join("tree/old"), "1");
    let table = scanned(there.temp.join("tree"));
    assert!(trash_at(&table, &there.home, ["old"]).is_complete());
    let own = top.join(format!(".Trash-{}", user()));
    let mut contents = vec![there.home.join("files"), own.join("files")];
    contents.sort();
    assert_eq!(trash.contents(&top.join("a")), contents);
    // A link that another user could have made is not followed.
    write(there.temp.join("precious/files/file"), "1");
    std::fs::create_dir(top.join(".Trash")).unwrap();
    symlink(there.temp.join("precious"), top.join(".Trash").join(user().to_string())).unwrap();
    assert_eq!(trash.contents(top), contents);

    let builder = transect::table::TableBuilder::new(Removal::COLUMNS);
    let plan = transect::ScanOptions::new(&contents).plan().unwrap();
    let table = plan.run(|| builder.sink()).unwrap().sink.into_table().unwrap();
    let rows: Vec<_> = table.roots().flat_map(|root| table.children(root)).collect();
    let removal = Removal::new(&table, rows).unwrap();
    let report = removal.empty_trash(&Cancel::new(), &mut |_, _| {});
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(report.counts.removed, 4, "a directory with a file, and two files");
    for trash in [own, there.home] {
        assert_eq!(names(trash.join("files")), Vec::<String>::new());
        assert_eq!(names(trash.join("info")), Vec::<String>::new());
    }
    assert!(is_there(there.temp.join("precious/files/file")));
}
