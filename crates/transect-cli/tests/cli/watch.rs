//! `transect watch`: what it prints about changes, and how it ends.

use std::io::{BufRead, BufReader, Read};
use std::process::ChildStdout;

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Running, TestEnv};

/// A running `watch --json`, which has read the tree.
struct Watching {
    running: Running,
    out: BufReader<ChildStdout>,
    ready: Value,
}

impl Watching {
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        let mut running = env.start(["watch", "--json"].iter().chain(args));
        let mut out = BufReader::new(running.child.stdout.take().expect("a pipe"));
        let ready = read(&mut out).expect("it begins");
        Self { running, out, ready }
    }

    /// Returns the changes up to that of a path.
    fn until(&mut self, path: &str) -> Vec<Value> {
        let mut changes = Vec::new();
        loop {
            let change = read(&mut self.out).expect("it continues");
            let is_last = change["path"] == path;
            changes.push(change);
            if is_last {
                return changes;
            }
        }
    }
}

fn read(out: &mut impl BufRead) -> Option<Value> {
    let mut line = String::new();
    out.read_line(&mut line).expect("a pipe can be read");
    (!line.is_empty()).then(|| serde_json::from_str(&line).expect("an object"))
}

#[test]
fn watch_changes_printed_until_interrupted() {
    let env = TestEnv::new();
    env.mkdir("tree/a/b");
    env.text("tree/a/b/file", "1");
    let mut watching = Watching::start(&env, &["tree"]);
    assert_eq!(watching.ready["event"], "ready");
    assert_eq!(watching.ready["entries"], 4);
    assert_eq!(watching.ready["unwatched"], 0);
    env.text("tree/new\nline", "1");
    let changes = watching.until("tree/new\nline");
    assert_eq!(changes.last().unwrap()["change"], "added");
    std::fs::rename(env.path("tree/a"), env.path("tree/c")).unwrap();
    let renamed = watching.until("tree/c").pop().unwrap();
    assert_eq!([&renamed["change"], &renamed["from"]], ["renamed", "tree/a"]);
    std::fs::remove_file(env.path("tree/c/b/file")).unwrap();
    let removed = watching.until("tree/c/b/file").pop().unwrap();
    assert_eq!([&removed["change"], &removed["type"]], ["removed", "file"]);
    watching.running.signal(Signal::INT);
    let mut rest = String::new();
    watching.out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    let output = watching.running.finish().exits(130);
    assert_eq!(output.stderr_text(), "");
}

#[test]
fn watch_root_removed_ends() {
    let env = TestEnv::new();
    env.mkdir("tree/a");
    let watching = Watching::start(&env, &["tree"]);
    std::fs::remove_dir_all(env.path("tree")).unwrap();
    let output = watching.running.finish().exits(0);
    assert!(output.stderr_text().contains("'tree' is not there any more"), "{}", output.text());
}

#[test]
fn watch_once_ends_after_first_changes() {
    let env = TestEnv::new();
    env.mkdir("tree/a");
    let mut watching = Watching::start(&env, &["--once", "tree"]);
    env.text("tree/a/file", "1");
    assert_eq!(watching.until("tree/a/file").len(), 1);
    let _ = watching.running.finish().exits(0);
}

#[test]
fn watch_lines_and_paths() {
    let env = TestEnv::new();
    for (args, expected) in
        [(&["--once"][..], "+ tree/new line/\n"), (&["--once", "-0"], "tree/new line\0")]
    {
        env.mkdir("tree");
        let mut running = env.start(["watch", "tree"].iter().chain(args));
        let mut said = BufReader::new(running.child.stderr.take().expect("a pipe"));
        let mut first = String::new();
        said.read_line(&mut first).unwrap();
        assert!(first.contains("watching 'tree', 1 entry"), "{first}");
        env.mkdir("tree/new line");
        assert_eq!(running.finish().exits(0).stdout_text(), expected);
        std::fs::remove_dir_all(env.path("tree")).unwrap();
    }
}

#[test]
fn watch_missing_path_or_file_refused() {
    let env = TestEnv::new();
    env.text("file", "1");
    for name in ["file", "missing"] {
        let output = env.transect(["watch", name]).exits(2);
        assert!(output.stderr_text().contains(&format!("'{name}'")), "{}", output.text());
    }
}
