//! The parser of lines with digests.
//!
//! Of arbitrary bytes: it never panics, and a line that it understands is understood alike when it is
//! written again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use transect_transform::manifest::{self, Line};

fuzz_target!(|manifest: &[u8]| {
    for line in manifest::lines(manifest).flatten() {
        assert_eq!(Line::parse(&line.to_bytes()), Ok(Some(line)));
    }
});
