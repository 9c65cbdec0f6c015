//! `transect attributes`: compares the results for many paths with those of the system.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Output, Running, TestEnv, skip};
use crate::tree;

/// Runs `attributes --from -` with some arguments and a list on standard input.
pub(crate) fn asked(env: &TestEnv, args: &[&str], list: &[u8]) -> Output {
    let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
    command.args(["attributes", "--from", "-"]).args(args).stdin(Stdio::piped());
    let mut running = Running::start(&mut command);
    let (mut stdin, list) = (running.child.stdin.take().expect("a pipe"), list.to_vec());
    let writer = std::thread::spawn(move || {
        // The reader may have closed the pipe.
        let _ = stdin.write_all(&list);
    });
    let output = running.finish();
    writer.join().expect("a thread that only writes");
    output
}

/// Returns a list of paths that end with NUL, because names may contain newlines.
pub(crate) fn list(paths: &[Vec<u8>]) -> Vec<u8> {
    paths.iter().flat_map(|path| [path, &b"\0"[..]].concat()).collect()
}

/// Returns the objects of all lines.
#[track_caller]
pub(crate) fn lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).expect("JSON is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("one object in a line")).collect()
}

/// Returns the path of a line as bytes.
pub(crate) fn path_of(line: &Value) -> OsString {
    match line["path_raw"].as_str() {
        Some(raw) => OsString::from_vec(
            (0..raw.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&raw[at..at + 2], 16).expect("two digits"))
                .collect(),
        ),
        None => line["path"].as_str().expect("every line is about a path").into(),
    }
}

/// Returns the expected attributes of a path, from `std`.
fn expected(env: &TestEnv, path: &Path, follow: bool) -> Value {
    if path.as_os_str().is_empty() {
        return json!({ "os_error": 2 });
    }
    let whole = env.path(path);
    let metadata = if follow { fs::metadata(whole) } else { fs::symlink_metadata(whole) };
    match metadata {
        Ok(metadata) => json!({
            "size": metadata.size(),
            "allocated": metadata.blocks() * 512,
            "mtime": metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec(),
            "ctime": metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec(),
            "mode": metadata.mode(),
            "uid": metadata.uid(),
            "gid": metadata.gid(),
            "nlink": metadata.nlink(),
            "inode": metadata.ino(),
            "device": metadata.dev(),
        }),
        Err(error) => json!({ "os_error": error.raw_os_error() }),
    }
}

/// Returns the paths of files, links, pipes and unusual names in a tree, and some that do not
/// exist.
pub(crate) fn many(env: &TestEnv) -> Vec<Vec<u8>> {
    tree::everything(env, "tree");
    symlink("nowhere", env.path("tree/dangling")).expect("a symbolic link");
    symlink("round", env.path("tree/round")).expect("a symbolic link");
    let mut paths = tree::paths(env, "tree");
    paths.extend(
        ["tree/missing", "missing/name", "tree/dangling/x", "", "/", "tree/"].map(Vec::from),
    );
    paths.push(vec![b'x'; 300]);
    paths.push(b"tree/\xff\xfe".to_vec());
    paths
}

#[test]
fn attributes_every_path_matches_system_in_order() {
    let env = TestEnv::new();
    let mut paths = many(&env);
    paths.reverse();
    for args in [&["-0", "--json"][..], &["-0", "--json", "--follow"]] {
        // A name that is too long and a loop of links are errors: they neither exist nor are
        // missing.
        let lines = lines(&asked(&env, args, &list(&paths)).exits(1).quiet());
        assert_eq!(lines.len(), paths.len());
        for (line, path) in lines.iter().zip(&paths) {
            assert_eq!(path_of(line).as_bytes(), path, "the order");
            let path = Path::new(OsStr::from_bytes(path));
            let expected = expected(&env, path, args.len() == 3);
            for (key, value) in expected.as_object().unwrap() {
                let told = if key == "os_error" { &line["error"][key] } else { &line[key] };
                assert_eq!(told, value, "{key} of '{}', {args:?}: {line}", path.display());
            }
        }
    }
}

#[test]
fn attributes_table_is_human_readable() {
    let env = TestEnv::new();
    env.write("file", 2000);
    symlink("file", env.path("link")).unwrap();
    fs::File::options()
        .write(true)
        .open(env.path("file"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(951_782_400))
        .unwrap();
    let columns = "--columns=type,size,mtime,nlink";
    let output =
        env.transect(["attributes", columns, "file", "missing", "file/x"]).exits(0).quiet();
    crate::harness::assert_output!(env, output, @r"
    exit code: 0
    ----- stdout -----
    type           size                mtime  nlink  path
    file       1.95 KiB  2000-02-29 00:00:00      1  file
    missing           -                    -      -  missing  No such file or directory
    missing           -                    -      -  file/x  Not a directory
    ");
    env.chmod(&env.path("file"), 0o640);
    let people =
        env.transect(["attributes", "--columns=mode,owner,group", "file"]).exits(0).quiet();
    let shown = people.stdout_text();
    let words: Vec<&str> = shown.lines().last().expect("a row").split_whitespace().collect();
    let names = env.sh("id -un; id -gn").stdout_text();
    let names: Vec<&str> = names.lines().collect();
    assert_eq!(words, ["-rw-r-----", names[0], names[1], "file"]);
    let followed = env.transect(["attributes", "-L", "--columns=type", "link"]).exits(0).quiet();
    assert!(followed.stdout_text().ends_with("file       link\n"), "{}", followed.text());
    let itself = env.transect(["attributes", "--columns=type", "link"]).exits(0).quiet();
    assert!(itself.stdout_text().ends_with("symlink    link\n"), "{}", itself.text());
}

#[test]
fn attributes_hostile_names_quoted_but_raw_with_nul() {
    let env = TestEnv::new();
    let name = OsStr::from_bytes(b"a\nb\x1b[31m\xff");
    env.write(Path::new(name), 1);
    let table = env.transect([OsStr::new("attributes"), name]).exits(0).quiet();
    assert!(table.stdout_text().ends_with("  a\\nb\\e[31m\u{fffd}\n"), "{}", table.text());
    let list = [name.as_bytes(), b"\0missing\0"].concat();
    let rows = asked(&env, &["-0", "--columns", "type"], &list).exits(0).quiet();
    assert_eq!(rows.stdout, b"file       a\nb\x1b[31m\xff\0missing    missing\0");
}

#[test]
fn attributes_command_line_paths_precede_list() {
    let env = TestEnv::new();
    env.text("list", "b\n\nc");
    let output = env.transect(["attributes", "--json", "a", "--from", "list"]).exits(0).quiet();
    let paths: Vec<OsString> = lines(&output).iter().map(path_of).collect();
    assert_eq!(paths, ["a", "b", "", "c"], "an empty line is a path that leads nowhere");
}

#[test]
fn attributes_long_list_same_for_any_threads() {
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 1000, "");
    let files = tree::paths(&env, "tree");
    let mut list = Vec::new();
    for number in 0..150_000_usize {
        list.extend_from_slice(&files[number * 7 % files.len()]);
        if number.is_multiple_of(10) {
            list.extend_from_slice(b".not");
        }
        list.push(b'\n');
    }
    let one = asked(&env, &["--json", "--columns", "type,inode", "-j1"], &list).exits(0).quiet();
    let many = asked(&env, &["--json", "--columns", "type,inode", "-j7"], &list).exits(0).quiet();
    assert_eq!(lines(&one).len(), 150_000);
    assert!(one.stdout == many.stdout);
}

#[test]
fn attributes_denied_path_sets_exit_code() {
    let env = TestEnv::new();
    let locked = env.mkdir("locked");
    env.write("locked/file", 1);
    env.chmod(&locked, 0o000);
    let asked = ["attributes", "--json", "locked", "locked/file", "locked/missing"];
    let Some(output) = env.transect_unprivileged("attributes_denied_path_sets_exit_code", asked)
    else {
        return;
    };
    let lines = lines(&output.exits(1).quiet());
    assert_eq!(lines[0]["type"], "directory");
    for line in &lines[1..] {
        assert_eq!(line["error"], json!({ "kind": "denied", "os_error": 13 }));
    }
}

#[test]
fn attributes_invalid_arguments_reported() {
    let env = TestEnv::new();
    env.text("list", &"x".repeat(3 << 20));
    for (args, what) in [
        (&["attributes"][..], "required arguments"),
        (&["attributes", "--columns", "colour", "x"], "invalid value 'colour'"),
        (
            &["attributes", "--columns", "reparse_tag", "x"],
            "column reparse_tag is not available here",
        ),
        (&["attributes", "--from", "nowhere"], "cannot read 'nowhere': No such file"),
        (&["attributes", "--from", "."], "cannot read '.': Is a directory"),
        (&["attributes", "--from", "list"], "'list' is not a list of paths"),
        (&["attributes", "--socket=nowhere", "x"], "no service answers at 'nowhere'"),
        (&["attributes", "--service", "-j2", "x"], "cannot be used with"),
    ] {
        let output = env.transect(args).exits(2);
        assert!(output.stderr_text().contains(what), "{args:?}\n{}", output.text());
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn attributes_waiting_for_list_can_be_interrupted() {
    let env = TestEnv::new();
    let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
    command.args(["attributes", "--from", "-"]).stdin(Stdio::piped());
    let running = Running::start(&mut command);
    running.wait_until_handled();
    running.signal(rustix::process::Signal::INT);
    let _ = running.finish().exits(130).quiet();
}

#[test]
fn attributes_closed_pipe_ends_quietly() {
    let env = TestEnv::new();
    let output = env.sh("yes / | \"$TRANSECT\" attributes --json --from - | head -n 3");
    assert_eq!(lines(&output.exits(0).quiet()).len(), 3);
}

/// Beside a query of each name that exists, a directory takes at most ten system calls, however the
/// list is sorted, on one thread and on two.
#[test]
fn attributes_cold_directory_takes_few_system_calls() {
    let test = "attributes_cold_directory_takes_few_system_calls";
    const NAMES: usize = 20;
    let env = TestEnv::new();
    if !env.has("strace") {
        return skip(test, "there is no strace").unwrap_or_default();
    }
    let directories: Vec<_> =
        (0..420).map(|number| env.mkdir(format!("tree/directory-{number:03}"))).collect();
    for directory in &directories {
        (0..NAMES).for_each(|name| fs::write(directory.join(format!("name-{name}")), "").unwrap());
    }
    // One name of every directory, then the next one of every directory.
    let scattered = |directories: &[PathBuf], name: &str| {
        let path = |name: &str, number: usize, directory: &PathBuf| {
            format!("{}/{name}-{number}\n", directory.display())
        };
        let of = |number| directories.iter().map(move |directory| path(name, number, directory));
        (0..NAMES).flat_map(of).collect::<String>()
    };
    // `fcntl` checks descriptors before they are closed, in debug builds only.
    let calls = |list: &str, threads: &str| {
        env.text("list", list);
        let script =
            r#"strace -f -qq -o calls -e trace=!fcntl "$TRANSECT" attributes --from list --json"#;
        let output = env.sh(&format!("{script} -j {threads} >answers"));
        let _ = output.exits(0);
        let calls = fs::read_to_string(env.path("calls")).unwrap();
        // A call that another thread interrupts takes two lines; threads wait for each other.
        let is_call = |line: &&str| !line.contains(" resumed>") && !line.contains(" futex(");
        let answers = fs::read_to_string(env.path("answers")).unwrap().lines().count();
        assert_eq!(answers, list.lines().count());
        calls.lines().filter(is_call).count()
    };
    for (name, queries) in [("name", NAMES), ("missing", 0)] {
        let (few, many) = (&directories[..210], &directories[..]);
        for threads in ["1", "2"] {
            let [few, many] =
                [few, many].map(|some| (calls(&scattered(some, name), threads), some.len()));
            // What a start takes cancels out.
            let each = (many.0 - few.0) as f64 / (many.1 - few.1) as f64 - queries as f64;
            assert!(each <= 10.0, "{name}, {threads} threads: {each} calls a directory");
            assert!(each >= 2.0, "{name}, {threads} threads: nothing was counted");
        }
    }
}
