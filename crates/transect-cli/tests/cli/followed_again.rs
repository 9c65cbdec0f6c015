//! Trees that `transect live` stored, and follows again after it was ended or killed.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use rustix::process::Signal;
use transect_testkit::{Mount, wait_until};

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
    for directory in ["tree/same/below", "tree/moved/below", "tree/replaced", "tree/mode"] {
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
    env.chmod(&env.path("tree/mode"), 0o700);
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
    for path in ["tree/same/below/file", "tree/same/moved", "tree/replaced/other", "tree/mode"] {
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

#[test]
fn live_unusable_table_reported_and_the_tree_read() {
    let env = TestEnv::new();
    if !is_storable(&env, "live_unusable_table_reported_and_the_tree_read") {
        return;
    }
    env.mkdir("tree");
    env.write("tree/file", 5);
    Live::start(&env, "tree").end();
    let file = stored(&env);
    let good = fs::read(&file).unwrap();
    let mut flipped = good.clone();
    // The columns come first; not all of them are needed.
    flipped[..good.len() / 2].iter_mut().skip(64).step_by(32).for_each(|byte| *byte ^= 1);
    let other = env.path("other.parquet");
    let _ = env.transect(["snapshot", "-o", other.to_str().unwrap(), "tree"]).exits(0);
    let renamed = fs::read(&other).unwrap();
    for (content, reason) in [
        (&b"text"[..], "not a snapshot: not a Parquet file, or truncated"),
        (&good[..good.len() / 2], "not a snapshot: not a Parquet file, or truncated"),
        (&flipped, "damaged"),
        (&renamed, "its fields are not sufficient"),
    ] {
        fs::write(&file, content).unwrap();
        let live = Live::start(&env, "tree");
        assert!(!live.first.contains(STORED), "{reason}: {}", live.first);
        let said = live.before.concat();
        assert!(said.contains(&format!("cannot use '{}'", file.display())), "{said}");
        assert!(said.contains(reason), "{said}");
        assert_as_walked(&env);
        assert_eq!(live.end(), (Some(0), String::new()));
        assert!(fs::read(&file).unwrap() != *content, "a usable one took its place");
    }
    fs::rename(env.path("tree"), env.path("old")).unwrap();
    env.mkdir("tree");
    env.write("tree/new", 5);
    let live = Live::start(&env, "tree");
    assert!(live.before.concat().contains("the root is another directory by now"));
    assert_as_walked(&env);
}

/// Whatever the reason, the message comes once, and the service answers.
#[test]
fn live_tree_that_cannot_be_stored_reported_once() {
    let env = TestEnv::new();
    if !is_storable(&env, "live_tree_that_cannot_be_stored_reported_once") {
        return;
    }
    env.mkdir("tree");
    for number in 0..500 {
        env.write(format!("tree/{number}"), 5);
    }
    let state = env.path("../state");
    let assert_reported = |reason: &str| {
        let live = Live::start_with(&env, &["--store-every", "1ms", "tree"]);
        env.write("tree/other", 70_000);
        assert_as_walked(&env);
        let (code, said) = live.end();
        assert_eq!((code, said.lines().count()), (Some(0), 1), "{said}");
        assert!(said.contains(reason), "{said}");
    };
    fs::create_dir(&state).unwrap();
    fs::write(state.join("transect"), "").unwrap();
    assert_reported("cannot create '");
    fs::remove_file(state.join("transect")).unwrap();
    let _mount = match Mount::tmpfs("8k", &state) {
        Ok(mount) => mount,
        Err(reason) => {
            let test = "live_tree_that_cannot_be_stored_reported_once";
            return skip(test, &reason).unwrap_or_default();
        }
    };
    assert_reported("No space left on device");
}

/// The file has the old content or the new one, whenever the service is killed.
#[test]
fn live_killed_while_it_stores_leaves_a_whole_table() {
    let env = TestEnv::new();
    if !is_storable(&env, "live_killed_while_it_stores_leaves_a_whole_table") {
        return;
    }
    for number in 0..7 {
        env.mkdir(format!("tree/{number}"));
    }
    for number in 0..2000 {
        env.write(format!("tree/{}/{number}", number % 7), 1);
    }
    Live::start(&env, "tree").end();
    let file = stored(&env);
    let usage = |of: &str| env.transect(["usage", "-d", "0", of]).exits(0);
    for round in 0..25 {
        let mut live = Live::start_with(&env, &["--store-every", "1ms", "tree"]);
        assert!(live.first.trim_end().ends_with(STORED), "{}", live.first);
        for change in 0..round {
            env.write(format!("tree/3/new {change}"), round);
        }
        live.running.signal(Signal::KILL);
        live.running.wait();
        let _ = usage(file.to_str().unwrap());
    }
    let live = Live::start(&env, "tree");
    assert!(live.first.trim_end().ends_with(STORED), "{}", live.first);
    assert_as_walked(&env);
    live.end();
    let left = env.sh("ls -A $XDG_STATE_HOME/transect/live").exits(0).stdout_text();
    assert_eq!(left.lines().count(), 1, "{left}");
}

/// Directories that cannot be opened are stored with what is known of them, tried again, and reported as before.
#[test]
fn live_started_again_with_closed_directories_answers_as_a_walk() {
    let test = "live_started_again_with_closed_directories_answers_as_a_walk";
    let env = TestEnv::new();
    if !is_storable(&env, test) {
        return;
    }
    let all = ["always", "while-followed", "between", "opened", "opened-later"];
    for name in all {
        env.mkdir(format!("tree/{name}/inner"));
        env.write(format!("tree/{name}/inner/file"), 3000);
    }
    let chmod = |name: &str, mode| env.chmod(&env.path(format!("tree/{name}")), mode);
    ["always", "opened", "opened-later"].iter().for_each(|name| chmod(name, 0o000));
    fs::create_dir(env.path("../state")).unwrap();
    env.chmod(&env.path("../state"), 0o777);
    let start = || env.start_unprivileged(test, ["live", "--idle", "15m", "tree"]).map(Live::of);
    let assert_as_walked = |errors: usize| {
        for args in [&["list", "tree"][..], &["usage", "-n", "100", "tree"]] {
            let run = |args: Vec<&str>| env.transect_unprivileged(test, args).expect("as before");
            let walked = run([args, &["--live", "no"]].concat());
            let told = run(args.to_vec());
            assert!(is_from_live(&told), "{args:?}: {}", told.text());
            assert_eq!((told.code, walked.code), (Some(1), Some(1)), "{}", told.text());
            assert_eq!(sorted(&told), sorted(&walked), "{args:?}");
            assert_eq!(told.stderr_text().matches("cannot").count(), errors, "{}", told.text());
        }
    };
    wait_for_ticks();
    let Some(live) = start() else { return };
    assert_as_walked(3);
    chmod("while-followed", 0o000);
    assert_as_walked(4);
    assert_eq!(live.end(), (Some(0), String::new()));
    chmod("between", 0o000);
    chmod("opened", 0o755);
    env.write("tree/while-followed/inner/new", 1);
    let live = start().expect("as before");
    assert!(live.first.contains(STORED), "{}", live.first);
    assert_as_walked(4);
    chmod("opened-later", 0o755);
    chmod("while-followed", 0o755);
    assert_as_walked(2);
    assert_eq!(live.end().0, Some(0));
}
