//! Views of files, safe if a page of the file goes missing.
//!
//! A mapped file cannot be truncated, but its device may fail, and the server of a network file
//! system may truncate it anyway. Access to such a page raises an exception, which Rust code can
//! neither catch nor survive. So this code never accesses a page: the kernel copies, as it does
//! between processes, and returns an error for a missing page. This costs one call per block. It
//! needs no exception handler, which the whole process would share and which would have to decode
//! the instructions of each processor.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::ptr::{NonNull, null, null_mut};

use windows_sys::Win32::Foundation::{
    ERROR_BAD_EXE_FORMAT, ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED,
};
use windows_sys::Win32::System::Diagnostics::Debug::ReadProcessMemory;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    PAGE_READONLY, PAGE_READWRITE, UnmapViewOfFile,
};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, SYSTEM_INFO};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use super::status::{done, owned};

/// A part of a file in memory. Unmapped on drop.
#[derive(Debug)]
pub(crate) struct View {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the view belongs to this value alone, on any thread.
unsafe impl Send for View {}

impl View {
    /// Returns the unit of offsets.
    pub(crate) fn granularity() -> u64 {
        let mut info = SYSTEM_INFO::default();
        // SAFETY: the call writes this structure, which is ours, and cannot fail.
        unsafe { GetSystemInfo(&raw mut info) };
        u64::from(info.dwAllocationGranularity)
    }

    /// Maps a part of a file. `None` if files of this kind cannot be mapped. The view keeps the section
    /// alive.
    pub(crate) fn new(
        file: &File,
        offset: u64,
        length: usize,
        writable: bool,
    ) -> io::Result<Option<Self>> {
        let section = match section_of(file, writable) {
            Ok(section) => section,
            Err(error) if cannot_be_mapped(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let access = if writable { FILE_MAP_READ | FILE_MAP_WRITE } else { FILE_MAP_READ };
        let (high, low) = ((offset >> 32) as u32, offset as u32);
        // SAFETY: the handle is open; the kernel chooses an unused address range.
        let view = unsafe { MapViewOfFile(section.as_raw_handle(), access, high, low, length) };
        let start = NonNull::new(view.Value.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Some(Self { start, length }))
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Makes the kernel copy bytes between this view and other memory.
    ///
    /// # Errors
    /// A page is gone.
    ///
    /// # Safety
    /// One of the ranges is within the view, the other one outside all views, readable if it is `from`,
    /// and writable if it is `to`. Nothing else may access it during the call.
    pub(crate) unsafe fn copy(
        &self,
        from: *const u8,
        to: *mut u8,
        length: usize,
    ) -> io::Result<()> {
        if length == 0 {
            return Ok(());
        }
        let (from, to): (*const c_void, *mut c_void) = (from.cast(), to.cast());
        // SAFETY: the kernel checks both ranges itself; that the caller owns the target is required
        // above. The number of copied bytes is not needed: null.
        done(unsafe { ReadProcessMemory(GetCurrentProcess(), from, to, length, null_mut()) })
            .map_err(|error| {
                let why = "a mapped page is gone: the file was cut, or its device failed";
                io::Error::other(format!("{why} ({error})"))
            })
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let view = MEMORY_MAPPED_VIEW_ADDRESS { Value: self.start.as_ptr().cast() };
        // SAFETY: the view was mapped here, and no reference into it was ever handed out.
        let answer = unsafe { UnmapViewOfFile(view) };
        debug_assert_ne!(answer, 0, "a mapping cannot be unmapped");
    }
}

/// Returns a section object of the file, from which views are mapped.
fn section_of(file: &File, writable: bool) -> io::Result<OwnedHandle> {
    let protection = if writable { PAGE_READWRITE } else { PAGE_READONLY };
    // SAFETY: the handle is borrowed, hence open; neither security attributes nor a name are given:
    // null; length 0 means that of the file; the section's handle is new.
    unsafe { owned(CreateFileMappingW(file.as_raw_handle(), null(), protection, 0, 0, null())) }
}

/// Returns whether the error means that the file system does not support mappings.
fn cannot_be_mapped(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(|code| code as u32);
    matches!(code, Some(ERROR_BAD_EXE_FORMAT | ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, pieces};
    use transect_testkit::{TempDir, loudly_skip, unix_shell};
    use windows_sys::Win32::Foundation::ERROR_USER_MAPPED_FILE;

    #[test]
    fn mapping_mapped_file_not_truncatable() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 2);
        let mapping = Mapping::map_read(&file, 0..1).unwrap().unwrap();
        let refused = file.set_len(1).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(ERROR_USER_MAPPED_FILE as i32));
        drop(mapping);
        file.set_len(1).unwrap();
        // An empty file cannot be mapped.
        file.set_len(0).unwrap();
        assert!(Mapping::map_read(&file, 0..1).is_err());
    }

    #[test]
    fn mapping_behind_end_of_file_refused() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 1);
        let behind = View::granularity()..2 * View::granularity();
        assert!(Mapping::map_read(&file, behind).is_err());
    }

    #[test]
    fn mapping_truncated_file_error_other_mappings_usable() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 4);
        let piece = View::granularity() as usize;
        let mut cut = Mapping::map_write(&file, 0..4 * piece as u64).unwrap().unwrap();
        let first = Mapping::map_read(&file, 0..1).unwrap().unwrap();
        // Only the host system of Wine can truncate a mapped file.
        let Some(said) = unix_shell(temp.path(), &format!("truncate -s {piece} file")) else {
            let test = "mapping_truncated_file_error_other_mappings_usable";
            return loudly_skip(test, "a mapped file cannot be truncated here");
        };
        assert_eq!(said, "");
        let mut bytes = vec![9; 3 * piece];
        cut.read(0, &mut bytes[..piece]).unwrap();
        let error = cut.read(piece, &mut bytes).unwrap_err();
        assert!(error.to_string().contains("the file was cut"), "{error}");
        // Half of the range exists.
        assert!(cut.read(piece / 2, &mut bytes[..piece]).is_err());
        assert!(cut.write(3 * piece, b"x").is_err());
        cut.write(0, b"x").unwrap();
        first.read(0, &mut bytes[..1]).unwrap();
        assert_eq!(bytes[0], b'x');
        drop((cut, first));
        // The failed writes did not reach the file.
        assert_eq!(file.metadata().unwrap().len(), piece as u64);
    }

    #[test]
    fn mapping_errors_stay_on_their_thread() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 2);
        let piece = View::granularity();
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let file = &file;
                scope.spawn(move || {
                    for round in 0..50 {
                        let second = (thread + round) % 2;
                        let part = second * piece..(second + 1) * piece;
                        let mapping = Mapping::map_read(file, part).unwrap().unwrap();
                        let mut byte = [9];
                        mapping.read(mapping.len() - 1, &mut byte).unwrap();
                        assert_eq!(u64::from(byte[0]), second);
                        assert!(Mapping::map_read(file, 2 * piece..2 * piece + 1).is_err());
                    }
                });
            }
        });
    }
}
