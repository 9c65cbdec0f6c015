//! The digest of a directory: equal for directories in which a diff would find nothing.
//!
//! It covers names, types and attributes of everything below the directory, except access times,
//! the times that the system keeps for itself (`ctime`, `btime`), and file ids: a copy on another
//! file system has the same digest if the attributes are the same. `docs/FORMAT.md` has the layout.

use transect::{Attributes, FieldMask};

/// A digest: the first 16 bytes of BLAKE3.
pub type Digest = [u8; 16];

/// The attributes that a digest covers, and a diff compares.
pub const COMPARED: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::MODE)
    .union(FieldMask::UID)
    .union(FieldMask::GID)
    .union(FieldMask::NLINK)
    .union(FieldMask::ATTRIBUTES)
    .union(FieldMask::REPARSE_TAG);

/// The bytes of an entry between its name and its digest: type, known attributes, three numbers of 8 bytes and six
/// of 4.
const FIXED_BYTES: usize = 1 + 2 + 3 * 8 + 6 * 4;

/// The digest of a directory that is being read.
#[derive(Debug, Default)]
pub(crate) struct DirectoryDigest {
    hasher: blake3::Hasher,
    /// Records that are not hashed yet: the hasher is fastest with many bytes at once.
    pending: Vec<u8>,
}

impl DirectoryDigest {
    /// Begins the digest of a directory; `unread` is why it was not read.
    pub(crate) fn begin(&mut self, unread: Option<&str>) {
        self.hasher.reset();
        self.pending.clear();
        let unread = unread.unwrap_or_default();
        self.pending.push(unread.len() as u8);
        self.pending.extend_from_slice(unread.as_bytes());
    }

    /// Adds an entry; a directory with its own digest.
    pub(crate) fn add(&mut self, name: &[u8], attributes: &Attributes, digest: Option<&Digest>) {
        let known = attributes.known() & COMPARED;
        // One copy into the record takes a fraction of the time of one for each number.
        let mut fixed = [0; FIXED_BYTES];
        fixed[0] = attributes.file_type() as u8;
        fixed[1..3].copy_from_slice(&known.bits().to_le_bytes());
        let wide = [
            attributes.size().unwrap_or(0),
            attributes.allocated().unwrap_or(0),
            attributes.mtime().unwrap_or(0) as u64,
        ];
        let narrow = [
            attributes.mode().unwrap_or(0).into(),
            attributes.uid().unwrap_or(0),
            attributes.gid().unwrap_or(0),
            attributes.nlink().unwrap_or(0),
            attributes.attribute_bits().unwrap_or(0),
            attributes.reparse_tag().unwrap_or(0),
        ];
        let (of_wide, of_narrow) = fixed[3..].split_at_mut(8 * wide.len());
        for (bytes, value) in of_wide.as_chunks_mut().0.iter_mut().zip(wide) {
            *bytes = value.to_le_bytes();
        }
        for (bytes, value) in of_narrow.as_chunks_mut().0.iter_mut().zip(narrow) {
            *bytes = u32::to_le_bytes(value);
        }
        let record = &mut self.pending;
        record.extend_from_slice(&(name.len() as u32).to_le_bytes());
        record.extend_from_slice(name);
        record.extend_from_slice(&fixed);
        if let Some(digest) = digest {
            record.extend_from_slice(digest);
        }
        if record.len() >= 64 * 1024 {
            self.hasher.update(record);
            record.clear();
        }
    }

    /// Gives memory back, while the entries of a directory in this one are read.
    pub(crate) fn pause(&mut self) {
        self.hasher.update(&self.pending);
        self.pending = Vec::new();
    }

    pub(crate) fn finish(&mut self) -> Digest {
        self.hasher.update(&self.pending);
        self.pending.clear();
        let mut digest = [0; 16];
        digest.copy_from_slice(&self.hasher.finalize().as_bytes()[..16]);
        digest
    }
}
