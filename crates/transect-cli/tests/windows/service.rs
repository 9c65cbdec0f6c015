//! `serve`, its clients and the commands that control it, as separate processes connected by a
//! named pipe.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::{Output, TestEnv};

/// All columns that a service provides.
const COLUMNS: &str =
    "type,size,allocated,mtime,ctime,btime,nlink,inode,device,attributes,reparse_tag";

/// A running service at a pipe of its own, killed on drop: Windows has no signal that asks a process
/// to end.
struct Service {
    child: Child,
    stderr: BufReader<ChildStderr>,
    first_line: String,
    pipe: String,
}

impl Service {
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let pipe = format!(r"\\.\pipe\transect-cli-{}-{number}", std::process::id());
        Self::start_at(env, pipe, args)
    }

    fn start_at(env: &TestEnv, pipe: String, args: &[&str]) -> Self {
        let serve = ["live", "--socket", &pipe];
        let mut child = env.start(serve.iter().chain(args));
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut service = Self { child, stderr, first_line: String::new(), pipe };
        service.first_line = service.next_line();
        service
    }

    /// Queries the service. The last of `args` are paths.
    fn attributes(&self, env: &TestEnv, args: &[&str]) -> Output {
        let service = format!("--socket={}", self.pipe);
        env.transect(["attributes", "--json", &service].iter().chain(args))
    }

    /// Returns the size of a file.
    #[track_caller]
    fn size(&self, env: &TestEnv, file: &str) -> u64 {
        let answer = self.attributes(env, &["--columns=size", file]);
        answer.exits(0).quiet().json()["size"].as_u64().expect("a number")
    }

    /// Runs a command of `service`.
    fn command(&self, env: &TestEnv, command: &str, args: &[&str]) -> Output {
        env.transect(["service", command, "--socket", &self.pipe].iter().chain(args))
    }

    /// Waits for a line of its stderr, and returns it.
    fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("a pipe can be read");
        line
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(output: &Output) -> Vec<Value> {
    output.text().lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn service_answers_match_system() {
    let env = TestEnv::with_tree();
    let paths = [
        r"tree\plain",
        r"tree\missing",
        "tree/sub",
        r"tree\sub\inner\leaf",
        r"tree\plain\below a file",
        r"tree\sub\inner\..\..\empty",
        "tree",
        r"C:\",
    ];
    for level in ["checked", "frozen", "verified"] {
        let service = Service::start(&env, &["--level", level]);
        for follow in [&["--columns", COLUMNS][..], &["--columns", COLUMNS, "--follow"]] {
            let args = [follow, &paths].concat();
            let system = env.transect(["attributes", "--json"].iter().chain(&args));
            let expected = system.exits(0).quiet().text();
            assert_eq!(expected.lines().count(), paths.len());
            for time in ["first", "second"] {
                let told = service.attributes(&env, &args).exits(0).quiet().text();
                assert_eq!(told, expected, "{level}, {follow:?}, the {time} time");
            }
        }
    }
}

#[test]
fn service_verbose_reports_pipe_and_clients() {
    let env = TestEnv::with_tree();
    let mut service = Service::start(&env, &["-v"]);
    let listening = format!("transect: listening at '{}', checked\n", service.pipe);
    assert_eq!(service.first_line, listening);
    let _ = service.attributes(&env, &["tree", "missing"]).exits(0).quiet();
    let connected = service.next_line();
    let process = connected.strip_suffix(" connected\n").unwrap_or_else(|| panic!("{connected}"));
    assert!(process.starts_with("transect: process "), "{connected}");
    assert_eq!(service.next_line(), format!("{process} disconnected after 2 questions\n"));
}

#[test]
fn service_second_instance_rejected_until_first_dies() {
    let env = TestEnv::with_tree();
    let service = Service::start(&env, &[]);
    let pipe = service.pipe.clone();
    let second = env.transect(["live", "--socket", &pipe]).exits(2);
    let process = service.child.id();
    let expected = format!("transect: a service answers at '{pipe}' already: process {process}\n");
    assert_eq!(second.stderr, expected);
    let _ = service.attributes(&env, &["tree"]).exits(0).quiet();
    drop(service);

    let refused = env.transect(["service", "stats", "--socket", &pipe]).exits(2).stderr;
    let error = refused.strip_suffix("; start one with `transect live`\n");
    let error = error.unwrap_or_else(|| panic!("no advice: {refused}"));
    crate::assert_one_line(error, &format!("transect: no service answers at '{pipe}': "));
    let next = Service::start_at(&env, pipe, &[]);
    let _ = next.attributes(&env, &["tree"]).exits(0).quiet();
}

#[test]
fn service_frozen_thawed_and_invalidated_by_command() {
    let env = TestEnv::with_tree();
    let write = |bytes: usize| {
        for file in [r"tree\plain", r"tree\sub\inner\leaf"] {
            fs::write(env.dir.join(file), vec![b'x'; bytes]).expect("a file");
        }
    };
    let service = Service::start(&env, &["--level", "checked", "tree"]);
    let sizes = || [r"tree\plain", r"tree\sub\inner\leaf"].map(|file| service.size(&env, file));
    let level = || {
        let stats = service.command(&env, "stats", &["--json"]).exits(0).quiet().json();
        stats["level"].as_str().map(str::to_owned)
    };
    let command = |command: &str, args: &[&str]| {
        let output = service.command(&env, command, args).exits(0).quiet();
        assert_eq!(output.text(), "");
    };
    write(1);
    assert_eq!(sizes(), [1, 1]);
    command("freeze", &[]);
    assert_eq!(level().as_deref(), Some("frozen"));
    assert_eq!(sizes(), [1, 1]);
    write(22);
    assert_eq!(sizes(), [1, 1]);
    command("invalidate", &["tree/sub/inner"]);
    assert_eq!(sizes(), [1, 22]);
    command("invalidate", &[]);
    assert_eq!(sizes(), [22, 22]);
    write(333);
    let refused = service.command(&env, "invalidate", &[".", r"tree\plain"]).exits(1).stderr;
    assert!(refused.starts_with("transect: cannot invalidate '.': "), "{refused}");
    assert_eq!(sizes(), [333, 22]);
    command("thaw", &[]);
    assert_eq!(level().as_deref(), Some("checked"));
    assert_eq!(sizes(), [333, 333]);
}

#[test]
fn service_level_and_roots_apply() {
    let env = TestEnv::with_tree();
    for level in ["checked", "frozen", "verified"] {
        fs::write(env.dir.join(r"tree\plain"), "1").expect("a file");
        let service = Service::start(&env, &["--level", level, "tree"]);
        assert!(service.first_line.ends_with(&format!("', {level}\n")), "{}", service.first_line);
        assert_eq!(service.size(&env, r"tree\plain"), 1);
        fs::write(env.dir.join(r"tree\plain"), "22").expect("a file");
        let expected = if level == "frozen" { 1 } else { 2 };
        assert_eq!(service.size(&env, r"tree\plain"), expected);
        let outside = service.attributes(&env, &["--columns=size", ".", "tree"]).exits(1);
        let told = lines(&outside);
        assert_eq!(told[0]["error"]["kind"], "outside_roots");
        assert!(told[1]["error"].is_null(), "{told:?}");
    }
}

#[test]
fn service_stats_shown() {
    let env = TestEnv::with_tree();
    let service = Service::start(&env, &["tree"]);
    let ask = ["--columns=size", r"tree\plain", r"tree\missing", r"tree\plain"];
    let _ = service.attributes(&env, &ask).exits(0).quiet();
    let json = service.command(&env, "stats", &["--json"]).exits(0).quiet().json();
    assert_eq!(json["process"], service.child.id());
    assert_eq!(json["level"], "checked");
    assert_eq!(json["roots"][0]["path"], env.dir.join("tree").to_str().expect("plain names"));
    assert_eq!((&json["questions"], &json["requests"]), (&3.into(), &1.into()));
    let shown = service.command(&env, "stats", &[]).exits(0).quiet().text();
    assert!(shown.contains("lookups answered from memory"), "{shown}");
}

#[test]
fn service_idle_ends() {
    let env = TestEnv::new();
    let pipe = format!(r"\\.\pipe\transect-idle-{}", std::process::id());
    let args = ["live", "-v", "--idle", "0s", "--socket", &pipe];
    let said = env.transect(args).exits(0).stderr;
    let expected =
        format!("transect: listening at '{pipe}', checked\ntransect: ended after idle time\n");
    assert_eq!(said, expected);
}

#[test]
fn service_other_than_pipe_rejected() {
    let env = TestEnv::with_tree();
    let reason = r"is not the name of a pipe; use one like \\.\pipe\NAME";
    for (args, name) in [
        (&["live", "--socket", "cache.sock"][..], "cache.sock"),
        (&["service", "freeze", "--socket", r"tree\plain"], r"tree\plain"),
        (&["attributes", r"--socket=\\host\pipe\x", "tree"], r"\\host\pipe\x"),
    ] {
        let refused = env.transect(args).exits(2).stderr;
        assert_eq!(refused, format!("transect: '{name}' {reason}\n"));
    }
}

/// Whether a service of the user runs already or not, the pipe is that of the user.
#[test]
fn service_default_pipe_names_user() {
    let env = TestEnv::new();
    let first = env.transect(["live", "--idle", "0s"]);
    assert!(first.stderr.contains(r"'\\.\pipe\transect-S-1-"), "{}", first.stderr);
    let asked = env.transect(["attributes", "--service", "."]);
    let answered = asked.code == Some(0) && asked.stderr.is_empty();
    assert!(answered || asked.stderr.contains(r"'\\.\pipe\transect-S-1-"), "{}", asked.stderr);
}
