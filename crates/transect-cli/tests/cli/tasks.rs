//! The fifteen tasks of the guide: each command runs as it stands there, and answers the question.

use crate::harness::TestEnv;

const GUIDE: &str = include_str!("../../../../docs/GUIDE.md");

/// Returns the tasks and their commands.
fn tasks() -> Vec<(&'static str, &'static str)> {
    let section = GUIDE.split("\n## Fifteen tasks\n").nth(1).expect("the guide has the section");
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    rows.take_while(|line| line.starts_with('|'))
        .map(|row| {
            let mut cells = row.split('|').map(str::trim).skip(1);
            let (task, command) = (cells.next().expect("a task"), cells.next().expect("a command"));
            (task, command.trim_matches('`'))
        })
        .collect()
}

#[test]
fn guide_tasks_are_one_command_each() {
    let env = TestEnv::new();
    let _ = env.sh("mkdir -p DIR/sub DIR/empty DIR/node_modules A B
        truncate -s 101M DIR/large.iso; printf 12345 >DIR/sub/small.iso; printf x >DIR/sub/core.7
        printf same >A/one; printf same >DIR/two; printf same >DIR/sub/three; printf abc >B/b
        : >DIR/node_modules/left_out; touch -d '100 days ago' DIR/sub/core.7; printf started >app.log")
        .exits(0);
    // What the answer contains, and what it must not contain.
    let answers: [(&str, &[&str], &[&str]); 15] = [
        ("sizes one level deep", &["DIR", "sub", "node_modules"], &[]),
        ("all files of a kind together", &["2 files", "101 MiB"], &[]),
        ("several directories", &["A", "B"], &[]),
        ("files over 100 MB, largest first", &["DIR/large.iso"], &["small"]),
        ("by extension", &["DIR/large.iso", "DIR/sub/small.iso"], &["core"]),
        ("empty files and directories", &["DIR/empty", "left_out"], &["small", "DIR/sub\n"]),
        ("older than 90 days", &["DIR/sub/core.7"], &["small"]),
        ("by regular expression", &["DIR/sub/core.7"], &["small"]),
        ("run a command for each", &[], &[]),
        ("leave a directory out, stop early", &["DIR/sub/small.iso"], &["left_out"]),
        ("export for ncdu", &[], &[]),
        ("by extension, age or owner", &["10 entries"], &[]),
        ("files of the same content", &["DIR/two", "DIR/sub/three"], &["core"]),
        ("the twenty largest files", &["DIR/large.iso", "DIR/sub/core.7"], &["DIR/empty"]),
        ("where the inodes are", &["DIR", "sub"], &[]),
    ];
    let tasks = tasks();
    assert_eq!(tasks.len(), answers.len());
    for ((task, command), (expected, with, without)) in tasks.into_iter().zip(answers) {
        assert_eq!(task, expected);
        let command = command.replacen("transect ", "\"$TRANSECT\" ", 1);
        let said = env.sh(&command).exits(0).stdout_text();
        for text in with {
            assert!(said.contains(text), "{command}: {text}\n{said}");
        }
        for text in without {
            assert!(!said.contains(text), "{command}: {text}\n{said}");
        }
    }
    assert!(env.path("app.log.gz").exists() && env.path("usage.json").exists());
}
