//! The program as its users meet it: arguments in; output, messages and exit codes out.
//!
//! What is expected is computed in the tests with `std::fs`, or asked of `find` and `du`. Where a
//! program or a privilege is missing, a test says `SKIPPED` on stderr and why; with
//! `TRANSECT_NO_SKIP` set that is a failure.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the program is compared with plain std::fs")]

mod attributes;
mod cache;
mod corpus;
mod examples;
mod folders;
mod generate;
mod goldens;
mod harness;
mod help;
mod hostile;
mod import;
mod interchange;
mod lab;
mod lab_attributes;
mod lab_transform;
mod limits;
mod list;
mod map;
mod messages;
mod page;
mod parts;
mod scan;
mod serve;
mod signals;
mod start;
mod stopped;
mod strangers;
mod terminal;
mod transform;
mod tree;
mod tui;
mod tune;
mod usage;
mod wine;

/// A file that nobody declares is never compiled: its tests would pass for ever.
#[test]
fn every_file_in_this_directory_is_a_module() {
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
