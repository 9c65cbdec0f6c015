//! Tests of `transect lab run transform`. They assert nothing about time.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;
use transect_testkit::{Browser, Mount, wait_until};

use crate::harness::{Output, TestEnv, skip};

/// Returns the folder of the project's contenders.
fn contenders() -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("contenders");
    folder.to_str().expect("a plain path").to_owned()
}

/// The arguments of every session here: small inputs, no contenders, its own folder.
const SMALL: &[&str] = &[
    "run",
    "transform",
    "--sizes",
    "1M",
    "--blocks",
    "64K",
    "--contenders",
    ".",
    "--seed",
    "7",
    "--dir",
    "scratch",
    "-o",
    "session.jsonl",
];

fn run(env: &TestEnv, more: &[&str]) -> Output {
    env.mkdir("scratch");
    env.lab(SMALL.iter().chain(more))
}

/// Returns the lines of a session.
fn lines(env: &TestEnv) -> Vec<Value> {
    let text = std::fs::read_to_string(env.path("session.jsonl")).expect("the session");
    text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

fn report(env: &TestEnv) -> Value {
    env.lab(["report", "--json", "session.jsonl"]).exits(0).quiet().json()
}

/// Returns the names of the entries in the session's folder.
fn left_over(env: &TestEnv) -> Vec<String> {
    let entries = std::fs::read_dir(env.path("scratch")).expect("the folder");
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns the rows of a ranking, also those apart: output reaches the device early if another process,
/// which may be another test, syncs the file system.
fn rows(ranking: &Value) -> Vec<&Value> {
    ["rows", "apart"].iter().flat_map(|list| ranking[*list].as_array().expect("rows")).collect()
}

fn row_names(ranking: &Value) -> BTreeSet<&str> {
    rows(ranking).iter().map(|row| row["cell"]["name"].as_str().expect("a name")).collect()
}

fn unranked(ranking: &Value) -> BTreeSet<&str> {
    let unranked = ranking["unranked"].as_array().expect("cells").iter();
    unranked.map(|it| it["cell"].as_str().expect("a name")).collect()
}

#[test]
fn session_proves_states_verifies_outputs_and_leaves_nothing() {
    let env = TestEnv::new();
    let shown = run(&env, &["--rounds", "2", "--state", "warm,cold"]).exits(0);
    assert!(shown.stderr_text().contains("needs 18.0 MiB"), "{}", shown.stderr_text());
    let shown = shown.stdout_text();
    assert!(
        shown.contains("1048576 bytes; copy; what is written may be in memory only"),
        "{shown}"
    );
    assert!(shown.contains("\n1M in "), "{shown}");
    assert!(shown.contains("1. input warm, proved"), "{shown}");
    assert!(shown.contains("cold, proved") && !shown.contains("not proved"), "{shown}");
    assert_eq!(left_over(&env), [""; 0]);

    let report = report(&env);
    let rankings = report["rankings"].as_array().expect("rankings");
    assert_eq!(rankings.len(), 2);
    for ranking in rankings {
        assert_eq!(
            (&ranking["proved"], &ranking["unranked"]),
            (&true.into(), &Value::Array(vec![]))
        );
        let names = row_names(ranking);
        for name in
            ["buffered", "buffered (again)", "buffered,block=64K", "kernel-copy", "floor-read"]
        {
            assert!(names.contains(name), "{name}: {names:?}");
        }
        assert!(!names.contains("floor-step"), "a copy has no step");
        for row in rows(ranking) {
            let verdict = &row["judgement"]["verdict"];
            assert!(
                verdict.is_null() || verdict == "undecided",
                "two rounds decide nothing: {row}"
            );
        }
    }
    for sample in &lines(&env)[1..] {
        let passed = &sample["passed"];
        let in_memory = if sample["pass"] == 0 { 1 << 20 } else { 0 };
        assert_eq!((&sample["outcome"], &passed["resident"]), (&"right".into(), &in_memory.into()));
        let written = sample["cell"]
            .as_str()
            .is_some_and(|cell| !["floor-read", "floor-memory"].contains(&cell));
        assert_eq!(passed["written"].as_u64(), written.then_some(1 << 20), "{sample}");
        // Only a warm run has a preceding one, which is stored separately.
        let primed = passed["primed"]["wall_ns"].as_u64();
        assert_eq!(primed > Some(0), sample["pass"] == 0, "{sample}");
        assert!(sample["usage"]["account"]["minor_faults"].as_u64() > Some(0), "{sample}");
    }
}

/// The naive protocol: states run as written, repeated ones too, and nothing warms an input that is as it is.
#[test]
fn repeated_states_run_as_written_and_only_warm_is_primed() {
    let env = TestEnv::new();
    let naive = ["--rounds", "1", "--state", "warm,as-is,as-is", "--methods", "buffered"];
    let plan = run(&env, &[&naive[..], &["--dry-run"]].concat()).exits(0).stdout_text();
    assert!(plan.starts_with("21 samples: 7 cells, 1 size, 3 states, 1 round\n"), "{plan}");
    let _ = run(&env, &naive).exits(0);
    let session = lines(&env);
    assert_eq!(session[0]["passes"], serde_json::json!(["warm", "as_is", "as_is"]));
    let samples: Vec<_> = session.iter().filter(|line| line["record"] == "sample").collect();
    assert_eq!(samples.len(), 21);
    for sample in samples {
        let is_warm = sample["pass"] == 0;
        assert_eq!(sample["passed"]["primed"].is_object(), is_warm, "{sample}");
    }
}

#[test]
fn session_has_every_report_form_and_can_be_compared() {
    let env = TestEnv::new();
    let _ = run(&env, &["--rounds", "2", "--state", "warm", "--kind", "case"]).exits(0);
    let form =
        |form: &str| env.lab(["report", form, "session.jsonl"]).exits(0).quiet().stdout_text();
    let csv = form("--csv");
    let titles: Vec<&str> = csv.lines().next().expect("titles").split(',').collect();
    let column = |name: &str| titles.iter().position(|title| *title == name).expect(name);
    let base = csv.lines().find(|line| line.contains(",buffered,")).expect("the base");
    let base: Vec<&str> = base.split(',').collect();
    for name in ["median_ns", "faults", "switches", "unwritten_bytes", "device_read_bytes"] {
        assert!(base[column(name)].parse::<u64>().is_ok(), "{name}: {base:?}");
    }
    let markdown = form("--markdown");
    assert!(markdown.contains("## 1M in ") && markdown.contains("\ninput warm"), "{markdown}");
    assert!(markdown.contains("1048576 bytes; case"), "{markdown}");
    assert!(form("--json").contains("floor-step"));
    let page = env.lab(["report", "--html", "-", "session.jsonl"]).exits(0);
    assert!(page.stdout_text().contains("input warm"), "the page is about files, too");

    let compare = ["compare", "session.jsonl", "session.jsonl", "--check", "--json"];
    let compared = env.lab(compare).exits(0).json();
    assert_eq!(compared["groups"][0]["name"], "1M");
    assert_eq!(compared["changed"], Value::Array(vec![]));
}

#[test]
fn page_uses_words_of_transforms() {
    let env = TestEnv::new();
    let test = "page_uses_words_of_transforms";
    let grid = ["--rounds", "2", "--state", "warm", "--methods", "mapped"];
    let more = ["--sizes", "2M", "--blocks", "16K"];
    env.mkdir("scratch");
    let _ = env.lab(SMALL.iter().chain(&grid).chain(&more)).exits(0);
    let written = env.lab(["report", "session.jsonl", "--html", "page.html"]);
    assert_eq!(written.exits(0).quiet().stdout_text(), "");
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    browser.open(&env.path("page.html"));
    browser.click("#all > summary");
    let count = |selector: &str| {
        let script = format!("return document.querySelectorAll('{selector}').length");
        browser.run(&script).as_u64().expect("a number")
    };
    let text = |selector: &str| {
        let script = format!("return document.querySelector('{selector}').textContent");
        browser.run(&script).as_str().expect("a text").to_owned()
    };
    // A dot for each sample, a line across both blocks for methods that accept them, and one across both
    // sizes.
    let cells = lines(&env)[0]["cells"].as_array().expect("cells").len() as u64;
    assert_eq!(count("#samples .dot"), 2 * cells);
    assert_eq!(count("#scaling .line circle"), 2 * (cells - 1), "all but the base again");
    let both = "#blocks [data-method*=\"mapped\"] circle";
    assert_eq!(count(both), 2, "{}", text("#blocks"));
    let table = text("#table");
    for title in ["MB/s", "per byte", "faults", "unwritten", "× floor"] {
        assert!(table.contains(title), "{title}: {table}");
    }
    let first = "#table .link";
    browser.click(first);
    let known = text("dialog");
    assert!(known.contains("bytes per second") && known.contains("read from devices"), "{known}");

    let script = "document.querySelector('.command').remove(); return app.textContent";
    let all = browser.run(script).as_str().expect("a text").to_lowercase();
    for word in ["entry", "entries", "walk", "tree", "cache", "recursion", "undefined", " nan"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// Sets the times of a session's cells, in milliseconds; rounds differ minimally.
fn set_times(env: &TestEnv, times: &[(&str, u64)]) {
    let lines = lines(env).into_iter().map(|mut line| {
        let time = times.iter().find(|(cell, _)| line["cell"] == *cell);
        if let (Some((_, time)), Some(round)) = (time, line["round"].as_u64()) {
            let took = time * 1_000_000 + (round * 7 + time * 3) % 5;
            line["runs"][0]["elapsed_ns"] = took.into();
            line["usage"]["wall_ns"] = took.into();
            line["usage"]["user_ns"] = 0.into();
            line["usage"]["system_ns"] = took.into();
        }
        format!("{line}\n")
    });
    env.text("session.jsonl", &lines.collect::<String>());
}

#[test]
fn explain_prints_bottleneck_or_undecided() {
    let env = TestEnv::new();
    let session = ["--rounds", "2", "--state", "warm", "--methods", "kernel-copy"];
    let _ = run(&env, &session).exits(0);
    let shown = env.lab(["explain", "session.jsonl"]).exits(0).quiet().stdout_text();
    for part in ["1M, input warm", "the fastest is ", "undecided", "system calls not counted"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let object = env.lab(["explain", "--json", "session.jsonl"]).exits(0).json();
    let explained = &object["explained"][0];
    assert_eq!(explained["fastest"]["limit"], Value::Null);
    assert!(explained["fastest"]["parts"][0]["share"]["median"].is_f64(), "{explained}");
    assert_eq!(explained["choice"]["chosen"], "undecided");
    let kept = env.lab(["explain", "--save", "session.jsonl"]).exits(0).stdout_text();
    assert!(kept.contains("nothing is stored"), "{kept}");
    assert!(!env.path("../config").exists(), "two rounds decide nothing");

    env.mkdir("tree");
    let walk = ["run", "enumerate", "--path", "tree", "--state", "as-is", "--rounds", "1"];
    let more = ["--contenders", ".", "--no-calls", "-o", "walks.jsonl"];
    let _ = env.lab(walk.iter().chain(&more)).exits(0);
    let told = env.lab(["explain", "walks.jsonl"]).exits(0).quiet().stdout_text();
    assert!(told.contains(" against ") && told.contains("too few rounds"), "{told}");
    let told = env.lab(["explain", "--save", "walks.jsonl"]).exits(2).stderr_text();
    assert!(
        told.contains("'walks.jsonl' is a session of walks: only those of transforms"),
        "{told}"
    );
}

#[test]
fn explain_save_changes_transforms_until_overridden() {
    let env = TestEnv::new();
    let session = ["--rounds", "10", "--state", "warm", "--methods", "kernel-copy"];
    let _ = run(&env, &session).exits(0);
    // Times of an idle machine.
    let floors = [("floor-read", 5), ("floor-write", 30), ("floor-memory", 9)];
    let others = [("buffered", 60), ("buffered (again)", 60), ("kernel-copy", 50)];
    let fast = [("buffered,block=64K", 40)];
    set_times(&env, &[&floors[..], &others, &fast].concat());
    let explain = ["explain", "session.jsonl"];
    let shown = env.lab(explain.iter().chain(&["--save"])).exits(0).quiet().stdout_text();
    for part in [
        "its limit is creating pages in the system's cache",
        "the planner's default for copy work on files from 1 MiB to 64 MiB is kernel-copy; here: buffered",
        "stored in ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    env.text("input", &"x".repeat(3 << 20));
    let passed = |more: &[&str]| {
        let transform = ["transform", "copy", "input", "-o", "output", "--force", "--json"];
        let output = env.transect(transform.iter().chain(more)).exits(0).quiet().stdout_text();
        let first = output.lines().next().expect("a line for the file");
        let line: Value = serde_json::from_str(first).expect("an object");
        let text = |key: &str| line[key].as_str().expect("a word").to_owned();
        (text("method"), text("method_reason"))
    };
    let measured = ("buffered".to_owned(), "it was measured to be the best here".to_owned());
    assert_eq!(passed(&[]), measured);
    assert_eq!(passed(&["--method", "streams"]).0, "streams");
    for otherwise in [&["--no-profile"][..], &["--block", "64K"], &["--sync", "file"]] {
        let (method, reason) = passed(otherwise);
        assert_eq!(method, "kernel-copy", "{otherwise:?}");
        assert_ne!(reason, measured.1);
    }
    let told = ["transform", "copy", "input", "-o", "output", "--force", "--verbose"];
    let told = env.transect(told).exits(0).stdout_text();
    assert!(told.contains("(buffered: it was measured to be the best here)"), "{told}");
    let doctor = env.transect(["doctor", "."]).exits(0).stdout_text();
    let known = "copy, files from 1 MiB to 64 MiB, input warm, sync none: buffered,block=64K";
    assert!(doctor.contains(known), "{doctor}");
    // The profile has no settings for walks.
    let scan = env.transect(["scan", "--json", "."]).exits(0).json();
    assert_eq!(scan["profile"], Value::Null);

    // A stored method that cannot do the work is replaced, with a message.
    let folder = env.path("../config/transect/profiles");
    let file = std::fs::read_dir(folder).expect("profiles").next().expect("one").expect("one");
    let text = std::fs::read_to_string(file.path()).expect("the profile");
    let mut profile: Value = serde_json::from_str(&text).expect("an object");
    profile["passes"][0]["method"] = "kernel-copy".into();
    profile["passes"][0]["load"] = "light".into();
    std::fs::write(file.path(), profile.to_string()).expect("our own file");
    let upper = ["transform", "case=upper", "input", "-o", "output", "--force", "--json"];
    let line = env.transect(upper).exits(0).stdout_text();
    assert!(line.contains("\"method\":\"buffered\""), "{line}");
    assert!(line.contains("what was measured to be the best here cannot do this"), "{line}");

    // A decision for the default removes the stored setting.
    set_times(&env, &[&floors[..], &others, &[("buffered,block=64K", 90)]].concat());
    set_times(&env, &[("kernel-copy", 20)]);
    let _ = env.lab(explain.iter().chain(&["--save"])).exits(0).quiet();
    assert_eq!(passed(&[]).0, "kernel-copy");

    // Sessions of other machines are not stored.
    let foreign = std::fs::read_to_string(env.path("session.jsonl")).expect("the session");
    env.text("session.jsonl", &foreign.replacen("\"cores\":", "\"cores\":9", 1));
    let told = env.lab(explain.iter().chain(&["--save"])).exits(2).stderr_text();
    assert!(told.contains("measured on another machine"), "{told}");
}

#[test]
fn compare_refuses_sessions_of_other_work_or_path() {
    let env = TestEnv::new();
    let _ = run(&env, &["--rounds", "2", "--state", "warm", "--methods", "streams"]).exits(0);
    let text = std::fs::read_to_string(env.path("session.jsonl")).expect("the session");
    let compare = ["compare", "session.jsonl", "other.jsonl"];
    let with = |change: &dyn Fn(&mut Value)| {
        let (header, samples) = text.split_once('\n').expect("lines");
        let mut header: Value = serde_json::from_str(header).expect("an object");
        change(&mut header);
        env.text("other.jsonl", &format!("{header}\n{samples}"));
    };

    with(&|header| header["environment"]["system"] = "Linux 2.4".into());
    let told = env.lab(compare).exits(2).stderr_text();
    assert!(told.contains("system (Linux ") && told.contains(", then Linux 2.4)"), "{told}");
    assert!(told.contains("--force"), "{told}");
    let shown = env.lab(compare.iter().chain(&["--force"])).exits(0).quiet().stdout_text();
    assert!(shown.contains("1M, input warm") && shown.contains("is Linux 2.4 now"), "{shown}");
    assert!(!shown.contains("caches"), "{shown}");

    // Synced runs do more work, so the sessions are not comparable.
    with(&|header| header["transform"]["sync"] = "inside".into());
    let told = env.lab(compare).exits(2).stderr_text();
    assert!(told.contains("sync (none, then inside)"), "{told}");
    let told = env.lab(compare.iter().chain(&["--force"])).exits(2).stderr_text();
    assert!(told.contains("have nothing in common"), "{told}");
}

#[test]
fn method_with_wrong_output_never_ranked() {
    let env = TestEnv::new();
    let test = "method_with_wrong_output_never_ranked";
    if !env.has("python3") {
        return skip(test, "there is no python3").unwrap_or_default();
    }
    let all = contenders();
    let more = ["--contenders", &all, "--test-doubles", "--rounds", "2", "--state", "as-is"];
    let methods =
        ["--methods", "wrong-*", "--sizes", "64K", "--dir", "scratch", "-o", "session.jsonl"];
    env.mkdir("scratch");
    let output = env.lab(["run", "transform"].iter().chain(&more).chain(&methods));
    let told = output.exits(0).stderr_text();
    for (name, why) in [
        ("wrong-byte", "an output with the digest"),
        ("wrong-short", "an output of 65535 bytes, not 65536"),
        ("wrong-claim", "65537 bytes, 0 errors read"),
        ("wrong-nothing", "no output"),
    ] {
        let lines: Vec<&str> = told.lines().filter(|line| line.contains(name)).collect();
        // One wrong output excludes it from the second round.
        assert_eq!(lines.len(), 1, "{name}: {told}");
        assert!(lines[0].contains(why), "{name}: {told}");
    }
    let report = report(&env);
    assert!(!report["rankings"][0]["rows"].to_string().contains("wrong-"), "{report}");
    assert_eq!(unranked(&report["rankings"][0]).len(), 4);
}

#[test]
fn input_mapped_by_another_process_is_not_cold() {
    let env = TestEnv::new();
    let test = "input_mapped_by_another_process_is_not_cold";
    if !env.has("python3") {
        return skip(test, "there is no python3").unwrap_or_default();
    }
    env.mkdir("scratch");
    // The kernel does not drop mapped pages.
    env.text(
        "keep.py",
        "import glob, mmap, os, time\n\
         while not (found := glob.glob('scratch/transect-lab-scratch-*/input-*')) or \
         os.path.getsize(found[0]) < 1 << 20: time.sleep(0.001)\n\
         file = open(found[0], 'rb')\n\
         kept = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n\
         sum(kept[::4096])\n\
         open('kept', 'w').close()\n\
         time.sleep(1000000)\n",
    );
    let mut keeper = env.command("python3");
    let mut keeper = keeper.arg("keep.py").spawn().expect("a Python that can be started");
    let cold = ["--rounds", "1000", "--state", "cold", "--methods", "buffered"];
    let running = env.start(SMALL.iter().chain(&cold));
    let session = || std::fs::read_to_string(env.path("session.jsonl")).unwrap_or_default();
    wait_until("a sample that is void", || session().contains("\"outcome\":\"void\""));
    running.signal(Signal::INT);
    let told = running.finish();
    keeper.kill().expect("a process of our own");
    keeper.wait().expect("a process of our own");
    assert!(env.path("kept").exists(), "it was never kept in memory");
    assert!(told.stderr_text().contains("could not prove its state: "), "{}", told.stderr_text());
    let void: Vec<Value> =
        lines(&env).into_iter().filter(|line| line["outcome"] == "void").collect();
    assert!(!void.is_empty());
    for sample in void {
        assert!(sample["resident"].as_u64() > Some(0), "{sample}");
        assert_eq!(sample["runs"], Value::Null, "no time is kept of it: {sample}");
    }
}

fn samples_so_far(env: &TestEnv) -> usize {
    let text = std::fs::read_to_string(env.path("session.jsonl")).unwrap_or_default();
    text.lines().filter(|line| line.contains("\"record\":\"sample\"")).count()
}

#[test]
fn killed_session_resumes_without_losing_or_repeating_runs() {
    let env = TestEnv::new();
    env.mkdir("scratch");
    let more = ["--rounds", "6", "--state", "warm"];
    let running = env.start(SMALL.iter().chain(&more));
    wait_until("some samples", || samples_so_far(&env) >= 4);
    running.signal(Signal::KILL);
    assert_eq!(running.finish().signal, Some(9));
    let before = samples_so_far(&env);
    assert_eq!(left_over(&env).len(), 1, "the folder stays when nobody can remove it");

    let resume = ["run", "transform", "--resume", "session.jsonl", "--dir", "scratch"];
    let _ = env.lab(resume.iter().chain(&["--contenders", "."])).exits(0);
    assert_eq!(left_over(&env), [""; 0], "that of the killed one was removed, too");
    let lines = lines(&env);
    let cells = lines[0]["cells"].as_array().expect("cells").len();
    assert!(before < 6 * cells, "it was killed too late: {before}");
    let of = |sample: &Value| (sample["round"].to_string(), sample["cell"].to_string());
    let once: BTreeSet<(String, String)> = lines[1..].iter().map(of).collect();
    assert_eq!((once.len(), lines.len() - 1), (6 * cells, 6 * cells));

    // A session is resumed by the command of its own experiment.
    let walk = env.lab(["run", "enumerate", "--resume", "session.jsonl"]).exits(2);
    assert!(walk.stderr_text().contains("is a session of transforms"), "{}", walk.stderr_text());
}

#[test]
fn interrupted_session_leaves_only_its_file() {
    let env = TestEnv::new();
    env.mkdir("scratch");
    let running = env.start(SMALL.iter().chain(&["--rounds", "1000", "--state", "warm"]));
    wait_until("some samples", || samples_so_far(&env) >= 2);
    running.signal(Signal::INT);
    let output = running.finish().exits(130);
    assert!(output.stdout_text().contains("buffered"), "what there is, is shown");
    assert_eq!(left_over(&env), [""; 0]);
}

#[test]
fn session_without_enough_space_refused() {
    let env = TestEnv::new();
    let test = "session_without_enough_space_refused";
    let folder = env.mkdir("scratch");
    let mount = match Mount::tmpfs("4m", &folder) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    let refused = run(&env, &["--state", "warm"]).exits(2).stderr_text();
    assert!(refused.contains("bytes are needed, "), "{refused}");
    let cold = run(&env, &["--state", "cold"]).exits(2).stderr_text();
    assert!(cold.contains("cannot drop files in "), "{cold}");
    assert_eq!(left_over(&env), [""; 0]);
    assert!(!env.path("session.jsonl").exists());
    drop(mount);
}

#[test]
fn rounds_added_until_enough_or_time_is_over() {
    let env = TestEnv::new();
    let quick = ["--state", "warm", "--methods", "buffered", "--max-time", "1ms", "--rounds", "2"];
    let shown = run(&env, &quick).exits(0).stdout_text();
    // Fewer than five rounds cannot decide anything.
    assert!(shown.contains("5 rounds of 1 (the time limit was reached), seed 7"), "{shown}");
    let report = report(&env);
    assert_eq!((&report["ended"]["by"], &report["ended"]["rounds"]), (&"time".into(), &5.into()));
    assert_eq!(lines(&env)[1]["took_ns"].as_u64().map(|time| time > 0), Some(true));
    let wrong = run(&env, &["--max-time", "soon"]).exits(2).stderr_text();
    assert!(wrong.contains("invalid value 'soon' for '--max-time <DURATION>'"), "{wrong}");
}

#[test]
fn commands_are_cells_under_the_same_rules() {
    let env = TestEnv::new();
    let odd = "odd=sh -c 'head -c 1000 \"$1\" > \"$2\"' sh {in} {out}";
    let commands = ["cp=cp {in} {out}", odd, "fails=sh -c 'exit 3' {in} {out}"];
    let commands = commands.iter().flat_map(|command| ["--command", command]);
    let more = ["--rounds", "2", "--state", "warm,cold", "--methods", "buffered"];
    let told = run(&env, &more.into_iter().chain(commands).collect::<Vec<_>>()).exits(0);
    let told = told.stderr_text();
    assert!(
        told.contains("odd: found something else: an output of 1000 bytes, not 1048576"),
        "{told}"
    );
    assert!(told.contains("fails: died: exit status: 3"), "{told}");
    // On a busy machine, a program that hardly does more than start is not ranked.
    crate::attributes::forget_disturbances(&env);
    let report = report(&env);
    for ranking in report["rankings"].as_array().expect("rankings") {
        assert_eq!(unranked(ranking), ["fails", "odd"].into());
        let rows = rows(ranking);
        let cp = rows.iter().find(|row| row["cell"]["name"] == "cp").expect("cp");
        assert_eq!(
            (&cp["cell"]["kind"], &cp["cell"]["language"]),
            (&"external".into(), &"cp".into())
        );
        // The start-up is part of its time, and reported separately.
        assert!(cp["start_up"].as_f64() > Some(0.0), "{cp}");
        let base = rows.iter().find(|row| row["cell"]["name"] == "buffered").expect("the base");
        assert!(base["start_up"].is_null() && !cp["samples"].is_null(), "{base}");
    }
    let tools = &report["session"]["environment"]["tools"];
    assert!(tools["cp"].as_str().is_some_and(|version| version.starts_with("cp ")), "{tools}");
    let starts: Vec<Value> = lines(&env).into_iter().filter(|it| it["record"] == "start").collect();
    assert_eq!((starts.len(), starts[0]["times_ns"].as_array().map(Vec::len)), (1, Some(5)));

    for (command, why) in [
        ("cp {in} {out}", "expected NAME=COMMAND"),
        ("a=cat {in} > {out}", "to use a shell, write sh -c"),
        ("buffered=cp {in} {out}", "a cell is already called 'buffered'"),
        ("a=nowhere-at-all {in} {out}", "'nowhere-at-all' cannot be started here"),
    ] {
        let refused = run(&env, &["--command", command]).exits(2).stderr_text();
        assert!(refused.contains(why), "{command}: {refused}");
    }
}

#[test]
fn command_that_does_not_sync_is_wrong_under_sync_rule() {
    let env = TestEnv::new();
    let commands =
        ["--command", "cp=cp {in} {out}", "--command", "dd=dd if={in} of={out} conv=fsync"];
    // Several rounds, because another test may sync the whole file system during one of them.
    let more = ["--rounds", "8", "--state", "warm", "--methods", "buffered", "--sync", "inside"];
    let told = run(&env, &more.into_iter().chain(commands).collect::<Vec<_>>()).exits(0);
    let (told, report) = (told.stderr_text(), report(&env));
    let ranking = &report["rankings"][0];
    // Floors without an output have no number of unwritten bytes.
    let rows = rows(ranking);
    if rows.iter().all(|row| row["unwritten"].is_null()) {
        let test = "command_that_does_not_sync_is_wrong_under_sync_rule";
        return skip(test, "this kernel does not count unwritten pages").unwrap_or_default();
    }
    assert!(row_names(ranking).contains("dd"), "{told}");
    assert_eq!(unranked(ranking), ["cp"].into(), "{told}");
    assert!(told.contains("bytes were not on the device"), "{told}");
}

#[test]
fn dry_run_prints_space_and_bytes_to_write() {
    let env = TestEnv::new();
    let plan = ["--dry-run", "--state", "warm,cold", "--methods", "buffered", "--rounds", "3"];
    let plan = run(&env, &plan).exits(0).quiet().stdout_text();
    // Two cells of the base, one block, four floors: 63 runs, three of the estimate, and the input.
    assert!(
        plan.starts_with("42 samples: 7 cells, 1 size, 2 states, 3 rounds\n  buffered\n"),
        "{plan}"
    );
    assert!(
        plan.contains("needs 18.0 MiB of ") && plan.contains("writes up to 67.0 MiB"),
        "{plan}"
    );
    assert_eq!(left_over(&env), [""; 0]);
    assert!(!env.path("session.jsonl").exists());

    let told = run(&env, &["--state", "warm", "--methods", "buffered", "--rounds", "2"]).exits(0);
    let told = told.stderr_text();
    assert!(told.contains("7 cells in 2 rounds, estimated from one run of each kind"), "{told}");
    assert_eq!(lines(&env).len(), 1 + 7 * 2, "the pilot run is not a sample");
    assert_eq!(left_over(&env), [""; 0]);
}

#[test]
fn c_contenders_do_every_kind_in_their_manifest() {
    let env = TestEnv::new();
    let test = "c_contenders_do_every_kind_in_their_manifest";
    if !env.has("gcc") || !env.has("g++") {
        return skip(test, "there is no gcc or no g++").unwrap_or_default();
    }
    env.mkdir("scratch");
    let all = contenders();
    let methods = ["c-stdio", "c-read-write", "c-mmap", "cpp-iostream"];
    for (kind, size) in [("copy", "100001"), ("case", "100001"), ("case", "1")] {
        let _ = std::fs::remove_file(env.path("session.jsonl"));
        let what =
            ["--kind", kind, "--sizes", size, "--sync", "inside", "--seq", "--blocks", "1000"];
        let how = ["--state", "warm", "--rounds", "1", "--contenders", &all];
        let place = ["--methods", "c*", "--dir", "scratch", "-o", "session.jsonl"];
        let run = ["run", "transform"];
        let _ = env.lab(run.iter().chain(&what).chain(&how).chain(&place)).exits(0);
        let report = report(&env);
        let names = row_names(&report["rankings"][0]);
        for method in methods {
            let name =
                if method == "c-mmap" { method.into() } else { format!("{method},block=1000") };
            assert!(names.contains(name.as_str()), "{kind}, {size}: {name}: {report}");
        }
        for name in ["c-stdio", "buffered"] {
            let name = format!("{name},block=1000,hint=sequential");
            assert!(names.contains(name.as_str()), "{names:?}");
        }
        let synced = &report["rankings"][0]["rows"][0]["unwritten"];
        assert!(synced.is_null() || synced == 0.0, "{synced}");
    }
}

#[test]
fn every_kind_of_transform_verified_by_its_output() {
    let env = TestEnv::new();
    for kind in ["blake3", "zstd"] {
        let _ = std::fs::remove_file(env.path("session.jsonl"));
        let _ = run(&env, &["--rounds", "1", "--state", "warm", "--kind", kind]).exits(0);
        let report = report(&env);
        assert_eq!(report["rankings"][0]["unranked"], Value::Array(vec![]), "{kind}");
        let names = row_names(&report["rankings"][0]);
        assert!(names.contains("buffered,block=64K") && names.contains("floor-step"), "{names:?}");
        assert!(!names.contains("kernel-copy"), "{names:?}");
    }
}

#[test]
fn lab_pass_prints_protocol_and_replaces_nothing() {
    let env = TestEnv::new();
    env.text("in", "Some text.");
    let pass = ["pass", "buffered,block=4", "in", "out", "--kind", "case"];
    let line = env.lab(pass).exits(0).quiet().json();
    assert_eq!((&line["files"], &line["bytes"]), (&1.into(), &10.into()));
    assert!(line["elapsed_ns"].as_u64() > Some(0));
    assert_eq!(std::fs::read_to_string(env.path("out")).expect("the output"), "SOME TEXT.");
    let there = env.lab(pass).exits(2).stderr_text();
    assert!(there.contains("out"), "{there}");
    let unknown = env.lab(["pass", "fastest", "in", "other"]).exits(2).stderr_text();
    assert_eq!(unknown, "transect-lab: no method is called 'fastest'\n");
}

#[test]
fn impossible_session_refused_in_one_line() {
    let env = TestEnv::new();
    for (args, told) in [
        (vec!["--dir", "missing"], "cannot access 'missing': No such file or directory"),
        (vec!["--methods", "nothing-*"], "no method is called 'nothing-*'"),
        (
            vec!["--methods", "kernel-copy", "--kind", "case"],
            "'kernel-copy' cannot run here: method 'kernel-copy' cannot be used here",
        ),
        (vec!["--blocks", "0"], "must be at least 1"),
        (vec!["--resume", "missing.jsonl"], "cannot read 'missing.jsonl'"),
    ] {
        let common = ["run", "transform", "--contenders", "."];
        let output = env.lab(common.iter().chain(&args)).exits(2);
        assert!(output.stderr_text().contains(told), "{args:?}: {}", output.stderr_text());
        assert_eq!(output.stdout_text(), "", "{args:?}");
    }
}

#[test]
fn calls_counted_in_separate_runs() {
    let env = TestEnv::new();
    if !env.has("strace") {
        let test = "calls_counted_in_separate_runs";
        return skip(test, "there is no strace").unwrap_or_default();
    }
    let full = ["--preset", "full", "--rounds", "1", "--state", "warm", "--methods", "buffered"];
    let _ = run(&env, &full).exits(0);
    let report = report(&env);
    let calls = |name: &str| {
        let mut rows = rows(&report["rankings"][0]).into_iter();
        let row = rows.find(|row| row["cell"]["name"] == name).expect(name);
        row["accesses"]["calls"].as_u64().expect("a number")
    };
    // Sixteen blocks of 64 KiB are read and written; the floor needs four of 256 KiB.
    assert!((32..64).contains(&calls("buffered,block=64K")), "{}", calls("buffered,block=64K"));
    assert!((8..16).contains(&calls("floor-read-write")), "{}", calls("floor-read-write"));
}
