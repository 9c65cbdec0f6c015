//! One record of the file table, and the attributes in it.
//!
//! ```text
//! | FILE | place of the saved ends | sequence | first attribute | flags | length | base record | … attributes …
//! ```
//!
//! Sources: Linux, `fs/ntfs3/ntfs.h` (`struct MFT_REC`, `struct ATTRIB`); `layout.h` of ntfs-3g.

use super::super::source::Fields;

/// Content that contradicts the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// The types of attributes that are read.
pub(super) mod kind {
    pub(in super::super) const STANDARD_INFORMATION: u32 = 0x10;
    pub(in super::super) const ATTRIBUTE_LIST: u32 = 0x20;
    pub(in super::super) const FILE_NAME: u32 = 0x30;
    pub(in super::super) const DATA: u32 = 0x80;
    pub(in super::super) const INDEX_ROOT: u32 = 0x90;
    pub(in super::super) const INDEX_ALLOCATION: u32 = 0xA0;
    pub(in super::super) const BITMAP: u32 = 0xB0;
    pub(in super::super) const REPARSE_POINT: u32 = 0xC0;
    pub(super) const END: u32 = u32::MAX;
}

/// Bits of `FILE_ATTRIBUTE_*`.
pub(super) mod bit {
    pub(in super::super) const HIDDEN: u32 = 0x2;
    pub(in super::super) const SYSTEM: u32 = 0x4;
    pub(in super::super) const DIRECTORY: u32 = 0x10;
    pub(in super::super) const NORMAL: u32 = 0x80;
    pub(in super::super) const REPARSE_POINT: u32 = 0x400;
}

/// Records before this one are those of the file system itself: they are not in any listing, except for
/// the top directory, which is in its own.
pub(super) const FIRST_USER: u32 = 16;

const IN_USE: u16 = 1;
const DIRECTORY: u16 = 2;
/// A record is written in pieces of this size, whatever the size of sectors is.
const PIECE: usize = 512;
/// The length of a record's header in the oldest version.
const HEADER: usize = 0x2A;
/// Flags of an attribute: its content is compressed, or has holes.
const COMPRESSED: u16 = 0xFF;
const SPARSE: u16 = 0x8000;

/// The number of a record, and how often it had been used for another file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) record: u64,
    sequence: u16,
}

impl Reference {
    pub(super) fn new(stored: u64) -> Self {
        Self { record: stored & 0xFFFF_FFFF_FFFF, sequence: (stored >> 48) as u16 }
    }

    pub(super) fn of(record: u32, sequence: u16) -> Self {
        Self { record: record.into(), sequence }
    }

    /// Returns whether it means the file that uses the record now. 0 stands for every use.
    pub(super) fn is_current(self, sequence: u16) -> bool {
        self.sequence == 0 || self.sequence == sequence
    }
}

/// A record in use, with its original bytes.
#[derive(Clone, Copy)]
pub(super) struct Record<'a>(Fields<'a>);

impl<'a> Record<'a> {
    /// Checks a record and restores the ends of its pieces, which hold a number while it is on the volume: if
    /// they differ, not all of it was written. `None` if the record is not in use.
    pub(super) fn restore(bytes: &'a mut [u8]) -> Result<Option<Self>, Damaged> {
        let fields = Fields(bytes);
        match &bytes[..4] {
            b"FILE" if fields.u16(0x16) & IN_USE != 0 => {}
            b"FILE" | [0, 0, 0, 0] => return Ok(None),
            _ => return Err(Damaged),
        }
        let (saved, count) = (usize::from(fields.u16(0x4)), usize::from(fields.u16(0x6)));
        let pieces = bytes.len() / PIECE;
        if count != pieces + 1 || saved < HEADER || saved + 2 * count > PIECE - 2 {
            return Err(Damaged);
        }
        let number = fields.u16(saved);
        for piece in 0..pieces {
            let end = (piece + 1) * PIECE - 2;
            if Fields(bytes).u16(end) != number {
                return Err(Damaged);
            }
            let from = saved + 2 + 2 * piece;
            bytes.copy_within(from..from + 2, end);
        }
        Ok(Some(Self(Fields(bytes))))
    }

    pub(super) fn sequence(self) -> u16 {
        self.0.u16(0x10)
    }

    pub(super) fn is_directory(self) -> bool {
        self.0.u16(0x16) & DIRECTORY != 0
    }

    /// Returns the record of which this one holds further attributes; `None` if it is not such an extension.
    pub(super) fn base(self) -> Option<Reference> {
        let stored = self.0.u64(0x20);
        (stored != 0).then(|| Reference::new(stored))
    }

    /// Returns the attributes, in the order of their types.
    pub(super) fn attributes(self) -> Attributes<'a> {
        let Fields(bytes) = self.0;
        let used = (self.0.u32(0x18) as usize).min(bytes.len());
        let first = usize::from(self.0.u16(0x14));
        Attributes(Some(bytes.get(first..used).unwrap_or(&[])))
    }
}

/// Iterates over the attributes of a record. The last item is an error if the record is damaged.
pub(super) struct Attributes<'a>(Option<&'a [u8]>);

impl<'a> Iterator for Attributes<'a> {
    type Item = Result<Attribute<'a>, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0.take()?;
        let fields = Fields(rest);
        if rest.len() >= 4 && fields.u32(0) == kind::END {
            return None;
        }
        let length = fields.u32(4) as usize;
        if length < 24 || length > rest.len() {
            return Some(Err(Damaged));
        }
        let (attribute, rest) = rest.split_at(length);
        self.0 = Some(rest);
        Some(Ok(Attribute(Fields(attribute))))
    }
}

/// An attribute as it is stored, 24 bytes at least.
#[derive(Clone, Copy)]
pub(super) struct Attribute<'a>(Fields<'a>);

/// The sizes of an attribute's content, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) size: u64,
    pub(super) allocated: u64,
}

impl<'a> Attribute<'a> {
    pub(super) fn kind(self) -> u32 {
        self.0.u32(0)
    }

    pub(super) fn is_resident(self) -> bool {
        self.0.u8(8) == 0
    }

    /// Returns the name as UTF-16; most attributes have none.
    pub(super) fn name(self) -> &'a [u8] {
        let length = 2 * usize::from(self.0.u8(9));
        let begin = usize::from(self.0.u16(0xA));
        self.0.0.get(begin..begin + length).unwrap_or(&[])
    }

    /// Returns the content if it is in the record.
    pub(super) fn value(self) -> Option<&'a [u8]> {
        let (length, begin) = (self.0.u32(0x10) as usize, self.0.u16(0x14).into());
        self.0.0.get(begin..)?.get(..length).filter(|_| self.is_resident())
    }

    /// Returns the first cluster of the content that this attribute describes; 0 if the content is in the record.
    pub(super) fn first_cluster(self) -> u64 {
        if self.is_resident() { 0 } else { self.0.u64(0x10) }
    }

    /// Returns the list of runs, if the content is not in the record.
    pub(super) fn run_list(self) -> Option<&'a [u8]> {
        self.0.0.get(usize::from(self.0.u16(0x20))..).filter(|_| !self.is_resident())
    }

    /// Returns the sizes of all of the content, which only the attribute with its first cluster has.
    pub(super) fn sizes(self) -> Sizes {
        let fields = self.0;
        if self.is_resident() {
            let size = u64::from(fields.u32(0x10));
            return Sizes { size, allocated: size.next_multiple_of(8) };
        }
        let has_less = fields.u16(0xC) & (COMPRESSED | SPARSE) != 0;
        let allocated = fields.u64(if has_less { 0x40 } else { 0x28 });
        let bounded = |size: u64| size.min(i64::MAX as u64);
        Sizes { size: bounded(fields.u64(0x30)), allocated: bounded(allocated) }
    }

    /// Returns the number of bytes that were ever written, which are not zeros.
    pub(super) fn initialized(self) -> u64 {
        if self.is_resident() { self.sizes().size } else { self.0.u64(0x38) }
    }
}
