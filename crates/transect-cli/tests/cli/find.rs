//! `transect find`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::harness::{Output, TestEnv};

/// A tree, of which a snapshot was kept, and one stored as `a.parquet`.
fn kept_tree() -> TestEnv {
    let env = TestEnv::new();
    env.mkdir("tree/src/sub");
    env.mkdir("tree/Source");
    env.write("tree/src/main.rs", 10);
    env.write("tree/src/sub/Main.c", 2000);
    env.write("tree/Source/notes.txt", 5);
    env.text("tree/\u{c4}pfel.txt", "apples");
    env.text(OsStr::from_bytes(b"tree/not \xff UTF-8"), "text");
    env.text("tree/two\nlines", "text");
    std::os::unix::fs::symlink("main.rs", env.path("tree/src/main.link")).expect("a new link");
    let _ = env.transect(["keep", "tree"]).exits(0).quiet();
    let _ = env.transect(["snapshot", "--all-times", "tree", "-o", "a.parquet"]).exits(0).quiet();
    env
}

fn find(env: &TestEnv, args: &[&str]) -> Output {
    env.transect(["find", "--in", "tree"].iter().chain(args))
}

/// Returns the paths below the tree that a search prints.
fn paths(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let output = find(env, &[args, &["-0"]].concat());
    let root = env.path("tree");
    let mut paths: Vec<String> = output
        .stdout
        .split(|&byte| byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| {
            let path = std::path::Path::new(OsStr::from_bytes(path));
            path.strip_prefix(&root).expect("a path in the tree").to_string_lossy().into_owned()
        })
        .collect();
    let _ = output.exits(i32::from(paths.is_empty()));
    paths.sort();
    paths
}

/// Returns the lines of JSON, and the last one.
fn json(output: Output) -> (Vec<Value>, Value) {
    let text = output.stdout_text();
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let summary = lines.pop().expect("a summary");
    assert_eq!(summary["schema"], "transect.find/1");
    (lines, summary)
}

#[test]
fn find_substrings_globs_and_expressions() {
    let env = kept_tree();
    let cases: [(&[&str], &[&str]); 16] = [
        (&["main"], &["src/main.link", "src/main.rs"]),
        (&["-i", "MAIN"], &["src/main.link", "src/main.rs", "src/sub/Main.c"]),
        (&["main", ".rs"], &["src/main.rs"]),
        (&["tree"], &[""]),
        (&["rc/ma"], &["src/main.link", "src/main.rs"]),
        (&["-i", "SRC/SUB/main"], &["src/sub/Main.c"]),
        (&["\u{e4}pfel"], &[]),
        (&["-i", "\u{e4}PFEL"], &["\u{c4}pfel.txt"]),
        (&["-g", "*.{c,rs}"], &["src/main.rs", "src/sub/Main.c"]),
        (&["-g", "-i", "m[!b]in.?"], &["src/sub/Main.c"]),
        (&["-g", "src/*.rs"], &["src/main.rs"]),
        (&["-g", "src/**/*.c"], &["src/sub/Main.c"]),
        (&["--regex", "^[nt]o"], &["Source/notes.txt", "not \u{fffd} UTF-8"]),
        (&["--regex", "-i", "^(main|notes)[.]", "t$"], &["Source/notes.txt"]),
        (&["\n"], &["two\nlines"]),
        (&["no such name"], &[]),
    ];
    for (args, expected) in cases {
        assert_eq!(paths(&env, args), expected, "{args:?}");
    }
    // Bytes that are not UTF-8.
    let root = env.path("tree");
    let output = env.transect([
        OsStr::new("find"),
        OsStr::new("--in"),
        root.as_os_str(),
        OsStr::from_bytes(b"\xff"),
    ]);
    assert!(output.exits(0).stdout.ends_with(b"/not \xff UTF-8\n"));
}

#[test]
fn find_filters_count_sort_and_limit() {
    let env = kept_tree();
    assert_eq!(paths(&env, &["main", "-t", "l"]), ["src/main.link"]);
    assert_eq!(paths(&env, &["-i", "main", "--size", "+1K"]), ["src/sub/Main.c"]);
    assert_eq!(paths(&env, &["-g", "*", "-t", "d"]), ["", "Source", "src", "src/sub"]);
    assert_eq!(paths(&env, &["main", "--older", "2000-01-01"]), Vec::<String>::new());
    let count = |args: &[&str]| find(&env, args).stdout_text();
    assert_eq!(count(&["--count", "main"]), "2\n");
    assert_eq!(count(&["--count", "-g", "*", "-t", "d"]), "4\n");
    let none = find(&env, &["--count", "no such name"]).exits(1);
    assert_eq!(none.stdout_text(), "0\n");
    let largest =
        ["-g", "*", "-t", "f", "--sort", "size", "-n", "1", "--columns", "name,size", "--bytes"];
    let largest = count(&largest);
    let words: Vec<&str> = largest.split_whitespace().collect();
    assert_eq!(words, ["Main.c", "2000"]);
    assert_eq!(count(&["-g", "*", "-n", "3"]).lines().count(), 3);
    let csv = count(&["main.rs", "--csv", "--columns", "name,type,size"]);
    assert_eq!(csv, "name,type,size\n\"main.rs\",\"file\",10\n");
    let long = count(&["main.rs", "--long"]);
    let of_list = env.transect(["list", "--long", "a.parquet", "-g", "main.rs"]).exits(0);
    assert_eq!(long, of_list.stdout_text(), "the columns of list");
}

#[test]
fn find_json_has_attributes_and_says_what_was_searched() {
    let env = kept_tree();
    let (lines, summary) = json(find(&env, &["--json", "-i", "main"]).exits(0).quiet());
    let (listed, _) = {
        let list = env.transect(["list", "--json", "a.parquet", "-i", "-g", "*main*"]).exits(0);
        let text = list.stdout_text();
        (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>(), ())
    };
    let sorted = |mut lines: Vec<Value>| {
        lines.sort_by_key(|line| line["path"].to_string());
        lines
    };
    assert_eq!(sorted(lines), sorted(listed), "as list prints them");
    assert_eq!((&summary["found"], &summary["disk"]), (&3.into(), &Value::Null));
    let snapshot = &summary["snapshots"][0];
    assert_eq!(snapshot["roots"][0], env.path("tree").to_str().unwrap());
    assert!(snapshot["taken"].as_i64().is_some() && snapshot["complete"] == true);
    assert_eq!(snapshot["entries"], 11);
    let (lines, summary) = json(find(&env, &["--json", "--count", "main"]).exits(0).quiet());
    assert_eq!((lines.len(), &summary["found"]), (0, &2.into()));
    let (_, summary) = json(find(&env, &["--json", "no such name"]).exits(1).quiet());
    assert_eq!(summary["found"], 0);
}

#[test]
fn find_verify_marks_what_changed_on_the_disk() {
    let env = kept_tree();
    env.write("tree/src/main.rs", 11);
    fs::remove_file(env.path("tree/src/sub/Main.c")).unwrap();
    let (lines, summary) = json(find(&env, &["--json", "--verify", "-i", "main"]).exits(0).quiet());
    let mut states: Vec<(&str, i64)> = lines
        .iter()
        .map(|line| (line["disk"].as_str().unwrap(), line["size"].as_i64().unwrap()))
        .collect();
    states.sort_unstable();
    // The sizes are those of the snapshot; a link has the length of its target.
    assert_eq!(states, [("changed", 10), ("same", 7), ("vanished", 2000)]);
    let counts = serde_json::json!({ "same": 1, "changed": 1, "vanished": 1, "unknown": 0 });
    assert_eq!(summary["disk"], counts);
    let text = find(&env, &["--verify", "main.rs"]).exits(0).stdout_text();
    assert!(text.starts_with("changed ") && text.ends_with("/tree/src/main.rs\n"), "{text}");
    assert_eq!(paths(&env, &["-i", "main", "--verify"]), ["src/main.link", "src/main.rs"]);
    let _ = find(&env, &["--verify", "Main.c"]).exits(1);
    // A directory in place of a file; a file in place of the directory above.
    fs::remove_file(env.path("tree/src/main.rs")).unwrap();
    env.mkdir("tree/src/main.rs");
    fs::remove_dir_all(env.path("tree/Source")).unwrap();
    env.write("tree/Source", 1);
    let text = find(&env, &["--verify", "-g", "{main.rs,notes.txt}"]).exits(0).stdout_text();
    assert!(text.contains("vanished ") && text.contains("changed "), "{text}");
}

#[test]
fn find_searches_the_nearest_series_or_all() {
    let env = kept_tree();
    env.mkdir("other/inner");
    env.write("other/inner/main.txt", 1);
    let in_directory = |directory: &str, args: &str| {
        env.sh(&format!("cd {directory} && \"$TRANSECT\" find {args}"))
    };
    let below = in_directory("tree/src/sub", "main").exits(0);
    assert_eq!(below.stdout_text().lines().count(), 2);
    assert!(below.stderr_text().contains("from the snapshot of '"), "{}", below.text());
    assert!(below.stderr_text().contains(" less than a minute old (20"), "{}", below.text());
    // Two more series, one in the other, and neither above the current directory.
    let _ = env.transect(["keep", "other", "other/inner"]).exits(0).quiet();
    let all = in_directory("/", "main").exits(0);
    assert_eq!(all.stdout_text().lines().count(), 3, "{}", all.text());
    assert_eq!(all.stderr_text().lines().count(), 2, "{}", all.text());
    let inner = in_directory("other/inner", "main").exits(0);
    assert_eq!(inner.stdout_text().lines().count(), 1);
    let both = env.transect(["find", "--in", "tree", "--in", "a.parquet", "main.rs"]).exits(0);
    assert_eq!(both.stdout_text().lines().count(), 2);
    // A snapshot that cannot be used is named.
    let kept = env.transect(["keep", "--json", "other"]).exits(0).json();
    fs::write(kept["snapshot"]["path"].as_str().unwrap(), "PAR1").unwrap();
    let older = env.transect(["find", "--in", "other", "main"]).exits(1);
    assert!(older.stderr_text().contains("cannot use '"), "{}", older.text());
    assert_eq!(older.stdout_text().lines().count(), 1);
}

#[test]
fn find_reads_directory_that_was_not_kept() {
    let env = kept_tree();
    env.mkdir("other/inner");
    env.write("other/inner/main.txt", 1);
    let find = |args: &str| env.sh(&format!("cd other && \"$TRANSECT\" find {args}"));
    let found = find("main").exits(0);
    assert!(found.stdout_text().ends_with("/other/inner/main.txt\n"), "{}", found.text());
    assert_eq!(found.stdout_text().lines().count(), 1, "not of the tree that was kept");
    assert!(found.stderr_text().contains("other' was read for this search"), "{}", found.text());
    assert_eq!(find("--count .").exits(0).stdout_text(), "1\n");
    let object = find("--json main").exits(0).quiet().stdout_text();
    assert!(object.contains("\"snapshots\":[{\"path\":\""), "{object}");
    let _ = find("nothing").exits(1);
}

#[test]
fn find_errors_say_what_to_do() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let failing = |args: &[&str], expected: &str| {
        let output = env.transect(["find"].iter().chain(args)).exits(2);
        let text = output.stderr_text();
        assert!(text.contains(expected) && output.stdout.is_empty(), "{}", output.text());
    };
    failing(&["--in", "tree", "x"], "was kept; keep one: transect keep tree");
    failing(&["--in", "nowhere", "x"], "was kept, and 'nowhere' does not exist");
    env.write("file", 5);
    failing(&["--in", "file", "x"], "'file' is neither a snapshot nor a directory");
    failing(&[], "required");
    let _ = env.transect(["keep", "tree"]).exits(0).quiet();
    failing(&["--in", "tree", ""], "an empty PATTERN is in every name");
    failing(&["--in", "tree", "-g", "a[b"], "cannot parse pattern 'a[b': ");
    failing(&["--in", "tree", "--regex", "(b"], "cannot parse pattern '(b': unclosed group");
    failing(
        &["--in", "tree", "--sort", "atime", "x"],
        "does not have atime; store it with --all-times",
    );
    let raw = [OsStr::new("find"), OsStr::new("--regex"), OsStr::from_bytes(b"\xff")];
    assert!(env.transect(raw).exits(2).stderr_text().contains("it is not UTF-8"));
}
