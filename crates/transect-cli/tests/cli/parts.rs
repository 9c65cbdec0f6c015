//! `split`, `join` and `patch`.

use std::fs;

use crate::harness::{TestEnv, assert_output};

#[test]
fn split_join_round_trip_detects_changes() {
    let env = TestEnv::new();
    env.text("file", "abcdefghij");
    assert_output!(env, env.transect(["split", "file", "--size", "4"]), @r"
    exit code: 0
    ----- stdout -----
    manifest 'file.parts': 3 parts, 10 B, blake3 [digest]
    ");
    assert_eq!(fs::read(env.path("file.000003")).unwrap(), b"ij");
    assert_output!(env, env.transect(["join", "file.parts", "-o", "again"]), @r"
    exit code: 0
    ----- stdout -----
    file 'again': 3 parts, 10 B, blake3 [digest]
    ");
    assert_eq!(fs::read(env.path("again")).unwrap(), b"abcdefghij");
    assert_output!(env, env.transect(["join", "file.parts", "-o", "again"]), @r"
    exit code: 2
    ----- stderr -----
    transect: cannot replace 'again': it already exists
    ");
    env.text("file.000002", "efgH");
    let refused = env.transect(["join", "file.parts", "-o", "third"]).exits(2).stderr_text();
    assert!(refused.contains("file.000002"), "{refused}");
    assert!(!env.path("third").exists());
    let none = env.transect(["split", "file", "--size", "0"]).exits(2).stderr_text();
    assert!(none.contains("must be at least 1"), "{none}");
    let json = env.transect(["split", "file", "-s", "5", "-o", "other", "--json"]).exits(0).json();
    assert_eq!((&json["parts"], &json["size"]), (&2.into(), &10.into()));
}

#[test]
fn patch_in_place_and_undo() {
    let env = TestEnv::new();
    env.text("file", "0123456789");
    let patch = |args: &[&str]| env.transect(["patch", "file"].iter().chain(args));
    assert_output!(env, patch(&["3:33:58", "0x5:3536:5960", "-i", "-k"]), @r"
    exit code: 0
    ----- stdout -----
    file: 3 bytes changed; --undo restores the old bytes from '.file.transect-undo'
    ");
    assert_eq!(fs::read(env.path("file")).unwrap(), b"012X4Y`789");
    let journal = "hint: an earlier patch left this journal; --undo restores the old bytes, --resume completes it";
    assert!(patch(&["3:33:58", "-i"]).exits(2).stderr_text().contains(journal));
    // The hint is not printed for a journal that other users may have written.
    env.chmod(&env.path(".file.transect-undo"), 0o620);
    let planted = patch(&["3:33:58", "-i"]).exits(2).stderr_text();
    assert!(
        planted.contains("it is not trusted, as others than its owner may use it"),
        "{planted}"
    );
    assert!(!planted.contains("--undo"), "{planted}");
    env.chmod(&env.path(".file.transect-undo"), 0o600);
    assert_output!(env, patch(&["--undo"]), @r"
    exit code: 0
    ----- stdout -----
    file: 3 bytes changed
    ");
    assert_eq!(fs::read(env.path("file")).unwrap(), b"0123456789");
    assert!(!env.path(".file.transect-undo").exists());
    for (args, message) in [
        (&["3:34:58", "-i"][..], "cannot patch 'file': 33 is not the expected 34 at byte 3"),
        (&["3:33", "-i"], "3:33: not of the form OFFSET:OLD:NEW"),
        (&["3:33:58"], "no destination given; use --in-place or --output PATH"),
        (&["-i"], "no edits given"),
        (&["--undo"], "cannot read '.file.transect-undo': No such file or directory"),
    ] {
        let said = patch(args).exits(2).stderr_text();
        assert!(said.contains(message), "{args:?}: {said}");
    }
    let _ = patch(&["3:33:58", "-o", "new"]).exits(0).quiet();
    assert_eq!(fs::read(env.path("new")).unwrap(), b"012X456789");
    fs::write(env.path("ips"), b"PATCH\0\0\x01\0\x01!EOF").unwrap();
    assert_output!(env, patch(&["--with", "ips", "-o", "third"]), @r"
    exit code: 0
    ----- stdout -----
    third
    ----- stderr -----
    transect: hint: this patch has no checksum of its input; check that it belongs to this file
    ");
    assert_eq!(fs::read(env.path("third")).unwrap(), b"0!23456789");
}
