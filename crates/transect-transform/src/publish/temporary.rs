//! The temporary file that a result is written to.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::leftover::{CreatorProcess, SUFFIX};
use super::target::parent_dir;
use crate::system;

/// A file in the directory of its target, removed when this is dropped.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    /// `None` once it is closed.
    file: Option<File>,
    /// `None` if the file has no name: then nothing is left behind even if this process is killed.
    name: Option<PathBuf>,
}

impl TemporaryFile {
    /// Creates a file for `target`; if `unnamed` is set and the system supports it, without a name.
    pub(super) fn create(target: &Path, mode: u32, unnamed: bool) -> io::Result<Self> {
        if unnamed && let Some(file) = system::create_unnamed(parent_dir(target), mode) {
            return Ok(Self { file: Some(file), name: None });
        }
        let (file, name) = with_unused_name(target, |name| system::create_new(name, mode))?;
        Ok(Self { file: Some(file), name: Some(name) })
    }

    pub(super) fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Closes the file, if it has a name to reopen it by.
    pub(super) fn close_if_named(&mut self) -> io::Result<()> {
        if self.name.is_some() { self.close() } else { Ok(()) }
    }

    /// Closes the file, which is then known only by its name.
    fn close(&mut self) -> io::Result<()> {
        self.file.take().map_or(Ok(()), transect_sys::file::close)
    }

    /// Syncs the file to the device, even if it is closed.
    pub(super) fn sync(&self) -> io::Result<()> {
        match (&self.file, &self.name) {
            (Some(file), _) => file.sync_all(),
            // Windows syncs only handles with write access.
            (None, Some(name)) => {
                File::options().read(true).write(cfg!(windows)).open(name)?.sync_all()
            }
            (None, None) => unreachable!("BUG: closed, and without a name"),
        }
    }

    /// Renames the file to its target, or removes it.
    pub(super) fn put_in_place(mut self, target: &Path, replace: bool) -> io::Result<()> {
        if let (Some(file), None) = (&self.file, &self.name) {
            match system::link_unnamed(file, target) {
                Err(error) if replace && error.kind() == io::ErrorKind::AlreadyExists => {
                    // A target that may be replaced appeared, and only a rename can replace it.
                    let ((), name) =
                        with_unused_name(target, |name| system::link_unnamed(file, name))?;
                    self.name = Some(name);
                }
                // Unnamed files exist only on local file systems, which report no errors on close.
                answer => return answer,
            }
        }
        // Close before the rename: a file system may report write errors only on close, and such a
        // file must not replace anything.
        self.close()?;
        let name = self.name.as_deref().expect("BUG: it was given a name above");
        if replace {
            std::fs::rename(name, target)?;
        } else {
            system::rename_new(name, target)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // Windows cannot remove an open file.
        drop(self.file.take());
        if let Some(name) = &self.name {
            // Report the first error.
            let _ = std::fs::remove_file(name);
        }
    }
}

/// Returns a name for a temporary file that will replace the file `name`; another one at each call.
/// It identifies this process, so that the file can be removed if this process is killed
/// ([`remove_abandoned`](super::remove_abandoned)). A file of that name may exist, left behind by a
/// killed process with the same ID.
pub fn temporary_name(name: &OsStr) -> OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let creator = CreatorProcess::current();
    // A name has at most 255 bytes, and a character takes up to four.
    let name: String = name.to_string_lossy().chars().take(48).collect();
    format!(".{name}.{creator}.{next}{SUFFIX}").into()
}

/// Calls `make` with unused names in the directory of `target`, until one succeeds. Returns the
/// result and the name.
pub(super) fn with_unused_name<T>(
    target: &Path,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    loop {
        let path = target.with_file_name(temporary_name(target.file_name().unwrap_or_default()));
        match make(&path) {
            Ok(made) => return Ok((made, path)),
            // Left behind by a killed process with the same ID.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::is_temporary;
    use transect_testkit::TempDir;

    #[test]
    fn temporary_file_recognised_by_name() {
        let temp = TempDir::new();
        for name in ["file", ".hidden", "a.1.2.transect", &"long".repeat(50)] {
            let made = TemporaryFile::create(&temp.join(name), 0o600, false).unwrap();
            assert!(is_temporary(made.name.as_deref().unwrap().file_name().unwrap()));
        }
        for name in [
            "file",
            "a.1.2.transect",
            ".a.1.transect",
            ".a.1.x.transect",
            ".a.1-2.3.transect",
            ".a.1-0123456-01234567.3.transect",
            ".transect",
        ] {
            assert!(!is_temporary(OsStr::new(name)), "{name}");
        }
    }
}
