//! `transect usage`: the tree and the groups, compared with `du` and `std::fs`.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::Value;
use transect_testkit::Mount;

use crate::harness::{TestEnv, skip};
use crate::terminal::on_terminal;
use crate::tree;

fn usage(env: &TestEnv, args: &[&str]) -> Value {
    env.transect(["usage", "--json"].iter().chain(args)).exits(0).quiet().json()
}

fn entries(object: &Value) -> &[Value] {
    object["entries"].as_array().expect("a list of entries")
}

fn number(object: &Value, key: &str) -> u64 {
    object[key].as_u64().unwrap_or_else(|| panic!("{key} in {object}"))
}

#[test]
fn usage_directory_sizes_match_du() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let object = usage(&env, &["tree", "-n", "1000"]);
    let mut compared = 0;
    for entry in entries(&object).iter().filter(|entry| entry["path_raw"].is_null()) {
        let path = entry["path"].as_str().unwrap();
        if path.matches("deep").count() > 20 {
            continue;
        }
        let du = env.sh(&format!("du -s -B1 -- '{path}' | cut -f1")).stdout_text();
        let alone = number(entry, "exclusive_size") + number(entry, "shared_size");
        assert_eq!(du.trim().parse(), Ok(alone), "{path}");
        compared += 1;
    }
    assert!(compared > 20, "only {compared} directories");
    let scan = env.transect(["scan", "--json", "tree"]).exits(0).json();
    for (key, value) in [
        ("files", number(&scan, "files")),
        ("directories", number(&scan, "directories")),
        ("others", number(&scan, "symlinks") + number(&scan, "others")),
        ("hard_links", number(&scan, "hard_links")),
        ("apparent_size", number(&scan, "apparent_size")),
        (
            "disk_usage",
            number(&scan, "allocated_size") + number(&scan, "directories_allocated_size"),
        ),
    ] {
        assert_eq!(number(&object, key), value, "{key}");
    }
}

#[test]
fn usage_shows_largest_and_their_parents() {
    let env = TestEnv::new();
    for (directory, bytes) in [("a", 300_000), ("b/c", 500_000), ("d", 100_000)] {
        env.mkdir(format!("tree/{directory}"));
        env.write(format!("tree/{directory}/file"), bytes);
    }
    let paths = |args: &[&str]| -> Vec<String> {
        let object = usage(&env, args);
        entries(&object).iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(&["tree"]), ["tree", "tree/b", "tree/b/c", "tree/a", "tree/d"]);
    assert_eq!(paths(&["tree", "--top", "3"]), ["tree", "tree/b", "tree/b/c"]);
    assert_eq!(paths(&["tree", "--depth", "1"]), ["tree", "tree/b", "tree/a", "tree/d"]);
    assert_eq!(paths(&["tree", "--depth", "0"]), ["tree"]);
    // As in du, -d limits what is shown, not what is counted.
    assert_eq!(
        usage(&env, &["tree", "-d", "1"])["entries"],
        usage(&env, &["tree", "--depth", "1"])["entries"]
    );
    let total = |args: &[&str]| number(&usage(&env, args), "disk_usage");
    assert_eq!(total(&["tree", "-d", "1"]), total(&["tree"]));
    assert!(total(&["tree", "--read-depth", "1"]) < total(&["tree"]));
    let large = ["tree", "tree/b", "tree/b/c", "tree/b/c/file", "tree/a", "tree/a/file"];
    assert_eq!(paths(&["tree", "--files", "--min-size", "200K"]), large);
    assert_eq!(paths(&["tree", "--entries", "--top", "2"]), ["tree", "tree/b"]);
    assert_eq!(paths(&["tree/d", "tree/a"]), ["tree/a", "tree/d"]);
}

#[test]
fn usage_groups_add_up_to_total() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    env.write("tree/one.c", 5000);
    env.write("tree/two.c", 6000);
    for key in ["ext", "owner", "age", "type"] {
        let object = usage(&env, &["tree", "--by", key, "-n", "3"]);
        let groups = object["groups"].as_array().expect("groups");
        for sum in ["files", "directories", "others", "apparent_size", "disk_usage"] {
            let all: u64 = groups.iter().map(|group| number(group, sum)).sum();
            assert_eq!(all, number(&object, sum), "{sum} by {key}");
        }
    }
    let object = usage(&env, &["tree", "--by", "ext"]);
    let groups = object["groups"].as_array().unwrap();
    let c = groups.iter().find(|group| group["key"] == ".c").expect("a group of C files");
    assert_eq!((number(c, "files"), number(c, "apparent_size")), (2, 11_000));
    let owner = usage(&env, &["tree", "--by", "owner"]);
    let name = env.sh("id -un").stdout_text();
    assert_eq!(owner["groups"][0]["key"], name.trim());
}

#[test]
fn usage_age_groups_of_extreme_times() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/old", 10);
    env.write("tree/future", 10);
    let _ = env.sh("touch -d 1969-01-01 tree/old && touch -d 2200-01-01 tree/future").exits(0);
    let object = usage(&env, &["tree", "--by", "age"]);
    let of = |key: &str| {
        let groups = object["groups"].as_array().unwrap();
        groups.iter().find(|group| group["key"] == key).map(|group| number(group, "files"))
    };
    assert_eq!((of("older"), of("in the future")), (Some(1), Some(1)), "{object}");
}

#[test]
fn usage_groups_include_empty_files() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for name in ["one.c", "two.c", "three.h", "four"] {
        env.write(format!("tree/{name}"), 0);
    }
    let keys = |args: &[&str]| -> Vec<String> {
        let object = usage(&env, &[&["tree", "--apparent", "--by", "ext"], args].concat());
        let groups = object["groups"].as_array().unwrap();
        groups.iter().map(|group| group["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys(&[]), ["(directories)", "(no extension)", ".c", ".h"]);
    assert_eq!(keys(&["-n", "3"]), ["(directories)", "(no extension)", ".c", "(1 other)"]);
    // Too small beside an entry that has a size.
    env.write("tree/five.rs", 100);
    assert_eq!(keys(&[]), [".rs", "(4 others)"]);
}

#[test]
fn usage_csv_lines_with_raw_paths() {
    let env = TestEnv::new();
    let strange = tree::raw(b"tree/a,\"b\"\n\xff");
    let directory = env.mkdir(&strange);
    env.write(directory.join("file"), 10_000);
    let output = env.transect(["usage", "--csv", "tree"]).exits(0).quiet();
    let mut csv = csv::Reader::from_reader(output.stdout.as_slice());
    let names = csv.byte_headers().unwrap().clone();
    let records: Vec<csv::ByteRecord> = csv.byte_records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 2);
    let field = |name: &str| {
        let place = names.iter().position(|field| field == name.as_bytes()).unwrap();
        &records[1][place]
    };
    assert_eq!(field("path"), b"tree/a,\"b\"\n\xff");
    assert_eq!(field("apparent_size"), b"10000");
    assert_eq!(field("type"), b"directory");
    let groups = env.transect(["usage", "--csv", "--by", "type", "tree"]).exits(0).quiet();
    assert_eq!(groups.stdout_text().lines().count(), 3);
}

#[test]
fn usage_empty_single_and_sparse() {
    let env = TestEnv::new();
    env.mkdir("empty");
    assert_eq!(number(&usage(&env, &["empty"]), "files"), 0);
    env.write("file", 0);
    let file = usage(&env, &["file"]);
    assert_eq!((number(&file, "files"), number(&file, "disk_usage")), (1, 0));
    assert_eq!(entries(&file).len(), 1);
    env.mkdir("holes");
    let huge = fs::File::create(env.path("holes/huge")).unwrap();
    // The largest size that this file system supports.
    let length =
        (20..63).rev().map(|bits| 1_u64 << bits).find(|&length| huge.set_len(length).is_ok());
    let apparent = usage(&env, &["holes", "--apparent", "--files"]);
    assert_eq!(Some(number(&apparent, "apparent_size")), length);
    assert_eq!(huge.metadata().unwrap().len(), length.unwrap());
    assert_eq!(huge.metadata().unwrap().blocks(), 0);
    let shown = env.transect(["usage", "holes", "--apparent", "--files"]).exits(0).quiet();
    assert!(shown.stdout_text().contains("huge"));
}

#[test]
fn usage_overflowing_sums_marked() {
    let test = "usage_overflowing_sums_marked";
    let env = TestEnv::new();
    let mount = match Mount::tmpfs("1m", &env.path("memory")) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    for directory in ["one", "two"] {
        env.mkdir(format!("memory/{directory}"));
        for name in ["a", "b"] {
            let file = fs::File::create(mount.path().join(directory).join(name)).unwrap();
            file.set_len(i64::MAX as u64).expect("memory has files as large as numbers go");
        }
    }
    fs::hard_link(env.path("memory/one/a"), env.path("memory/two/c")).unwrap();
    for (file, apparent) in [("one", u64::MAX - 1), ("two", u64::MAX), ("", u64::MAX)] {
        let path = format!("memory/{file}");
        for threads in ["1", "4"] {
            let scan = env.transect(["scan", "--json", "-j", threads, &path]).exits(0).quiet();
            assert_eq!(number(&scan.json(), "apparent_size"), apparent, "{path}");
            assert_eq!(number(&scan.json(), "allocated_size"), 0);
            let object = usage(&env, &[&path, "-j", threads, "--apparent", "--files"]);
            assert_eq!(number(&object, "apparent_size"), apparent, "{path}");
        }
    }
    for arguments in
        [&["scan"][..], &["usage", "--apparent"], &["usage", "--apparent", "--by", "ext"]]
    {
        let shown = env.transect(arguments.iter().chain(&["memory"])).exits(0).quiet();
        assert!(shown.stdout_text().contains("16+ EiB"), "{}", shown.text());
    }
    let listed = env.transect(["list", "--columns", "size,path", "--sort", "size", "memory"]);
    assert!(listed.exits(0).quiet().stdout_text().contains("8.00 EiB"));
    let _ = env.transect(["map", "--apparent", "--html", "map.html", "memory"]).exits(0).quiet();
    let _ = env.transect(["usage", "-o", "export.json", "memory"]).exits(0).quiet();
    let again = usage(&env, &["--import-ncdu", "export.json"]);
    assert_eq!(number(&again, "apparent_size"), u64::MAX);
}

#[test]
fn usage_unreadable_marked_and_partial() {
    let env = TestEnv::new();
    let locked = env.mkdir("tree/locked");
    env.write("tree/readable", 5000);
    env.chmod(&locked, 0);
    let Some(output) =
        env.transect_unprivileged("usage_unreadable_marked_and_partial", ["usage", "tree"])
    else {
        return;
    };
    let text = output.exits(1).stdout_text();
    env.chmod(&locked, 0o755);
    assert!(text.contains("locked (denied)"), "{text}");
    assert!(text.contains("tree (1 error)"), "{text}");
    assert!(text.contains("partial"), "{text}");

    let missing = env.transect(["usage", "nowhere"]).exits(2);
    assert!(missing.stderr_text().contains("nowhere"), "{}", missing.stderr_text());
    assert!(missing.stdout.is_empty());
}

#[test]
fn usage_lines_fit_terminal() {
    let env = TestEnv::new();
    let mut path = "tree".to_owned();
    for level in 0..30 {
        path.push_str(&format!("/a rather long name at level {level}"));
    }
    env.mkdir(&path);
    env.mkdir("tree/\x1b[31mred\nline");
    env.write(format!("{path}/file"), 100_000);
    for columns in [40, 80, 200] {
        let run = format!(r#"stty cols {columns} rows 30; "$TRANSECT" usage tree"#);
        let Some(shown) = on_terminal(&env, "lines_fit_the_terminal", "NO_COLOR=1", &run) else {
            return;
        };
        let text = shown.exits(0).stdout_text();
        for line in text.lines() {
            assert!(line.trim_end().chars().count() <= columns, "{columns}: {line:?}");
            assert!(!line.contains('\x1b'), "{line:?}");
        }
        assert!(text.lines().count() <= 30, "{text}");
    }
}

#[test]
fn usage_text_is_as_reviewed() {
    let env = TestEnv::new();
    for (directory, bytes) in [("large", 3 << 20), ("small/inner", 1 << 20)] {
        env.mkdir(format!("tree/{directory}"));
        env.write(format!("tree/{directory}/file"), bytes);
    }
    let text = env.transect(["usage", "tree"]).exits(0).quiet().stdout_text();
    let shape: Vec<String> = text
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| {
            line.split_whitespace().filter(|word| !word.contains('█')).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(shape.len(), 3, "{text}");
    assert!(shape[0].ends_with("MiB 100% tree"), "{text}");
    assert!(shape[1].ends_with("% ├─ large"), "{text}");
    assert!(shape[2].ends_with("% └─ small/inner"), "{text}");
    assert!(text.lines().nth(4).unwrap().contains("complete in"), "{text}");
}
