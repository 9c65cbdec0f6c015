//! Tests of `transect lab run enumerate` on whole programs: presets `programs`, `names`, `answers`, `same-lines` and `start`, and
//! `--command`.

use serde_json::Value;

use crate::enumerate::tree;
use crate::harness::{Output, TestEnv, transect};

/// Runs a session of two rounds on the tree.
fn run(env: &TestEnv, preset: &str, more: &[&str]) -> Output {
    let run = ["run", "enumerate", "--preset", preset, "--path", "tree", "--state", "as-is"];
    let how = ["--rounds", "2", "--no-calls", "-o", "session.jsonl"];
    env.lab(run.iter().chain(&how).chain(more))
}

fn report(env: &TestEnv) -> Value {
    env.lab(["report", "--json", "session.jsonl"]).exits(0).quiet().json()
}

/// Returns the names of the ranked cells, sorted.
fn ranked(report: &Value) -> Vec<&str> {
    let rows = report["rankings"][0]["rows"].as_array().expect("rows").iter();
    let mut names: Vec<&str> =
        rows.map(|row| row["cell"]["name"].as_str().expect("a name")).collect();
    names.sort_unstable();
    names
}

/// Returns why a cell is not ranked.
fn reason<'r>(report: &'r Value, cell: &str) -> &'r str {
    let mut unranked = report["rankings"][0]["unranked"].as_array().expect("rows").iter();
    let row = unranked.find(|row| row["cell"] == cell);
    row.and_then(|row| row["reason"].as_str()).unwrap_or_else(|| panic!("'{cell}' is ranked"))
}

#[test]
fn programs_ranked_by_whole_processes_that_proved_their_work() {
    let env = TestEnv::new();
    tree(&env);
    let scan = format!("scan='{}' scan --json {{root}}", transect().display());
    let more = [
        ["--command", &*scan],
        ["--command", "sum=sh -c 'du -sb \"$1\"' sh {root}"],
        ["--command", "other=sh -c 'echo 7' sh {root}"],
        ["--command", "names=find {root} -print0"],
        ["--command", "fails=sh -c 'exit 3' sh {root}"],
        ["--base", "scan"],
        ["--methods", "du"],
    ];
    let told = run(&env, "programs", &more.concat()).exits(0).stderr_text();
    assert!(told.contains("names: found something else: names without lengths"), "{told}");
    let report = report(&env);
    let ranking = &report["rankings"][0];
    let named: Vec<&str> =
        ranked(&report).into_iter().filter(|name| !name.starts_with("floor")).collect();
    // Methods of the engine and other commands of the preset were not selected.
    assert_eq!(named, ["du", "scan", "scan (again)", "sum"]);
    assert_eq!(
        reason(&report, "other"),
        "found something else: 7 bytes, which no known program would count"
    );
    assert_eq!(reason(&report, "fails"), "died: exit status: 3");
    assert_eq!(
        (&report["session"]["whole_processes"], &report["session"]["base"]),
        (&true.into(), &"scan".into())
    );
    // On a busy machine, CPU time is compared.
    assert!(["process", "processor"].map(Value::from).contains(&ranking["by"]), "{ranking}");
    for row in ranking["rows"].as_array().expect("rows") {
        let is_of_processes = ranking["by"] == "process";
        assert!(!is_of_processes || row["time"]["median"] == row["wall_ns"], "{row}");
        let is_program = ["external", "peer"].map(Value::from).contains(&row["cell"]["kind"]);
        let has_start = row["start_up"].as_f64() > Some(0.0);
        assert_eq!(has_start, is_program, "{row}");
    }
    let markdown = env.lab(["report", "--markdown", "session.jsonl"]).exits(0);
    let markdown = markdown.stdout_text();
    assert!(markdown.contains("| times | whole processes, from start to exit |"), "{markdown}");
    assert!(markdown.contains(" | faults | "), "{markdown}");

    // A resumed session runs the same commands.
    let text = std::fs::read(env.path("session.jsonl")).expect("the session");
    std::fs::write(env.path("session.jsonl"), &text[..text.len() / 2]).expect("a shorter one");
    let resume = ["run", "enumerate", "--resume", "session.jsonl", "--no-calls"];
    let _ = env.lab(resume).exits(0);
    let resumed = self::report(&env);
    assert_eq!(ranked(&resumed), ranked(&report));
    assert_eq!(resumed["samples"], report["samples"]);
}

#[test]
fn programs_that_print_names_compared_without_lengths_and_floors() {
    let env = TestEnv::new();
    tree(&env);
    let more = [
        ["--command", "sum=du -sb {root}"],
        ["--command", "files=find {root} -type f -print0"],
        ["--command", "fewer=find {root} -maxdepth 1 -print0"],
        ["--methods", "find"],
    ];
    let _ = run(&env, "names", &more.concat()).exits(0);
    let report = report(&env);
    assert_eq!(ranked(&report), ["files", "find", "transect", "transect (again)"]);
    assert_eq!(report["session"]["floor"], Value::Null);
    assert!(reason(&report, "sum").contains("more than names"), "{report}");
    assert_eq!(
        reason(&report, "fewer"),
        "found something else: 4 names instead of 7, or of 3 files"
    );
}

#[test]
fn programs_that_know_the_answer_compared_without_floors() {
    let env = TestEnv::new();
    tree(&env);
    let walk = env.transect(["scan", "--json", "tree"]).exits(0);
    std::fs::write(env.path("answer"), walk.stdout_text()).expect("an answer");
    let cat = env.path("answer").display().to_string();
    let knows = format!("knows=sh -c 'cat {cat}' {{root}}");
    let guesses = "guesses=sh -c 'echo 1' {root}";
    let _ = run(&env, "answers", &["--command", &knows, "--command", guesses]).exits(0);
    let report = report(&env);
    assert_eq!(ranked(&report), ["knows", "transect", "transect (again)"]);
    assert_eq!(report["session"]["floor"], Value::Null);
    assert!(reason(&report, "guesses").starts_with("found something else: "), "{report}");
}

#[test]
fn programs_compared_by_the_lines_they_print() {
    let env = TestEnv::new();
    tree(&env);
    let list = format!("list='{}' list -0 -t f {{root}}", transect().display());
    let commands = [
        ["--command", "find=find {root} -type f"],
        ["--command", &list],
        ["--command", "all=find {root}"],
        ["--command", "others=find {root} -type f -printf '/%p\\n'"],
    ];
    let _ = run(&env, "same-lines", &commands.concat()).exits(0);
    let report = report(&env);
    assert_eq!(ranked(&report), ["find", "find (again)", "list"]);
    assert_eq!(reason(&report, "all"), "found something else: 7 lines instead of 3");
    assert_eq!(reason(&report, "others"), "found something else: 3 lines, but other ones");
    // The base decides, wherever it stands.
    std::fs::remove_file(env.path("session.jsonl")).expect("a session");
    let base = [&commands.concat()[..], &["--base", "all"]].concat();
    let _ = run(&env, "same-lines", &base).exits(0);
    let report = self::report(&env);
    assert_eq!(ranked(&report), ["all", "all (again)"]);
    assert_eq!(reason(&report, "find"), "found something else: 3 lines instead of 7");
    let alone = run(&env, "same-lines", &[]).exits(2).stderr_text();
    assert!(alone.contains("has no programs of its own; give at least two commands"), "{alone}");
}

#[test]
fn starts_measured_on_copies_of_the_programs() {
    let env = TestEnv::new();
    tree(&env);
    env.script("program", "#!/bin/sh\necho \"$0\" >>\"$1/../log\"\nexec du -sb \"$1\"\n");
    let more = ["--command", "script=./program {root}/.", "--methods", "du"];
    let _ = run(&env, "start", &more).exits(0);
    let report = report(&env);
    for name in ["du", "script", "transect", "transect (again)"] {
        assert!(ranked(&report).contains(&name), "{name}: {report}");
    }
    let log = std::fs::read_to_string(env.path("log")).expect("the log");
    let copies: Vec<&str> = log.lines().filter(|line| *line != "./program").collect();
    // The first run of a copy does not count. A disturbed sample is repeated.
    assert!(copies.len() >= 3, "{log}");
    assert!(copies.iter().all(|copy| *copy == copies[0] && copy.ends_with("/program")), "{log}");
    assert!(!std::path::Path::new(copies[0]).exists());
    assert!(log.lines().any(|line| line == "./program"), "its counts are proved by the original");
}

#[test]
fn start_walks_the_tiny_corpus_with_few_programs() {
    let env = TestEnv::new();
    let plan = env.lab(["run", "enumerate", "--preset", "start", "--dry-run"]);
    let plan = plan.exits(0).quiet().stdout_text();
    assert!(plan.contains("1 tree, 1 state, 720 rounds\n"), "{plan}");
    for line in ["  du\n", "  transect\n  transect (again)\n", "makes corpus 'tiny'"] {
        assert!(plan.contains(line), "{plan}");
    }
    assert!(!plan.contains('/'), "no method of the engine: {plan}");
}

#[test]
fn command_that_cannot_be_a_cell_refused() {
    let env = TestEnv::new();
    tree(&env);
    for (more, reason) in [
        (&["--command", "du -sb {root}"][..], "expected NAME=COMMAND"),
        (&["--command", "a=du -sb tree"], "{root} is missing"),
        (&["--command", "a=du -sb {root} > sum"], "to use a shell, write sh -c"),
        (&["--command", "du=du -sb {root}"], "'du' already exists"),
        (&["--command", "transect=du -sb {root}"], "'transect' already exists"),
        (&["--command", "a=nowhere-at-all {root}"], "'nowhere-at-all' cannot be started here"),
        (&["--base", "a"], "no method 'a': a base has to be a method that can run here"),
    ] {
        let refused = run(&env, "programs", more).exits(2);
        assert!(refused.stderr_text().contains(reason), "{more:?}: {}", refused.stderr_text());
        assert!(!env.path("session.jsonl").exists());
    }
}
