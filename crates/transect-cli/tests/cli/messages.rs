//! Summaries and error messages.

use transect_testkit::loudly_skip;

use crate::harness::{TestEnv, assert_output};

/// Creates a small tree whose parts differ in size on every file system.
fn small(env: &TestEnv) {
    for (directory, file, bytes) in [
        ("tree/large", "film", 1_000_000),
        ("tree/medium", "picture", 300_000),
        ("tree/medium/small", "letter", 50_000),
    ] {
        let directory = env.mkdir(directory);
        env.write(directory.join(file), bytes);
    }
    let film = env.path("tree/large/film");
    std::fs::hard_link(film, env.path("tree/large/movie")).expect("a hard link");
    std::os::unix::fs::symlink("film", env.path("tree/large/latest")).expect("a symbolic link");
    crate::tree::mkfifo(env, &env.path("tree/pipe"));
}

#[test]
fn scan_summary_is_as_reviewed() {
    let env = TestEnv::new();
    small(&env);
    assert_output!(env, env.transect(["tree"]), @r"
    exit code: 0
    ----- stdout -----
    tree
      entries     4 files, 4 directories, 1 symlink, 1 other
      disk usage  [size] ([size] in directories)
      apparent    1.29 MiB
      hard links  1 further name of files counted once
      state       complete in [time], [rate] entries/s ([reader], work-stealing, [threads])

    largest directories
      [size]  tree/large
      [size]  tree/medium
      [size]  tree/medium/small

    largest files
      [size]  tree/large/film
      [size]  tree/medium/picture
      [size]  tree/medium/small/letter
    ");
}

#[test]
fn scan_apparent_shows_lengths_first() {
    let env = TestEnv::new();
    small(&env);
    assert_output!(env, env.transect(["scan", "--apparent", "--top", "1", "tree"]), @r"
    exit code: 0
    ----- stdout -----
    tree
      entries     4 files, 4 directories, 1 symlink, 1 other
      apparent    1.29 MiB
      disk usage  [size] ([size] in directories)
      hard links  1 further name of files counted once
      state       complete in [time], [rate] entries/s ([reader], work-stealing, [threads])

    largest directories
      [size]  tree/large

    largest files
      [size]  tree/large/film
    ");
}

#[test]
fn scan_empty_directory_is_complete() {
    let env = TestEnv::new();
    env.mkdir("tree");
    assert_output!(env, env.transect(["tree"]), @r"
    exit code: 0
    ----- stdout -----
    tree
      entries     0 files, 1 directory
      disk usage  [size] ([size] in directories)
      apparent    0 B
      state       complete in [time], [rate] entries/s ([reader], work-stealing, [threads])
    ");
}

#[test]
fn list_lines_are_as_find_prints() {
    let env = TestEnv::new();
    small(&env);
    let mut output = env.transect(["list", "tree"]);
    output.stdout = output.paths(b'\n').join(&b'\n');
    output.stdout.push(b'\n');
    assert_output!(env, output, @r"
    exit code: 0
    ----- stdout -----
    tree
    tree/large
    tree/large/film
    tree/large/latest
    tree/large/movie
    tree/medium
    tree/medium/picture
    tree/medium/small
    tree/medium/small/letter
    tree/pipe
    ");
}

#[test]
fn doctor_shows_calls_file_system_readers_orders() {
    let env = TestEnv::new();
    let output = env.transect(["doctor"]).exits(0).quiet().stdout_text();
    if output.contains("outside the root directory") {
        let test = "doctor_shows_calls_file_system_readers_orders";
        return loudly_skip(test, "no mount entry in this chroot; chroot.rs tests that");
    }
    // Values differ from machine to machine; labels do not.
    let mut in_columns = false;
    let labels: Vec<&str> = output
        .lines()
        .map(|line| {
            in_columns |= line == "readers";
            match line.split_at_checked(14) {
                Some((label, _)) if line.starts_with("  ") && !in_columns => label.trim(),
                _ if line.starts_with("* used") || line.starts_with("  not avail") => line,
                _ if in_columns => line.trim_start_matches(['*', ' ']).split("  ").next().unwrap(),
                _ => line.split(" on Linux ").next().unwrap(),
            }
        })
        .collect();
    env.settings().bind(|| {
        insta::assert_snapshot!(labels.join("\n"), @r"
        transect [version]
        cores
        open files
        statx
        openat2
        drop caches

        .
        kind
        mounted at
        source
        options
        disk
        tables

        readers
        getdents-statx
        getdents-fstatat
        portable
          not available (only on Windows): nt-query, by-handle,
        find-first-file-ex-basic-large, find-first-file-ex-standard-large,
        find-first-file-ex-basic, find-first-file-ex-standard, find-first-file,
        file-attributes-ex

        orders
        work-stealing
        shared-queue
        futures
        recursive
        queue
        stack
        stack-presized
        array

        * used by default; a profile, --reader or --order can choose another.

        profile
        none; `transect lab tune` measures which settings are fastest here
        ");
    });
    assert_eq!(
        output.lines().filter(|line| line.starts_with("* ")).count(),
        3,
        "the reader, the order and the footnote are marked\n{output}"
    );
}

#[test]
fn doctor_json_matches_text() {
    let env = TestEnv::new();
    let object = env.transect(["doctor", "--json", "."]).exits(0).quiet().json();
    assert_eq!(object["schema"], "transect.doctor/1");
    assert_eq!(object["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(object["path"], ".");
    let names = |list: &str| -> Vec<String> {
        let rows = object[list].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("calls"), ["statx", "openat2", "drop caches"]);
    for (one, all) in [("reader", "readers"), ("order", "orders")] {
        let used = object[one].as_str().unwrap().to_owned();
        assert!(names(all).contains(&used), "{used} is one of the {all}");
        // A scan uses the reader that doctor shows.
        let scan = env.transect(["--json", "."]).exits(0).json();
        assert_eq!(scan[one], used.as_str());
    }
    for row in object["readers"].as_array().unwrap() {
        assert_eq!(row["available"].as_bool(), Some(row["why_not"].is_null()), "{row}");
    }
    let file_system = &object["file_system"];
    match file_system["mount_point"].as_str() {
        Some(mount) => assert!(env.path("").starts_with(mount), "{mount}"),
        None => assert!(file_system["why_no_mount"].is_string(), "{file_system}"),
    }
}

#[test]
fn doctor_missing_path_fails() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["doctor", "nowhere"]), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot access 'nowhere': No such file or directory
    ");
}

#[test]
fn doctor_named_pipe_does_not_block() {
    let env = TestEnv::new();
    crate::tree::mkfifo(&env, &env.path("pipe"));
    let _ = env.transect(["doctor", "pipe"]).exits(0);
}

#[test]
fn unknown_reader_lists_readers() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["--reader", "getdents-stat"]), @r"
    exit code: 2
    ----- stderr -----
    error: invalid value 'getdents-stat' for '--reader <READER>'
      [possible values: auto, walk, volume, getdents-statx, getdents-fstatat, nt-query, by-handle, find-first-file-ex-basic-large, find-first-file-ex-standard-large, find-first-file-ex-basic, find-first-file-ex-standard, find-first-file, file-attributes-ex, portable, ext4, btrfs, ntfs]

      tip: a similar value exists: 'getdents-statx'

    For more information, try '--help'.
    ");
}

#[test]
fn unknown_order_lists_orders() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["list", "--order", "work-stealin"]), @r"
    exit code: 2
    ----- stderr -----
    error: invalid value 'work-stealin' for '--order <ORDER>'
      [possible values: work-stealing, shared-queue, futures, recursive, queue, stack, stack-presized, array]

      tip: a similar value exists: 'work-stealing'

    For more information, try '--help'.
    ");
}

#[test]
fn unknown_option_suggests_nearest() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["scan", "--one-filesystem"]), @r"
    exit code: 2
    ----- stderr -----
    error: unexpected argument '--one-filesystem' found

      tip: a similar argument exists: '--one-file-system'

    Usage: transect scan --one-file-system [PATH]...

    For more information, try '--help'.
    ");
}

#[test]
fn option_of_other_command_rejected() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["scan", "--min-depth", "1"]), @r"
    exit code: 2
    ----- stderr -----
    error: unexpected argument '--min-depth' found

      tip: a similar argument exists: '--read-depth'

    Usage: transect scan --read-depth <N> [PATH]...

    For more information, try '--help'.
    ");
}

#[test]
fn unknown_shell_lists_shells() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["completions", "bush"]), @r"
    exit code: 2
    ----- stderr -----
    error: invalid value 'bush' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'bash'

    For more information, try '--help'.
    ");
}

#[test]
fn invalid_glob_named_with_reason() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["list", "--glob", "a[b"]), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot parse pattern 'a[b': unclosed character class; missing ']'
    ");
    assert_output!(env, env.transect(["list", "--exclude", "{a,b"]), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot parse pattern '!{a,b': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
    ");
}

#[test]
fn min_depth_beyond_max_depth_rejected() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["list", "--min-depth", "3", "--depth", "2"]), @r"
    exit code: 2
    ----- stderr -----
    transect: minimum depth 3 is greater than maximum depth 2
    ");
}

#[test]
fn thread_count_out_of_range_rejected() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["--threads", "0"]), @r"
    exit code: 2
    ----- stderr -----
    error: invalid value '0' for '--threads <N>': 0 is not in 1..=1024

    For more information, try '--help'.
    ");
    assert_output!(env, env.transect(["list", "-j", "1025"]), @r"
    exit code: 2
    ----- stderr -----
    error: invalid value '1025' for '--threads <N>': 1025 is not in 1..=1024

    For more information, try '--help'.
    ");
    let _ = env.transect(["--threads", "1024", "."]).exits(0).quiet();
}

#[test]
fn buffer_size_out_of_range_rejected() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["scan", "--buffer-size", "64KB"]), @r"
    exit code: 2
    ----- stderr -----
    error: invalid value '64KB' for '--buffer-size <SIZE>': a size is a whole number of bytes, or of K, M, G or T

    For more information, try '--help'.
    ");
    assert_output!(env, env.transect(["list", "--buffer-size", "1K"]), @r"
    exit code: 2
    ----- stderr -----
    transect: buffer size 1024 is not between 4096 and 4194304 bytes
    ");
    assert_output!(env, env.transect(["--reader", "portable", "--buffer-size", "64K"]), @r"
    exit code: 2
    ----- stderr -----
    transect: reader 'portable' does not use a buffer size
    ");
}

#[test]
fn stat_order_unsupported_by_reader_rejected() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["scan", "--stat-order", "name"]), @r"
    exit code: 2
    ----- stderr -----
    error: invalid value 'name' for '--stat-order <ORDER>'
      [possible values: listing, inode]

    For more information, try '--help'.
    ");
    assert_output!(env, env.transect(["--reader", "portable", "--stat-order", "inode"]), @r"
    exit code: 2
    ----- stderr -----
    transect: reader 'portable' does not use a stat order
    ");
    let _ = env.transect(["--stat-order", "inode", "."]).exits(0).quiet();
    let _ = env.transect(["list", "--stat-order", "listing", "."]).exits(0).quiet();
}

#[test]
fn reader_of_other_system_rejected() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["scan", "--reader", "nt-query"]), @r"
    exit code: 2
    ----- stderr -----
    transect: reader 'nt-query' cannot be used here: only on Windows
    ");
}

#[test]
fn mistyped_command_suggested_and_nothing_scanned() {
    let env = TestEnv::new();
    env.mkdir("home");
    env.write("home/file", 1);
    assert_output!(env, env.transect(["usag", "home"]), @r"
    exit code: 2
    ----- stderr -----
    transect: 'usag' is neither a command nor a file or directory (did you mean 'usage'?)
    ");
    assert_output!(env, env.transect(["home", "usage"]), @r"
    exit code: 2
    ----- stderr -----
    transect: there is no file or directory 'usage'; a command comes first: transect usage …
    ");
    assert_output!(env, env.transect(["du"]), @r"
    exit code: 2
    ----- stderr -----
    transect: 'du' is neither a command nor a file or directory (did you mean 'usage'?)
    ");
    // A directory of that name is a path.
    env.mkdir("usag");
    env.write("usag/file", 1);
    let text = env.transect(["usag", "home"]).exits(0).stdout_text();
    assert!(text.contains("2 files"), "{text}");
}

#[test]
fn options_of_other_programs_translated() {
    let env = TestEnv::new();
    env.write("file", 1);
    for (args, tip) in [
        (&["-name", "*.c"][..], "tip: -g PATTERN lists names that match a pattern"),
        (&["-type", "f"], "tip: -t f lists files, -t d directories"),
        (&["-H"], "tip: hidden entries are listed, unless --no-hidden is given"),
        (&["-exec", "ls"], "tip: -x COMMAND runs a command for each path"),
        (&["-empty"], "tip: --empty lists empty files and directories"),
        (&["--printf", "%p"], "tip: --columns size,path prints these columns"),
    ] {
        let said = env.transect(["list"].iter().chain(args)).exits(2).stderr_text();
        assert!(said.contains(tip) && said.matches("tip: ").count() == 1, "{said}");
    }
    let after_dashes = env.transect(["list", "--bogus", "--", "-name"]).exits(2).stderr_text();
    assert!(!after_dashes.contains("PATTERN"), "{after_dashes}");
    let listed = env.transect(["list", "--max-depth", "0"]).exits(0).quiet();
    assert_eq!(listed.stdout_text(), ".\n");
}

#[test]
fn missing_root_named() {
    let env = TestEnv::new();
    assert_output!(env, env.transect(["list", "main"]), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot access 'main': No such file or directory
    transect: hint: names that contain it: transect list -g '*main*'
    ");
    assert_output!(env, env.transect(["nowhere"]), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot access 'nowhere': No such file or directory
    transect: hint: 'nowhere' is not a command either; `transect --help` lists them
    ");
    assert_output!(env, env.transect(["list", "nowhere"]), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot access 'nowhere': No such file or directory
    transect: hint: names that contain it: transect list -g '*nowhere*'
    ");
}

#[test]
fn missing_root_named_and_others_shown() {
    let env = TestEnv::new();
    small(&env);
    assert_output!(env, env.transect(["--top", "0", "tree", "nowhere"]), @r"
    exit code: 2
    ----- stdout -----
    tree
    nowhere
      entries     4 files, 4 directories, 1 symlink, 1 other
      disk usage  [size] ([size] in directories)
      apparent    1.29 MiB
      hard links  1 further name of files counted once
      errors      1 stat: not found
      state       partial in [time], [rate] entries/s ([reader], work-stealing, [threads])
    ----- stderr -----
    transect: cannot access 'nowhere': No such file or directory
    ");
}

#[test]
fn root_link_counted_as_link_with_hint() {
    let env = TestEnv::new();
    env.mkdir("tree");
    std::os::unix::fs::symlink("tree", env.path("link")).unwrap();
    assert_output!(env, env.transect(["link"]), @r"
    exit code: 0
    ----- stdout -----
    link
      entries     0 files, 0 directories, 1 symlink
      disk usage  [size] ([size] in directories)
      apparent    4 B
      state       complete in [time], [rate] entries/s ([reader], work-stealing, [threads])
    ----- stderr -----
    transect: hint: 'link' is a symbolic link; use 'link/' to read its target
    ");
}

/// Creates a tree with directories that only root can read.
fn locked(env: &TestEnv, directories: usize) {
    env.mkdir("tree");
    env.write("tree/readable", 10);
    for number in 0..directories {
        let directory = env.mkdir(format!("tree/locked {number:02}"));
        env.chmod(&directory, 0o000);
    }
}

#[test]
fn errors_first_ten_listed_with_hint() {
    let env = TestEnv::new();
    locked(&env, 12);
    let test = "errors_first_ten_listed_with_hint";
    let Some(output) = env.transect_unprivileged(test, ["--top", "0", "tree"]) else {
        return;
    };
    assert_output!(env, output, @r"
    exit code: 1
    ----- stdout -----
    tree
      entries     1 file, 13 directories
      disk usage  [size] ([size] in directories)
      apparent    10 B
      errors      12 open directory: denied
      state       partial in [time], [rate] entries/s ([reader], work-stealing, [threads])
    ----- stderr -----
    transect: cannot open directory 'tree/locked 00': Permission denied
    transect: cannot open directory 'tree/locked 01': Permission denied
    transect: cannot open directory 'tree/locked 02': Permission denied
    transect: cannot open directory 'tree/locked 03': Permission denied
    transect: cannot open directory 'tree/locked 04': Permission denied
    transect: cannot open directory 'tree/locked 05': Permission denied
    transect: cannot open directory 'tree/locked 06': Permission denied
    transect: cannot open directory 'tree/locked 07': Permission denied
    transect: cannot open directory 'tree/locked 08': Permission denied
    transect: cannot open directory 'tree/locked 09': Permission denied
    transect: hint: 2 more errors; use --errors to list all
    ");
}

#[test]
fn errors_option_lists_all() {
    let env = TestEnv::new();
    locked(&env, 12);
    let test = "errors_option_lists_all";
    for command in ["scan", "list"] {
        let Some(output) = env.transect_unprivileged(test, [command, "--errors", "tree"]) else {
            return;
        };
        let errors: Vec<String> = (0..12)
            .map(|number| {
                format!(
                    "transect: cannot open directory 'tree/locked {number:02}': Permission denied"
                )
            })
            .collect();
        let output = output.exits(1);
        assert_eq!(output.stderr_text().lines().collect::<Vec<_>>(), errors);
    }
}

#[test]
fn largest_partial_directories_marked() {
    let env = TestEnv::new();
    locked(&env, 1);
    let outside = env.mkdir("tree/outside");
    let locked = env.mkdir(outside.join("locked"));
    env.write(outside.join("file"), 100_000);
    env.chmod(&locked, 0o000);
    let test = "largest_partial_directories_marked";
    let Some(output) = env.transect_unprivileged(test, ["--top", "1", "tree"]) else {
        return;
    };
    assert_output!(env, output, @r"
    exit code: 1
    ----- stdout -----
    tree
      entries     2 files, 4 directories
      disk usage  [size] ([size] in directories)
      apparent    97.7 KiB
      errors      2 open directory: denied
      state       partial in [time], [rate] entries/s ([reader], work-stealing, [threads])

    largest directories
      [size]  tree/outside (partial)

    largest files
      [size]  tree/outside/file
    ----- stderr -----
    transect: cannot open directory 'tree/locked 00': Permission denied
    transect: cannot open directory 'tree/outside/locked': Permission denied
    ");
}

#[test]
fn full_output_reported_once() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for command in ["scan tree", "scan --json tree", "list tree", "doctor", "doctor --json", "man"]
    {
        let output = env.sh(&format!(r#""$TRANSECT" {command} >/dev/full"#)).exits(2);
        let message = output.stderr_text();
        let expected = "transect: cannot write output: No space left on device";
        assert!(message.starts_with(expected), "{command}: {message}");
        assert_eq!(message.lines().count(), 1, "{command}: {message}");
    }
}
