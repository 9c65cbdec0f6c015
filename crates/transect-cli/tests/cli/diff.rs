//! `transect diff`: what changed between two trees.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::harness::TestEnv;
use crate::tree;

fn store(env: &TestEnv, tree: &str, file: &str) {
    let _ = env.transect(["snapshot", tree, "-o", file]).exits(0).quiet();
}

/// Returns the lines of `diff --json`: the changes, and the numbers.
fn json(env: &TestEnv, args: &[&str]) -> (Vec<Value>, Value) {
    let output = env.transect(["diff", "--json"].iter().chain(args)).exits(0).quiet();
    let text = output.stdout_text();
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let summary = lines.pop().expect("the numbers");
    assert_eq!(summary["schema"], "transect.diff/1");
    (lines, summary)
}

/// Returns each change as a word and the last name of its path, consequences left out.
fn words(changes: &[Value]) -> Vec<String> {
    let word = |change: &Value| {
        let path = change["path"].as_str().expect("a path");
        let name = path.rsplit('/').next().expect("a name");
        format!("{} {name}", change["change"].as_str().expect("a word"))
    };
    let is_own =
        |change: &&Value| change["change"] != "modified" || change["after"]["type"] != "directory";
    changes.iter().filter(is_own).map(word).collect()
}

/// Changes a tree in every way.
fn prepare(env: &TestEnv) {
    env.mkdir("tree/moved/inner");
    env.mkdir("tree/to");
    env.write("tree/moved/inner/deep", 5000);
    env.write("tree/gone", 10);
    env.write("tree/grown", 10);
    env.write("tree/renamed", 300);
    env.write("tree/type", 10);
    env.write("tree/mode", 10);
    env.write("tree/same", 10);
    store(env, "tree", "before.parquet");
    let change = "cd tree && rm gone && mv moved to/new && mv renamed other-name && chmod 600 mode \
        && rm type && mkdir type && mkdir -p added/sub && touch added/sub/file \
        && head -c 500000 /dev/zero >>grown && chmod 711 to/new/inner";
    let _ = env.sh(change).exits(0);
    store(env, "tree", "after.parquet");
}

const EXPECTED: [&str; 7] = [
    "added added",
    "removed gone",
    "modified grown",
    "modified mode",
    "renamed other-name",
    "renamed new",
    "type_changed type",
];

#[test]
fn diff_names_every_kind_of_change() {
    let env = TestEnv::new();
    prepare(&env);
    for (a, b) in [("before.parquet", "after.parquet"), ("before.parquet", "tree")] {
        let (changes, summary) = json(&env, &[a, b]);
        assert_eq!(words(&changes), EXPECTED, "{b}");
        let by_name: BTreeMap<String, &Value> = words(&changes)
            .into_iter()
            .zip(
                changes
                    .iter()
                    .filter(|it| it["change"] != "modified" || it["after"]["type"] != "directory"),
            )
            .collect();
        assert_eq!(by_name["modified mode"]["changed"], serde_json::json!(["mode"]));
        assert_eq!(by_name["renamed new"]["after"]["entries"], 3);
        assert!(by_name["renamed new"]["from"].as_str().unwrap().ends_with("tree/moved"));
        assert_eq!(by_name["added added"]["after"]["entries"], 3);
        assert_eq!(summary["added"], 3, "{summary}");
        assert_eq!(summary["renamed"], 2, "{summary}");
        let grown = summary["disk_usage_after"].as_u64().unwrap() as i64
            - summary["disk_usage_before"].as_u64().unwrap() as i64;
        assert!(grown > 400_000, "{summary}");
    }
}

#[test]
fn diff_text_is_readable_at_a_glance() {
    let env = TestEnv::new();
    prepare(&env);
    let shown = env.transect(["diff", "before.parquet", "after.parquet"]).exits(0).quiet();
    let text = shown.stdout_text();
    let root = fs::canonicalize(env.path("tree")).unwrap();
    let text = text.replace(root.to_str().unwrap(), "TREE");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("+ TREE/added/  3 entries, "), "{text}");
    assert!(lines[1].starts_with("- TREE/gone  4.00 KiB"), "{text}");
    assert!(lines[2].starts_with("~ TREE/grown  size 10 B → 488 KiB, mtime "), "{text}");
    assert_eq!(lines[3], "~ TREE/mode  mode 644 → 600", "{text}");
    assert_eq!(lines[4], "> TREE/renamed → TREE/other-name", "{text}");
    assert!(lines[5].starts_with("> TREE/moved/ → TREE/to/new/  3 entries"), "{text}");
    assert!(lines[6].starts_with("~ TREE/to/new/inner/  mode 755 → 711"), "{text}");
    assert!(lines[7].starts_with("T TREE/type/  file → directory"), "{text}");
    assert!(text.contains("3 added, 1 removed, 3 changed, 2 moved, 1 of another type"), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
    let painted =
        env.transect(["diff", "--color", "always", "before.parquet", "after.parquet"]).exits(0);
    assert!(painted.stdout_text().contains("\x1b["));
    let summary = env.transect(["diff", "-s", "before.parquet", "after.parquet"]).exits(0).quiet();
    assert!(!summary.stdout_text().contains("TREE/gone"));
    let top = env.transect(["diff", "-n", "1", "before.parquet", "after.parquet"]).exits(0).quiet();
    assert!(top.stdout_text().contains("more changes"), "{}", top.stdout_text());
}

#[test]
fn diff_exit_codes() {
    let env = TestEnv::new();
    prepare(&env);
    for (args, code) in [
        (&["before.parquet", "after.parquet"][..], 0),
        (&["--exit-code", "before.parquet", "after.parquet"], 1),
        (&["--exit-code", "after.parquet", "after.parquet"], 0),
        (&["--exit-code", "after.parquet", "tree"], 0),
        (&["--exit-code", "tree", "tree"], 0),
        (&["missing", "tree"], 2),
        (&["tree", "missing"], 2),
        (&["--ignore", "nothing", "tree", "tree"], 2),
    ] {
        let _ = env.transect(["diff"].iter().chain(args)).exits(code);
    }
    let same = env.transect(["diff", "after.parquet", "tree"]).exits(0).quiet();
    assert_eq!(same.stdout_text(), "no changes\n");
}

#[test]
fn diff_of_a_copy_ignores_what_a_copy_cannot_keep() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let _ = env.sh("cp -a tree copy").exits(0);
    let args = ["--ignore", "allocated,size,mtime,nlink", "tree", "copy"];
    let (changes, _) = json(&env, &args);
    assert_eq!(changes, Vec::<Value>::new());
}

#[test]
fn diff_unreadable_directory_is_not_gone() {
    let test = "diff_unreadable_directory_is_not_gone";
    let env = TestEnv::new();
    env.mkdir("tree/denied/sub");
    env.write("tree/denied/file", 10);
    let _ = env.sh("chmod 755 . tree tree/denied tree/denied/sub").exits(0);
    store(&env, "tree", "before.parquet");
    let _ = env.sh("chmod 644 before.parquet; chmod 0 tree/denied").exits(0);
    let output = env.transect_unprivileged(test, ["diff", "before.parquet", "tree"]);
    let Some(output) = output else { return };
    let output = output.exits(1);
    let text = output.stdout_text();
    assert!(text.contains("denied/  denied, 2 entries in it cannot be compared"), "{text}");
    assert!(text.contains("1 not readable in B") && !text.contains("removed"), "{text}");
}

#[test]
fn diff_names_the_errors_that_a_snapshot_stored() {
    let test = "diff_names_the_errors_that_a_snapshot_stored";
    let env = TestEnv::new();
    let hostile = std::ffi::OsStr::from_bytes(b"not \xff UTF-8");
    env.mkdir(std::path::Path::new("tree").join(hostile));
    let _ = env.sh("chmod 755 . tree; chmod 0 tree/*; mkdir -m 777 to").exits(0);
    let stored = env.transect_unprivileged(test, ["snapshot", "tree", "-o", "to/now.parquet"]);
    let Some(stored) = stored else { return };
    let _ = stored.exits(1);
    let shown = env.transect(["diff", "to/now.parquet", "to/now.parquet"]).exits(1);
    for side in ["A", "B"] {
        let line = format!("transect: {side}: 1 error when it was read:");
        assert!(shown.stderr_text().contains(&line), "{}", shown.text());
    }
    assert!(shown.stderr_text().contains("Permission denied"), "{}", shown.text());
    let args = ["diff", "--json", "--errors", "to/now.parquet", "to/now.parquet"];
    let numbers = env.transect(args).exits(1).json();
    let error = &numbers["before"]["error_list"][0];
    assert_eq!(
        (&error["operation"], &error["kind"], &error["os_error"]),
        (&"open_directory".into(), &"denied".into(), &13.into())
    );
    let raw = error["path_raw"].as_str().expect("bytes");
    assert!(raw.ends_with("6e6f7420ff205554462d38"), "{raw}");
    let numbers =
        env.transect(["diff", "--json", "to/now.parquet", "to/now.parquet"]).exits(1).json();
    assert_eq!(numbers["before"].get("error_list"), None);
}
