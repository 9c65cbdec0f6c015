//! Removing and linking: what is done, and what is refused.

use std::fs;
use std::path::Path;

use transect::Cancel;
use transect_duplicates::{Action, FindOptions, apply, find};
use transect_testkit::TempDir;

use crate::support::{act, act_after, kept, scan};

const LINK: Action = Action::Link { merge_attributes: false };

fn write(root: &Path, names: &[&str], content: &str) {
    names.iter().for_each(|name| fs::write(root.join(name), content).unwrap());
}

/// Returns the names in a directory, sorted.
fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn id(path: &Path) -> Option<transect_sys::FileId> {
    transect_sys::file::query_attributes(path, transect::FieldMask::FILE_ID, false)
        .unwrap()
        .file_id()
}

/// Changes a file and keeps its length and time.
fn change_unnoticed(path: &Path, content: &str) {
    let before = fs::metadata(path).unwrap();
    assert_eq!(before.len(), content.len() as u64);
    fs::write(path, content).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
}

#[test]
fn remove_keeps_one_file_of_each_group() {
    let temp = TempDir::new();
    write(temp.path(), &["a", "b", "c"], "same");
    write(temp.path(), &["x", "y"], "other");
    write(temp.path(), &["alone"], "alone");
    fs::hard_link(temp.join("b"), temp.join("b2")).unwrap();
    let report = act(temp.path(), Action::Remove);
    assert_eq!(names(temp.path()), ["a", "alone", "x"]);
    assert_eq!((report.report.counts.removed, report.report.counts.kept), (4, 0));
}

#[test]
fn remove_hard_links_of_the_kept_file_stay() {
    let temp = TempDir::new();
    write(temp.path(), &["a", "b"], "same");
    fs::hard_link(temp.join("a"), temp.join("z")).unwrap();
    act(temp.path(), Action::Remove);
    assert_eq!(names(temp.path()), ["a", "z"]);
}

#[test]
fn link_replaces_every_name() {
    let temp = TempDir::new();
    write(temp.path(), &["a", "b", "c"], "same");
    fs::hard_link(temp.join("b"), temp.join("b2")).unwrap();
    let report = act(temp.path(), LINK);
    assert_eq!(report.report.counts.removed, 3, "{:?}", report.report.kept);
    assert_eq!(names(temp.path()), ["a", "b", "b2", "c"]);
    let first = id(&temp.join("a"));
    assert!(["b", "b2", "c"].iter().all(|name| id(&temp.join(name)) == first));
}

#[test]
fn changed_files_stay() {
    for action in [Action::Remove, LINK] {
        let temp = TempDir::new();
        write(temp.path(), &["a", "grown", "same", "unnoticed"], "content");
        let report = act_after(temp.path(), action, || {
            fs::write(temp.join("grown"), "content and more").unwrap();
            change_unnoticed(&temp.join("unnoticed"), "CONTENT");
        });
        assert_eq!(kept(&report), ["grown changed", "unnoticed differs"]);
        assert_eq!(report.report.counts.removed, 1);
        assert_eq!(fs::read_to_string(temp.join("unnoticed")).unwrap(), "CONTENT");
        assert_eq!(fs::read_to_string(temp.join("grown")).unwrap(), "content and more");
    }
}

#[test]
fn copies_stay_if_the_kept_file_changed() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 3] = [
        ("grown", |path| fs::write(path, "content and more").unwrap()),
        ("unnoticed", |path| change_unnoticed(path, "CONTENT")),
        ("removed", |path| fs::remove_file(path).unwrap()),
    ];
    for (change, apply) in changes {
        for action in [Action::Remove, LINK] {
            let temp = TempDir::new();
            write(temp.path(), &["a", "b", "c"], "content");
            let report = act_after(temp.path(), action, || apply(&temp.join("a")));
            assert_eq!(report.report.counts.removed, 0, "{change}");
            assert_eq!(report.report.counts.kept, 2, "{change}");
            for name in ["b", "c"] {
                assert_eq!(fs::read_to_string(temp.join(name)).unwrap(), "content", "{change}");
            }
        }
    }
}

#[test]
fn kept_file_found_by_its_other_name() {
    let temp = TempDir::new();
    write(temp.path(), &["a", "c"], "content");
    fs::hard_link(temp.join("a"), temp.join("b")).unwrap();
    let report = act_after(temp.path(), Action::Remove, || {
        fs::remove_file(temp.join("a")).unwrap();
    });
    assert_eq!(report.report.counts.removed, 1);
    assert_eq!(names(temp.path()), ["b"]);
}

#[test]
fn copy_replaced_by_the_kept_file_stays() {
    let temp = TempDir::new();
    write(temp.path(), &["a", "b"], "content");
    let report = act_after(temp.path(), Action::Remove, || {
        fs::remove_file(temp.join("b")).unwrap();
        fs::rename(temp.join("a"), temp.join("b")).unwrap();
    });
    assert_eq!((names(temp.path()), report.report.counts.removed), (vec!["b".to_owned()], 0));
}

#[test]
fn vanished_copy_is_counted() {
    let temp = TempDir::new();
    write(temp.path(), &["a", "b"], "content");
    let report = act_after(temp.path(), Action::Remove, || {
        fs::remove_file(temp.join("b")).unwrap();
    });
    assert_eq!((report.report.counts.vanished, report.report.counts.kept), (1, 0));
}

#[cfg(unix)]
#[test]
fn symlink_in_place_of_copy_or_directory_stays() {
    use std::os::unix::fs::symlink;
    let temp = TempDir::new();
    for directory in ["a", "b", "elsewhere"] {
        fs::create_dir(temp.join(directory)).unwrap();
    }
    write(temp.path(), &["a/1", "a/2", "b/3"], "content");
    let report = act_after(temp.path(), Action::Remove, || {
        fs::rename(temp.join("a/2"), temp.join("elsewhere/2")).unwrap();
        symlink("../elsewhere/2", temp.join("a/2")).unwrap();
        fs::rename(temp.join("b/3"), temp.join("elsewhere/3")).unwrap();
        fs::remove_dir(temp.join("b")).unwrap();
        symlink("elsewhere", temp.join("b")).unwrap();
    });
    assert_eq!(kept(&report), ["2 changed", "3 changed"]);
    assert_eq!(names(&temp.join("elsewhere")), ["2", "3"]);
}

#[cfg(unix)]
#[test]
fn link_other_permissions_stay_unless_merged() {
    use std::os::unix::fs::PermissionsExt;
    let temp = TempDir::new();
    write(temp.path(), &["a", "b"], "content");
    fs::set_permissions(temp.join("b"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(temp.join("a"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(kept(&act(temp.path(), LINK)), ["b other_attributes"]);
    assert_ne!(id(&temp.join("a")), id(&temp.join("b")));
    let report = act(temp.path(), Action::Link { merge_attributes: true });
    assert_eq!(report.report.counts.removed, 1);
    assert_eq!(id(&temp.join("a")), id(&temp.join("b")));
    assert_eq!(fs::metadata(temp.join("b")).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn link_names_outside_the_scan_not_separated() {
    let temp = TempDir::new();
    fs::create_dir(temp.join("in")).unwrap();
    write(temp.path(), &["in/a", "in/b"], "content");
    fs::hard_link(temp.join("in/b"), temp.join("outside")).unwrap();
    let report = act(&temp.join("in"), LINK);
    assert_eq!(report.report.counts.removed, 0);
    assert_eq!(id(&temp.join("in/b")), id(&temp.join("outside")));
}

#[test]
fn cancelled_action_leaves_the_rest() {
    let temp = TempDir::new();
    write(temp.path(), &["a", "b", "c", "d"], "content");
    let table = scan(temp.path());
    let found = find(&table, &FindOptions::default());
    let cancel = Cancel::new();
    let done = apply(&table, &found.groups, Action::Remove, &cancel, &mut |_, _| cancel.cancel());
    assert!(done.unwrap().report.cancelled);
    assert_eq!(names(temp.path()).len(), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn link_across_file_systems_refused() {
    let temp = TempDir::new();
    let mount = match transect_testkit::Mount::tmpfs("1m", &temp.join("mounted")) {
        Ok(mount) => mount,
        Err(error) => {
            return transect_testkit::loudly_skip("link_across_file_systems_refused", &error);
        }
    };
    write(temp.path(), &["a", "mounted/b"], "content");
    assert_eq!(kept(&act(temp.path(), LINK)), ["b other_file_system"]);
    assert_eq!(act(temp.path(), Action::Remove).report.counts.removed, 1);
    assert_eq!(names(mount.path()), [""; 0]);
    assert_eq!(fs::read_to_string(temp.join("a")).unwrap(), "content");
}

/// A file of an overlay and the one below it have different device numbers, and are the same.
#[cfg(target_os = "linux")]
#[test]
fn file_seen_through_another_mount_stays() {
    let temp = TempDir::new();
    for directory in ["lower", "upper", "work"] {
        fs::create_dir(temp.join(directory)).unwrap();
    }
    write(temp.path(), &["lower/a"], "content");
    let path = |name: &str| temp.join(name).display().to_string();
    let options =
        format!("lowerdir={},upperdir={},workdir={}", path("lower"), path("upper"), path("work"));
    let arguments = ["-t", "overlay", "-o", &options, "overlay"];
    let _mount = match transect_testkit::Mount::new(&arguments, &temp.join("merged")) {
        Ok(mount) => mount,
        Err(error) => {
            return transect_testkit::loudly_skip("file_seen_through_another_mount_stays", &error);
        }
    };
    let report = act(temp.path(), Action::Remove);
    assert_eq!(kept(&report), ["a same_file"]);
    assert_eq!(report.report.counts.removed, 0);
    assert_eq!(fs::read_to_string(temp.join("lower/a")).unwrap(), "content");
}
