//! The scratch directory of a session. A session writes nowhere else.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const PREFIX: &str = "transect-lab-scratch-";

/// The name of the lock file. The process that uses the directory holds the lock; the system releases it when
/// the process ends, even if it is killed.
const LOCK: &str = "lock";

const OUTPUTS: &str = "out";

/// The scratch directory of a session, removed on drop.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    lock: Option<File>,
}

impl Scratch {
    /// Creates a scratch directory in `parent`, and removes those that killed sessions have left there.
    pub fn new(parent: &Path) -> io::Result<Self> {
        let parent = parent.canonicalize()?;
        remove_abandoned(&parent);
        let process = std::process::id();
        let folder = parent.join(format!("{PREFIX}{process}"));
        std::fs::create_dir(&folder)?;
        match begin(&folder) {
            Ok(lock) => Ok(Self { folder, lock: Some(lock) }),
            Err(error) => {
                let _ = std::fs::remove_dir_all(&folder);
                Err(error)
            }
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the directory that it was created in.
    pub fn parent(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    pub fn input(&self, size: u64) -> PathBuf {
        self.folder.join(format!("input-{size}"))
    }

    /// Returns the path of the output of one file, in a directory that contains nothing else.
    pub fn output(&self) -> PathBuf {
        self.folder.join(OUTPUTS).join("output")
    }

    pub fn clear(&self) -> io::Result<()> {
        let out = self.folder.join(OUTPUTS);
        std::fs::remove_dir_all(&out)?;
        std::fs::create_dir(out)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Windows cannot remove open files.
        drop(self.lock.take());
        // The next session removes leftovers.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Locks a directory and writes to the lock file. While the lock file is empty, other processes do not treat
/// the directory as abandoned.
fn begin(folder: &Path) -> io::Result<File> {
    let mut lock = File::create_new(folder.join(LOCK))?;
    lock.try_lock()?;
    lock.write_all(b"held")?;
    std::fs::create_dir(folder.join(OUTPUTS))?;
    Ok(lock)
}

/// Returns whether a directory was locked once and is not locked now.
fn is_abandoned(folder: &Path) -> bool {
    let mut held = String::new();
    let lock = File::open(folder.join(LOCK)).and_then(|mut lock| {
        lock.read_to_string(&mut held)?;
        Ok(lock)
    });
    lock.is_ok_and(|lock| !held.is_empty() && lock.try_lock().is_ok())
}

/// Removes abandoned directories, and ignores errors: a leftover directory does no harm.
#[expect(
    clippy::disallowed_methods,
    reason = "one directory of our own, not a tree to be measured"
)]
fn remove_abandoned(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let folder = entry.path();
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_ours && is_abandoned(&folder) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn scratch_removed_on_drop_and_abandoned_ones_by_next_session() {
        let temp = TempDir::new();
        let abandoned = temp.join(format!("{PREFIX}abandoned"));
        let other = temp.join("transect-lab");
        for folder in [&abandoned, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(LOCK), "held").unwrap();
        }
        let new = temp.join(format!("{PREFIX}new"));
        std::fs::create_dir(&new).unwrap();
        std::fs::write(new.join(LOCK), "").unwrap();
        let scratch = Scratch::new(temp.path()).unwrap();
        assert!(!abandoned.exists() && other.exists() && new.exists());
        std::fs::write(scratch.output(), "x").unwrap();
        scratch.clear().unwrap();
        assert!(!scratch.output().exists());
        remove_abandoned(temp.path());
        assert!(scratch.output().parent().unwrap().exists(), "it is held");
        let folder = scratch.folder.clone();
        drop(scratch);
        assert!(!folder.exists());
    }
}
