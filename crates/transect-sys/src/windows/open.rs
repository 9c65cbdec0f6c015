//! Opening files and directories: a root by path, everything else by name in an open directory.

use std::ffi::OsStr;
use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, OwnedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DIRECTORY_FILE, FILE_OPEN_FOR_BACKUP_INTENT, FILE_OPEN_NO_RECALL, FILE_OPEN_REPARSE_POINT,
    FILE_SYNCHRONOUS_IO_NONALERT, NtOpenFile,
};
use windows_sys::Win32::Foundation::UNICODE_STRING;
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_NO_RECALL,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_FLAG_OVERLAPPED, FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, OPEN_EXISTING, SYNCHRONIZE,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::path::append_component;
use super::status::{error_from_status, owned};

/// Never restricts other processes.
pub(super) const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// What a handle is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Listing a directory and opening its entries.
    List,
    /// Querying attributes. Never conflicts with the sharing mode of other handles.
    ReadAttributes,
    /// Reading change notifications of a directory, asynchronously.
    Watch,
}

impl Purpose {
    fn access(self) -> u32 {
        match self {
            Self::List => FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
            Self::ReadAttributes => FILE_READ_ATTRIBUTES | SYNCHRONIZE,
            Self::Watch => FILE_LIST_DIRECTORY | SYNCHRONIZE,
        }
    }
}

/// Opens a verbatim path. Without `follow`, opens a link at its end instead of the target.
///
/// Does not make a cloud service fetch the content of a placeholder.
pub(super) fn open_path(path: &[u16], purpose: Purpose, follow: bool) -> io::Result<OwnedHandle> {
    let mut name = Vec::with_capacity(path.len() + 1);
    name.extend_from_slice(path);
    name.push(0);
    let link = if follow { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT };
    let overlapped = if purpose == Purpose::Watch { FILE_FLAG_OVERLAPPED } else { 0 };
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_NO_RECALL | link | overlapped;
    let (access, open) = (purpose.access(), OPEN_EXISTING);
    // SAFETY: the name ends in a NUL and lives through the call; the optional pointers are null; the
    // handle is new.
    unsafe { owned(CreateFileW(name.as_ptr(), access, SHARE_ALL, null(), open, flags, null_mut())) }
}

/// Opens `name` in an open directory with one call at any depth. No path is parsed.
///
/// The name must be spelled as it was listed; case is ignored only if the system does so by itself.
pub(super) fn open_entry(
    parent: BorrowedHandle<'_>,
    name: &OsStr,
    purpose: Purpose,
    follow: bool,
) -> io::Result<OwnedHandle> {
    // Names on local file systems have at most 255 units.
    let mut units = Vec::with_capacity(256);
    append_component(&mut units, name)?;
    open_units(parent, &mut units, purpose, follow)
}

/// Opens an entry by the UTF-16 units of its name, which are not changed.
pub(super) fn open_units(
    parent: BorrowedHandle<'_>,
    units: &mut [u16],
    purpose: Purpose,
    follow: bool,
) -> io::Result<OwnedHandle> {
    let bytes = u16::try_from(units.len() * 2).map_err(|_| io::ErrorKind::InvalidFilename)?;
    let name = UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: units.as_mut_ptr() };
    let object = OBJECT_ATTRIBUTES {
        Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
        RootDirectory: parent.as_raw_handle(),
        ObjectName: &name,
        Attributes: 0,
        SecurityDescriptor: null(),
        SecurityQualityOfService: null(),
    };
    let kind = if purpose == Purpose::List { FILE_DIRECTORY_FILE } else { 0 };
    let link = if follow { 0 } else { FILE_OPEN_REPARSE_POINT };
    let options = FILE_SYNCHRONOUS_IO_NONALERT
        | FILE_OPEN_FOR_BACKUP_INTENT
        | FILE_OPEN_NO_RECALL
        | kind
        | link;
    let mut status_block = IO_STATUS_BLOCK::default();
    let mut handle = null_mut();
    // SAFETY:
    // - `object` points to `name`, which points to `units`, whose length it states in bytes; all
    //   of them live through the call, and the call writes to none of them;
    // - `handle` and `status_block` are ours to write;
    // - the parent's handle is borrowed, hence open.
    let status = unsafe {
        NtOpenFile(&mut handle, purpose.access(), &object, &mut status_block, SHARE_ALL, options)
    };
    if status < 0 {
        return Err(error_from_status(status));
    }
    // SAFETY: the handle is new.
    unsafe { owned(handle) }
}
