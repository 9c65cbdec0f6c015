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

/// The fields of an identity.
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

/// How a listing ended.
pub(super) enum ListOutcome {
    /// All names were listed.
    Complete {
        /// From before the listing.
        identity: DirIdentity,
        /// Names are bytes: a name that is not listed does not exist.
        exact_names: bool,
    },
    /// There were more names than allowed.
    TooMany,
}

/// A listing of a directory with any reader.
pub(super) struct ListDir<'a> {
    pub(super) path: &'a Path,
    /// The attributes to take if the listing provides them.
    pub(super) want: FieldMask,
    /// Maps the directory's size to the largest number of names to list.
    pub(super) max: &'a mut dyn FnMut(Option<u64>) -> u64,
    /// Called with every name.
    pub(super) each: &'a mut dyn FnMut(&OsStr, &Attributes),
}

impl ListDir<'_> {
    pub(super) fn run(self, reader: ReaderKind) -> io::Result<ListOutcome> {
        let mut reader = SystemReader::new(reader, ReaderSettings::default());
        let mut handle = reader.open_root(self.path, true)?;
        let opened = reader.stat_open(&mut handle, IDENTITY | FieldMask::SIZE)?;
        let max = (self.max)(opened.size());
        let want = Want::default().entries(self.want).directories(self.want);
        let (mut batch, mut names) = (Batch::new(), 0);
        while names < max {
            let listing = reader.list(&handle, &mut batch, &want)?;
            names += batch.len() as u64;
            batch.iter().for_each(|entry| (self.each)(entry.name, entry.attributes));
            if listing == ListStatus::End {
                let Reliability { exact_names, .. } = SystemReader::reliability(&handle, self.path);
                let identity = DirIdentity::of(&opened);
                return Ok(ListOutcome::Complete { identity, exact_names });
            }
        }
        Ok(ListOutcome::TooMany)
    }
}

/// A callback that receives a function to query names in one open directory.
pub(super) type WithOpenDir<'a> =
    &'a mut dyn FnMut(&mut dyn FnMut(&OsStr) -> io::Result<Attributes>);

/// Opens a directory with any reader, to query names in it. Links are not followed.
pub(super) struct QueryInDir<'a> {
    pub(super) path: &'a Path,
    pub(super) want: FieldMask,
    pub(super) then: WithOpenDir<'a>,
}

impl QueryInDir<'_> {
    pub(super) fn run(self, reader: ReaderKind) -> io::Result<()> {
        let mut reader = SystemReader::new(reader, ReaderSettings::default());
        let handle = reader.open_root(self.path, true)?;
        (self.then)(&mut |name| {
            reader.stat(&handle, &[name], self.want, false).map_err(|fault| match fault {
                Fault::Vanished => super::LookupError::MISSING.into(),
                Fault::Failed(error) => error,
            })
        });
        Ok(())
    }
}
