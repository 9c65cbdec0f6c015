//! `transect duplicates`: groups, outputs, questions, and actions that are interrupted or killed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use rustix::process::Signal;
use transect_testkit::wait_until;

use crate::harness::{TestEnv, skip};
use crate::terminal::on_terminal;

/// Creates two groups: one of two files and a hard link, one of three larger files.
fn tree(env: &TestEnv) {
    for directory in ["tree/a", "tree/b"] {
        env.mkdir(directory);
    }
    for name in ["a/one", "b/two"] {
        env.text(format!("tree/{name}"), "same");
    }
    fs::hard_link(env.path("tree/a/one"), env.path("tree/b/link")).expect("a new name");
    for name in ["a/large", "b/copy", "b/other"] {
        env.write(format!("tree/{name}"), 100_000);
    }
    env.text("tree/a/alone", "SAME");
}

/// Returns the text without sizes on the device and without times.
fn lines(text: &str) -> Vec<String> {
    let end = |line: &str| line.split(", frees").next().unwrap_or_default().to_owned();
    text.lines().take_while(|line| !line.is_empty()).map(end).collect()
}

fn inode(env: &TestEnv, name: &str) -> u64 {
    fs::metadata(env.path(name)).expect("a file").ino()
}

#[test]
fn duplicates_groups_largest_first() {
    let env = TestEnv::new();
    tree(&env);
    let text = env.transect(["duplicates", "tree"]).exits(0).quiet().stdout_text();
    let expected = [
        "97.7 KiB × 3",
        "  tree/a/large",
        "  tree/b/copy",
        "  tree/b/other",
        "4 B × 2",
        "  tree/a/one",
        "  = tree/b/link",
        "  tree/b/two",
    ];
    assert_eq!(lines(&text), expected);
    assert!(text.contains("2 groups with 3 copies; removing them would free"), "{text}");
    let top = env.transect(["duplicates", "-n", "1", "tree"]).exits(0).quiet().stdout_text();
    assert!(top.contains("1 of 2 groups shown") && !top.contains("two"), "{top}");
    let none = env.transect(["duplicates", "tree/a"]).exits(0).quiet().stdout_text();
    assert!(none.starts_with("no duplicates; complete in"), "{none}");
}

#[test]
fn duplicates_filters_apply() {
    let env = TestEnv::new();
    tree(&env);
    let groups = |args: &[&str]| {
        let all = ["duplicates", "--json", "tree"].iter().chain(args);
        env.transect(all).exits(0).quiet().json()["group_count"].as_u64().unwrap()
    };
    assert_eq!(groups(&[]), 2);
    assert_eq!(groups(&["--size", "+1K"]), 1);
    assert_eq!(groups(&["--glob", "!two"]), 1);
    assert_eq!(groups(&["--exclude", "b"]), 0);
    env.text("tree/.gitignore", "/b/two\n");
    assert_eq!(groups(&["--gitignore"]), 1);
    for name in ["tree/empty", "tree/void"] {
        env.text(name, "");
    }
    assert_eq!((groups(&[]), groups(&["--empty-files"])), (2, 3));
}

#[test]
fn duplicates_json_names_every_file() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let odd = OsStr::from_bytes(b"tree/not\xffutf8\n");
    for name in [OsStr::new("tree/a"), odd] {
        fs::write(env.path(name), "same").unwrap();
    }
    let object = env.transect(["duplicates", "--json", "tree"]).exits(0).quiet().json();
    assert_eq!(object["schema"], "transect.duplicates/1");
    assert_eq!(object["complete"], true);
    let group = &object["groups"][0];
    assert_eq!(group["size"], 4);
    assert_eq!(group["freed"], group["files"][1]["freed"]);
    assert_eq!(object["freed"], group["freed"]);
    assert_eq!(group["files"][0]["path"], "tree/a");
    assert_eq!(group["files"][0]["path_raw"], serde_json::Value::Null);
    assert_eq!(group["files"][1]["path_raw"], "747265652f6e6f74ff757466380a");
    let paths = env.transect(["duplicates", "-0", "tree"]).exits(0).quiet();
    assert_eq!(paths.stdout, b"tree/a\0tree/not\xffutf8\n\0\0");
}

#[test]
fn duplicates_action_without_rule_or_terminal_refused() {
    let env = TestEnv::new();
    tree(&env);
    for action in ["--remove", "--link", "--clone"] {
        let output = env.transect(["duplicates", action, "--yes", "tree"]).exits(2);
        assert!(
            output
                .stderr_text()
                .contains("which file of each group stays: --keep RULE or --prefer PATH")
        );
        let output = env.transect(["duplicates", action, "--keep", "first", "tree"]).exits(2);
        assert!(output.stderr_text().contains("use --yes"), "{}", output.text());
    }
    for wrong in [&["--yes"][..], &["--dry-run"], &["--remove", "--link"], &["--remove", "-0"]] {
        let _ = env.transect(["duplicates", "tree"].iter().chain(wrong)).exits(2);
    }
    assert!(env.path("tree/b/two").exists() && env.path("tree/b/copy").exists());
}

#[test]
fn duplicates_dry_run_changes_nothing() {
    let env = TestEnv::new();
    tree(&env);
    let before = inode(&env, "tree/b/two");
    let dry = ["duplicates", "--link", "--prefer", "tree/b", "--keep", "newest", "--dry-run"];
    let text = env.transect(dry.iter().chain(&["tree"])).exits(0).quiet().stdout_text();
    assert!(text.contains("  link   tree/a/large\n"), "{text}");
    assert_eq!(inode(&env, "tree/b/two"), before);
    let json = ["--json", "tree"];
    let object = env.transect(dry.iter().chain(&json)).exits(0).quiet().json();
    assert_eq!(object["action"]["dry_run"], true);
    assert_eq!(object["action"]["done"], 0);
}

#[test]
fn duplicates_remove_keeps_what_is_preferred() {
    let env = TestEnv::new();
    tree(&env);
    let remove = ["duplicates", "--remove", "--prefer", "tree/b", "--yes", "tree"];
    let text = env.transect(remove).exits(0).quiet().stdout_text();
    assert!(text.contains("  keep   tree/b/copy\n  remove tree/a/large\n"), "{text}");
    assert!(text.contains("\nremoved 3 names, freed"), "{text}");
    for (name, stays) in
        [("a/one", true), ("b/link", true), ("b/two", false), ("a/large", false), ("b/copy", true)]
    {
        assert_eq!(env.path("tree").join(name).exists(), stays, "{name}");
    }
    let again = env.transect(remove).exits(0).quiet().stdout_text();
    assert!(again.contains("no duplicates"), "{again}");
}

#[test]
fn duplicates_top_limits_actions() {
    let env = TestEnv::new();
    tree(&env);
    let remove = ["duplicates", "--remove", "--keep", "first", "--yes", "--top", "1", "tree"];
    let _ = env.transect(remove).exits(0).quiet();
    assert!(env.path("tree/b/two").exists() && !env.path("tree/b/copy").exists());
}

#[test]
fn duplicates_link_makes_hard_links() {
    let env = TestEnv::new();
    tree(&env);
    let link = ["duplicates", "--link", "--keep", "first", "-y", "--json", "tree"];
    let object = env.transect(link).exits(0).quiet().json();
    assert_eq!(object["action"]["done"], 3);
    assert_eq!(inode(&env, "tree/b/two"), inode(&env, "tree/a/one"));
    assert_eq!(inode(&env, "tree/b/copy"), inode(&env, "tree/a/large"));
}

#[test]
fn duplicates_kept_file_makes_it_partial() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.text("tree/a", "same");
    env.text("tree/b", "same");
    env.chmod(&env.path("tree/b"), 0o600);
    let link = ["duplicates", "--link", "--keep", "first", "--yes", "tree"];
    let output = env.transect(link).exits(1);
    let why = "kept 'tree/b': owner or permissions differ from the copy to keep";
    assert!(output.stderr_text().contains(why), "{}", output.text());
    assert!(output.stdout_text().contains("linked 0 names, freed 0 B; kept 1 name"));
    let merge = ["--merge-attributes"];
    let _ = env.transect(link.iter().chain(&merge)).exits(0).quiet();
    assert_eq!(inode(&env, "tree/a"), inode(&env, "tree/b"));
}

#[test]
fn duplicates_unreadable_file_makes_it_partial() {
    let env = TestEnv::new();
    tree(&env);
    env.chmod(&env.path("tree/b/two"), 0o000);
    let test = "duplicates_unreadable_file_makes_it_partial";
    let Some(output) = env.transect_unprivileged(test, ["duplicates", "tree"]) else { return };
    let output = output.exits(1);
    assert!(output.stderr_text().contains("cannot read 'tree/b/two': Permission denied"));
    assert!(output.stdout_text().contains("1 group with 2 copies"), "{}", output.text());
    let json = env.transect_unprivileged(test, ["duplicates", "--json", "--errors", "tree"]);
    let object = json.unwrap().exits(1).quiet().json();
    assert_eq!(object["errors_by"]["read_file"]["denied"], 1);
    assert_eq!(object["error_list"][0]["operation"], "read_file");
    let missing = env.transect(["duplicates", "tree/a", "missing"]).exits(2);
    assert!(missing.stderr_text().contains("cannot access 'missing'"));
}

#[test]
fn duplicates_asks_on_a_terminal() {
    let test = "duplicates_asks_on_a_terminal";
    for (answer, removed) in [("y", true), ("n", false), ("", false)] {
        let env = TestEnv::new();
        tree(&env);
        if env.sh("script --version | grep -q util-linux").code != Some(0) {
            return skip(test, "there is no script of util-linux").unwrap_or_default();
        }
        let run = r#""$TRANSECT" duplicates --remove --keep first tree"#;
        let output = env.sh(&format!(
            "printf '{answer}\\n' | script --quiet --flush --return --command '{run}' typescript"
        ));
        let text = output.text();
        assert!(text.contains("Remove 3 names, freeing up to"), "{text}");
        assert_eq!(env.path("tree/b/two").exists(), !removed, "{answer}: {text}");
        assert_eq!(text.contains("nothing was changed"), !removed, "{text}");
    }
}

#[test]
fn duplicates_fit_forty_columns() {
    let env = TestEnv::new();
    tree(&env);
    let run = r#"stty rows 24 cols 40; "$TRANSECT" duplicates tree"#;
    let Some(output) = on_terminal(&env, "duplicates_fit_forty_columns", "NO_COLOR=1", run) else {
        return;
    };
    for line in output.stdout_text().lines() {
        // On a slow machine, progress was shown there before.
        let left = line.rsplit("\x1b[K").next().unwrap_or_default();
        assert!(left.trim_end().chars().count() <= 40, "{line}");
    }
}

#[test]
fn duplicates_interrupted_removes_nothing() {
    let env = TestEnv::new();
    env.mkdir("tree");
    // They take long to read, but no time to make: they are holes.
    for name in ["tree/a", "tree/b"] {
        fs::File::create(env.path(name)).unwrap().set_len(1 << 40).unwrap();
    }
    let running = env.start(["duplicates", "--remove", "--keep", "first", "--yes", "tree"]);
    running.wait_until_handled();
    running.signal(Signal::INT);
    let output = running.finish().exits(130);
    assert!(output.stdout_text().contains("interrupted after"), "{}", output.text());
    assert!(env.path("tree/a").exists() && env.path("tree/b").exists());
}

#[test]
fn duplicates_killed_leaves_every_file_complete() {
    const FILES: usize = 400;
    let env = TestEnv::new();
    env.mkdir("tree");
    for number in 0..FILES {
        env.text(format!("tree/file{number:03}"), "the same content in each of these files");
    }
    let first = inode(&env, "tree/file000");
    let running = env.start(["duplicates", "--link", "--keep", "first", "--yes", "tree"]);
    wait_until("some files are linked", || {
        fs::metadata(env.path("tree/file000")).unwrap().nlink() > 5
    });
    running.signal(Signal::KILL);
    let _ = running.finish();
    let mut complete = 0;
    for entry in fs::read_dir(env.path("tree")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        assert_eq!(text, "the same content in each of these files", "{name}");
        complete += usize::from(name.starts_with("file"));
        assert!(name.starts_with("file") || name.ends_with(".transect"), "{name}");
    }
    assert_eq!(complete, FILES);
    assert_eq!(inode(&env, "tree/file000"), first);
}

#[test]
fn duplicates_name_of_killed_run_removed_and_never_kept() {
    let env = TestEnv::new();
    // A name that a killed process made.
    let (running, input) = crate::transform::half_written(&env);
    running.signal(Signal::KILL);
    let _ = running.finish();
    drop(input);
    let left = env.sh("ls -A | grep transect$").exits(0).stdout_text();
    for (action, makes) in [("--link", "ln"), ("--remove", "cp")] {
        let (a, b) = (format!("{makes}/a"), format!("{makes}/b"));
        let left = format!("{makes}/{}", left.trim_end());
        env.mkdir(makes);
        [&a, &b].into_iter().for_each(|name| env.text(name, "the same content"));
        let _ = env.sh(&format!("{makes} {a} {left}")).exits(0);
        let arguments = ["duplicates", action, "--keep", "first", "--yes", makes];
        // The name sorts first, and would be the one that is kept.
        let done = env.transect(arguments).exits(0);
        let note = "removed 1 temporary file of killed runs";
        assert!(done.stderr_text().contains(note), "{}", done.text());
        assert!(!env.path(&left).exists());
        assert_eq!(fs::read_to_string(env.path(&a)).unwrap(), "the same content");
        assert_eq!(env.path(&b).exists(), action == "--link");
    }
}
