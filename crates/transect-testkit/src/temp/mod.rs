//! A directory that is removed when dropped, whatever it contains.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

#[cfg(target_os = "linux")]
pub(crate) use system::remove as remove_tree;

/// A new directory, removed with its content when dropped, including unreadable files and files
/// deeper than any path reaches.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

impl Default for TempDir {
    fn default() -> Self {
        Self::new()
    }
}

impl TempDir {
    /// Creates a directory in the directory for temporary files.
    ///
    /// # Panics
    /// If it cannot be created.
    pub fn new() -> Self {
        Self::below(std::env::temp_dir())
    }

    /// Creates a directory in `parent`, to have it on a certain file system.
    ///
    /// # Panics
    /// If it cannot be created.
    pub fn below(parent: impl AsRef<Path>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = parent.as_ref().canonicalize().expect("the parent is there");
        loop {
            let next = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("transect-{}-{next}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Self { path },
                // Left behind by an earlier process with the same id.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("cannot make '{}': {error}", path.display()),
            }
        }
    }

    /// Returns the path, without links. On Windows it is a verbatim path (`\\?\C:\…`), below which
    /// every name is taken literally.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path in the directory.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.join(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let removed = system::remove(&self.path);
        if !std::thread::panicking() {
            removed
                .unwrap_or_else(|error| panic!("cannot remove '{}': {error}", self.path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trees;

    #[cfg(unix)]
    #[test]
    fn temp_dir_unreadable_removed() {
        use std::os::unix::fs::PermissionsExt;
        let temp = TempDir::new();
        let path = temp.path().to_owned();
        std::fs::create_dir_all(temp.join("a/b/c")).unwrap();
        std::fs::write(temp.join("a/b/c/x"), "x").unwrap();
        for name in ["a/b/c", "a/b", "a"] {
            let nobody = std::fs::Permissions::from_mode(0o000);
            std::fs::set_permissions(temp.join(name), nobody).unwrap();
        }
        drop(temp);
        assert!(!path.exists());
    }

    #[test]
    fn temp_dir_beyond_path_max_removed() {
        let temp = TempDir::new();
        let path = temp.path().to_owned();
        trees::beyond_path_max(&path);
        drop(temp);
        assert!(!path.exists());
    }

    #[cfg(windows)]
    #[test]
    fn temp_dir_read_only_files_removed() {
        let temp = TempDir::new();
        let path = temp.path().to_owned();
        std::fs::create_dir(temp.join("directory")).unwrap();
        std::fs::write(temp.join("directory/file"), "x").unwrap();
        for name in ["directory/file", "directory"] {
            let mut permissions = temp.join(name).metadata().unwrap().permissions();
            permissions.set_readonly(true);
            std::fs::set_permissions(temp.join(name), permissions).unwrap();
        }
        drop(temp);
        assert!(!path.exists());
    }

    /// Wine shows such names but accepts none of them.
    #[cfg(windows)]
    #[test]
    fn temp_dir_unix_names_removed() {
        let temp = TempDir::new();
        let path = temp.path().to_owned();
        std::fs::create_dir_all(temp.join("a/b")).unwrap();
        let script = "touch 'a*b' 'a?b'; mkfifo pipe; ln -s .. up; mkdir 'c:d'; chmod 0 'c:d'";
        crate::unix_shell(&temp.join("a/b"), script);
        drop(temp);
        assert!(!path.exists());
    }
}
