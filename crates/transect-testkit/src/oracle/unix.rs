//! The oracle on Unix: everything comes from `lstat`.

use std::fs::{DirEntry, Metadata};
use std::io::Result;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{Entry, EntryKind};

#[expect(clippy::disallowed_methods, reason = "the oracle is independent of the readers")]
pub(super) fn root(path: &Path) -> Result<Entry> {
    std::fs::symlink_metadata(path).map(|metadata| entry(&metadata))
}

pub(super) fn listed(entry: &DirEntry) -> Result<Entry> {
    root(&entry.path())
}

fn entry(metadata: &Metadata) -> Entry {
    let file_type = metadata.file_type();
    let kind = if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_symlink() {
        EntryKind::Symlink
    } else {
        EntryKind::Other
    };
    Entry {
        kind,
        device: metadata.dev(),
        number: metadata.ino(),
        size: metadata.size(),
        allocated: Some(metadata.blocks() * 512),
    }
}
