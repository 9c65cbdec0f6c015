//! Emptying the system's file cache, as RAMMap does.
//!
//! Pages of files that no process uses stay on the standby list until other data needs the memory.
//! Microsoft does not document the class that purges the list; the declarations are those of System
//! Informer (`phnt/include/ntexapi.h`). Nothing reports whether a certain file is still in memory,
//! and file systems have caches of their own: a purge proves nothing about the next run.

use std::ffi::c_void;
use std::io;
use std::mem::transmute;
use std::os::windows::io::AsRawHandle;
use std::ptr::{null, null_mut};

use windows_sys::Wdk::System::SystemInformation::{
    NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS,
};
use windows_sys::Win32::Foundation::{
    ERROR_NOT_ALL_ASSIGNED, GetLastError, LUID, NTSTATUS, STATUS_PRIVILEGE_NOT_HELD,
};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, SE_INCREASE_QUOTA_NAME,
    SE_PRIVILEGE_ENABLED, SE_PROF_SINGLE_PROCESS_NAME, TOKEN_ADJUST_PRIVILEGES, TOKEN_PRIVILEGES,
    TOKEN_QUERY,
};
use windows_sys::Win32::System::Memory::SetSystemFileCacheSize;
use windows_sys::core::PCWSTR;

use super::status::{done, error_from_status};
use super::system::{ntdll, wine_version};
use super::user::own_token;

/// `SystemMemoryListInformation`.
const MEMORY_LISTS: SYSTEM_INFORMATION_CLASS = 80;

/// `MemoryFlushModifiedList`: writes changed pages, which then are on the standby list.
const FLUSH_MODIFIED: u32 = 3;

/// `MemoryPurgeStandbyList`.
const PURGE_STANDBY: u32 = 4;

/// The number of pages that other processes may add to the list while it is checked: 256 MiB.
const MOST_ADDED: usize = 1 << 16;

/// `SYSTEM_MEMORY_LIST_INFORMATION`: numbers of pages.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct MemoryLists {
    zeroed: usize,
    free: usize,
    modified: usize,
    modified_no_write: usize,
    bad: usize,
    standby_by_priority: [usize; 8],
    repurposed_by_priority: [usize; 8],
    modified_page_file: usize,
}

/// Returns why [`purge`] is not available to this process; `None` if it is.
pub fn unavailable_reason() -> Option<&'static str> {
    if wine_version().is_some() {
        // Its call succeeds and does nothing.
        return Some("Wine does not implement purging the standby list");
    }
    if let Err(reason) = enable_privileges() {
        return Some(reason);
    }
    match standby_pages() {
        Ok(_) => None,
        Err(_) => Some("this version of Windows does not report its standby list"),
    }
}

/// Empties the working set of the system's file cache, writes changed pages, and purges the standby
/// list. Enables two privileges of this process, which stay enabled.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`]: see [`unavailable_reason`]. Any error that the system reports, or
/// the list is not emptied.
pub fn purge() -> io::Result<()> {
    if let Some(reason) = unavailable_reason() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
    }
    let before = standby_pages()?;
    // SAFETY: takes numbers only; two of all bits empty the working set
    // (`SetSystemFileCacheSize`, remarks).
    done(unsafe { SetSystemFileCacheSize(usize::MAX, usize::MAX, 0) })?;
    command(FLUSH_MODIFIED)?;
    command(PURGE_STANDBY)?;
    let after = standby_pages()?;
    if after > (before / 2).max(MOST_ADDED) {
        let reason = format!("the standby list still has {after} of {before} pages");
        return Err(io::Error::other(reason));
    }
    Ok(())
}

/// Returns the number of pages on the standby list.
fn standby_pages() -> io::Result<usize> {
    let mut lists = MemoryLists::default();
    // SAFETY: the class writes at most this structure, which is ours; the length is not needed, so
    // its pointer is null.
    let status = unsafe {
        NtQuerySystemInformation(
            MEMORY_LISTS,
            (&raw mut lists).cast(),
            size_of::<MemoryLists>() as u32,
            null_mut(),
        )
    };
    checked(status)?;
    Ok(lists.standby_by_priority.iter().sum())
}

/// Gives a command to the memory manager.
fn command(mut command: u32) -> io::Result<()> {
    type SetSystemInformation =
        unsafe extern "system" fn(SYSTEM_INFORMATION_CLASS, *mut c_void, u32) -> NTSTATUS;
    let function = ntdll(c"NtSetSystemInformation").ok_or(io::ErrorKind::Unsupported)?;
    // SAFETY: the function is declared so in `ntexapi.h`.
    let function = unsafe { transmute::<super::system::Function, SetSystemInformation>(function) };
    // SAFETY: the class reads a number of 32 bits, which is ours.
    let status =
        unsafe { function(MEMORY_LISTS, (&raw mut command).cast(), size_of::<u32>() as u32) };
    checked(status)
}

fn checked(status: NTSTATUS) -> io::Result<()> {
    match status {
        STATUS_PRIVILEGE_NOT_HELD => Err(io::ErrorKind::PermissionDenied.into()),
        status if status < 0 => Err(error_from_status(status)),
        _ => Ok(()),
    }
}

/// Enables the privileges of the calls above.
///
/// # Errors
/// The process does not hold one of them.
fn enable_privileges() -> Result<(), &'static str> {
    let has = |name| enable(name).unwrap_or(false);
    if !has(SE_PROF_SINGLE_PROCESS_NAME) {
        return Err("dropping caches needs an administrator (SeProfileSingleProcessPrivilege)");
    }
    if !has(SE_INCREASE_QUOTA_NAME) {
        return Err("dropping caches needs an administrator (SeIncreaseQuotaPrivilege)");
    }
    Ok(())
}

/// Enables a privilege of this process. Returns false if the process does not hold it.
fn enable(name: PCWSTR) -> io::Result<bool> {
    let token = own_token(TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY)?;
    let mut id = LUID::default();
    // SAFETY: the name is a constant with a NUL; no machine is named; `id` is ours to write.
    done(unsafe { LookupPrivilegeValueW(null(), name, &raw mut id) })?;
    let wanted = TOKEN_PRIVILEGES {
        PrivilegeCount: 1,
        Privileges: [LUID_AND_ATTRIBUTES { Luid: id, Attributes: SE_PRIVILEGE_ENABLED }],
    };
    // SAFETY: the token is open and may be adjusted; `wanted` states its length; the earlier state is
    // not needed, so its pointers are null.
    done(unsafe {
        AdjustTokenPrivileges(
            token.as_raw_handle(),
            0,
            &raw const wanted,
            0,
            null_mut(),
            null_mut(),
        )
    })?;
    // SAFETY: reads a number of this thread. The call also succeeds if it enables nothing.
    Ok(unsafe { GetLastError() } != ERROR_NOT_ALL_ASSIGNED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purge_succeeds_only_where_it_is_available() {
        match unavailable_reason() {
            Some(reason) => {
                let refused = purge().unwrap_err();
                assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
                assert_eq!(refused.to_string(), reason);
            }
            None => purge().unwrap(),
        }
    }

    #[test]
    fn purge_refused_under_wine_where_the_call_does_nothing() {
        let reason = unavailable_reason().unwrap_or_default();
        assert_eq!(wine_version().is_some(), reason.starts_with("Wine does not"), "{reason}");
    }

    #[test]
    fn privilege_of_unknown_name_is_an_error() {
        assert!(enable(windows_sys::w!("SeNoSuchPrivilege")).is_err());
        // Every process holds this one.
        assert!(enable(windows_sys::w!("SeChangeNotifyPrivilege")).unwrap());
    }
}
