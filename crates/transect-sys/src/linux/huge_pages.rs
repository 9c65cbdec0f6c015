//! Huge pages for large tables (`madvise(2)`).

use std::mem::MaybeUninit;

/// Asks the kernel to use huge pages for memory that is not in use yet. Where it does not have them, nothing happens.
pub(crate) fn prefer_huge_pages<T>(room: &mut [MaybeUninit<T>]) {
    let page = super::mapping::page_size();
    let begin = room.as_mut_ptr().addr().next_multiple_of(page);
    let end = (room.as_mut_ptr().addr() + size_of_val(room)) / page * page;
    if begin < end {
        let at = room.as_mut_ptr().with_addr(begin);
        // SAFETY: these pages belong to this slice. The advice changes nothing that a program can observe.
        unsafe { libc::madvise(at.cast(), end - begin, libc::MADV_HUGEPAGE) };
    }
}
