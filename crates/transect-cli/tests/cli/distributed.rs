//! `task` and `commit`: one scan by many processes, some of which are killed.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use transect_testkit::{Mount, trees};

use crate::harness::{TestEnv, skip};
use crate::tree;

/// The loop of the guide, with this many entries in each task.
pub(crate) fn documented_loop(entries: usize) -> String {
    let guide = include_str!("../../../../docs/DISTRIBUTED.md");
    let script = guide.split_once("while [").expect("a loop").1;
    let script = script.split_once("\ndone\n").expect("its end").0;
    let script = script.replace("transect task", "\"$TRANSECT\" task");
    let options = format!("--threads 16 --entries {entries} --next");
    format!("while [{}\ndone", script.replace("--next", &options))
}

/// Commits the parts, and compares them with a snapshot of the tree.
#[track_caller]
pub(crate) fn assert_parts_equal_walk(env: &TestEnv) {
    let _ = env.transect(["commit", "parts", "-o", "parts.parquet"]).exits(0);
    let _ = env.transect(["snapshot", "tree", "-o", "walk.parquet"]).exits(0);
    let _ = env.transect(["diff", "--exit-code", "walk.parquet", "parts.parquet"]).exits(0);
    let listed = |file: &str| env.transect(["list", "--csv", file]).exits(0).stdout;
    assert_eq!(listed("parts.parquet"), listed("walk.parquet"));
    let manifest = fs::read(env.path("parts/_manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    let names = fs::read_dir(env.path("parts")).expect("a folder");
    let files = manifest["parts"].as_array().expect("a list").len();
    assert_eq!(names.count(), files + 1, "nothing but parts and the manifest");
}

#[test]
fn tasks_of_shell_loop_same_as_snapshot() {
    let env = TestEnv::new();
    trees::many_small_dirs(&env.mkdir("tree"));
    let _ = env.sh("\"$TRANSECT\" task --first tree >tasks").exits(0);
    let _ = env.sh(&documented_loop(500)).exits(0).quiet();
    assert_parts_equal_walk(&env);
    let parts = fs::read_dir(env.path("parts")).unwrap().count();
    assert!(parts > 3, "{parts} parts");
}

/// Runs all tasks of a scan. Each is killed or interrupted after different times, and run again until it
/// ends. Returns how often one was stopped.
fn run_all_with_kills(env: &TestEnv) -> usize {
    let _ = env.sh("\"$TRANSECT\" task --first tree >tasks").exits(0);
    let arguments = ["task", "--in", "task", "--out", "parts", "--entries", "3000", "--next"];
    let mut delays = (0..20).map(Duration::from_millis).cycle();
    let mut stopped = 0;
    loop {
        let tasks = fs::read_to_string(env.path("tasks")).expect("the tasks that are left");
        let Some((task, rest)) = tasks.split_once('\n') else { return stopped };
        env.text("task", task);
        for (number, delay) in delays.by_ref().take(5).enumerate() {
            let running = env.start(arguments);
            running.wait_until_handled();
            std::thread::sleep(delay);
            running.signal(if number % 2 == 0 { Signal::KILL } else { Signal::INT });
            stopped += usize::from(running.finish().code != Some(0));
        }
        let next = env.transect(arguments).exits(0).stdout_text();
        env.text("tasks", &(next + rest));
    }
}

/// Nothing is there twice, or missing.
#[test]
fn task_killed_publishes_whole_part_or_none() {
    let env = TestEnv::new();
    for directory in 0..60 {
        tree::many_files(&env, &env.path(format!("tree/{directory}")), 200, "name");
    }
    loop {
        let stopped = run_all_with_kills(&env);
        assert_parts_equal_walk(&env);
        // On a busy machine, all of them may end before they are killed.
        if stopped > 0 {
            break;
        }
        fs::remove_dir_all(env.path("parts")).unwrap();
    }
}

#[test]
fn task_and_commit_refuse_what_they_cannot_do() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/file", 10);
    env.text("bad", "{}");
    let _ = env.sh("\"$TRANSECT\" task --first tree >task").exits(0);
    for (args, word) in [
        (&["task"][..], "--first"),
        (&["task", "--in", "task"], "--out"),
        (&["task", "--first", "tree", "tree"], "lies in"),
        (&["task", "--first", "missing"], "cannot access '"),
        (&["task", "--in", "bad", "--out", "parts"], "not a task"),
        (&["task", "--in", "missing", "--out", "parts"], "cannot read 'missing'"),
        (&["task", "--in", "task", "--out", "parts", "--split", "0"], "a limit is out of range"),
        (&["task", "--in", "task", "--out", "parts", "--threads", "0"], "0 is not in 1..=1024"),
        (&["task", "--first", "tree", "--threads", "2"], "cannot be used with"),
        (&["task", "--in", "task", "--out", "bad"], "cannot create 'bad'"),
        (&["commit", "missing", "-o", "x"], "cannot read"),
        (&["commit", "tree", "-o", "x"], "has no parts of a scan"),
    ] {
        let refused = env.transect(args).exits(2);
        assert!(refused.stderr_text().contains(word), "{args:?}: {}", refused.text());
        assert!(refused.stdout.is_empty(), "{args:?}");
    }
    assert!(!env.path("x").exists());
}

#[test]
fn commit_of_unfinished_scan_says_how_many_tasks_have_not_run() {
    let env = TestEnv::new();
    for directory in ["a", "b"] {
        env.mkdir(format!("tree/{directory}"));
        env.write(format!("tree/{directory}/file"), 1);
    }
    let run = "\"$TRANSECT\" task --first tree | \"$TRANSECT\" task --in - --out parts --entries 1";
    let result = env.sh(run).exits(0).json();
    assert_eq!((result["rows"].as_u64(), result["adopted"].as_bool()), (Some(3), Some(false)));
    let refused = env.transect(["commit", "parts", "-o", "x"]).exits(2);
    assert!(refused.stderr_text().contains("2 tasks have not run"), "{}", refused.text());
    assert!(!env.path("x").exists() && !env.path("parts/_manifest.json").exists());
}

/// Parts of the same names: both scans begin with the same task.
#[test]
fn commit_refuses_parts_of_two_scans_of_one_tree() {
    let env = TestEnv::new();
    let run = |folder: &str| {
        let _ = env.sh("cp first tasks").exits(0);
        let _ =
            env.sh(&documented_loop(1).replace("--out parts", &format!("--out {folder}"))).exits(0);
    };
    env.mkdir("tree/a");
    env.write("tree/a/old", 1);
    let _ = env.sh("\"$TRANSECT\" task --first tree >first").exits(0);
    run("one");
    fs::remove_file(env.path("tree/a/old")).unwrap();
    env.write("tree/a/new", 1);
    run("two");
    let parts = |folder: &str| {
        let names = fs::read_dir(env.path(folder)).unwrap().map(|it| it.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let (one, two) = (parts("one"), parts("two"));
    let first = one.intersection(&two).next().unwrap();
    assert_eq!((one.len(), two.len(), one.intersection(&two).count()), (2, 2, 1));
    fs::copy(env.path("two").join(first), env.path("one").join(first)).unwrap();
    let mixed = env.transect(["commit", "one", "-o", "x"]).exits(2);
    assert!(mixed.stderr_text().contains("parts of several scans"), "{}", mixed.text());
    assert!(!env.path("x").exists());
    let _ = env.transect(["commit", "two", "-o", "x"]).exits(0).quiet();
}

#[test]
fn finished_folder_takes_no_part_and_reports_its_age() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/file", 1);
    env.mkdir("other");
    let task = |root: &str| {
        format!("\"$TRANSECT\" task --first {root} | \"$TRANSECT\" task --in - --out parts")
    };
    let _ = env.sh(&task("tree")).exits(0).quiet();
    let commit = ["commit", "parts", "-o", "x"];
    let _ = env.transect(commit).exits(0).quiet();
    env.write("tree/new", 1);
    let adopted = env.sh(&task("tree")).exits(0);
    assert!(adopted.stderr_text().contains("the part was there already"), "{}", adopted.text());
    for options in ["", " --give-up"] {
        let refused = env.sh(&(task("other") + options)).exits(2);
        assert!(refused.stderr_text().contains("has a finished scan"), "{}", refused.text());
    }
    let again = env.transect(commit).exits(0);
    assert!(again.stderr_text().contains("were committed before"), "{}", again.text());
    assert_eq!(fs::read_dir(env.path("parts")).unwrap().count(), 2, "a part and the manifest");
}

#[test]
fn task_whose_root_is_gone_publishes_nothing() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let _ = env.sh("\"$TRANSECT\" task --first tree >task && rmdir tree").exits(0);
    let refused = env.transect(["task", "--in", "task", "--out", "parts"]).exits(2);
    assert!(refused.stderr_text().contains("cannot access '"), "{}", refused.text());
    assert_eq!(fs::read_dir(env.path("parts")).unwrap().count(), 0);
}

#[test]
fn task_full_device_publishes_no_part() {
    let test = "task_full_device_publishes_no_part";
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 4000, "name");
    let _mount = match Mount::tmpfs("8k", &env.path("small")) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    let _ = env.sh("\"$TRANSECT\" task --first tree >task").exits(0);
    let full = env.transect(["task", "--in", "task", "--out", "small"]).exits(2);
    assert!(full.stderr_text().contains("No space left"), "{}", full.text());
    assert_eq!(fs::read_dir(env.path("small")).unwrap().count(), 0);
    // With room, the same task publishes its part.
    let _ = env.transect(["task", "--in", "task", "--out", "parts"]).exits(0);
    let _ = env.transect(["commit", "parts", "-o", "x"]).exits(0);
}
