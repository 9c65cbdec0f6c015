//! Trees that `transect live` stored, and follows again after it was ended or killed.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use transect_testkit::wait_until;

use crate::followed::{Live, is_from_live, sorted};
use crate::harness::{TestEnv, skip};
use crate::tree;

/// The end of the message of a tree that is not read.
const STORED: &str = "as stored before, which are being compared";

/// Returns the file of the only stored tree.
fn stored(env: &TestEnv) -> PathBuf {
    let script = "ls -d $XDG_STATE_HOME/transect/live/*.parquet";
    PathBuf::from(env.sh(script).exits(0).stdout_text().trim_end())
}

/// Asserts that the service answers what a walk finds.
#[track_caller]
fn assert_as_walked(env: &TestEnv) {
    for args in [
        &["list", "--columns", "type,size,allocated,mtime,ctime,inode,path", "tree"][..],
        &["list", "-d", "1", "tree"],
        &["usage", "-n", "100", "tree"],
    ] {
        let told = env.transect(args).exits(0);
        assert!(is_from_live(&told), "{args:?}: {}", told.text());
        let walked = env.transect(args.iter().chain(&["--live", "no"])).exits(0);
        assert_eq!(sorted(&told), sorted(&walked), "{args:?}");
    }
}

/// Waits until the times of what was changed before prove that it did not change again.
fn wait_for_ticks() {
    let called = SystemTime::now();
    wait_until("a tick", || called.elapsed().is_ok_and(|age| age.as_millis() > 100));
}

/// Returns whether the file system of the tests proves changes: otherwise no tree is stored.
fn is_storable(env: &TestEnv, test: &str) -> bool {
    let proves = transect_sys::host::proves_changes(&env.path(""));
    proves || skip(test, "the file system does not prove changes").unwrap_or(false)
}

#[test]
fn live_started_again_answers_as_a_walk_and_knows_what_changed() {
    let env = TestEnv::new();
    if !is_storable(&env, "live_started_again_answers_as_a_walk_and_knows_what_changed") {
        return;
    }
    tree::everything(&env, "tree");
    for directory in ["tree/same/below", "tree/moved/below", "tree/replaced"] {
        env.mkdir(directory);
    }
    env.write("tree/same/below/file", 5);
    env.write("tree/moved/below/file", 5);
    env.write("tree/replaced/file", 5);
    env.write("tree/same/below/linked", 5);
    fs::hard_link(env.path("tree/same/below/linked"), env.path("tree/second")).unwrap();
    wait_for_ticks();
    let live = Live::start(&env, "tree");
    assert!(!live.first.contains(STORED), "{}", live.first);
    let cursor = env.transect(["changes", "--cursor", "tree"]).exits(0).stdout_text();
    assert_eq!(live.end(), (Some(0), String::new()));

    let file = stored(&env);
    let modes = "stat -c %a $XDG_STATE_HOME/transect/live $XDG_STATE_HOME/transect/live/*";
    assert_eq!(env.sh(modes).exits(0).stdout_text(), "700\n600\n");
    let of_file = ["list", "--columns", "type,size,allocated,mtime,inode,path"];
    let told = env.transect(of_file.iter().chain(&[file.to_str().unwrap()])).exits(0);
    let root = env.path("tree");
    let walked = env.transect(of_file.iter().chain(&[root.to_str().unwrap()])).exits(0);
    assert_eq!(sorted(&told), sorted(&walked));
    let usage = |of: &str| sorted(&env.transect(["usage", "--csv", "-n", "100", of]).exits(0));
    assert_eq!(usage(file.to_str().unwrap()), usage(root.to_str().unwrap()));

    let times = |path: &str| fs::File::options().write(true).open(env.path(path)).unwrap();
    let modified = times("tree/same/below/file").metadata().unwrap().modified().unwrap();
    env.text("tree/same/below/file", "other");
    times("tree/same/below/file").set_modified(modified).unwrap();
    fs::rename(env.path("tree/moved"), env.path("tree/same/moved")).unwrap();
    env.write("tree/same/moved/below/new", 70_000);
    // As a rule it gets the same inode number.
    fs::remove_dir_all(env.path("tree/replaced")).unwrap();
    env.mkdir("tree/replaced");
    env.write("tree/replaced/other", 5);
    let live = Live::start(&env, "tree");
    assert!(live.first.trim_end().ends_with(STORED), "{}", live.first);
    assert_eq!(live.before.len(), 1, "it listens: {:?}", live.before);
    assert_as_walked(&env);
    let since = ["changes", "--since", cursor.trim_end(), "tree"];
    let changes = env.transect(since).exits(0).stdout_text();
    for path in ["tree/same/below/file", "tree/same/moved", "tree/replaced/other"] {
        assert!(changes.contains(path), "{path}: {changes}");
    }
    env.write("tree/same/moved/below/new", 5);
    env.write("tree/replaced/later", 5);
    assert_as_walked(&env);
    assert_eq!(live.end(), (Some(0), String::new()));

    let live = Live::start_with(&env, &["--store-every", "0", "tree"]);
    assert!(!live.first.contains(STORED), "{}", live.first);
    let lost = env.transect(since);
    assert_eq!(lost.code, Some(1), "{}", lost.text());
    assert_eq!(live.end(), (Some(0), String::new()));
}
