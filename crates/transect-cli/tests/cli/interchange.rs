//! `transect usage` and exports of ncdu, compared with ncdu and gdu.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use transect_testkit::Mount;

use crate::harness::{Running, TestEnv, skip};
use crate::tree;

/// Returns the totals and all directories of an export, as `usage --json` prints them.
fn imported(env: &TestEnv, file: &str) -> Value {
    let shown = env.transect(["usage", "--import-ncdu", file, "--json", "-n", "10000"]);
    let mut object = shown.exits(0).quiet().json();
    object.as_object_mut().expect("an object").remove("elapsed_ns");
    object
}

#[test]
fn usage_export_matches_ncdu() {
    let test = "usage_export_matches_ncdu";
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    if !env.has("ncdu") {
        return skip(test, "there is no ncdu").unwrap_or_default();
    }
    let _ = env.transect(["usage", "-o", "ours.json", "tree"]).exits(0).quiet();
    let _ = env.sh("ncdu -0 -o theirs.json tree").exits(0);
    let (ours, theirs) = (imported(&env, "ours.json"), imported(&env, "theirs.json"));
    assert!(ours["entries"].as_array().unwrap().len() > 300, "{ours}");
    assert_eq!(ours, theirs);
    // ncdu imports our export, and exports the same again.
    let _ = env.sh("ncdu -0 -f ours.json -o again.json").exits(0);
    assert_eq!(imported(&env, "again.json"), ours);
}

/// Returns owner, group, mode and time of the last change in seconds of every entry of an export,
/// by path.
fn extended(env: &TestEnv, file: &str) -> BTreeMap<String, [Value; 4]> {
    let text = fs::read_to_string(env.path(file)).expect("an export");
    let export: Value = serde_json::from_str(&text).expect("JSON");
    let mut found = BTreeMap::new();
    let mut waiting = vec![(String::new(), &export[3])];
    while let Some((above, item)) = waiting.pop() {
        let own = item.get(0).unwrap_or(item);
        let path = format!("{above}/{}", own["name"].as_str().expect("a name"));
        for inside in item.as_array().into_iter().flatten().skip(1) {
            waiting.push((path.clone(), inside));
        }
        let seconds = own["mtime"].as_u64().or(own["mtime"].as_f64().map(|time| time as u64));
        let keys = ["uid", "gid", "mode"].map(|key| own[key].clone());
        let [uid, gid, mode] = keys;
        found.insert(path, [uid, gid, mode, seconds.into()]);
    }
    found
}

#[test]
fn usage_extended_export_matches_ncdu() {
    let test = "usage_extended_export_matches_ncdu";
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/sub/old", 10);
    env.write("tree/future", 10);
    env.write("tree/now", 10);
    let prepare = "cd tree && ln now sub/link && ln -s now symlink && mkfifo pipe \
        && touch -d '1901-02-03 04:05:06Z' sub/old && touch -d '2200-01-01' future \
        && chmod 6751 now && chmod 1777 sub";
    let _ = env.sh(prepare).exits(0);
    if env.is_root() {
        let _ = env.sh("chown 1234:56789 tree/now").exits(0);
    }
    if !env.has("ncdu") {
        return skip(test, "there is no ncdu").unwrap_or_default();
    }
    let _ = env.transect(["usage", "--extended", "-o", "ours.json", "tree"]).exits(0).quiet();
    let _ = env.sh("ncdu -0 -e -o theirs.json tree").exits(0);
    let theirs = extended(&env, "theirs.json");
    assert_eq!(theirs.len(), 8);
    assert_eq!(extended(&env, "ours.json"), theirs);
    let _ = env.sh("ncdu -0 -e -f ours.json -o again.json").exits(0);
    assert_eq!(extended(&env, "again.json"), theirs);
    // Without -e, neither program exports them.
    let _ = env.transect(["usage", "-o", "plain.json", "tree"]).exits(0).quiet();
    assert!(extended(&env, "plain.json").values().all(|of| of.iter().all(Value::is_null)));

    for key in ["owner", "age", "type"] {
        let groups = |args: &[&str]| {
            let shown = env.transect(["usage", "--json", "--by", key].iter().chain(args));
            let mut groups = shown.exits(0).quiet().json()["groups"].take();
            for group in groups.as_array_mut().expect("groups") {
                // ncdu stores whole seconds.
                let time = &mut group["newest_mtime"];
                *time = time.as_i64().map(|time| time.div_euclid(1_000_000_000)).into();
            }
            groups
        };
        let walked = groups(&["tree"]);
        assert_eq!(groups(&["--import-ncdu", "ours.json"]), walked, "{key}");
        assert_eq!(groups(&["--import-ncdu", "theirs.json"]), walked, "{key}");
    }
}

#[test]
fn usage_import_matches_walk() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let root = env.path("tree");
    let root = root.to_str().unwrap();
    let walked = env.transect(["usage", "--json", "-n", "10000", root]).exits(0).quiet().json();
    let exported = env.transect(["usage", "--export-ncdu", "-", root]).exits(0).quiet();
    let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
    command.args(["usage", "--import-ncdu", "-", "--json", "-n", "10000"]);
    let mut import = Running::start(command.stdin(std::process::Stdio::piped()));
    import.child.stdin.take().unwrap().write_all(&exported.stdout).unwrap();
    let shown = import.finish().exits(0).json();
    for key in ["roots", "files", "directories", "apparent_size", "disk_usage", "hard_links"] {
        assert_eq!(shown[key], walked[key], "{key}");
    }
    let sizes = |object: &Value| -> Vec<Value> {
        let entries = object["entries"].as_array().unwrap();
        let keys = ["path", "disk_usage", "exclusive_size", "shared_size"];
        entries.iter().flat_map(|entry| keys.map(|key| entry[key].clone())).collect()
    };
    assert_eq!(sizes(&shown), sizes(&walked));
    assert_eq!(shown["reader"], Value::Null);
}

#[test]
fn usage_import_reads_gdu() {
    let test = "usage_import_reads_gdu";
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/one", 10_000);
    env.write("tree/sub/two", 20_000);
    let _ = env.sh("touch -d 1969-01-01 tree/one").exits(0);
    if !env.has("gdu") {
        return skip(test, "there is no gdu").unwrap_or_default();
    }
    if env.sh("gdu --non-interactive --no-progress -o gdu.json tree").code != Some(0) {
        return skip(test, "another gdu, which exports nothing").unwrap_or_default();
    }
    let shown = imported(&env, "gdu.json");
    assert_eq!((&shown["files"], &shown["directories"]), (&2.into(), &2.into()), "{shown}");
    assert_eq!(shown["apparent_size"], 30_000);
    let _ = env.transect(["usage", "--extended", "-o", "ours.json", "tree"]).exits(0).quiet();
    let read = env.sh("gdu --non-interactive --no-progress --no-color -f ours.json").exits(0);
    assert!(
        read.stdout_text().contains("sub") && read.stdout_text().contains("one"),
        "{}",
        read.text()
    );
}

#[test]
fn usage_import_export_errors_reported() {
    let env = TestEnv::new();
    env.mkdir("a");
    env.mkdir("b");
    env.text("broken", r#"[1,2,{},[{"name":"/x"},{"name":"y","asize":"big"}]]"#);
    for (arguments, word) in [
        (&["--import-ncdu", "broken"][..], "cannot import 'broken': at byte 43: a whole number"),
        (&["--import-ncdu", "nowhere"], "cannot import 'nowhere': No such file"),
        (&["--import-ncdu", "broken", "a"], "cannot be used with"),
        (&["--import-ncdu", "broken", "-t", "f"], "cannot be used with"),
        (&["-o", "out", "a", "b"], "an export holds one tree"),
        (&["-o", "nowhere/out", "a"], "cannot create 'nowhere/out'"),
        (&["-o", "out", "--json"], "cannot be used with"),
        (&["--extended", "a"], "required"),
    ] {
        let refused = env.transect(["usage"].iter().chain(arguments)).exits(2);
        assert!(refused.stderr_text().contains(word), "{}", refused.text());
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn usage_export_full_device_keeps_old_file() {
    let test = "usage_export_full_device_keeps_old_file";
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 4000, "name");
    let _mount = match Mount::tmpfs("32k", &env.path("small")) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    for before in [None, Some("what was there")] {
        if let Some(text) = before {
            env.text("small/out.json", text);
        }
        let full = env.transect(["usage", "-o", "small/out.json", "tree"]).exits(2);
        let said = full.stderr_text();
        assert!(said.contains("cannot write 'small/out.json': No space left"), "{said}");
        assert_eq!(fs::read_to_string(env.path("small/out.json")).ok().as_deref(), before);
        let there = fs::read_dir(env.path("small")).unwrap().count();
        assert_eq!(there, usize::from(before.is_some()), "nothing is left beside it");
    }
}

#[test]
fn usage_export_interrupted_writes_nothing() {
    let env = TestEnv::new();
    for directory in 0..50 {
        tree::many_files(&env, &env.path(format!("tree/{directory}")), 200, "name");
    }
    env.mkdir("to");
    let _ = env.transect(["usage", "-o", "to/out.json", "tree"]).exits(0).quiet();
    let whole = imported(&env, "to/out.json");
    let mut interrupted = 0;
    // Delays that hit the walk, the writing and the end, depending on the speed of the machine;
    // then again until one export was interrupted.
    let delays = (0..40).step_by(2).chain(std::iter::repeat(0)).map(Duration::from_millis);
    for (number, delay) in delays.enumerate() {
        if number >= 20 && interrupted > 0 {
            break;
        }
        let export = env.start(["usage", "-o", "to/out.json", "tree"]);
        export.wait_until_handled();
        std::thread::sleep(delay);
        export.signal(Signal::INT);
        let output = export.finish();
        match output.code {
            Some(130) => interrupted += 1,
            Some(0) => {}
            _ => panic!("after {delay:?}: {}", output.text()),
        }
        assert_eq!(imported(&env, "to/out.json"), whole, "after {delay:?}");
        assert_eq!(fs::read_dir(env.path("to")).unwrap().count(), 1, "after {delay:?}");
    }
}
