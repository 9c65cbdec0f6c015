//! Output that must survive a change of structure: the man page and the keys of every JSON object. `help.rs`
//! does the same for every `--help`.
//!
//! `cargo insta review` shows what differs.

use rustix::process::Signal;
use serde_json::Value;
use transect_testkit::wait_until;

use crate::harness::TestEnv;

/// Asserts that a text is the one reviewed, byte for byte.
fn assert_golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn man_pages_are_as_reviewed() {
    let env = TestEnv::new();
    for (name, args) in [("man", &["man"][..]), ("man-verify", &["man", "verify"])] {
        let page = env.transect(args).exits(0).quiet().stdout_text();
        env.settings().bind(|| insta::assert_snapshot!(name, page));
    }
}

#[test]
fn json_objects_have_the_keys_reviewed() {
    let env = TestEnv::new();
    env.mkdir("tree/deep");
    env.text("tree/deep/file.txt", "one\ntwo\n");
    std::fs::hard_link(env.path("tree/deep/file.txt"), env.path("tree/link")).unwrap();
    std::os::unix::fs::symlink("link", env.path("tree/symlink")).unwrap();
    env.mkdir("twins");
    for name in ["one", "two"] {
        env.text(format!("twins/{name}"), "the same\n");
    }
    std::fs::hard_link(env.path("twins/one"), env.path("twins/three")).unwrap();
    env.text("sums", "");
    let sums = env.transect(["transform", "blake3", "tree/link"]).exits(0).stdout_text();
    env.text("sums", &sums);
    let service = env.start(["live", "tree", "--idle", "15m"]);
    wait_until("a service", || env.transect(["service", "stats"]).code == Some(0));
    let mut objects = String::new();
    for command in [
        "scan --json tree",
        "scan --json --errors missing tree",
        "usage --json tree",
        "usage --json --files tree",
        "usage --json --by ext tree",
        "usage --json --shared --files twins",
        "list --json tree",
        "list --json --columns name,path,target,owner,group,mode,attributes tree",
        "keep --json tree",
        "history --json tree",
        "history --json",
        "changes --json tree",
        "watch --json --once tree | { read -r ready; echo \"$ready\"; touch tree/deep/new; cat; }",
        "duplicates --json twins",
        "duplicates --json --errors --clone --keep first --yes missing twins",
        "reclaim --json --errors tree",
        "reclaim --json --remove --yes --older 1s missing twins",
        "doctor --json tree",
        "attributes --json tree missing",
        "service stats --json",
        "transform --json eol=crlf tree --check",
        "transform --json blake3 tree",
        "verify --json sums",
        "cache status --json tree",
        "cache drop --json tree",
        "lab list --json",
        "lab list --contract --json",
        "lab corpus list --json",
    ] {
        let output = env.sh(&format!("\"$TRANSECT\" {command}"));
        objects += &format!("$ transect {command}\n");
        let lines = output.stdout_text();
        let mut seen = Vec::new();
        for line in lines.lines() {
            let Ok(value) = serde_json::from_str::<Value>(line) else {
                panic!("{command}: not a JSON object: {line}\n{}", output.text());
            };
            let keys = keys_of(&value);
            if !seen.contains(&keys) {
                objects += &format!("{keys}\n");
                seen.push(keys);
            }
        }
        assert!(!seen.is_empty(), "{command}: {}", output.text());
    }
    service.signal(Signal::TERM);
    let _ = service.finish().exits(0);
    assert_golden("json-keys", &objects);
}

/// Returns the keys of a value; for an array, the distinct keys of its elements. Types are omitted,
/// because a value that one system reports is null on another.
fn keys_of(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let mut keys: Vec<String> = values.iter().map(keys_of).collect();
            keys.sort();
            keys.dedup();
            keys.retain(|keys| !keys.is_empty());
            if keys.is_empty() { String::new() } else { format!("[{}]", keys.join(" | ")) }
        }
        Value::Object(map) => {
            let keys = map.iter().map(|(key, value)| match key.as_str() {
                "schema" => format!("schema={value}"),
                _ => format!("{key}{}", keys_of(value)),
            });
            format!("{{{}}}", keys.collect::<Vec<_>>().join(" "))
        }
        _ => String::new(),
    }
}
