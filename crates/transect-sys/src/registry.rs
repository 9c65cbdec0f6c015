//! The readers by name: which there are, which can be used here, and how one is made.

use std::ops::RangeInclusive;

use crate::portable::PortableReader;
use crate::reader::Reader;
use crate::stat_order::StatOrder;

/// The readers by name, as users choose them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Windows: `FindFirstFile`, then `GetFileAttributesEx` for every file: what not to do.
    FileAttributesEx,
    /// Every system: `std::fs`.
    Portable,
}

/// What a reader can be told beyond its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderSettings {
    /// Bytes that one listing call may fill, within [`ReaderSettings::BUFFER_SIZES`]. For the
    /// readers that take one: [`ReaderKind::takes_buffer_size`].
    pub buffer_size: usize,
    /// Which entry of a listing is asked about first. For the readers that take one:
    /// [`ReaderKind::takes_stat_order`].
    pub stat_order: StatOrder,
}

impl ReaderSettings {
    /// The sizes that a buffer may have: one page to 4 MiB.
    ///
    /// The longest record that a local file system makes fits the smallest.
    pub const BUFFER_SIZES: RangeInclusive<usize> = 4 << 10..=4 << 20;
}

impl Default for ReaderSettings {
    /// 64 KiB, asked as listed.
    ///
    /// From 4 KiB to 1 MiB the size made no measurable difference to a warm scan on Linux
    /// (peers-scan: floor variants b4k, b32k, b1m within 3 %). 64 KiB lets a directory of 2,000
    /// names arrive in one call, keeps 32 threads within 2 MiB, and is the most that older
    /// versions of SMB bring in one answer.
    fn default() -> Self {
        Self { buffer_size: 64 << 10, stat_order: StatOrder::default() }
    }
}

/// What is done with readers, of whatever type: see [`ReaderKind::dispatch`].
pub trait ReaderVisitor {
    /// What comes out of it.
    type Value;

    /// Uses readers that `make` makes, one for every thread.
    fn visit_readers<R: Reader>(self, make: impl Fn() -> R + Sync) -> Self::Value;
}

const ONLY_LINUX: &str = "only on Linux";
const ONLY_WINDOWS: &str = "only on Windows";

impl ReaderKind {
    /// All readers, the preferred ones first.
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

    /// Returns the name, as users type it.
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
        }
    }

    /// Returns what the reader does, in one line.
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
        }
    }

    /// Returns whether [`ReaderSettings::buffer_size`] means something to the reader.
    pub fn takes_buffer_size(self) -> bool {
        matches!(self, Self::GetdentsStatx | Self::GetdentsFstatat | Self::NtQuery | Self::ByHandle)
    }

    /// Returns whether [`ReaderSettings::stat_order`] means something to the reader: its listing
    /// tells inode numbers, and attributes are asked for afterwards, entry by entry.
    pub fn takes_stat_order(self) -> bool {
        matches!(self, Self::GetdentsStatx | Self::GetdentsFstatat)
    }

    /// Returns why the reader cannot be used here, if it cannot.
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
            _ => (!cfg!(windows)).then_some(ONLY_WINDOWS),
        }
    }

    /// Returns the best reader that can be used here.
    pub fn best() -> Self {
        Self::ALL
            .iter()
            .copied()
            .find(|reader| reader.unavailable_reason().is_none())
            .unwrap_or(Self::Portable)
    }

    /// Lets `visitor` use readers of this name; portable ones if the name cannot be used here.
    pub fn dispatch<U: ReaderVisitor>(self, settings: ReaderSettings, visitor: U) -> U::Value {
        match self {
            #[cfg(target_os = "linux")]
            Self::GetdentsStatx | Self::GetdentsFstatat => {
                use crate::linux::{GetdentsReader, StatCall};
                let call = match self {
                    Self::GetdentsStatx => StatCall::Statx,
                    _ => StatCall::Fstatat,
                };
                visitor.visit_readers(|| GetdentsReader::new(call, settings))
            }
            #[cfg(windows)]
            Self::NtQuery | Self::ByHandle => {
                use crate::windows::{DirectoryCall, HandleReader};
                let call = match self {
                    Self::NtQuery => DirectoryCall::NtQuery,
                    _ => DirectoryCall::ByHandle,
                };
                visitor.visit_readers(|| HandleReader::new(call, settings.buffer_size))
            }
            #[cfg(windows)]
            Self::FindFirstFile
            | Self::FindFirstFileExBasic
            | Self::FindFirstFileExStandard
            | Self::FindFirstFileExBasicLarge
            | Self::FindFirstFileExStandardLarge
            | Self::FileAttributesEx => {
                use crate::windows::{FindCall, FindReader};
                let call = match self {
                    Self::FindFirstFileExBasic => FindCall::Ex { basic: true, large: false },
                    Self::FindFirstFileExStandard => FindCall::Ex { basic: false, large: false },
                    Self::FindFirstFileExBasicLarge => FindCall::Ex { basic: true, large: true },
                    Self::FindFirstFileExStandardLarge => {
                        FindCall::Ex { basic: false, large: true }
                    }
                    Self::FileAttributesEx => FindCall::AttributesEx,
                    _ => FindCall::Plain,
                };
                visitor.visit_readers(|| FindReader::new(call))
            }
            _ => {
                let _ = settings;
                visitor.visit_readers(PortableReader::new)
            }
        }
    }
}
