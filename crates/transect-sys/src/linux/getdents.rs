//! Listing: one `getdents64` call into the buffer of the batch.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::errno::last_errno;
use crate::attributes::{Attributes, FileType};
use crate::batch::{Batch, Entry};
use crate::fault::{Fault, Result};
use crate::reader::ListStatus;
use crate::record::dirent::Records;
use crate::volume::EndDetection;

/// Calls `getdents64(2)`: replaces the content of `buffer` by records, up to its capacity. An empty
/// buffer means the end of the directory; a partly filled one does not.
///
/// The buffer is not cleared first: a small directory touches one page of 64 KiB.
fn getdents64(fd: BorrowedFd<'_>, buffer: &mut Vec<u8>) -> Result<(), Errno> {
    buffer.clear();
    loop {
        let room = buffer.spare_capacity_mut();
        // SAFETY:
        // - the kernel writes at most `room.len()` bytes from `room.as_mut_ptr()`, which are ours
        //   to write during the call;
        // - the descriptor is borrowed, hence open during the call.
        let written = unsafe {
            libc::syscall(libc::SYS_getdents64, fd.as_raw_fd(), room.as_mut_ptr(), room.len())
        };
        match usize::try_from(written) {
            Ok(written) => {
                // SAFETY: the kernel initialised the first `written` bytes, and no more than there
                // was room for.
                unsafe { buffer.set_len(written) };
                return Ok(());
            }
            Err(_) => {
                let errno = last_errno();
                if errno != Errno::INTR {
                    return Err(errno);
                }
            }
        }
    }
}

/// Bytes of the record of a name with 5 to 12 bytes.
const USUAL_RECORD: usize = 32;

/// Replaces the content of the batch by the next records of the directory.
///
/// Names stay where the kernel wrote them, so an entry costs no copy. If the last record shows that
/// the directory ends there (`end`, with the `size` of the directory where known), the last call,
/// which would return nothing, is saved: 0.12 calls an entry on a tree of small directories.
pub(super) fn list(
    fd: BorrowedFd<'_>,
    end: EndDetection,
    size: Option<u64>,
    buffer_size: usize,
    batch: &mut Batch,
) -> Result<ListStatus> {
    batch.clear();
    batch.bytes.clear();
    batch.bytes.reserve_exact(buffer_size);
    match getdents64(fd, &mut batch.bytes) {
        Ok(()) if batch.bytes.is_empty() => return Ok(ListStatus::End),
        Ok(()) => {}
        // A directory that is removed while it is open has no entries (`getdents(2)`).
        Err(Errno::NOENT) => return Ok(ListStatus::End),
        Err(errno) => return Err(Fault::Failed(errno.into())),
    }
    batch.entries.reserve(batch.bytes.len() / USUAL_RECORD);
    let mut records = Records::new(&batch.bytes);
    for record in records.by_ref() {
        let record = record.map_err(Batch::malformed)?;
        let mut attributes = Attributes::of_type(FileType::from_d_type(record.d_type));
        attributes.set_inode(record.inode);
        let name: Range<u32> = record.name.start as u32..record.name.end as u32;
        batch.entries.push(Entry::new(name, attributes));
    }
    let ended = end.is_reached(records.offset(), size);
    Ok(if ended { ListStatus::End } else { ListStatus::More })
}
