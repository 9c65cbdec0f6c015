//! Holes: ranges of a file that read as zeros and occupy nothing. A file must be marked to have
//! them.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::windows::io::AsRawHandle;
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::ERROR_MORE_DATA;
use windows_sys::Win32::System::IO::DeviceIoControl;
use windows_sys::Win32::System::Ioctl::{
    FILE_ALLOCATED_RANGE_BUFFER, FSCTL_QUERY_ALLOCATED_RANGES, FSCTL_SET_SPARSE,
};

use super::status::done;

/// Marks a file as sparse: ranges that are not written from now on become holes. Existing data
/// stays.
///
/// # Errors
/// Any error that the system reports, also if the file system does not support holes.
pub fn make_sparse(file: &File) -> io::Result<()> {
    // SAFETY: an empty input means "set"; the call returns no data.
    unsafe { control(file, FSCTL_SET_SPARSE, null(), 0, null_mut(), 0) }.map(drop)
}

/// Returns the next part of `range` that is not a hole; `None` if there is none.
///
/// # Errors
/// Any error that the system reports, also if the file system does not report holes.
pub fn next_allocated_range(file: &File, range: Range<u64>) -> io::Result<Option<Range<u64>>> {
    let size = size_of::<FILE_ALLOCATED_RANGE_BUFFER>();
    let asked = FILE_ALLOCATED_RANGE_BUFFER {
        FileOffset: offset(range.start)?,
        Length: offset(range.end - range.start)?,
    };
    let mut first = FILE_ALLOCATED_RANGE_BUFFER::default();
    // SAFETY: the call reads one structure and writes the other; both are ours and as long as we
    // say.
    let brought = unsafe {
        control(
            file,
            FSCTL_QUERY_ALLOCATED_RANGES,
            (&raw const asked).cast(),
            size,
            (&raw mut first).cast(),
            size,
        )
    };
    match brought {
        Ok(brought) if brought < size => return Ok(None),
        Ok(_) => {}
        // There are more parts; only the first is needed.
        Err(error) if error.raw_os_error() == Some(ERROR_MORE_DATA as i32) => {}
        Err(error) => return Err(error),
    }
    let (start, length) = (first.FileOffset.max(0) as u64, first.Length.max(0) as u64);
    let end = start.saturating_add(length).min(range.end);
    // The part may begin before the range, at a boundary of the file system's units.
    let start = start.max(range.start);
    Ok((start < end).then_some(start..end))
}

fn offset(offset: u64) -> io::Result<i64> {
    i64::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

/// Sends a control code to the file system. Returns the number of bytes returned.
///
/// # Safety
/// `from` must be readable for `length` bytes and `to` writable for `room` bytes. The code must
/// only read the former and write the latter.
unsafe fn control(
    file: &File,
    code: u32,
    from: *const c_void,
    length: usize,
    to: *mut c_void,
    room: usize,
) -> io::Result<usize> {
    let mut brought = 0;
    // SAFETY: the handle is borrowed, hence open, and was opened for synchronous work: the call is
    // complete when it returns, and needs no structure for later. The rest is required above.
    done(unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            code,
            from,
            length as u32,
            to,
            room as u32,
            &raw mut brought,
            null_mut(),
        )
    })?;
    Ok(brought as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::windows::fs::FileExt;
    use transect_testkit::{TempDir, has_unix_shell};
    use windows_sys::Win32::Foundation::ERROR_NOT_SUPPORTED;

    /// The allocation unit of holes on NTFS.
    const UNIT: u64 = 64 << 10;

    #[test]
    fn sparse_holes_created_and_reported() {
        let temp = TempDir::new();
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(temp.join("file"))
            .unwrap();
        make_sparse(&file).unwrap();
        file.set_len(64 * UNIT).unwrap();
        let full = vec![7; 4 * UNIT as usize];
        file.seek_write(&full, 8 * UNIT).unwrap();
        file.seek_write(&full, 32 * UNIT).unwrap();
        let reported = next_allocated_range(&file, 0..64 * UNIT);
        if has_unix_shell() {
            // Wine 8 accepts and ignores the first call, and lacks the other.
            let code = reported.unwrap_err().raw_os_error();
            assert_eq!(code, Some(ERROR_NOT_SUPPORTED as i32));
            return;
        }
        assert_eq!(reported.unwrap(), Some(8 * UNIT..12 * UNIT));
        for (asked, expected) in [
            (0..64, Some(8..12)),
            (8..64, Some(8..12)),
            (9..64, Some(9..12)),
            (11..64, Some(11..12)),
            (11..12, Some(11..12)),
            (12..64, Some(32..36)),
            (12..32, None),
            (36..64, None),
        ] {
            let in_bytes = |units: Range<u64>| units.start * UNIT..units.end * UNIT;
            let next = next_allocated_range(&file, in_bytes(asked.clone())).unwrap();
            assert_eq!(next, expected.map(in_bytes), "{asked:?}");
        }
        assert_eq!(file.metadata().unwrap().len(), 64 * UNIT);
    }

    #[test]
    fn sparse_impossible_range_error() {
        let temp = TempDir::new();
        let file = File::create(temp.join("file")).unwrap();
        assert!(next_allocated_range(&file, u64::MAX - 1..u64::MAX).is_err());
    }
}
