//! `transect query`, with a real DuckDB.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;
use transect_testkit::{python_with_packages, wait_until};

use crate::harness::{Output, Running, TestEnv};

/// Makes `bin` the only directory for programs, with a Python that has DuckDB; reports a skip if there is none.
fn with_duckdb(env: &TestEnv, test: &str) -> Option<()> {
    let python = python_with_packages(test, Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    env.mkdir("bin");
    env.script("bin/python3", &format!("#!/bin/sh\nexec '{}/python3' \"$@\"\n", python.display()));
    Some(())
}

/// Runs `query` in a shell, with arguments as users type them.
fn query(env: &TestEnv, args: &str) -> Output {
    env.sh(&format!(r#"PATH="$PWD/bin:/nowhere" "$TRANSECT" query {args}"#))
}

/// Starts `query` with the same programs.
fn start(env: &TestEnv, args: &[&OsStr]) -> Running {
    let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
    Running::start(command.arg("query").args(args).env("PATH", env.path("bin")))
}

/// Two snapshots of a tree between which something grew.
fn two_snapshots(env: &TestEnv) {
    env.mkdir("tree/sub/empty");
    env.write("tree/sub/file.txt", 5000);
    env.write("tree/gone.iso", 9000);
    env.text("tree/zero", "");
    env.text(Path::new("tree").join(OsStr::from_bytes(b"not \xff UTF-8")), "text");
    let _ =
        env.sh("ln tree/sub/file.txt tree/second; truncate -s 5M tree/sparse; chmod 666 tree/zero");
    let _ = env.transect(["snapshot", "--all-times", "tree", "-o", "a.parquet"]).exits(0).quiet();
    env.write("tree/sub/file.txt", 90_000);
    env.write("tree/new.bin", 20_000);
    let _ = env.sh("rm tree/gone.iso; chmod 600 tree/zero").exits(0);
    let _ = env.transect(["snapshot", "--all-times", "tree", "-o", "b.parquet"]).exits(0).quiet();
}

/// The statements of a document.
fn statements(text: &str) -> Vec<String> {
    let blocks = text.split("```sql\n").skip(1);
    blocks.filter_map(|block| Some(block.split_once("```")?.0.trim().to_owned())).collect()
}

#[test]
fn query_documented_statements_run() {
    let test = "query_documented_statements_run";
    let env = TestEnv::new();
    let Some(()) = with_duckdb(&env, test) else { return };
    two_snapshots(&env);
    let documented = include_str!("../../../../docs/QUERIES.md");
    let statements = statements(documented);
    assert!(statements.len() >= 25, "{}", statements.len());
    // All at once, as a view each: a start of DuckDB takes longer than a statement.
    let mut all = String::new();
    for (number, statement) in statements.iter().enumerate() {
        all += &format!("CREATE TEMP TABLE t{number} AS {statement};\n");
    }
    let counts = (0..statements.len()).map(|it| format!("(SELECT count(*) FROM t{it}) AS t{it}"));
    all += &format!("SELECT {}", counts.collect::<Vec<_>>().join(", "));
    env.text("all.sql", &all);
    let rows =
        query(&env, r#"--json "$(/bin/cat all.sql)" a.parquet b.parquet"#).exits(0).quiet().json();
    let count = |words: &str| {
        let number = statements.iter().position(|it| it.contains(words)).unwrap();
        rows[0][format!("t{number}")].as_u64().unwrap()
    };
    assert!(count("FROM entries WHERE type = 'directory' ORDER BY total_allocated") >= 6);
    assert_eq!(count("name_raw IS NOT NULL"), 2);
    assert_eq!(count("growth > 0 ORDER BY growth DESC"), 1, "the root grew");
    assert_eq!(count("a.mode <> b.mode"), 1);
    assert!(
        count("nlink > 1") == 1 && count("allocated < size / 2") == 2 && count("mode & 2 ") == 1
    );
    assert!(count("type = 'file' AND size = 0") == 4);
    for (number, statement) in statements.iter().enumerate() {
        assert!(rows[0][format!("t{number}")].is_u64(), "{statement}");
    }
}

#[test]
fn query_views_forms_and_exit_codes() {
    let test = "query_views_forms_and_exit_codes";
    let env = TestEnv::new();
    let Some(()) = with_duckdb(&env, test) else { return };
    two_snapshots(&env);
    // The examples of the help.
    let help = env.transect(["query", "--help"]).exits(0).quiet().stdout_text();
    let examples = help.lines().filter_map(|line| line.strip_prefix("    transect query "));
    let examples: Vec<&str> = examples.collect();
    assert!(examples.len() >= 5, "{help}");
    for example in examples {
        let _ = query(&env, example).exits(0).quiet();
    }
    let changes = "SELECT change, relative, growth FROM changes WHERE type <> 'directory' ORDER BY ALL; -- end";
    let changes =
        query(&env, &format!(r#"--json "{changes}" a.parquet b.parquet"#)).exits(0).quiet().json();
    let changes: Vec<(&str, &str)> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["change"].as_str().unwrap(), it["relative"].as_str().unwrap()))
        .collect();
    let grown = ["second", "sub/file.txt", "zero"].map(|path| ("modified", path));
    assert_eq!(changes, [&[("added", "new.bin")][..], &grown, &[("removed", "gone.iso")]].concat());
    let none =
        query(&env, r#"--json "FROM entries WHERE false" a.parquet"#).exits(0).quiet().json();
    assert_eq!(none, Value::Array(Vec::new()));
    let csv = query(&env, r#"--csv "SELECT 'a,b' AS x, NULL AS y" a.parquet a.parquet a.parquet"#);
    assert_eq!(csv.exits(0).quiet().stdout_text(), "x,y\n\"a,b\",\n");
    let wrong = query(&env, r#""SELECT nothing FROM entries" a.parquet"#).exits(1);
    assert!(wrong.stderr_text().contains("nothing") && wrong.stdout.is_empty(), "{}", wrong.text());
    for (args, word) in [
        ("1 missing.parquet", "cannot read 'missing.parquet': No such file"),
        ("1 tree/zero", "'tree/zero' is not a snapshot"),
        ("1 tree", "'tree' is not a snapshot"),
    ] {
        let refused = query(&env, args).exits(2);
        assert!(refused.stderr_text().contains(word), "{args}: {}", refused.text());
    }
}

#[test]
fn query_names_of_files_are_never_interpreted() {
    let test = "query_names_of_files_are_never_interpreted";
    let env = TestEnv::new();
    let Some(()) = with_duckdb(&env, test) else { return };
    env.mkdir("tree");
    let _ = env.transect(["snapshot", "tree", "-o", "good.parquet"]).exits(0).quiet();
    let names: [&[u8]; 3] = [
        b"'); CREATE TABLE hacked(i INT); --",
        b"*[a]?{b,c}.parquet",
        b"line\n.shell touch hacked\xff",
    ];
    for name in names {
        let name = OsStr::from_bytes(name);
        fs::copy(env.path("good.parquet"), env.path(name)).unwrap();
        let statement =
            "SELECT (SELECT count(*) FROM entries) AS n, count(*) AS hacked FROM duckdb_tables()";
        let output =
            start(&env, &["--json".as_ref(), statement.as_ref(), name]).finish().exits(0).quiet();
        let printed = output.stdout_text();
        assert_eq!(printed, "[{\"n\":1,\"hacked\":0}]\n", "{name:?}");
    }
    assert!(!env.path("hacked").exists());
}

#[test]
fn query_without_duckdb_prints_the_statement() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.mkdir("bin");
    let _ = env.transect(["snapshot", "tree", "-o", "it's.parquet"]).exits(0).quiet();
    let printed = query(&env, r#""SELECT 1" "it's.parquet""#).exits(2);
    let sql = printed.stdout_text();
    assert!(
        sql.starts_with("CREATE TEMP VIEW entries AS") && sql.ends_with("SELECT 1;\n"),
        "{sql}"
    );
    assert!(sql.contains("it''s.parquet')"), "{sql}");
    assert!(printed.stderr_text().contains("pip install duckdb"), "{}", printed.text());
    assert_eq!(
        query(&env, r#"--print "SELECT 1;" "it's.parquet""#).exits(0).quiet().stdout_text(),
        sql
    );
    // A program that is too old is named.
    env.script("bin/duckdb", "#!/bin/sh\necho v0.10.3\n");
    let old = query(&env, r#""SELECT 1" "it's.parquet""#).exits(2);
    assert!(old.stderr_text().contains("DuckDB v0.10.3 is too old"), "{}", old.text());
}

#[test]
fn query_program_gets_everything_by_standard_input() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.mkdir("bin");
    let _ = env.transect(["snapshot", "tree", "-o", "a.parquet"]).exits(0).quiet();
    // Stands for the program: records how it is called.
    let script =
        "#!/bin/sh\n[ \"$1\" = --version ] && echo v2.0.0 && exit\necho \"$@\"\n/bin/cat\nexit 7\n";
    env.script("bin/duckdb", script);
    let called =
        query(&env, r#"--csv "SELECT 'secret' -- end" a.parquet"#).exits(7).quiet().stdout_text();
    assert!(called.starts_with("-bail -csv\nCREATE TEMP VIEW entries AS"), "{called}");
    assert!(called.ends_with("SELECT 'secret' -- end\n;\n"), "{called}");
    // Ctrl-C ends it.
    env.script("bin/duckdb", "#!/bin/sh\n[ \"$1\" = --version ] && echo v2.0.0 && exit\n: >started\nexec /bin/sleep 1000\n");
    let running = start(&env, &["SELECT 1".as_ref(), "a.parquet".as_ref()]);
    wait_until("DuckDB runs", || env.path("started").exists());
    running.signal(Signal::INT);
    let _ = running.finish().exits(130).quiet();
}
