//! All kinds of readers: which exist, and which are available on this system.

crate::words! {
    /// The kinds of readers, as users select them; preferred ones first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
    #[non_exhaustive]
    pub enum ReaderKind {
        /// On Linux.
        GetdentsStatx = "getdents-statx"
            => "getdents64, then statx relative to the directory handle",
        /// On Linux, for kernels and sandboxes without `statx`.
        GetdentsFstatat = "getdents-fstatat"
            => "getdents64, then fstatat relative to the directory handle",
        /// On Windows.
        NtQuery = "nt-query" => "NtQueryDirectoryFile, relative to the parent's handle",
        /// On Windows.
        ByHandle = "by-handle" => "GetFileInformationByHandleEx, relative to the parent's handle",
        /// On Windows.
        FindFirstFileExBasicLarge = "find-first-file-ex-basic-large"
            => "FindFirstFileEx, level Basic, large fetch",
        /// On Windows.
        FindFirstFileExStandardLarge = "find-first-file-ex-standard-large"
            => "FindFirstFileEx, level Standard, large fetch",
        /// On Windows.
        FindFirstFileExBasic = "find-first-file-ex-basic" => "FindFirstFileEx, level Basic",
        /// On Windows.
        FindFirstFileExStandard = "find-first-file-ex-standard" => "FindFirstFileEx, level Standard",
        /// On Windows.
        FindFirstFile = "find-first-file" => "FindFirstFile and FindNextFile",
        /// On Windows: a bad example to compare with.
        FileAttributesEx = "file-attributes-ex"
            => "FindFirstFile, then GetFileAttributesEx for every file",
        /// On every system.
        Portable = "portable" => "std::fs::read_dir, then symlink_metadata by path",
        /// On every system.
        Ext4 = "ext4" => "inode tables of an image or device with ext4, ext3 or ext2",
        /// On Linux.
        Btrfs = "btrfs" => "tree of a mounted subvolume of Btrfs",
        /// On every system; mounted volumes on Windows.
        Ntfs = "ntfs" => "file table of an image, a device or a mounted volume with NTFS",
    }
}

const ONLY_LINUX: &str = "only on Linux";
const ONLY_WINDOWS: &str = "only on Windows";

impl ReaderKind {
    /// Those that read directories.
    pub const DIRECTORIES: &'static [Self] = Self::ALL.split_at(11).0;

    /// Those that read whole volumes, not directories: their roots are images and devices.
    pub const VOLUMES: &'static [Self] = Self::ALL.split_at(11).1;

    /// Returns whether the reader uses [`buffer_size`](crate::settings::ReaderSettings::buffer_size).
    pub fn takes_buffer_size(self) -> bool {
        matches!(self, Self::GetdentsStatx | Self::GetdentsFstatat | Self::NtQuery | Self::ByHandle)
    }

    /// Returns whether the reader uses [`stat_order`](crate::settings::ReaderSettings::stat_order): its listing contains inode
    /// numbers, and attributes are queried afterwards, entry by entry.
    pub fn takes_stat_order(self) -> bool {
        matches!(self, Self::GetdentsStatx | Self::GetdentsFstatat)
    }

    /// Returns why the reader is not available on this system, or `None` if it is.
    pub fn unavailable_reason(self) -> Option<&'static str> {
        match self {
            Self::GetdentsStatx | Self::GetdentsFstatat if !cfg!(target_os = "linux") => {
                Some(ONLY_LINUX)
            }
            #[cfg(target_os = "linux")]
            Self::GetdentsStatx if !crate::linux::has_statx() => {
                Some("this kernel or sandbox refuses statx")
            }
            Self::GetdentsStatx | Self::GetdentsFstatat | Self::Portable => None,
            kind if Self::VOLUMES.contains(&kind) && !cfg!(feature = "volumes") => {
                Some("this program was built without the feature 'volumes'")
            }
            Self::Btrfs => (!cfg!(target_os = "linux")).then_some(ONLY_LINUX),
            kind if Self::VOLUMES.contains(&kind) => None,
            _ => (!cfg!(windows)).then_some(ONLY_WINDOWS),
        }
    }

    /// Returns the preferred reader of those that are available.
    pub fn best() -> Self {
        Self::ALL
            .iter()
            .copied()
            .find(|reader| reader.unavailable_reason().is_none())
            .unwrap_or(Self::Portable)
    }
}
