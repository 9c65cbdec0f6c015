//! The undo journal of an in-place patch: old and new bytes.
//!
//! ```text
//! bytes
//!    16  "transect undo 1\n"
//!     8  inode of the file, 0 if not reported
//!     8  its size
//!     8  number of edits
//!  16+2n each: offset and length n, old bytes, new bytes
//!    32  BLAKE3 of everything before
//! ```
//!
//! Numbers are little-endian. The device is not recorded: the system may number devices differently
//! after a crash.
//!
//! A journal is trusted only if no other user can have written it: it is a regular file with one
//! name, belongs to this user, and is accessible to no other user. It belongs to a file with its
//! inode and size and, at each offset, the old or the new bytes. The digest detects damage; it does
//! not prove who wrote the journal.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use transect_sys::FileType;
use transect_sys::file::attributes_of;

use crate::error::{Error, Operation, Rejection};
use crate::publish::{Durability, Existing, ReplaceOptions, Replacement, parent_dir};
use crate::source::Source;
use crate::step::InvalidData;
use crate::system;

const MAGIC: &[u8] = b"transect undo 1\n";

/// Maximum length of a journal, which is read into memory: more than the longest patch needs.
const MAX_LENGTH: u64 = 1 << 30;

/// Bytes of the digest at the end.
const DIGEST: usize = blake3::OUT_LEN;

/// Bytes that change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UndoEdit {
    pub(super) offset: u64,
    pub(super) old: Vec<u8>,
    /// As long as the old ones.
    pub(super) new: Vec<u8>,
}

/// A journal, read or to be written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UndoJournal {
    inode: u64,
    size: u64,
    pub(super) edits: Vec<UndoEdit>,
}

impl UndoJournal {
    pub(super) fn new(source: &Source, edits: Vec<UndoEdit>) -> Self {
        Self { inode: inode_of(source), size: source.size(), edits }
    }

    /// Checks that the journal belongs to a file.
    pub(super) fn verify(&self, source: &Source, journal: &Path) -> Result<(), Error> {
        if self.inode != inode_of(source) || self.size != source.size() {
            return Err(invalid(journal, "it belongs to another file"));
        }
        Ok(())
    }

    /// Reads a journal that only this user can have written.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let mut file = open_trusted(path)?;
        let size = attributes_of(&file).map_err(Error::system(Operation::Read, path))?.size();
        if size.is_none_or(|size| size > MAX_LENGTH) {
            return Err(invalid(path, "it is too long for a journal"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::system(Operation::Read, path))?;
        Self::parse(&bytes)
            .ok_or_else(|| invalid(path, "it is not an undo journal, or it is damaged"))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (body, digest) = bytes.split_last_chunk::<DIGEST>()?;
        if blake3::hash(body) != *digest {
            return None;
        }
        let mut rest = body.strip_prefix(MAGIC)?;
        let (inode, size, count) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
        let (mut edits, mut end) = (Vec::new(), 0);
        for _ in 0..count {
            let offset = number(&mut rest)?;
            let length = usize::try_from(number(&mut rest)?).ok()?;
            let old = take(&mut rest, length)?.to_vec();
            let new = take(&mut rest, length)?.to_vec();
            if offset < end {
                return None;
            }
            end = offset.checked_add(length as u64).filter(|end| *end <= size)?;
            edits.push(UndoEdit { offset, old, new });
        }
        rest.is_empty().then_some(Self { inode, size, edits })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [self.inode, self.size, self.edits.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        for edit in &self.edits {
            bytes.extend(edit.offset.to_le_bytes());
            bytes.extend((edit.old.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&edit.old);
            bytes.extend_from_slice(&edit.new);
        }
        let digest = blake3::hash(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        bytes
    }

    /// Writes and publishes the journal, synced with its name.
    pub(super) fn write(&self, mut result: Replacement) -> Result<(), Error> {
        let bytes = self.to_bytes();
        if bytes.len() as u64 > MAX_LENGTH {
            let error = InvalidData::new("it would be too long to be read again");
            return Err(Error::during(Operation::Write)(Error::invalid(result.path())(error)));
        }
        result.append(&bytes)?;
        result.publish()?;
        Ok(())
    }
}

/// Returns the path of a file's journal.
pub(super) fn journal_path(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(".transect-undo");
    file.with_file_name(name)
}

/// Starts a new journal; none may exist. Only its owner can read it, even if the file is readable
/// by others: the group of the journal may differ from that of the file.
pub(super) fn begin(path: &Path, source: &Source) -> Result<Replacement, Error> {
    let options = ReplaceOptions {
        existing: Existing::Keep,
        durability: Durability::File,
        ..ReplaceOptions::default()
    };
    Ok(Replacement::begin(path, Some(source), options)?.owner_only())
}

/// Removes a journal for good: syncs the directory, so that a crash does not bring it back.
pub(super) fn remove(path: &Path) -> std::io::Result<()> {
    std::fs::remove_file(path)?;
    system::sync_directory(parent_dir(path))
}

/// Opens a journal. In a directory where other users can write, anyone could create a journal that
/// fits the current file and has any bytes as the old ones. So only files that no other user can
/// have written are trusted.
fn open_trusted(path: &Path) -> Result<File, Error> {
    let failed = || Error::system(Operation::Read, path);
    let rejected = |reason| Err(Error::rejected(Operation::Read, path, reason));
    let file = match system::open_no_follow(path) {
        Err(_) if path.is_symlink() => return rejected(Rejection::Untrusted("it is a link")),
        opened => opened.map_err(failed())?,
    };
    let there = attributes_of(&file).map_err(failed())?;
    match (there.file_type(), system::distrust_reason(&there)) {
        (FileType::File, None) => Ok(file),
        (FileType::File, Some(why)) => rejected(Rejection::Untrusted(why)),
        (FileType::Symlink, _) => rejected(Rejection::Untrusted("it is a link")),
        (other, _) => rejected(Rejection::NotAFile(other)),
    }
}

fn inode_of(source: &Source) -> u64 {
    source.file_id().map_or(0, |identity| identity.inode)
}

fn invalid(path: &Path, reason: &str) -> Error {
    Error::during(Operation::Read)(Error::invalid(path)(InvalidData::new(reason)))
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> UndoJournal {
        let edit = |offset, old: &[u8], new: &[u8]| UndoEdit {
            offset,
            old: old.to_vec(),
            new: new.to_vec(),
        };
        UndoJournal {
            inode: 7,
            size: 100,
            edits: vec![edit(3, b"abc", b"xyz"), edit(98, b"de", b"vw")],
        }
    }

    /// Replaces the digest by the correct one, so that the parser itself must reject the bytes.
    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.truncate(bytes.len() - DIGEST);
        let digest = blake3::hash(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        bytes
    }

    #[test]
    fn undo_journal_round_trip() {
        let empty = UndoJournal { edits: Vec::new(), ..journal() };
        for journal in [journal(), empty] {
            assert_eq!(UndoJournal::parse(&journal.to_bytes()), Some(journal));
        }
        assert_eq!(journal_path(Path::new("folder/file")), Path::new("folder/.file.transect-undo"));
    }

    #[test]
    fn undo_journal_damage_detected() {
        let whole = journal().to_bytes();
        for end in 0..whole.len() {
            assert_eq!(UndoJournal::parse(&whole[..end]), None, "cut at {end}");
        }
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(UndoJournal::parse(&damaged), None, "bit {bit}");
        }
        assert_eq!(UndoJournal::parse(&[&whole[..], b"x"].concat()), None);
    }

    #[test]
    fn undo_journal_edits_outside_file_or_overlapping_rejected() {
        let with = |offset: u64, length: u64| {
            let mut bytes = journal().to_bytes();
            // The second edit.
            let at = MAGIC.len() + 24 + 16 + 6;
            bytes[at..at + 8].copy_from_slice(&offset.to_le_bytes());
            bytes[at + 8..at + 16].copy_from_slice(&length.to_le_bytes());
            UndoJournal::parse(&sealed(bytes))
        };
        assert_eq!(with(98, 2), Some(journal()));
        for (offset, length) in [(99, 2), (5, 2), (u64::MAX, 2), (98, 1), (98, 3), (98, u64::MAX)] {
            assert_eq!(with(offset, length), None, "{offset} {length}");
        }
    }
}
