//! The wheel for Windows, and its tests (`python/tests_on_windows`) with a Python for Windows under Wine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect_testkit::{TempDir, WindowsProgram, loudly_skip, on_drive, python_with_packages};

use crate::{copy, repository};

/// A version of org.bytedeco:cpython, which has a Python for Windows.
const PYTHON: &str = "3.14.3-1.5.13";
const PACKAGES: [&str; 2] = ["pyarrow", "pytest"];

/// The libraries that Windows has, which the extension may import, and that of Python's stable interface.
const LIBRARIES: [&str; 9] = [
    "advapi32.dll",
    "api-ms-win-core-synch-l1-2-0.dll",
    "bcryptprimitives.dll",
    "kernel32.dll",
    "msvcrt.dll",
    "ntdll.dll",
    "python3.dll",
    "userenv.dll",
    "ws2_32.dll",
];

/// Returns a command that finds the programs of this Python first.
fn with_python(program: impl AsRef<Path>, python: &Path) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(python.to_owned()).chain(std::env::split_paths(&path));
    let mut command = Command::new(program.as_ref());
    command.env("PATH", std::env::join_paths(folders).unwrap());
    command
}

/// Runs a command, and returns its output; panics if it fails.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the folder of a Python for Windows, which is made once; without a network, reports a skip of `test`.
fn python_for_windows(test: &str, python: &Path) -> Option<PathBuf> {
    let name = format!("python-for-windows-{PYTHON}-{}", PACKAGES.join("-"));
    let whole = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if !whole.exists() {
        let part = PathBuf::from(format!("{}.{}", whole.display(), std::process::id()));
        let mut tool = with_python(repository().join("tools/python-for-windows"), python);
        let made = tool.arg(PYTHON).arg(&part).args(PACKAGES).status();
        // Another process may have made it meanwhile.
        let moved = made.is_ok_and(|it| it.success()) && std::fs::rename(&part, &whole).is_ok();
        if !moved {
            let _ = std::fs::remove_dir_all(&part);
        }
        if !whole.exists() {
            loudly_skip(test, "tools/python-for-windows fails");
            return None;
        }
    }
    Some(whole)
}

/// Builds the wheel as `make python-windows` does, without optimization, and returns its path.
fn build_wheel(python: &Path, folder: &Path) -> PathBuf {
    let mut maturin = with_python(repository().join("tools/windows"), python);
    maturin.args(["maturin", "build", "--profile", "dev", "--locked", "--out"]).arg(folder);
    run(maturin.current_dir(repository().join("python")));
    let name = format!("transect-{}-cp310-abi3-win_amd64.whl", env!("CARGO_PKG_VERSION"));
    folder.join(name)
}

/// Returns the names of the libraries that a library imports, in lower case.
fn imports(library: &Path) -> BTreeSet<String> {
    let headers = run(Command::new("x86_64-w64-mingw32-objdump").arg("-p").arg(library));
    let names = headers.lines().filter_map(|line| line.trim().strip_prefix("DLL Name: "));
    names.map(str::to_lowercase).collect()
}

#[test]
fn wine_package_passes_its_tests() {
    let test = "wine_package_passes_its_tests";
    let Some(exe) = WindowsProgram::find(test) else { return };
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(python) = python_with_packages(test, tools) else { return };
    let Some(windows_python) = python_for_windows(test, &python) else { return };
    let folder = TempDir::new();
    let wheel = build_wheel(&python, folder.path());

    // pip accepts it for Windows, and for the oldest Python as for this one.
    let site = folder.join("site");
    for version in ["3.10", "3.14"] {
        let mut pip = with_python(python.join("python3"), &python);
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--upgrade"]);
        pip.args(["--platform", "win_amd64", "--only-binary", ":all:", "--python-version"]);
        run(pip.arg(version).arg("--target").arg(&site).arg(&wheel));
    }
    let imported = imports(&site.join("transect/_native.pyd"));
    assert!(imported.contains("python3.dll"), "{imported:?}");
    assert!(imported.iter().all(|name| LIBRARIES.contains(&&name[..])), "{imported:?}");

    for name in ["tests_on_windows", "pyproject.toml"] {
        copy(&repository().join("python").join(name), &folder.join(name));
    }
    // Also for the processes that tests start.
    let code = format!(
        "import os, sys; os.environ['PYTHONPATH'] = {0:?}; sys.path.insert(0, {0:?}); \
         import pytest; sys.exit(pytest.main(sys.argv[1:]))",
        on_drive(&site)
    );
    let trees = format!("--basetemp={}", on_drive(&folder.join("trees")));
    let tests = on_drive(&folder.join("tests_on_windows"));
    let python = exe.other(windows_python.join("python.exe"));
    let options = ["-X", "utf8", "-c", &code, "-p", "no:cacheprovider", "--quiet", &trees, &tests];
    let said = String::from_utf8(python.run(options)).unwrap();
    assert!(!said.lines().last().unwrap_or_default().contains("skipped"), "{said}");
}
