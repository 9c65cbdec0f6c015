//! The parsers of patches.
//!
//! With arbitrary bytes, neither IPS nor BPS panics or takes too much memory. BPS patches get the
//! right checksum, because the parser rejects any other at once.

#![no_main]

use arbitrary::Arbitrary;
use flate2::Crc;
use libfuzzer_sys::fuzz_target;
use transect_transform::patch::Patch;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Bytes(&'a [u8]),
    Ips(&'a [u8]),
    Bps { sizes: [u8; 2], actions: &'a [u8] },
    Words(Vec<&'a str>),
}

fuzz_target!(|input: Input<'_>| {
    let parsed = match input {
        Input::Bytes(bytes) => Patch::parse(bytes),
        Input::Ips(records) => Patch::parse(&[b"PATCH", records, b"EOF"].concat()),
        Input::Bps { sizes, actions } => Patch::parse(&bps(sizes, actions)),
        Input::Words(words) => Patch::parse_words(&words),
    };
    if let Ok(patch) = parsed {
        for size in [0, 1, 1 << 24, u64::MAX] {
            let _ = patch.fits_in_place(size);
        }
    }
});

/// Adds a header and checksums to actions.
fn bps(sizes: [u8; 2], actions: &[u8]) -> Vec<u8> {
    let [before, after] = sizes.map(|size| size | 0x80);
    let mut patch = [b"BPS1", &[before, after, 0x80][..], actions, &[0; 8]].concat();
    let mut sum = Crc::new();
    sum.update(&patch);
    patch.extend(sum.sum().to_le_bytes());
    patch
}
