//! Runs the tests of the Python package (`python/tests`) with the extension that cargo built.

#![cfg(not(windows))]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect_testkit::{TempDir, loudly_skip, python_with_packages};

/// The top of this repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Copies the files of a folder and of those below it.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-R").arg(from).arg(to).status().unwrap();
    assert!(copied.success(), "cp -R {} {}", from.display(), to.display());
}

/// Lays out the package as a wheel does, with its tests beside it.
fn lay_out() -> TempDir {
    let (folder, sources) = (TempDir::new(), repository().join("python"));
    for name in ["transect", "tests", "pyproject.toml"] {
        copy(&sources.join(name), &folder.join(name));
    }
    copy(&repository().join("docs/PYTHON.md"), &folder.join("PYTHON.md"));
    // Cargo builds it for this test, beside the test itself.
    let test = std::env::current_exe().unwrap();
    let name =
        format!("{}transect_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let built = test.parent().unwrap().join(name);
    fs::copy(&built, folder.join("transect/_native.abi3.so")).unwrap();
    folder
}

#[test]
fn package_passes_its_tests() {
    let test = "package_passes_its_tests";
    if Command::new("python3").arg("--version").output().is_err() {
        return loudly_skip(test, "there is no python3");
    }
    let Some(python) = python_with_packages(test, Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    let package = lay_out();
    let mut pytest = Command::new(python.join("python3"));
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--quiet", "--basetemp"]);
    pytest.arg(package.join("trees")).current_dir(package.path());
    pytest.env("PYTHONPATH", package.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = pytest.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let last = said.lines().last().unwrap_or_default();
    assert!(!last.contains("skipped"), "{said}");
}
