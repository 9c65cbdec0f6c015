//! Queries of the system: one name, an open directory, a listing.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::{
    Attributes, Batch, Fault, FieldMask, FileId, ListStatus, Reader, ReaderKind, ReaderSettings,
    Reliability, SystemReader, Want,
};

/// The identity of a directory, and the times of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DirIdentity {
    id: Option<FileId>,
    pub(super) mtime: Option<i64>,
    pub(super) ctime: Option<i64>,
}

const IDENTITY: FieldMask = FieldMask::FILE_ID.union(FieldMask::MTIME).union(FieldMask::CTIME);

impl DirIdentity {
    fn of(attributes: &Attributes) -> Self {
        let (mtime, ctime) = (attributes.mtime(), attributes.ctime());
        Self { id: attributes.file_id(), mtime, ctime }
    }

    /// Returns whether there are enough fields to distinguish two states of a directory.
    pub(super) fn is_known(self) -> bool {
        self.id.is_some() && self.mtime.is_some()
    }
}

/// Returns the identity of a directory, if names in it can be looked up.
///
/// On Unix that requires search permission. Therefore `.` in the directory is queried: a listing
/// shows names even to users who may not query them.
pub(super) fn identity(path: &Path) -> io::Result<DirIdentity> {
    let inside_roots: PathBuf = if cfg!(unix) { path.join(".") } else { path.to_owned() };
    Ok(DirIdentity::of(&transect_sys::file::query_attributes(&inside_roots, IDENTITY, true)?))
}

/// Lists a directory. Calls `each` with every name, and the attributes in `want` that come with it; `max` maps the
/// directory's size to the largest number of names to list.
///
/// Returns the identity before the listing, and whether names are bytes, so that a name that is not listed does
/// not exist; `None` if there are more names.
pub(super) fn list(
    reader: ReaderKind,
    path: &Path,
    want: FieldMask,
    max: impl FnOnce(Option<u64>) -> u64,
    mut each: impl FnMut(&OsStr, &Attributes),
) -> io::Result<Option<(DirIdentity, bool)>> {
    let mut reader = SystemReader::new(reader, ReaderSettings::default());
    let mut handle = reader.open_root(path, true)?;
    let opened = reader.stat_open(&mut handle, IDENTITY | FieldMask::SIZE)?;
    let max = max(opened.size());
    let want = Want::default().entries(want).directories(want);
    let (mut batch, mut names) = (Batch::new(), 0);
    while names < max {
        let listing = reader.list(&handle, &mut batch, &want)?;
        names += batch.len() as u64;
        batch.iter().for_each(|entry| each(entry.name, entry.attributes));
        if listing == ListStatus::End {
            let Reliability { exact_names, .. } = SystemReader::reliability(&handle, path);
            return Ok(Some((DirIdentity::of(&opened), exact_names)));
        }
    }
    Ok(None)
}

/// Opens a directory, and calls `then` with a function that queries names in it. Links are not followed.
pub(super) fn query_in(
    reader: ReaderKind,
    path: &Path,
    want: FieldMask,
    then: impl FnOnce(&mut dyn FnMut(&OsStr) -> io::Result<Attributes>),
) -> io::Result<()> {
    let mut reader = SystemReader::new(reader, ReaderSettings::default());
    let handle = reader.open_root(path, true)?;
    then(&mut |name| {
        reader.stat(&handle, &[name], want, false).map_err(|fault| match fault {
            Fault::Vanished => super::LookupError::MISSING.into(),
            Fault::Failed(error) => error,
        })
    });
    Ok(())
}
