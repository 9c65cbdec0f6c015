//! Output that must survive a change of structure: the man page, the keys of every JSON object, and all
//! reports of one stored session of each kind. `help.rs` does the same for every `--help`.
//!
//! `cargo insta review` shows what differs.
//!
//! The sessions in `sessions/` were measured with version 0.1.0; in those of walks and transforms, the
//! verdicts on disturbed samples were removed, so that wall times are reported, too.

use rustix::process::Signal;
use serde_json::Value;
use transect_testkit::wait_until;

use crate::harness::TestEnv;

/// The sessions, by the kind of their experiment; `articles` has published tables beside it.
const SESSIONS: [&str; 4] = ["walk", "articles", "transform", "attributes"];

/// The forms of a report.
const FORMS: [(&str, &[&str]); 4] =
    [("terminal", &[]), ("markdown", &["--markdown"]), ("csv", &["--csv"]), ("json", &["--json"])];

fn session(name: &str) -> String {
    format!("{}/tests/cli/sessions/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// Asserts that a text is the one reviewed, byte for byte.
fn assert_golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn reports_of_stored_sessions_are_as_reviewed() {
    let env = TestEnv::new();
    for name in SESSIONS {
        for (form, flags) in FORMS {
            let args = ["lab", "report", &session(name)];
            let report = env.transect(args.iter().chain(flags)).exits(0).quiet().stdout_text();
            assert_golden(&format!("report-{name}-{form}"), &report);
        }
        // Most of a page is its scripts: a digest is enough to notice a change. The nonce is random.
        let page = format!("\"$TRANSECT\" lab report '{}' --html -", session(name));
        let sum = format!("{page} | sed -E 's/[0-9a-f]{{32}}/NONCE/g' | sha256sum");
        assert_golden(&format!("report-{name}-page"), &env.sh(&sum).exits(0).quiet().stdout_text());
    }
    let transform = session("transform");
    let explained = env.transect(["lab", "explain", &transform]).exits(0).quiet().stdout_text();
    assert_golden("explain-transform", &explained);
    let walk = session("walk");
    let compared = env.transect(["lab", "compare", &walk, &walk]).exits(0).quiet().stdout_text();
    assert_golden("compare-walk", &compared);
    // Relative names, as reports of several sessions show the files.
    for name in ["walk", "articles"] {
        std::fs::copy(session(name), env.path(format!("{name}.jsonl"))).expect("a copy");
    }
    for (form, flags) in FORMS {
        let merge = ["lab", "merge", "walk.jsonl", "articles.jsonl"];
        let merged = env.transect(merge.iter().chain(flags)).exits(0).quiet().stdout_text();
        assert_golden(&format!("merge-walks-{form}"), &merged);
    }
}

#[test]
fn stored_session_of_csharp_answers_its_questions() {
    let env = TestEnv::new();
    let file = "/../../docs/sessions/article-s1-csharp.jsonl";
    let file = format!("{}{file}", env!("CARGO_MANIFEST_DIR"));
    let report = env.transect(["lab", "report", "--json", &file]).exits(0).quiet().json();
    let answers = report["findings"][0]["answers"].as_array().expect("answers");
    let of_dotnet = answers.iter().filter_map(Value::as_str).filter(|it| it.starts_with("dotnet-"));
    assert_eq!(of_dotnet.count(), 5, "{answers:?}");
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
    let service = env.start(["serve", "--cache", "--root", "tree"]);
    wait_until("a service", || env.transect(["service", "stats"]).code == Some(0));
    let mut objects = String::new();
    for command in [
        "scan --json tree",
        "scan --json --errors missing tree",
        "usage --json tree",
        "usage --json --files tree",
        "usage --json --by ext tree",
        "list --json tree",
        "list --json --columns name,path,target,owner,group,mode,attributes tree",
        "keep --json tree",
        "history --json tree",
        "history --json",
        "changes --json tree",
        "duplicates --json twins",
        "duplicates --json --errors --clone --keep first --yes missing twins",
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
