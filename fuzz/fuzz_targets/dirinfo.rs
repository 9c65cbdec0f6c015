//! The parser of Windows directory records.
//!
//! With arbitrary bytes, it never panics; every name lies within the buffer and has whole units and
//! no NUL; names are in order and do not overlap; nothing follows an error. Encoded records are
//! decoded unchanged, without `.` and `..`. Names that are UTF-16 become UTF-8; all others append
//! nothing.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use transect_sys::record::dirinfo::{Encoder, Layout, Record, Records, append_utf8, utf16_units};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    layout: u8,
    what: What<'a>,
}

#[derive(Arbitrary, Debug)]
enum What<'a> {
    Bytes(&'a [u8]),
    Entries(Vec<Entry>),
}

#[derive(Arbitrary, Debug)]
struct Entry {
    attributes: u32,
    size: i64,
    written: i64,
    id: u64,
    name: Vec<u16>,
}

const LAYOUTS: [Layout; 4] = [Layout::Full, Layout::Both, Layout::IdFull, Layout::IdBoth];

fuzz_target!(|input: Input<'_>| {
    let layout = LAYOUTS[usize::from(input.layout) % LAYOUTS.len()];
    match input.what {
        What::Bytes(buffer) => any_bytes(buffer, layout),
        What::Entries(entries) => round_trip(&entries, layout),
    }
});

fn any_bytes(buffer: &[u8], layout: Layout) {
    let mut records = Records::new(buffer, layout);
    let mut parsed_to = 0;
    let mut out = Vec::new();
    while let Some(record) = records.next() {
        let Ok(record) = record else {
            assert!(records.next().is_none(), "something came after an error");
            return;
        };
        assert!(record.name.start >= parsed_to + layout.header_length(), "names overlap");
        parsed_to = record.name.end;
        let name = &buffer[record.name];
        assert!(!name.is_empty() && name.len().is_multiple_of(2), "no whole units");
        assert!(utf16_units(name).all(|unit| unit != 0), "a name with a NUL");
        assert!(!matches!(name, b".\0" | b".\0.\0"));
        assert!(record.short_name.len() <= 24 && record.short_name.end <= buffer.len());
        as_text(name, &mut out);
    }
}

fn as_text(name: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let expected = String::from_utf16(&utf16_units(name).collect::<Vec<_>>());
    match append_utf8(utf16_units(name), out) {
        Ok(()) => assert_eq!(expected.expect("BUG: it became UTF-8").as_bytes(), out),
        Err(_) => assert!(expected.is_err() && out.is_empty()),
    }
}

fn round_trip(entries: &[Entry], layout: Layout) {
    let mut encoder = Encoder::new(layout);
    let mut expected = Vec::new();
    for entry in entries {
        let name: Vec<u16> = entry.name.iter().copied().filter(|&u| u != 0).take(255).collect();
        // A name without units, and a negative size: no system creates them.
        if name.is_empty() || entry.size < 0 {
            continue;
        }
        let record = Record {
            attributes: entry.attributes,
            reparse_tag: 0,
            created: 1,
            accessed: 2,
            written: entry.written,
            changed: 3,
            size: entry.size as u64,
            allocated: entry.size as u64,
            file_id: Some(entry.id),
            name: 0..0,
            short_name: 0..0,
        };
        encoder.add(&record, &name, &[]);
        if ![&[u16::from(b'.')][..], &[u16::from(b'.'); 2]].contains(&&*name) {
            expected.push((entry.attributes, record.size, entry.written, name));
        }
    }
    if expected.is_empty() {
        return;
    }
    let buffer = encoder.finish();
    let parsed: Vec<_> = Records::new(&buffer, layout)
        .map(|record| record.expect("BUG: what was encoded is valid"))
        .map(|r| (r.attributes, r.size, r.written, utf16_units(&buffer[r.name]).collect()))
        .collect();
    assert_eq!(parsed, expected);
}
