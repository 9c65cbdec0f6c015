//! Links, names, depth, width, and entries that cannot be removed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use transect::{Cancel, FaultKind};
use transect_remove::{KeepReason, Removal};
use transect_testkit::{
    Mount, TempDir, in_own_process, limit_descriptors, loudly_skip, trees, within,
};

use crate::support::{
    chosen, delete, delete_at, gone, in_memory, is_there, kept, paths, row, rows, scanned, write,
};

#[test]
fn delete_links_targets_kept() {
    let temp = TempDir::new();
    write(temp.join("precious/file"), "12345");
    std::fs::create_dir(temp.join("tree")).unwrap();
    symlink("../precious", temp.join("tree/directory")).unwrap();
    symlink("../precious/file", temp.join("tree/file")).unwrap();
    symlink(temp.join("precious"), temp.join("tree/absolute")).unwrap();
    let table = scanned(temp.path());
    assert!(delete_at(&table, ["tree/directory"]).is_complete());
    assert!(!is_there(temp.join("tree/directory")));
    assert!(delete_at(&table, ["tree"]).is_complete());
    assert!(!is_there(temp.join("tree")) && is_there(temp.join("precious/file")));
}

#[test]
fn delete_link_replacing_directory_not_followed() {
    let temp = TempDir::new();
    for folder in ["tree/a/b", "precious/a/b", "precious/b"] {
        write(temp.join(folder).join("file"), "12345");
    }
    let table = scanned(temp.join("tree"));
    let root = table.roots().next().unwrap();
    let changed = |path: &str| [(path.into(), KeepReason::Changed)];

    // A link as a chosen entry, in its path, and as the root, which the scan did not follow either.
    std::fs::rename(temp.join("tree/a/b"), temp.join("aside")).unwrap();
    symlink("../../precious/b", temp.join("tree/a/b")).unwrap();
    let report = delete_at(&table, ["a"]);
    assert_eq!(kept(&report, temp.path()), changed("tree/a/b"));
    let report = delete_at(&table, ["a/b/file"]);
    assert_eq!(kept(&report, temp.path()), changed("tree/a/b/file"));
    std::fs::remove_file(temp.join("tree/a/b")).unwrap();
    std::fs::rename(temp.join("aside"), temp.join("tree/a/b")).unwrap();
    std::fs::rename(temp.join("tree"), temp.join("aside")).unwrap();
    symlink("precious", temp.join("tree")).unwrap();
    let report = delete_at(&table, ["a"]);
    assert_eq!(kept(&report, temp.path()), changed("tree/a"));
    let report = delete(&Removal::new(&table, [root]).unwrap());
    assert_eq!(kept(&report, temp.path()), changed("tree"));
    for precious in ["precious/a/b/file", "precious/b/file", "aside/a/b/file"] {
        assert!(is_there(temp.join(precious)), "{precious}");
    }
}

#[test]
fn delete_names_not_utf8() {
    let temp = TempDir::new();
    trees::weirdnames(temp.path());
    let table = scanned(temp.path());
    let name = OsStr::from_bytes(b"\xff\xfe");
    let root = table.roots().next().unwrap();
    let removal = Removal::new(&table, table.child(root, name)).unwrap();
    assert!(delete(&removal).is_complete());
    assert!(!is_there(temp.join(name)));
    let removal = Removal::new(&table, table.children(root)).unwrap();
    let report = delete(&removal);
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(report.counts.vanished, 1);
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
}

/// An imported tree may contain names that are paths.
#[test]
fn delete_imported_name_with_separator_kept() {
    let temp = TempDir::new();
    write(temp.join("precious"), "12345");
    std::fs::create_dir(temp.join("root")).unwrap();
    let told = transect_sys::file::attributes_at(&temp.join("precious")).unwrap();
    let own = transect_sys::file::attributes_at(&temp.join("root")).unwrap();
    let mut given = transect::table::TableImporter::new(Removal::COLUMNS);
    given.enter(temp.join("root").as_os_str(), &own);
    given.add_entry("../precious".as_ref(), &told);
    given.leave().unwrap();
    let table = given.finish().unwrap();
    let root = table.roots().next().unwrap();
    let report = delete(&Removal::new(&table, table.children(root)).unwrap());
    assert_eq!((report.counts.removed, report.counts.vanished, report.counts.kept), (0, 0, 1));
    assert!(is_there(temp.join("precious")));
}

#[test]
fn delete_deep_chain_few_descriptors() {
    in_own_process("limits::delete_deep_chain_few_descriptors", || {
        let temp = in_memory();
        std::fs::create_dir(temp.join("chain")).unwrap();
        let levels = 100_000;
        trees::chain_of_levels(&temp.join("chain"), levels);
        let root = temp.path().to_owned();
        within("removing a chain", move || {
            let table = scanned(&root);
            limit_descriptors(64);
            let removal = chosen(&table, ["chain"]);
            assert_eq!(removal.summary().directories, levels + 1);
            let report = delete(&removal);
            assert!(report.is_complete(), "{report:?}");
            assert_eq!(report.counts.removed, levels + 1 + levels / 10);
            assert_eq!(report.gone, rows(&table, ["chain"]));
        });
        assert!(!is_there(temp.join("chain")));
    });
}

/// The entry that keeps the deepest directory is reported, and everything above it is kept.
#[test]
fn delete_deep_entry_kept_path_reported() {
    let temp = TempDir::new();
    let deep: String = (0..100).map(|level| format!("{level}/")).collect();
    write(temp.join(&deep).join("old"), "12345");
    let table = scanned(temp.path());
    write(temp.join(&deep).join("new"), "12345");
    let report = delete_at(&table, ["0"]);
    assert_eq!(kept(&report, temp.path()), [(Path::new(&deep).join("new"), KeepReason::NotSeen)]);
    assert_eq!(gone(&table, &report, temp.path()), [Path::new(&deep).join("old")]);
    assert!(is_there(temp.join(&deep).join("new")));
}

#[test]
fn delete_wide_directory() {
    let temp = TempDir::new();
    std::fs::create_dir(temp.join("crowd")).unwrap();
    let count = 70_000;
    for number in 0..count {
        std::fs::File::create(temp.join("crowd").join(number.to_string())).unwrap();
    }
    let table = scanned(temp.path());
    // One by one, too: their directory is opened once.
    let some = table.children(row(&table, "crowd")).take(1000);
    let report = delete(&Removal::new(&table, some).unwrap());
    assert_eq!((report.is_complete(), report.counts.removed), (true, 1000));
    let report = delete_at(&table, ["crowd"]);
    assert!(report.is_complete());
    assert_eq!((report.counts.removed, report.counts.vanished), (count - 1000 + 1, 1000));
    assert!(!is_there(temp.join("crowd")));
}

#[test]
fn delete_denied_entry_kept_rest_removed() {
    let test = "delete_denied_entry_kept_rest_removed";
    let temp = TempDir::new();
    let mount = match Mount::tmpfs("4m", &temp.join("memory")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip(test, reason),
    };
    let at = mount.path();
    write(at.join("a/before"), "12345");
    write(at.join("a/fixed/file"), "12345");
    write(at.join("a/since"), "12345");
    let table = scanned(at);
    let attribute = |change: &str| {
        let said = Command::new("chattr").arg(change).arg(at.join("a/fixed")).output();
        said.is_ok_and(|said| said.status.success())
    };
    if !attribute("+i") {
        return loudly_skip(test, "no immutable directories here");
    }
    let report = delete_at(&table, ["a"]);
    let thawed = attribute("-i");
    let denied = KeepReason::Failed(FaultKind::Denied);
    assert_eq!(kept(&report, at), [("a/fixed/file".into(), denied)]);
    assert_eq!(gone(&table, &report, at), paths(["a/before", "a/since"]));
    assert!(report.kept[0].error.is_some() && is_there(at.join("a/fixed/file")));
    assert!(thawed && delete_at(&table, ["a"]).is_complete());
}

#[test]
fn delete_read_only_file_system_nothing_removed() {
    let test = "delete_read_only_file_system_nothing_removed";
    let temp = TempDir::new();
    write(temp.join("tree/a/file"), "12345");
    let source = temp.join("tree");
    let bound = temp.join("bound");
    let options = ["--bind", "-o", "ro", source.to_str().unwrap()];
    let _mount = match Mount::new(&options, &bound) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip(test, reason),
    };
    let table = scanned(&bound);
    let report = delete_at(&table, ["a"]);
    assert_eq!((report.counts.removed, report.counts.freed, report.counts.kept), (0, 0, 1));
    let told = report.kept[0].to_string();
    assert!(told.ends_with("a/file': Read-only file system"), "{told}");
    assert!(report.gone.is_empty() && is_there(temp.join("tree/a/file")));
}

/// A directory opened again from below must be the same.
#[test]
fn delete_directory_moved_away_not_followed() {
    let temp = TempDir::new();
    let path = |levels: u32| (0..levels).map(|level| format!("{level}/")).collect::<String>();
    write(temp.join(path(100)).join("file"), "12345");
    write(temp.join("elsewhere/9/precious"), "12345");
    let table = scanned(temp.path());
    let mut moved = false;
    let report = chosen(&table, ["0"]).delete(&Cancel::new(), &mut |_, _| {
        if !moved {
            let moving = Path::new(&path(11)).to_owned();
            std::fs::rename(temp.join(moving), temp.join("elsewhere/9/10")).unwrap();
            moved = true;
        }
    });
    let expected = Path::new(&path(11)).to_owned();
    assert_eq!(kept(&report, temp.path()), [(expected, KeepReason::Changed)]);
    assert_eq!(
        report.counts.removed,
        1 + 89,
        "the file, and what lies below the one that was moved"
    );
    assert_eq!(std::fs::read_dir(temp.join("elsewhere/9")).unwrap().count(), 2);
    assert!(is_there(temp.join(path(10))) && is_there(temp.join("elsewhere/9/precious")));
}
