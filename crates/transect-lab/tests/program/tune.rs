//! Tests of `transect lab tune`, and of its profiles in `scan`, `list` and `doctor`.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::harness::{Output, TestEnv};

/// Stores a new profile, and returns its file. It is measured once for all tests, on the smallest possible
/// tree; all trees of the tests are on one file system.
///
/// The test itself stores it, because `lab tune` stores nothing on a busy machine.
fn tuned(env: &TestEnv) -> PathBuf {
    static MEASURED: OnceLock<Value> = OnceLock::new();
    env.mkdir("tree/below");
    env.write("tree/a", 4);
    env.write("tree/below/b", 10);
    let measure = || {
        let mut profile = tune(env, &["--dry-run", "--json"]).exits(0).json();
        let object = profile.as_object_mut().expect("an object");
        assert_eq!(object.remove("stored"), Some(Value::Null));
        profile
    };
    let mut profile = MEASURED.get_or_init(measure).clone();
    let now = SystemTime::UNIX_EPOCH.elapsed().expect("a clock that goes right").as_secs();
    profile["environment"]["began"] = now.into();
    let identity = profile["identity"].as_str().expect("a word").to_owned();
    env.mkdir("../config/transect/profiles");
    let file = format!("../config/transect/profiles/{identity}.json");
    env.text(&file, &profile.to_string());
    env.path(file)
}

/// Runs `lab tune` with as many seconds as this machine needs.
fn tune(env: &TestEnv, more: &[&str]) -> Output {
    in_time(|seconds| {
        let tune = ["tune", "tree", "--state", "as-is", "--seconds", seconds];
        env.lab(tune.iter().chain(more))
    })
}

/// Returns whether nothing is stored because of other programs on this machine.
fn is_not_quiet(told: &str) -> bool {
    told.contains("differed from itself") || told.contains("too busy to compare wall times")
}

/// Calls `run` with more and more seconds, until they suffice.
fn in_time(run: impl Fn(&str) -> Output) -> Output {
    let outputs = (0..).map(|doublings| run(&(5_u64 << doublings).to_string()));
    let mut enough = outputs.filter(|output| !output.stderr_text().contains("use --seconds"));
    enough.next().expect("an endless sequence")
}

/// Replaces the settings of a profile.
fn set(file: &PathBuf, settings: Value) {
    let text = std::fs::read_to_string(file).expect("the profile");
    let mut profile: Value = serde_json::from_str(&text).expect("an object");
    profile["settings"] = settings;
    std::fs::write(file, profile.to_string()).expect("our own file");
}

#[test]
fn dry_run_prints_settings_tried_and_stores_nothing() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/a", 4);
    let shown = tune(&env, &["--dry-run"]).exits(0);
    let told = shown.stderr_text();
    assert!(told.contains("tree' (2 entries)"), "{told}");
    let shown = shown.stdout_text();
    assert!(shown.contains("not stored"), "{shown}");
    let rows: Vec<Vec<&str>> =
        shown.lines().map(|line| line.split_whitespace().take(2).collect()).collect();
    for row in [["reader", "portable"], ["stat", "order"]] {
        assert!(rows.iter().any(|it| it[..] == row), "{row:?}: {shown}");
    }
    assert!(!env.path("../config").exists());
}

#[test]
fn profile_stored_unless_machine_is_busy() {
    let env = TestEnv::new();
    let file = tuned(&env);
    std::fs::remove_file(&file).expect("the one that the test stored");
    let output = tune(&env, &[]).exits(0);
    let (shown, told) = (output.stdout_text(), output.stderr_text());
    if is_not_quiet(&told) {
        assert!(shown.contains("not stored") && !file.exists(), "{shown}");
    } else {
        assert!(shown.contains("stored in") && file.exists(), "{shown}");
        let scan = env.transect(["scan", "--json", "tree"]).exits(0).quiet().json();
        assert!(scan["profile"]["settings"].is_object(), "{scan}");
    }
}

#[test]
fn profile_changes_scan_and_list_until_overridden() {
    let env = TestEnv::new();
    let file = tuned(&env);
    set(&file, json!({ "reader": "portable", "busy_threads": 1 }));
    let scan = |args: &[&str]| {
        env.transect(["scan", "--json", "tree"].iter().chain(args)).exits(0).quiet().json()
    };
    let plain = scan(&[]);
    assert_eq!(plain["reader"], "portable");
    assert_eq!(plain["profile"]["settings"], json!({ "reader": "portable", "busy_threads": 1 }));
    assert!(plain["profile"]["tuned"].as_u64() > Some(0));
    for args in [
        &["--no-profile"][..],
        &["--reader", "getdents-fstatat"],
        &["--buffer-size", "8K"],
        &["--stat-order", "inode"],
        &["--order", "queue"],
        &["--threads", "2"],
        // Another file system has no profile.
        &["/proc/sys/kernel/random"],
    ] {
        let scan = scan(args);
        assert_eq!(scan["profile"], Value::Null, "{args:?}");
        assert_ne!(scan["reader"], "portable", "{args:?}");
    }
    let shown = env.transect(["scan", "tree"]).exits(0).stdout_text();
    assert!(shown.contains("reader portable, busy threads 1 (stored)"), "{shown}");

    // The portable reader fails on a path this long, which shows that `list` uses the profile, too.
    let half = format!("{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}/{0}", "d".repeat(200));
    let make = format!("mkdir -p tree/{half} other/{half} && cd tree/{half} && mv $OLDPWD/other .");
    let _ = env.sh(&make).exits(0);
    let _ = env.transect(["list", "tree"]).exits(1);
    let _ = env.transect(["list", "tree", "--no-profile"]).exits(0);
}

#[test]
fn doctor_shows_the_profile_its_age_and_the_evidence() {
    let env = TestEnv::new();
    let none = env.transect(["doctor", "."]).exits(0).stdout_text();
    assert!(none.contains("none; `transect lab tune` measures"), "{none}");
    let file = tuned(&env);
    set(&file, json!({ "busy_threads": 7 }));
    let shown = env.transect(["doctor", "tree"]).exits(0).quiet().stdout_text();
    for part in
        ["busy threads 7", "measured less than a minute ago on", "× default (95 %)", "portable"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let doctor = env.transect(["doctor", "tree", "--json"]).exits(0).json();
    assert_eq!(doctor["profile"]["settings"], json!({ "busy_threads": 7 }));

    // On another kernel it is still used, and reported as outdated.
    let text = std::fs::read_to_string(&file).expect("the profile");
    let mut profile: Value = serde_json::from_str(&text).expect("an object");
    profile["environment"]["system"] = "Linux 2.4".into();
    std::fs::write(&file, profile.to_string()).expect("our own file");
    let shown = env.transect(["doctor", "tree"]).exits(0).stdout_text();
    assert!(shown.contains("system was Linux 2.4, is Linux"), "{shown}");
}

#[test]
fn unusable_profile_does_not_fail() {
    let env = TestEnv::new();
    let file = tuned(&env);
    // A profile of another system, as if the folder had been copied.
    set(&file, json!({ "reader": "nt-query", "buffer_size": 65536 }));
    let scan = env.transect(["scan", "--json", "tree"]).exits(0).quiet().json();
    assert_eq!(scan["reader"], "getdents-statx");
    for text in ["", "{}", "no object", "{\"schema\":\"transect.profile/9\"}"] {
        std::fs::write(&file, text).expect("our own file");
        let output = env.transect(["scan", "--json", "tree"]).exits(0);
        let told = output.stderr_text();
        assert!(told.contains("cannot read the profile of"), "{text}: {told}");
        assert_eq!(output.json()["profile"], Value::Null, "{text}");
    }

    let forget = ["tune", "tree", "--forget"];
    let told = env.lab(forget).exits(0).stdout_text();
    assert!(told.starts_with("removed "), "{told}");
    let told = env.lab(forget).exits(0).stdout_text();
    assert_eq!(told, "nothing was stored for this file system\n");
    let _ = env.transect(["scan", "tree"]).exits(0).quiet();
}

#[test]
fn impossible_tuning_refused_in_one_line() {
    let env = TestEnv::new();
    env.mkdir("empty");
    env.mkdir("tree");
    env.write("tree/a", 1);
    env.text("blocked", "no folder");
    for (args, told) in [
        (&["missing"][..], "cannot access 'missing': No such file or directory"),
        (&["empty", "--state", "as-is"], "has 1 entries: too few to tune on"),
        (&["tree", "--seconds", "0"], "invalid value '0' for '--seconds"),
        (&["tree", "--forget", "--dry-run"], "cannot be used with"),
    ] {
        let output = env.lab(["tune"].iter().chain(args)).exits(2);
        let stderr = output.stderr_text();
        assert!(stderr.contains(told), "{args:?}: {stderr}");
        assert_eq!(output.stdout_text(), "", "{args:?}");
    }

    // A session that cannot be stored is reported, too; on a busy machine nothing is written at all.
    let output = in_time(|seconds| {
        let tune = format!("$LAB tune tree --state as-is --seconds {seconds}");
        env.sh(&format!("XDG_CONFIG_HOME=$PWD/blocked {tune}"))
    });
    let told = output.stderr_text();
    if !is_not_quiet(&told) {
        assert!(told.contains("cannot create '") && told.contains("Not a directory"), "{told}");
        let _ = output.exits(2);
    }
}
