//! Memory for large tables. In pages of 4 KiB, their first use costs more than filling them, and a processor
//! does not have the places of all pages at hand.

/// Pages of this size are the next larger ones.
#[cfg(target_os = "linux")]
const HUGE: usize = 2 << 20;

/// Returns a vector with room for so many values, as far as there is memory. What is not filled takes none.
pub(super) fn with_room<T>(count: usize) -> Vec<T> {
    let mut room: Vec<T> = Vec::new();
    #[cfg(target_os = "linux")]
    let (count, is_large) = {
        let bytes = count.saturating_mul(size_of::<T>());
        // With what the allocator adds, full pages: the kernel aligns those.
        let whole = bytes.saturating_add(1 << 12).checked_next_multiple_of(HUGE);
        let is_large = bytes >= 2 * HUGE;
        (whole.filter(|_| is_large).map_or(count, |it| (it - (1 << 12)) / size_of::<T>()), is_large)
    };
    if room.try_reserve_exact(count).is_err() {
        return room;
    }
    #[cfg(target_os = "linux")]
    if is_large {
        crate::linux::prefer_huge_pages(room.spare_capacity_mut());
    }
    room
}
