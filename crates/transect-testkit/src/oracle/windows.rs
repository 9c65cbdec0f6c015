//! The oracle on Windows: the type comes from the listing, size and file id come from an open
//! handle. Allocated bytes are unknown: `std` cannot query them, and the oracle shares no code with
//! the readers.

use std::fs::{DirEntry, Metadata, OpenOptions};
use std::io::Result;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use winapi_util::file::information;

use super::{Entry, EntryKind};

/// `FILE_READ_ATTRIBUTES`, and the flags to open directories and links themselves.
const READ_ATTRIBUTES: u32 = 0x80;
const BACKUP_SEMANTICS: u32 = 0x0200_0000;
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;

const ATTRIBUTE_REPARSE_POINT: u32 = 0x400;

#[expect(clippy::disallowed_methods, reason = "the oracle is independent of the readers")]
pub(super) fn root(path: &Path) -> Result<Entry> {
    entry(path, &std::fs::symlink_metadata(path)?)
}

pub(super) fn listed(entry: &DirEntry) -> Result<Entry> {
    self::entry(&entry.path(), &entry.metadata()?)
}

/// `metadata` comes from the listing: under Wine, opening a link always opens its target.
fn entry(path: &Path, metadata: &Metadata) -> Result<Entry> {
    // Wine presents links as directories with tag 0, which are directories to `std`. No test
    // creates other tags that are not links (of cloud files).
    let leads_on = metadata.is_dir() && metadata.file_attributes() & ATTRIBUTE_REPARSE_POINT != 0;
    let kind = if leads_on { EntryKind::Symlink } else { EntryKind::of(metadata) };
    let file = OpenOptions::new()
        .access_mode(READ_ATTRIBUTES)
        .custom_flags(BACKUP_SEMANTICS | OPEN_REPARSE_POINT)
        .open(path)?;
    let open = information(&file)?;
    // The listing may be older than a write through another name.
    let size = if matches!(kind, EntryKind::File) { open.file_size() } else { metadata.len() };
    Ok(Entry {
        kind,
        device: open.volume_serial_number(),
        number: open.file_index(),
        size,
        allocated: None,
    })
}
