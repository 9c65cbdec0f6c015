//! The examples of every `--help`, executed in a prepared tree.
//!
//! A unit test of `src/args.rs` parses all of them with the real parser. Those that need a terminal, a
//! signal, privileges or minutes are only parsed.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use crate::harness::TestEnv;
use crate::help::listed;

/// Beginnings of examples that are only parsed, and the reason.
const PARSED_ONLY: [(&str, &str); 26] = [
    ("transect tui", "needs a terminal"),
    (
        "transect keep --every",
        "starts a timer of the user; series.rs runs it with another systemctl",
    ),
    ("transect map ~", "serves until Ctrl-C"),
    ("transect map -x", "serves until Ctrl-C"),
    ("transect map --since", "serves until Ctrl-C"),
    ("transect map --open", "serves until Ctrl-C"),
    ("transect query", "needs DuckDB; query.rs runs them"),
    ("transect live", "serves until Ctrl-C"),
    ("transect service git-hook", "needs a followed working tree; followed.rs has one"),
    ("transect service watch-helper", "serves until Ctrl-C; live.rs runs it"),
    ("transect service watchman", "needs a service; watchman.rs starts one"),
    ("transect watch", "waits for changes; watch.rs makes some"),
    ("transect lab run enumerate --path src", "takes minutes"),
    ("transect lab run enumerate --corpus", "takes minutes"),
    ("transect lab run enumerate --preset", "takes minutes, and needs another build"),
    ("transect lab run enumerate --resume", "needs an interrupted session"),
    ("transect lab run transform", "takes a minute"),
    ("transect lab run attributes", "takes a minute"),
    ("transect diff --exit-code", "the snapshots differ, so it exits with 1"),
    ("transect lab compare --force", "the sessions were not measured alike"),
    ("transect lab tune", "takes a minute, and needs root for cold caches"),
    ("transect lab list", "prepares contenders, as tests of lab.rs do"),
    ("transect lab corpus create users", "creates 100,000 files"),
    ("transect changes --journal", "needs a volume of Windows; journal.rs makes one"),
    ("transect reclaim --keep", "exits with 1 where less space is available"),
    ("transect history --host", "needs the snapshots of another machine"),
];

/// Examples that end with another exit code than 0.
const CODES: [(&str, i32, &str); 3] = [
    ("transect transform eol=lf trim --check src", 1, "files would change"),
    ("transect changes --since 3d src", 2, "the snapshots are newer"),
    ("transect changes --since 2026-01-31 --top 5 src", 2, "the snapshots are newer"),
];

/// Collects the examples of a command and its subcommands, by command.
fn collect(env: &TestEnv, command: &[String], all: &mut BTreeMap<String, Vec<String>>) {
    let args = command.iter().map(String::as_str).chain(["--help"]);
    let help = env.transect(args).exits(0).quiet().stdout_text();
    let examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let examples = examples.take_while(|line| !line.is_empty());
    let examples = examples.filter_map(|line| line.strip_prefix("    ")).map(str::to_owned);
    all.insert(command.join(" "), examples.collect());
    for (name, _) in listed(env, command) {
        let command: Vec<String> = command.iter().cloned().chain([name]).collect();
        collect(env, &command, all);
    }
}

/// Creates what the examples mention: sources, an image, lists, sessions.
fn prepare(env: &TestEnv) {
    for dir in ["src/sub", "docs", "usb", "home", "photos", "archive", "inbox"] {
        env.mkdir(dir);
    }
    env.text("src/main.rs", "fn main() {}\r\n");
    env.text("src/sub/lib.rs", "pub fn lib() {} \n");
    env.text("app.log", "started\n");
    env.text("notes.txt", "one\ntwo\n");
    env.text("docs/old.md~", "draft\n");
    env.text("paths.txt", "notes.txt\nsrc\n");
    symlink("notes.txt", env.path("link")).expect("a new link");
    env.write("backup.img", 5_000_000);
    let sessions = concat!(env!("CARGO_MANIFEST_DIR"), "/../transect-lab/tests/program/sessions");
    for (from, to) in [
        ("walk", "walk.jsonl"),
        ("walk", "before.jsonl"),
        ("walk", "after.jsonl"),
        ("walk", "laptop.jsonl"),
        ("articles", "server.jsonl"),
        ("transform", "transform.jsonl"),
    ] {
        std::fs::copy(format!("{sessions}/{from}.jsonl"), env.path(to)).expect("a stored session");
    }
    let store = "\"$TRANSECT\" snapshot docs -o before.parquet && \"$TRANSECT\" snapshot src -o after.parquet";
    let _ = env.sh(store).exits(0);
    let parts = "\"$TRANSECT\" task --first src >task.json && \"$TRANSECT\" task --in task.json --out parts";
    let _ = env.sh(parts).exits(0);
    let digests = "\"$TRANSECT\" transform blake3 src >src.b3";
    let _ = env.sh(digests).exits(0);
}

/// Creates the additional files that one command needs.
fn prepare_for(env: &TestEnv, command: &str) {
    match command {
        "history" => {
            let _ = env.sh("\"$TRANSECT\" keep . src").exits(0);
        }
        "find" => {
            let _ = env.sh("\"$TRANSECT\" snapshot src -o a.parquet").exits(0);
        }
        _ => {}
    }
}

/// Returns a script that runs another one while a service answers. The log is emptied first: the service
/// does that only once its process runs, and until then an earlier one seems to answer.
fn with_service(script: &str) -> String {
    format!(
        ": >service.log
        \"$TRANSECT\" live --idle 15m 2>service.log & service=$!
        until grep -q 'listening at' service.log; do kill -0 $service || exit 9; done
        ln -sf \"$XDG_RUNTIME_DIR/transect/cache.sock\" cache.sock
        ({script}); code=$?
        kill $service; wait $service && exit $code"
    )
}

fn run(env: &TestEnv, command: &str, example: &str) -> Result<(), String> {
    let code = CODES.iter().find(|(line, ..)| *line == example).map_or(0, |(_, code, _)| *code);
    // The name of the program, as a user types it.
    let script = format!("HOME=\"$PWD/home\"; transect() {{ \"$TRANSECT\" \"$@\"; }}; {example}");
    let output = match command.starts_with("service ") {
        true => env.sh(&with_service(&script)),
        false => env.sh(&script),
    };
    match output.code {
        Some(ended) if ended == code => Ok(()),
        _ => Err(format!("{command}: {example}\n{}", output.text())),
    }
}

#[test]
fn examples_of_every_command_run() {
    let mut commands = BTreeMap::new();
    collect(&TestEnv::new(), &[], &mut commands);
    assert!(commands.len() > 25, "{:?}", commands.keys());
    let mut used = Vec::new();
    let mut failed = Vec::new();
    for (command, examples) in &commands {
        let is_parsed_only = |example: &&String| {
            let start = PARSED_ONLY.iter().position(|(start, _)| example.starts_with(start));
            used.extend(start);
            start.is_none()
        };
        let examples: Vec<&String> = examples.iter().filter(is_parsed_only).collect();
        if examples.is_empty() {
            continue;
        }
        let env = TestEnv::new();
        prepare(&env);
        prepare_for(&env, command);
        failed.extend(examples.iter().filter_map(|example| run(&env, command, example).err()));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    for (place, (start, why)) in PARSED_ONLY.iter().enumerate() {
        assert!(used.contains(&place), "no example starts with '{start}' ({why})");
    }
}
