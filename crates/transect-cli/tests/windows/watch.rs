//! `watch`. Wine reports only what happens in the root and in directories that were created
//! later.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};

use serde_json::Value;

use crate::{Output, TestEnv};

/// A running `watch --json`, which has read the tree.
struct Watching {
    child: Child,
    out: BufReader<ChildStdout>,
    ready: Value,
}

impl Watching {
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        let mut child = env.start(["watch", "--json"].iter().chain(args));
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let ready = read(&mut out);
        Self { child, out, ready }
    }

    /// Returns the change of a path, after others.
    fn change_of(&mut self, path: &str) -> Value {
        loop {
            let change = read(&mut self.out);
            if change["path"] == path {
                return change;
            }
        }
    }
}

fn read(out: &mut impl BufRead) -> Value {
    let mut line = String::new();
    out.read_line(&mut line).expect("a pipe can be read");
    serde_json::from_str(&line).expect("an object")
}

#[test]
fn watch_changes_printed_until_root_is_renamed() {
    let env = TestEnv::with_tree();
    let mut watching = Watching::start(&env, &["--live", "no", "tree"]);
    assert_eq!(watching.ready["event"], "ready");
    assert_eq!([&watching.ready["entries"], &watching.ready["unwatched"]], [7, 0]);
    fs::create_dir(env.dir.join(r"tree\new")).unwrap();
    assert_eq!(watching.change_of(r"tree\new")["change"], "added");
    fs::write(env.dir.join(r"tree\new\file"), "1").unwrap();
    assert_eq!(watching.change_of(r"tree\new\file")["change"], "added");
    fs::rename(env.dir.join(r"tree\plain"), env.dir.join(r"tree\other")).unwrap();
    assert_eq!(watching.change_of(r"tree\other")["change"], "added");
    fs::rename(env.dir.join("tree"), env.dir.join("elsewhere")).unwrap();
    let Watching { child, .. } = watching;
    let said = Output::of(child).exits(0).stderr;
    assert!(said.ends_with("'tree' is not there any more\n"), "{said}");
}

#[test]
fn watch_root_that_is_not_a_directory_refused() {
    let env = TestEnv::with_tree();
    let watch = |name| env.transect(["watch", "--live", "no", name]).exits(2).stderr;
    let refused = watch(r"tree\plain");
    assert_eq!(refused, "transect: cannot open directory 'tree\\plain': not a directory\n");
    assert!(watch("missing").contains("'missing': "));
}
