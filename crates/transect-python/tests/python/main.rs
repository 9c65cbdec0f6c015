//! Runs the tests of the Python package (`python/tests`) with the extension that cargo built, and packs
//! its source distribution; the wheel for Windows under Wine.

#![cfg(not(windows))]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]
#![allow(clippy::disallowed_methods, reason = "tests read small directories")]

mod on_windows;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect_testkit::{Python, TempDir, loudly_skip, python_with_packages};

/// The oldest Python that the package is for: `requires-python` in `python/pyproject.toml`.
const OLDEST: (u32, u32) = (3, 10);

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
    for name in ["DISTRIBUTED.md", "PYTHON.md", "python.ipynb"] {
        copy(&repository().join("docs").join(name), &folder.join(name));
    }
    copy(&repository().join("docs/examples"), &folder.join("examples"));
    let golden = "crates/transect-snapshot/tests/golden/version-1.parquet";
    fs::copy(repository().join(golden), folder.join("tests/version-1.parquet")).unwrap();
    // Cargo builds it for this test, beside the test itself.
    let test = std::env::current_exe().unwrap();
    let name =
        format!("{}transect_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let built = test.parent().unwrap().join(name);
    fs::copy(&built, folder.join("transect/_native.abi3.so")).unwrap();
    folder
}

/// Runs the tests of the package with a Python, with these options of pytest.
fn run_tests(test: &str, python: &Path, options: &[&str]) {
    let package = lay_out();
    let own = Command::new(python.join("python3")).args(["-c", "import test.test_os"]).output();
    if !own.unwrap().status.success() {
        loudly_skip(test, "in part: the tests that come with Python are not installed");
    }
    let mut pytest = Command::new(python.join("python3"));
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--quiet", "--basetemp"]);
    pytest.arg(package.join("trees")).args(options).current_dir(package.path());
    pytest.env("PYTHONPATH", package.path());
    // Cargo builds the program in the directory above this test.
    let program = std::env::current_exe().unwrap().parent().unwrap().with_file_name("transect");
    match program.exists() {
        true => _ = pytest.env("TRANSECT", program),
        false => loudly_skip(test, "in part: the program transect is not built"),
    }
    let output = pytest.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.lines().last().unwrap_or_default().contains("skipped"), "{said}");
}

#[test]
fn package_passes_its_tests() {
    let test = "package_passes_its_tests";
    let Some(python) = python_with_packages(test, Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    run_tests(test, &python, &[]);
}

/// One build of the extension is for all versions of Python. On a machine with one version, the test above
/// is all that there is to run.
#[test]
fn package_passes_its_tests_on_the_oldest_and_the_newest_python() {
    let test = "package_passes_its_tests_on_the_oldest_and_the_newest_python";
    for python in Python::oldest_and_newest(OLDEST) {
        let packages = ["duckdb", "pandas", "polars", "pyarrow", "pytest", "tqdm"];
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let Some(programs) = python.with_packages(test, folder, &packages) else { continue };
        // Dask and fsspec, which these tests use, are not installed there.
        let ignored = ["tests/test_distributed.py", "tests/test_fsspec.py"];
        let ignored = ignored.map(|name| ["--ignore", name]).concat();
        run_tests(test, &programs, &[&["-m", "not once"], &ignored[..]].concat());
    }
}

/// Returns the names of all files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let below = |entry: fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => files(&entry.path()),
        false => vec![entry.path()],
    };
    let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let mut found: Vec<PathBuf> = entries.flat_map(|entry| below(entry.unwrap())).collect();
    found.sort();
    found
}

/// Returns names and versions of the packages that Cargo.lock lists.
fn locked(top: &Path) -> BTreeSet<String> {
    let list = fs::read_to_string(top.join("Cargo.lock")).unwrap();
    let packages = list.split("[[package]]").skip(1);
    packages.map(|package| package.lines().skip(1).take(2).collect()).collect()
}

#[test]
fn build_without_rust_fails_at_once() {
    let test = "build_without_rust_fails_at_once";
    let Some(python) = python_with_packages(test, Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    let mut build = Command::new(python.join("python3"));
    build.args(["-B", "-c", "import build_backend; build_backend.get_requires_for_build_wheel()"]);
    let build =
        build.current_dir(repository().join("python")).env("PATH", &python).output().unwrap();
    let told = String::from_utf8_lossy(&build.stderr);
    assert!(!build.status.success() && told.contains("needs cargo"), "{told}");
}

#[test]
fn source_distribution_has_all_sources() {
    let test = "source_distribution_has_all_sources";
    let Some(python) = python_with_packages(test, Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    let folder = TempDir::new();
    let mut maturin = Command::new(python.join("maturin"));
    maturin.arg("sdist").arg("--out").arg(folder.path()).current_dir(repository().join("python"));
    let packed = maturin.output().unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let name = format!("transect-{}", env!("CARGO_PKG_VERSION"));
    let archive = folder.join(format!("{name}.tar.gz"));
    let unpacked =
        Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder.path()).status().unwrap();
    assert!(unpacked.success());
    let top = folder.join(name);

    // The crates in it are all that the extension needs, and their sources are complete.
    // Of this system's crates only: those of others need not be here.
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--offline", "--package", "transect-python"]);
    let tree = tree.current_dir(top.join("crates/transect-python")).output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    // Cargo has shortened its list of packages, and changed no version.
    let (shortened, whole) = (locked(&top), locked(&repository()));
    assert!(shortened.len() > 50 && shortened.is_subset(&whole), "{shortened:?}");
    let mut sources = 0;
    for entry in fs::read_dir(top.join("crates")).unwrap() {
        let krate = entry.unwrap().file_name();
        let within = |top: &Path| {
            let source = top.join("crates").join(&krate).join("src");
            let relative = |file: PathBuf| file.strip_prefix(&source).unwrap().to_owned();
            files(&source).into_iter().map(relative).collect::<Vec<_>>()
        };
        assert_eq!(within(&top), within(&repository()), "{}", krate.display());
        sources += within(&top).len();
    }
    assert!(sources > 200, "{sources}");
    for file in ["__init__.py", "_filters.py", "_native.pyi", "_progress.py", "py.typed"] {
        assert!(top.join("transect").join(file).exists(), "{file}");
    }
    assert!(top.join("LICENSE-MIT").exists() && top.join("LICENSE-APACHE").exists());
}
