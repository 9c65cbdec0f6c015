//! Pythons with packages of the registry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::skip::skip;

/// The packages of [`python_with_packages`], in the versions that the registry has when the directory is made.
const PACKAGES: [&str; 10] = [
    "basedpyright",
    "dask[dataframe,distributed]",
    "duckdb",
    "maturin",
    "mypy",
    "pandas",
    "polars",
    "pyarrow",
    "pytest",
    "tqdm",
];

/// Returns the directory with the programs of the Python of this machine, `python3`, that has `PACKAGES`;
/// without a network, reports a skip of `test`. It is made once below `folder`, which is
/// `CARGO_TARGET_TMPDIR` of the test, and stays for later runs.
pub fn python_with_packages(test: &str, folder: &Path) -> Option<PathBuf> {
    usual_python_with(test, folder, &PACKAGES)
}

/// Returns what [`python_with_packages`] does, with other packages.
pub fn usual_python_with(test: &str, folder: &Path, packages: &[&str]) -> Option<PathBuf> {
    match Python::found(Path::new("python3")) {
        Some(python) => python.with_packages(test, folder, packages),
        None => skip(test, "there is no python3"),
    }
}

/// An interpreter of this machine: CPython with an interpreter lock.
#[derive(Debug)]
pub struct Python {
    program: PathBuf,
    /// The version, such as 3.11.
    pub version: (u32, u32),
}

impl Python {
    /// Returns the oldest and the newest interpreter of this machine that is not older than `least`, without
    /// the one that is `python3`: none, one or two. They are looked for in PATH and in the directory of pyenv.
    pub fn oldest_and_newest(least: (u32, u32)) -> Vec<Self> {
        let mut found: BTreeMap<(u32, u32), Self> = BTreeMap::new();
        for python in programs().iter().filter_map(|program| Self::found(program)) {
            found.entry(python.version).or_insert(python);
        }
        found.retain(|&version, _| version >= least);
        let usual = Self::found(Path::new("python3")).map(|python| python.version);
        let ends = [found.pop_first(), found.pop_last()].into_iter().flatten();
        ends.map(|(_, python)| python).filter(|python| Some(python.version) != usual).collect()
    }

    /// Returns the interpreter that a program is; `None` if it does not run, or is of another kind.
    fn found(program: &Path) -> Option<Self> {
        let code = "import sys, sysconfig; print(sys.implementation.name, *sys.version_info[:2], \
                    sysconfig.get_config_var('Py_GIL_DISABLED') or 0)";
        let output = Command::new(program).args(["-I", "-c", code]).output().ok()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let words: Vec<&str> = printed.split_whitespace().collect();
        let ["cpython", major, minor, "0"] = words[..] else { return None };
        let version = (major.parse().ok()?, minor.parse().ok()?);
        Some(Self { program: program.to_owned(), version })
    }

    /// Returns the directory with the programs of this Python that has these packages, as
    /// [`python_with_packages`] does.
    pub fn with_packages(&self, test: &str, folder: &Path, packages: &[&str]) -> Option<PathBuf> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // Named after what it has, so that another list makes another directory.
        let (major, minor) = self.version;
        let whole = folder.join(format!("python-{major}.{minor}-{}", packages.join("-")));
        let part = PathBuf::from(format!("{}.{}", whole.display(), std::process::id()));
        // Each program compiles what it imports, which is a small part of the packages.
        let install = r#""$0" -m venv "$1" && venv=$1 && shift && "$venv/bin/python3" -m pip install \
            --quiet --disable-pip-version-check --no-compile "$@""#;
        if !whole.join("bin/python3").exists() {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(install).arg(&self.program).arg(&part).args(packages);
            let installed = shell.status().is_ok_and(|status| status.success());
            // Another process may have made it meanwhile.
            let moved = installed && std::fs::rename(&part, &whole).is_ok();
            if !moved {
                let _ = std::fs::remove_dir_all(&part);
            }
            if !whole.join("bin/python3").exists() {
                let packages = packages.join(", ");
                let reason = format!("pip of Python {major}.{minor} cannot install {packages}");
                return skip(test, reason);
            }
        }
        Some(whole.join("bin"))
    }
}

/// Returns the programs that may be interpreters.
fn programs() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_python =
        |name: &str| name.strip_prefix("python3.").is_some_and(|n| n.parse::<u32>().is_ok());
    let mut programs: Vec<PathBuf> = std::env::split_paths(&path)
        .flat_map(|folder| entries(&folder))
        .filter(|program| program.file_name().and_then(|name| name.to_str()).is_some_and(is_python))
        .collect();
    let pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| Some(std::env::home_dir()?.join(".pyenv")));
    let versions = pyenv.map(|pyenv| entries(&pyenv.join("versions"))).unwrap_or_default();
    programs.extend(versions.into_iter().map(|version| version.join("bin/python3")));
    programs
}

/// Returns the paths of what is in a directory, which may be missing.
#[expect(clippy::disallowed_methods, reason = "small directories of programs")]
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
