//! The parser of `getdents64` records.
//!
//! With arbitrary bytes, it never panics; every name lies within the buffer and ends with a NUL;
//! names are in order and do not overlap; nothing follows an error. Encoded records are decoded
//! unchanged, without `.` and `..`.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use transect_sys::record::dirent::{HEADER_LENGTH, Records, encode};

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Bytes(&'a [u8]),
    Entries(Vec<Entry<'a>>),
}

#[derive(Arbitrary, Debug)]
struct Entry<'a> {
    inode: u64,
    d_type: u8,
    name: &'a [u8],
}

fuzz_target!(|input: Input<'_>| match input {
    Input::Bytes(buffer) => any_bytes(buffer),
    Input::Entries(entries) => round_trip(&entries),
});

fn any_bytes(buffer: &[u8]) {
    let mut records = Records::new(buffer);
    let mut parsed_to = 0;
    while let Some(record) = records.next() {
        let Ok(record) = record else {
            assert!(records.next().is_none(), "something came after an error");
            return;
        };
        assert!(record.name.start >= parsed_to + HEADER_LENGTH, "names overlap");
        assert!(record.name.end < buffer.len(), "a name reaches out of the buffer");
        assert_eq!(buffer[record.name.end], 0, "a name without an end");
        assert!(!buffer[record.name.clone()].contains(&0), "a name with a NUL");
        assert!(!matches!(&buffer[record.name.clone()], b"." | b".."));
        parsed_to = record.name.end;
    }
}

fn round_trip(entries: &[Entry<'_>]) {
    // A name of the kernel has at most 255 bytes, none of them NUL.
    let expected: Vec<_> = entries
        .iter()
        .map(|entry| {
            let name = entry.name.split(|&byte| byte == 0).next().unwrap_or_default();
            (entry.inode, entry.d_type, &name[..name.len().min(255)])
        })
        .collect();
    let mut buffer = Vec::new();
    for (inode, d_type, name) in &expected {
        encode(*inode, *d_type, name, &mut buffer);
    }
    let parsed: Vec<_> = Records::new(&buffer)
        .map(|record| record.expect("BUG: what was encoded is valid"))
        .map(|record| (record.inode, record.d_type, &buffer[record.name]))
        .collect();
    let expected: Vec<_> =
        expected.into_iter().filter(|(_, _, name)| !matches!(*name, b"." | b"..")).collect();
    assert_eq!(parsed, expected);
}
