//! Parts of files in memory, safe if a page of the file goes missing.
//!
//! A mapped file cannot be truncated, but its device may fail, and the server of a network file
//! system may truncate it anyway. Access to such a page raises an exception, which Rust code can
//! neither catch nor survive. So this code never accesses a page: the kernel copies, as it does
//! between processes, and returns an error for a missing page. This costs one call per block. It
//! needs no exception handler, which the whole process would share and which would have to decode
//! the instructions of each processor.
//!
//! No reference into a mapping is ever handed out. Other processes may write to the file at any
//! time, and neither `&[u8]` nor the steps of a pass, which may read a byte again after they
//! checked it, allow bytes that change. All bytes are copied, once.
//!
//! Written bytes are visible to every reader of the file as soon as they are copied. They are on
//! the device after the mapping was dropped and the file synced.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
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

/// A part of a file in memory. Unmapped on drop.
#[derive(Debug)]
pub struct Mapping {
    view: NonNull<u8>,
    /// Offset of the part within the view.
    lead: usize,
    length: usize,
    writable: bool,
}

// SAFETY: the view belongs to this value alone, on any thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps a part of a file for reading. `None` if files of this kind cannot be mapped.
    ///
    /// # Errors
    /// Any other error that the system reports, also if the file has no such part.
    ///
    /// # Panics
    /// If the part is empty.
    pub fn map_read(file: &File, part: Range<u64>) -> io::Result<Option<Self>> {
        Self::new(file, part, false)
    }

    /// Maps a part of a file for writing. The file must already have its length and its disk space.
    /// `None` if files of this kind cannot be mapped.
    ///
    /// # Errors
    /// Any other error that the system reports, also if the file has no such part.
    ///
    /// # Panics
    /// If the part is empty.
    pub fn map_write(file: &File, part: Range<u64>) -> io::Result<Option<Self>> {
        Self::new(file, part, true)
    }

    fn new(file: &File, part: Range<u64>, writable: bool) -> io::Result<Option<Self>> {
        assert!(!part.is_empty(), "an empty part cannot be mapped");
        let lead = part.start % granularity();
        let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let mapped = usize::try_from(part.end - part.start + lead).map_err(too_large)?;
        let section = match section_of(file, writable) {
            Ok(section) => section,
            Err(error) if cannot_be_mapped(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let view = view_of(&section, part.start - lead, mapped, writable)?;
        let lead = lead as usize;
        Ok(Some(Self { view, lead, length: mapped - lead, writable }))
    }

    /// Returns the length of the part in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Copies the bytes from offset `at` into `to`.
    ///
    /// # Errors
    /// The file no longer has these bytes, or its device could not read them. The content of `to`
    /// is then undefined.
    ///
    /// # Panics
    /// If the range exceeds the mapping.
    pub fn read(&self, at: usize, to: &mut [u8]) -> io::Result<()> {
        let from = self.place(at, to.len());
        // SAFETY: `to` is ours to write and not part of the view, to which no references exist.
        unsafe { copy(from, to.as_mut_ptr(), to.len()) }
    }

    /// Copies `bytes` to offset `at`.
    ///
    /// # Errors
    /// The file no longer has this range, or its device could not read it.
    ///
    /// # Panics
    /// If the range exceeds the mapping, or the mapping is read-only.
    pub fn write(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        assert!(self.writable, "the mapping is read-only");
        let to = self.place(at, bytes.len());
        // SAFETY: the range is mapped writable for as long as `self` exists, no reference to it
        // exists, and `bytes` does not overlap it.
        unsafe { copy(bytes.as_ptr(), to, bytes.len()) }
    }

    /// Returns the address of offset `at`.
    fn place(&self, at: usize, length: usize) -> *mut u8 {
        let end = at.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.length), "past the end of a mapping");
        // SAFETY: the range is within the mapping.
        unsafe { self.view.as_ptr().add(self.lead + at) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let view = MEMORY_MAPPED_VIEW_ADDRESS { Value: self.view.as_ptr().cast() };
        // SAFETY: the view was mapped here, and no reference into it was ever handed out.
        let answer = unsafe { UnmapViewOfFile(view) };
        debug_assert_ne!(answer, 0, "a mapping cannot be unmapped");
    }
}

/// Returns a section object of the file, from which views are mapped.
fn section_of(file: &File, writable: bool) -> io::Result<OwnedHandle> {
    let protection = if writable { PAGE_READWRITE } else { PAGE_READONLY };
    // SAFETY: the handle is borrowed, hence open; neither security attributes nor a name are given:
    // null; length 0 means that of the file.
    let section =
        unsafe { CreateFileMappingW(file.as_raw_handle(), null(), protection, 0, 0, null()) };
    if section.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the handle is open, and nothing else owns it.
    Ok(unsafe { OwnedHandle::from_raw_handle(section) })
}

/// Maps a view; `offset` must be a multiple of the granularity. The view keeps the section alive.
fn view_of(
    section: &OwnedHandle,
    offset: u64,
    length: usize,
    writable: bool,
) -> io::Result<NonNull<u8>> {
    let access = if writable { FILE_MAP_READ | FILE_MAP_WRITE } else { FILE_MAP_READ };
    let (high, low) = ((offset >> 32) as u32, offset as u32);
    // SAFETY: the handle is open; the kernel chooses an unused address range.
    let view = unsafe { MapViewOfFile(section.as_raw_handle(), access, high, low, length) };
    NonNull::new(view.Value.cast()).ok_or_else(io::Error::last_os_error)
}

/// Returns whether the error means that the file system does not support mappings.
fn cannot_be_mapped(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(|code| code as u32);
    matches!(code, Some(ERROR_BAD_EXE_FORMAT | ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED))
}

/// Makes the kernel copy between two addresses of this process; pages of one of them may be
/// missing.
///
/// # Safety
/// `to` must be writable for `length` bytes, unless they belong to a view. Nothing else may access
/// them during the call.
unsafe fn copy(from: *const u8, to: *mut u8, length: usize) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let (from, to): (*const c_void, *mut c_void) = (from.cast(), to.cast());
    // SAFETY: the kernel checks both ranges itself; that the caller owns the target is required
    // above. The number of copied bytes is not needed: null.
    let answer = unsafe { ReadProcessMemory(GetCurrentProcess(), from, to, length, null_mut()) };
    if answer == 0 {
        let error = io::Error::last_os_error();
        let why = "a mapped page is gone: the file was cut, or its device failed";
        return Err(io::Error::other(format!("{why} ({error})")));
    }
    Ok(())
}

/// Returns the granularity of view offsets.
fn granularity() -> u64 {
    let mut info = SYSTEM_INFO::default();
    // SAFETY: the call writes this structure, which is ours, and cannot fail.
    unsafe { GetSystemInfo(&raw mut info) };
    u64::from(info.dwAllocationGranularity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use transect_testkit::{TempDir, loudly_skip, unix_shell};
    use windows_sys::Win32::Foundation::ERROR_USER_MAPPED_FILE;

    /// Creates a file of `count` pieces of the granularity, each filled with its number.
    fn pieces(dir: &Path, count: usize) -> File {
        let piece = granularity() as usize;
        let bytes: Vec<u8> = (0..count * piece).map(|at| (at / piece) as u8).collect();
        let path = dir.join("file");
        std::fs::write(&path, bytes).unwrap();
        File::options().read(true).write(true).open(path).unwrap()
    }

    #[test]
    fn mapping_any_range_readable() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 3);
        let piece = granularity();
        let expected = std::fs::read(temp.join("file")).unwrap();
        for part in
            [0..1, 0..3 * piece, piece - 1..piece + 1, piece..2 * piece, 2 * piece + 7..3 * piece]
        {
            let mapping = Mapping::map_read(&file, part.clone()).unwrap().unwrap();
            assert_eq!(mapping.len() as u64, part.end - part.start);
            let mut bytes = vec![9; mapping.len()];
            mapping.read(0, &mut bytes).unwrap();
            assert_eq!(bytes, expected[part.start as usize..part.end as usize]);
            let last = bytes.len() - 1;
            mapping.read(last, &mut bytes[..1]).unwrap();
            assert_eq!(bytes[0], expected[part.end as usize - 1]);
            mapping.read(mapping.len(), &mut []).unwrap();
        }
        let behind = Mapping::map_read(&file, 3 * piece..4 * piece);
        assert!(behind.is_err(), "the file has no such part: {behind:?}");
    }

    #[test]
    fn mapping_write_reaches_file() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 2);
        let piece = granularity() as usize;
        let mut mapping = Mapping::map_write(&file, 5..piece as u64 + 7).unwrap().unwrap();
        mapping.write(piece, b"ab").unwrap();
        // Both while it is mapped and afterwards.
        let bytes = std::fs::read(temp.join("file")).unwrap();
        assert_eq!(bytes[piece + 4..][..4], [1, b'a', b'b', 1]);
        drop(mapping);
        file.sync_all().unwrap();
        assert_eq!(std::fs::read(temp.join("file")).unwrap(), bytes);
    }

    #[test]
    #[should_panic(expected = "past the end of a mapping")]
    fn mapping_read_past_end_panics() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 1);
        let mapping = Mapping::map_read(&file, 0..10).unwrap().unwrap();
        let _ = mapping.read(8, &mut [0; 3]);
    }

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
    fn mapping_truncated_file_error_other_mappings_usable() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 4);
        let piece = granularity() as usize;
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
        let piece = granularity();
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
