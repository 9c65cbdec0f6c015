//! The walk that defines what is in a tree: slow, simple, and sharing no code with any method.
//!
//! It keeps a list of directories instead of recursing, so no tree is too deep. On Linux it reads directories by
//! their paths below an open one, so paths may be longer than the system accepts.

use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::harness::tree_digest::PathPrefix;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryAttributes {
    /// Its length, in bytes.
    pub(crate) length: u64,
    /// Device and inode of a file with several names, on Unix; the link count of a directory counts its
    /// subdirectories, which are not names.
    pub(crate) shared_id: Option<(u64, u64)>,
}

/// An entry of a walk. The root is not one.
#[derive(Debug)]
pub(crate) struct Entry<'w> {
    /// The prefix of its directory.
    pub(crate) parent: PathPrefix,
    pub(crate) name: &'w [u8],
    pub(crate) file_type: FileType,
    /// `None` if they could not be queried, which of a file is an error.
    pub(crate) attributes: Option<EntryAttributes>,
}

/// Receives the entries and the errors of a walk.
pub(crate) struct Visitor<'v> {
    /// Of a directory, returns the prefix of its entries; other values are ignored.
    pub(crate) entry: &'v mut dyn FnMut(Entry<'_>) -> Option<PathPrefix>,
    pub(crate) failed: &'v mut Failed<'v>,
}

/// Receives an operation that failed, the path and the error.
pub(crate) type Failed<'f> = dyn FnMut(&'static str, &Path, io::Error) + 'f;

/// The operation of a directory that cannot be read, or whose rest cannot be read.
const READ: &str = "read directory";

/// The operation of an entry that cannot be queried.
const ACCESS: &str = "access";

/// The longest path below an open directory, in bytes; with a name more, the system still accepts it.
const LONGEST_BELOW: usize = 3000;

/// Returns the attributes of a root, without following a link.
#[expect(clippy::disallowed_methods, reason = "what methods are compared with shares no reader")]
pub(crate) fn attributes(root: &Path) -> io::Result<EntryAttributes> {
    std::fs::symlink_metadata(root).map(|metadata| of_metadata(&metadata))
}

#[cfg(unix)]
fn of_metadata(metadata: &std::fs::Metadata) -> EntryAttributes {
    use std::os::unix::fs::MetadataExt;
    let is_shared = !metadata.is_dir() && metadata.nlink() > 1;
    let shared_id = is_shared.then(|| (metadata.dev(), metadata.ino()));
    EntryAttributes { length: metadata.len(), shared_id }
}

/// The standard library reports no link count.
#[cfg(not(unix))]
fn of_metadata(metadata: &std::fs::Metadata) -> EntryAttributes {
    EntryAttributes { length: metadata.len(), shared_id: None }
}

/// A directory that is still to be read.
struct Directory {
    path: PathBuf,
    prefix: PathPrefix,
    /// The last directory above it that was opened because of the length of its path.
    open: Option<Rc<File>>,
    /// Its path below that one.
    below: PathBuf,
}

impl Directory {
    fn child(&self, name: &OsStr, prefix: PathPrefix) -> Self {
        let (path, below) = (self.path.join(name), self.below.join(name));
        Self { path, prefix, open: self.open.clone(), below }
    }

    /// Returns a path that the system accepts, however long the whole path is.
    fn short_path(&mut self) -> io::Result<PathBuf> {
        if cfg!(target_os = "linux") && self.below.as_os_str().len() > LONGEST_BELOW {
            let opened = File::open(self.path_by_handle())?;
            (self.open, self.below) = (Some(Rc::new(opened)), PathBuf::new());
        }
        Ok(self.path_by_handle())
    }

    fn path_by_handle(&self) -> PathBuf {
        #[cfg(target_os = "linux")]
        if let Some(open) = &self.open {
            let handle = std::os::fd::AsRawFd::as_raw_fd(&**open);
            return Path::new(&format!("/proc/self/fd/{handle}")).join(&self.below);
        }
        self.below.clone()
    }
}

/// Returns the result of an operation on a path; tells its error to `failed`.
fn known<T>(
    result: io::Result<T>,
    operation: &'static str,
    path: impl FnOnce() -> PathBuf,
    failed: &mut Failed<'_>,
) -> Option<T> {
    result.map_err(|error| failed(operation, &path(), error)).ok()
}

/// Walks a tree whose root has this prefix. Links are not followed, except as the root; mount points are
/// crossed.
#[expect(clippy::disallowed_methods, reason = "what methods are compared with shares no reader")]
pub(crate) fn walk(root: &Path, prefix: PathPrefix, visitor: Visitor<'_>) {
    let Visitor { entry: visit, failed } = visitor;
    let (path, below) = (root.to_owned(), root.to_owned());
    let mut waiting = vec![Directory { path, prefix, open: None, below }];
    while let Some(mut directory) = waiting.pop() {
        let read = directory.short_path().and_then(std::fs::read_dir);
        let here = || directory.path.clone();
        let Some(entries) = known(read, READ, here, failed) else { continue };
        for entry in entries {
            let Some(entry) = known(entry, READ, here, failed) else { break };
            let name = entry.file_name();
            let path = || directory.path.join(&name);
            let file_type = entry.file_type();
            let Some(file_type) = known(file_type, ACCESS, path, failed) else { continue };
            let attributes = entry.metadata().map(|metadata| of_metadata(&metadata));
            let attributes = match file_type.is_file() {
                true => known(attributes, ACCESS, path, failed),
                false => attributes.ok(),
            };
            let (parent, bytes) = (directory.prefix, name.as_encoded_bytes());
            let prefix = visit(Entry { parent, name: bytes, file_type, attributes });
            if let Some(prefix) = prefix.filter(|_| file_type.is_dir()) {
                waiting.push(directory.child(&name, prefix));
            }
        }
    }
}
