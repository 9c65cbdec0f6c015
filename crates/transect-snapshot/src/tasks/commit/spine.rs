//! Directories that are not complete in one part: their totals and digests are computed anew.

use std::io;
use std::path::Path;

use transect::{Attributes, FileType};

use crate::digest::{Digest, DirectoryDigest};
use crate::read::StoredTotals;
use crate::sorter::{Sorted, Sorter, u64_at, u128_at};

const RECORD_BYTES: usize = 96;

/// The totals of a directory. Bytes are exact, so that others can be subtracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// The number of rows: the directory and all entries below it.
    pub(super) entries: u64,
    pub(super) files: u64,
    pub(super) directories: u64,
    pub(super) apparent: u128,
    pub(super) allocated: u128,
    pub(super) newest: Option<i64>,
    pub(super) errors: u64,
}

impl Totals {
    /// Returns the totals that a part has.
    pub(super) fn stored(of: StoredTotals, newest: Option<i64>) -> Self {
        let StoredTotals { entries, files, directories, apparent, allocated, errors } = of;
        let (apparent, allocated) = (apparent.into(), allocated.into());
        Self { entries, files, directories, apparent, allocated, newest, errors }
    }

    /// Returns the totals of one entry: of a directory without those in it.
    pub(super) fn of_entry(attributes: &Attributes) -> Self {
        let is = |file_type| u64::from(attributes.file_type() == file_type);
        let is_directory = attributes.file_type() == FileType::Directory;
        Self {
            entries: 1,
            files: is(FileType::File),
            directories: is(FileType::Directory),
            apparent: attributes.size().filter(|_| !is_directory).unwrap_or(0).into(),
            allocated: attributes.allocated().unwrap_or(0).into(),
            newest: attributes.mtime(),
            errors: 0,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        // Parts that claim more than there can be are refused elsewhere.
        self.entries = self.entries.saturating_add(other.entries);
        self.files = self.files.saturating_add(other.files);
        self.directories = self.directories.saturating_add(other.directories);
        self.apparent += other.apparent;
        self.allocated += other.allocated;
        self.newest = self.newest.max(other.newest);
        self.errors = self.errors.saturating_add(other.errors);
    }
}

/// A directory of the spine whose entries are being read.
pub(super) struct OpenSpine {
    attributes: Attributes,
    totals: Totals,
    digest: Box<DirectoryDigest>,
}

impl OpenSpine {
    pub(super) fn new(attributes: Attributes, unread: Option<&str>) -> Self {
        let mut digest = Box::new(DirectoryDigest::default());
        digest.begin(unread);
        Self { totals: Totals::of_entry(&attributes), attributes, digest }
    }

    /// Adds an entry; a directory with its totals and its digest.
    pub(super) fn add(
        &mut self,
        name: &[u8],
        attributes: &Attributes,
        directory: Option<(&Totals, &Digest)>,
    ) {
        self.digest.add(name, attributes, directory.map(|(_, digest)| digest));
        match directory {
            Some((totals, _)) => self.totals.add(totals),
            None => self.totals.add(&Totals::of_entry(attributes)),
        }
    }

    /// Gives memory back while a directory in this one is read.
    pub(super) fn pause(&mut self) {
        self.digest.pause();
    }

    /// Returns the attributes of the directory, and what was computed. `errors` are its own.
    pub(super) fn finish(mut self, errors: u64) -> (Attributes, Totals, Digest) {
        self.totals.errors = self.totals.errors.saturating_add(errors);
        (self.attributes, self.totals, self.digest.finish())
    }
}

/// What was computed, in any order.
#[derive(Debug)]
pub(super) struct Spine(Sorter<RECORD_BYTES>);

impl Spine {
    pub(super) fn new(folder: &Path, memory: usize) -> Self {
        Self(Sorter::new(folder, memory))
    }

    /// Adds a directory by its row in the whole tree.
    pub(super) fn add(&mut self, row: u64, of: &Totals, digest: &Digest) -> io::Result<()> {
        let mut record = [0; RECORD_BYTES];
        // Unknown is before any other time.
        let newest = of.newest.unwrap_or(i64::MIN) as u64;
        let wide = [row, of.entries, of.files, of.directories, newest, of.errors];
        for (bytes, value) in record[..48].as_chunks_mut().0.iter_mut().zip(wide) {
            *bytes = value.to_be_bytes();
        }
        record[48..64].copy_from_slice(&of.apparent.to_be_bytes());
        record[64..80].copy_from_slice(&of.allocated.to_be_bytes());
        record[80..].copy_from_slice(digest);
        self.0.push(record)
    }

    /// Returns all directories by their rows.
    pub(super) fn in_order(self) -> io::Result<SpineReader> {
        let mut records = self.0.sorted()?;
        Ok(SpineReader { next: records.next()?, records })
    }
}

/// Returns the directories of the spine by their rows.
#[derive(Debug)]
pub(super) struct SpineReader {
    records: Sorted<RECORD_BYTES>,
    next: Option<[u8; RECORD_BYTES]>,
}

impl SpineReader {
    /// Returns what was computed for the directory with a row; `None` if it is complete in one part. Rows must come
    /// in order.
    pub(super) fn get(&mut self, row: u64) -> io::Result<Option<(Totals, Digest)>> {
        let Some(record) = &self.next else { return Ok(None) };
        let (wide, long) = (|at| u64_at(record, at), |at| u128_at(record, at));
        if wide(0) != row {
            return Ok(None);
        }
        let newest = wide(32) as i64;
        let totals = Totals {
            entries: wide(8),
            files: wide(16),
            directories: wide(24),
            apparent: long(48),
            allocated: long(64),
            newest: (newest != i64::MIN).then_some(newest),
            errors: wide(40),
        };
        let digest = record[80..].try_into().expect("BUG: sixteen bytes");
        self.next = self.records.next()?;
        Ok(Some((totals, digest)))
    }
}
