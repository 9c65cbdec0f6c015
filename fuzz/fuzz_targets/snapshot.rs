//! A snapshot of any bytes is read or refused, without a panic and without much memory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use transect::FieldMask;
use transect_snapshot::{DiffOptions, LargestLimits, Snapshot, StoredMeasure, diff};

fuzz_target!(|bytes: &[u8]| {
    let Ok(snapshot) = Snapshot::new(bytes.to_vec()) else { return };
    let mut rows = snapshot.rows();
    while let Ok(true) = rows.advance() {
        let _ = (rows.attributes(), rows.totals(), rows.digest(), rows.unread().is_some());
    }
    let mut rows = snapshot.rows();
    while let Ok(true) = rows.advance_past() {}
    let _ = snapshot.largest_directories(StoredMeasure::Allocated, &LargestLimits::new(5));
    let mut options = DiffOptions::default();
    options.verify = true;
    let _ = diff(&snapshot, &snapshot, &options);
    let _ = snapshot.table(FieldMask::all());
});
