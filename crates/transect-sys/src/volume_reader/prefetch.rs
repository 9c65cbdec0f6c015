//! Memory that is read soon: the tables of a volume are too large for the caches of a processor, and a walk
//! reads them in the order of the tree.

/// Has the processor fetch a value, so that reading it a little later does not wait for memory.
#[inline]
pub(super) fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        /// Bytes that a processor fetches at once.
        const LINE: usize = 64;
        /// Of larger values, the beginning is enough: the processor notices that reading goes on.
        const MOST: usize = 4 * LINE;
        let begin = std::ptr::from_ref(value).cast::<i8>();
        let last = size_of_val(value).saturating_sub(1).min(MOST);
        let mut at = 0;
        loop {
            // SAFETY: it changes nothing that a program can observe, and cannot fail at any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(at.min(last))) };
            if at >= last {
                break;
            }
            at += LINE;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
