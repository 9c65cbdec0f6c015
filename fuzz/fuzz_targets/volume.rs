//! A volume of any bytes is read or refused: without a panic, with an end, and with no more entries than
//! its bytes can hold.

#![no_main]

use libfuzzer_sys::fuzz_target;
use transect_volumes::count_entries;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(entries) = count_entries(bytes) {
        assert!(entries <= bytes.len());
    }
});
