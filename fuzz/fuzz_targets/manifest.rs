//! The parser of lines with digests.
//!
//! With arbitrary bytes, it never panics. A parsed line stays the same when it is written and
//! parsed again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use transect_transform::manifest::{Line, Reader};

fuzz_target!(|manifest: &[u8]| {
    for line in Reader::new(manifest).flatten().flatten() {
        assert_eq!(Line::parse(&line.to_bytes()), Ok(Some(line)));
    }
});
