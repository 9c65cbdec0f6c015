//! `transect keep`, `changes` and `history`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use transect_testkit::{Mount, wait_until};

use crate::harness::{TestEnv, skip};
use crate::tree;

/// Keeps a snapshot, and returns what `--json` prints.
fn keep(env: &TestEnv, path: &str) -> Value {
    let kept = env.transect(["keep", "--json", path]).exits(0).quiet().json();
    assert_eq!(kept["schema"], "transect.keep/1");
    kept
}

/// Returns the file of a kept snapshot.
fn file(kept: &Value) -> PathBuf {
    kept["snapshot"]["path"].as_str().expect("a path").into()
}

fn history(env: &TestEnv, path: &str, code: i32) -> Value {
    let history = env.transect(["history", "--json", path]).exits(code).json();
    assert_eq!(history["schema"], "transect.history/1");
    history
}

/// Returns the number of snapshots in a history.
fn kept(env: &TestEnv, path: &str, code: i32) -> usize {
    history(env, path, code)["snapshots"].as_array().expect("snapshots").len()
}

#[test]
fn keep_changes_and_history_follow_a_tree() {
    let env = TestEnv::new();
    let root = env.mkdir("tree/sub");
    env.write("tree/sub/file", 10);
    let first = keep(&env, "tree");
    assert_eq!(first["path"], root.parent().unwrap().to_str().unwrap());
    assert_eq!(first["snapshot"]["entries"], 3);
    assert_eq!(first["snapshot"]["complete"], true);
    let size = fs::metadata(file(&first)).unwrap().len();
    assert_eq!(first["snapshot"]["size"], size);
    let same = env.transect(["changes", "tree"]).exits(0);
    assert_eq!(same.stdout_text(), "no changes\n");
    assert!(same.stderr_text().contains("compared with the snapshot of 20"), "{}", same.text());

    env.write("tree/sub/new", 500_000);
    let changed = env.transect(["changes", "--json", "tree"]).exits(0).quiet().stdout_text();
    let lines: Vec<Value> =
        changed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_new =
        |line: &Value| line["change"] == "added" && line["path"].as_str().unwrap().ends_with("new");
    assert!(lines.iter().any(is_new), "{changed}");
    let numbers = lines.last().unwrap();
    assert_eq!((&numbers["schema"], &numbers["added"]), (&"transect.diff/1".into(), &1.into()));
    assert_eq!(numbers["before"]["started"], first["snapshot"]["taken"]);
    let _ = env.transect(["changes", "--exit-code", "tree"]).exits(1);

    let second = keep(&env, "tree");
    let _ = env.transect(["changes", "--exit-code", "tree"]).exits(0);
    // The first of both is named by its time.
    let since = file(&first).file_stem().unwrap().to_str().unwrap().to_owned();
    let (date, time) = since.split_once('T').unwrap();
    let since = format!("{date}T{}", time.replace('-', ":"));
    let output = env.transect(["changes", "--json", "--since", &since, "tree"]).exits(0).quiet();
    let numbers = output.stdout_text().lines().last().unwrap().to_owned();
    let numbers: Value = serde_json::from_str(&numbers).unwrap();
    assert_eq!(numbers["before"]["started"], first["snapshot"]["taken"], "{since}");
    let page = env.transect(["map", "--html", "-", "--since", &since, "tree"]).exits(0).quiet();
    assert!(page.stdout_text().contains("These entries changed most."));
    let refused = env.transect(["map", "--since", "2000-01-01", "tree"]).exits(2).stderr_text();
    assert!(refused.contains("is from before "), "{refused}");
    // There is none to compare with from before these times.
    for since in ["2000-01-01", "last week", "1h"] {
        let refused = env.transect(["changes", "--since", since, "tree"]).exits(2);
        let said = refused.stderr_text();
        assert!(said.contains("is from before ") && said.contains("; the oldest is "), "{said}");
        assert!(said.contains(" minutes old (") || said.contains(" minute old ("), "{said}");
        assert!(refused.stdout.is_empty());
    }

    let all = history(&env, "tree", 0);
    let points = all["snapshots"].as_array().unwrap();
    let taken: Vec<&Value> = points.iter().map(|point| &point["taken"]).collect();
    // The names of files have milliseconds.
    let rounded =
        |kept: &Value| kept["snapshot"]["taken"].as_i64().unwrap() / 1_000_000 * 1_000_000;
    assert_eq!(taken, [rounded(&first), rounded(&second)]);
    assert_eq!((&points[0]["entries"], &points[1]["entries"]), (&3.into(), &4.into()));
    assert_eq!((&points[0]["files"], &points[0]["directories"]), (&1.into(), &2.into()));
    let usage = env.transect(["usage", "--json", "tree"]).exits(0).quiet().json();
    assert_eq!(points[1]["disk_usage"], usage["disk_usage"]);
    assert_eq!(points[1]["apparent_size"], usage["apparent_size"]);
    let text = env.transect(["history", "tree"]).exits(0).quiet().stdout_text();
    assert!(text.contains(": 2 snapshots") && text.contains("▁█"), "{text}");
    assert!(text.lines().nth(4).unwrap().ends_with("+1"), "{text}");
}

/// It opened each once for the place of the new one, and again to thin.
#[test]
fn keep_opens_every_snapshot_once() {
    let test = "keep_opens_every_snapshot_once";
    let env = TestEnv::new();
    if !env.has("strace") {
        return skip(test, "there is no strace").unwrap_or_default();
    }
    env.mkdir("tree");
    let earlier = [(); 3].map(|()| file(&keep(&env, "tree")));
    let trace = "strace -f -qq -o calls -e trace=open,openat,openat2 \"$TRANSECT\" keep tree";
    let _ = env.sh(trace).exits(0);
    let calls = fs::read_to_string(env.path("calls")).expect("UTF-8");
    for file in earlier {
        let name = file.file_name().and_then(OsStr::to_str).expect("a time");
        assert_eq!(calls.matches(name).count(), 1, "{name}:\n{calls}");
    }
}

#[test]
fn keep_of_one_directory_by_several_paths_is_one_series() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.mkdir("other");
    std::os::unix::fs::symlink("tree", env.path("link")).unwrap();
    for path in ["tree", "tree/", "./tree", "tree/sub/..", "link", "link/"] {
        let _ = keep(&env, path);
    }
    let _ = env.transect(["keep", "tree", "other"]).exits(0).quiet();
    let _ = env.sh("cd tree && \"$TRANSECT\" keep").exits(0).quiet();
    assert_eq!(kept(&env, "tree", 0), 8);
    assert_eq!(kept(&env, "other", 0), 1);
    // A directory that is gone still has its history.
    let before = history(&env, "other", 0);
    fs::remove_dir(env.path("other")).unwrap();
    assert_eq!(history(&env, "other", 0), before);
    let _ = env.transect(["changes", "other"]).exits(2);
}

#[test]
fn history_without_a_path_lists_all_series() {
    let env = TestEnv::new();
    let none = env.transect(["history"]).exits(0);
    assert!(
        none.stdout_text().is_empty()
            && none.stderr_text().contains("keep one: transect keep PATH")
    );
    let none = env.transect(["history", "--json"]).exits(0).quiet().json();
    assert_eq!(
        (&none["schema"], &none["series"]),
        (&"transect.series/1".into(), &Value::Array(vec![]))
    );
    let odd = env.mkdir(OsStr::from_bytes(b"\xff"));
    env.mkdir("tree");
    let first = keep(&env, "tree");
    let last = keep(&env, "tree");
    let _ = env.transect([OsStr::new("keep"), odd.as_os_str()]).exits(0).quiet();
    let folder = file(&first).parent().unwrap().to_owned();
    let machine = folder.parent().unwrap();
    // The snapshots of another machine, and of one whose folder was renamed.
    for name in ["server", "odd name"] {
        let copied = env.sh(&format!(
            "cp -a '{}' '{}'",
            machine.display(),
            machine.with_file_name(name).display()
        ));
        let _ = copied.exits(0);
    }
    let all = env.transect(["history", "--json"]).exits(0).quiet().json();
    let series = all["series"].as_array().unwrap();
    assert_eq!((series.len(), &all["complete"]), (6, &true.into()));
    let here =
        series.iter().find(|it| it["directory"]["path"] == folder.to_str().unwrap()).unwrap();
    let rounded =
        |kept: &Value| kept["snapshot"]["taken"].as_i64().unwrap() / 1_000_000 * 1_000_000;
    assert_eq!((&here["first"], &here["last"]), (&rounded(&first).into(), &rounded(&last).into()));
    assert_eq!((&here["path"], &here["snapshots"]), (&first["path"], &2.into()));
    let sizes = [&first, &last].map(|kept| fs::metadata(file(kept)).unwrap().len());
    assert_eq!(here["file_size"], sizes[0] + sizes[1]);
    let raw = |it: &Value| it["path_raw"].as_str().is_some_and(|raw| raw.ends_with("2fff"));
    assert_eq!(series.iter().filter(|it| raw(it)).count(), 3);
    // What it lists can be shown.
    let root = first["path"].as_str().unwrap();
    for host in ["server", here["host"].as_str().unwrap()] {
        let one = env.transect(["history", "--json", "--host", host]).exits(0).quiet().json();
        let roots: Vec<&Value> =
            one["series"].as_array().unwrap().iter().map(|it| &it["host"]).collect();
        assert_eq!(roots, [host, host]);
        let shown =
            env.transect(["history", "--json", "--host", host, root]).exits(0).quiet().json();
        assert_eq!(shown["snapshots"].as_array().unwrap().len(), 2);
    }
    let text = env.transect(["history"]).exits(0).quiet().stdout_text();
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(text.lines().any(|line| line.contains("  server") && line.ends_with(root)), "{text}");

    // Folders of other names and without snapshots, and other files, are named.
    fs::rename(&folder, folder.with_file_name("renamed-0123456789abcdef")).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(machine.with_file_name("notes.txt"), "mine").unwrap();
    let shown = env.transect(["history"]).exits(1);
    for (name, reason) in [
        ("renamed-0123456789abcdef", "named after"),
        ("notes.txt", "not the directory of a series"),
    ] {
        let line = shown.stderr_text().lines().any(|it| it.contains(name) && it.contains(reason));
        assert!(line, "{name}: {}", shown.text());
    }
    assert_eq!(shown.stdout_text().lines().count(), 6, "{}", shown.text());
}

#[test]
fn keep_of_roots_that_are_not_text_has_a_folder_each() {
    let env = TestEnv::new();
    for name in [&b"\xff"[..], b"\xfe", b"a\nb"] {
        let root = env.mkdir(OsStr::from_bytes(name));
        let root = root.as_os_str();
        let _ = env.transect([OsStr::new("keep"), root]).exits(0).quiet();
        let _ = env.transect([OsStr::new("changes"), OsStr::new("--exit-code"), root]).exits(0);
        let history = env.transect([OsStr::new("history"), OsStr::new("--json"), root]).exits(0);
        assert_eq!(history.json()["snapshots"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn keep_dry_run_and_failures_write_nothing() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let planned = env.transect(["keep", "--dry-run", "tree"]).exits(0).quiet().stdout_text();
    assert!(planned.starts_with("would keep '") && planned.ends_with("Z.parquet'\n"), "{planned}");
    let planned = env.transect(["keep", "--dry-run", "--json", "tree"]).exits(0).quiet().json();
    assert_eq!(
        (&planned["dry_run"], &planned["snapshot"]["entries"]),
        (&true.into(), &Value::Null)
    );
    for (args, word) in [
        (&["keep", "missing"][..], "cannot access '"),
        (&["changes", "tree"], "was kept; keep one: transect keep tree"),
        (&["history", "tree"], "was kept; keep one: transect keep tree"),
        (&["changes", "missing"], "was kept, and 'missing' does not exist"),
        (&["history", "--host", "elsewhere", "tree"], "' on 'elsewhere'"),
        (&["changes", "--since", "never", "tree"], "not a time"),
    ] {
        let refused = env.transect(args).exits(2);
        assert!(refused.stderr_text().contains(word), "{args:?}: {}", refused.text());
    }
    assert!(!env.path("../data").exists());
    // One that fails does not keep the others from being stored.
    let _ = env.transect(["keep", "missing", "tree"]).exits(2);
    assert_eq!(kept(&env, "tree", 0), 1);
}

#[test]
fn series_with_foreign_and_damaged_files_is_partial() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let good = file(&keep(&env, "tree"));
    let damaged = file(&keep(&env, "tree"));
    fs::write(&damaged, "PAR1").unwrap();
    fs::write(good.with_file_name("notes.txt"), "mine").unwrap();
    let shown = env.transect(["history", "tree"]).exits(1);
    for (path, reason) in
        [(damaged.to_str().unwrap(), "not a snapshot"), ("notes.txt", "keep stored")]
    {
        let line = shown.stderr_text().lines().any(|it| it.contains(path) && it.contains(reason));
        assert!(line, "{path}: {}", shown.text());
    }
    assert!(shown.stdout_text().contains(": 1 snapshot\n"), "{}", shown.text());
    let object = history(&env, "tree", 1);
    assert_eq!(
        (&object["complete"], object["unusable"].as_array().unwrap().len()),
        (&false.into(), 2)
    );
    // The older one is compared with.
    let changes = env.transect(["changes", "tree"]).exits(1);
    assert_eq!(changes.stdout_text(), "no changes\n");
    assert!(changes.stderr_text().contains("cannot use '"), "{}", changes.text());
    let _ = keep(&env, "tree");
    assert!(damaged.exists() && good.with_file_name("notes.txt").exists());
    let _ = env.transect(["changes", "tree"]).exits(0);
}

#[test]
fn keep_of_a_partial_tree_is_marked() {
    let test = "keep_of_a_partial_tree_is_marked";
    let env = TestEnv::new();
    env.mkdir("tree/denied");
    let data = env.mkdir("../data");
    let _ = env.sh("chmod 0 tree/denied").exits(0);
    env.chmod(&data, 0o777);
    let Some(stored) = env.transect_unprivileged(test, ["keep", "tree"]) else { return };
    let stored = stored.exits(1);
    assert!(stored.stderr_text().contains("cannot open directory"), "{}", stored.text());
    let Some(shown) = env.transect_unprivileged(test, ["history", "tree"]) else { return };
    assert!(shown.exits(1).stdout_text().contains("  partial\n"));
}

/// A directory that was never readable must not make each run of a timer fail.
#[test]
fn changes_report_growth_by_kept_snapshots() {
    let env = TestEnv::new();
    env.mkdir("tree/inner");
    let run = |args: &str| env.sh(&format!("XDG_DATA_HOME=\"$PWD/tree/data\" $TRANSECT {args}"));
    let _ = run("keep tree").exits(0);
    let told = run("changes tree").exits(0).stderr_text();
    assert!(told.contains(" of it are snapshots of `transect keep` in '"), "{told}");
    let told = run("changes tree/inner");
    assert!(!told.stderr_text().contains("of it are snapshots"), "{}", told.text());
}

#[test]
fn keep_quiet_reports_only_new_errors() {
    let test = "keep_quiet_reports_only_new_errors";
    let env = TestEnv::new();
    env.mkdir("tree/new");
    env.mkdir("tree/old");
    let data = env.mkdir("../data");
    env.chmod(&data, 0o777);
    env.chmod(&env.path("tree/old"), 0o000);
    let run = |args: &[&str]| env.transect_unprivileged(test, args);
    let quiet = ["keep", "--quiet", "tree"];
    let Some(first) = run(&quiet) else { return };
    let first = first.exits(1);
    assert!(first.stdout_text().is_empty() && first.stderr_text().contains("tree/old"));
    let again = run(&quiet).expect("another user").exits(0);
    assert!(again.stdout_text().is_empty() && again.stderr_text().is_empty(), "{}", again.text());
    env.chmod(&env.path("tree/new"), 0o000);
    let second = run(&quiet).expect("another user").exits(1).stderr_text();
    assert!(second.contains("tree/new") && !second.contains("tree/old"), "{second}");
    let loud = run(&["keep", "tree"]).expect("another user").exits(1).stderr_text();
    assert!(loud.contains("tree/new") && loud.contains("tree/old"), "{loud}");
}

#[test]
fn keep_every_writes_timer_and_never_removes_it() {
    let env = TestEnv::new();
    env.mkdir("100% $a");
    env.mkdir("bin");
    env.script("bin/systemctl", "#!/bin/sh\necho \"$*\" >>log\ntest ! -e refuse\n");
    let keep = |args: &str| {
        env.sh(&format!(
            "PATH=\"$PWD/bin:$PATH\" XDG_CONFIG_HOME=\"$PWD/config\" $TRANSECT keep {args}"
        ))
    };
    let log = || fs::read_to_string(env.path("log")).unwrap();
    let preview = keep("--every day -x --dry-run '100% $a'").exits(0).quiet().stdout_text();
    assert!(preview.contains("OnCalendar=daily") && !env.path("config").exists(), "{preview}");

    let done = keep("--every day -x '100% $a'").exits(0).quiet().stdout_text();
    assert!(done.starts_with("kept 1 entry of ") && done.contains("keeps one every day"), "{done}");
    let unit =
        log().lines().last().unwrap().strip_prefix("--user enable --now ").unwrap().to_owned();
    let timer = env.path("config/systemd/user").join(&unit);
    assert!(fs::read_to_string(&timer).unwrap().contains("OnCalendar=daily\n"));
    let service = fs::read_to_string(timer.with_extension("service")).unwrap();
    let command = service.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
    assert!(command.contains(" keep --quiet --one-file-system -- \""), "{command}");
    assert!(command.ends_with("/100%% $$a\""), "{command}");

    fs::write(env.path("refuse"), "").unwrap();
    let refused = keep("--every week '100% $a'").exits(2).stderr_text();
    assert!(refused.contains("systemctl --user show-environment failed"), "{refused}");
    assert!(fs::read_to_string(&timer).unwrap().contains("OnCalendar=daily\n"));
    let refused = keep("--every never '100% $a'").exits(2).stderr_text();
    assert!(refused.contains("systemctl --user disable --now") && timer.exists(), "{refused}");
    fs::remove_file(env.path("refuse")).unwrap();
    let removed = keep("--every never '100% $a'").exits(0).quiet().stdout_text();
    assert!(removed.starts_with("removed the timer "), "{removed}");
    assert!(!timer.exists() && !timer.with_extension("service").exists());
    let none = keep("--every never '100% $a'").exits(0).quiet().stdout_text();
    assert!(none.starts_with("no timer to remove: "), "{none}");
}

#[test]
fn keep_while_another_process_stores_is_refused() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.mkdir("other");
    let kept_file = file(&keep(&env, "tree"));
    let lock = fs::File::open(kept_file.with_file_name("lock")).unwrap();
    lock.lock().unwrap();
    let refused = env.transect(["keep", "tree"]).exits(2);
    assert!(refused.stderr_text().contains("another transect is storing"), "{}", refused.text());
    let _ = keep(&env, "other");
    // Reading needs no lock.
    assert_eq!(kept(&env, "tree", 0), 1);
    let _ = env.transect(["changes", "tree"]).exits(0);
    // Not by closing the file, which a program that another test just started may have open, too.
    lock.unlock().unwrap();
    let _ = keep(&env, "tree");
}

#[test]
fn keep_killed_or_interrupted_leaves_older_snapshots_whole() {
    let env = TestEnv::new();
    for directory in 0..60 {
        tree::many_files(&env, &env.path(format!("tree/{directory}")), 200, "name");
    }
    let first = file(&keep(&env, "tree"));
    let whole = fs::read(&first).unwrap();
    let mut stopped = 0;
    // Delays that hit the walk, the writing and the end, depending on the speed of the machine; then
    // again until one was stopped.
    let delays = (0..20).chain(std::iter::repeat(0)).map(Duration::from_millis);
    for (number, delay) in delays.enumerate() {
        if number >= 20 && stopped > 0 {
            break;
        }
        let signal = if number % 2 == 0 { Signal::INT } else { Signal::KILL };
        let running = env.start(["keep", "tree"]);
        running.wait_until_handled();
        std::thread::sleep(delay);
        running.signal(signal);
        if running.finish().code != Some(0) {
            stopped += 1;
        }
        // No file is foreign or damaged, and the lock is free.
        assert!(kept(&env, "tree", 0) >= 1, "after {delay:?}");
        assert_eq!(fs::read(&first).unwrap(), whole, "after {delay:?}");
    }
    let before = kept(&env, "tree", 0);
    let _ = keep(&env, "tree");
    assert_eq!(kept(&env, "tree", 0), before + 1);
}

#[test]
fn changes_stay_on_the_file_system_if_the_snapshot_did() {
    let test = "changes_stay_on_the_file_system_if_the_snapshot_did";
    let env = TestEnv::new();
    let on = env.mkdir("tree/mounted");
    let mounted = match Mount::tmpfs("64k", &on) {
        Ok(mounted) => mounted,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    env.write("tree/mounted/file", 10);
    let _ = env.transect(["keep", "-x", "tree"]).exits(0).quiet();
    let same = env.transect(["changes", "tree"]).exits(0);
    assert_eq!(same.stdout_text(), "no changes\n");
    drop(mounted);
}

/// Returns what `scan --json` prints, without what depends on the walk.
fn scan(env: &TestEnv, args: &[&str]) -> Value {
    let shown = env.transect(["scan", "--json"].iter().chain(args)).exits(0).quiet();
    let mut shown = shown.json();
    let object = shown.as_object_mut().expect("an object");
    for key in ["elapsed_ns", "order", "threads", "disk"] {
        object.remove(key);
    }
    shown
}

/// Creates a tree that a snapshot can prove to be unchanged: what changed within two seconds before it may
/// have changed again, and is listed.
fn old_tree(env: &TestEnv) -> PathBuf {
    let root = tree::everything(env, "tree");
    let changed = fs::metadata(&root).and_then(|root| root.modified()).expect("a time");
    wait_until("the tree is older than two seconds", || {
        changed.elapsed().is_ok_and(|age| age > Duration::from_secs(3))
    });
    root
}

#[test]
fn snapshot_since_equals_a_full_one_and_says_what_it_inherited() {
    let env = TestEnv::new();
    let _ = old_tree(&env);
    let first = keep(&env, "tree");
    env.text("tree/new", "new");
    let _ = env.transect(["snapshot", "--all-times", "-o", "full.parquet", "tree"]).exits(0);
    let mut since = "last";
    for (level, file) in
        [("names", "one.parquet"), ("names", "two.parquet"), ("attributes", "all.parquet")]
    {
        let args =
            ["snapshot", "--json", "--since", since, "--since-level", level, "-o", file, "tree"];
        let stored = env.transect(args).exits(0).quiet().json();
        let (inherited, names) = (&stored["inherited"], level == "names");
        assert_eq!((&inherited["level"], inherited["entries"] != 0), (&level.into(), names));
        // The second one inherits what the first one inherited.
        if names {
            assert_eq!(inherited["oldest"], first["snapshot"]["taken"], "{inherited}");
        }
        let same = env.transect(["diff", "--verify", "full.parquet", file]).exits(0);
        assert_eq!(same.stdout_text(), "no changes\n");
        assert_eq!(same.stderr_text().contains("of B are from 20"), names, "{}", same.text());
        since = file;
    }
    let text = env.transect(["snapshot", "--since", since, "-o", "x.parquet", "tree"]).exits(0);
    assert!(text.stdout_text().contains(" unchanged since 20"), "{}", text.text());
}

/// Keeps a snapshot with the help of the last one, and returns what `--json` prints.
fn rescan(env: &TestEnv, level: &str) -> Value {
    env.transect(["keep", "--rescan", level, "--json", "tree"]).exits(0).quiet().json()
}

#[test]
fn keep_rescan_equals_a_full_snapshot_and_marks_what_it_inherited() {
    let env = TestEnv::new();
    let _ = old_tree(&env);
    // Without an earlier snapshot, everything is read.
    let all = env.transect(["keep", "--rescan", "names", "--json", "tree"]).exits(0);
    assert!(all.stderr_text().contains("everything is read"), "{}", all.text());
    let first = all.json();
    assert_eq!(first["snapshot"]["inherited"], Value::Null);
    env.text("tree/new", "new");
    let _ = env.transect(["snapshot", "--all-times", "-o", "full.parquet", "tree"]).exits(0);
    for (level, inherits) in [("attributes", false), ("names", true), ("names", true)] {
        let kept = rescan(&env, level);
        let inherited = &kept["snapshot"]["inherited"];
        assert_eq!((&inherited["level"], inherited["entries"] != 0), (&level.into(), inherits));
        assert_ne!(inherited["directories"], 0, "{inherited}");
        let file = file(&kept);
        let args =
            ["diff", "--verify", "--json", "--summary", "full.parquet", file.to_str().unwrap()];
        let numbers = env.transect(args).exits(0).quiet().json();
        for key in ["added", "removed", "modified", "renamed", "unreadable"] {
            assert_eq!(numbers[key], 0, "{level}: {numbers}");
        }
        assert_eq!(numbers["after"]["inherited"], *inherited);
        assert_eq!(numbers["before"]["inherited"], Value::Null);
    }
    let shown = history(&env, "tree", 0);
    let marked: Vec<bool> = shown["snapshots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["inherited"]["entries"].as_u64().unwrap_or(0) > 0)
        .collect();
    assert_eq!(marked, [false, false, true, true]);
    let text = env.transect(["history", "tree"]).exits(0).quiet().stdout_text();
    assert_eq!(text.matches("  inherited attributes\n").count(), 2, "{text}");
    let text = env.transect(["keep", "--rescan", "names", "tree"]).exits(0).quiet().stdout_text();
    assert!(text.contains(" unchanged since 20"), "{text}");
}

#[test]
fn keep_rescan_of_another_file_system_reads_everything() {
    let test = "keep_rescan_of_another_file_system_reads_everything";
    let env = TestEnv::new();
    env.mkdir("tree");
    let _ = keep(&env, "tree");
    let mounted = match Mount::tmpfs("64k", &env.path("tree")) {
        Ok(mounted) => mounted,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    env.write("tree/file", 10);
    let kept = env.transect(["keep", "--rescan", "names", "--json", "tree"]).exits(0);
    let told = kept.stderr_text();
    assert!(
        told.contains("on another file system") && told.contains("everything is read"),
        "{told}"
    );
    let object = kept.json();
    assert_eq!(
        (&object["snapshot"]["entries"], &object["snapshot"]["inherited"]),
        (&2.into(), &Value::Null)
    );
    drop(mounted);
}

/// `names` misses a file that was written to, and reports that it may; `attributes` does not miss it.
#[test]
fn changes_rescan_reports_what_it_did_not_query() {
    let env = TestEnv::new();
    let _ = old_tree(&env);
    env.mkdir("tree/quiet");
    env.text("tree/quiet/file", "1");
    let root = env.path("tree/quiet");
    let changed = fs::metadata(&root).and_then(|root| root.modified()).expect("a time");
    wait_until("the directory is older than two seconds", || {
        changed.elapsed().is_ok_and(|age| age > Duration::from_secs(3))
    });
    let _ = keep(&env, "tree");
    // Neither the directory nor its names change.
    let mut file = fs::OpenOptions::new().append(true).open(root.join("file")).unwrap();
    std::io::Write::write_all(&mut file, b"more").unwrap();
    env.text("tree/new", "new");
    let shown = env.transect(["changes", "--rescan", "names", "tree"]).exits(0);
    assert!(shown.stdout_text().contains("tree/new"), "{}", shown.text());
    assert!(!shown.stdout_text().contains("quiet/file"), "{}", shown.text());
    assert!(shown.stderr_text().contains("later changes of these are missing"), "{}", shown.text());
    let shown = env.transect(["changes", "--rescan", "attributes", "tree"]).exits(0);
    assert!(shown.stdout_text().contains("quiet/file"), "{}", shown.text());
    assert!(!shown.stderr_text().contains("are missing"), "{}", shown.text());
    let json = env.transect(["changes", "--json", "--rescan", "names", "tree"]).exits(0).quiet();
    let numbers = json.stdout_text().lines().last().unwrap().to_owned();
    let numbers: Value = serde_json::from_str(&numbers).unwrap();
    assert_eq!(numbers["after"]["inherited"]["level"], "names");
    let wrong = env.transect(["changes", "--rescan", "all", "tree"]).exits(2);
    assert!(wrong.stderr_text().contains("names"), "{}", wrong.text());
}

#[test]
fn scan_since_equals_a_full_scan() {
    let env = TestEnv::new();
    let root = old_tree(&env);
    let _ = keep(&env, "tree");
    let _ = env.transect(["snapshot", "--all-times", "tree", "-o", "tree.parquet"]).exits(0);
    let link = env.path("link");
    std::os::unix::fs::symlink("tree", &link).unwrap();
    for change in
        ["true", "echo x >tree/new", "rm tree/new; mkdir tree/hollow/deep", "rm -r tree/sub"]
    {
        let _ = env.sh(change).exits(0);
        for path in ["tree", "./tree/", root.to_str().unwrap(), "link/"] {
            for level in [&["--since-level", "names"][..], &["--since-level", "attributes"], &[]] {
                for since in ["last", "tree.parquet"] {
                    let full = scan(&env, &[path]);
                    assert_eq!(full["inherited"], Value::Null);
                    let args: Vec<&str> =
                        [path, "--since", since].iter().chain(level).copied().collect();
                    let mut again = scan(&env, &args);
                    let inherited = again["inherited"].take();
                    assert_eq!(again, full, "{change} {args:?}");
                    let level = level.last().unwrap_or(&"attributes");
                    assert_eq!(inherited["level"], *level, "{inherited}");
                    let directories = inherited["directories"].as_u64().unwrap();
                    assert!(directories > 2, "{change} {args:?}: {inherited}");
                    assert_eq!(inherited["entries"] != 0, *level == "names", "{inherited}");
                }
            }
        }
    }
}

#[test]
fn scan_since_refuses_what_proves_nothing() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.mkdir("other");
    env.text("file", "no snapshot");
    for (args, file) in
        [(&["tree"][..], "plain"), (&["--all-times", "-t", "f", "tree"], "filtered")]
    {
        let out = format!("{file}.parquet");
        let _ = env.transect(["snapshot", "-o", &out].iter().chain(args)).exits(0);
    }
    let _ = env.transect(["snapshot", "--all-times", "-o", "tree.parquet", "tree"]).exits(0);
    for (args, word) in [
        (&["--since", "last", "tree"][..], "was kept; keep one: transect keep tree"),
        (&["--since", "last", "tree", "other"], "needs one PATH"),
        (&["--since", "missing", "tree"], "'missing' is not a snapshot"),
        (&["--since", "file", "tree"], "'file' is not a snapshot"),
        (&["--since", "plain.parquet", "tree"], "lacks ctime"),
        (&["--since", "filtered.parquet", "tree"], "with filters"),
        (&["--since", "tree.parquet", "other"], "is a snapshot of '"),
        (&["--since", "tree.parquet", "-L", "tree"], "cannot follow links"),
        (&["--since-level", "names", "tree"], "--since <SNAPSHOT>"),
        (&["--since", "tree.parquet", "missing"], "cannot identify the file system of 'missing'"),
    ] {
        let refused = env.transect(["scan"].iter().chain(args)).exits(2);
        assert!(refused.stderr_text().contains(word), "{args:?}: {}", refused.text());
    }
    let test = "scan_since_refuses_what_proves_nothing";
    let _mounted = match Mount::tmpfs("64k", &env.path("tree")) {
        Ok(mounted) => mounted,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    let refused = env.transect(["scan", "--since", "tree.parquet", "tree"]).exits(2);
    assert!(refused.stderr_text().contains("was on another file system"), "{}", refused.text());
}
