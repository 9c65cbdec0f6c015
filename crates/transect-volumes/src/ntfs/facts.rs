//! What one record says of a file, and how its attributes become those of every other file system.

use transect_sys::AlternateStreams;
use transect_sys::record::dirinfo::{append_utf8, nanoseconds, utf16_units};

use super::super::inode_table::{InodeRecord, Role, Sectors, Times};
use super::super::source::Fields;
use super::record::{Attribute, Damaged, Record, Reference, Sizes, bit, kind};
use super::special::Content;

/// The name of the index that is the content of a directory.
pub(super) const INDEX_NAME: &[u8; 8] = b"$\0I\x003\x000\0";
/// The bytes of `$FILE_NAME` before the name.
const BEFORE_NAME: usize = 0x42;
/// A name for DOS, beside another one for the same entry.
const ONLY_DOS: u8 = 2;

/// What the attributes of one record say.
#[derive(Default)]
pub(super) struct Facts<'a> {
    /// The value of `$STANDARD_INFORMATION`.
    standard: &'a [u8],
    data: Option<Attribute<'a>>,
    index: Option<Attribute<'a>>,
    reparse_point: Option<Attribute<'a>>,
    /// The index of a directory, or its root.
    pub(super) index_root: Option<&'a [u8]>,
    /// The number of names, without those for DOS.
    pub(super) names: u16,
    /// Alternate streams: contents with names.
    pub(super) streams: AlternateStreams,
}

/// One name of a file, in one directory.
#[derive(Clone, Copy)]
pub(super) struct FileName<'a>(pub(super) &'a [u8]);

impl FileName<'_> {
    /// Returns whether it is not only for DOS, beside another name.
    pub(super) fn is_shown(self) -> bool {
        Fields(self.0).u8(0x41) != ONLY_DOS
    }

    /// Returns a number that tells this name of a file from others: from its record, and from the length, the beginning and
    /// the end of the name.
    pub(super) fn mark(self, file: u32) -> u64 {
        let units = usize::from(Fields(self.0).u8(0x40));
        let name = Fields(self.0.get(..BEFORE_NAME + 2 * units).unwrap_or(&[]));
        let last = name.u64(BEFORE_NAME + 2 * units - 8);
        let (first, last) = match units {
            0..4 => (0, last.checked_shr(64 - 16 * units as u32).unwrap_or(0)),
            _ => (name.u64(BEFORE_NAME), last),
        };
        let mix = |it: u64| (it ^ it >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mix(mix(mix(u64::from(file) << 8 | units as u64) ^ first) ^ last)
    }

    pub(super) fn directory(self) -> Reference {
        Reference::new(Fields(self.0).u64(0))
    }

    pub(super) fn append_to(self, out: &mut Vec<u8>) -> Result<(), Damaged> {
        let length = 2 * usize::from(Fields(self.0).u8(0x40));
        append_name(self.0.get(BEFORE_NAME..BEFORE_NAME + length).ok_or(Damaged)?, out)
    }
}

/// Appends a name in UTF-16 as bytes, as Linux shows it: UTF-8, unpaired surrogates encoded alike.
pub(super) fn append_name(name: &[u8], out: &mut Vec<u8>) -> Result<(), Damaged> {
    let start = out.len();
    if append_utf8(utf16_units(name), out).is_err() {
        for character in char::decode_utf16(utf16_units(name)) {
            match character {
                Ok(character) => {
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Err(error) => {
                    let unit = error.unpaired_surrogate();
                    let low = |bits: u16| 0x80 | (bits & 0x3F) as u8;
                    out.extend([0xE0 | (unit >> 12) as u8, low(unit >> 6), low(unit)]);
                }
            }
        }
    }
    match &out[start..] {
        b"" | b"." | b".." => Err(Damaged),
        name if name.iter().any(|byte| matches!(byte, 0 | b'/')) => Err(Damaged),
        _ => Ok(()),
    }
}

impl<'a> Facts<'a> {
    /// Reads the attributes of a record. `add` receives the names.
    /// What was found before damage is kept.
    pub(super) fn read(
        &mut self,
        record: Record<'a>,
        mut add: impl FnMut(FileName<'a>) -> Result<(), Damaged>,
    ) -> Result<(), Damaged> {
        let mut result = Ok(());
        for attribute in record.attributes() {
            let attribute = attribute?;
            match attribute.kind() {
                kind::STANDARD_INFORMATION => self.standard = attribute.value().ok_or(Damaged)?,
                kind::FILE_NAME => {
                    let value = attribute.value().ok_or(Damaged)?;
                    let name = FileName(value);
                    if name.is_shown() {
                        self.names = self.names.saturating_add(1);
                        result = result.and(add(name));
                    }
                }
                kind::DATA if attribute.name().is_empty() && attribute.first_cluster() == 0 => {
                    self.data = Some(attribute);
                }
                kind::DATA if attribute.first_cluster() == 0 => {
                    let Sizes { size, allocated } = attribute.sizes();
                    self.streams.count += 1;
                    self.streams.apparent = self.streams.apparent.saturating_add(size);
                    if !attribute.is_resident() {
                        self.streams.allocated = self.streams.allocated.saturating_add(allocated);
                    }
                }
                kind::INDEX_ALLOCATION
                    if attribute.name() == INDEX_NAME && attribute.first_cluster() == 0 =>
                {
                    self.index = Some(attribute);
                }
                kind::INDEX_ROOT if attribute.name() == INDEX_NAME => {
                    self.index_root = attribute.value();
                }
                kind::REPARSE_POINT => self.reparse_point = Some(attribute),
                _ => {}
            }
        }
        result
    }

    /// Returns content that may say what the file is.
    pub(super) fn contents(&self) -> impl Iterator<Item = (Content, Attribute<'a>)> + use<'a> {
        let reparse_point = self.reparse_point.map(|it| (Content::ReparsePoint, it));
        reparse_point.into_iter().chain(self.data.map(|it| (Content::Interix, it)))
    }

    /// Returns the sizes of the content that a file has, or a directory.
    pub(super) fn sizes(&self, is_directory: bool) -> Option<Sizes> {
        let content = if is_directory { self.index } else { self.data };
        content.map(Attribute::sizes)
    }

    /// Returns the bits of `FILE_ATTRIBUTE_*` that Windows would report.
    fn bits(&self, is_directory: bool) -> u32 {
        match Fields(self.standard).u32(0x20) {
            bits if is_directory => bits | bit::DIRECTORY,
            0 => bit::NORMAL,
            bits => bits,
        }
    }

    /// Returns the attributes, except for the number of a directory, for what its type is a matter of content.
    pub(super) fn inode_record(&self, is_directory: bool) -> InodeRecord {
        let mut record = InodeRecord::default();
        let (mode, role) = match is_directory {
            true => (0o040_000, Role::Directory(0)),
            false => (0o100_000, Role::Entry),
        };
        record.mode = mode;
        record.set_role(role);
        record.mtime = self.time(8);
        record.nlink = self.names;
        record.more = [self.bits(is_directory), 0];
        set_sizes(&mut record, self.sizes(is_directory).unwrap_or_default());
        record
    }

    /// Returns all times but that of the content.
    pub(super) fn times(&self) -> Times {
        Times { ctime: self.time(16), atime: self.time(24), btime: self.time(0) }
    }

    fn time(&self, at: usize) -> i64 {
        nanoseconds(Fields(self.standard).u64(at).cast_signed()).unwrap_or(i64::MIN)
    }
}

/// Sets the sizes of a file. Content in its record is shown as a sector, so that the file does not seem to
/// be a hole.
pub(super) fn set_sizes(record: &mut InodeRecord, sizes: Sizes) {
    record.size = sizes.size;
    record.allocated = Sectors::new(sizes.allocated.div_ceil(512));
}
