//! All kinds of readers: which exist, and which are available on this system.

/// The kinds of readers, as users select them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ReaderKind {
    /// Linux: `getdents64` and `statx`, relative to the directory handle.
    GetdentsStatx,
    /// Linux: `getdents64` and `fstatat`, for kernels and sandboxes without `statx`.
    GetdentsFstatat,
    /// Windows: `NtQueryDirectoryFile`, directories opened relative to their parent.
    NtQuery,
    /// Windows: `GetFileInformationByHandleEx`, directories opened relative to their parent.
    ByHandle,
    /// Windows: `FindFirstFileEx`, level Basic, large fetch.
    FindFirstFileExBasicLarge,
    /// Windows: `FindFirstFileEx`, level Standard, large fetch.
    FindFirstFileExStandardLarge,
    /// Windows: `FindFirstFileEx`, level Basic.
    FindFirstFileExBasic,
    /// Windows: `FindFirstFileEx`, level Standard.
    FindFirstFileExStandard,
    /// Windows: `FindFirstFile`.
    FindFirstFile,
    /// Windows: `FindFirstFile`, then `GetFileAttributesEx` for every file: a bad example to
    /// compare with.
    FileAttributesEx,
    /// Every system: `std::fs`.
    Portable,
    /// Every system: the inode tables of an image or device with ext4, ext3 or ext2.
    #[cfg(feature = "volumes")]
    Ext4,
    /// Linux: the tree of a mounted subvolume of Btrfs.
    #[cfg(feature = "volumes")]
    Btrfs,
    /// Every system: the file table of an image or device with NTFS; on Windows, also of a mounted volume.
    #[cfg(feature = "volumes")]
    Ntfs,
}

const ONLY_LINUX: &str = "only on Linux";
const ONLY_WINDOWS: &str = "only on Windows";

impl ReaderKind {
    /// All kinds that read directories, preferred ones first.
    pub const ALL: &'static [Self] = &[
        Self::GetdentsStatx,
        Self::GetdentsFstatat,
        Self::NtQuery,
        Self::ByHandle,
        Self::FindFirstFileExBasicLarge,
        Self::FindFirstFileExStandardLarge,
        Self::FindFirstFileExBasic,
        Self::FindFirstFileExStandard,
        Self::FindFirstFile,
        Self::FileAttributesEx,
        Self::Portable,
    ];

    /// Those that read whole volumes, not directories: their roots are images and devices.
    pub const VOLUMES: &'static [Self] = &[
        #[cfg(feature = "volumes")]
        Self::Ext4,
        #[cfg(feature = "volumes")]
        Self::Btrfs,
        #[cfg(feature = "volumes")]
        Self::Ntfs,
    ];

    /// Returns the name that users type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GetdentsStatx => "getdents-statx",
            Self::GetdentsFstatat => "getdents-fstatat",
            Self::NtQuery => "nt-query",
            Self::ByHandle => "by-handle",
            Self::FindFirstFileExBasicLarge => "find-first-file-ex-basic-large",
            Self::FindFirstFileExStandardLarge => "find-first-file-ex-standard-large",
            Self::FindFirstFileExBasic => "find-first-file-ex-basic",
            Self::FindFirstFileExStandard => "find-first-file-ex-standard",
            Self::FindFirstFile => "find-first-file",
            Self::FileAttributesEx => "file-attributes-ex",
            Self::Portable => "portable",
            #[cfg(feature = "volumes")]
            Self::Ext4 => "ext4",
            #[cfg(feature = "volumes")]
            Self::Btrfs => "btrfs",
            #[cfg(feature = "volumes")]
            Self::Ntfs => "ntfs",
        }
    }

    /// Returns a one-line description.
    pub fn about(self) -> &'static str {
        match self {
            Self::GetdentsStatx => "getdents64, then statx relative to the directory handle",
            Self::GetdentsFstatat => "getdents64, then fstatat relative to the directory handle",
            Self::NtQuery => "NtQueryDirectoryFile, relative to the parent's handle",
            Self::ByHandle => "GetFileInformationByHandleEx, relative to the parent's handle",
            Self::FindFirstFileExBasicLarge => "FindFirstFileEx, level Basic, large fetch",
            Self::FindFirstFileExStandardLarge => "FindFirstFileEx, level Standard, large fetch",
            Self::FindFirstFileExBasic => "FindFirstFileEx, level Basic",
            Self::FindFirstFileExStandard => "FindFirstFileEx, level Standard",
            Self::FindFirstFile => "FindFirstFile and FindNextFile",
            Self::FileAttributesEx => "FindFirstFile, then GetFileAttributesEx for every file",
            Self::Portable => "std::fs::read_dir, then symlink_metadata by path",
            #[cfg(feature = "volumes")]
            Self::Ext4 => "inode tables of an image or device with ext4, ext3 or ext2",
            #[cfg(feature = "volumes")]
            Self::Btrfs => "tree of a mounted subvolume of Btrfs",
            #[cfg(feature = "volumes")]
            Self::Ntfs if cfg!(windows) => {
                "file table of a volume with NTFS, mounted or in an image"
            }
            #[cfg(feature = "volumes")]
            Self::Ntfs => "file table of an image or device with NTFS",
        }
    }

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
            #[cfg(feature = "volumes")]
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
