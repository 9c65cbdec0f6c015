//! The hidden directory of the parts of a scan, beside its output. What a killed process left is removed by the next one.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::input::open_regular;

use transect_program::CliError;

const PREFIX: &str = ".transect-parts-";

/// The name of the lock file. The process that uses the directory holds the lock; the system releases it when the
/// process ends, even if it is killed.
const LOCK: &str = "lock";

/// The directory, removed on drop.
#[derive(Debug)]
pub(super) struct PartsDirectory {
    path: PathBuf,
    name: String,
    lock: Option<File>,
}

impl PartsDirectory {
    /// Makes a directory, and removes those that no process uses.
    pub(super) fn new(beside: &Path) -> Result<Self, CliError> {
        remove_abandoned(beside);
        loop {
            let name = format!("{PREFIX}{:016x}", transect_sys::host::random());
            let path = beside.join(&name);
            match make(&path) {
                Ok(Some(lock)) => return Ok(Self { path, name, lock: Some(lock) }),
                // Another process took it for abandoned before it was locked, and removes it.
                Ok(None) => {}
                Err(error) => return Err(CliError::cannot("create", &path)(error)),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn lies_in(&self, directory: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real(&self.path).starts_with(real(directory))
    }
}

impl Drop for PartsDirectory {
    fn drop(&mut self) {
        // Windows cannot remove open files.
        drop(self.lock.take());
        // The next process removes leftovers.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Makes a directory and locks it; `None` if another process was faster.
fn make(path: &Path) -> io::Result<Option<File>> {
    fs::create_dir(path)?;
    let lock = match File::create_new(path.join(LOCK)) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let _ = fs::remove_dir(path);
            return Err(error);
        }
    };
    // Without locks on this file system, others cannot take the directory for abandoned either.
    let is_taken = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
    Ok((!is_taken && path.join(LOCK).exists()).then_some(lock))
}

/// Removes directories whose processes ended. Errors are ignored: a directory that stays does no harm.
#[expect(clippy::disallowed_methods, reason = "one directory, not a tree to be measured")]
fn remove_abandoned(beside: &Path) {
    for entry in fs::read_dir(beside).into_iter().flatten().flatten() {
        let is_meant = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_meant {
            continue;
        }
        let path = entry.path();
        let _ = match open_regular(&path.join(LOCK)) {
            Ok(lock) if lock.try_lock().is_ok() => fs::remove_dir_all(path),
            Ok(_) => Ok(()),
            // A process that has not made the file yet makes another directory. The file is the first one in a directory: if others
            // are there without it, a process was killed while it removed them.
            Err(_) => match fs::remove_dir(&path) {
                Err(_) if !path.join(LOCK).exists() => fs::remove_dir_all(path),
                end => end,
            },
        };
    }
}
