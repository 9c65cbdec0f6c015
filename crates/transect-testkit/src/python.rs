//! A Python with packages of the registry.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::loudly_skip;

/// The packages, in the versions that the registry has when the folder is made.
const PACKAGES: [&str; 9] = [
    "basedpyright",
    "dask[dataframe,distributed]",
    "duckdb",
    "maturin",
    "mypy",
    "pandas",
    "polars",
    "pyarrow",
    "pytest",
];

/// Returns the folder with the programs of a Python that has `PACKAGES`; without a network, reports a
/// skip of `test`. It is made once below `folder`, which is
/// `CARGO_TARGET_TMPDIR` of the test, and stays for later runs.
pub fn python_with_packages(test: &str, folder: &Path) -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // Named after the packages, so that another list makes another folder.
    let whole = folder.join(format!("python-{}", PACKAGES.join("-")));
    let part = whole.with_extension(std::process::id().to_string());
    let install = r#"python3 -m venv "$0" && "$0/bin/python3" -m pip install --quiet \
        --disable-pip-version-check "$@""#;
    if !whole.join("bin/python3").exists() {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(install).arg(&part).args(PACKAGES);
        let installed = shell.status().is_ok_and(|status| status.success());
        // Another process may have made it meanwhile.
        let moved = installed && std::fs::rename(&part, &whole).is_ok();
        if !moved {
            let _ = std::fs::remove_dir_all(&part);
        }
        if !whole.join("bin/python3").exists() {
            loudly_skip(test, format!("pip cannot install {}", PACKAGES.join(", ")));
            return None;
        }
    }
    Some(whole.join("bin"))
}
