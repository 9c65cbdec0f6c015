//! The program on Windows: paths with backslashes, drives, messages with the system's error number.
//! On other systems the tests run under Wine, if `CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER` is
//! set.
//!
//! This is a separate test program: on every system, either it or `cli` is empty.

#![cfg(windows)]
#![expect(clippy::disallowed_methods, reason = "the program is compared with plain std::fs")]

mod service;
mod watch;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Error, Read, Write};
use std::os::windows::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;
use transect_testkit::within;

/// The exit code of a program that the system could not start (`ntstatus.h`).
const STATUS_DLL_INIT_FAILED: i32 = 0xC000_0142_u32.cast_signed();

/// The error of a start that failed inside the system (`winerror.h`).
const ERROR_INTERNAL_ERROR: i32 = 1359;

/// Starts a program, and tries again if the system itself failed: on a busy machine Wine 8 does in one of
/// several thousand starts.
fn started<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..3 {
        match start() {
            Err(error) if error.raw_os_error() == Some(ERROR_INTERNAL_ERROR) => {}
            result => return result,
        }
    }
    start()
}

/// A temporary directory in which the program runs.
struct TestEnv {
    dir: PathBuf,
}

impl TestEnv {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("transect-cli-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        // A killed process with the same id may have left it behind.
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).expect("the name is not in use");
        Self { dir }
    }

    /// Creates a tree of 3 files and 4 directories.
    fn with_tree() -> Self {
        let env = Self::new();
        for directory in [r"tree\sub\inner", r"tree\hollow"] {
            fs::create_dir_all(env.dir.join(directory)).expect("a new directory");
        }
        for (path, bytes) in [("plain", 10), ("empty", 0), (r"sub\inner\leaf", 5000)] {
            fs::write(env.dir.join("tree").join(path), vec![b'x'; bytes]).expect("a new file");
        }
        env
    }

    fn start<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_transect"));
        command
            .args(args)
            // Without the user's profiles.
            .env("APPDATA", self.dir.join("config"))
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        started(|| command.spawn()).expect("the program can be started")
    }

    /// Runs the program to its end.
    fn transect<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let output = started(|| {
            let output = Output::of(self.start(&args));
            match output.code {
                Some(STATUS_DLL_INIT_FAILED) => Err(Error::from_raw_os_error(ERROR_INTERNAL_ERROR)),
                _ => Ok(output),
            }
        });
        output.expect("the program can be started")
    }

    /// Returns the readers that `doctor` lists as available, and the others.
    fn readers(&self) -> (Vec<String>, Vec<String>) {
        let doctor = self.transect(["doctor", "--json"]).exits(0).json();
        let rows = doctor["readers"].as_array().expect("a list").clone();
        let (here, elsewhere): (Vec<Value>, Vec<Value>) =
            rows.into_iter().partition(|row| row["available"] == true);
        let names = |rows: Vec<Value>| {
            rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
        };
        (names(here), names(elsewhere))
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// The output of the program, and its exit code.
struct Output {
    stdout: Vec<u8>,
    stderr: String,
    code: Option<i32>,
}

impl Output {
    fn of(child: Child) -> Self {
        let ended = within("the program", move || child.wait_with_output());
        let output = ended.expect("a child of our own");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { stdout: output.stdout, stderr, code: output.status.code() }
    }

    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.text(), self.stderr);
        self
    }

    /// Asserts that stderr is empty.
    #[track_caller]
    fn quiet(self) -> Self {
        assert_eq!(self.stderr, "");
        self
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).expect("one JSON object")
    }

    /// Returns the listed paths, sorted.
    #[track_caller]
    fn paths(&self, terminator: char) -> Vec<String> {
        let text = self.text();
        let text = text.strip_suffix(terminator).expect("the last path ends");
        let mut paths: Vec<String> = text.split(terminator).map(str::to_owned).collect();
        paths.sort();
        paths
    }
}

const TREE: [&str; 7] = [
    "tree",
    r"tree\empty",
    r"tree\hollow",
    r"tree\plain",
    r"tree\sub",
    r"tree\sub\inner",
    r"tree\sub\inner\leaf",
];

/// Asserts that the message is one line that ends with the system's error number.
#[track_caller]
fn assert_one_line(message: &str, beginning: &str) {
    assert_eq!(message.lines().count(), 1, "{message}");
    let reason = message.trim_end().strip_prefix(beginning);
    let reason = reason.unwrap_or_else(|| panic!("does not begin with {beginning}: {message}"));
    let number = reason.strip_suffix(')').and_then(|reason| reason.rsplit_once(" (os error "));
    let (words, number) = number.unwrap_or_else(|| panic!("no number: {message}"));
    assert!(number.parse::<u32>().is_ok_and(|number| number > 0), "{message}");
    assert!(!words.is_empty() && !words.ends_with('.'), "{message}");
}

/// Returns a drive that does not exist.
fn missing_drive() -> String {
    let drives = ('A'..='Z').rev().map(|letter| format!(r"{letter}:\"));
    drives.into_iter().find(|drive| !Path::new(drive).exists()).expect("26 drives are many")
}

#[track_caller]
fn assert_tree(object: &Value) {
    for (key, expected) in
        [("files", 3), ("directories", 4), ("symlinks", 0), ("errors", 0), ("apparent_size", 5010)]
    {
        assert_eq!(object[key], expected, "{key} in {object}");
    }
    assert_eq!(object["complete"], true);
}

#[test]
fn scan_every_reader_counts_tree() {
    let env = TestEnv::with_tree();
    let (here, elsewhere) = env.readers();
    assert!(here.contains(&"portable".to_owned()) && here.contains(&"nt-query".to_owned()));
    for reader in here {
        let scan = env.transect(["--json", "--reader", &reader, "tree"]).exits(0).quiet().json();
        assert_tree(&scan);
        assert_eq!(scan["reader"], reader.as_str());
    }
    for reader in elsewhere {
        let refused = env.transect(["scan", "--reader", &reader, "tree"]).exits(2);
        let expected = format!("transect: reader '{reader}' cannot be used here: only on Linux\n");
        assert_eq!(refused.stderr, expected);
    }
}

#[test]
fn scan_root_every_spelling_counted() {
    let env = TestEnv::with_tree();
    let absolute = env.dir.join("tree");
    let canonical = absolute.canonicalize().expect("our own directory");
    for root in [OsStr::new("tree"), r"tree\".as_ref(), "tree/".as_ref(), r".\tree".as_ref()]
        .into_iter()
        .chain([absolute.as_os_str(), canonical.as_os_str()])
    {
        let scan = env.transect([OsStr::new("--json"), root]).exits(0).quiet().json();
        assert_tree(&scan);
        assert_eq!(scan["roots"][0], root.to_str().expect("plain names"));
    }
}

#[test]
fn scan_file_root_counted() {
    let env = TestEnv::with_tree();
    let scan = env.transect(["--json", r"tree\plain"]).exits(0).quiet().json();
    assert_eq!((&scan["files"], &scan["directories"]), (&1.into(), &0.into()));
    assert_eq!(scan["apparent_size"], 10);
}

#[test]
fn missing_drive_named_in_one_line() {
    let env = TestEnv::new();
    let drive = missing_drive();
    for command in ["scan", "list", "doctor"] {
        let output = env.transect([command, &drive]).exits(2);
        assert_one_line(&output.stderr, &format!("transect: cannot access '{drive}': "));
        assert_eq!(output.text(), "");
    }
}

#[test]
fn pattern_as_path_rejected() {
    let env = TestEnv::with_tree();
    for command in ["scan", "list"] {
        let output = env.transect([command, r"tree\*"]).exits(2);
        assert_one_line(&output.stderr, r"transect: cannot access 'tree\*': ");
        assert_eq!(output.text(), "");
    }
}

#[test]
fn list_paths_have_backslashes() {
    let env = TestEnv::with_tree();
    for reader in env.readers().0 {
        let list = |flag| env.transect(["list", flag, "tree", "--reader", &reader]);
        assert_eq!(list("--pseudo").exits(0).quiet().paths('\n'), TREE, "{reader}");
        assert_eq!(list("-0").exits(0).quiet().paths('\0'), TREE, "{reader}");
    }
    let below = env.transect(["list", r".\tree\sub"]).exits(0).quiet();
    let expected = [r".\tree\sub", r".\tree\sub\inner", r".\tree\sub\inner\leaf"];
    assert_eq!(below.paths('\n'), expected);
}

#[test]
fn globs_with_slashes_match() {
    let env = TestEnv::with_tree();
    let args = ["list", "--min-depth", "1", "-g", "sub/**/leaf", "tree"];
    let list = env.transect(args).exits(0).quiet();
    assert_eq!(list.paths('\n'), [r"tree\sub\inner\leaf"]);
}

#[test]
fn list_unpaired_surrogates_unchanged_in_pipe() {
    let env = TestEnv::with_tree();
    let name = OsString::from_wide(&[u16::from(b'a'), 0xd800, u16::from(b'b')]);
    let made = fs::write(env.dir.join("tree").join(&name), b"x");
    let mut entries = fs::read_dir(env.dir.join("tree")).expect("our own directory");
    let is_kept = entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() == name));
    if made.is_err() || !is_kept {
        let test = "list_unpaired_surrogates_unchanged_in_pipe";
        // Not `eprintln!`, which the test harness captures.
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: {test}: this system stores only Unicode names");
        return;
    }
    let list = env.transect(["list", "-0", "tree"]).exits(0).quiet();
    let expected = [b"tree\\".as_slice(), name.as_encoded_bytes()].concat();
    assert!(list.stdout.split(|&byte| byte == 0).any(|path| path == expected), "{}", list.text());
    let scan = env.transect(["--json", "tree"]).exits(0).quiet().json();
    assert_eq!(scan["files"], 4);
}

#[test]
fn buffer_size_unsupported_by_reader_rejected() {
    let env = TestEnv::with_tree();
    for (reader, size) in [("nt-query", "4K"), ("nt-query", "4MiB"), ("by-handle", "65536")] {
        let args = ["--json", "--reader", reader, "--buffer-size", size, "tree"];
        assert_tree(&env.transect(args).exits(0).quiet().json());
    }
    for (reader, size, message) in [
        ("find-first-file", "64K", "reader 'find-first-file' does not use a buffer size"),
        ("nt-query", "1", "buffer size 1 is not between 4096 and 4194304 bytes"),
    ] {
        let refused = env.transect(["list", "--reader", reader, "--buffer-size", size]).exits(2);
        assert_eq!(refused.stderr, format!("transect: {message}\n"));
    }
}

#[test]
fn stat_order_with_attribute_listing_rejected() {
    let env = TestEnv::with_tree();
    for reader in ["nt-query", "find-first-file"] {
        let args = ["scan", "--reader", reader, "--stat-order", "inode", "tree"];
        let refused = env.transect(args).exits(2);
        let message = format!("transect: reader '{reader}' does not use a stat order\n");
        assert_eq!(refused.stderr, message);
    }
}

#[test]
fn doctor_shows_system_volume_and_readers() {
    let env = TestEnv::with_tree();
    let object = env.transect(["doctor", "--json", "tree"]).exits(0).quiet().json();
    assert_eq!(object["schema"], "transect.doctor/1");
    let system = object["system"].as_str().expect("a text");
    assert!(system.starts_with("Windows ") && system.contains(std::env::consts::ARCH), "{system}");
    assert!(object["open_file_limit"].is_null());
    let file_system = &object["file_system"];
    let mount_point = file_system["mount_point"].as_str().expect("a path");
    assert!(env.dir.starts_with(mount_point), "{mount_point} holds {}", env.dir.display());
    let options = file_system["options"].as_str().expect("a text");
    assert!(options.split(',').any(|option| option == "rw"), "{options}");
    let serial = file_system["serial"].as_str().expect("a text");
    assert!(serial.len() == 9 && serial.as_bytes()[4] == b'-', "{serial}");

    let text = env.transect(["doctor", "tree"]).exits(0).quiet().text();
    for part in [system, mount_point, options, serial, "long paths", "* nt-query ", "  portable "] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(text.contains("\n  not available (only on Linux): getdents-statx, getdents-fstatat\n"));
    assert!(!text.contains("open files"), "{text}");
    // Columns are as wide as their longest word, so all descriptions start in the same column.
    let starts: Vec<Option<usize>> = text
        .lines()
        .skip_while(|line| *line != "readers")
        .skip(1)
        .take_while(|line| !line.starts_with("  not available"))
        .map(|line| line[2..].find("  ").map(|gap| line.len() - line[2 + gap..].trim_start().len()))
        .collect();
    assert!(starts.len() > 1 && starts.iter().all(|start| start == &starts[0]), "{text}");
}

#[test]
fn summary_in_pipe_without_colours() {
    let env = TestEnv::with_tree();
    let text = env.transect(["--apparent", "tree"]).exits(0).quiet().text();
    assert!(text.starts_with("tree\n  entries     3 files, 4 directories\n"), "{text}");
    assert!(text.contains(r"  tree\sub\inner\leaf"), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn list_closed_pipe_ends_quietly() {
    let env = TestEnv::new();
    let tree = env.dir.join("tree");
    fs::create_dir(&tree).expect("a new directory");
    // Far more than a pipe holds, so that the closed pipe is noticed.
    for number in 0..3000 {
        let name = format!("{number:0>100}");
        fs::File::create(tree.join(name)).expect("a new file");
    }
    for flag in ["--pseudo", "-0"] {
        let mut list = env.start(["list", flag, "tree"]);
        let mut first = [0; 4];
        let mut stdout = list.stdout.take().expect("a pipe");
        stdout.read_exact(&mut first).expect("the first path");
        assert_eq!(&first, b"tree");
        drop(stdout);
        let _ = Output::of(list).exits(0).quiet();
    }
}

#[test]
fn cache_drop_without_residency_not_confirmed() {
    let env = TestEnv::with_tree();
    let status = env.transect(["cache", "status", r"tree\plain"]).exits(1).stderr;
    assert!(
        status.contains("this system does not report which parts of a file are in memory"),
        "{status}"
    );

    let dropped = env.transect(["cache", "drop", "--json", "tree"]).exits(0).json();
    assert_eq!((&dropped["files"], &dropped["complete"]), (&3.into(), &true.into()));
    for file in dropped["file_list"].as_array().expect("a list") {
        assert_eq!(
            (&file["resident_before"], &file["resident_after"]),
            (&Value::Null, &Value::Null)
        );
    }
    let dropped = env.transect(["cache", "drop", r"tree\plain"]).exits(0).stderr;
    assert!(dropped.contains("the system does not confirm it"), "{dropped}");
    assert_eq!(fs::read(env.dir.join(r"tree\plain")).expect("it is there"), [b'x'; 10]);
}

/// The methods that Windows supports with steps.
const METHODS: [&str; 6] = ["buffered", "streams", "pipeline", "mapped-read", "mapped", "direct"];

#[test]
fn transform_every_method_same_result_others_rejected() {
    let env = TestEnv::new();
    let text = b"Some text, in lines.\r\n".repeat(20_000);
    fs::write(env.dir.join("input"), &text).expect("a new file");
    for method in METHODS {
        let output = format!("output-{method}");
        let args = ["transform", "--method", method, "case=upper", "input", "-o", &output];
        env.transect(args).exits(0);
        let made = fs::read(env.dir.join(&output)).expect("it is there");
        assert!(made == text.to_ascii_uppercase(), "{method}");
    }
    let in_place = ["transform", "-i", "--method", "direct", "--read-back", "case=upper", "input"];
    env.transect(in_place).exits(0);
    assert!(fs::read(env.dir.join("input")).expect("it is there") == text.to_ascii_uppercase());
    for method in ["uring", "direct-uring"] {
        let args = ["transform", "--method", method, "case=upper", "input", "-o", "output"];
        let refused = env.transect(args).exits(1).stderr;
        let why = "this system has no io_uring, or does not allow it";
        let expected = format!("transect: method '{method}' cannot be used here: {why}\n");
        assert_eq!(refused, expected);
        assert!(!env.dir.join("output").exists());
    }
}

/// Runs a session, and returns its report with every row and the first line of its file.
fn session(env: &TestEnv, experiment: &str, args: &[&str]) -> (String, Value) {
    let file = "samples.jsonl";
    let run = ["lab", "run", experiment, "--rounds", "1", "-o", file];
    env.transect(run.iter().chain(args)).exits(0);
    let report = env.transect(["lab", "report", "--all", file]).exits(0).text();
    let lines = fs::read_to_string(env.dir.join(file)).expect("a session");
    let first = lines.lines().next().expect("a first line");
    (report, serde_json::from_str(first).expect("an object"))
}

/// Asserts that caches that nothing proves to be cold are never called cold: they were dropped without
/// proof, or not dropped, and then the session has what was asked for. Under Wine they cannot be dropped.
#[track_caller]
fn assert_cold_not_claimed(report: &str, spec: &Value, asked: &[&str]) {
    assert!(!report.contains("cold, proved") && !report.contains("caches cold"), "{report}");
    let is_under_wine = spec["environment"]["wine"].is_string();
    assert_eq!(report.contains("under Wine"), is_under_wine, "{report}");
    if is_under_wine {
        let instead: Vec<&str> =
            asked.iter().map(|&state| if state == "cold" { "as_is" } else { state }).collect();
        assert_eq!((&spec["passes"], &spec["replaced"]["asked"]), (&instead.into(), &asked.into()));
        let reason = spec["replaced"]["reason"].as_str().expect("a reason");
        let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
        let note = format!("Cold caches were asked for and not made: {reason}.");
        assert!(flat.contains(&note), "{report}");
        assert!(report.contains("(cold was asked for)"), "{report}");
    } else if spec["dropped"].is_string() {
        assert!(report.contains("dropped, unproved"), "{report}");
    } else {
        assert!(spec["replaced"]["reason"].is_string(), "{spec}");
    }
}

/// With the states of the preset, warm and cold.
#[test]
fn lab_transform_every_method_measured() {
    let env = TestEnv::new();
    let methods = METHODS.map(|method| format!("--methods={method}"));
    let few = ["--preset", "full", "--dir", ".", "--sizes", "64K", "--blocks", "16K", "--seq"];
    let args: Vec<&str> = few.into_iter().chain(methods.iter().map(String::as_str)).collect();
    let (report, spec) = session(&env, "transform", &args);
    for method in METHODS {
        assert!(report.contains(&format!("{method},block=16K ")), "{method}: {report}");
    }
    assert!(report.contains("mapped-read,block=16K,hint=sequential"), "{report}");
    assert!(report.contains("input warm, not proved"), "{report}");
    assert_cold_not_claimed(&report, &spec, &["warm", "cold"]);
}

/// Runs a preset of walks with one method and the floors, as a process takes a third of a second to start
/// under Wine.
fn run_preset(preset: &str, method: &str) -> (String, Value) {
    let env = TestEnv::with_tree();
    let few = ["--base", method, "--methods", method, "--no-calls"];
    let args = ["--preset", preset, "--path", "tree"].into_iter().chain(few);
    let (report, spec) = session(&env, "enumerate", &args.collect::<Vec<_>>());
    let found = "3 files, 4 directories, 5010 bytes, 0 errors";
    assert!(report.contains(found) && !report.contains("not ranked"), "{preset}: {report}");
    for cell in ["floor", "floor-threads", method] {
        let has_row = report.lines().any(|line| line.starts_with(&format!("{cell} ")));
        assert!(has_row, "{preset}, {cell}: {report}");
    }
    (report, spec)
}

#[test]
fn lab_presets_of_articles_with_cold_caches_run_to_their_end() {
    let small = "find-first-file-ex-basic/queue";
    let (report, spec) = run_preset("article-s0", small);
    assert_cold_not_claimed(&report, &spec, &["cold", "warm"]);
    assert!(report.contains("caches warm, not proved"), "{report}");
    let seven = "find-first-file-ex-basic/shared-queue,threads=7";
    let (report, spec) = run_preset("article-s2", seven);
    assert_cold_not_claimed(&report, &spec, &["cold"]);
}

#[test]
fn lab_presets_of_articles_with_warm_caches_run_to_their_end() {
    let method = "find-first-file/recursive";
    for preset in ["article-s1", "article-s4"] {
        let (_, spec) = run_preset(preset, method);
        assert_eq!((&spec["replaced"], &spec["dropped"]), (&Value::Null, &Value::Null));
    }
}

/// The user's own request for cold caches is refused where they cannot be dropped, with the reason.
#[test]
fn lab_state_cold_refused_with_reason_where_it_cannot_be_made() {
    let env = TestEnv::with_tree();
    let defaults = ["lab", "run", "transform", "--dir", ".", "--dry-run"];
    let plan = env.transect(defaults).exits(0).text();
    assert!(plan.contains(" 2 states, 12 rounds"), "{plan}");
    let dry = ["--dry-run", "--state", "cold"];
    let doctor = env.transect(["doctor", "--json"]).exits(0).json();
    let is_under_wine = doctor["system"].as_str().is_some_and(|system| system.contains("Wine"));
    for run in [&["enumerate", "--path", "tree"][..], &["transform", "--dir", "."]] {
        let output = env.transect(["lab", "run"].iter().chain(run).chain(&dry));
        if is_under_wine {
            let refused = output.exits(2).stderr;
            let why = "transect-lab: cannot measure with cold caches: Wine does not ";
            assert!(refused.starts_with(why), "{refused}");
        }
    }
}

#[test]
fn attributes_many_paths_shown() {
    let env = TestEnv::with_tree();
    fs::write(env.dir.join("list"), "tree\\plain\r\ntree\\missing\r\ntree/sub")
        .expect("a new file");
    let ask = ["attributes", "--json", "--columns", "type,size", "--from", "list"];
    let told = env.transect(ask).exits(0).quiet().text();
    let lines: Vec<Value> =
        told.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!((&lines[0]["type"], &lines[0]["size"]), (&"file".into(), &10.into()));
    assert_eq!(lines[1]["error"]["kind"], "not_found");
    assert_eq!((&lines[2]["path"], &lines[2]["type"]), (&"tree/sub".into(), &"directory".into()));
}
