//! Compilers, the laid-out library, and the trees that programs read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use transect_testkit::{TempDir, loudly_skip};

/// The top of this repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn header() -> String {
    fs::read_to_string(repository().join("include/transect.h")).unwrap()
}

/// The sources of a program in this crate.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns whether a program is installed; reports a skip of the test `test` if not.
pub(crate) fn has(test: &str, program: &str) -> bool {
    let has = Command::new(program).arg("--version").output().is_ok();
    if !has {
        loudly_skip(test, format!("there is no {program}"));
    }
    has
}

/// Runs a command, which must succeed.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    output
}

/// Lays out a library that cargo built, in a new folder.
pub(crate) fn lay_out(system: &str, built: &Path) -> TempDir {
    let folder = TempDir::new();
    let tool = repository().join("tools/c-library");
    run(Command::new(tool).args(["lay-out", system]).arg(built).arg(folder.path()));
    folder
}

/// The library for Linux, laid out once for all tests of this process.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<TempDir> = OnceLock::new();
    let lay_out = || {
        // Cargo builds it for this test, beside the test itself.
        let test = std::env::current_exe().unwrap();
        lay_out("linux", test.parent().unwrap())
    };
    LIBRARY.get_or_init(lay_out).path()
}

/// A compiler with the arguments for programs that include `transect.h`.
pub(crate) fn compiler(program: &str, standard: &str, library: &Path) -> Command {
    let mut command = Command::new(program);
    command.args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    command.arg("-I").arg(library.join("include"));
    command
}

/// Creates what `check.c` expects in a folder, and returns the tree: nine entries. Beside it are a large
/// tree and, on Linux, one with an error.
pub(crate) fn tree(folder: &Path) -> PathBuf {
    let tree = folder.join("tree");
    fs::create_dir_all(tree.join("a")).unwrap();
    fs::create_dir_all(tree.join("b/deep")).unwrap();
    for (path, text) in [
        ("a/one.h", "123"),
        ("a/two.c", "12345"),
        ("b/deep/three.h", "1234567"),
        ("b/four", ""),
        (".hidden", "1"),
    ] {
        fs::write(tree.join(path), text).unwrap();
    }
    for number in 0..1500 {
        fs::create_dir_all(folder.join(format!("large/{}/{number}", number % 50))).unwrap();
        fs::write(folder.join(format!("large/{}/{number}/four", number % 50)), "").unwrap();
    }
    // Rules that cannot be read: a link to itself.
    fs::create_dir_all(folder.join("errors/.git/info")).unwrap();
    std::os::unix::fs::symlink("exclude", folder.join("errors/.git/info/exclude")).unwrap();
    tree
}

/// Creates a project for the sample that resolves includes, and returns its folder and the output
/// without its last line.
pub(crate) fn project(folder: &Path) -> (PathBuf, PathBuf, Vec<String>) {
    let (project, system) = (folder.join("project"), folder.join("system"));
    for (path, text) in [
        (
            "project/main.cpp",
            "#include \"own.h\"\n#include <both.h>\n  # include <sub/x.hpp>\nint main() {}\n",
        ),
        ("project/own.h", "#pragma once\n#include <missing.h>\n#include broken\n"),
        ("project/include/both.h", ""),
        ("project/build/generated.h", "#include <own.h>\n"),
        ("project/.gitignore", "build\n"),
        ("project/notes.txt", "#include <own.h>\n"),
        ("system/both.h", ""),
        ("system/sub/x.hpp", ""),
    ] {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let line = |from: &str, name: &str, to: Option<&Path>| {
        let to = to.map_or("not found".to_owned(), |to| to.to_str().unwrap().to_owned());
        format!("{}: {name} -> {to}", project.join(from).display())
    };
    let lines = vec![
        line("main.cpp", "own.h", Some(&project.join("own.h"))),
        line("main.cpp", "both.h", Some(&project.join("include/both.h"))),
        line("main.cpp", "sub/x.hpp", Some(&system.join("sub/x.hpp"))),
        line("own.h", "missing.h", None),
    ];
    (project, system, lines)
}
