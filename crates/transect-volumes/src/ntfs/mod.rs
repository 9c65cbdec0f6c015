//! NTFS: the file table (`$MFT`), which has the attributes and the names of all files.
//!
//! ```text
//! boot_sector ─► file_table ─► records ─► join ─► VolumeIndex
//!                 (stream)     (record, facts, special, listed) └► change_journal
//! ```
//!
//! The table is read in the order in which it lies on the volume. A name knows its directory, so that the
//! indexes of directories are not needed; those in the table are compared (`listed`). Every number of a volume is checked before it is used, as
//! anybody can make an image.
//!
//! Shown is what a walk of the mounted volume shows: one entry for each hard link, none for names that
//! exist only for DOS, nothing of the file system's own files, and sizes of the content without a name. Content with a name
//! (alternate streams) is counted apart.

mod boot_sector;
pub(super) mod change_journal;
mod change_record;
mod facts;
mod file_table;
mod join;
mod listed;
mod record;
mod records;
mod runs;
mod special;
mod stream;
mod streams;

use std::io;

use transect_sys::ReadAt;

use super::index::VolumeIndex;
use super::threads::Effort;
#[cfg(windows)]
use boot_sector::BootSector;
pub(super) use boot_sector::is_likely;
use file_table::FileTable;

/// Returns the bytes of the file system on a volume, by its boot sector.
#[cfg(windows)]
pub(super) fn size_of_volume(source: &dyn ReadAt) -> io::Result<u64> {
    let boot = BootSector::read(source)?;
    Ok(boot.clusters.saturating_mul(boot.cluster_size.into()))
}

/// Reads the file table of a volume.
/// Errors after the table was found are those of the top directory, as it is not known where damaged records belong.
pub(super) fn read(source: &dyn ReadAt, effort: Effort) -> io::Result<VolumeIndex> {
    let table = FileTable::find(source)?;
    let (index, _) = join::join(&table, records::read(&table, effort));
    Ok(index)
}
