//! Any bytes in place of the items that a tree search of Btrfs returns: no panic, an end, and no more
//! entries than the bytes can hold.

#![no_main]

use libfuzzer_sys::fuzz_target;
use transect_volumes::count_btrfs_entries;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(entries) = count_btrfs_entries(bytes) {
        assert!(entries <= bytes.len());
    }
});
