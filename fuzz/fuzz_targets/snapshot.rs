//! A snapshot of any bytes is read or refused, without a panic and without much memory.

#![no_main]

use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use transect::{Cancel, FieldMask};
use transect_snapshot::{
    DiffOptions, LargestLimits, NamePattern, Search, Snapshot, StoredMeasure, diff,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(snapshot) = Snapshot::new(bytes.to_vec()) else { return };
    let mut rows = snapshot.rows();
    while let Ok(true) = rows.advance(true) {
        let _ = (rows.attributes(), rows.totals(), rows.digest(), rows.unread().is_some());
    }
    let mut rows = snapshot.rows();
    while let Ok(true) = rows.advance(false) {}
    let largest = snapshot.largest_directories(StoredMeasure::DiskUsage, &LargestLimits::new(5));
    if let Ok(Some(largest)) = largest {
        let _ = snapshot.names_of(&largest.directories);
    }
    let mut options = DiffOptions::default();
    options.verify = true;
    let _ = diff(&snapshot, &snapshot, &options);
    let _ = snapshot.table(FieldMask::all());
    let search = Search::new([NamePattern::substring(b"name")]).fields(FieldMask::all());
    let _ = snapshot.find(&search, &Cancel::new(), |_| ControlFlow::Continue(()));
    let all = Search::new([NamePattern::path([], |_| true)]).fields(FieldMask::all());
    let _ = snapshot.find(&all, &Cancel::new(), |_| ControlFlow::Continue(()));
});
