//! `transform` and `verify`: the changed files, the output, and the files left after a failure.

use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;

use rustix::process::Signal;
use transect_testkit::wait_until;

use crate::harness::{Running, TestEnv, assert_output, skip};

/// A small tree with every kind of file that matters to `eol=lf`.
fn tree(env: &TestEnv) {
    env.mkdir("src/deep");
    env.text("src/a.c", "one\r\ntwo\n");
    env.text("src/b.c", "one\n");
    env.text("src/deep/bin", "\0\r\n");
    env.text("src/deep/c.h", "three\r\n");
    std::os::unix::fs::symlink("a.c", env.path("src/link")).expect("a link");
}

fn content(env: &TestEnv, path: &str) -> String {
    String::from_utf8(fs::read(env.path(path)).expect("a file")).expect("text")
}

fn names(env: &TestEnv, dir: &str) -> Vec<String> {
    let entries = fs::read_dir(env.path(dir)).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

#[test]
fn transform_in_place_changes_only_what_differs() {
    let env = TestEnv::new();
    tree(&env);
    let untouched = |path: &str| {
        let metadata = fs::metadata(env.path(path)).unwrap();
        (metadata.modified().unwrap(), std::os::unix::fs::MetadataExt::ino(&metadata))
    };
    let before = (untouched("src/b.c"), untouched("src/deep/bin"));
    assert_output!(env, env.transect(["transform", "eol=lf", "src", "--check"]), @r"
    exit code: 1
    ----- stdout -----
    src/a.c
    src/deep/c.h
    ----- stderr -----
    transect: 4 files, 2 would change, 1 unchanged, 1 skipped: not text; 20 B in [time]
    ");
    assert_eq!(content(&env, "src/a.c"), "one\r\ntwo\n");
    assert_output!(env, env.transect(["transform", "eol=lf", "src", "-i", "-v", "--glob", "*.[ch]"]), @r"
    exit code: 0
    ----- stdout -----
    changed src/a.c
    same src/b.c
    changed src/deep/c.h
    ----- stderr -----
    transect: 3 files, 2 changed, 1 unchanged; 20 B in [time]
    ");
    assert_eq!(content(&env, "src/a.c"), "one\ntwo\n");
    assert_eq!(content(&env, "src/deep/c.h"), "three\n");
    assert_eq!((untouched("src/b.c"), untouched("src/deep/bin")), before);
    assert!(env.path("src/link").is_symlink());
    assert_eq!(names(&env, "src"), ["a.c", "b.c", "deep", "link"]);
    assert_output!(env, env.transect(["transform", "eol=lf", "src", "--check"]), @r"
    exit code: 0
    ----- stderr -----
    transect: 4 files, 3 unchanged, 1 skipped: not text; 18 B in [time]
    ");
}

#[test]
fn transform_output_directory_with_digests_verifies() {
    let env = TestEnv::new();
    tree(&env);
    let copied =
        env.transect(["transform", "copy", "blake3", "sha256", "src", "-o", "out"]).exits(0);
    fs::write(env.path("list"), &copied.stdout).unwrap();
    assert_eq!(copied.stdout_text().lines().count(), 8);
    assert_eq!(content(&env, "out/deep/c.h"), "three\r\n");
    assert_output!(env, env.transect(["verify", "--quiet", "list"]), @r"
    exit code: 0
    ----- stderr -----
    transect: 8 files, 8 match in [time]
    ");
    let check = env.sh("grep SHA256 list | sha256sum -c --quiet").exits(0);
    assert!(check.stdout.is_empty());
    env.text("out/a.c", "one\r\ntwx\n");
    fs::remove_file(env.path("out/b.c")).unwrap();
    env.text("more", "# a comment\nnonsense\n");
    fs::write(env.path("plain"), b"2b55fea4\nBLAKE3 () = 00\n").unwrap();
    assert_output!(env, env.transect(["verify", "-j1", "list"]), @r"
    exit code: 1
    ----- stdout -----
    out/a.c: DIFFERS
    out/b.c: MISSING
    out/deep/bin: OK
    out/deep/c.h: OK
    out/a.c: DIFFERS
    out/b.c: MISSING
    out/deep/bin: OK
    out/deep/c.h: OK
    ----- stderr -----
    transect: 8 files, 4 match, 2 differ, 2 missing in [time]
    ");
    assert_output!(env, env.transect(["verify", "more"]), @r"
    exit code: 2
    ----- stderr -----
    transect: 'more', line 2: neither 'DIGEST  NAME' nor 'KIND (NAME) = DIGEST'
    transect: cannot read the manifest 'more': it contains no digests
    ");
    assert_output!(env, env.transect(["verify", "missing"]), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot read the manifest 'missing': No such file or directory
    ");
}

#[test]
fn verify_exchanges_lists_with_sum_programs() {
    let env = TestEnv::new();
    tree(&env);
    env.text("src/back\\slash", "x");
    env.text("src/new\nline", "y");
    for program in ["b3sum", "sha256sum"] {
        if !env.has(program) {
            skip::<()>(
                "verify_exchanges_lists_with_sum_programs",
                &format!("there is no {program}"),
            );
            continue;
        }
        let list = env.sh(&format!("{program} src/* 2>/dev/null >list; cat list"));
        assert!(list.stdout_text().lines().count() >= 4, "{}", list.text());
        let verified = env.transect(["verify", "list"]).exits(0);
        assert!(!verified.stdout_text().contains("DIFFERS"));
        // The link is listed, too, by its target.
        let lines = list.stdout_text().lines().count();
        assert_eq!(verified.stdout_text().lines().count(), lines);
    }
    let scripts = [
        "sha256sum -z src/new*",
        "sha256sum --tag src/* 2>/dev/null",
        "sha256sum src/b.c | sed 's/  / /; s/^/ /'",
        "openssl sha256 src/a.c src/b.c",
    ];
    for script in scripts {
        let program = script.split(' ').next().unwrap();
        if !env.has(program) {
            let reason = format!("there is no {program}");
            skip::<()>("verify_exchanges_lists_with_sum_programs", &reason);
            continue;
        }
        let verified = env.sh(&format!(r#"{script} | "$TRANSECT" verify -"#)).exits(0);
        assert!(verified.stdout_text().ends_with(": OK\n"), "{script}: {}", verified.text());
    }
    // Not "DIFFERS": the digests are those of another algorithm.
    let md5 = env.sh(r#"md5sum src/a.c | "$TRANSECT" verify -"#).exits(2);
    assert!(md5.stdout.is_empty() && md5.text().contains("MD5"), "{}", md5.text());
    let script = r#""$TRANSECT" transform sha256 src >list && sha256sum -c list"#;
    let checked = env.sh(script).exits(0);
    assert_eq!(checked.stdout_text().lines().count(), 6);
}

#[test]
fn transform_between_pipes() {
    let env = TestEnv::new();
    let filtered =
        env.sh(r#"printf 'a\r\nb\r\n' | "$TRANSECT" transform eol=lf case=upper crc32c"#);
    assert_output!(env, filtered, @r"
    exit code: 0
    ----- stdout -----
    A
    B
    ----- stderr -----
    CRC32C (-) = fa0a0c82
    ");
    let digest = env.sh(r#"printf 123456789 | "$TRANSECT" transform crc32c"#).exits(0).quiet();
    assert_eq!(digest.stdout_text(), "CRC32C (-) = e3069283\n");
    tree(&env);
    let shown = env.transect(["transform", "eol=lf", "src/a.c", "-o", "-"]).exits(0).quiet();
    assert_eq!(shown.stdout_text(), "one\ntwo\n");
    let script = r#"seq 200000 >numbers; "$TRANSECT" transform zstd <numbers -o numbers.zst &&
        "$TRANSECT" transform unzstd numbers.zst -o - | cmp - numbers"#;
    let _ = env.sh(script).exits(0).quiet();
    // A truncated file is not published.
    let script = r#"head -c 1000 numbers.zst | "$TRANSECT" transform unzstd -o broken"#;
    assert_output!(env, env.sh(script), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot transform 'standard input': unzstd: the file ends within the zstd frame at byte 0
    ");
    assert!(!env.path("broken").exists());
    let closed = env.sh(r#"yes | head -c 10000000 | "$TRANSECT" transform case=upper | head -n1"#);
    assert_eq!(closed.exits(0).quiet().stdout_text(), "Y\n");
}

/// Regression: `'a | b'` after `--` was taken for two paths, and a file named `case=upper` for a
/// step.
#[test]
fn transform_paths_like_steps_after_separator() {
    let env = TestEnv::new();
    let files = ["a", "b", "a | b", "trim | eol=lf", "case=upper"];
    for (args, changed) in [
        (&["eol=lf", "-i", "--", "a | b"][..], &["a | b"][..]),
        (&["eol=lf", "-i", "a | b"], &["a | b"]),
        (&["eol=lf", "-i", "--", "case=upper"], &["case=upper"]),
        (&["eol=lf", "-i", "--", "trim | eol=lf", "a"], &["trim | eol=lf", "a"]),
        (
            &["eol=lf", "a", "case=upper", "trim | eol=lf", "-i"],
            &["a", "case=upper", "trim | eol=lf"],
        ),
        (&["eol=lf", "a", "-i", "--", "case=upper", "a | b"], &["a", "case=upper", "a | b"]),
    ] {
        files.iter().for_each(|file| env.text(file, "one\r\n"));
        let _ = env.transect(["transform"].iter().chain(args)).exits(0);
        for file in files {
            let expected = if changed.contains(&file) { "one\n" } else { "one\r\n" };
            assert_eq!(content(&env, file), expected, "{file} after {args:?}");
        }
    }
}

/// Globs exclude files that the shell names, like those found in a directory.
#[test]
fn transform_filters_apply_to_roots() {
    let env = TestEnv::new();
    env.mkdir("vendor");
    let files = ["a.txt", "b.dat", "vendor/c.txt"];
    files.iter().for_each(|file| env.text(file, "one\r\n"));
    let script = r#""$TRANSECT" transform eol=lf -i -E vendor -E '*.dat' -- *"#;
    let _ = env.sh(script).exits(0);
    assert_eq!(files.map(|file| content(&env, file)), ["one\n", "one\r\n", "one\r\n"]);
}

/// A shell expands `*` to the names of files, and the first may look like a step.
#[test]
fn transform_step_with_name_of_file_needs_separator() {
    let env = TestEnv::new();
    env.text("case=upper", "one\r\n");
    env.text("notes", "two\r\n");
    assert_output!(env, env.sh(r#""$TRANSECT" transform eol=lf -i *"#), @r"
    exit code: 2
    ----- stderr -----
    transect: 'case=upper' is both a step and a file; write './case=upper' for the file, or -- between the steps and the paths
    ");
    assert_eq!(
        (content(&env, "case=upper"), content(&env, "notes")),
        ("one\r\n".into(), "two\r\n".into())
    );
    let _ = env.sh(r#""$TRANSECT" transform eol=lf -i -- *"#).exits(0);
    assert_eq!(
        (content(&env, "case=upper"), content(&env, "notes")),
        ("one\n".into(), "two\n".into())
    );
    let _ = env.sh(r#""$TRANSECT" transform eol=lf case=upper -i -- notes"#).exits(0);
    assert_eq!(
        (content(&env, "case=upper"), content(&env, "notes")),
        ("one\n".into(), "TWO\n".into())
    );
}

#[test]
fn transform_wrong_usage_changes_nothing() {
    let env = TestEnv::new();
    tree(&env);
    let said = |args: &[&str]| {
        let args = ["transform"].iter().chain(args);
        env.transect(args).text()
    };
    for (args, code, message) in [
        (
            &["elo=lf", "src", "-i"][..],
            2,
            "unknown step 'elo' (did you mean 'eol'?); the steps are blake3",
        ),
        (&["eol=lff", "src", "-i"], 2, "the step is eol=lf|crlf|report"),
        (
            &["src", "eol=lf", "-i"],
            2,
            "no step before 'src'; write a step, or `copy`, before the paths",
        ),
        (&["eol=lf", "src"], 2, "no destination given; use --in-place, --output PATH or --check"),
        (&["copy", "src/a.c"], 2, "no destination given; use --in-place, --output PATH or --check"),
        (&["eol=lf", "src", "-i", "-o", "out"], 2, "cannot be used with"),
        (&["eol=lf", "src", "-o", "src/out"], 2, "which is inside 'src'"),
        (&["eol=lf", "src", "-o", "-"], 2, "cannot read 'src': it is a directory"),
        (&["eol=lf", "-", "-i"], 2, "standard input and output are not files"),
        (&["eol=lf", "-", "src/a.c", "-o", "out"], 2, "only one PATH"),
        (&["eol=lf", "missing", "-i"], 2, "cannot access 'missing': No such file"),
        (&["copy", "src/a.c", "-o", "src/a.c", "-f"], 1, "hint: use --in-place to replace"),
        (&["copy", "src/a.c", "-o", "src/b.c"], 1, "cannot replace 'src/b.c': it already exists"),
        (&["copy", "src/a.c", "-o", "no/folder/x"], 1, "cannot create 'no/folder/x': No such"),
        (&["copy", "/dev/null", "-o", "x"], 1, "cannot read '/dev/null': it is a character device"),
        (&["trim", "src/a.c", "-o", "x", "--method", "kernel-copy"], 1, "no step sees it"),
    ] {
        let said = said(args);
        let expected = format!("exit code: {code}\n");
        assert!(said.starts_with(&expected) && said.contains(message), "{args:?}: {said}");
    }
    assert_eq!(names(&env, ""), ["src"]);
    assert_eq!(content(&env, "src/a.c"), "one\r\ntwo\n");
}

#[test]
fn transform_failed_file_does_not_stop_others() {
    let env = TestEnv::new();
    tree(&env);
    fs::write(env.path("src/lossy"), b"\xff\r\n").unwrap();
    fs::hard_link(env.path("src/a.c"), env.path("other-name")).unwrap();
    assert_output!(env, env.transect(["transform", "decode=utf-8", "eol=lf", "src", "-i"]), @r"
    exit code: 1
    ----- stdout -----
    src/deep/c.h
    ----- stderr -----
    transect: cannot replace 'src/a.c': it has 2 names (hard links); the others would keep the old content
    transect: hint: use --break-links to replace the given names; the others keep the old content
    transect: cannot transform 'src/lossy': decode=utf-8: not UTF-8 at byte 0
    transect: 5 files, 1 changed, 1 unchanged, 1 skipped: not text, 2 failed; 11 B in [time]
    ");
    assert_eq!(content(&env, "other-name"), "one\r\ntwo\n");
    let broken = env.transect(["transform", "eol=lf", "src/a.c", "-i", "--break-links"]);
    assert_eq!(broken.exits(0).quiet().stdout_text(), "src/a.c\n");
    assert_eq!(content(&env, "other-name"), "one\r\ntwo\n");
    assert_eq!(content(&env, "src/a.c"), "one\ntwo\n");
}

#[test]
fn transform_hard_links_done_once_and_kept() {
    let env = TestEnv::new();
    fs::create_dir(env.path("tree")).unwrap();
    env.text("tree/a", "one\r\n");
    fs::hard_link(env.path("tree/a"), env.path("tree/b")).unwrap();
    let transform = |args: &[&str]| env.transect([&["transform", "eol=lf", "tree"], args].concat());
    assert_output!(env, transform(&["--check", "-v"]), @r"
    exit code: 1
    ----- stdout -----
    would_change tree/a
    tree/b is the same file as tree/a
    ----- stderr -----
    transect: 2 files, 1 would change, 1 hard links; 5 B in [time]
    ");
    let output = transform(&["-i", "--json"]).exits(0);
    let lines: Vec<serde_json::Value> =
        output.stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["status"], "changed");
    assert_eq!((&lines[1]["status"], &lines[1]["path"]), (&"same_file".into(), &"tree/b".into()));
    assert_eq!(lines[1]["same_file_as"]["path"], "tree/a");
    assert_eq!((&lines[2]["same_file"], &lines[2]["bytes_in"]), (&1.into(), &5.into()));
    assert_eq!(content(&env, "tree/b"), "one\n");
    env.text("tree/a", "changed under both names");
    assert_eq!(content(&env, "tree/b"), "changed under both names");
    // A list of digests has a line for every name.
    let digests = env.transect(["transform", "crc32c", "tree"]).exits(0);
    assert_eq!(digests.stdout_text().lines().count(), 2);
}

#[test]
fn transform_spare_cache_and_sequential() {
    let env = TestEnv::new();
    env.text("file", "a\r\nb\r\n");
    for (option, output) in [("--spare-cache", "one"), ("--sequential", "two")] {
        let done = env.transect(["transform", "eol=lf", "file", "-o", output, option]);
        assert_eq!(done.exits(0).quiet().stdout_text(), "");
        assert_eq!(content(&env, output), "a\nb\n");
    }
}

#[test]
fn transform_json_per_file_and_total() {
    let env = TestEnv::new();
    tree(&env);
    fs::write(env.path(Path::new(std::ffi::OsStr::from_bytes(b"src/\xff"))), "x\r\n").unwrap();
    env.text("src/unreadable", "x\r\n");
    fs::hard_link(env.path("src/unreadable"), env.path("second")).unwrap();
    let output = env.transect(["transform", "eol=lf", "crc32c", "src", "-i", "--json"]).exits(1);
    let lines: Vec<serde_json::Value> =
        output.stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let statuses: Vec<_> = lines[..6].iter().map(|line| line["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["changed", "same", "skipped", "changed", "failed", "changed"]);
    assert_eq!(lines[2]["reason"], "binary");
    assert_eq!(lines[4]["error"]["kind"], "many_names");
    assert_eq!(lines[4]["error"]["operation"], "replace");
    assert_eq!(lines[5]["path_raw"], "7372632fff");
    let findings = lines[0]["findings"].as_array().unwrap();
    let crc = findings.iter().find(|finding| finding["name"] == "crc32c").unwrap();
    assert_eq!((&crc["stage"], &crc["step"]), (&"result".into(), &"crc32c".into()));
    let all = &lines[6];
    assert_eq!(all["schema"], "transect.transform/1");
    assert_eq!(all["steps"], "eol=lf crc32c");
    assert_eq!(all["complete"], false);
    for (key, number) in [("files", 6), ("changed", 3), ("same", 1), ("failed", 1)] {
        assert_eq!(all[key], number, "{key}");
    }
    assert_eq!(all["skipped"]["binary"], 1);
    let verified = env.sh(r#""$TRANSECT" transform blake3 src/a.c | "$TRANSECT" verify --json -"#);
    let text = verified.exits(0).stdout_text();
    assert!(
        text.starts_with(r#"{"path":"src/a.c","path_raw":null,"status":"matching"}"#),
        "{text}"
    );
    assert!(text.contains(r#""schema":"transect.verify/1","complete":true"#), "{text}");
}

#[test]
fn transform_journal_resumes() {
    let env = TestEnv::new();
    tree(&env);
    let args = ["transform", "replace=o/oo", "src", "-i", "--journal", "journal"];
    let first = env.transect(args).exits(0);
    assert_eq!(first.stdout_text(), "src/a.c\nsrc/b.c\n");
    assert_output!(env, env.transect(args), @r"
    exit code: 0
    ----- stderr -----
    transect: 4 files, 1 unchanged, 1 skipped: not text, 2 done before; 7 B in [time]
    ");
    assert_eq!(content(&env, "src/b.c"), "oone\n");
    let other = env.transect(["transform", "trim", "src", "-i", "--journal", "journal"]);
    assert!(
        other.exits(2).stderr_text().contains("it is a journal of 'replace=o/oo', not of 'trim'")
    );
    // An empty file is accepted as a journal.
    env.text("notes", "precious");
    let notes = env.transect(["transform", "trim", "src", "-i", "--journal", "notes"]).exits(2);
    assert!(notes.stderr_text().contains("it is not a journal of `transform`"));
    assert_eq!(content(&env, "notes"), "precious");
}

#[test]
fn transform_steps_listed() {
    let env = TestEnv::new();
    let text = env.transect(["transform", "--steps"]).exits(0).quiet().stdout_text();
    for line in text.lines() {
        assert!(line.len() <= 80, "{line}");
    }
    for step in transect_transform::steps::STEPS {
        assert!(text.contains(&format!("\n{}  ", step.name)) || text.starts_with(step.name));
        assert!(text.contains(&step.syntax()));
    }
}

/// Starts to write from a pipe into `target`, and returns when the temporary file exists.
pub(crate) fn half_written(env: &TestEnv) -> (Running, std::process::ChildStdin) {
    env.text("target", "old");
    let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
    command.args(["transform", "case=upper", "-o", "target", "--force"]).stdin(Stdio::piped());
    let mut running = Running::start(&mut command);
    let mut input = running.child.stdin.take().expect("a pipe");
    input.write_all(&[b'x'; 200_000]).expect("a reader");
    wait_until("the temporary file is there", || names(env, "").len() == 2);
    (running, input)
}

#[test]
fn transform_interrupted_keeps_old_file() {
    let env = TestEnv::new();
    for signal in [Signal::INT, Signal::TERM] {
        let (running, input) = half_written(&env);
        running.signal(signal);
        // No more input comes, and the pipe stays open.
        let _ = running.finish().exits(130).quiet();
        drop(input);
        assert_eq!(names(&env, ""), ["target"]);
        assert_eq!(content(&env, "target"), "old");
    }
}

#[test]
fn transform_killed_run_leftover_removed_by_next_run() {
    let env = TestEnv::new();
    let (running, input) = half_written(&env);
    running.signal(Signal::KILL);
    assert_eq!(running.finish().signal, Some(9));
    drop(input);
    assert_eq!(content(&env, "target"), "old");
    let left = names(&env, "");
    assert_eq!(left.len(), 2, "{left:?}");
    let next = env.transect(["transform", "case=upper", ".", "-i"]).exits(0);
    assert_eq!(next.stdout_text(), "./target\n");
    assert!(
        next.stderr_text().contains("removed 1 temporary file of killed runs"),
        "{}",
        next.text()
    );
    assert_eq!(content(&env, "target"), "OLD");
    assert_eq!(names(&env, ""), ["target"]);
}

#[test]
fn transform_temporary_file_of_running_process_kept() {
    let env = TestEnv::new();
    let (running, input) = half_written(&env);
    let left = names(&env, "").into_iter().find(|name| name != "target").unwrap();
    let why = format!("process {} is running", running.child.id());
    let doctor = env.transect(["doctor", "."]).exits(0).stdout_text();
    assert!(doctor.contains(&format!("\n  ./{left}: {why}\n")), "{doctor}");
    let check = env.transect(["transform", "case=upper", ".", "--check"]).exits(1).stderr_text();
    assert!(check.contains("a run with --in-place removes those of killed runs"), "{check}");
    let next = env.transect(["transform", "case=lower", ".", "-i"]).exits(0).stderr_text();
    let hint = format!("hint: kept 1 temporary file of other runs, such as './{left}': {why}");
    assert!(next.contains(&hint), "{next}");
    assert_eq!(names(&env, "").len(), 2);
    running.signal(Signal::KILL);
    let _ = running.finish();
    drop(input);
    let doctor = env.transect(["doctor", ".", "--json"]).exits(0).json();
    let row = &doctor["leftovers"][0];
    assert_eq!(
        (row["path"].as_str(), row["abandoned"].as_bool()),
        (Some(&*format!("./{left}")), Some(true))
    );
    let json =
        env.transect(["transform", "case=lower", ".", "-i", "--json"]).exits(0).stdout_text();
    assert!(json.contains(r#""leftovers":1,"leftovers_removed":1"#), "{json}");
    assert_eq!(names(&env, ""), ["target"]);
    let doctor = env.transect(["doctor", "."]).exits(0).stdout_text();
    assert!(doctor.ends_with("\ntemporary files of other runs\n  none\n"), "{doctor}");
}

#[test]
fn transform_permission_errors_reported() {
    let env = TestEnv::new();
    tree(&env);
    env.chmod(&env.path("src/a.c"), 0o600);
    let args = ["transform", "eol=lf", "src", "-i"];
    let Some(output) = env.transect_unprivileged("what_may_not_be_read_is_told", args) else {
        return;
    };
    let text = output.exits(1).stderr_text();
    assert!(text.contains("cannot read 'src/a.c': Permission denied"), "{text}");
    assert!(text.contains("cannot create 'src/deep/c.h': Permission denied"), "{text}");
    assert_eq!(content(&env, "src/deep/c.h"), "three\r\n");
}
