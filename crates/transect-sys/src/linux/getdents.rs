//! Listing: one `getdents64` call into the batch's own buffer.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use crate::attributes::{Attributes, FileType};
use crate::batch::{Batch, CAPACITY, Entry};
use crate::fault::Fault;
use crate::reader::Listing;
use crate::record::{LONGEST, Records};

/// Calls `getdents64(2)` and returns how many bytes of records it wrote; 0 is the end.
fn getdents64(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    loop {
        // SAFETY:
        // - the kernel writes at most `buffer.len()` bytes from `buffer.as_mut_ptr()`, which are
        //   ours to write for as long as the call lasts;
        // - it writes initialised bytes or none, and the buffer was initialised before;
        // - the descriptor is borrowed, hence open during the call.
        let written = unsafe {
            libc::syscall(
                libc::SYS_getdents64,
                fd.as_raw_fd(),
                buffer.as_mut_ptr(),
                buffer.len(),
            )
        };
        match usize::try_from(written) {
            Ok(written) => return Ok(written),
            Err(_) => {
                let errno = last_errno();
                if errno != Errno::INTR {
                    return Err(errno);
                }
            }
        }
    }
}

/// Returns the error number that the last call through libc left.
fn last_errno() -> Errno {
    std::io::Error::last_os_error()
        .raw_os_error()
        .map_or(Errno::IO, Errno::from_raw_os_error)
}

/// Replaces the content of the batch by the next records of the directory.
///
/// Names stay where the kernel wrote them: an entry costs no copy. Where a listing that leaves
/// room is known to be the last (`short_read_is_end`), the call that would only say "no more" is
/// saved: 0.12 calls an entry on a tree of small directories.
pub(super) fn list(
    fd: BorrowedFd<'_>,
    short_read_is_end: bool,
    batch: &mut Batch,
) -> Result<Listing, Fault> {
    batch.clear();
    batch.bytes.resize(CAPACITY, 0);
    let written = match getdents64(fd, &mut batch.bytes) {
        Ok(0) => return Ok(Listing::End),
        // A directory that is removed while it is open lists nothing (`getdents(2)`).
        Err(Errno::NOENT) => return Ok(Listing::End),
        Ok(written) => written,
        Err(errno) => return Err(Fault::Failed(errno.into())),
    };
    for record in Records::new(&batch.bytes[..written]) {
        let record = record.map_err(Batch::malformed)?;
        let mut attributes = Attributes::of_type(FileType::from_d_type(record.d_type));
        attributes.set_inode(record.inode);
        let name: Range<u32> = record.name.start as u32..record.name.end as u32;
        batch.entries.push(Entry::new(name, attributes));
    }
    let all = short_read_is_end && written + LONGEST <= CAPACITY;
    Ok(if all { Listing::End } else { Listing::More })
}
