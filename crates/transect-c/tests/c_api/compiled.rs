//! Programs in C and C++ on Linux.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect_testkit::TempDir;

use crate::kit::{compiler, has, library, project, run, source, tree};

/// Compiles a program with AddressSanitizer, which also reports leaks at the end, and with checks of
/// undefined behaviour. Allocations of the library count, too: it uses `malloc`.
pub(crate) fn build(program: &str, standard: &str, from: &str, into: &Path) -> PathBuf {
    let built = into.join("program");
    let mut command = compiler(program, standard, library());
    command.args(["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o"]);
    command.arg(&built).arg(source(from)).arg("-L").arg(library().join("lib"));
    run(command.args(["-ltransect", "-lpthread"]));
    built
}

pub(crate) fn program(built: &Path) -> Command {
    let mut command = Command::new(built);
    command.env("LD_LIBRARY_PATH", library().join("lib"));
    command.env("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0");
    command
}

#[test]
fn every_function_with_good_and_bad_arguments() {
    if !has("every_function_with_good_and_bad_arguments", "cc") {
        return;
    }
    let temp = TempDir::new();
    let tree = tree(temp.path());
    let built = build("cc", "-std=gnu99", "tests/c_api/programs/check.c", temp.path());
    let output = run(program(&built).arg(tree));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "checked\n");
}

/// The tests above prove nothing if the sanitizer does not report leaks here.
#[test]
fn leaks_of_objects_are_found() {
    if !has("leaks_of_objects_are_found", "cc") {
        return;
    }
    let temp = TempDir::new();
    let from = "tests/c_api/programs/leak.c";
    let built = build("cc", "-std=c99", from, temp.path());
    let output = program(&built).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("detected memory leaks"), "{said}");
}

#[test]
fn nothing_is_lost_according_to_valgrind() {
    let test = "nothing_is_lost_according_to_valgrind";
    if !has(test, "cc") || !has(test, "valgrind") {
        return;
    }
    let temp = TempDir::new();
    let (tree, built) = (tree(temp.path()), temp.join("program"));
    let mut command = compiler("cc", "-std=c99", library());
    command.arg("-o").arg(&built).arg(source("samples/usage.c"));
    run(command.arg("-L").arg(library().join("lib")).arg("-ltransect"));
    let mut valgrind = Command::new("valgrind");
    // What is possibly lost depends on where threads are as the process ends: on a busy machine more of it than
    // the file names. Pipes for a debugger would be one thing more that can fail.
    valgrind.args(["--leak-check=full", "--errors-for-leak-kinds=definite", "--vgdb=no"]);
    valgrind.arg("--error-exitcode=9");
    valgrind.arg(format!("--suppressions={}", source("transect.supp").display()));
    valgrind.arg(built).arg(tree);
    run(valgrind.env("LD_LIBRARY_PATH", library().join("lib")));
}

#[test]
fn sample_usage_prints_largest_first_and_errors() {
    if !has("sample_usage_prints_largest_first_and_errors", "cc") {
        return;
    }
    let temp = TempDir::new();
    for (path, length) in [("tree/small", 1), ("tree/below/large", 100_000), ("tree/below/x", 1)] {
        fs::create_dir_all(temp.join(path).parent().unwrap()).unwrap();
        fs::write(temp.join(path), vec![b'x'; length]).unwrap();
    }
    let built = build("cc", "-std=c99", "samples/usage.c", temp.path());
    let output = run(program(&built).arg(temp.join("tree")));
    let text = String::from_utf8(output.stdout).unwrap();
    let ends: Vec<&str> = text.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
    assert_eq!(ends, ["below", "small", "tree"], "{text}");
    assert!(text.lines().next().unwrap().contains(" 2 files  "), "{text}");

    let output = program(&built).arg(temp.join("missing")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("usage: cannot access '") && said.contains("/missing'"), "{said}");
}

#[test]
fn sample_resolve_includes_finds_headers_in_order() {
    if !has("sample_resolve_includes_finds_headers_in_order", "g++") {
        return;
    }
    let temp = TempDir::new();
    let (project, system, lines) = project(temp.path());
    let built = build("g++", "-std=c++17", "samples/resolve_includes.cpp", temp.path());
    let include = project.join("include");
    let output = run(program(&built).arg(&project).arg(include).arg(&system));
    let text = String::from_utf8(output.stdout).unwrap();
    let found: Vec<&str> = text.lines().collect();
    assert_eq!(found[..found.len() - 1], lines, "{text}");
    let sums = "3 sources, 4 includes, 1 not found; ";
    assert!(found[found.len() - 1].starts_with(sums), "{text}");
}

#[test]
fn exception_out_of_callback_ends_the_process() {
    if !has("exception_out_of_callback_ends_the_process", "g++") {
        return;
    }
    let temp = TempDir::new();
    let from = "tests/c_api/programs/throws.cpp";
    let built = temp.join("program");
    let mut command = compiler("g++", "-std=c++11", library());
    command.arg("-o").arg(&built).arg(source(from)).arg("-L").arg(library().join("lib"));
    run(command.arg("-ltransect"));
    let output = program(&built).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.signal().is_some(), "{:?} {said}", output.status);
    assert!(said.contains("Rust cannot catch foreign exceptions"), "{said}");
    assert!(output.stdout.is_empty(), "{output:?}");
}
