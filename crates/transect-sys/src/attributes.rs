//! What can be known of an entry, and which part of it is known.

use bitflags::bitflags;

bitflags! {
    /// A set of attributes: those wanted, or those a reader could tell.
    ///
    /// The bits up to `BTIME` are those of `statx(2)` (`STATX_*`, `include/uapi/linux/stat.h`), so
    /// that asking the kernel for a mask needs no table. What `statx` tells unasked, and what only
    /// Windows knows, comes above.
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
        /// Last access.
        const ATIME = 0x0020;
        /// Last change of the content.
        const MTIME = 0x0040;
        /// Last change of the attributes.
        const CTIME = 0x0080;
        /// Number of the file within its device; on Windows the file id.
        const INODE = 0x0100;
        /// Length in bytes.
        const SIZE = 0x0200;
        /// Bytes occupied on the device.
        const ALLOCATED = 0x0400;
        /// Birth.
        const BTIME = 0x0800;
        /// Device that holds the file; on Windows the volume serial number.
        const DEVICE = 0x1000;
        /// Windows: `FILE_ATTRIBUTE_*`.
        const ATTRIBUTES = 0x2000;
        /// Windows: what a reparse point is (`IO_REPARSE_TAG_*`).
        const REPARSE_TAG = 0x4000;
        /// Windows: the 8.3 name. It is not among the [`Attributes`] but in the batch:
        /// [`Batch::short_name`](crate::Batch::short_name).
        const SHORT_NAME = 0x8000;
    }
}

impl FieldMask {
    /// The four times.
    pub const TIMES: Self = Self::MTIME.union(Self::CTIME).union(Self::ATIME).union(Self::BTIME);

    /// The fields that identify a file: device and inode.
    pub const FILE_ID: Self = Self::INODE.union(Self::DEVICE);

    /// The fields that `statx(2)` is asked for.
    #[cfg(target_os = "linux")]
    pub(crate) const STATX: Self = Self::from_bits_truncate(Self::DEVICE.bits() - 1);
}

/// The type of an entry, as `readdir(3)` and `stat(2)` tell them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum FileType {
    /// The system did not say.
    #[default]
    Unknown,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A block device.
    Block,
    /// A character device.
    Char,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
}

impl FileType {
    /// Returns the type that the upper bits of a Unix mode encode (`S_IFMT`, `inode(7)`).
    pub fn from_mode(mode: u32) -> Self {
        match mode & 0o170_000 {
            0o100_000 => Self::File,
            0o040_000 => Self::Directory,
            0o120_000 => Self::Symlink,
            0o060_000 => Self::Block,
            0o020_000 => Self::Char,
            0o010_000 => Self::Fifo,
            0o140_000 => Self::Socket,
            _ => Self::Unknown,
        }
    }

    /// Returns the type that a `d_type` byte encodes (`DT_*`, `readdir(3)`).
    ///
    /// The values are those of the mode's type bits, shifted right by twelve.
    pub fn from_d_type(d_type: u8) -> Self {
        Self::from_mode(u32::from(d_type) << 12)
    }

    /// Returns the type that `FILE_ATTRIBUTE_*` and `IO_REPARSE_TAG_*` encode on Windows.
    ///
    /// A reparse point that stands for something else by name (symbolic link, junction, mount
    /// point: the *name surrogate* bit, `IsReparseTagNameSurrogate` in `winnt.h`) is a link.
    /// All others are what they would be without: cloud placeholders, deduplicated or compressed
    /// files. A tag of 0 does not exist on Windows; Wine shows links of the system below so.
    pub fn from_attributes(attributes: u32, reparse_tag: u32) -> Self {
        const DIRECTORY: u32 = 0x10;
        const REPARSE_POINT: u32 = 0x400;
        const NAME_SURROGATE: u32 = 0x2000_0000;
        if attributes & REPARSE_POINT != 0 {
            match reparse_tag {
                // How the Windows subsystem for Linux stores what Windows has not.
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

    /// Returns the word for the type, as it stands in JSON and in the documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Block => "block",
            Self::Char => "char",
            Self::Fifo => "fifo",
            Self::Socket => "socket",
        }
    }
}

/// What identifies a file whatever its name: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// Device number as the system gives it.
    pub device: u64,
    /// Inode number within the device.
    pub inode: u64,
}

/// The attributes of one entry: each field is known or absent, never a made-up zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes {
    // A field outside `known` holds anything: only the accessors, which look at the mask, tell.
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

/// Writes the pair of accessors that every field has, so that the mask cannot be forgotten.
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
        }
    };
}

fields! {
    /// Returns the apparent size: length in bytes.
    SIZE size set_size: u64;
    /// Returns the allocated size: bytes occupied (blocks × 512).
    ALLOCATED allocated set_allocated: u64;
    /// Returns the time of the last change of the content, in nanoseconds since 1970 UTC.
    MTIME mtime set_mtime: i64;
    /// Returns the time of the last change of the attributes, in nanoseconds since 1970 UTC.
    CTIME ctime set_ctime: i64;
    /// Returns the time of the last access, in nanoseconds since 1970 UTC.
    ATIME atime set_atime: i64;
    /// Returns the time of birth, in nanoseconds since 1970 UTC.
    BTIME btime set_btime: i64;
    /// Returns permission and type bits.
    MODE mode set_mode: u16;
    /// Returns the owner's number.
    UID uid set_uid: u32;
    /// Returns the group's number.
    GID gid set_gid: u32;
    /// Returns the link count: how many names the file has.
    NLINK nlink set_nlink: u32;
    /// Returns the inode number.
    INODE inode set_inode: u64;
    /// Returns the device number; on Windows the volume serial number.
    DEVICE device set_device: u64;
    /// Returns the `FILE_ATTRIBUTE_*` bits (Windows).
    ATTRIBUTES attribute_bits set_attribute_bits: u32;
    /// Returns the `IO_REPARSE_TAG_*` of a reparse point, 0 if it is none (Windows).
    REPARSE_TAG reparse_tag set_reparse_tag: u32;
}

impl Attributes {
    /// Returns attributes of which only the file type is known.
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

    /// Returns which fields are known.
    #[inline]
    pub fn known(&self) -> FieldMask {
        self.known
    }

    /// Forgets all fields but these; the file type stays.
    #[inline]
    pub fn retain(&mut self, fields: FieldMask) {
        self.known &= fields;
    }

    /// Returns whether the content lies elsewhere and is fetched by whoever opens it: a directory
    /// that a cloud service has not filled yet (`FILE_ATTRIBUTE_RECALL_ON_OPEN`, Windows).
    #[inline]
    pub fn is_placeholder(&self) -> bool {
        const RECALL_ON_OPEN: u32 = 0x0004_0000;
        self.attribute_bits().is_some_and(|bits| bits & RECALL_ON_OPEN != 0)
    }

    /// Returns whether parts of it are holes: they read as zeros and occupy nothing. What is
    /// compressed (`FILE_ATTRIBUTE_COMPRESSED`, Windows) occupies less than its size, too, and has
    /// none to be told.
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
    fn what_occupies_less_than_its_size_has_holes_unless_it_is_compressed() {
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
    fn an_unset_field_is_absent_and_not_zero() {
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
    fn reparse_points_are_told_apart_by_their_tags() {
        for (attributes, tag, expected) in [
            (0x20, 0, FileType::File),
            (0x10, 0, FileType::Directory),
            (0x11, 0xA000_000C, FileType::Directory), // no reparse point: not a tag
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
    fn a_directory_that_a_cloud_has_not_filled_is_a_placeholder() {
        let mut attributes = Attributes::of_type(FileType::Directory);
        assert!(!attributes.is_placeholder());
        attributes.set_attribute_bits(0x10);
        assert!(!attributes.is_placeholder());
        attributes.set_attribute_bits(0x0004_0010);
        assert!(attributes.is_placeholder());
    }

    #[test]
    fn d_type_and_mode_agree() {
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
        // DT_WHT and whatever may come are not guessed at.
        assert_eq!(FileType::from_d_type(14), FileType::Unknown);
    }
}
