//! Libraries without a command of their own: the attribute cache, and the profiles that the lab
//! stores.

use std::path::{Path, PathBuf};

use transect_cache::{CacheOptions, Level};
use transect_program::profile::{Environment, Profile, ProfileStore};

use crate::answers::is_old_or_ends_with;
use crate::snapshot::Content;
use crate::torture::{Ended, PLAIN, Program, Scenario, torture};

/// Queries a cache three times about existing and missing files, often enough that directories are
/// listed. Returns 1 if a query failed.
pub(crate) fn ask_cache(level: Level) -> i32 {
    let cache = CacheOptions::new(level).base(std::env::current_dir().unwrap()).open().unwrap();
    // Calls count from this one on.
    let _ = std::fs::metadata("begin");
    let mut refused = 0;
    for _ in 0..3 {
        let revalidation = cache.revalidation();
        for directory in ["a", "a/b", "nowhere"] {
            for number in 0..20 {
                let path = format!("{directory}/{number}");
                match revalidation.get(&path) {
                    Ok(attributes) => println!("there {path} {:?}", attributes.size()),
                    Err(refusal) if refusal.is_missing() => println!("missing {path}"),
                    Err(refusal) => {
                        eprintln!("cannot query '{path}': {refusal:?}");
                        refused = 1;
                    }
                }
            }
        }
    }
    refused
}

/// Files reported as missing do not exist; the others have the reported size.
fn is_correct_or_error(ended: &Ended<'_>) -> Result<(), String> {
    for line in ended.stdout.lines() {
        let size = |path: &str| match ended.before.get(Path::new(path)).map(|node| &node.content) {
            Some(Content::File(bytes)) => Some(bytes.len()),
            _ => None,
        };
        let is_true = match line.split(' ').collect::<Vec<_>>()[..] {
            ["missing", path] => size(path).is_none(),
            ["there", path, told] => size(path).is_some_and(|size| told == format!("Some({size})")),
            _ => true,
        };
        if !is_true {
            return Err(format!("'{line}' is wrong"));
        }
    }
    Ok(())
}

fn cache(name: &'static str, role: &'static str) {
    torture(&Scenario {
        name,
        build: |work| {
            std::fs::create_dir_all(work.join("a/b")).unwrap();
            for number in (0..20).step_by(3) {
                std::fs::write(work.join(format!("a/{number}")), "1").unwrap();
                std::fs::write(work.join(format!("a/b/{number}")), "22").unwrap();
            }
        },
        program: Program::Library(role),
        begins_at: Some("begin"),
        inside_only: true,
        normalize: |text| {
            let is_answer =
                |line: &&str| line.starts_with("there ") || line.starts_with("missing ");
            text.lines().filter(is_answer).map(|line| format!("{line}\n")).collect()
        },
        also: is_correct_or_error,
        ..PLAIN
    });
}

#[test]
fn cache_frozen_correct_or_error() {
    cache("attribute cache, frozen", "cache-frozen");
}

#[test]
fn cache_checked_correct_or_error() {
    cache("attribute cache, checked", "cache-checked");
}

/// Replaces a stored profile.
pub(crate) fn store_profile() -> i32 {
    let environment = Environment {
        began: 0,
        cores: 1,
        system: String::new(),
        version: String::new(),
        details: serde_json::Map::new(),
    };
    let file_system = serde_json::Value::Null;
    let profile = Profile::new("x".to_owned(), file_system, PathBuf::from("here"), environment);
    let _ = std::fs::metadata("begin");
    match ProfileStore::of("profiles".into()).store(&profile) {
        Ok(_) => 0,
        Err(error) => {
            eprintln!("{error}");
            2
        }
    }
}

#[test]
fn profile_old_or_new() {
    torture(&Scenario {
        name: "lab profile stored",
        build: |work| {
            std::fs::create_dir(work.join("profiles")).unwrap();
            std::fs::write(work.join("profiles/x.json"), "the one before").unwrap();
        },
        program: Program::Library("profile"),
        begins_at: Some("begin"),
        inside_only: true,
        ignored: &["profiles/x.json"],
        normalize: |_| String::new(),
        also: |ended| is_old_or_ends_with(ended, "profiles/x.json", "}\n"),
        ..PLAIN
    });
}
