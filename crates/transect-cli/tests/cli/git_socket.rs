//! `transect live --git`, which answers git on the socket of git's daemon. Few systems have a git that asks there, so the tests
//! speak its protocol.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

use crate::followed::Live;
use crate::harness::{TestEnv, skip};

fn socket(env: &TestEnv) -> PathBuf {
    env.path("tree/.git/fsmonitor--daemon.ipc")
}

/// An environment with what makes a working tree.
fn working_tree() -> TestEnv {
    let env = TestEnv::new();
    env.mkdir("tree/.git");
    env.mkdir("tree/sub");
    env.text("tree/.git/HEAD", "ref: refs/heads/main\n");
    env.write("tree/a", 1);
    env.write("tree/sub/b", 2);
    env
}

/// Sends bytes, and returns what comes until the service closes the connection.
fn send(env: &TestEnv, bytes: &str) -> String {
    let mut stream = UnixStream::connect(socket(env)).expect("it listens");
    // It may close the connection before it has read everything.
    let _ = stream.write_all(bytes.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// Returns the token and the paths of the answer to a token.
fn ask(env: &TestEnv, token: &str) -> (String, Vec<String>) {
    let answer = send(env, &format!("{:04x}{token}0000", token.len() + 4));
    let (length, rest) = answer.split_at(4);
    let length = usize::from_str_radix(length, 16).expect("a length") - 4;
    assert_eq!(&rest[length..], "0000", "{answer:?}");
    let mut parts = rest[..length].split_terminator('\0').map(str::to_owned);
    let token = parts.next().expect("a token");
    let mut paths: Vec<_> = parts.collect();
    paths.sort_unstable();
    (token, paths)
}

#[test]
fn git_socket_answers_with_changes_since_token() {
    let env = working_tree();
    let live = Live::start_with(&env, &["--git", "tree"]);
    let mut token = "builtin:fake".to_owned();
    let mut changes = |expected: &[&str]| {
        let (next, paths) = ask(&env, &token);
        assert_eq!(paths, expected, "since {token}");
        token = next;
    };
    changes(&["/"]);
    changes(&[]);
    env.write("tree/a", 10);
    env.write("tree/.git/index", 10);
    changes(&["a"]);
    env.mkdir("tree/new");
    env.write("tree/new/file", 1);
    changes(&["new/", "new/file"]);
    fs::rename(env.path("tree/sub"), env.path("tree/other")).unwrap();
    changes(&["other/", "sub/"]);
    fs::remove_file(env.path("tree/other/b")).unwrap();
    changes(&["other/b"]);
    for lost in ["1:2", "flush", "", "1730000000000000000"] {
        assert_eq!(ask(&env, lost).1, ["/"], "{lost:?}");
    }
    for bad in ["0008quit0000", "0003", "GET / HTTP/1.1", &"0006ab".repeat(20_000)] {
        assert_eq!(send(&env, bad), "", "{:.20}", bad);
    }
    changes(&[]);
    assert_eq!(live.end().0, Some(0));
    assert!(!socket(&env).exists());
}

#[test]
fn git_socket_second_service_refused_and_left_over_replaced() {
    let env = working_tree();
    let mut live = Live::start_with(&env, &["--git", "tree"]);
    let second = ["live", "--socket", "other.sock", "--git", "tree"];
    let refused = env.transect(second).exits(2).stderr_text();
    assert!(refused.contains("fsmonitor--daemon.ipc' already: process "), "{refused}");
    assert!(refused.contains("`git fsmonitor--daemon stop`"), "{refused}");
    live.running.signal(rustix::process::Signal::KILL);
    live.running.wait();
    assert!(socket(&env).exists());
    let live = Live::start_with(&env, &["--git", "tree"]);
    assert_eq!(ask(&env, "").1, ["/"]);
    assert_eq!(live.end().0, Some(0));
    fs::remove_dir_all(env.path("tree/.git")).unwrap();
    let refused = env.transect(["live", "--git", "tree"]).exits(2).stderr_text();
    assert!(refused.contains("it is not the top of a working tree"), "{refused}");
}

#[test]
fn git_socket_other_user_refused() {
    let test = "git_socket_other_user_refused";
    if !rustix::process::geteuid().is_root() {
        return skip(test, "only root can be another user").unwrap_or_default();
    }
    let env = working_tree();
    let script = "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); \
                  s.sendall(b'0000'); print(s.recv(100))";
    // The mode of the socket would refuse it before.
    let open = "import os, sys; os.chmod(sys.argv[1], 0o666); os.chmod(os.path.dirname(sys.argv[1]), 0o755)";
    let live = Live::start_with(&env, &["--git", "tree"]);
    let python = |before: &str, script: &str| {
        let script = format!("{before}\n{script}");
        Command::new("python3").args(["-c", &script]).arg(socket(&env)).output().expect("Python")
    };
    assert!(python("", open).status.success());
    let own = String::from_utf8(python("", script).stdout).unwrap();
    assert!(own.contains("/"), "{own}");
    // As root it finds the socket, which may be in a private directory.
    let descend = "import os, sys; os.chdir(os.path.dirname(sys.argv[1])); \
                   sys.argv[1] = os.path.basename(sys.argv[1]); os.setuid(65534)";
    let other = python(descend, script);
    assert!(!String::from_utf8(other.stdout).unwrap().contains("/"));
    assert_eq!(live.end().0, Some(0));
}
