//! Directories for one user alone: for programs that are built and run, profiles, sockets and
//! scratch files.
//!
//! In a directory that every user may write to, such as `/tmp`, another user can create a directory
//! or a link with the expected name beforehand, and put programs into it. A private directory is
//! therefore created for its owner only, and an existing one is accepted only if no other user can
//! have changed it. On Windows, directories below the user's profile inherit its access list and
//! are not checked.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

use crate::host::random;

/// The access of other users to a private directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherUsers {
    /// Neither read nor write.
    NoAccess,
    /// Read, but not write.
    ReadOnly,
}

/// Creates a directory for its owner only, unless it exists, and checks that it is private. Its
/// parent must exist.
///
/// # Errors
/// The directory cannot be created, or is not private: see [`exists`]. The message names the path.
pub fn create(path: &Path, others: OtherUsers) -> io::Result<()> {
    match builder(false).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(failed("create", path, &error))
        }
        _ => exists(path, others).map(drop),
    }
}

/// Like [`create`], but also creates missing parents. Parents are not checked.
///
/// # Errors
/// The errors of [`create`], or a parent cannot be created.
pub fn create_all(path: &Path, others: OtherUsers) -> io::Result<()> {
    let above = path.parent().unwrap_or(Path::new("/"));
    builder(true).create(above).map_err(|error| failed("create", above, &error))?;
    create(path, others)
}

fn failed(operation: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {operation} '{}': {error}", path.display()))
}

/// Returns whether something exists at a path, and checks that it is a private directory. Returns true on
/// systems where access is not checked.
///
/// # Errors
/// The path exists but is not a directory (a link to one is not), belongs to another user, or gives
/// other users more access than `others` allows ([`io::ErrorKind::PermissionDenied`]).
#[cfg(unix)]
pub fn exists(path: &Path, others: OtherUsers) -> io::Result<bool> {
    use crate::{FieldMask, FileType};

    let want = FieldMask::MODE | FieldMask::UID;
    let found = match crate::file::query_attributes(path, want, false) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed("access", path, &error)),
    };
    // Unknown permissions count as granted.
    let has = |bits: u16| found.mode().is_none_or(|mode| mode & bits != 0);
    let path = path.display();
    let reason = match others {
        _ if found.file_type() != FileType::Directory => format!("'{path}' is not a directory"),
        _ if found.uid() != Some(rustix::process::geteuid().as_raw()) => {
            format!("'{path}' belongs to another user")
        }
        OtherUsers::NoAccess if has(0o077) => format!("'{path}' is open to other users"),
        OtherUsers::ReadOnly if has(0o022) => format!("other users can write to '{path}'"),
        _ => return Ok(true),
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

/// Returns true: access is not checked here.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn exists(_: &Path, _: OtherUsers) -> io::Result<bool> {
    Ok(true)
}

/// Returns a builder of directories that only their owner can access.
fn builder(recursive: bool) -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(recursive);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// A new private directory for temporary files with an unpredictable name. Removed with its content
/// on drop.
#[derive(Debug)]
pub struct PrivateTempDir {
    path: PathBuf,
}

impl PrivateTempDir {
    /// Creates the directory. Its name begins with `transect-` and `purpose`.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn new(purpose: &str) -> io::Result<Self> {
        let temporary = std::env::temp_dir();
        loop {
            let random = random();
            let path = temporary.join(format!("transect-{purpose}-{random:016x}"));
            match builder(false).create(&path) {
                // Never reuses an existing directory.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|()| Self { path }),
            }
        }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateTempDir {
    fn drop(&mut self) {
        // Leftovers are left to the cleanup of temporary files.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use transect_testkit::TempDir;

    fn mode(path: &Path) -> u32 {
        path.metadata().expect("it exists").permissions().mode() & 0o777
    }

    fn dir_with_mode(path: &Path, mode: u32) {
        fs::create_dir(path).expect("a new directory");
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("a new directory");
    }

    #[test]
    fn private_dir_created_for_owner_only_and_accepted_again() {
        let temp = TempDir::new();
        let dir = temp.join("above/own");
        assert!(
            create(&dir, OtherUsers::ReadOnly).unwrap_err().to_string().contains("cannot create")
        );
        for _ in 0..2 {
            create_all(&dir, OtherUsers::NoAccess).unwrap();
        }
        assert_eq!((mode(&dir), mode(&temp.join("above"))), (0o700, 0o700));
        assert!(exists(&dir, OtherUsers::NoAccess).unwrap());
        assert!(!exists(&temp.join("missing"), OtherUsers::NoAccess).unwrap());
    }

    #[test]
    fn private_dir_writable_by_others_refused() {
        let temp = TempDir::new();
        for (mode, excluded, may_read) in [
            (0o700, true, true),
            (0o755, false, true),
            (0o770, false, false),
            (0o702, false, false),
        ] {
            let dir = temp.join(format!("{mode:o}"));
            dir_with_mode(&dir, mode);
            assert_eq!(create(&dir, OtherUsers::NoAccess).is_ok(), excluded, "{mode:o}");
            assert_eq!(create(&dir, OtherUsers::ReadOnly).is_ok(), may_read, "{mode:o}");
        }
        let why = create(&temp.join("770"), OtherUsers::ReadOnly).unwrap_err().to_string();
        assert!(why.starts_with("other users can write to '"), "{why}");
    }

    #[test]
    fn private_dir_link_or_file_refused() {
        let temp = TempDir::new();
        dir_with_mode(&temp.join("own"), 0o700);
        symlink("own", temp.join("link")).unwrap();
        symlink("nowhere", temp.join("dangling")).unwrap();
        fs::write(temp.join("file"), "").unwrap();
        for name in ["link", "dangling", "file"] {
            let why = create_all(&temp.join(name), OtherUsers::ReadOnly).unwrap_err().to_string();
            assert!(why.ends_with(&format!("{name}' is not a directory")), "{why}");
        }
    }

    #[test]
    fn private_dir_of_other_user_refused() {
        let test = "private_dir_of_other_user_refused";
        if !rustix::process::geteuid().is_root() {
            return transect_testkit::loudly_skip(test, "only root can change the owner");
        }
        let temp = TempDir::new();
        dir_with_mode(&temp.join("foreign"), 0o700);
        chown(temp.join("foreign"), Some(65534), None).unwrap();
        for others in [OtherUsers::NoAccess, OtherUsers::ReadOnly] {
            let why = exists(&temp.join("foreign"), others).unwrap_err().to_string();
            assert!(why.ends_with("foreign' belongs to another user"), "{why}");
        }
    }

    #[test]
    fn private_temp_dir_private_and_removed_on_drop() {
        let [one, other] = [(); 2].map(|()| PrivateTempDir::new("test").unwrap());
        assert_ne!(one.path(), other.path());
        assert_eq!(mode(one.path()), 0o700);
        fs::write(one.path().join("file"), "").unwrap();
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
    }
}
