//! `transect cache`: reports how much of a file is in memory, and drops it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use transect_testkit::Mount;

use crate::harness::{TestEnv, skip};

/// Not a whole number of pages.
const SIZE: usize = (3 << 20) + 100;

/// Returns whether test files can be dropped from memory; otherwise reports that the test is
/// skipped.
fn can_drop(env: &TestEnv, test: &str) -> bool {
    env.write("probe", 1);
    let dropped = env.transect(["cache", "drop", "--json", "probe"]).quiet();
    fs::remove_file(env.path("probe")).expect("a file of our own");
    let kept = &dropped.json()["file_list"][0]["kept"];
    let in_memory = kept == "its file system lies in memory";
    if in_memory {
        skip::<()>(test, "temporary files lie in memory");
    }
    !in_memory
}

fn status(env: &TestEnv, path: impl AsRef<OsStr>) -> Value {
    let args = ["cache".as_ref(), "status".as_ref(), "--json".as_ref(), path.as_ref()];
    env.transect::<&OsStr>(args).exits(0).quiet().json()
}

#[test]
fn cache_read_file_resident_until_dropped() {
    let env = TestEnv::new();
    if !can_drop(&env, "cache_read_file_resident_until_dropped") {
        return;
    }
    let path = env.write("file", SIZE);
    let content = fs::read(&path).unwrap();
    let before = status(&env, "file");
    assert_eq!((&before["size"], &before["resident"]), (&json!(SIZE), &json!(SIZE)));

    let dropped = env.transect(["cache", "drop", "--json", "file"]).exits(0).quiet().json();
    assert_eq!(dropped["schema"], "transect.cache.drop/1");
    assert_eq!(dropped["complete"], true);
    assert_eq!(
        (&dropped["resident_before"], &dropped["resident_after"]),
        (&json!(SIZE), &json!(0))
    );
    assert_eq!(dropped["file_list"][0]["kept"], Value::Null);
    let after = status(&env, "file");
    assert_eq!((&after["size"], &after["resident"]), (&json!(SIZE), &json!(0)));

    assert_eq!(fs::read(&path).unwrap(), content, "nothing is lost");
    assert_eq!(status(&env, "file")["resident"], SIZE);
}

#[test]
fn cache_drop_writes_dirty_pages_first() {
    let env = TestEnv::new();
    if !can_drop(&env, "cache_drop_writes_dirty_pages_first") {
        return;
    }
    fs::write(env.path("file"), vec![b'x'; SIZE]).unwrap();
    let dropped = env.transect(["cache", "drop", "file"]).exits(0).quiet().stdout_text();
    assert_eq!(dropped, "    before      after\n  3.00 MiB        0 B  file\n");
    assert_eq!(fs::read(env.path("file")).unwrap(), vec![b'x'; SIZE]);
}

#[test]
fn cache_directory_counts_each_file_once() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/big", SIZE);
    env.write("tree/sub/small", 1000);
    env.write("tree/empty", 0);
    fs::hard_link(env.path("tree/big"), env.path("tree/sub/again")).unwrap();
    std::os::unix::fs::symlink("big", env.path("tree/link")).unwrap();
    File::create(env.path("tree/hole")).unwrap().set_len(1 << 40).unwrap();

    let text = env.transect(["cache", "status", "tree"]).exits(0).quiet().stdout_text();
    let shown: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(shown[0], ["resident", "size", "dirty"]);
    assert_eq!(shown[1][..6], ["3.00", "MiB", "100", "%", "3.00", "MiB"]);
    let names: Vec<&str> = shown[1..6].iter().map(|line| *line.last().unwrap()).collect();
    let expected = ["tree/big", "tree/empty", "tree/hole", "tree/sub/again", "tree/sub/small"];
    assert_eq!(names, expected);
    assert_eq!(shown[2][..4], ["0", "B", "0", "B"], "an empty file has no share");
    assert_eq!(shown[3][..6], ["0", "B", "0", "%", "1.00", "TiB"]);
    assert_eq!(shown[6].join(" "), "3.00 MiB <1 % 1.00 TiB 0 B total of 4 files");
    assert_eq!(shown.len(), 7);

    let object = status(&env, "tree");
    assert_eq!(object["schema"], "transect.cache.status/1");
    assert_eq!((&object["files"], &object["hard_links"]), (&json!(4), &json!(1)));
    assert_eq!(object["resident"], SIZE + 1000);
    assert_eq!(object["size"], SIZE as u64 + 1000 + (1 << 40));
    assert_eq!(object["file_list"].as_array().unwrap().len(), 5);

    let globbed = ["cache", "status", "--json", "--glob", "small", "tree"];
    assert_eq!(env.transect(globbed).exits(0).quiet().json()["resident"], 1000);
    let root_link = status(&env, "tree/link");
    assert_eq!(root_link["resident"], SIZE, "a link to a file is followed");
    let empty = status(&env, env.mkdir("nothing"));
    assert_eq!((&empty["files"], &empty["complete"]), (&json!(0), &json!(true)));
}

#[test]
fn cache_drop_reports_mapped_pages() {
    let env = TestEnv::new();
    let test = "cache_drop_reports_mapped_pages";
    if !can_drop(&env, test) {
        return;
    }
    // Copied by another process: see `transect_unprivileged`.
    let _ = env.sh(r#"cp "$(command -v sleep)" program"#).exits(0);
    let mut running = Command::new(env.path("program")).arg("100").spawn().unwrap();
    let mut dropped = env.transect(["cache", "drop", "program"]);
    // The program may not have loaded its first page yet.
    for _ in 0..100 {
        if dropped.code == Some(1) {
            break;
        }
        dropped = env.transect(["cache", "drop", "program"]);
    }
    running.kill().unwrap();
    running.wait().unwrap();
    let dropped = dropped.exits(1).quiet().stdout_text();
    assert!(dropped.contains("a program has it mapped"), "{dropped}");
    let _ = env.transect(["cache", "drop", "program"]).exits(0).quiet();
}

#[test]
fn cache_drop_reports_files_in_memory_file_systems() {
    let env = TestEnv::new();
    let mount = match Mount::tmpfs("16m", &env.path("memory")) {
        Ok(mount) => mount,
        Err(reason) => {
            let test = "cache_drop_reports_files_in_memory_file_systems";
            return skip(test, &reason).unwrap_or_default();
        }
    };
    fs::write(mount.path().join("file"), vec![b'x'; SIZE]).unwrap();
    let dropped = env.transect(["cache", "drop", "--json", "memory/file"]).exits(1).quiet().json();
    assert_eq!(dropped["file_list"][0]["kept"], "its file system lies in memory");
    assert_eq!(dropped["resident_after"], SIZE);

    env.mkdir("memory/huge");
    for name in ["a", "b", "c"] {
        let file = fs::File::create(mount.path().join("huge").join(name)).unwrap();
        file.set_len(i64::MAX as u64).expect("memory has files as large as numbers go");
    }
    let status = env.transect(["cache", "status", "--json", "memory/huge"]).exits(0).quiet().json();
    assert_eq!(status["size"], u64::MAX, "as much as can be told");
    assert_eq!(status["resident"], 0);
}

#[test]
fn cache_unreadable_files_are_reported() {
    let env = TestEnv::new();
    crate::tree::mkfifo(&env, &env.path("pipe"));
    env.write("file", SIZE);
    for command in ["status", "drop"] {
        for (path, reason) in [
            ("nowhere", "cannot access 'nowhere': No such file or directory"),
            ("pipe", "cannot access 'pipe': not a regular file"),
            ("/dev/null", "cannot access '/dev/null': not a regular file"),
        ] {
            let refused = env.transect(["cache", command, path]).exits(2);
            assert_eq!(refused.stderr_text(), format!("transect: {reason}\n"));
            assert!(refused.stdout.is_empty());
            let others = ["cache", command, "--json", "--errors", path, "file"];
            let others = env.transect(others).exits(2).quiet().json();
            assert_eq!((&others["files"], &others["errors"]), (&json!(1), &json!(1)));
            assert_eq!(others["complete"], false);
            assert_eq!(others["error_list"][0]["path"], path);
        }
        let _ = env.transect(["cache", command]).exits(2);
        let made_up = env.transect(["cache", command, "/proc/self/status"]).exits(0).quiet();
        assert!(made_up.stdout_text().contains("0 B"));
    }
}

#[test]
fn cache_unreported_residency_is_unknown() {
    let env = TestEnv::new();
    let test = "cache_unreported_residency_is_unknown";
    env.mkdir("tree");
    let (foreign, locked) = (env.write("tree/foreign", SIZE), env.write("tree/locked", SIZE));
    env.chmod(&foreign, 0o644);
    env.chmod(&locked, 0o000);
    if !env.is_root() {
        return skip(test, "who runs the tests owns the files").unwrap_or_default();
    }
    let Some(status) =
        env.transect_unprivileged(test, ["cache", "status", "--json", "--errors", "tree"])
    else {
        return;
    };
    let answer = status.exits(1).quiet().json();
    assert_eq!(answer["error_list"][1]["path"], "tree/locked");
    assert_eq!((&answer["files"], &answer["errors"]), (&json!(0), &json!(2)));
    let status = env.transect_unprivileged(test, ["cache", "status", "tree"]).unwrap().exits(1);
    let reason = "cannot access 'tree/foreign': only a file's owner";
    assert!(status.stderr_text().contains(reason), "{}", status.text());

    let dropped = env.transect_unprivileged(test, ["cache", "drop", "tree/foreign"]).unwrap();
    let dropped = dropped.exits(0);
    assert!(dropped.stdout_text().ends_with("   unknown    unknown  tree/foreign\n"));
    assert!(dropped.stderr_text().contains("the system does not confirm it"));
}

#[test]
fn cache_hostile_names_quoted() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let name = OsStr::from_bytes(b"a\nb\x1b[31m\xff");
    env.write(Path::new("tree").join(name), 1);
    for command in ["status", "drop"] {
        let shown = env.transect(["cache", command, "tree"]).exits(0).quiet().stdout_text();
        assert!(shown.ends_with("  tree/a\\nb\\e[31m\u{fffd}\n"), "{shown}");
        let object = env.transect(["cache", command, "--json", "tree"]).exits(0).json();
        let raw = &object["file_list"][0]["path_raw"];
        assert_eq!(raw, "747265652f610a621b5b33316dff");
    }
}
