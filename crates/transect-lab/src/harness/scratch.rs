//! The folder that a session writes to, and nowhere else.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The prefix of its name.
const PREFIX: &str = "transect-lab-scratch-";

/// A lock held by the process that uses the folder; the system releases it however the process ends.
const LOCK: &str = "lock";

/// A folder of a session, removed when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    lock: Option<File>,
}

impl Scratch {
    /// Makes a folder in another one, and removes those that sessions have left there that were
    /// killed.
    ///
    /// # Errors
    /// Whatever the system says.
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

    /// Returns the folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns where an input of so many bytes is.
    pub fn input(&self, size: u64) -> PathBuf {
        self.folder.join(format!("input-{size}"))
    }

    /// Returns where the inputs of many files are.
    pub fn inputs(&self) -> PathBuf {
        self.folder.join("inputs")
    }

    /// Returns where the outputs of many files go, and nothing else.
    pub fn outputs(&self) -> PathBuf {
        self.folder.join("out")
    }

    /// Returns where an output goes.
    pub fn output(&self) -> PathBuf {
        self.outputs().join("output")
    }

    /// Removes outputs, and what was left of them.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn clear(&self) -> io::Result<()> {
        let out = self.outputs();
        std::fs::remove_dir_all(&out)?;
        std::fs::create_dir(out)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Windows removes nothing that is open.
        drop(self.lock.take());
        // What is left is removed by the next session.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Makes a folder one that is held. Until then no other process takes it for abandoned: the lock is empty.
fn begin(folder: &Path) -> io::Result<File> {
    let mut lock = File::create_new(folder.join(LOCK))?;
    lock.try_lock()?;
    lock.write_all(b"held")?;
    std::fs::create_dir(folder.join("out"))?;
    Ok(lock)
}

/// Returns whether a folder was held, and is not any more.
fn is_abandoned(folder: &Path) -> bool {
    let mut held = String::new();
    let lock = File::open(folder.join(LOCK)).and_then(|mut lock| {
        lock.read_to_string(&mut held)?;
        Ok(lock)
    });
    lock.is_ok_and(|lock| !held.is_empty() && lock.try_lock().is_ok())
}

/// Removes the folders that no process holds any more. One that cannot be removed does no harm here.
#[expect(clippy::disallowed_methods, reason = "one folder of our own, not a tree to be measured")]
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
    fn a_folder_goes_with_its_session_and_abandoned_ones_with_the_next() {
        let temp = TempDir::new();
        let abandoned = temp.join(format!("{PREFIX}1"));
        let other = temp.join("transect-lab");
        for folder in [&abandoned, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(LOCK), "held").unwrap();
        }
        let new = temp.join(format!("{PREFIX}2"));
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
