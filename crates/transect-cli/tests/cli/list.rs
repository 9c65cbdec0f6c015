//! `transect list`, compared with `find` and with `std::fs`.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;

use crate::harness::{TestEnv, skip};
use crate::tree;

/// Returns paths as text, for messages that can be read.
fn readable(paths: &[Vec<u8>]) -> Vec<String> {
    paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

#[track_caller]
fn assert_same(listed: &[Vec<u8>], expected: &[Vec<u8>], what: &str) {
    assert!(!expected.is_empty(), "{what}: nothing is expected");
    if listed != expected {
        let (listed, expected) = (readable(listed), readable(expected));
        let missing: Vec<_> = expected.iter().filter(|path| !listed.contains(path)).collect();
        let further: Vec<_> = listed.iter().filter(|path| !expected.contains(path)).collect();
        panic!(
            "{what}: {} paths instead of {}, missing {missing:#?}, not expected {further:#?}",
            listed.len(),
            expected.len(),
        );
    }
}

#[test]
fn nul_ends_paths_whatever_they_hold() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let expected = tree::paths(&env, "tree");
    for flag in ["-0", "--null"] {
        let listed = env.transect(["list", flag, "tree"]).exits(0).quiet().paths(b'\0');
        assert_same(&listed, &expected, flag);
    }
}

#[test]
fn list_prints_what_find_prints() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    if !env.has("find") {
        return skip("list_prints_what_find_prints", "there is no find").unwrap_or_default();
    }
    for (arguments, find) in [
        ("tree", "find tree"),
        ("tree/", "find tree/"),
        ("./tree", "find ./tree"),
        ("../work/tree/sub", "find ../work/tree/sub"),
        ("'to file' plain fifo", "find 'to file' plain fifo"),
        ("--min-depth 1 tree", "find tree -mindepth 1"),
        ("--min-depth 3 tree", "find tree -mindepth 3"),
        ("--max-depth 0 tree", "find tree -maxdepth 0"),
        ("--max-depth 2 tree", "find tree -maxdepth 2"),
        ("--min-depth 2 --max-depth 2 tree", "find tree -mindepth 2 -maxdepth 2"),
        ("--one-file-system tree", "find tree -xdev"),
    ] {
        let links = "cd tree && ln -s plain '../to file' && cp plain .. && mkfifo ../fifo";
        if !env.path("fifo").exists() {
            let _ = env.sh(links).exits(0);
        }
        let listed = env.sh(&format!(r#""$TRANSECT" list {arguments}"#)).exits(0).quiet();
        let found = env.sh(find).exits(0).quiet();
        assert_same(&listed.paths(b'\n'), &found.paths(b'\n'), arguments);
    }
}

#[test]
fn list_without_a_path_lists_the_current_directory() {
    let env = TestEnv::new();
    env.mkdir("a/b");
    let listed = env.transect(["list"]).exits(0).quiet();
    assert_eq!(readable(&listed.paths(b'\n')), [".", "./a", "./a/b"]);
}

#[test]
fn every_reader_and_every_order_lists_the_same() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let expected = tree::paths(&env, "tree");
    for (option, values) in crate::scan::readers_and_orders(&env) {
        for value in values {
            let listed = env.transect(["list", "-0", "tree", option, &value]).exits(0).quiet();
            assert_same(&listed.paths(b'\0'), &expected, &value);
        }
    }
}

#[test]
fn overlapping_roots_are_listed_once() {
    let env = TestEnv::new();
    env.mkdir("tree/sub/inner");
    let listed = env.transect(["list", "tree/sub", "tree"]).exits(0).quiet();
    let expected = ["tree", "tree/sub", "tree/sub/inner"];
    assert_eq!(readable(&listed.paths(b'\n')), expected);
}

#[test]
fn links_are_followed_if_asked_for() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.mkdir("elsewhere");
    env.write("elsewhere/file", 1);
    std::os::unix::fs::symlink("../elsewhere", env.path("tree/link")).unwrap();
    std::os::unix::fs::symlink("..", env.path("tree/sub/up")).unwrap();
    let plain = env.transect(["list", "tree"]).exits(0).quiet();
    let expected = ["tree", "tree/link", "tree/sub", "tree/sub/up"];
    assert_eq!(readable(&plain.paths(b'\n')), expected);
    let followed = env.transect(["list", "--follow", "tree"]).exits(0).quiet();
    let expected = ["tree", "tree/link", "tree/link/file", "tree/sub", "tree/sub/up"];
    assert_eq!(readable(&followed.paths(b'\n')), expected);
}

#[test]
fn globs_choose_by_name_or_by_path() {
    let env = TestEnv::new();
    for directory in ["tree/src/deep", "tree/docs"] {
        env.mkdir(directory);
    }
    for file in ["src/main.rs", "src/notes.md", "src/deep/lib.rs", "docs/guide.md", "README.md"] {
        env.text(format!("tree/{file}"), "");
    }
    let all = ["README.md", "docs", "docs/guide.md", "src", "src/deep", "src/deep/lib.rs"];
    let all = [&all[..], &["src/main.rs", "src/notes.md"]].concat();
    for (arguments, expected) in [
        (&[][..], &all[..]),
        (&["--glob", "*.rs"], &["src/deep/lib.rs", "src/main.rs"]),
        (&["-g", "*.rs", "-g", "guide.*"], &["docs/guide.md", "src/deep/lib.rs", "src/main.rs"]),
        (&["-g", "/src/*.rs"], &["src/main.rs"]),
        (&["-g", "src/*.md"], &["src/notes.md"]),
        (&["-g", "*.md", "-g", "!guide.md"], &["README.md", "src/notes.md"]),
        (&["-g", "!*.md"], &["docs", "src", "src/deep", "src/deep/lib.rs", "src/main.rs"]),
        (&["--exclude", "src"], &["README.md", "docs", "docs/guide.md"]),
        (
            &["-E", "deep", "-E", "docs", "-g", "*.{rs,md}"],
            &["README.md", "src/main.rs", "src/notes.md"],
        ),
        (&["-E", "*"], &[]),
    ] {
        let fixed = ["list", "--min-depth", "1", "tree"];
        let output = env.transect(fixed.iter().chain(arguments)).exits(0).quiet();
        let listed =
            readable(&if output.stdout.is_empty() { Vec::new() } else { output.paths(b'\n') });
        let expected: Vec<_> = expected.iter().map(|path| format!("tree/{path}")).collect();
        assert_eq!(listed, expected, "{arguments:?}");
    }
}

#[test]
fn what_gitignore_leaves_out_is_left_out_if_asked_for() {
    let env = TestEnv::new();
    for directory in ["tree/.git", "tree/target/debug", "tree/src/gen"] {
        env.mkdir(directory);
    }
    for file in [".git/HEAD", "target/debug/out", "src/gen/a.o", "src/gen/keep.o", "src/a.o"] {
        env.text(format!("tree/{file}"), "");
    }
    env.text("tree/.gitignore", "/target\n*.o\n");
    env.text("tree/src/gen/.gitignore", "!keep.o\n");
    let args = ["list", "--min-depth", "1", "tree"];
    let all = env.transect(args).exits(0).quiet().paths(b'\n');
    assert_same(&all, &tree::paths(&env, "tree")[1..], "without --gitignore");

    let listed = env.transect(args.iter().chain(&["--gitignore"])).exits(0).quiet();
    let expected = [".gitignore", "src", "src/gen", "src/gen/.gitignore", "src/gen/keep.o"]
        .map(|path| format!("tree/{path}"));
    assert_eq!(readable(&listed.paths(b'\n')), expected);

    // The rules of the repository hold for a root inside it, too.
    let inside = env.transect(["list", "--gitignore", "tree/src/gen"]).exits(0).quiet();
    let expected = ["tree/src/gen", "tree/src/gen/.gitignore", "tree/src/gen/keep.o"];
    assert_eq!(readable(&inside.paths(b'\n')), expected);
}

#[test]
fn a_named_pipe_is_no_file_of_rules() {
    let env = TestEnv::new();
    env.mkdir("tree");
    tree::mkfifo(&env, &env.path("tree/.gitignore"));
    let listed = env.transect(["list", "--gitignore", "tree"]);
    assert_eq!(readable(&listed.paths(b'\n')), ["tree", "tree/.gitignore"]);
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_list_quietly() {
    let env = TestEnv::new();
    // Far more than a pipe holds, so that the end is noticed.
    tree::many_files(&env, &env.path("tree"), 4000, &"x".repeat(240));
    let script = r#"{ "$TRANSECT" list tree; echo $? >code; } | head -n 1"#;
    let first = env.sh(script).exits(0).quiet();
    assert_eq!(first.stdout_text(), "tree\n");
    assert_eq!(std::fs::read_to_string(env.path("code")).unwrap(), "0\n");
}

#[test]
fn a_list_that_nobody_reads_yet_is_not_lost() {
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 2000, &"x".repeat(240));
    let mut running = env.start(["list", "tree"]);
    let mut first = [0; 5];
    let mut stdout = running.child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    // The pipe is full long before the end: whoever ended now would have lost paths.
    assert!(running.child.try_wait().unwrap().is_none(), "the list did not wait");
    let mut rest = first.to_vec();
    stdout.read_to_end(&mut rest).unwrap();
    let mut output = running.finish().exits(0).quiet();
    output.stdout = rest;
    assert_same(&output.paths(b'\n'), &tree::paths(&env, "tree"), "through a slow pipe");
}

#[test]
fn a_full_device_is_said_and_the_exit_code_tells() {
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 2000, &"x".repeat(240));
    let output = env.sh(r#""$TRANSECT" list tree >/dev/full"#).exits(2);
    let message = output.stderr_text();
    let expected = "transect: cannot write output: No space left on device";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn what_cannot_be_read_is_listed_itself_and_makes_the_list_partial() {
    let env = TestEnv::new();
    let locked = env.mkdir("tree/locked");
    env.write("tree/locked/hidden", 1);
    env.write("tree/file", 1);
    env.chmod(&locked, 0o000);
    let test = "what_cannot_be_read_is_listed_itself_and_makes_the_list_partial";
    let Some(output) = env.transect_unprivileged(test, ["list", "tree"]) else {
        return;
    };
    let output = output.exits(1);
    assert_eq!(readable(&output.paths(b'\n')), ["tree", "tree/file", "tree/locked"]);
    let message = "transect: cannot open directory 'tree/locked': Permission denied\n";
    assert_eq!(output.stderr_text(), message);
}

#[test]
fn roots_are_listed_as_they_were_given() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    let absolute = env.path("tree");
    let listed = env.transect([&absolute]).exits(0);
    assert!(listed.stdout_text().starts_with(absolute.to_str().unwrap()));
    let strange = tree::raw(b"tree/in\xffvalid");
    env.mkdir(&strange);
    let listed = env.transect(["list".as_ref(), strange.as_os_str()]).exits(0).quiet();
    assert_eq!(listed.paths(b'\n'), [strange.as_bytes()]);
    let dashed = env.mkdir("-x");
    env.mkdir(dashed.join("y"));
    let listed = env.transect(["list", "--", "-x"]).exits(0).quiet();
    assert_eq!(readable(&listed.paths(b'\n')), ["-x", "-x/y"]);
}
