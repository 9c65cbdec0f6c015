//! `changes --for`: the lists for rsync, restic and rclone.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};

use crate::harness::TestEnv;

/// Returns the paths of a list, which is stored in the file `list`.
fn listed(env: &TestEnv, program: &str, end: u8) -> Vec<String> {
    let output = env.transect(["changes", "--for", program, "tree"]).exits(0);
    fs::write(env.path("list"), &output.stdout).unwrap();
    output.paths(end).iter().map(|path| String::from_utf8_lossy(path).into()).collect()
}

#[test]
fn changes_for_lists_what_each_program_needs() {
    let env = TestEnv::new();
    for directory in ["tree/same/deep", "tree/gone/deep", "tree/old", "tree/mode", "tree/type/x"] {
        let _ = env.mkdir(directory);
        env.write(format!("{directory}/file"), 10);
    }
    env.text("tree/#written", "before");
    env.text("tree/removed", "");
    let _ = env.transect(["keep", "tree"]).exits(0);
    let root = env.path("tree");
    // Neither the size nor the time of the content tells.
    let file = File::options().write(true).open(root.join("#written")).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.write_all_at(b"again!", 0).unwrap();
    file.set_modified(modified).unwrap();
    fs::remove_file(root.join("removed")).unwrap();
    fs::remove_dir_all(root.join("gone")).unwrap();
    fs::rename(root.join("old"), root.join("new")).unwrap();
    fs::set_permissions(root.join("mode"), PermissionsExt::from_mode(0o700)).unwrap();
    fs::remove_dir_all(root.join("type")).unwrap();
    fs::write(root.join("type"), "").unwrap();
    fs::create_dir(root.join("empty")).unwrap();

    let expected =
        ["./#written", "empty", "gone", "mode", "new", "new/file", "old", "removed", "type"];
    assert_eq!(listed(&env, "rsync", 0), expected);
    // One file in the directory whose mode changed.
    let expected = ["#written", "empty", "mode/file", "new/file", "type"];
    assert_eq!(listed(&env, "restic", 0), expected);
    let expected =
        ["#written", "gone/deep/file", "new/file", "old/file", "removed", "type", "type/x/file"];
    assert_eq!(listed(&env, "rclone", b'\n'), expected);

    let output = env.transect(["changes", "--for", "rsync", "tree"]).exits(0);
    assert!(
        output.stderr_text().contains("not exact, as only a whole subvolume of Btrfs"),
        "{}",
        output.text()
    );
    let refused = env.transect(["changes", "--for", "rsync", "--exact", "tree"]).exits(2);
    assert!(refused.stdout.is_empty());
    assert!(refused.stderr_text().contains("cannot list exactly what changed: only a whole"));

    for name in ["new\nline", "tab\t", "q\u{201b}"] {
        fs::write(root.join("same").join(name), "").unwrap();
    }
    let refused = env.transect(["changes", "--for", "rclone", "tree"]).exits(2);
    assert!(refused.stdout.is_empty());
    let message = "cannot write 'same/new\\nline' and 2 other paths for rclone";
    assert!(refused.stderr_text().contains(message), "{}", refused.text());
}

/// What could not be read is not reported as gone.
#[test]
fn changes_for_unreadable_directory_partial() {
    let env = TestEnv::new();
    let _ = env.mkdir("tree/closed/deep");
    env.write("tree/closed/deep/file", 10);
    let data = env.mkdir("../data");
    env.chmod(&data, 0o777);
    let test = "changes_for_unreadable_directory_partial";
    let Some(kept) = env.transect_unprivileged(test, ["keep", "tree"]) else { return };
    let _ = kept.exits(0);
    let closed = env.path("tree/closed");
    env.chmod(&closed, 0);
    let list = env.transect_unprivileged(test, ["changes", "--for", "rsync", "tree"]);
    let exact = env.transect_unprivileged(test, ["changes", "--for", "rsync", "--exact", "tree"]);
    env.chmod(&closed, 0o755);
    let (Some(list), Some(exact)) = (list, exact) else { return };
    assert_eq!(list.exits(1).stdout_text(), "closed\0");
    let exact = exact.exits(2).stderr_text();
    assert!(exact.contains("something could not be read"), "{exact}");
}
