//! Reads candidates, and checks that they are the files of the scan.

use std::fs::File;
use std::io;
use std::path::Path;

use transect::table::{Row, Table};
use transect::{Cancel, FileType};
use transect_sys::dir_handle::{DirHandle, MountPolicy};
use transect_sys::file::{attributes_of, read_at};

use crate::candidates::Candidate;
use crate::progress::Progress;

/// Bytes at the beginning and at the end of a file that are read first.
pub(crate) const END: usize = 4 << 10;
/// The longest file that is read completely at once: its pages cost less than opening it again.
pub(crate) const SMALL: usize = 16 << 10;
/// Bytes per read of a whole file: enough that calls cost little, and few enough for the processor's
/// cache.
const BLOCK: usize = 256 << 10;

pub(crate) type Digest = [u8; 32];

/// Why a file has no digest.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It is not the file that the scan found, or changed since.
    Changed,
    /// The system reports an error.
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

pub(crate) struct FileReader<'t> {
    table: &'t Table,
    progress: &'t Progress,
    /// The walk followed links.
    follow: bool,
    /// The directory of the last file: most often also that of the next one.
    dir: Option<(Row, DirHandle)>,
    block: Vec<u8>,
    /// The ctime of the last file after it was read.
    pub(crate) ctime: Option<i64>,
}

impl<'t> FileReader<'t> {
    pub(crate) fn new(table: &'t Table, progress: &'t Progress, follow: bool) -> Self {
        Self { table, progress, follow, dir: None, block: Vec::new(), ctime: None }
    }

    /// Returns the digest of the head and the tail; of a small file, that of the whole.
    pub(crate) fn ends(&mut self, candidate: &Candidate) -> Result<Digest, Failure> {
        let file = self.open(candidate.names[0])?;
        let size = candidate.size;
        let length = if size <= SMALL as u64 { size as usize } else { 2 * END };
        if self.block.len() < length {
            self.block.resize(length.max(SMALL), 0);
        }
        let block = &mut self.block[..length];
        let read = if size <= SMALL as u64 {
            read_at(&file, block, 0)?
        } else {
            let (head, tail) = block.split_at_mut(END);
            read_at(&file, head, 0)? + read_at(&file, tail, size - END as u64)?
        };
        if read < length {
            return Err(Failure::Changed);
        }
        let digest = blake3::hash(block).into();
        self.progress.add_bytes(length);
        self.check(&file, candidate)?;
        Ok(digest)
    }

    /// Returns the digest of the whole file; `None` if cancelled.
    pub(crate) fn whole(
        &mut self,
        candidate: &Candidate,
        cancel: &Cancel,
    ) -> Result<Option<Digest>, Failure> {
        let file = self.open(candidate.names[0])?;
        self.block.resize(BLOCK, 0);
        let mut hasher = blake3::Hasher::new();
        let mut at = 0;
        while at < candidate.size {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            let length = (candidate.size - at).min(BLOCK as u64) as usize;
            let block = &mut self.block[..length];
            if read_at(&file, block, at)? < length {
                return Err(Failure::Changed);
            }
            hasher.update(block);
            self.progress.add_bytes(length);
            at += length as u64;
        }
        self.check(&file, candidate)?;
        Ok(Some(hasher.finalize().into()))
    }

    pub(crate) fn open(&mut self, row: Row) -> io::Result<File> {
        let name = self.table.name(row);
        let Some(parent) = self.table.parent(row) else {
            return open_root(Path::new(name), self.follow);
        };
        if self.dir.as_ref().is_none_or(|&(of, _)| of != parent) {
            // Close the old one first.
            self.dir = None;
            self.dir = Some((parent, open_dir(self.table, parent, self.follow)?));
        }
        let (_, dir) = self.dir.as_ref().expect("BUG: it was opened above");
        dir.open_file(name, self.follow)
    }

    /// Checks that an open file is the one that the scan found, and unchanged.
    fn check(&mut self, file: &File, candidate: &Candidate) -> Result<(), Failure> {
        let now = attributes_of(file)?;
        self.ctime = now.ctime();
        let same_file = candidate.id.is_none() || now.file_id() == candidate.id;
        let unchanged = now.file_type() == FileType::File
            && now.size() == Some(candidate.size)
            && now.mtime() == self.table.mtime(candidate.names[0]);
        if same_file && unchanged { Ok(()) } else { Err(Failure::Changed) }
    }
}

/// Opens a root that is a file. The user chose the path, so links to its directory are followed.
fn open_root(path: &Path, follow: bool) -> io::Result<File> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    DirHandle::open(&parent.unwrap_or(Path::new(".")).join(""))?.open_file(name, follow)
}

/// The longest path that is opened in one call, less than the limit of any system.
const MAX_PATH: usize = 3000;

fn open_dir(table: &Table, row: Row, follow: bool) -> io::Result<DirHandle> {
    let path = table.path(row);
    // With a separator at the end, a link stands for its target.
    let path = if follow { path.join("") } else { path };
    if path.as_os_str().len() <= MAX_PATH {
        return DirHandle::open(&path);
    }
    let mut rows: Vec<Row> = table.ancestors(row).collect();
    let root = rows.pop().expect("BUG: it has at least the row itself");
    let mut dir = DirHandle::open(&Path::new(table.name(root)).join(""))?;
    for &row in rows.iter().rev() {
        dir = dir.open_dir(table.name(row), MountPolicy::Cross)?;
    }
    Ok(dir)
}
