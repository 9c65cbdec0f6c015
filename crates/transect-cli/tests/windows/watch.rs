//! `watch`, and commands that ask `live`. Wine reports only what happens in the root and in directories that were created
//! later.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};

use serde_json::Value;
use transect_testkit::wait_for_ok;

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

/// A service at the pipe of the user, which commands ask.
struct Live(Child);

impl Live {
    fn start(env: &TestEnv) -> Result<Self, String> {
        let mut live = Self(env.start(["live", "tree"]));
        let mut said = BufReader::new(live.0.stderr.take().expect("a pipe"));
        let (mut text, mut line) = (String::new(), String::new());
        while said.read_line(&mut line).expect("a pipe can be read") > 0 {
            if line.contains("following '") {
                assert!(line.ends_with("tree', 7 entries\n"), "{line}");
                return Ok(live);
            }
            text += &std::mem::take(&mut line);
        }
        Err(text)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn followed_tree_answers_commands() {
    let env = TestEnv::with_tree();
    // Another test may have its service there.
    let _live = wait_for_ok("the pipe of the user is free", || Live::start(&env));
    let assert_same = || {
        let columns = "--columns=type,size,allocated,mtime,ctime,inode,path";
        for command in [&["list"][..], &["list", "--csv", columns], &["usage", "--csv"]] {
            let tree = |live: &'static [&str]| command.iter().chain(live).chain(&["tree"]).copied();
            let walked = env.transect(tree(&["--live", "no"])).exits(0).quiet();
            let asked = env.transect(tree(&[])).exits(0);
            // With CSV there are no notes.
            let is_asked = asked.stderr.contains("from `transect live`");
            assert_eq!(is_asked, command.len() == 1, "{command:?}: {}", asked.stderr);
            let [asked, walked] = [asked, walked].map(|output| {
                let mut lines: Vec<_> = output.text().lines().map(str::to_owned).collect();
                lines.sort();
                lines
            });
            assert_eq!(asked, walked, "{command:?}");
        }
    };
    assert_same();
    let cursor = env.transect(["changes", "--cursor", "tree"]).exits(0).text();
    let mut watching = Watching::start(&env, &["tree"]);
    assert!(watching.ready["cursor"].is_string(), "{}", watching.ready);
    fs::create_dir_all(env.dir.join(r"tree\new\below")).unwrap();
    fs::write(env.dir.join(r"tree\new\below\third"), "12345").unwrap();
    assert_same();
    assert_eq!(watching.change_of(r"tree\new\below\third")["change"], "added");
    let since = ["changes", "--since", cursor.trim(), "--json", "tree"];
    let since = env.transect(since).exits(0).text();
    assert!(since.contains(r"tree\\new\\below\\third"), "{since}");
    let found = env.transect(["find", "third", "--in", "tree"]).exits(0);
    let found = found.text().replace('/', r"\");
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.trim_end().ends_with(r"\tree\new\below\third"), "{found}");
    watching.child.kill().unwrap();
    watching.child.wait().unwrap();
    fs::write(env.dir.join(r"tree\new\below\third"), "1").unwrap();
    assert_same();
}
