//! `transect scan`: its numbers, compared with `std::fs`, `find` and `du`.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::{Value, json};
use transect_testkit::Mount;

use crate::harness::{Output, TestEnv, skip};
use crate::tree;

/// The keys that `scan --json` prints in every run.
const KEYS: [&str; 27] = [
    "allocated_size",
    "apparent_size",
    "complete",
    "directories",
    "directories_allocated_size",
    "directories_apparent_size",
    "disk",
    "elapsed_ns",
    "errors",
    "errors_by",
    "files",
    "hard_links",
    "inherited",
    "interrupted",
    "largest_directories",
    "largest_files",
    "not_found",
    "order",
    "others",
    "profile",
    "reader",
    "roots",
    "schema",
    "skipped",
    "symlinks",
    "threads",
    "vanished",
];

/// Returns the object without the keys that differ between runs.
fn steady(output: &Output) -> Value {
    let mut object = output.json();
    let keys = object.as_object_mut().expect("an object");
    for key in ["elapsed_ns", "reader", "order", "threads", "disk"] {
        assert!(keys.remove(key).is_some(), "{key} is missing");
    }
    object
}

/// Iterates over the rows of a list in an object.
fn rows<'a>(object: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    object[list].as_array().expect("a list").iter()
}

/// Returns a text in an object.
fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().expect("a text")
}

/// Returns the available readers and all orders, each with its option.
pub(crate) fn readers_and_orders(env: &TestEnv) -> [(&'static str, Vec<String>); 2] {
    let doctor = env.transect(["doctor", "--json"]).exits(0).json();
    let names = |list: &str, usable: fn(&Value) -> bool| -> Vec<String> {
        let rows = rows(&doctor, list).filter(|row| usable(row));
        rows.map(|row| text(row, "name").to_owned()).collect()
    };
    let readers = names("readers", |row| row["available"] == true);
    let orders = names("orders", |_| true);
    assert!(readers.len() >= 2 && orders.len() >= 8, "{doctor}");
    [("--reader", readers), ("--order", orders)]
}

#[test]
fn scan_is_default_command() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let scan = steady(&env.transect(["scan", "--json", "tree"]).exits(0).quiet());
    let short = steady(&env.transect(["--json", "tree"]).exits(0).quiet());
    assert_eq!(scan, short);
    assert!(scan["files"].as_u64() > Some(1500), "{scan}");

    let people = |args: &[&str]| {
        let output = env.transect(args).exits(0).quiet();
        let text = output.stdout_text();
        let lines = text
            .lines()
            .filter(|line| !["  state ", "  disk "].iter().any(|label| line.starts_with(label)));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(people(&["scan", "tree"]), people(&["tree"]));
    assert_eq!(people(&["scan", "."]), people(&[]));
    assert_eq!(people(&[])[0], ".");
    let here = steady(&env.transect(["scan", "--json"]).exits(0).quiet());
    assert_eq!(here["roots"], json!(["."]));
}

#[test]
fn scan_disk_equals_df() {
    let env = TestEnv::new();
    env.mkdir("disk");
    let _mount = match Mount::tmpfs("64m", &env.path("disk")) {
        Ok(mount) => mount,
        Err(reason) => return skip("scan_disk_equals_df", &reason).unwrap_or_default(),
    };
    env.write("disk/file", 16 << 20);
    let disk = env.transect(["scan", "--json", "disk"]).exits(0).json()["disk"].take();
    let expected = json!({"size": 64 << 20, "free": 48 << 20, "available": 48 << 20});
    assert_eq!(disk, expected);
    let text = |path: &str| env.transect(["scan", path]).exits(0).stdout_text();
    let all = "disk        48.0 MiB available of 64.0 MiB; this tree is 100% of what is used\n";
    assert!(text("disk").contains(all), "{}", text("disk"));
    assert!(text("disk/file").contains("disk        48.0 MiB"), "the file system of its directory");
    let sparse = std::fs::File::create(env.path("disk/sparse")).unwrap();
    sparse.set_len(8 << 40).unwrap();
    let longer = "sparse      apparent 8.00 TiB on a disk of 64.0 MiB: files with holes\n";
    assert!(text("disk").contains(longer), "{}", text("disk"));
    let several = env.transect(["scan", "--json", "disk", "."]).exits(0).json();
    assert!(several["disk"].is_null());
}

#[test]
fn disk_same_in_scan_usage_and_doctor() {
    let env = TestEnv::new();
    env.mkdir("disk");
    let _mount = match Mount::tmpfs("64m", &env.path("disk")) {
        Ok(mount) => mount,
        Err(reason) => {
            return skip("disk_same_in_scan_usage_and_doctor", &reason).unwrap_or_default();
        }
    };
    env.write("disk/file", 16 << 20);
    let sparse = std::fs::File::create(env.path("disk/sparse")).unwrap();
    sparse.set_len(8 << 40).unwrap();
    let text = |args: &[&str]| env.transect(args).exits(0).quiet().stdout_text();
    let usage = text(&["usage", "disk"]);
    let space = "48.0 MiB available of 64.0 MiB";
    let disk = format!("\ndisk: {space}; this tree is 100% of what is used\n");
    let sparse = "sparse: apparent 8.00 TiB on a disk of 64.0 MiB: files with holes\n";
    assert!(usage.ends_with(&format!("{disk}{sparse}")), "{usage}");
    let doctor = text(&["doctor", "disk"]);
    assert!(doctor.contains(&format!("  disk        {space}\n")), "{doctor}");
    let expected = json!({"size": 64 << 20, "free": 48 << 20, "available": 48 << 20});
    for args in [&["usage", "--json", "disk"], &["doctor", "--json", "disk"]] {
        assert_eq!(env.transect(args).exits(0).json()["disk"], expected, "{args:?}");
    }
    // An import says nothing about the disks of this machine.
    let _ = env.transect(["usage", "--export-ncdu", "tree.json", "disk"]).exits(0);
    let imported = env.transect(["usage", "--json", "--import-ncdu", "tree.json"]).exits(0).json();
    assert!(imported["disk"].is_null());
}

#[test]
fn scan_one_file_system_explains_what_is_not_found() {
    let test = "scan_one_file_system_explains_what_is_not_found";
    let env = TestEnv::new();
    env.mkdir("disk");
    let _disk = match Mount::tmpfs("256m", &env.path("disk")) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    env.write("disk/file", 16 << 20);
    let scan = |args: &[&str]| env.transect([&["scan"], args].concat()).exits(0).quiet();
    let object = |args: &[&str]| scan(&[&["--json"], args].concat()).json()["not_found"].take();
    assert!(object(&["-x", "disk"]).is_null(), "everything is found");

    env.mkdir("disk/covered");
    env.write("disk/covered/hidden", 8 << 20);
    env.mkdir("disk/empty");
    let _covering = Mount::tmpfs("1m", &env.path("disk/covered")).expect("another mount");
    let _empty = Mount::tmpfs("1m", &env.path("disk/empty")).expect("another mount");
    env.write("disk/deleted", 32 << 20);
    let open = std::fs::File::open(env.path("disk/deleted")).expect("a file");
    std::fs::remove_file(env.path("disk/deleted")).expect("a file");

    let found = object(&["-x", "disk"]);
    assert_eq!(found["size"], 40 << 20);
    let deleted = json!({"files": 1, "size": 32 << 20, "unreadable_processes": 0});
    assert_eq!(found["deleted_files"], deleted);
    let covered = json!([{"path": "disk/covered", "path_raw": null, "size": 8 << 20}]);
    assert_eq!(found["covered_directories"], covered);
    assert!(found["mounted_directory"].is_null(), "{found}");
    let text = scan(&["-x", "disk"]).stdout_text();
    let holder = format!("by {} (process {})", comm(), std::process::id());
    let lines = [
        "  not found   40.0 MiB of what is used is not in this tree".to_owned(),
        format!("              at least 32.0 MiB in 1 deleted file kept open {holder}"),
        "              8.00 MiB in disk/covered, below what is mounted there".to_owned(),
    ];
    assert!(text.contains(&lines.join("\n")), "{text}");
    assert!(!text.contains("disk/empty") && !text.contains("unexplained"), "{text}");

    // Without -x, below the mount point, or with a filter, nothing can be missing for sure.
    for args in [
        &["disk"][..],
        &["-x", "disk/file"],
        &["-x", "disk", "-S", "+1"],
        &["-x", "disk", "--empty"],
    ] {
        assert!(object(args).is_null(), "{args:?}");
    }
    drop(open);
    assert_eq!(object(&["-x", "disk"])["deleted_files"]["files"], 0);
}

/// Returns the name of this process.
fn comm() -> String {
    std::fs::read_to_string("/proc/self/comm").expect("a name").trim().to_owned()
}

#[test]
fn scan_json_keys_are_documented() {
    let env = TestEnv::new();
    let strange = env.mkdir(tree::raw(b"tree/di\xffrectory"));
    env.write(strange.join("file"), 10);
    let keys = |object: &Value| -> Vec<String> {
        let mut keys: Vec<_> = object.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    let output = env.transect(["scan", "--json", "tree"]).exits(0).quiet();
    assert!(output.stdout.ends_with(b"}\n"));
    assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1, "one line");
    let object = output.json();
    assert_eq!(keys(&object), KEYS);
    assert_eq!(object["schema"], "transect.scan/1");
    assert_eq!(object["complete"], true);
    assert_eq!(object["interrupted"], false);
    assert_eq!(object["profile"], Value::Null);
    assert!(object["elapsed_ns"].as_u64() > Some(0));
    assert!(object["threads"].as_u64() > Some(0));

    let with_errors = env.transect(["scan", "--json", "--errors", "tree"]).exits(0).quiet().json();
    let mut expected: Vec<String> = KEYS.iter().map(|&key| key.to_owned()).collect();
    expected.push("error_list".to_owned());
    expected.sort();
    assert_eq!(keys(&with_errors), expected);
    assert_eq!(with_errors["error_list"], json!([]));

    // Each with its path, and with the bytes of a path that is not UTF-8.
    let hex = hex(b"tree/di\xffrectory");
    let directory = &object["largest_directories"][0];
    assert_eq!(
        keys(directory),
        [
            "allocated_size",
            "apparent_size",
            "complete",
            "directories_allocated_size",
            "path",
            "path_raw"
        ]
    );
    assert_eq!(directory["path"], "tree/di\u{fffd}rectory");
    assert_eq!(directory["path_raw"], hex);
    let file = &object["largest_files"][0];
    assert_eq!(keys(file), ["allocated_size", "apparent_size", "path", "path_raw"]);
    assert_eq!(file["path_raw"], format!("{hex}{}", self::hex(b"/file")));
    assert_eq!(file["apparent_size"], 10);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn scan_counts_match_std() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let entries = tree::entries(&env, "tree");
    assert_eq!(entries.iter().map(|entry| entry.depth).max(), Some(tree::LEVELS + 1));
    let object = env.transect(["--json", "tree"]).exits(0).quiet().json();
    assert_eq!(tree::counted(&object), tree::counts(&entries));
    assert_eq!(object["hard_links"], 3);
    assert_eq!(object["complete"], true);
    assert_eq!(object["errors_by"], json!({}));
    assert_eq!(object["skipped"], json!({}));
    assert_eq!(object["vanished"], 0);
}

#[test]
fn scan_counts_match_find() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let found = env.sh(r"find tree -printf '%y %D %i %s %b\0'");
    if found.code != Some(0) {
        let reason = "there is no find with -printf";
        return skip("scan_counts_match_find", reason).unwrap_or_default();
    }
    let mut count: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut apparent, mut allocated, mut directories, mut further) = (0, 0, 0, 0);
    let mut seen = HashSet::new();
    let text = found.stdout_text();
    for row in text.split_terminator('\0') {
        let fields: Vec<&str> = row.split(' ').collect();
        let [kind, device, inode, size, blocks] = fields[..] else { panic!("{row}") };
        let size: u64 = size.parse().unwrap();
        let blocks: u64 = blocks.parse().unwrap();
        let kind = match kind {
            "f" | "d" | "l" => kind,
            _ => "other",
        };
        *count.entry(kind).or_default() += 1;
        if kind == "d" {
            directories += blocks * 512;
        } else if seen.insert((device, inode)) {
            apparent += size;
            allocated += blocks * 512;
        } else {
            further += 1;
        }
    }
    let object = env.transect(["--json", "tree"]).exits(0).quiet().json();
    let expected = json!({
        "files": count["f"],
        "directories": count["d"],
        "symlinks": count["l"],
        "others": count["other"],
        "apparent_size": apparent,
        "allocated_size": allocated,
        "directories_allocated_size": directories,
        "hard_links": further,
    });
    assert_eq!(tree::counted(&object), expected);
}

#[test]
fn scan_disk_usage_matches_du() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let usage = |object: &Value| {
        object["allocated_size"].as_u64().unwrap()
            + object["directories_allocated_size"].as_u64().unwrap()
    };
    for roots in ["tree", "tree/sub", "tree/wide", "tree/sub/inner tree/sub", "tree/plain"] {
        let du = env.sh(&format!("du -s -c -B1 {roots}"));
        if du.code != Some(0) {
            return skip("scan_disk_usage_matches_du", "there is no GNU du").unwrap_or_default();
        }
        let du = du.stdout_text();
        let total = du.lines().last().unwrap().split('\t').next().unwrap();
        let object = env.sh(&format!(r#""$TRANSECT" --json {roots}"#)).exits(0).quiet().json();
        assert_eq!(usage(&object).to_string(), total, "{roots}");
    }

    // The usage of every directory, too: a hard link into another one counts in both.
    let object = env.transect(["--json", "--top", "1000", "tree"]).exits(0).quiet().json();
    let largest = object["largest_directories"].as_array().unwrap();
    let directories = object["directories"].as_u64().unwrap();
    assert_eq!(largest.len() as u64, directories - 1, "all but the root");
    for directory in largest {
        let path = directory["path"].as_str().unwrap();
        if !["tree/sub", "tree/sub/inner", "tree/wide", "tree/hollow", "tree/deep"].contains(&path)
        {
            continue;
        }
        let du = env.sh(&format!("du -s -B1 {path}")).exits(0).stdout_text();
        assert_eq!(usage(directory).to_string(), du.split('\t').next().unwrap(), "{path}");
    }
}

#[test]
fn scan_same_for_every_reader_order_threads() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let first = steady(&env.transect(["--json", "tree"]).exits(0).quiet());
    for (option, values) in readers_and_orders(&env) {
        for value in values {
            for threads in ["1", "2", "16"] {
                let args = ["--json", "tree", option, &value, "--threads", threads];
                let output = env.transect(args).exits(0).quiet();
                assert_eq!(steady(&output), first, "{value} on {threads} threads");
                let used = &output.json()[option.trim_start_matches('-')];
                assert_eq!(*used, value.as_str(), "what was asked for is what is reported");
            }
        }
    }
}

#[test]
fn scan_file_as_root_counted() {
    let env = TestEnv::new();
    env.write("file", 12345);
    let object = env.transect(["--json", "file"]).exits(0).quiet().json();
    assert_eq!(tree::counted(&object), tree::counts(&tree::entries(&env, "file")));
    assert_eq!(object["files"], 1);
    assert_eq!(object["apparent_size"], 12345);
    assert_eq!(object["largest_directories"], json!([]));
    assert_eq!(object["largest_files"][0]["path"], "file");
}

#[test]
fn scan_link_as_root_is_one_link() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/sub/file", 77);
    symlink("tree", env.path("link")).unwrap();

    let output = env.transect(["--json", "link"]).exits(0);
    let hint = "transect: hint: 'link' is a symbolic link; use 'link/' to read its target\n";
    assert_eq!(output.stderr_text(), hint);
    assert_eq!(tree::counted(&output.json()), tree::counts(&tree::entries(&env, "link")));
    assert_eq!(output.json()["symlinks"], 1);

    let target = tree::counts(&tree::entries(&env, "tree"));
    assert_eq!(target["directories"], 2);
    for args in
        [&["--json", "link/"][..], &["--json", "--follow", "link"], &["--json", "-L", "link"]]
    {
        let object = env.transect(args).exits(0).quiet().json();
        assert_eq!(tree::counted(&object), target, "{args:?}");
    }
    // A link to a file needs no hint: there is nothing to enter.
    symlink("tree/sub/file", env.path("to file")).unwrap();
    let object = env.transect(["--json", "to file"]).exits(0).quiet().json();
    assert_eq!(object["symlinks"], 1);
}

#[test]
fn scan_unreadable_directory_counted_with_error() {
    let env = TestEnv::new();
    let root = env.mkdir("tree");
    let locked = env.mkdir(root.join(tree::raw(b"lo\xffcked")));
    env.write(locked.join("hidden"), 1000);
    env.write("tree/file", 500);
    env.chmod(&locked, 0o000);
    let test = "scan_unreadable_directory_counted_with_error";
    let args = ["scan", "--json", "--errors", "tree"];
    let Some(output) = env.transect_unprivileged(test, args) else {
        return;
    };
    let output = output.exits(1).quiet();
    let object = output.json();
    assert_eq!(object["complete"], false);
    assert_eq!(object["interrupted"], false);
    assert_eq!(object["errors"], 1);
    assert_eq!(object["errors_by"], json!({"open_directory": {"denied": 1}}));
    assert_eq!(
        object["error_list"],
        json!([{
            "operation": "open_directory",
            "path": "tree/lo\u{fffd}cked",
            "path_raw": hex(b"tree/lo\xffcked"),
            "kind": "denied",
            "os_error": 13,
        }])
    );
    assert_eq!(object["directories"], 2, "the locked one is a directory all the same");
    assert_eq!(object["files"], 1);
    assert_eq!(object["apparent_size"], 500);
    let own: u64 = [&root, &locked].iter().map(|d| d.metadata().unwrap().blocks() * 512).sum();
    assert_eq!(object["directories_allocated_size"], own);
    let largest = object["largest_directories"].as_array().unwrap();
    assert_eq!(largest.len(), 1);
    assert_eq!(largest[0]["complete"], false);
}

#[test]
fn scan_unsearchable_directory_errors_per_entry() {
    let env = TestEnv::new();
    let listed = env.mkdir("tree/listed");
    for name in ["a", "b", "c"] {
        env.write(listed.join(name), 10);
    }
    env.chmod(&listed, 0o444);
    let test = "scan_unsearchable_directory_errors_per_entry";
    let Some(output) = env.transect_unprivileged(test, ["--json", "--errors", "tree"]) else {
        return;
    };
    let object = output.exits(1).quiet().json();
    assert_eq!(object["errors_by"], json!({"stat": {"denied": 3}}));
    let mut paths: Vec<_> = error_paths(&object);
    paths.sort();
    assert_eq!(paths, ["tree/listed/a", "tree/listed/b", "tree/listed/c"]);
    assert_eq!(object["apparent_size"], 0);
}

fn error_paths(object: &Value) -> Vec<&str> {
    rows(object, "error_list").map(|error| text(error, "path")).collect()
}

#[test]
fn scan_error_list_sorted_like_stderr() {
    let env = TestEnv::new();
    for number in 0..100 {
        let locked = env.mkdir(format!("tree/{number:03}"));
        env.chmod(&locked, 0o000);
    }
    let test = "scan_error_list_sorted_like_stderr";
    let Some(output) = env.transect_unprivileged(test, ["--json", "--errors", "tree"]) else {
        return;
    };
    let object = output.exits(1).quiet().json();
    let paths = error_paths(&object);
    assert_eq!(paths.len(), 100);
    assert!(paths.is_sorted(), "{paths:?}");
}

#[test]
fn scan_unreadable_root_is_fatal() {
    let env = TestEnv::new();
    let locked = env.mkdir("locked");
    env.chmod(&locked, 0o000);
    let test = "scan_unreadable_root_is_fatal";
    for command in ["scan", "list"] {
        let Some(output) = env.transect_unprivileged(test, [command, "locked"]) else {
            return;
        };
        let output = output.exits(2);
        let message = "transect: cannot open directory 'locked': Permission denied\n";
        assert_eq!(output.stderr_text(), message, "{command}");
    }
}

#[test]
fn scan_good_root_shown_beside_missing_one() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/sub/file", 1234);
    let output = env.transect(["--json", "tree", "nowhere"]).exits(2);
    let message = "transect: cannot access 'nowhere': No such file or directory\n";
    assert_eq!(output.stderr_text(), message);
    let object = output.json();
    assert_eq!(tree::counted(&object), tree::counts(&tree::entries(&env, "tree")));
    assert_eq!(object["roots"], json!(["tree", "nowhere"]));
    assert_eq!(object["complete"], false);
    assert_eq!(object["errors_by"], json!({"stat": {"not_found": 1}}));
}

#[test]
fn scan_errors_always_reported() {
    let env = TestEnv::new();
    for args in [&["--json"][..], &["--errors"], &["--json", "--errors"]] {
        let output = env.transect(args.iter().chain(&["nowhere"])).exits(2);
        assert!(output.text().contains("nowhere"), "{args:?} says nothing\n{}", output.text());
    }
}

#[test]
fn scan_root_missing_twice() {
    let env = TestEnv::new();
    let once = env.transect(["nowhere"]).exits(2);
    let twice = env.transect(["nowhere", "nowhere"]).exits(2);
    assert_eq!(twice.stdout_text(), once.stdout_text());
}

#[test]
fn scan_nested_roots_counted_once() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let expected = tree::counts(&tree::entries(&env, "tree"));
    for (roots, overlaps) in [
        (&["tree", "tree/sub"][..], 1),
        (&["tree/sub", "tree"], 1),
        (&["tree", "tree"], 1),
        (&["tree", "./tree/", "tree/../tree"], 2),
        (&["tree/sub/inner", "tree/plain", "tree", "tree/sub"], 3),
    ] {
        let object = env.transect(roots.iter().chain(&["--json"])).exits(0).quiet().json();
        assert_eq!(tree::counted(&object), expected, "{roots:?}");
        assert_eq!(object["skipped"], json!({"overlapping_root": overlaps}), "{roots:?}");
        assert_eq!(object["complete"], true);
    }
}

#[test]
fn scan_largest_ranked_by_usage_or_length() {
    let env = TestEnv::new();
    env.mkdir("tree/dense");
    env.mkdir("tree/airy");
    env.write("tree/dense/full", 200_000);
    std::fs::File::create(env.path("tree/airy/hole")).unwrap().set_len(5_000_000).unwrap();
    let holes = env.path("tree/airy/hole").metadata().unwrap().blocks() == 0;
    if !holes {
        let test = "scan_largest_ranked_by_usage_or_length";
        return skip(test, "this file system has no sparse files").unwrap_or_default();
    }
    let ranked = |args: &[&str], list: &str| -> Vec<String> {
        let object = env.transect(args.iter().chain(&["--json", "tree"])).exits(0).json();
        let list = object[list].as_array().unwrap().iter();
        list.map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
    };
    for (list, dense, airy) in [
        ("largest_files", "tree/dense/full", "tree/airy/hole"),
        ("largest_directories", "tree/dense", "tree/airy"),
    ] {
        assert_eq!(ranked(&[], list)[0], dense);
        assert_eq!(ranked(&["--apparent"], list)[0], airy);
        assert_eq!(ranked(&["--apparent"], list)[1], dense);
    }
    // The ranking does not change the counts.
    let plain = env.transect(["--json", "tree"]).exits(0).json();
    let apparent = env.transect(["--json", "--apparent", "tree"]).exits(0).json();
    assert_eq!(tree::counted(&plain), tree::counted(&apparent));
}

#[test]
fn scan_top_limits_largest() {
    let env = TestEnv::new();
    for number in 1..=12 {
        let directory = env.mkdir(format!("tree/{number:02}"));
        env.write(directory.join("file"), number * 100_000);
    }
    for (args, expected) in
        [(&["--top", "0"][..], 0), (&["--top", "3"], 3), (&[], 10), (&["--top", "1000"], 12)]
    {
        let object = env.transect(args.iter().chain(&["--json", "tree"])).exits(0).quiet().json();
        for (list, suffix) in [("largest_files", "/file"), ("largest_directories", "")] {
            let shown = object[list].as_array().unwrap();
            let paths: Vec<_> = shown.iter().map(|entry| entry["path"].as_str().unwrap()).collect();
            let largest = (1..=12).rev().map(|number| format!("tree/{number:02}{suffix}"));
            assert_eq!(paths, largest.take(expected).collect::<Vec<_>>(), "{args:?}");
        }
        let text = env.transect(args.iter().chain(&["tree"])).exits(0).quiet().stdout_text();
        let shown = text.lines().filter(|line| line.ends_with("/file")).count();
        assert_eq!(shown, expected, "{args:?}\n{text}");
        assert_eq!(text.contains("largest"), expected > 0, "{args:?}\n{text}");
    }
}

#[test]
fn scan_depth_and_globs_limit_count() {
    let env = TestEnv::new();
    for directory in ["tree/a/b/c", "tree/d"] {
        env.mkdir(directory);
    }
    for (file, bytes) in [("tree/one.x", 1), ("tree/a/two.x", 2), ("tree/a/b/c/four.y", 4)] {
        env.write(file, bytes);
    }
    let scan = |args: &[&str]| {
        let object = env.transect(args.iter().chain(&["--json", "tree"])).exits(0).quiet().json();
        let count = |key: &str| object[key].as_u64().unwrap();
        let counts = (count("files"), count("directories"), count("apparent_size"));
        (counts, object["skipped"].clone())
    };
    assert_eq!(scan(&[]), ((3, 5, 7), json!({})));
    assert_eq!(scan(&["--read-depth", "0"]), ((0, 1, 0), json!({"max_depth": 1})));
    assert_eq!(scan(&["--read-depth", "1"]), ((1, 3, 1), json!({"max_depth": 2})));
    assert_eq!(scan(&["--read-depth", "9"]), ((3, 5, 7), json!({})));
    assert_eq!(scan(&["-E", "*.y"]), ((2, 5, 3), json!({"excluded": 1})));
    assert_eq!(scan(&["-g", "*.y"]).0, (1, 0, 4));
    assert_eq!(scan(&["-E", "a"]).0, (1, 2, 1));
}

#[test]
fn scan_chain_of_parents_is_one_line() {
    let env = TestEnv::new();
    env.mkdir("tree/only/child/deep");
    env.mkdir("tree/small");
    env.write("tree/only/child/deep/file", 60 << 20);
    env.write("tree/small/file", 1 << 20);
    let text = env.transect(["scan", "tree", "--apparent"]).exits(0).stdout_text();
    let (_, directories) = text.split_once("largest directories\n").unwrap();
    let (directories, _) = directories.split_once("\n\n").unwrap();
    let lines: Vec<&str> = directories.lines().map(str::trim).collect();
    assert_eq!(lines, ["60.0 MiB  tree/only/child/deep", "1.00 MiB  tree/small"]);

    // JSON names every directory.
    let json = env.transect(["scan", "tree", "--apparent", "--json"]).exits(0).json();
    assert_eq!(json["largest_directories"].as_array().unwrap().len(), 4);
    let one = env.transect(["scan", "tree", "--apparent", "--top", "1"]).exits(0).stdout_text();
    assert!(one.contains("only/child/deep\n") && !one.contains("small"), "{one}");
}

/// Runs a script in a private mount namespace; `None` where that is forbidden.
fn with_mounts(env: &TestEnv, test: &str, mount: &str, script: &str) -> Option<Output> {
    for unshare in ["unshare -m", "unshare -rm"] {
        let tried = env.sh(&format!("{unshare} sh -c '{mount}'"));
        if tried.code == Some(0) {
            return Some(env.sh(&format!("{unshare} sh -c '{mount} && {script}'")));
        }
    }
    skip(test, "mounts are forbidden here")
}

#[test]
fn scan_one_file_system_excludes_mounts() {
    let env = TestEnv::new();
    env.mkdir("tree/mounted");
    env.write("tree/file", 10);
    let test = "scan_one_file_system_excludes_mounts";
    let mount = r"mount -t tmpfs none tree/mounted && mkdir tree/mounted/sub && printf 12345 >tree/mounted/sub/there";
    let scan = r#""$TRANSECT" --json"#;
    let Some(all) = with_mounts(&env, test, mount, &format!("{scan} tree")) else {
        return;
    };
    let all = all.exits(0).quiet().json();
    assert_eq!((&all["files"], &all["directories"]), (&json!(2), &json!(3)));
    assert_eq!(all["apparent_size"], 15);
    assert_eq!(all["skipped"], json!({}));
    for args in ["-x tree", "--one-file-system tree", "-x tree --reader portable"] {
        let Some(one) = with_mounts(&env, test, mount, &format!("{scan} {args}")) else {
            return;
        };
        let one = one.exits(0).quiet().json();
        assert_eq!((&one["files"], &one["directories"]), (&json!(1), &json!(2)), "{args}");
        assert_eq!(one["apparent_size"], 10, "{args}");
        assert_eq!(one["skipped"], json!({"mount_boundary": 1}), "{args}");
        assert_eq!(one["complete"], true, "exclusion is not an error");
    }
    // The walk stays on the file system of the root, not of the current directory.
    let script = format!("{scan} -x tree/mounted");
    let Some(inside) = with_mounts(&env, test, mount, &script) else {
        return;
    };
    assert_eq!(inside.exits(0).json()["apparent_size"], 5);
}

#[test]
fn scan_pseudo_file_systems_skipped_by_default() {
    let env = TestEnv::new();
    env.mkdir("tree/proc");
    let test = "scan_pseudo_file_systems_skipped_by_default";
    let mount = "mount --rbind /proc tree/proc";
    let scan = r#""$TRANSECT" --json --read-depth 2"#;
    let Some(output) = with_mounts(&env, test, mount, &format!("{scan} tree")) else {
        return;
    };
    let object = output.exits(0).quiet().json();
    assert_eq!(object["skipped"], json!({"pseudo_file_system": 1}));
    assert_eq!((&object["files"], &object["directories"]), (&json!(0), &json!(2)));
    let script = format!("{scan} --pseudo tree || test $? = 1");
    let Some(output) = with_mounts(&env, test, mount, &script) else {
        return;
    };
    let object = output.exits(0).json();
    assert_eq!(object["skipped"]["pseudo_file_system"], Value::Null);
    assert!(object["files"].as_u64() > Some(10), "{object}");
}

#[test]
fn scan_proc_as_root_terminates() {
    let env = TestEnv::new();
    let output = env.transect(["--json", "--errors", "/proc"]);
    let object = output.json();
    let errors = object["errors"].as_u64().unwrap();
    assert_eq!(output.code, Some(i32::from(errors > 0)), "{}", output.stderr_text());
    assert_eq!(object["complete"], errors == 0);
    assert_eq!(object["error_list"].as_array().unwrap().len() as u64, errors);
    let kinds = object["errors_by"].as_object().unwrap().values();
    let counts = kinds.flat_map(|kinds| kinds.as_object().unwrap().values());
    assert_eq!(counts.map(|count| count.as_u64().unwrap()).sum::<u64>(), errors);
    for key in ["files", "directories", "symlinks"] {
        assert!(object[key].as_u64() > Some(10), "{key}: {}", object[key]);
    }
    assert_eq!(object["skipped"], json!({}), "a pseudo file system that was asked for is read");
}

#[test]
fn scan_summary_quotes_newlines_in_names() {
    let env = TestEnv::new();
    let directory = env.mkdir("tree/new\nline");
    env.write(directory.join("\x1b[31mred"), 10);
    let output = env.transect(["tree"]).exits(0).quiet();
    let text = output.stdout_text();
    assert!(text.contains("tree/new\\nline\n"), "{text}");
    assert!(text.contains("tree/new\\nline/\\e[31mred\n"), "{text}");
    assert!(!output.stdout.contains(&0x1b));
    let missing = env.transect(["list", "no\nwhere\x1b[31m"]).exits(2);
    let message = "transect: cannot access 'no\\nwhere\\e[31m': No such file or directory\n";
    assert_eq!(missing.stderr_text(), message);
}

#[test]
fn scan_roots_not_utf8() {
    let env = TestEnv::new();
    let name = tree::raw(b"tr\xffee");
    env.write(env.mkdir(&name).join("file"), 10);
    let output = env.transect(["--json".as_ref(), name.as_os_str()]).exits(0).quiet();
    let object = output.json();
    assert_eq!(tree::counted(&object), tree::counts(&tree::entries(&env, &name)));
    let raw = object["largest_files"][0]["path_raw"].as_str().unwrap().to_owned();
    assert_eq!(raw, hex(&[name.as_bytes(), b"/file"].concat()));
}
