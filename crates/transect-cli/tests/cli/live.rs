//! `transect live` and its clients, as separate processes.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::Signal;

use crate::attributes::{asked, lines, list, many};
use crate::harness::{Running, TestEnv};

/// All columns that a service provides.
const COLUMNS: &str = "type,size,allocated,mtime,ctime,btime,mode,uid,gid,nlink,inode,device";

/// Returns the default socket.
fn usual(env: &TestEnv) -> PathBuf {
    env.path("../runtime/transect/cache.sock")
}

/// A running service that accepts requests, and its stderr.
struct Service {
    running: Running,
    said: BufReader<std::process::ChildStderr>,
    first: String,
}

impl Service {
    fn start(env: &TestEnv, args: &[&str]) -> Self {
        // It ends by itself if the tests are killed.
        Self::of(env.start(["live", "--idle", "15m"].iter().chain(args)))
    }

    fn of(mut running: Running) -> Self {
        let mut said = BufReader::new(running.child.stderr.take().expect("a pipe"));
        let mut first = String::new();
        said.read_line(&mut first).expect("a pipe can be read");
        Self { running, said, first }
    }

    /// Ends the service with a signal, and returns its stderr.
    fn end(mut self, signal: Signal) -> String {
        self.running.signal(signal);
        let mut text = self.first;
        self.said.read_to_string(&mut text).expect("a pipe can be read");
        let output = self.running.finish().exits(0);
        assert!(output.stdout.is_empty());
        text
    }

    /// Kills the service.
    fn kill(mut self) {
        self.running.signal(Signal::KILL);
        self.running.wait();
    }
}

#[test]
fn service_answers_match_system() {
    let env = TestEnv::new();
    let paths = many(&env);
    let list = list(&paths);
    for level in ["checked", "frozen", "verified"] {
        let service = Service::start(&env, &["--level", level]);
        for follow in [&[][..], &["--follow"]] {
            let ask = |more: &[&str]| {
                let args = [&["-0", "--json", "--columns", COLUMNS], follow, more].concat();
                let output = asked(&env, &args, &list).exits(1).quiet();
                assert_eq!(lines(&output).len(), paths.len());
                output.stdout
            };
            let expected = ask(&[]);
            for time in ["first", "second"] {
                let told = ask(&["--service"]);
                assert!(told == expected, "{level}, {follow:?}, the {time} time");
            }
        }
        service.end(Signal::TERM);
    }
}

#[test]
fn service_verbose_reports_socket_and_clients() {
    let env = TestEnv::new();
    env.write("file", 1);
    let service = Service::start(&env, &["-v"]);
    let mode = |path: &PathBuf| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
    assert!(fs::symlink_metadata(usual(&env)).unwrap().file_type().is_socket());
    assert_eq!(mode(&usual(&env)), 0o600);
    assert_eq!(mode(&usual(&env).parent().unwrap().to_owned()), 0o700);
    let _ = env.transect(["attributes", "--service", "file", "missing"]).exits(0).quiet();
    let said = service.end(Signal::INT);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("transect: listening at '") && lines[0].ends_with("', checked"));
    assert!(lines[1].starts_with("transect: process ") && lines[1].ends_with(" connected"));
    assert!(lines[2].ends_with(" disconnected after 2 questions"), "{said}");
    assert_eq!(lines[3..], ["transect: ended as requested"]);
    assert!(!usual(&env).exists());
}

#[test]
fn service_second_instance_rejected_until_first_dies() {
    let env = TestEnv::new();
    let service = Service::start(&env, &[]);
    let second = env.transect(["live"]).exits(2);
    let process = format!("already: process {}\n", service.running.child.id());
    assert!(second.stderr_text().ends_with(&process), "{}", second.text());
    let _ = env.transect(["attributes", "--service", "/"]).exits(0).quiet();

    service.kill();
    assert!(usual(&env).exists(), "the socket was not removed");
    let refused = env.transect(["attributes", "--service", "/"]).exits(2);
    let end = "cache.sock': Connection refused; start one with `transect live`\n";
    assert!(refused.stderr_text().ends_with(end), "{}", refused.text());

    let next = Service::start(&env, &[]);
    let _ = env.transect(["attributes", "--service", "/"]).exits(0).quiet();
    next.end(Signal::TERM);
}

#[test]
fn service_death_reported_to_client() {
    let env = TestEnv::new();
    let service = Service::start(&env, &[]);
    let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
    command.args(["attributes", "--json", "--service", "--from", "-"]).stdin(Stdio::piped());
    let mut client = Running::start(&mut command);
    let mut stdin = client.child.stdin.take().unwrap();
    // Long enough that some answers arrive before the rest is written.
    stdin.write_all(&b"/\n".repeat(70_000)).unwrap();
    let mut first = [0; 1];
    client.child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    // The output must not block on the input.
    let mut stdout = client.child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).unwrap();
    });
    service.kill();
    drop(stdin);
    let output = client.finish().exits(2);
    assert_eq!(output.stderr_text(), "transect: the service has ended\n");
    reader.join().unwrap();
}

#[test]
fn service_level_decides_when_changes_are_seen() {
    let env = TestEnv::new();
    let size = || {
        let args = ["attributes", "--service", "--json", "--columns=size", "file"];
        env.transect(args).exits(0).quiet().json()["size"].as_u64()
    };
    for level in ["checked", "frozen", "verified"] {
        env.write("file", 1);
        let service = Service::start(&env, &["--level", level]);
        assert_eq!(size(), Some(1));
        env.write("file", 22);
        let expected = if level == "frozen" { 1 } else { 22 };
        assert_eq!(size(), Some(expected), "{level}");
        service.end(Signal::TERM);
    }
}

#[test]
fn service_other_user_rejected() {
    let env = TestEnv::new();
    let test = "service_other_user_rejected";
    let socket = env.path("socket");
    let socket_text = socket.to_str().unwrap();
    let service = Service::start(&env, &["-v", "--socket", socket_text]);
    let ask = ["attributes", &format!("--socket={socket_text}"), "/"];
    if !env.is_root() {
        crate::harness::skip::<()>(test, "only root can change its user");
        service.end(Signal::TERM);
        return;
    }
    let Some(refused) = env.transect_unprivileged(test, ask) else {
        service.end(Signal::TERM);
        return;
    };
    assert!(refused.exits(2).stderr_text().contains("': Permission denied; "));
    // Simulates another program that changes the mode.
    env.chmod(&socket, 0o666);
    let foreign = env.transect_unprivileged(test, ask).unwrap().exits(2);
    assert!(foreign.stderr_text().ends_with("is that of user 0\n"), "{}", foreign.text());
    let _ = env.transect(ask).exits(0).quiet();
    // The client closed the connection before sending a request, because the service belongs to
    // another user.
    let said = service.end(Signal::TERM);
    assert!(said.contains("transect: rejected user 65534\n"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn service_watch_helper_serves_until_interrupted() {
    use transect_sys::watch::Watcher;

    let env = TestEnv::new();
    let test = "service_watch_helper_serves_until_interrupted";
    if let Err(error) = Watcher::of_file_system(std::path::Path::new("/dev/shm")) {
        crate::harness::skip::<()>(test, error);
        let refused = env.transect(["service", "watch-helper", "--socket", "socket"]).exits(2);
        let text = refused.stderr_text();
        assert!(text.starts_with("transect: cannot watch file systems: "), "{text}");
        return;
    }
    let running = env.start(["service", "watch-helper", "--socket", "socket"]);
    let socket = env.path("socket");
    let shm = std::path::Path::new("/dev/shm");
    let watcher =
        transect_testkit::wait_for("the helper", || Watcher::through_helper(&socket, shm).ok());
    assert!(env.transect(["service", "watch-helper", "--socket", "socket"]).code == Some(2));
    running.signal(Signal::TERM);
    let ended = running.finish().exits(0);
    assert_eq!(ended.stderr_text(), "transect: listening at 'socket'\n");
    assert!(watcher.wait(), "the connection is closed");
    watcher.read(&mut |_| {});
    assert!(watcher.watch(shm).is_err());
    assert!(!socket.exists());
}

#[test]
fn service_socket_in_shared_directory_rejected() {
    let env = TestEnv::new();
    let folder = usual(&env).parent().unwrap().to_owned();
    fs::create_dir(&folder).unwrap();
    env.chmod(&folder, 0o755);
    let refused = env.transect(["live"]).exits(2);
    assert!(refused.stderr_text().ends_with("' is open to other users\n"), "{}", refused.text());
}

#[test]
fn service_options_apply() {
    let env = TestEnv::new();
    env.mkdir("in");
    env.write("in/file", 5);
    let args = ["--level", "frozen", "in", "--memory", "1M", "--socket", "socket"];
    let service = Service::start(&env, &args);
    assert_eq!(service.first, "transect: listening at 'socket', frozen\n");
    let ask = ["attributes", "--socket=socket", "--json", "--columns=size", "in/file", "."];
    let told = lines(&env.transect(ask).exits(1).quiet());
    assert_eq!(told[0]["size"], 5);
    assert_eq!(told[1]["error"]["kind"], "outside_roots");
    let atime = env.transect(["attributes", "--socket=socket", "--columns=atime", "in"]).exits(2);
    assert!(atime.stderr_text().contains("column atime is not available here"), "{}", atime.text());
    service.end(Signal::TERM);
}

#[test]
fn service_idle_ends() {
    let env = TestEnv::new();
    let output = env.transect(["live", "-v", "--idle", "0s"]).exits(0);
    let said = output.stderr_text();
    assert!(said.ends_with("transect: ended after idle time\n"), "{said}");
    assert!(!usual(&env).exists());
}

#[test]
fn service_invalid_arguments_reported() {
    let env = TestEnv::new();
    for (args, what) in [
        (&["live", "--level", "fast"][..], "invalid value 'fast'"),
        (&["live", "--idle", "soon"], "invalid value 'soon'"),
        (&["live", "--socket", "no/such/folder"], "cannot lock"),
        (&["live", "--socket", "."], "'.' is not a socket"),
    ] {
        let output = env.transect(args).exits(2);
        assert!(output.stderr_text().contains(what), "{args:?}\n{}", output.text());
    }
    env.write("file", 1);
    let output = env.transect(["live", "--socket", "file"]).exits(2);
    assert_eq!(output.stderr_text(), "transect: 'file' is not a socket\n");
    assert!(env.path("file").exists());
}

#[test]
fn service_few_descriptors_answers_despite_half_open_connections() {
    let env = TestEnv::new();
    let mut command = env.command("sh");
    command.args(["-c", r#"ulimit -n 32; exec "$TRANSECT" live --level frozen"#]);
    let service = Service::of(Running::start(&mut command));
    let half = |_| {
        let mut stream = UnixStream::connect(usual(&env)).expect("a connection");
        // Half a length. The server may already have closed the connection to make room.
        let _ = stream.write_all(&[9, 0]);
        stream
    };
    let open: Vec<UnixStream> = (0..200).map(half).collect();
    for _ in 0..5 {
        let _ = env.transect(["attributes", "--service", "--", "/"]).exits(0).quiet();
    }
    let _ = service.end(Signal::INT);
    drop(open);
}

#[test]
fn service_frozen_and_thawed_by_command() {
    let env = TestEnv::new();
    let size = |expected: u64| {
        let ask = ["attributes", "--service", "--json", "--columns=size", "file"];
        assert_eq!(env.transect(ask).exits(0).quiet().json()["size"], expected);
    };
    let command = |args: &[&str]| {
        let output = env.transect(["service"].iter().chain(args)).exits(0).quiet();
        assert!(output.stdout.is_empty(), "{}", output.text());
    };
    let service = Service::start(&env, &["--level", "checked"]);
    let level = || {
        let stats = env.transect(["service", "stats", "--json"]).exits(0).quiet().json();
        stats["level"].as_str().map(str::to_owned)
    };
    env.write("file", 1);
    command(&["freeze"]);
    assert_eq!(level().as_deref(), Some("frozen"));
    size(1);
    env.write("file", 22);
    size(1);
    command(&["thaw"]);
    assert_eq!(level().as_deref(), Some("checked"));
    size(22);
    service.end(Signal::TERM);
}

#[test]
fn service_invalidated_by_command() {
    let env = TestEnv::new();
    for directory in ["in/one", "in/two", "out"] {
        env.mkdir(directory);
    }
    let files = ["in/one/file", "in/two/file"];
    let sizes = || {
        let ask = ["attributes", "--service", "--json", "--columns=size"];
        let lines = lines(&env.transect(ask.iter().chain(&files)).exits(0).quiet());
        lines.iter().map(|line| line["size"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let write = |bytes| files.iter().for_each(|file| drop(env.write(file, bytes)));
    let service = Service::start(&env, &["--level", "frozen", "in"]);
    write(1);
    assert_eq!(sizes(), [1, 1]);
    write(22);
    assert_eq!(sizes(), [1, 1]);
    let _ = env.transect(["service", "invalidate", "in/two"]).exits(0).quiet();
    assert_eq!(sizes(), [1, 22]);
    write(333);
    let _ = env.transect(["service", "invalidate"]).exits(0).quiet();
    assert_eq!(sizes(), [333, 333]);

    // A path that is refused does not prevent the next one.
    write(4444);
    let refused = env.transect(["service", "invalidate", "out", "in"]).exits(1);
    let message = refused.stderr_text();
    assert!(message.starts_with("transect: cannot invalidate 'out': "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert_eq!(sizes(), [4444, 4444]);
    let empty = env.transect(["service", "invalidate", ""]).exits(2);
    assert!(empty.stderr_text().starts_with("error: a value is required for '[PATH]...'"));
    service.end(Signal::TERM);
}

#[test]
fn service_stats_documented_and_shown() {
    let env = TestEnv::new();
    env.mkdir("in");
    env.write("in/file", 1);
    let service = Service::start(&env, &["in", "--socket", "socket"]);
    let ask = ["attributes", "--socket=socket", "in/file", "in/missing", "in/file"];
    let _ = env.transect(ask).exits(0).quiet();
    let stats = ["service", "stats", "--socket", "socket"];
    let json = env.transect(stats.iter().chain(&["--json"])).exits(0).quiet().json();
    assert_eq!(json["schema"], "transect.service.stats/1");
    assert_eq!(json["process"], service.running.child.id());
    assert_eq!(json["level"], "checked");
    assert_eq!(json["roots"][0]["path"], env.path("in").to_str().unwrap());
    assert_eq!((&json["questions"], &json["requests"]), (&3.into(), &1.into()));
    let documented = include_str!("../../../../docs/SERVICE.md");
    let documented = documented.split("\n## Stats\n").nth(1).expect("a section about stats");
    let shown = env.transect(stats).exits(0).quiet().stdout_text();
    let counters = json.as_object().unwrap().iter().filter(|(_, value)| value.is_u64());
    for name in counters.map(|(name, _)| name).filter(|name| *name != "process") {
        assert!(documented.contains(&format!("`{name}`")), "{name} is not documented");
        let line = shown.lines().find(|line| line.split_whitespace().any(|word| word == name));
        let line = line.unwrap_or_else(|| panic!("{name} is not shown:\n{shown}"));
        assert!(line.split_whitespace().count() > 2, "{line} does not say what it counts");
    }
    service.end(Signal::TERM);
}

#[test]
fn service_commands_without_service_fail_with_hint() {
    let env = TestEnv::new();
    for args in [&["freeze"][..], &["thaw"], &["invalidate"], &["invalidate", "x"], &["stats"]] {
        let refused = env.transect(["service"].iter().chain(args)).exits(2);
        let message = refused.stderr_text();
        assert!(message.starts_with("transect: no service answers at '"), "{message}");
        assert!(message.ends_with("; start one with `transect live`\n"), "{message}");
        assert!(refused.stdout.is_empty());
    }
}

/// The client that `docs/SERVICE.md` shows to authors of other clients.
#[test]
fn service_python_client_matches_system() {
    let test = "service_python_client_matches_system";
    let env = TestEnv::new();
    if !env.has("python3") {
        return crate::harness::skip(test, "there is no python3").unwrap_or_default();
    }
    let mut paths = many(&env);
    paths.retain(|path| !path.is_empty());
    // More than one request.
    let paths: Vec<_> = paths.iter().cycle().take(paths.len().max(250)).cloned().collect();
    let service = Service::start(&env, &["--socket", "socket"]);
    let mut python = env.command("python3");
    python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/service_client.py"));
    python.arg("socket").args(paths.iter().map(|path| OsStr::from_bytes(path)));
    let told = lines(&Running::start(&mut python).finish().exits(0).quiet());
    let args = ["-0", "--json", "--columns", COLUMNS];
    let expected = lines(&asked(&env, &args, &list(&paths)).exits(1).quiet());
    assert_eq!((told.len(), expected.len()), (paths.len(), paths.len()));
    for (told, expected) in told.iter().zip(&expected) {
        assert_eq!(told["os_error"], expected["error"]["os_error"], "{expected}");
        for (key, value) in expected.as_object().unwrap() {
            if COLUMNS.split(',').any(|column| column == key) {
                assert_eq!(told[key], *value, "{expected}");
            }
        }
    }
    service.end(Signal::TERM);

    let refused = Running::start(&mut python).finish().exits(1);
    assert!(refused.stderr_text().contains("No such file or directory"), "{}", refused.text());
}
