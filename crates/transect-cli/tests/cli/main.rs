//! The program from outside: arguments in; output, messages and exit codes out.
//!
//! Expected results come from `std::fs`, `find` and `du`. A test that lacks a program or a privilege
//! prints `SKIPPED` and the reason on stderr; with `TRANSECT_NO_SKIP` set it fails.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the program is compared with plain std::fs")]

mod attributes;
mod bounded;
mod btrfs_since;
mod cache;
mod changes_for;
mod chroot;
mod diff;
mod distributed;
mod distributed_kills;
mod duplicates;
mod duplicates_digests;
mod examples;
mod find;
mod followed;
mod followed_again;
mod generate;
mod git_socket;
mod goldens;
mod harness;
mod help;
mod history_page;
mod hostile;
mod image;
mod interchange;
#[cfg(target_os = "linux")]
mod journal;
mod limits;
mod list;
mod list_exec;
mod list_forms;
mod live;
mod map;
mod map_changes;
mod map_served;
mod messages;
mod parts;
mod planted;
mod query;
mod random;
mod reclaim;
mod scan;
mod screens;
mod series;
mod shared;
mod signals;
mod snapshot;
mod start;
mod stopped;
mod strangers;
mod tasks;
mod terminal;
mod transform;
mod tree;
mod tui;
mod usage;
mod watch;
mod watchman;
mod wine;
mod wine_volume;

/// A file that is not declared is never compiled: its tests would never run.
#[test]
fn test_files_all_declared_as_modules() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let mut modules = 0;
    for entry in std::fs::read_dir(&here).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if path.extension().is_none_or(|extension| extension != "rs") || stem == "main" {
            continue;
        }
        modules += 1;
        assert!(
            include_str!("main.rs").lines().any(|line| line == format!("mod {stem};")),
            "tests/cli/{stem}.rs is not a module of tests/cli/main.rs"
        );
    }
    assert!(modules > 0, "no modules in {}", here.display());
}
