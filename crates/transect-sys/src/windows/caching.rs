//! Files opened with a hint for the system's cache, or bypassing it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Foundation::{GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_NO_BUFFERING, FILE_FLAG_SEQUENTIAL_SCAN, FILE_STORAGE_INFO, FileStorageInfo,
    GetFileInformationByHandleEx, ReOpenFile,
};

use super::open::SHARE_ALL;
use super::status::owned;

/// Opens a file for reading from beginning to end: the system may read further ahead and cache
/// less.
pub fn open_sequential(path: &Path) -> io::Result<File> {
    open(path, FILE_FLAG_SEQUENTIAL_SCAN)
}

/// Opens a file for reading without buffering. Offsets, lengths and memory addresses must be
/// multiples of the sector size ([`sector_size`]).
pub fn open_unbuffered(path: &Path) -> io::Result<File> {
    open(path, FILE_FLAG_NO_BUFFERING)
}

fn open(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags).open(super::verbatim(path)?)
}

/// Reopens an open file for writing without buffering. Offsets, lengths and memory addresses must
/// be multiples of the sector size ([`sector_size`]).
pub fn reopen_write_unbuffered(file: &File) -> io::Result<File> {
    reopen_unbuffered(file, GENERIC_READ | GENERIC_WRITE)
}

/// Reopens an open file without buffering.
pub(super) fn reopen_unbuffered(file: &File, access: u32) -> io::Result<File> {
    let (handle, unbuffered) = (file.as_raw_handle(), FILE_FLAG_NO_BUFFERING);
    // SAFETY: the handle is borrowed, hence open during the call; the other arguments are numbers;
    // the returned handle is new.
    unsafe { owned(ReOpenFile(handle, access, SHARE_ALL, unbuffered)) }.map(File::from)
}

/// Returns the unit in bytes that the device below a file reads and writes without extra work, if
/// the file system reports it.
pub fn sector_size(file: &File) -> Option<usize> {
    let mut info = FILE_STORAGE_INFO::default();
    // SAFETY: the handle is borrowed, hence open; the class writes this structure, which is ours.
    let answer = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileStorageInfo,
            (&raw mut info).cast(),
            size_of::<FILE_STORAGE_INFO>() as u32,
        )
    };
    let info = (answer != 0).then_some(info)?;
    // The logical sector is the minimum; a write smaller than the physical one needs a read as
    // well.
    let sector =
        info.LogicalBytesPerSector.max(info.FileSystemEffectivePhysicalBytesPerSectorForAtomicity);
    Some(sector as usize).filter(|sector| sector.is_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;
    use windows_sys::Wdk::Storage::FileSystem::{
        FILE_NO_INTERMEDIATE_BUFFERING, FILE_SEQUENTIAL_ONLY, FileModeInformation,
        NtQueryInformationFile,
    };
    use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

    /// Returns which of the two flags are set for a handle.
    fn mode(file: &File) -> u32 {
        let (mut mode, mut status_block) = (0_u32, IO_STATUS_BLOCK::default());
        // SAFETY: the class writes a number of 32 bits, into one that is ours; the handle is open.
        let status = unsafe {
            NtQueryInformationFile(
                file.as_raw_handle(),
                &mut status_block,
                (&raw mut mode).cast(),
                size_of::<u32>() as u32,
                FileModeInformation,
            )
        };
        assert_eq!(status, 0);
        mode & (FILE_SEQUENTIAL_ONLY | FILE_NO_INTERMEDIATE_BUFFERING)
    }

    #[test]
    fn caching_open_modes() {
        let temp = TempDir::new();
        let path = temp.join("file");
        std::fs::write(&path, "12345").unwrap();
        let usual = File::options().read(true).write(true).open(&path).unwrap();
        assert_eq!(mode(&usual), 0);
        assert_eq!(mode(&open_sequential(&path).unwrap()), FILE_SEQUENTIAL_ONLY);
        let unbuffered = [open_unbuffered(&path), reopen_write_unbuffered(&usual)];
        for file in unbuffered {
            assert_eq!(mode(&file.unwrap()), FILE_NO_INTERMEDIATE_BUFFERING);
        }
        let missing = temp.join("missing");
        for opened in [open_sequential(&missing), open_unbuffered(&missing)] {
            assert_eq!(opened.unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn sector_size_multiple_of_512() {
        let temp = TempDir::new();
        let file = File::create(temp.join("file")).unwrap();
        // Wine 8 reports none.
        assert!(sector_size(&file).is_none_or(|sector| sector.is_multiple_of(512)));
    }
}
