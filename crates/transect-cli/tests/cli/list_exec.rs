//! `transect list --exec` and `--exec-batch`, compared with `find -exec`.

use rustix::process::Signal;
use transect_testkit::wait_until;

use crate::harness::{TestEnv, skip};
use crate::tree;

/// A script that prints its arguments, each ended by NUL, as `sh -c` takes it.
const PRINT: &str = r#"printf "%s\0" "$@""#;

/// Creates names that a shell, an option parser or a line reader would misread.
fn hostile(env: &TestEnv) {
    env.mkdir("tree/sub dir");
    for name in [
        "tree/-rf",
        "tree/$(touch pwned)",
        "tree/a b;touch pwned",
        "tree/'\"`touch pwned`",
        "tree/*",
        "tree/sub dir/new\nline",
        "tree/{}",
    ] {
        env.write(name, 1);
    }
    std::fs::write(env.path(tree::raw(b"tree/in\xffvalid")), "").expect("a new file");
    std::os::unix::fs::symlink("nowhere", env.path("tree/link")).expect("a new link");
}

#[test]
fn exec_passes_every_path_as_find_does() {
    let env = TestEnv::new();
    let test = "exec_passes_every_path_as_find_does";
    if !env.has("find") {
        return skip(test, "there is no find").unwrap_or_default();
    }
    hostile(&env);
    for (arguments, find) in [
        ("tree -x printf '%s\\0'", "find tree -exec printf '%s\\0' {} \\;"),
        ("tree -x printf '%s\\0' {}", "find tree -exec printf '%s\\0' {} \\;"),
        ("tree -j 1 -x printf '%s\\0' {}", "find tree -exec printf '%s\\0' {} \\;"),
        (
            "-t f -x printf '%s=\\0' a{}b ';' tree",
            "find tree -type f -exec printf '%s=\\0' a{}b \\;",
        ),
        ("tree -X printf '%s\\0'", "find tree -exec printf '%s\\0' {} +"),
        ("-X printf '%s\\0' {} \\; tree -t f", "find tree -type f -exec printf '%s\\0' {} +"),
        ("tree -X sh -c 'printf \"%s\\0\" \"$@\"' sh", "find tree -print0"),
    ] {
        let listed = env.sh(&format!(r#""$TRANSECT" list {arguments}"#)).exits(0).quiet();
        let found = env.sh(find).exits(0).quiet();
        assert_eq!(listed.paths(b'\0'), found.paths(b'\0'), "{arguments}");
    }
    assert!(!env.path("pwned").exists() && !env.path("tree/pwned").exists(), "a shell read a name");
}

#[test]
fn exec_names_like_options_are_paths() {
    let env = TestEnv::new();
    for name in ["-rf", "-n", "kept"] {
        env.write(name, 1);
    }
    env.mkdir("-d");
    env.write("-d/-x.c", 1);
    let all = r#""$TRANSECT" list -j 1 --sort path -x printf "%s %s %s %s %s\n" {} {/} {//} {.} {/.} \; -- -d -n"#;
    let printed = env.sh(all).exits(0).quiet();
    let expected = "./-d ./-d . ./-d ./-d\n\
                    ./-d/-x.c ./-x.c ./-d ./-d/-x ./-x\n\
                    ./-n ./-n . ./-n ./-n\n";
    assert_eq!(printed.stdout_text(), expected);
    let _ = env.sh(r#""$TRANSECT" list -X rm -rf \; -- -rf -n -d"#).exits(0).quiet();
    assert!(env.path("kept").exists());
    assert!(!env.path("-rf").exists() && !env.path("-n").exists() && !env.path("-d").exists());
}

#[test]
fn exec_program_of_tree_is_not_searched_in_path() {
    let env = TestEnv::new();
    env.script("true", "#!/bin/sh\necho here\n");
    let printed = env.transect(["list", "true", "-x", "{}"]).exits(0).quiet();
    assert_eq!(printed.stdout_text(), "here\n");
    env.chmod(&env.path("true"), 0o644);
    let refused = env.transect(["list", "true", "-x", "{}"]).exits(1).stderr_text();
    assert!(refused.contains("cannot start './true': Permission denied"), "{refused}");
}

#[test]
fn exec_output_of_a_command_is_not_interleaved() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for name in 0..12 {
        env.text(format!("tree/{name}"), "");
    }
    // Some print much more than fits into a pipe.
    let script = r#"n=$1; lines=300; [ ${n#tree/} -gt 9 ] && lines=9000
        while [ $lines -gt 0 ]; do
            echo "$n out of a line that is long enough to fill pipes and buffers before its end ............"
            echo "$n err" >&2
            lines=$((lines - 1))
        done"#;
    let ran = env.transect(["list", "-t", "f", "-j", "6", "tree", "-x", "sh", "-c", script, "sh"]);
    let ran = ran.exits(0);
    for (text, lines) in [(ran.stdout_text(), 10 * 300 + 2 * 9000), (ran.stderr_text(), 21_000)] {
        assert_eq!(text.lines().count(), lines);
        let mut order: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        order.dedup();
        assert_eq!(order.len(), 12, "{order:?}");
    }
}

#[test]
fn exec_exit_code_reports_commands() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.text("tree/good", "");
    env.text("tree/bad", "");
    for mode in ["-x", "-X"] {
        let run =
            |script: &str| env.transect(["list", "-tf", "tree", mode, "sh", "-c", script, "sh"]);
        let _ = run("exit 0").exits(0).quiet();
        let all = if mode == "-x" { "2 of 2 commands failed" } else { "1 of 1 command failed" };
        for script in ["exit 7", "kill -9 $$"] {
            let failed = run(script).exits(1).stderr_text();
            assert_eq!(failed, format!("transect: {all}\n"), "{mode} {script}");
        }
        let missing = env.transect(["list", "tree", mode, "no-such-program", "--flag"]).exits(2);
        let why = "transect: cannot start 'no-such-program': No such file or directory\n";
        assert_eq!(missing.stderr_text(), why);
        // Nothing is started for no entries.
        let _ =
            env.transect(["list", "-g", "no", "tree", mode, "no-such-program"]).exits(0).quiet();
    }
    let half = r#""$TRANSECT" list -tf tree -x sh -c 'case $1 in *bad) exit 1;; esac' sh"#;
    assert_eq!(env.sh(half).exits(1).stderr_text(), "transect: 1 of 2 commands failed\n");
}

/// Regression for a habit: with other commands, `-x` is `--one-file-system`.
#[test]
fn exec_of_directory_names_the_long_option() {
    let env = TestEnv::new();
    // There is a program `tree`.
    env.mkdir("a tree/sub");
    for args in [&["list", "-x", "a tree"][..], &["list", "-x", "./a tree"], &["list", "-x", "/"]] {
        let refused = env.transect(args).exits(2);
        assert!(refused.stderr_text().contains("--one-file-system"), "{}", refused.text());
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn exec_rejects_what_it_cannot_do() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for (args, word) in [
        (&["--json", "-x", "echo"][..], "cannot be used with"),
        (&["-l", "-X", "echo"], "cannot be used with"),
        (&["-0", "-x", "echo"], "cannot be used with"),
        (&["-X", "echo", ";", "-x", "echo"], "cannot be used with"),
        (&["-X", "{}"], "the program of --exec-batch cannot have a placeholder"),
        (&["-X", "cp", "{}", "{.}"], "only one argument of --exec-batch can have a placeholder"),
        (&["-x"], "a value is required"),
    ] {
        let refused = env.transect(["list", "tree"].iter().chain(args)).exits(2);
        assert!(refused.stderr_text().contains(word), "{}", refused.text());
    }
}

#[test]
fn exec_follows_sort_and_limit() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for (name, size) in [("tree/b", 30), ("tree/a", 20), ("tree/c", 10)] {
        env.write(name, size);
    }
    let sorted = ["list", "-tf", "tree", "--sort", "size", "-n", "2"];
    let one_by_one = env.transect(sorted.iter().chain(&["-j", "1", "-x", "echo"])).exits(0).quiet();
    assert_eq!(one_by_one.stdout_text(), "tree/b\ntree/a\n");
    let batch =
        env.transect(sorted.iter().chain(&["--reverse", "-X", "echo", "-n"])).exits(0).quiet();
    assert_eq!(batch.stdout_text(), "tree/c tree/a");
}

#[test]
fn exec_batch_splits_as_xargs_does() {
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 4000, &"x".repeat(240));
    let expected = env.transect(["list", "-0", "tree"]).exits(0).quiet().paths(b'\0');
    let total: usize = expected.iter().map(|path| path.len() + 9).sum();
    let run = |setup: &str| {
        let script =
            format!(r#"{setup} "$TRANSECT" list tree -X sh -c 'echo >>count; {PRINT}' sh"#);
        let listed = env.sh(&script).exits(0).quiet();
        assert_eq!(listed.paths(b'\0'), expected);
        let processes = std::fs::read_to_string(env.path("count")).unwrap().lines().count();
        std::fs::remove_file(env.path("count")).unwrap();
        processes
    };
    let batches = total.div_ceil(128 << 10);
    assert_eq!(run(""), batches);
    // A quarter of the stack is the limit: the environment leaves less than 128 KiB of it.
    let large = r#"ulimit -S -s 2048; export A=$(printf %0110000d 0); export B=$A C=$A D=$A;"#;
    assert_eq!(run(large), 2 * batches);
}

#[test]
fn exec_commands_inherit_the_limit_of_open_files() {
    let env = TestEnv::new();
    let shown = env.sh(r#"ulimit -S -n 300; "$TRANSECT" list -x sh -c 'ulimit -S -n'"#);
    assert_eq!(shown.exits(0).quiet().stdout_text(), "300\n");
}

#[test]
fn exec_commands_run_in_parallel() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for name in ["tree/a", "tree/b"] {
        env.text(name, "");
        tree::mkfifo(&env, &env.path(name.replace("tree/", "")));
    }
    // Each waits until the other runs.
    let meet = r#"case $1 in *a) echo >a; read x <b;; *) read x <a; echo >b;; esac"#;
    let _ = env.transect(["list", "-tf", "-j2", "tree", "-x", "sh", "-c", meet, "sh"]).exits(0);
}

#[test]
fn exec_closed_pipe_ends_quietly() {
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 300, "x");
    let script = r#"{ "$TRANSECT" list -tf tree -x echo; echo $? >code; } | head -n 1 | wc -l"#;
    assert_eq!(env.sh(script).exits(0).quiet().stdout_text().trim(), "1");
    let code = std::fs::read_to_string(env.path("code")).unwrap();
    assert_eq!(code, "0\n");
}

/// Returns whether a process runs.
fn is_running(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

#[test]
fn exec_interrupted_leaves_no_process() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for name in ["tree/a", "tree/b", "tree/c"] {
        env.text(name, "");
    }
    let waits = "sleep 1000 & echo $$ $! >>ids; wait";
    let ignores = "trap '' TERM; sleep 1000 & echo $$ $! >>ids; wait; wait";
    for (signal, script, mode, commands) in [
        (Signal::INT, waits, &["-j2", "-x"][..], 2),
        (Signal::TERM, waits, &["-j1", "-x"], 1),
        (Signal::TERM, waits, &["-X"], 1),
        (Signal::INT, ignores, &["-j2", "-x"], 2),
    ] {
        std::fs::write(env.path("ids"), "").unwrap();
        let list = [&["list", "-tf", "tree"], mode, &["sh", "-c", script, "sh"]].concat();
        let running = env.start(list);
        let ids = || std::fs::read_to_string(env.path("ids")).unwrap();
        wait_until("the commands run", || ids().lines().count() == commands);
        // Only this process gets it: a terminal would signal the commands, too.
        running.signal(signal);
        let ended = running.finish().exits(130);
        assert_eq!(ids().lines().count(), commands, "no further command was started");
        for id in ids().split_whitespace() {
            assert!(!is_running(id), "{mode:?} leaves {id}\n{}", ended.text());
        }
    }
}

#[test]
fn exec_walk_errors_still_count() {
    let env = TestEnv::new();
    let locked = env.mkdir("tree/locked");
    env.chmod(&locked, 0o000);
    let test = "exec_walk_errors_still_count";
    let Some(output) = env.transect_unprivileged(test, ["list", "tree", "-X", "echo"]) else {
        return;
    };
    let output = output.exits(1);
    assert_eq!(output.stdout_text(), "tree tree/locked\n");
    assert!(output.stderr_text().contains("Permission denied"), "{}", output.text());
}
