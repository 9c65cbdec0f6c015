//! Output under faults: with exit code 0 it is correct, and output files are complete.

use std::fs::File;
use std::path::Path;

use serde_json::Value;

use crate::torture::{Ended, PLAIN, Program, Scenario, torture};

/// Creates directories that take several listing calls with a small buffer.
fn tree(work: &Path) {
    for directory in ["a", "a/b", "c", "empty"] {
        std::fs::create_dir(work.join(directory)).unwrap();
    }
    for number in 0..40 {
        std::fs::write(work.join(format!("a/file-{number:02}")), "1").unwrap();
        std::fs::write(work.join(format!("a/b/name-{number:02}")), "22").unwrap();
    }
    std::fs::write(work.join("c/alone"), vec![0; 5000]).unwrap();
    std::fs::hard_link(work.join("c/alone"), work.join("a/alone")).unwrap();
    std::os::unix::fs::symlink("alone", work.join("c/link")).unwrap();
    // Sets fixed times, so that all runs are equal.
    for directory in ["a/b", "a", "c", "empty", "."] {
        for entry in std::fs::read_dir(work.join(directory)).unwrap() {
            old(&entry.unwrap().path());
        }
        old(&work.join(directory));
    }
}

fn old(path: &Path) {
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    File::open(path).unwrap().set_modified(time).unwrap();
}

fn sorted(text: String) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Checks that `complete` in the object agrees with the exit code.
fn reports_whether_complete(ended: &Ended<'_>) -> Result<(), String> {
    let Ok(Value::Object(object)) = serde_json::from_str(ended.stdout) else {
        return if ended.code == 0 { Err("it is not an object".to_owned()) } else { Ok(()) };
    };
    match object.get("complete") {
        Some(&Value::Bool(complete)) if complete == (ended.code == 0) => Ok(()),
        other => Err(format!("exit {}, and complete is {other:?}", ended.code)),
    }
}

fn without_time(text: String) -> String {
    let Ok(Value::Object(mut object)) = serde_json::from_str(&text) else {
        return text;
    };
    // Removes how the result was found, what is free on the disk, and the largest files: among files of one size, any may be
    // listed.
    for key in ["elapsed_ns", "threads", "reader", "order", "disk", "largest_files"] {
        object.remove(key);
    }
    serde_json::to_string_pretty(&object).unwrap()
}

#[test]
fn scan_complete_or_reported_incomplete() {
    torture(&Scenario {
        name: "scan --json",
        build: tree,
        program: Program::Transect(&["scan", "--json", "."]),
        normalize: without_time,
        also: reports_whether_complete,
        ..PLAIN
    });
}

#[test]
fn scan_portable_reader_complete_or_reported_incomplete() {
    torture(&Scenario {
        name: "scan --json, portable",
        build: tree,
        program: Program::Transect(&["scan", "--json", "--reader", "portable", "-j1", "."]),
        normalize: without_time,
        also: reports_whether_complete,
        ..PLAIN
    });
}

#[test]
fn list_exit_code_zero_complete() {
    torture(&Scenario {
        name: "list",
        build: tree,
        program: Program::Transect(&["list", "."]),
        normalize: sorted,
        ..PLAIN
    });
}

#[test]
fn list_with_attributes_exit_code_zero_complete() {
    torture(&Scenario {
        name: "list --csv --one-file-system, with attributes",
        build: tree,
        program: Program::Transect(&[
            "list",
            "--one-file-system",
            "--csv",
            "--columns",
            "path,type,size,nlink",
            "--sort",
            "path",
            "-j1",
            ".",
        ]),
        ..PLAIN
    });
}

#[test]
fn list_into_full_device_fails() {
    torture(&Scenario {
        name: "list to a file",
        build: tree,
        program: Program::Transect(&["list", "--sort", "path", "."]),
        stdout: Some("listed"),
        ..PLAIN
    });
}

#[test]
fn usage_exit_code_zero_complete() {
    torture(&Scenario {
        name: "usage --json",
        build: tree,
        program: Program::Transect(&["usage", "--json", "a"]),
        normalize: without_time,
        ..PLAIN
    });
}

#[test]
fn attributes_correct_or_error() {
    torture(&Scenario {
        name: "attributes --from -",
        build: tree,
        program: Program::Transect(&[
            "attributes",
            "--json",
            "--columns",
            "type,size",
            "--from",
            "-",
        ]),
        input: b"a/file-00\na/nothing\nc/alone\nc/link\nnowhere/nothing\nc\n",
        ..PLAIN
    });
}

#[test]
fn verify_never_reports_false_match() {
    torture(&Scenario {
        name: "verify",
        build: |work| {
            std::fs::write(work.join("empty"), "").unwrap();
            std::fs::write(work.join("x"), "x").unwrap();
            let lines = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262  empty\n";
            std::fs::write(work.join("manifest"), lines).unwrap();
        },
        program: Program::Transect(&["verify", "manifest"]),
        ..PLAIN
    });
}

#[test]
fn ncdu_export_old_or_new() {
    torture(&Scenario {
        name: "usage --export-ncdu",
        build: |work| {
            tree(work);
            std::fs::write(work.join("export"), "the one before").unwrap();
        },
        program: Program::Transect(&["usage", "--export-ncdu", "export", "a"]),
        ignored: &["export"],
        always: &[("statx", "/export")],
        also: |ended| is_old_or_ends_with(ended, "export", "]\n"),
        ..PLAIN
    });
}

#[test]
fn map_old_or_new() {
    torture(&Scenario {
        name: "map --html",
        build: |work| {
            tree(work);
            std::fs::write(work.join("page"), "the one before").unwrap();
        },
        program: Program::Transect(&["map", "--html", "page", "a"]),
        ignored: &["page"],
        always: &[("statx", "/page")],
        also: |ended| is_old_or_ends_with(ended, "page", "</html>\n"),
        ..PLAIN
    });
}

/// Checks a file whose content contains times and differs between runs: a complete one has its end.
pub(crate) fn is_old_or_ends_with(ended: &Ended<'_>, name: &str, end: &str) -> Result<(), String> {
    let path = Path::new(name);
    let node = ended.found.get(path).ok_or_else(|| format!("'{name}' is missing"))?;
    let is_new = matches!(&node.content, crate::snapshot::Content::File(bytes) if bytes.ends_with(end.as_bytes()));
    let is_old = node.is_untouched(&ended.before[path]);
    match (is_new, is_old) {
        (true, _) if node.is_same_file(&ended.before[path]) => {
            Err(format!("'{name}' was overwritten in place"))
        }
        (true, _) => Ok(()),
        // After a failed read, nothing is written.
        (_, true) if ended.code != 0 => Ok(()),
        _ => Err(format!("'{name}' is neither old nor new")),
    }
}

#[test]
fn lab_session_resumable() {
    torture(&Scenario {
        name: "lab run: the session's log",
        build: |work| {
            std::fs::create_dir(work.join("tree")).unwrap();
            std::fs::write(work.join("tree/file"), "x").unwrap();
        },
        program: Program::Transect(&[
            "lab",
            "run",
            "enumerate",
            "--path",
            "tree",
            "--state",
            "as-is",
            "--rounds",
            "1",
            "--methods",
            "portable/queue",
            "--no-calls",
            "-o",
            "log.jsonl",
        ]),
        ignored: &["log.jsonl", "log.html"],
        always: &[("write", "/log.jsonl")],
        // The contenders are prepared before the log is created: each run takes long.
        begins_at: Some("/log.jsonl"),
        sample: 4,
        normalize: |_| String::new(),
        inside_only: true,
        again: Some(
            "run='lab run enumerate --no-calls'
             # On a broken device removing fails, too.
             [ -s log.jsonl ] || rm -f log.jsonl
             if [ -e log.jsonl ]; then $TRANSECT $run --resume log.jsonl
             else $TRANSECT $run --path tree --state as-is --rounds 1 --methods portable/queue -o log.jsonl
             fi >/dev/null
             [ $(grep -c '\"record\":\"sample\"' log.jsonl) -gt 2 ]",
        ),
        ..PLAIN
    });
}
