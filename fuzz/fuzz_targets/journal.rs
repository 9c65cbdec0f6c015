//! A change journal of any bytes, of a volume or the copy of one, is read or refused: without a panic, with an end, and with no
//! more records than its bytes can hold.

#![no_main]

use libfuzzer_sys::fuzz_target;
use transect_volumes::count_changes;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(records) = count_changes(bytes) {
        assert!(records <= bytes.len() as u64);
    }
});
