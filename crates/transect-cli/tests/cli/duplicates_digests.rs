//! `transect duplicates --digests`: which files are opened again, and files of digests that cannot be used.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::Signal;
use serde_json::Value;
use transect_sys::host::{now, proves_changes};
use transect_testkit::wait_until;

use crate::harness::{TestEnv, skip};

/// Creates two large files and two small ones of the same content, and two more of the same lengths, all of them old enough for
/// their digests to be kept.
fn old_tree(test: &str) -> Option<TestEnv> {
    let env = TestEnv::new();
    if !proves_changes(&env.path("")) {
        return skip(test, "the file system of the test does not prove changes");
    }
    env.mkdir("tree");
    for (name, content) in [("one", "same"), ("two", "same"), ("other", "SAME")] {
        env.text(format!("tree/small-{name}"), content);
        env.text(format!("tree/large-{name}"), &content.repeat(10_000));
    }
    wait_until_old(&env, "tree/large-other");
    Some(env)
}

fn wait_until_old(env: &TestEnv, newest: &str) {
    let changed = fs::metadata(env.path(newest)).expect("a file").ctime();
    wait_until("the files are older than two seconds", || now() > (changed + 3) * 1_000_000_000);
}

fn duplicates(env: &TestEnv) -> Value {
    env.transect(["duplicates", "--json", "--digests", "digests", "tree"]).exits(0).quiet().json()
}

#[test]
fn digests_second_run_opens_no_unchanged_file() {
    let test = "digests_second_run_opens_no_unchanged_file";
    let Some(env) = old_tree(test) else { return };
    if !env.has("strace") {
        return skip(test, "there is no strace").unwrap_or_default();
    }
    let plain = env.transect(["duplicates", "--json", "tree"]).exits(0).quiet().json();
    let first = duplicates(&env);
    assert_eq!(first["groups"], plain["groups"]);
    assert_eq!(first["bytes_read"], plain["bytes_read"]);
    let inode = || fs::metadata(env.path("digests")).expect("a file").ino();
    let written = inode();
    let opened = || {
        let trace = "strace -f -qq -o calls -e trace=open,openat,openat2";
        let run = "\"$TRANSECT\" duplicates --json --digests digests tree";
        let found = env.sh(&format!("{trace} {run}")).exits(0).quiet().json();
        let calls = fs::read_to_string(env.path("calls")).expect("UTF-8");
        assert!(calls.contains("\"tree\"") && calls.contains("\"digests\""), "{calls}");
        let count = |name: &str| calls.matches(&format!("\"{name}\"")).count();
        (found, ["small-one", "small-other", "large-one", "large-two", "large-other"].map(count))
    };
    let (second, calls) = opened();
    // Where files can share blocks, those in groups are opened to query what they share.
    let can_share = env.sh("stat -fc %T tree | grep -qE 'btrfs|xfs'").code == Some(0);
    assert!(can_share || calls == [0; 5], "{calls:?}");
    assert_eq!((&second["groups"], &second["bytes_read"]), (&first["groups"], &0.into()));
    assert_eq!(inode(), written, "the same digests are not written again");
    // Only the changed file is opened: its length and mtime are as before.
    let file = fs::File::options().write(true).open(env.path("tree/large-two")).unwrap();
    let mtime = file.metadata().unwrap().modified().unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"S", 20_000).unwrap();
    file.set_modified(mtime).unwrap();
    let (third, calls) = opened();
    assert_eq!(third["group_count"], 1);
    assert_ne!(inode(), written);
    assert!(can_share || calls == [0, 0, 0, 2, 0], "{calls:?}");
}

#[test]
fn digests_unusable_file_refused_and_kept() {
    let test = "digests_unusable_file_refused_and_kept";
    let Some(env) = old_tree(test) else { return };
    let _ = duplicates(&env);
    let whole = fs::read(env.path("digests")).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let newer = [b"transect digests 99: x\n", &whole[..]].concat();
    for (content, reason) in [
        (&whole[..whole.len() - 1], "it is damaged; remove it"),
        (&flipped, "it is damaged; remove it"),
        (&newer, "another version of transect wrote it; remove it"),
        (b"a list of photos\n", "it does not contain digests of transect; remove it"),
        (b"", "it does not contain digests of transect; remove it"),
    ] {
        fs::write(env.path("digests"), content).unwrap();
        let refused = env.transect(["duplicates", "--digests", "digests", "tree"]).exits(2);
        let error = refused.stderr_text();
        assert!(error.contains("cannot read digests from 'digests': "), "{error}");
        assert!(error.contains(reason) && refused.stdout.is_empty(), "{error}");
        assert_eq!(fs::read(env.path("digests")).unwrap(), content);
    }
    for (file, reason) in [
        ("-", "--digests needs a file, not '-'"),
        ("tree", "cannot read digests from 'tree': Is a directory"),
        ("missing/digests", "cannot write 'missing/digests': No such file or directory"),
    ] {
        let refused = env.transect(["duplicates", "--digests", file, "tree"]).exits(2);
        assert!(refused.stderr_text().contains(reason), "{}", refused.text());
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn digests_not_written_results_are_shown() {
    let test = "digests_not_written_results_are_shown";
    let Some(env) = old_tree(test) else { return };
    env.mkdir("closed");
    env.chmod(&env.path("closed"), 0o555);
    let args = ["duplicates", "--digests", "closed/digests", "tree"];
    let Some(output) = env.transect_unprivileged(test, args) else { return };
    let output = output.exits(1);
    assert!(
        output.stderr_text().contains("'closed/digests': Permission denied"),
        "{}",
        output.text()
    );
    assert!(output.stdout_text().contains("2 groups with 2 copies"), "{}", output.text());
}

#[test]
fn digests_of_unreadable_tree_are_not_replaced() {
    let test = "digests_of_unreadable_tree_are_not_replaced";
    let Some(env) = old_tree(test) else { return };
    let first = duplicates(&env);
    let before = fs::read(env.path("digests")).unwrap();
    let _ = env.transect(["duplicates", "--digests", "digests", "missing"]).exits(2);
    assert_eq!(fs::read(env.path("digests")).unwrap(), before);
    // A walk that is not complete keeps all digests.
    let _ =
        env.transect(["duplicates", "--digests", "digests", "missing", "tree/small-one"]).exits(2);
    let again = duplicates(&env);
    assert_eq!((&again["groups"], &again["bytes_read"]), (&first["groups"], &0.into()));
}

#[test]
fn digests_of_interrupted_run_are_used() {
    let test = "digests_of_interrupted_run_are_used";
    let Some(env) = old_tree(test) else { return };
    let first = duplicates(&env);
    // They take long to read, but no time to make: they are holes.
    for name in ["tree/a", "tree/b"] {
        fs::File::create(env.path(name)).unwrap().set_len(1 << 40).unwrap();
    }
    let running = env.start(["duplicates", "--digests", "digests", "tree"]);
    running.wait_until_handled();
    running.signal(Signal::INT);
    let output = running.finish().exits(130);
    assert!(output.stdout_text().contains("interrupted after"), "{}", output.text());
    for name in ["tree/a", "tree/b"] {
        fs::remove_file(env.path(name)).unwrap();
    }
    let again = duplicates(&env);
    assert_eq!((&again["groups"], &again["bytes_read"]), (&first["groups"], &0.into()));
    let left = env.sh("ls -A").stdout_text();
    assert!(!left.contains(".transect"), "{left}");
}

#[test]
fn digests_kept_actions_still_compare() {
    let test = "digests_kept_actions_still_compare";
    let Some(env) = old_tree(test) else { return };
    let _ = duplicates(&env);
    let remove =
        ["duplicates", "--digests", "digests", "--remove", "--keep", "first", "--yes", "tree"];
    let text = env.transect(remove).exits(0).quiet().stdout_text();
    assert!(text.contains("removed 2 names"), "{text}");
    let left = env.sh("ls tree").stdout_text();
    assert_eq!(left, "large-one\nlarge-other\nsmall-one\nsmall-other\n");
}
