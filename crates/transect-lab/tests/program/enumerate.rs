//! Tests of `transect lab`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{TestEnv, skip};

/// Returns the folder of the project's contenders.
fn contenders() -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("contenders");
    folder.to_str().expect("a plain path").to_owned()
}

/// Creates a tree of three files, 15 bytes and three directories.
pub(crate) fn tree(env: &TestEnv) {
    env.mkdir("tree/below/deep");
    env.write("tree/a", 4);
    env.write("tree/below/b", 10);
    env.write("tree/below/deep/c", 1);
    std::os::unix::fs::symlink("a", env.path("tree/link")).expect("a symbolic link");
}

#[test]
fn list_has_every_method_with_rows_and_unavailable_reason() {
    let env = TestEnv::new();
    let list = env.lab(["list", "--json"]);
    let list = list.exits(0).quiet().stdout_text();
    let rows: Vec<Value> =
        list.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let row = |name: &str| {
        let row = rows.iter().find(|row| row["method"] == name);
        row.unwrap_or_else(|| panic!("no method '{name}'")).clone()
    };
    let queue = row("getdents-statx/queue");
    assert_eq!((&queue["available"], &queue["contract"]), (&true.into(), &Value::Null));
    let windows = row("nt-query/futures");
    assert_eq!(
        (&windows["available"], &windows["why_not"]),
        (&false.into(), &"only on Windows".into())
    );
    assert_eq!(row("floor")["kind"], "contender");
    // Every language has rows, even if its tools are not installed.
    for language in ["C", "C++", "C#", "Go", "Java", "JavaScript", "Python", "Rust"] {
        assert!(rows.iter().any(|row| row["language"] == language), "{language}");
    }
    for row in &rows {
        assert_eq!(row["available"] == false, row["why_not"].is_string(), "{row}");
    }
    assert!(!list.contains("wrong-"), "test doubles are not for users");

    let contract = env.lab(["list", "--contract", "--json"]).exits(0).stdout_text();
    for row in ["A10", "A28", "A56", "P1", "D8"] {
        assert!(contract.contains(&format!("{{\"row\":\"{row}\"")), "{row}");
    }
    assert!(contract.contains("\"contract\":[\"A30\"]"), "{contract}");
    let shown = env.lab(["list", "--contract"]).exits(0).stdout_text();
    assert!(shown.contains("RAMMap") && shown.contains(" A30 "), "{shown}");
    let shown = env.lab(["list"]).exits(0).stdout_text();
    assert!(!shown.contains(" A30 "), "{shown}");
}

#[test]
fn dry_run_prints_plan_and_creates_nothing() {
    let env = TestEnv::new();
    tree(&env);
    let run = ["run", "enumerate", "--dry-run", "--contenders", "."];
    let what = ["--methods", "portable/queue", "--path", "tree", "--corpus", "flat-1000"];
    let how = ["--corpora", "corpora", "--rounds", "2", "--state", "as-is"];
    let plan = env.lab(run.iter().chain(&what).chain(&how)).exits(0).quiet().stdout_text();
    assert!(plan.starts_with("12 samples: 3 cells, 2 trees, 1 state, 2 rounds\n"), "{plan}");
    assert!(plan.contains("makes corpus 'flat-1000', if it is not there: "), "{plan}");
    assert!(!env.path("corpora").exists());
    let nothing = env.lab(run).exits(2).stderr_text();
    assert!(nothing.contains("nothing to walk"), "{nothing}");
}

#[test]
fn session_ranks_methods_with_equal_counts_and_resumes() {
    let env = TestEnv::new();
    tree(&env);
    let run = ["run", "enumerate", "--path", "tree", "--state", "as-is", "--seed", "7"];
    let methods = ["--methods", "portable/*", "--contenders", ".", "--no-calls"];
    let run = run.iter().chain(&methods).chain(&["--rounds", "2", "-o", "session.jsonl"]);
    let shown = env.lab(run).exits(0).stdout_text();
    assert!(shown.contains("3 files, 3 directories, 15 bytes, 0 errors"), "{shown}");
    assert!(shown.contains("portable/stack-presized"), "{shown}");
    let report = || {
        let report = env.lab(["report", "--json", "session.jsonl"]);
        report.exits(0).quiet().json()
    };
    let first = report();
    // Eight orders and two cells of the base.
    assert_eq!(first["rankings"][0]["rows"].as_array().expect("rows").len(), 10, "{first}");
    assert_eq!(
        (&first["samples"], &first["rankings"][0]["unranked"]),
        (&20.into(), &Value::Array(Vec::new()))
    );
    for row in first["rankings"][0]["rows"].as_array().expect("rows") {
        assert_eq!(row["time"]["n"], 2, "{row}");
        let verdict = &row["judgement"]["verdict"];
        assert!(verdict.is_null() || verdict == "undecided", "two rounds decide nothing: {row}");
    }

    // Killed in the middle of a line.
    let text = std::fs::read(env.path("session.jsonl")).expect("the session");
    std::fs::write(env.path("session.jsonl"), &text[..text.len() * 2 / 3]).expect("a shorter one");
    let fewer = report()["samples"].as_u64().expect("a number");
    assert!((1..20).contains(&fewer), "{fewer}");
    let resume = ["run", "enumerate", "--resume", "session.jsonl", "--no-calls"];
    let _ = env.lab(resume).exits(0);
    assert_eq!(report()["samples"], 20);

    // The measured tree has changed.
    env.write("tree/more", 1);
    let told = env.lab(resume).exits(2).stderr_text();
    assert!(told.contains("has changed since the session began: 4 files"), "{told}");
}

#[test]
fn quick_session_leaves_out_slowest_methods_to_end_in_time() {
    let env = TestEnv::new();
    tree(&env);
    let run = ["run", "enumerate", "--path", "tree", "--state", "as-is", "--contenders", "."];
    let how = [
        "--command",
        "slow=sh -c 'sleep 0.2' sh {root}",
        "--max-time",
        "1s",
        "--no-calls",
        "-o",
        "session",
    ];
    let told = env.lab(run.iter().chain(&how)).exits(0).stderr_text();
    let hint =
        told.lines().find(|line| line.contains("rounds for 1.00 s, without the slowest methods: "));
    let hint = hint.unwrap_or_else(|| panic!("{told}"));
    assert!(hint.contains("portable/work-stealing") && !hint.contains("slow,"), "{hint}");
    let report = env.lab(["report", "--json", "session"]).exits(0).json();
    let cells = report["session"]["cells"].as_array().expect("cells");
    let kept: Vec<_> = cells.iter().map(|cell| &cell["name"]).collect();
    let base = "getdents-statx/work-stealing";
    assert_eq!(kept, [base, "slow", &format!("{base} (again)")], "{told}");
}

#[test]
fn every_dataset_in_every_state_has_its_own_ranking() {
    let env = TestEnv::new();
    tree(&env);
    let run = ["run", "enumerate", "--path", "tree", "--path", "tree/below"];
    let corpus = ["--corpus", "tiny", "--corpora", "corpora", "--state", "as-is,as-is"];
    let methods = ["--methods", "portable/queue", "--contenders", ".", "--no-calls"];
    let rounds = ["--rounds", "1", "-o", "session.jsonl"];
    let run = run.iter().chain(&corpus).chain(&methods).chain(&rounds);
    let told = env.lab(run.clone()).exits(0).stderr_text();
    assert!(told.contains("making 'tiny'"), "{told}");
    let report = env.lab(["report", "--json", "session.jsonl"]).exits(0).json();
    let rankings = report["rankings"].as_array().expect("rankings");
    let of = |ranking: &Value| (ranking["name"].clone(), ranking["pass"].clone());
    let expected = ["tree", "tree/below", "tiny"];
    let expected: Vec<(Value, Value)> =
        expected.iter().flat_map(|&name| [0, 1].map(|pass| (name.into(), pass.into()))).collect();
    assert_eq!(rankings.iter().map(of).collect::<Vec<_>>(), expected);
    for ranking in rankings {
        assert_eq!(ranking["rows"].as_array().map(Vec::len), Some(3), "{ranking}");
    }

    // A changed tree under the name of a corpus is refused.
    env.write("corpora/tiny/more", 1);
    std::fs::remove_file(env.path("session.jsonl")).expect("the session");
    let told = env.lab(run).exits(2).stderr_text();
    assert!(told.contains("corpora/tiny"), "{told}");
}

#[test]
fn contender_that_misses_an_entry_not_ranked() {
    let env = TestEnv::new();
    tree(&env);
    let contenders = contenders();
    // The contender that hangs needs a short limit; the others get plenty of time.
    for (wrong, limit) in [
        (&["wrong-drops-last", "wrong-garbage", "wrong-dies"][..], "1200"),
        (&["wrong-hangs"], "5"),
    ] {
        let _ = std::fs::remove_file(env.path("session.jsonl"));
        let run = ["run", "enumerate", "--path", "tree", "--state", "as-is", "--no-calls"];
        let how = ["--rounds", "2", "--limit", limit, "--contenders", &contenders];
        let what = ["--test-doubles", "-o", "session.jsonl"];
        let methods = wrong.iter().flat_map(|&name| ["--methods", name]);
        let run = run.into_iter().chain(how).chain(what).chain(methods);
        let told = env.lab(run).exits(0).stderr_text();
        let drops_last = told.contains("wrong-drops-last: found something else: 2 files");
        assert_eq!(drops_last, wrong.contains(&"wrong-drops-last"), "{told}");
        let report = env.lab(["report", "--json", "session.jsonl"]).exits(0).json();
        let ranked = report["rankings"][0]["rows"].to_string();
        assert!(!ranked.contains("wrong-"), "{ranked}");
        let unranked = report["rankings"][0]["unranked"].as_array().expect("a list");
        for name in wrong {
            assert!(unranked.iter().any(|row| row["cell"] == *name), "{name}: {unranked:?}");
        }
    }
}

/// Once, every contender failed, as it runs in a folder of its own.
#[test]
fn relative_folder_of_corpora_reaches_contenders() {
    let env = TestEnv::new();
    if !env.has("cc") && !env.has("gcc") {
        let test = "relative_folder_of_corpora_reaches_contenders";
        return skip(test, "there is no C compiler").unwrap_or_default();
    }
    let run = ["run", "enumerate", "--corpora", "below/corpora", "--corpus", "single"];
    let what = ["--state", "as-is", "--rounds", "1", "--no-calls", "-o", "session.jsonl"];
    let _ = env.lab(run.iter().chain(&what).chain(&["--methods", "floor"])).exits(0);
    let report = env.lab(["report", "--json", "session.jsonl"]).exits(0).json();
    assert_eq!(report["rankings"][0]["unranked"], Value::Array(Vec::new()), "{report}");
    // What was measured is stored beside the numbers.
    let tools = &report["session"]["environment"]["tools"];
    assert!(tools["gcc"].as_str().is_some_and(|version| version.contains("gcc")), "{tools}");
}

/// Once, the truth was the method that lost the directories, and the complete one was not ranked.
#[test]
fn method_that_loses_paths_beyond_path_max_not_ranked_and_complete_one_is() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let counts = transect_testkit::trees::beyond_path_max(&env.path("tree"));
    let run = ["run", "enumerate", "--path", "tree", "--state", "as-is", "--no-calls"];
    let what = ["--rounds", "1", "--contenders", ".", "-o", "session.jsonl"];
    let methods = ["--methods", "portable/recursive", "--base", "getdents-statx/recursive"];
    let shown = env.lab(run.iter().chain(&what).chain(&methods)).exits(0).stdout_text();
    let work = format!("{} files, {} directories, ", counts.files, counts.directories);
    assert!(shown.contains(&work), "{shown}");
    assert!(shown.contains("verified by a digest of all paths, types and lengths"), "{shown}");
    let report = env.lab(["report", "--json", "session.jsonl"]).exits(0).json();
    let ranking = &report["rankings"][0];
    let rows = ranking["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{ranking}");
    for row in rows {
        assert_eq!(row["cell"]["method"], "getdents-statx/recursive", "{row}");
        assert_eq!(row["cell"]["checked"], "digest", "{row}");
    }
    let unranked = &ranking["unranked"][0];
    assert_eq!(unranked["cell"], "portable/recursive", "{ranking}");
    let reason = unranked["reason"].as_str().expect("a reason");
    assert!(reason.contains("; its first error: "), "{reason}");
}

#[test]
fn contender_with_false_clock_is_implausible_and_not_ranked() {
    let env = TestEnv::new();
    tree(&env);
    let contenders = contenders();
    let run = ["run", "enumerate", "--path", "tree", "--state", "as-is", "--no-calls"];
    let what = ["--rounds", "3", "--contenders", &contenders, "--test-doubles", "-o", "s.jsonl"];
    let methods = ["--methods", "wrong-early", "--methods", "wrong-slow-clock"];
    let methods = methods.into_iter().chain(["--methods", "python-scandir"]);
    let _ = env.lab(run.into_iter().chain(what).chain(methods)).exits(0);
    let report = env.lab(["report", "--json", "s.jsonl"]).exits(0).json();
    let ranking = &report["rankings"][0];
    let unranked = ranking["unranked"].as_array().expect("a list");
    let names: BTreeSet<&str> = unranked.iter().filter_map(|it| it["cell"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(["wrong-early", "wrong-slow-clock"]), "{unranked:?}");
    for unranked in unranked {
        let reason = unranked["reason"].as_str().expect("a reason");
        assert!(reason.starts_with("implausible: "), "{reason}");
        assert!(reason.contains("beyond its start"), "{reason}");
    }
    let rows = ranking["rows"].to_string();
    assert!(rows.contains("python-scandir") && !rows.contains("wrong-"), "{rows}");
    assert!(!report["findings"][0]["sentence"].to_string().contains("wrong-"));
    let shown = env.lab(["report", "s.jsonl"]).exits(0).stdout_text();
    assert!(shown.contains("not ranked: wrong-early: implausible: "), "{shown}");
}

#[test]
fn impossible_session_refused_in_one_line() {
    let env = TestEnv::new();
    tree(&env);
    env.text("there.jsonl", "precious\n");
    for (args, told) in [
        (vec!["--path", "missing"], "cannot access 'missing': No such file or directory"),
        (vec!["--path", "tree/a"], "'tree/a' is not a directory"),
        (vec![], "nothing to walk; use --path DIR or --corpus NAME"),
        (vec!["--path", "tree", "--methods", "nothing-*"], "no method is called 'nothing-*'"),
        (
            vec!["--path", "tree", "--methods", "nt-query/*"],
            "'nt-query/*' cannot run here: only on Windows",
        ),
        (vec!["--path", "tree", "-o", "there.jsonl"], "cannot create 'there.jsonl': File exists"),
        (vec!["--resume", "there.jsonl"], "'there.jsonl' is not a session of the lab: line 1"),
        (vec!["--resume", "missing.jsonl"], "cannot read 'missing.jsonl'"),
    ] {
        let output = env.lab(["run", "enumerate"].iter().chain(&args)).exits(2);
        let stderr = output.stderr_text();
        assert!(stderr.contains(told), "{args:?}: {stderr}");
        assert_eq!(output.stdout_text(), "", "{args:?}");
    }
    assert_eq!(
        std::fs::read_to_string(env.path("there.jsonl")).expect("it is there"),
        "precious\n"
    );
}

#[test]
fn lab_method_prints_contender_protocol() {
    let env = TestEnv::new();
    tree(&env);
    let lines = env.lab(["method", "portable/queue", "tree", "3"]).exits(0).quiet();
    let lines = lines.stdout_text();
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).expect("an object");
        assert_eq!((&line["files"], &line["directories"]), (&3.into(), &3.into()));
        assert_eq!((&line["bytes"], &line["errors"]), (&15.into(), &0.into()));
        assert!(line["elapsed_ns"].as_u64() > Some(0));
    }
    let _ = env.lab(["method", "portable/queue", "missing", "1"]).exits(2);
}

#[test]
fn lab_method_reports_time_in_calls_on_request() {
    let env = TestEnv::new();
    tree(&env);
    let method = |more: &[&str]| {
        let args = ["method", "portable/queue", "tree", "1"];
        env.lab(args.iter().chain(more)).exits(0).quiet().json()
    };
    assert_eq!(method(&[])["calls"], Value::Null);
    let line = method(&["--per-call"]);
    assert_eq!(line["files"], 3);
    let calls = &line["calls"];
    assert_eq!((&calls["opening_calls"], &calls["threads"]), (&3.into(), &1.into()), "{line}");
    for kind in ["opening_ns", "listing_ns", "attributes_ns"] {
        let spent = calls[kind].as_u64().expect("a number");
        assert!(spent > 0 && spent < line["elapsed_ns"].as_u64().expect("a number"), "{line}");
    }
}

#[test]
fn lab_method_accepts_settings() {
    let env = TestEnv::new();
    tree(&env);
    let method = |name: &str| env.lab(["method", name, "tree", "1"]);
    for name in [
        "portable/work-stealing,threads=3",
        "getdents-fstatat/queue,buffer=4K,stat-order=inode",
        "getdents-fstatat/futures,stat-order=listing,threads=2",
    ] {
        let line = method(name).exits(0).quiet().json();
        assert_eq!((&line["files"], &line["bytes"]), (&3.into(), &15.into()), "{name}");
    }
    for (name, told) in [
        (
            "portable/futures,threads=0",
            "no method is called 'portable/futures,threads=0': \
             invalid thread count '0': expected 1 to 1024",
        ),
        ("portable/queue,stat-order=inode", "reader 'portable' does not use a stat order"),
    ] {
        assert_eq!(method(name).exits(2).stderr_text(), format!("transect-lab: {told}\n"));
    }
}

#[test]
fn compare_reports_slower_cells_and_changed_environment() {
    let env = TestEnv::new();
    tree(&env);
    let run = ["run", "enumerate", "--path", "tree", "--state", "as-is", "--no-calls"];
    let methods = ["--methods", "portable/queue", "--contenders", ".", "--rounds", "8"];
    let _ = env.lab(run.iter().chain(&methods).chain(&["-o", "before.jsonl"])).exits(0);
    // All cells take about the same time, without other processes: otherwise `compare` might use processor
    // times, which this test does not change.
    let text = std::fs::read_to_string(env.path("before.jsonl")).expect("the session");
    let undisturbed = text.lines().enumerate().map(|(number, line)| {
        let mut line: Value = serde_json::from_str(line).expect("an object");
        line.as_object_mut().expect("an object").remove("beside");
        if let Some(run) = line["runs"].as_array_mut().and_then(|runs| runs.first_mut()) {
            run["elapsed_ns"] = (1_000_000 + 1000 * number).into();
        }
        format!("{line}\n")
    });
    let text: String = undisturbed.collect();
    env.text("before.jsonl", &text);
    // The same session, but five times as slow, and on another kernel.
    let slower = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("an object");
        if line["environment"].is_object() {
            line["environment"]["system"] = "Linux 99".into();
        }
        if let Some(run) = line["runs"].as_array_mut().and_then(|runs| runs.first_mut()) {
            run["elapsed_ns"] = (run["elapsed_ns"].as_u64().expect("a time") * 5).into();
        }
        format!("{line}\n")
    });
    env.text("after.jsonl", &slower.collect::<String>());

    let compare = ["compare", "before.jsonl", "after.jsonl"];
    let shown = env.lab(compare).exits(0).quiet().stdout_text();
    assert!(shown.contains("is Linux 99 now"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.ends_with(" slower")).count(), 3, "{shown}");
    let _ = env.lab(compare.iter().chain(&["--check"])).exits(1);
    let backwards = ["compare", "after.jsonl", "before.jsonl", "--check", "--json"];
    let object = env.lab(backwards).exits(0).json();
    assert_eq!(object["groups"][0]["rows"][0]["judgement"]["verdict"], "faster");
    assert_eq!(object["changed"].as_array().map(Vec::len), Some(1));

    // Sessions without common datasets are an error, not an empty table.
    env.text("elsewhere.jsonl", &text.replace("\"name\":\"tree\"", "\"name\":\"other\""));
    let told = env.lab(["compare", "before.jsonl", "elsewhere.jsonl"]).exits(2);
    assert!(told.stderr_text().contains("have nothing in common"));
}

#[test]
fn calls_of_a_single_file_are_told_by_kind() {
    let env = TestEnv::new();
    if !env.has("strace") {
        let test = "calls_of_a_single_file_are_told_by_kind";
        return skip(test, "there is no strace").unwrap_or_default();
    }
    env.mkdir("one");
    env.write("one/file", 4);
    let run = ["run", "enumerate", "--path", "one", "--state", "as-is", "--rounds", "1"];
    let _ = env.lab(run.iter().chain(&["--methods", "find", "-o", "session"])).exits(0);
    let report = env.lab(["report", "--markdown", "session"]).exits(0).stdout_text();
    assert!(report.contains("| opens | listings | queries | closes |"), "{report}");
    let session = std::fs::read_to_string(env.path("session")).expect("the session");
    let mut records = session.lines().map(|line| serde_json::from_str(line).expect("a record"));
    let is_floor = |it: &Value| it["record"] == "accesses" && it["cell"] == "floor";
    let floor = records.find(is_floor).expect("the calls of the floor");
    let once = Some(1);
    let count = |kind: &str| floor["accesses"][kind].as_u64();
    assert_eq!([count("opens"), count("attributes"), count("closes")], [once; 3], "{floor}");
}

#[test]
fn calls_are_counted_and_timed_for_each_method() {
    let env = TestEnv::new();
    if !env.has("strace") {
        let test = "calls_are_counted_and_timed_for_each_method";
        return skip(test, "there is no strace").unwrap_or_default();
    }
    tree(&env);
    let run = ["run", "enumerate", "--path", "tree", "--state", "as-is", "--rounds", "1"];
    let methods = ["--methods", "portable/queue", "--methods", "find", "-o", "session.jsonl"];
    let told = env.lab(run.iter().chain(&methods)).exits(0).stderr_text();
    assert!(told.contains("the page is 'session.html'"), "{told}");
    // From the session, as a report leaves out what it cannot compare on a busy machine.
    let counted = std::fs::read_to_string(env.path("session.jsonl")).expect("the session");
    let records: Vec<Value> =
        counted.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    let record = |kind: &str, name: &str| {
        records.iter().find(|it| it["record"] == kind && it["cell"] == name).cloned()
    };
    for name in ["portable/queue", "find", "floor"] {
        let record = record("accesses", name).expect(name);
        let accesses = &record["accesses"];
        // Three directories, three files, a link.
        assert_eq!(accesses["entries"], 7, "{name}");
        // The calls of a walk of an empty directory are subtracted from those of a program that walks once.
        let opens = if name == "find" { 2 } else { 3 };
        assert!(accesses["opens"].as_u64() >= Some(opens), "{name}: {accesses}");
        assert!(accesses["attributes"].as_u64() >= Some(3), "{name}: {accesses}");
        // The floor skips the last, empty listing of a directory where the file system allows it.
        let listings = if name == "floor" { 2 } else { 4 };
        assert!(accesses["listings"].as_u64() >= Some(listings), "{name}: {accesses}");
    }
    // Of a contender, the second and third walk are counted: nothing but its work.
    let accesses = &record("accesses", "floor").expect("floor")["accesses"];
    assert_eq!((&accesses["opens"], &accesses["attributes"]), (&3.into(), &3.into()));
    let timed = record("calls", "portable/queue").expect("timed calls");
    let calls = &timed["calls"];
    assert_eq!((&calls["opening_calls"], &calls["threads"]), (&3.into(), &1.into()));
    // Calls are timed in the engine only.
    assert_eq!(record("calls", "find"), None);
    // A resumed session does not count calls again.
    let _ = env.lab(["run", "enumerate", "--resume", "session.jsonl"]).exits(0);
    assert_eq!(std::fs::read_to_string(env.path("session.jsonl")).expect("the session"), counted);
}
