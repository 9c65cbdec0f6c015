//! Digests kept between searches, for files that did not change.
//!
//! ```text
//! line of text: version, digest, what is read first │ begin of the walk │ number of records │ records │ BLAKE3
//! record: file system │ inode │ size │ mtime │ ctime │ 0: both ends, 1: whole │ digest
//! ```
//!
//! Numbers are little-endian and have eight bytes; the one before a digest has one. Records are sorted, and none occurs
//! twice. The last 32 bytes are the BLAKE3 digest of everything before.

use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use transect::FieldMask;
use transect::table::Table;
use transect_sys::file::query_attributes;
use transect_sys::host::{file_system_identity, proves_changes};

use crate::candidates::Candidate;
use crate::progress::Phase;
use crate::read::{Digest, END, SMALL};

/// The beginning of the first line, before the version.
const MARK: &str = "transect digests ";

/// The maximum length of the first line.
const MAX_HEAD: usize = 128;

/// Bytes in a record.
const RECORD: usize = 5 * 8 + 1 + size_of::<Digest>();

/// A file whose times are this close to the begin of the walk, in nanoseconds, may change after it was read without a
/// change of its times: some file systems store whole seconds.
const RACY: i64 = 2_000_000_000;

/// Returns the first line. A file with another one has other digests.
fn head() -> String {
    format!("{MARK}1: BLAKE3 of {END} bytes at both ends, up to {SMALL} of the whole\n")
}

/// What a file is recognised by: if all of it is as before, the content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileState {
    /// A hash of the identity of its file system. Numbers of devices change when a system starts.
    file_system: u64,
    inode: u64,
    size: u64,
    mtime: i64,
    pub(crate) ctime: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Record {
    state: FileState,
    is_whole: bool,
    digest: Digest,
}

impl Record {
    pub(crate) fn new(state: FileState, phase: Phase, digest: Digest) -> Self {
        Self { state, is_whole: phase == Phase::Whole, digest }
    }

    fn key(&self) -> (FileState, bool) {
        (self.state, self.is_whole)
    }

    fn to_bytes(self) -> Vec<u8> {
        let FileState { file_system, inode, size, mtime, ctime } = self.state;
        let numbers = [file_system, inode, size, mtime.cast_unsigned(), ctime.cast_unsigned()];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.push(self.is_whole.into());
        bytes.extend(self.digest);
        bytes
    }

    fn from_bytes(bytes: &[u8; RECORD]) -> Option<Self> {
        let (numbers, rest) = bytes.split_at(5 * 8);
        let number = |at: usize| {
            let bytes = numbers[8 * at..].first_chunk().expect("BUG: five numbers of eight bytes");
            u64::from_le_bytes(*bytes)
        };
        let (&[is_whole], digest) = rest.split_first_chunk()?;
        let state = FileState {
            file_system: number(0),
            inode: number(1),
            size: number(2),
            mtime: number(3).cast_signed(),
            ctime: number(4).cast_signed(),
        };
        let is_whole = [false, true].get(usize::from(is_whole)).copied()?;
        Some(Self { state, is_whole, digest: digest.try_into().ok()? })
    }
}

/// Digests of files, for a search that reads no file again that did not change.
///
/// A file is unchanged if its file system, file id, size, mtime and ctime are those of the search that stored the digest.
/// This is used only on file systems that [prove](proves_changes) it, and only if both times are more than two seconds older than
/// the walk of that search. A write through a memory map may change the times late, and a clock that is set back may repeat one.
/// So a digest can be out of date. The search then shows a wrong group, but [`apply`](crate::apply) loses no content:
/// it compares byte by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DigestStore {
    walk_began: i64,
    /// In ascending order.
    records: Vec<Record>,
}

impl DigestStore {
    /// Returns a store without digests, for the search in a table whose walk began at this time, in nanoseconds since 1970 UTC:
    /// before any file was queried.
    pub fn new(walk_began: i64) -> Self {
        Self { walk_began, records: Vec::new() }
    }

    /// Reads what an earlier search stored. If the clock was set back since then, the digests are not used.
    ///
    /// # Errors
    /// It cannot be read, or was not written by [`DigestStore::write`] of this version.
    pub fn read(from: impl Read, walk_began: i64) -> Result<Self, DigestStoreError> {
        let mut from = HashedReader { from: BufReader::new(from), hasher: blake3::Hasher::new() };
        from.read_head()?;
        let began = i64::from_le_bytes(from.read()?);
        let count = u64::from_le_bytes(from.read()?);
        // The number is a claim of the file: no memory is reserved for it.
        let mut records: Vec<Record> = Vec::new();
        for _ in 0..count {
            let record = Record::from_bytes(&from.read()?).ok_or(DigestStoreError::Damaged)?;
            if records.last().is_some_and(|last| last.key() >= record.key()) {
                return Err(DigestStoreError::Damaged);
            }
            records.push(record);
        }
        let sum = from.hasher.finalize();
        if from.read::<32>()? != *sum.as_bytes() || from.from.read(&mut [0])? > 0 {
            return Err(DigestStoreError::Damaged);
        }
        if began > walk_began {
            records.clear();
        }
        Ok(Self { walk_began, records })
    }

    /// Writes the digests.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let mut hasher = blake3::Hasher::new();
        let mut put = |bytes: &[u8]| {
            hasher.update(bytes);
            to.write_all(bytes)
        };
        put(head().as_bytes())?;
        put(&self.walk_began.to_le_bytes())?;
        put(&(self.records.len() as u64).to_le_bytes())?;
        self.records.iter().try_for_each(|record| put(&record.to_bytes()))?;
        to.write_all(hasher.finalize().as_bytes())
    }

    /// Returns the number of digests.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether there are no digests.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn find(&self, state: FileState, phase: Phase) -> Option<Digest> {
        let key = (state, phase == Phase::Whole);
        let place = self.records.binary_search_by_key(&key, Record::key).ok()?;
        Some(self.records[place].digest)
    }

    /// Returns whether each later change of a file in this state changes its times.
    pub(crate) fn is_settled(&self, state: FileState) -> bool {
        state.mtime.max(state.ctime) < self.walk_began.saturating_sub(RACY)
    }

    /// Returns what a search found or read, and if it is not complete, also what was known before it.
    pub(crate) fn next(&self, mut records: Vec<Record>, is_complete: bool) -> Self {
        if !is_complete {
            records.extend(&self.records);
        }
        records.sort_unstable();
        records.dedup_by_key(|record| record.key());
        Self { walk_began: self.walk_began, records }
    }
}

/// Returns what files of a table are recognised by.
pub(crate) struct FileStates<'t> {
    table: &'t Table,
    /// For each device, the hash of the identity of its file system.
    file_systems: HashMap<u64, Option<u64>, FixedState>,
    /// The highest paths on devices whose digests cannot be kept.
    pub(crate) unproven: Vec<PathBuf>,
}

impl<'t> FileStates<'t> {
    pub(crate) fn new(table: &'t Table, files: &[Candidate]) -> Self {
        let mut states = Self { table, file_systems: HashMap::default(), unproven: Vec::new() };
        for file in files {
            let Some(device) = file.id.map(|id| id.device) else { continue };
            if states.file_systems.contains_key(&device) {
                continue;
            }
            let path = table.path(table.top_of_device(file.names[0]));
            let is_there = query_attributes(&path, FieldMask::DEVICE, true)
                .is_ok_and(|there| there.device() == Some(device));
            let identity =
                file_system_identity(&path).filter(|_| is_there && proves_changes(&path));
            let hash = identity.map(|identity| {
                let hash = blake3::hash(identity.as_bytes());
                u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("BUG: it has 32 bytes"))
            });
            if hash.is_none() {
                states.unproven.push(path);
            }
            states.file_systems.insert(device, hash);
        }
        states
    }

    /// Returns the state of a file as the walk found it; `None` if its digests cannot be kept.
    pub(crate) fn of(&self, file: &Candidate) -> Option<FileState> {
        let id = file.id?;
        let attributes = self.table.attributes(file.names[0]);
        Some(FileState {
            file_system: self.file_systems.get(&id.device).copied().flatten()?,
            inode: id.inode,
            size: file.size,
            mtime: attributes.mtime()?,
            ctime: attributes.ctime()?,
        })
    }
}

/// Reads, and hashes what was read.
struct HashedReader<R> {
    from: BufReader<R>,
    hasher: blake3::Hasher,
}

impl<R: Read> HashedReader<R> {
    fn read<const N: usize>(&mut self) -> Result<[u8; N], DigestStoreError> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes)?;
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    fn read_head(&mut self) -> Result<(), DigestStoreError> {
        let (mut line, expected) = (Vec::new(), head());
        while line.len() < MAX_HEAD && line.last() != Some(&b'\n') {
            match self.read::<1>() {
                Ok(byte) => line.extend(byte),
                Err(DigestStoreError::Damaged) => break,
                Err(error) => return Err(error),
            }
        }
        match () {
            () if line == expected.as_bytes() => Ok(()),
            () if !line.starts_with(MARK.as_bytes()) => Err(DigestStoreError::Foreign),
            () if line.last() == Some(&b'\n') => Err(DigestStoreError::OtherVersion),
            () => Err(DigestStoreError::Damaged),
        }
    }
}

/// Why stored digests cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum DigestStoreError {
    /// They cannot be read.
    Read(io::Error),
    /// These are not stored digests.
    Foreign,
    /// Another version wrote them.
    OtherVersion,
    /// They are truncated, or were changed.
    Damaged,
}

impl From<io::Error> for DigestStoreError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged,
            _ => Self::Read(error),
        }
    }
}

impl fmt::Display for DigestStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => f.write_str(&transect::reason(error)),
            Self::Foreign => f.write_str("it does not contain digests of transect"),
            Self::OtherVersion => f.write_str("another version of transect wrote it"),
            Self::Damaged => f.write_str("it is damaged"),
        }
    }
}

impl std::error::Error for DigestStoreError {}
