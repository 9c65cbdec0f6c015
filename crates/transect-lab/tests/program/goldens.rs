//! Output that must survive a change of structure: the reports of one stored session of each kind. `help.rs`
//! does the same for every `--help`. `page.rs` tests the page in a browser: its text is mostly scripts, in
//! which each comment would count.
//!
//! `cargo insta review` shows what differs.
//!
//! The sessions in `sessions/` were measured with version 0.1.0; in those of walks and transforms, the
//! verdicts on disturbed samples were removed, so that wall times are reported, too.

use serde_json::Value;

use crate::harness::TestEnv;

/// The sessions, by the kind of their experiment; `articles` has published tables beside it.
const SESSIONS: [&str; 4] = ["walk", "articles", "transform", "attributes"];

/// The forms of a report.
const FORMS: [(&str, &[&str]); 4] =
    [("terminal", &[]), ("markdown", &["--markdown"]), ("csv", &["--csv"]), ("json", &["--json"])];

fn session(name: &str) -> String {
    format!("{}/tests/program/sessions/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
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
            let args = ["report", &session(name)];
            let report = env.lab(args.iter().chain(flags)).exits(0).quiet().stdout_text();
            assert_golden(&format!("report-{name}-{form}"), &report);
        }
    }
    let transform = session("transform");
    let explained = env.lab(["explain", &transform]).exits(0).quiet().stdout_text();
    assert_golden("explain-transform", &explained);
    let walk = session("walk");
    let compared = env.lab(["compare", &walk, &walk]).exits(0).quiet().stdout_text();
    assert_golden("compare-walk", &compared);
}

#[test]
fn stored_session_of_csharp_answers_its_questions() {
    let env = TestEnv::new();
    let file = "/../../docs/sessions/article-s1-csharp.jsonl";
    let file = format!("{}{file}", env!("CARGO_MANIFEST_DIR"));
    let report = env.lab(["report", "--json", &file]).exits(0).quiet().json();
    let answers = report["findings"][0]["answers"].as_array().expect("answers");
    let of_dotnet = answers.iter().filter_map(Value::as_str).filter(|it| it.starts_with("dotnet-"));
    assert_eq!(of_dotnet.count(), 5, "{answers:?}");
}

#[test]
fn pages_of_articles_have_the_tables_of_their_sessions() {
    let env = TestEnv::new();
    let folder = format!("{}/../../docs/sessions", env!("CARGO_MANIFEST_DIR"));
    for article in ["s0", "s1", "s2", "s3", "s4"] {
        let page = std::fs::read_to_string(format!("{folder}/{article}.md")).expect("a page");
        let session = format!("{folder}/article-{article}.jsonl");
        let report = env.lab(["report", "--markdown", &session]).exits(0).quiet().stdout_text();
        let tables: Vec<&str> = report.split("### Beside the article").skip(1).collect();
        assert!(!tables.is_empty(), "{article} has no table");
        for table in tables {
            let rest = table.split("\n## ").next().unwrap_or_default();
            let mut lines = rest
                .lines()
                .filter(|line| line.starts_with("| ") || line.starts_with("Comparisons"));
            assert!(lines.all(|line| page.contains(line)), "{article}: {rest}");
        }
    }
}
