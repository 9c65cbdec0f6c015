//! Scarce resources: few file descriptors, closed streams, no `/proc`.

use serde_json::{Value, json};

use crate::harness::{TestEnv, skip};
use crate::scan::readers_and_orders;
use crate::tree;

/// Creates a tree that would need thousands of descriptors if all its directories stayed open.
fn wide_and_deep(env: &TestEnv) {
    for outer in 0..40 {
        for inner in 0..10 {
            let directory = env.mkdir(format!("tree/wide {outer}/{inner}/end"));
            env.text(directory.join("file"), "12345");
        }
    }
    for number in 0..4 {
        let deep: std::path::PathBuf = (0..200).map(|_| "deep").collect();
        let deep = env.mkdir(env.path(format!("tree/{number}")).join(deep));
        env.text(deep.join("file"), "12345");
    }
}

#[test]
fn scan_sixty_four_descriptors_suffice() {
    let env = TestEnv::new();
    wide_and_deep(&env);
    let expected = tree::counts(&tree::entries(&env, "tree"));
    assert_eq!(expected["files"], 404);
    for (option, values) in readers_and_orders(&env) {
        for value in values {
            for threads in ["", "--threads 1", "--threads 64"] {
                let scan = format!(r#""$TRANSECT" --json {option} {value} {threads} tree"#);
                let output = env.sh(&format!("ulimit -n 64 && {scan}")).exits(0).quiet();
                assert_eq!(tree::counted(&output.json()), expected, "{value} {threads}");
            }
        }
    }
}

#[test]
fn list_sixty_four_descriptors_suffice() {
    let env = TestEnv::new();
    wide_and_deep(&env);
    let listed = env.sh(r#"ulimit -n 64 && "$TRANSECT" list tree"#).exits(0).quiet();
    assert_eq!(listed.paths(b'\n'), tree::paths(&env, "tree"));
}

#[test]
fn scan_paths_longer_than_path_max() {
    let env = TestEnv::new();
    let levels = tree::abyss(&env, "tree", 4);
    for limit in ["true", "ulimit -n 64"] {
        for (option, values) in readers_and_orders(&env) {
            for value in values.iter().filter(|value| *value != "portable") {
                let scan = format!(r#"{limit} && "$TRANSECT" --json {option} {value} tree"#);
                let object = env.sh(&scan).exits(0).quiet().json();
                assert_eq!(object["directories"], levels, "{value} after {limit}");
                assert_eq!(object["errors"], 0);
            }
        }
    }
    let listed = env.transect(["list", "tree"]).exits(0).quiet().paths(b'\n');
    assert_eq!(listed.len(), levels);
    assert!(listed.iter().map(Vec::len).max() > Some(4096));
}

#[test]
fn scan_too_long_paths_are_errors() {
    let env = TestEnv::new();
    let levels = tree::abyss(&env, "tree", 4);
    let output = env.transect(["--json", "--errors", "--reader", "portable", "tree"]).exits(1);
    let object = output.quiet().json();
    assert_eq!(object["complete"], false);
    for kinds in object["errors_by"].as_object().unwrap().values() {
        assert!(kinds["name_too_long"].as_u64() > Some(0), "{kinds}");
        assert_eq!(kinds.as_object().unwrap().len(), 1, "{kinds}");
    }
    assert!(object["errors"].as_u64() > Some(0));
    let directories = object["directories"].as_u64().unwrap();
    assert!(directories > 300 && directories < levels as u64, "{directories}");
}

#[test]
fn closed_streams_are_ignored() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/sub/file", 10);
    let fields = |object: Value| tree::counted(&object);
    let expected = fields(env.transect(["--json", "tree"]).exits(0).quiet().json());
    for command in
        ["--json tree", "tree", "list tree", "doctor tree", "man", "--help", "nowhere", "--bogus"]
    {
        let fails = ["nowhere", "--bogus"].contains(&command);
        let expected_code = if fails { 2 } else { 0 };
        for closed in ["<&-", "2>&-", "<&- 2>&-"] {
            let output = env.sh(&format!(r#""$TRANSECT" {command} {closed}"#)).exits(expected_code);
            let is_told = !output.stdout.is_empty();
            assert_eq!(is_told, !fails, "{command} {closed}\n{}", output.text());
            if command == "--json tree" {
                assert_eq!(fields(output.json()), expected, "{closed}");
            }
        }
        for closed in [">&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"] {
            let output = env.sh(&format!(r#""$TRANSECT" {command} {closed}"#));
            // A closed output may or may not be an error, but must not crash the program.
            assert!(
                [Some(expected_code), Some(2)].contains(&output.code),
                "{command} {closed}\n{}",
                output.text()
            );
            assert!(!output.text().contains("panicked"), "{command} {closed}\n{}", output.text());
        }
    }
    assert_eq!(expected["files"], json!(1));
}

#[test]
fn full_stderr_is_ignored() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let output = env.sh(r#""$TRANSECT" --json tree nowhere 2>/dev/full"#).exits(2);
    assert_eq!(output.json()["directories"], 1);
    let _ = env.sh(r#""$TRANSECT" --bogus 2>/dev/full"#).exits(2);
}

#[test]
fn without_proc_every_command_works_or_says_what_it_needs() {
    let test = "without_proc_every_command_works_or_says_what_it_needs";
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    env.mkdir("same");
    ["same/a", "same/b"].into_iter().for_each(|name| env.text(name, "the same\n"));
    let hidden = |script: &str| {
        env.text("script", &format!("mount -t tmpfs none /proc || exit 99\n{script}\n"));
        env.sh("unshare --mount sh script")
    };
    if !env.is_root() || !env.has("unshare") || hidden("true").code != Some(0) {
        return skip(test, "it needs root and unshare").unwrap_or_default();
    }
    for arguments in [
        "scan -x tree",
        "usage tree",
        "list -l tree",
        "snapshot tree -o a.parquet",
        "snapshot --memory 96M tree -o b.parquet",
        "diff a.parquet b.parquet",
        "map --html map.html tree",
        "keep tree",
        "changes tree",
        "transform case=upper -i same",
        "transform blake3 -o digests same/a",
        "duplicates --link --keep first --yes same",
        "cache status same/a",
        "attributes same/a",
        "doctor tree",
        "list same -x true",
    ] {
        let _ = hidden(&format!("\"$TRANSECT\" {arguments}")).exits(0);
    }
    let lab = hidden("\"$TRANSECT\" lab run enumerate --path tree --dry-run").exits(2);
    // Nothing reports where the program is, so the lab beside it is not found.
    assert!(
        lab.stderr_text().contains("neither beside this program nor on PATH"),
        "{}",
        lab.text()
    );
}
