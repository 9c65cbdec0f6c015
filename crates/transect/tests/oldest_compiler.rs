//! The oldest compiler that the libraries promise to work with (`rust-version`).
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::path::Path;
use std::process::{Command, Stdio};

use transect_testkit::loudly_skip;

/// Libraries only: what tests depend on may need a newer compiler. The workspace's lock file applies,
/// so this also shows that no dependency has left the old compiler behind.
#[test]
fn libraries_compile_with_oldest_compiler() {
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    let is_there = || rustup(&["run", oldest, "cargo", "--version"]);
    let install = ["toolchain", "install", oldest, "--profile", "minimal", "--no-self-update"];
    // A download may fail for a moment.
    if !is_there() && !(0..3).any(|_| rustup(&install)) {
        let test = "libraries_compile_with_oldest_compiler";
        return loudly_skip(test, format!("rustup cannot install Rust {oldest}"));
    }
    // Kept between runs, and apart from the files of this compiler, which it would rebuild.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("oldest");
    let mut check = Command::new("rustup");
    check.args(["run", oldest, "cargo", "check", "--quiet", "--locked", "--all-features"]);
    for library in ["transect-sys", "transect-volumes", "transect", "transect-cache"] {
        let manifest = format!("{}/../{library}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let promise = format!("rust-version = \"{oldest}\"\n");
        assert!(std::fs::read_to_string(manifest).unwrap().contains(&promise), "{library}");
        check.args(["-p", library]);
    }
    // The loader must not find this compiler's libraries.
    check.env("CARGO_TARGET_DIR", target).env_remove("LD_LIBRARY_PATH");
    let output = check.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{check:?}: {}\n{said}", output.status);
}

/// Runs rustup, and returns whether it succeeds.
fn rustup(args: &[&str]) -> bool {
    let output = Command::new("rustup").args(args).stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}
