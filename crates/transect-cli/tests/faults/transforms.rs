//! Transforms: whole trees in place and into folders, single files with every method.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use transect_testkit::faults::{self, Errno, Fault, FaultPoint};

use crate::torture::{PLAIN, Program, Scenario, torture};

/// Creates a file of each kind: to be changed, already right, binary, with two names, with
/// attributes to keep, in a directory.
fn tree(work: &Path) {
    std::fs::create_dir(work.join("inner")).unwrap();
    std::fs::write(work.join("attributed"), "one\r\ntwo\r\n").unwrap();
    std::fs::write(work.join("binary"), b"\0\r\n\xff").unwrap();
    std::fs::write(work.join("inner/deep"), "three\r\nfour\r\n".repeat(3000)).unwrap();
    std::fs::write(work.join("linked"), "five\r\n").unwrap();
    std::fs::hard_link(work.join("linked"), work.join("linked-too")).unwrap();
    std::fs::write(work.join("unix"), "six\n").unwrap();
    let attributed = work.join("attributed");
    std::fs::set_permissions(&attributed, std::fs::Permissions::from_mode(0o751)).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    let _ = rustix::fs::setxattr(&attributed, "user.note", b"kept", flags);
}

fn in_place(name: &'static str, arguments: &'static [&'static str], again: &'static str) {
    torture(&Scenario {
        name,
        build: tree,
        program: Program::Transect(arguments),
        ignored: &["journal"],
        always: &[("write", "/journal"), ("fsync", "/work"), ("fsync", "/work/.")],
        again: Some(again),
        normalize: sorted,
        ..PLAIN
    });
}

/// Sorts the lines: with several threads or file systems, their order varies.
fn sorted(text: String) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

#[test]
fn transform_in_place_keeps_old_or_new() {
    in_place(
        "transform in place",
        &["transform", "eol=lf", "-i", "-j1", "."],
        "$TRANSECT transform eol=lf -i .",
    );
}

#[test]
fn transform_in_place_synced_keeps_old_or_new() {
    in_place(
        "transform in place, each file synced",
        &["transform", "eol=lf", "-i", "-p", "--sync", "file", "-j2", "."],
        "$TRANSECT transform eol=lf -i .",
    );
}

#[test]
fn transform_in_place_with_journal_resumable() {
    in_place(
        "transform in place, synced together, with journal",
        &[
            "transform",
            "eol=lf",
            "-i",
            "--sync",
            "batch",
            "--journal",
            "journal",
            "-j1",
            "-g",
            "!journal",
            ".",
        ],
        "$TRANSECT transform eol=lf -i --sync batch --journal journal -g '!journal' .",
    );
}

#[test]
fn transform_into_folder_no_partial_results() {
    torture(&Scenario {
        name: "transform into a directory",
        build: |work| {
            std::fs::create_dir(work.join("in")).unwrap();
            tree(&work.join("in"));
        },
        program: Program::Transect(&["transform", "eol=lf", "-p", "-o", "out/", "-j1", "in"]),
        again: Some("$TRANSECT transform eol=lf -p -f -o out/ in"),
        normalize: sorted,
        ..PLAIN
    });
}

#[test]
fn transform_into_folder_with_journal_resumable() {
    torture(&Scenario {
        name: "transform into a directory, with journal",
        build: |work| {
            std::fs::create_dir(work.join("in")).unwrap();
            tree(&work.join("in"));
        },
        program: Program::Transect(&[
            "transform",
            "gzip",
            "--journal",
            "journal",
            "--sync",
            "file",
            "-o",
            "out/",
            "-j1",
            "in",
        ]),
        ignored: &["journal"],
        again: Some("$TRANSECT transform gzip --journal journal -f -o out/ in"),
        normalize: sorted,
        ..PLAIN
    });
}

/// Creates a file of several blocks, one of them a hole, and an existing target.
fn large(work: &Path) {
    use std::os::unix::fs::FileExt;
    let lines: String = (0..60_000).map(|line| format!("line {line}\r\n")).collect();
    let file = std::fs::File::create(work.join("in")).unwrap();
    file.write_all_at(lines.as_bytes(), 0).unwrap();
    file.write_all_at(lines.as_bytes(), 2 << 20).unwrap();
    std::fs::write(work.join("out"), "what was there before").unwrap();
}

macro_rules! by_method {
    ($($test:ident: $method:literal, $step:literal $(, $more:literal)*;)*) => {$(
        #[test]
        fn $test() {
            torture(&Scenario {
                name: concat!("one file by ", $method),
                build: large,
                program: Program::Transect(&[
                    "transform", $step, "--binary", "--method", $method, "-f", "--sync", "file",
                    "-j1", "-o", "out", "in" $(, $more)*
                ]),
                again: Some(concat!("$TRANSECT transform ", $step, " --binary -f -o out in")),
                ..PLAIN
            });
        }
    )*};
}

by_method! {
    method_buffered_keeps_old_or_new: "buffered", "eol=lf", "--read-back";
    method_streams_keeps_old_or_new: "streams", "eol=lf", "--read-back";
    method_kernel_copy_keeps_old_or_new: "kernel-copy", "copy";
    method_pipeline_keeps_old_or_new: "pipeline", "eol=lf", "--read-back";
    method_mapped_read_keeps_old_or_new: "mapped-read", "eol=lf", "--read-back";
    method_mapped_keeps_old_or_new: "mapped", "copy", "--read-back";
    method_direct_keeps_old_or_new: "direct", "copy", "--read-back";
    method_uring_keeps_old_or_new: "uring", "copy", "--read-back";
    method_direct_uring_keeps_old_or_new: "direct-uring", "copy", "--read-back";
}

#[test]
fn transform_spare_cache_keeps_old_or_new() {
    torture(&Scenario {
        name: "one file past the cache",
        build: large,
        program: Program::Transect(&[
            "transform",
            "eol=lf",
            "--binary",
            "--spare-cache",
            "--sequential",
            "-f",
            "-j1",
            "-o",
            "out",
            "in",
        ]),
        again: Some("$TRANSECT transform eol=lf --binary -f -o out in"),
        ..PLAIN
    });
}

#[test]
fn transform_compressed_result_complete() {
    torture(&Scenario {
        name: "compression of standard input to a file",
        build: large,
        program: Program::Transect(&["transform", "zstd", "in", "-o", "-"]),
        stdout: Some("stream"),
        ..PLAIN
    });
}

/// Creates the journal of a run that stopped before the first file.
fn stopped(work: &Path) {
    tree(work);
    let mut command = faults::command(env!("CARGO_BIN_EXE_transect"));
    command.args([
        "transform",
        "eol=lf",
        "-i",
        "--journal",
        "journal",
        "-j1",
        "-g",
        "!journal",
        ".",
    ]);
    command.current_dir(work).stdout(std::process::Stdio::null());
    let fault = Fault::Error(Errno::EIO);
    let point = FaultPoint { name: "rename", nth: 0, fault, persists: true };
    let outcome = faults::run(command, b"", &|_| true, Some(point)).unwrap();
    assert!(outcome.hit.is_some(), "{outcome:?}");
    let left = std::fs::read_dir(work).unwrap().map(|entry| entry.unwrap().path());
    for temporary in left.filter(|path| path.extension().is_some_and(|name| name == "transect")) {
        std::fs::remove_file(temporary).unwrap();
    }
}

#[test]
fn transform_resumed_skips_only_finished_inputs() {
    torture(&Scenario {
        name: "transform continued by its journal",
        always: &[("statx", "/attributed")],
        build: stopped,
        program: Program::Transect(&[
            "transform",
            "eol=lf",
            "-i",
            "--journal",
            "journal",
            "-j1",
            "-g",
            "!journal",
            ".",
        ]),
        ignored: &["journal"],
        again: Some("$TRANSECT transform eol=lf -i --journal journal -g '!journal' ."),
        normalize: sorted,
        ..PLAIN
    });
}

fn linked(work: &Path) {
    std::fs::write(work.join("file"), "one\r\n").unwrap();
    std::os::unix::fs::symlink("file", work.join("link")).unwrap();
}

#[test]
fn transform_through_link_keeps_link() {
    torture(&Scenario {
        name: "transform in place, through a link",
        build: linked,
        program: Program::Transect(&["transform", "eol=lf", "-i", "link"]),
        again: Some("$TRANSECT transform eol=lf -i link"),
        ..PLAIN
    });
}

#[test]
fn transform_onto_link_keeps_link() {
    torture(&Scenario {
        name: "transform of standard input onto a link",
        build: linked,
        program: Program::Transect(&["transform", "eol=lf", "-f", "-o", "link"]),
        input: b"new\r\n",
        ..PLAIN
    });
}
