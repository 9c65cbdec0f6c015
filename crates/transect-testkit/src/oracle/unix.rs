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
    Entry {
        kind: EntryKind::of(metadata),
        device: metadata.dev(),
        number: metadata.ino(),
        size: metadata.size(),
        allocated: Some(metadata.blocks() * 512),
    }
}
