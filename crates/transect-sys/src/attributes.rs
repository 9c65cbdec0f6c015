//! The attributes of an entry, and which of them are known.

use std::time::{Duration, SystemTime};

use bitflags::bitflags;

bitflags! {
    /// A set of attributes: those wanted, or those that a reader returned.
    ///
    /// The bits up to `BTIME` are those of `statx(2)` (`STATX_*`, `include/uapi/linux/stat.h`), so
    /// a mask needs no translation for the kernel. The bits above stand for fields that `statx`
    /// always returns, and for fields that exist only on Windows.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct FieldMask: u16 {
        /// Permission bits and file type as the system encodes them.
        const MODE = 0x0002;
        /// Number of names (hard links) of the file.
        const NLINK = 0x0004;
        /// Owner.
        const UID = 0x0008;
        /// Group.
        const GID = 0x0010;
        /// Time of last access.
        const ATIME = 0x0020;
        /// Time of last change of the content.
        const MTIME = 0x0040;
        /// Time of last change of the attributes.
        const CTIME = 0x0080;
        /// Number of the file on its device; on Windows the file id.
        const INODE = 0x0100;
        /// Length in bytes.
        const SIZE = 0x0200;
        /// Bytes occupied on the device.
        const ALLOCATED = 0x0400;
        /// Time of creation.
        const BTIME = 0x0800;
        /// Device of the file; on Windows the volume serial number.
        const DEVICE = 0x1000;
        /// Windows: `FILE_ATTRIBUTE_*`.
        const ATTRIBUTES = 0x2000;
        /// Windows: the kind of reparse point (`IO_REPARSE_TAG_*`).
        const REPARSE_TAG = 0x4000;
        /// Windows: the 8.3 name. It is stored in the batch, not in [`Attributes`]:
        /// [`Batch::short_names`](crate::Batch::short_names).
        const SHORT_NAME = 0x8000;
    }
}

impl FieldMask {
    /// The times of modification, change, access and creation.
    pub const TIMES: Self = Self::MTIME.union(Self::CTIME).union(Self::ATIME).union(Self::BTIME);

    /// The fields that identify a file: device and inode.
    pub const FILE_ID: Self = Self::INODE.union(Self::DEVICE);

    /// The fields of a `statx(2)` mask.
    #[cfg(target_os = "linux")]
    pub(crate) const STATX: Self = Self::from_bits_truncate(Self::DEVICE.bits() - 1);
}

crate::words! {
    /// The type of an entry, as in `readdir(3)` and `stat(2)`. Its number is its place in [`FileType::ALL`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
    #[repr(u8)]
    pub enum FileType {
        /// The system did not report a type.
        #[default]
        Unknown = "unknown",
        /// A regular file.
        File = "file",
        /// A directory.
        Directory = "directory",
        /// A symbolic link.
        Symlink = "symlink",
        /// A block device.
        Block = "block",
        /// A character device.
        Char = "char",
        /// A named pipe.
        Fifo = "fifo",
        /// A socket.
        Socket = "socket",
    }
}

impl FileType {
    /// Returns whether this is a directory.
    pub fn is_dir(self) -> bool {
        self == Self::Directory
    }

    /// Returns whether this is a regular file.
    pub fn is_file(self) -> bool {
        self == Self::File
    }

    /// Returns whether this is a symbolic link.
    pub fn is_symlink(self) -> bool {
        self == Self::Symlink
    }

    /// Returns the type encoded in the upper bits of a Unix mode (`S_IFMT`, `inode(7)`).
    #[inline]
    pub fn from_mode(mode: u32) -> Self {
        Self::from_d_type((mode >> 12) as u8 & 0xf)
    }

    /// Returns the type encoded in a `d_type` byte (`DT_*`, `readdir(3)`).
    ///
    /// The values are the type bits of a mode, shifted right by twelve.
    #[inline]
    pub fn from_d_type(d_type: u8) -> Self {
        /// Read for each entry, so a table rather than branches.
        const TYPES: [FileType; 16] = {
            let mut types = [FileType::Unknown; 16];
            types[0o01] = FileType::Fifo;
            types[0o02] = FileType::Char;
            types[0o04] = FileType::Directory;
            types[0o06] = FileType::Block;
            types[0o10] = FileType::File;
            types[0o12] = FileType::Symlink;
            types[0o14] = FileType::Socket;
            types
        };
        TYPES.get(usize::from(d_type)).copied().unwrap_or(FileType::Unknown)
    }

    /// Returns the type encoded in `FILE_ATTRIBUTE_*` and `IO_REPARSE_TAG_*` on Windows.
    ///
    /// A reparse point that stands for another name (symbolic link, junction, mount point: the
    /// *name surrogate* bit, `IsReparseTagNameSurrogate` in `winnt.h`) is a link. Any other reparse
    /// point has the type it would have without the tag: cloud placeholders, deduplicated or
    /// compressed files. The tag 0 does not exist on Windows; Wine reports it for symbolic links of
    /// the host system.
    pub fn from_attributes(attributes: u32, reparse_tag: u32) -> Self {
        const DIRECTORY: u32 = 0x10;
        const REPARSE_POINT: u32 = 0x400;
        const NAME_SURROGATE: u32 = 0x2000_0000;
        if attributes & REPARSE_POINT != 0 {
            match reparse_tag {
                // The Windows Subsystem for Linux stores types that Windows lacks as reparse
                // points.
                0x8000_0023 => return Self::Socket,
                0x8000_0024 => return Self::Fifo,
                0x8000_0025 => return Self::Char,
                0x8000_0026 => return Self::Block,
                0 => return Self::Symlink,
                tag if tag & NAME_SURROGATE != 0 => return Self::Symlink,
                _ => {}
            }
        }
        if attributes & DIRECTORY != 0 { Self::Directory } else { Self::File }
    }
}

/// The identity of a file, independent of its names: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FileId {
    /// Device number of the system.
    pub device: u64,
    /// Inode number on the device.
    pub inode: u64,
}

/// The attributes of one entry. Each field is known or absent, never a made-up zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes {
    // The value of a field outside `known` is undefined: read fields only through the accessors,
    // which check the mask.
    pub(crate) known: FieldMask,
    pub(crate) file_type: FileType,
    pub(crate) mode: u16,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) size: u64,
    pub(crate) allocated: u64,
    pub(crate) inode: u64,
    pub(crate) device: u64,
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) atime: i64,
    pub(crate) btime: i64,
    pub(crate) attribute_bits: u32,
    pub(crate) reparse_tag: u32,
}

/// Defines the accessors of every field, so that none of them forgets to check the mask.
macro_rules! fields {
    ($($(#[$doc:meta])* $flag:ident $get:ident $set:ident: $type:ty;)*) => {
        impl Attributes {
            $(
                $(#[$doc])*
                #[inline]
                pub fn $get(&self) -> Option<$type> {
                    self.known.contains(FieldMask::$flag).then_some(self.$get)
                }

                #[doc = concat!("Sets what [`Attributes::", stringify!($get), "`] returns.")]
                #[inline]
                pub fn $set(&mut self, value: $type) {
                    self.$get = value;
                    self.known |= FieldMask::$flag;
                }
            )*

            /// Sets all fields that are known of others, but not the file type.
            pub fn set_from(&mut self, others: &Self) {
                $(self.set_known(Self::$set, others.$get());)*
            }
        }
    };
}

/// Calls a macro with the fields: the flag, getter, setter and type of each.
#[doc(hidden)]
#[macro_export]
macro_rules! with_fields {
    ($then:ident) => {
        $then! {
            /// Returns the apparent size: the length in bytes.
            SIZE size set_size: u64;
            /// Returns the allocated size: the bytes occupied (blocks × 512).
            ALLOCATED allocated set_allocated: u64;
            /// Returns the time of the last change of the content in nanoseconds since 1970 UTC.
            MTIME mtime set_mtime: i64;
            /// Returns the time of the last change of the attributes in nanoseconds since 1970 UTC.
            CTIME ctime set_ctime: i64;
            /// Returns the time of the last access in nanoseconds since 1970 UTC.
            ATIME atime set_atime: i64;
            /// Returns the time of creation in nanoseconds since 1970 UTC.
            BTIME btime set_btime: i64;
            /// Returns permission and type bits.
            MODE mode set_mode: u16;
            /// Returns the user id of the owner.
            UID uid set_uid: u32;
            /// Returns the group id.
            GID gid set_gid: u32;
            /// Returns the link count: the number of names of the file.
            NLINK nlink set_nlink: u32;
            /// Returns the inode number.
            INODE inode set_inode: u64;
            /// Returns the device number; on Windows the volume serial number.
            DEVICE device set_device: u64;
            /// Returns the `FILE_ATTRIBUTE_*` bits (Windows).
            ATTRIBUTES attribute_bits set_attribute_bits: u32;
            /// Returns the `IO_REPARSE_TAG_*` of a reparse point, 0 for anything else (Windows).
            REPARSE_TAG reparse_tag set_reparse_tag: u32;
        }
    };
}

with_fields!(fields);

/// Converts nanoseconds since 1970 UTC; `None` if the system's clock cannot represent them.
fn system_time(nanoseconds: i64) -> Option<SystemTime> {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    match nanoseconds < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(distance),
        false => SystemTime::UNIX_EPOCH.checked_add(distance),
    }
}

/// The times as the standard library represents them.
impl Attributes {
    /// Returns the time of the last change of the content, as [`Attributes::mtime`].
    pub fn modified(&self) -> Option<SystemTime> {
        self.mtime().and_then(system_time)
    }

    /// Returns the time of the last change of the attributes, as [`Attributes::ctime`].
    pub fn changed(&self) -> Option<SystemTime> {
        self.ctime().and_then(system_time)
    }

    /// Returns the time of the last access, as [`Attributes::atime`].
    pub fn accessed(&self) -> Option<SystemTime> {
        self.atime().and_then(system_time)
    }

    /// Returns the time of creation, as [`Attributes::btime`].
    pub fn created(&self) -> Option<SystemTime> {
        self.btime().and_then(system_time)
    }
}

impl Attributes {
    /// Returns attributes with only the file type known.
    #[inline]
    pub fn of_type(file_type: FileType) -> Self {
        Self { file_type, ..Self::default() }
    }

    /// Returns the file type.
    #[inline]
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Sets the file type.
    #[inline]
    pub fn set_file_type(&mut self, file_type: FileType) {
        self.file_type = file_type;
    }

    /// Returns the set of known fields.
    #[inline]
    pub fn known(&self) -> FieldMask {
        self.known
    }

    /// Sets a field if its value is known.
    #[doc(hidden)]
    #[inline]
    pub fn set_known<T>(&mut self, set: impl FnOnce(&mut Self, T), value: Option<T>) {
        if let Some(value) = value {
            set(self, value);
        }
    }

    /// Removes all fields except these. The file type stays.
    #[inline]
    pub fn retain(&mut self, fields: FieldMask) {
        self.known &= fields;
    }

    /// Returns whether this is a placeholder: a directory that a cloud service fills when it is
    /// opened (`FILE_ATTRIBUTE_RECALL_ON_OPEN`, Windows).
    #[inline]
    pub fn is_placeholder(&self) -> bool {
        const RECALL_ON_OPEN: u32 = 0x0004_0000;
        self.attribute_bits().is_some_and(|bits| bits & RECALL_ON_OPEN != 0)
    }

    /// Returns whether the file has holes, which read as zeros and occupy nothing. A compressed
    /// file (`FILE_ATTRIBUTE_COMPRESSED`, Windows) also occupies less than its size; its holes
    /// cannot be detected.
    #[inline]
    pub fn is_sparse(&self) -> bool {
        const COMPRESSED: u32 = 0x800;
        let compressed = self.attribute_bits().is_some_and(|bits| bits & COMPRESSED != 0);
        !compressed && self.allocated().zip(self.size()).is_some_and(|(room, size)| room < size)
    }

    /// Returns device and inode if both are known.
    #[inline]
    pub fn file_id(&self) -> Option<FileId> {
        Some(FileId { device: self.device()?, inode: self.inode()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_types_by_their_numbers() {
        let numbers: Vec<usize> = FileType::ALL.iter().map(|&of| of as usize).collect();
        assert_eq!(numbers, (0..FileType::ALL.len()).collect::<Vec<_>>());
    }

    #[test]
    fn is_sparse_smaller_allocation_unless_compressed() {
        let mut attributes = Attributes::of_type(FileType::File);
        attributes.set_allocated(4096);
        assert!(!attributes.is_sparse(), "its size is not known");
        for (size, sparse) in [(4096, false), (4097, true)] {
            attributes.set_size(size);
            assert_eq!(attributes.is_sparse(), sparse);
        }
        for (bits, sparse) in [(0x20, true), (0x220, true), (0x820, false)] {
            attributes.set_attribute_bits(bits);
            assert_eq!(attributes.is_sparse(), sparse);
        }
    }

    #[test]
    fn attributes_times_before_and_after_1970() {
        let mut attributes = Attributes::of_type(FileType::File);
        assert_eq!(attributes.modified(), None);
        let epoch = SystemTime::UNIX_EPOCH;
        // Windows counts in steps of 100 ns.
        for (nanoseconds, expected) in [
            (0, epoch),
            (1_500_000_100, epoch + Duration::from_nanos(1_500_000_100)),
            (-1_500_000_100, epoch - Duration::from_nanos(1_500_000_100)),
        ] {
            attributes.set_mtime(nanoseconds);
            attributes.set_btime(nanoseconds);
            assert_eq!(attributes.modified(), Some(expected));
            assert_eq!(attributes.created(), Some(expected));
        }
        for extreme in [i64::MIN, i64::MAX] {
            attributes.set_atime(extreme);
            attributes.set_ctime(extreme);
            assert_eq!(attributes.accessed(), attributes.changed());
        }
    }

    #[test]
    fn attributes_unset_field_absent_not_zero() {
        let mut attributes = Attributes::of_type(FileType::File);
        assert_eq!(attributes.size(), None);
        assert_eq!(attributes.file_id(), None);
        attributes.set_size(0);
        assert_eq!(attributes.size(), Some(0));
        assert_eq!(attributes.known(), FieldMask::SIZE);
        attributes.set_mtime(7);
        attributes.retain(FieldMask::MTIME);
        assert_eq!((attributes.size(), attributes.mtime()), (None, Some(7)));
    }

    #[test]
    fn file_type_from_reparse_tag() {
        for (attributes, tag, expected) in [
            (0x20, 0, FileType::File),
            (0x10, 0, FileType::Directory),
            (0x11, 0xA000_000C, FileType::Directory), // not a reparse point: the tag is ignored
            (0x420, 0xA000_000C, FileType::Symlink),
            (0x410, 0xA000_000C, FileType::Symlink),
            (0x410, 0xA000_0003, FileType::Symlink), // junction, mount point
            (0x420, 0xA000_001D, FileType::Symlink), // link of the subsystem for Linux
            (0x410, 0, FileType::Symlink),           // Wine
            (0x410, 0x9000_101A, FileType::Directory), // cloud
            (0x420, 0x9000_001A, FileType::File),
            (0x420, 0x8000_0013, FileType::File), // deduplicated
            (0x420, 0x8000_0017, FileType::File), // compressed by the image filter
            (0x420, 0x8000_001B, FileType::File), // alias of a packaged program
            (0x420, 0x8000_0023, FileType::Socket),
            (0x420, 0x8000_0024, FileType::Fifo),
            (0x420, 0x8000_0025, FileType::Char),
            (0x420, 0x8000_0026, FileType::Block),
        ] {
            let got = FileType::from_attributes(attributes, tag);
            assert_eq!(got, expected, "{attributes:#x} {tag:#x}");
        }
    }

    #[test]
    fn is_placeholder_unfilled_cloud_directory() {
        let mut attributes = Attributes::of_type(FileType::Directory);
        assert!(!attributes.is_placeholder());
        attributes.set_attribute_bits(0x10);
        assert!(!attributes.is_placeholder());
        attributes.set_attribute_bits(0x0004_0010);
        assert!(attributes.is_placeholder());
    }

    #[test]
    fn file_type_d_type_and_mode_agree() {
        for (d_type, mode, expected) in [
            (1, 0o010_644, FileType::Fifo),
            (2, 0o020_644, FileType::Char),
            (4, 0o040_755, FileType::Directory),
            (6, 0o060_644, FileType::Block),
            (8, 0o100_644, FileType::File),
            (10, 0o120_777, FileType::Symlink),
            (12, 0o140_755, FileType::Socket),
            (0, 0, FileType::Unknown),
        ] {
            assert_eq!(FileType::from_d_type(d_type), expected);
            assert_eq!(FileType::from_mode(mode), expected);
        }
        // DT_WHT and any future value are unknown.
        assert_eq!(FileType::from_d_type(14), FileType::Unknown);
    }
}
