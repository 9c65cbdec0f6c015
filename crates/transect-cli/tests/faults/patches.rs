//! Patches, in place and to another file; splitting and joining.

use std::path::Path;
use std::process::Command;

use crate::snapshot::Content;
use crate::torture::{Ended, PLAIN, Program, Scenario, torture};

const PATCH: &str = "$TRANSECT patch -i f 0:6f6e65:4f4e45 30000:30:31 59999:30:32";
const JOURNAL: &str = ".f.transect-undo";

fn old() -> Vec<u8> {
    let mut bytes = vec![b'0'; 60_000];
    bytes[..3].copy_from_slice(b"one");
    bytes
}

fn new() -> Vec<u8> {
    let mut bytes = old();
    bytes[..3].copy_from_slice(b"ONE");
    bytes[30_000] = b'1';
    bytes[59_999] = b'2';
    bytes
}

fn file(work: &Path) {
    std::fs::write(work.join("f"), old()).unwrap();
    std::fs::write(work.join("f.new"), new()).unwrap();
    std::fs::write(work.join("f.old"), old()).unwrap();
}

fn shell(work: &Path, script: &str) {
    let status = Command::new("/bin/sh")
        .args(["-ec", script])
        .current_dir(work)
        .env("TRANSECT", env!("CARGO_BIN_EXE_transect"))
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success(), "{script}");
}

/// Creates a patched file with its journal.
fn patched(work: &Path) {
    file(work);
    shell(work, &format!("{PATCH} -k"));
}

/// Creates a partly patched file with its journal.
fn half_patched(work: &Path) {
    use std::os::unix::fs::FileExt;
    patched(work);
    let f = std::fs::File::options().write(true).open(work.join("f")).unwrap();
    f.write_all_at(b"one", 0).unwrap();
}

/// Checks that the file is old or new, or that the journal exists to restore it.
fn is_whole_or_has_journal(ended: &Ended<'_>) -> Result<(), String> {
    let content = |name: &str| ended.found.get(Path::new(name)).map(|node| &node.content);
    let is = |bytes: Vec<u8>| content("f") == Some(&Content::File(bytes));
    match content(JOURNAL) {
        None if is(old()) || is(new()) => Ok(()),
        None => Err("the file is neither old nor new, and there is no journal".to_owned()),
        Some(_) if ended.code == 0 => Err("the journal was left by a success".to_owned()),
        Some(_) => Ok(()),
    }
}

/// The files that a patch in place changes; the file itself is checked with its journal.
const ON_THE_WAY: &[&str] = &["f", JOURNAL];

#[test]
fn patch_in_place_can_be_undone_or_resumed() {
    torture(&Scenario {
        name: "patch in place",
        build: file,
        program: Program::Transect(&[
            "patch",
            "-i",
            "f",
            "0:6f6e65:4f4e45",
            "30000:30:31",
            "59999:30:32",
        ]),
        ignored: ON_THE_WAY,
        also: |ended| {
            let is_new = ended.found[Path::new("f")].content == Content::File(new());
            match ended.code {
                0 if !is_new => Err("exit 0, and the file is not patched".to_owned()),
                _ => is_whole_or_has_journal(ended),
            }
        },
        again: Some(
            "[ ! -e .f.transect-undo ] || $TRANSECT patch f --undo
             cmp -s f f.new || $TRANSECT patch -i f 0:6f6e65:4f4e45 30000:30:31 59999:30:32
             cmp f f.new; [ ! -e .f.transect-undo ]",
        ),
        ..PLAIN
    });
}

#[test]
fn patch_through_link_keeps_journal_beside_file() {
    torture(&Scenario {
        name: "patch in place, through a link",
        build: |work| {
            std::fs::create_dir(work.join("d")).unwrap();
            std::os::unix::fs::symlink("../f", work.join("d/link")).unwrap();
            file(work);
        },
        program: Program::Transect(&["patch", "-i", "-k", "d/link", "0:6f6e65:4f4e45"]),
        ignored: ON_THE_WAY,
        also: |ended| match ended.found.contains_key(Path::new("d/.link.transect-undo")) {
            true => Err("the journal lies beside the link".to_owned()),
            false => Ok(()),
        },
        again: Some(
            "[ ! -e .f.transect-undo ] || $TRANSECT patch d/link --undo; cmp -s f f.old || false",
        ),
        normalize: |_| String::new(),
        ..PLAIN
    });
}

#[test]
fn patch_undo_repeatable_after_any_fault() {
    torture(&Scenario {
        name: "patch undone",
        build: half_patched,
        program: Program::Transect(&["patch", "f", "--undo"]),
        ignored: ON_THE_WAY,
        also: is_whole_or_has_journal,
        again: Some("[ ! -e .f.transect-undo ] || $TRANSECT patch f --undo; cmp f f.old"),
        ..PLAIN
    });
}

#[test]
fn patch_resume_repeatable_after_any_fault() {
    torture(&Scenario {
        name: "patch resumed",
        build: half_patched,
        program: Program::Transect(&["patch", "f", "--resume"]),
        ignored: ON_THE_WAY,
        also: is_whole_or_has_journal,
        again: Some("[ ! -e .f.transect-undo ] || $TRANSECT patch f --resume; cmp f f.new"),
        ..PLAIN
    });
}

#[test]
fn patch_other_file_old_or_new() {
    torture(&Scenario {
        name: "patch into another file",
        build: file,
        program: Program::Transect(&["patch", "f", "0:6f6e65:4f4e45", "-f", "-o", "f.old"]),
        again: Some("$TRANSECT patch f 0:6f6e65:4f4e45 -f -o f.old"),
        ..PLAIN
    });
}

#[test]
fn split_leaves_no_partial_part() {
    torture(&Scenario {
        name: "split",
        build: file,
        program: Program::Transect(&["split", "-s", "25KiB", "--sync", "file", "f"]),
        again: Some("$TRANSECT split -f -s 25KiB f"),
        ..PLAIN
    });
}

#[test]
fn join_leaves_no_partial_file() {
    torture(&Scenario {
        name: "join",
        build: |work| {
            file(work);
            shell(work, "$TRANSECT split -s 25KiB f");
        },
        program: Program::Transect(&["join", "f.parts", "--sync", "file", "-f", "-o", "f.new"]),
        again: Some("$TRANSECT join f.parts -f -o f.new"),
        ..PLAIN
    });
}
