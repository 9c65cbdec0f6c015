//! IPS patches: bytes at 24-bit offsets, without the old bytes.
//!
//! ```text
//! "PATCH"  (offset:3 length:2 bytes | offset:3 0:2 length:2 byte)...  "EOF"  [length of the result:3]
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use super::changes::{Change, Changes};
use crate::step::InvalidData;

pub(super) const MAGIC: &[u8] = b"PATCH";

/// A record of a patch. Runs are expanded only where they are needed.
struct Record<'a> {
    at: Range<u64>,
    bytes: Bytes<'a>,
}

enum Bytes<'a> {
    Literal(&'a [u8]),
    Run(u8),
}

impl Record<'_> {
    fn change(&self, at: Range<u64>) -> Change {
        let length = (at.end - at.start) as usize;
        let new = match self.bytes {
            Bytes::Literal(bytes) => {
                bytes[(at.start - self.at.start) as usize..][..length].to_vec()
            }
            Bytes::Run(byte) => vec![byte; length],
        };
        Change { offset: at.start, old: None, new }
    }
}

/// Parses a patch into changes.
pub(super) fn parse(patch: &[u8]) -> Result<Changes, InvalidData> {
    let mut rest = &patch[MAGIC.len()..];
    let mut records = Vec::new();
    let cut = loop {
        match rest {
            // An offset can have the same bytes: then more follows.
            b"EOF" => break None,
            [b'E', b'O', b'F', cut @ ..] if cut.len() == 3 => break Some(number(cut)),
            _ => {}
        }
        let at = (patch.len() - rest.len()) as u64;
        let (record, after) = record(rest).ok_or_else(|| InvalidData::at(at, "it is cut short"))?;
        records.push(record);
        rest = after;
    };
    Ok(Changes { list: last_wins(&records), cut, grows: true, known: None })
}

fn record(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<5>()?;
    let (offset, length) = (number(&head[..3]), number(&head[3..]));
    if length > 0 {
        let (literal, rest) = rest.split_at_checked(length as usize)?;
        let at = offset..offset + length;
        return Some((Record { at, bytes: Bytes::Literal(literal) }, rest));
    }
    let (&[high, low, byte], rest) = rest.split_first_chunk::<3>()?;
    let at = offset..offset + number(&[high, low]);
    Some((Record { at, bytes: Bytes::Run(byte) }, rest))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Resolves overlaps: the last record wins. The changes together are no longer than the range of
/// 24-bit offsets, however long the patch is.
fn last_wins(records: &[Record<'_>]) -> Vec<Change> {
    // Start and end of ranges that later records change.
    let mut covered: BTreeMap<u64, u64> = BTreeMap::new();
    let mut changes = Vec::new();
    for record in records.iter().rev().filter(|record| !record.at.is_empty()) {
        let (mut begin, mut end) = (record.at.start, record.at.end);
        let mut at = begin;
        if let Some((&start, &stop)) = covered.range(..=begin).next_back()
            && stop >= begin
        {
            (begin, at) = (start, stop);
        }
        while let Some((&start, &stop)) = covered.range(at..).find(|(_, stop)| **stop > at) {
            if start > record.at.end {
                break;
            }
            if at < start {
                changes.push(record.change(at..start));
            }
            covered.remove(&start);
            at = stop;
        }
        if at < record.at.end {
            changes.push(record.change(at..record.at.end));
            at = record.at.end;
        }
        end = end.max(at);
        // One interval replaces all intervals that it contains, so each is visited only once.
        covered.insert(begin, end);
    }
    changes.sort_by_key(|change| change.offset);
    changes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encodes a record.
    fn literal(offset: u32, bytes: &[u8]) -> Vec<u8> {
        let length = u16::try_from(bytes.len()).unwrap();
        [&offset.to_be_bytes()[1..], &length.to_be_bytes(), bytes].concat()
    }

    fn run(offset: u32, length: u16, byte: u8) -> Vec<u8> {
        [&offset.to_be_bytes()[1..], &[0, 0], &length.to_be_bytes(), &[byte]].concat()
    }

    fn patch(records: &[Vec<u8>], end: &[u8]) -> Vec<u8> {
        [MAGIC, &records.concat(), b"EOF", end].concat()
    }

    fn change(offset: u64, new: &[u8]) -> Change {
        Change { offset, old: None, new: new.to_vec() }
    }

    #[test]
    fn ips_records_become_changes() {
        let patch = patch(&[literal(5, b"abc"), run(1, 3, b'x')], &[0, 1, 2]);
        let changes = parse(&patch).unwrap();
        assert_eq!(changes.list, [change(1, b"xxx"), change(5, b"abc")]);
        assert_eq!((changes.cut, changes.grows), (Some(258), true));
    }

    #[test]
    fn ips_offset_equal_to_eof() {
        let patch = patch(&[literal(0x45_4f46, b"a")], b"");
        assert_eq!(parse(&patch).unwrap().list, [change(0x45_4f46, b"a")]);
    }

    #[test]
    fn ips_truncated_rejected() {
        let whole = patch(&[literal(5, b"abc"), run(1, 3, b'x')], b"");
        for end in MAGIC.len()..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "cut at {end}");
        }
        assert_eq!(parse(b"PATCH").unwrap_err(), InvalidData::at(5, "it is cut short"));
    }

    #[test]
    fn ips_overlapping_runs_take_little_memory() {
        let runs: Vec<_> = (0..50_000).map(|at| run(at % 7, u16::MAX, at as u8)).collect();
        let changes = parse(&patch(&runs, b"")).unwrap();
        let bytes: usize = changes.list.iter().map(|change| change.new.len()).sum();
        assert_eq!(bytes, 65535 + 6);
    }

    proptest! {
        #[test]
        fn ips_changes_equal_records_in_sequence(
            records in prop::collection::vec(
                (0..60_u32, prop::collection::vec(any::<u8>(), 1..12), any::<bool>()), 0..12),
        ) {
            let mut image = vec![None; 100];
            let mut written = Vec::new();
            for (offset, bytes, as_run) in &records {
                let at = *offset as usize;
                for (place, &byte) in image[at..].iter_mut().zip(bytes) {
                    *place = Some(if *as_run { bytes[0] } else { byte });
                }
                written.push(match as_run {
                    true => run(*offset, bytes.len() as u16, bytes[0]),
                    false => literal(*offset, bytes),
                });
            }
            let changes = parse(&patch(&written, b"")).unwrap();
            let mut made = vec![None; 100];
            let mut end = 0;
            for change in &changes.list {
                prop_assert!(change.offset >= end && !change.new.is_empty());
                end = change.end();
                for (place, &byte) in made[change.offset as usize..].iter_mut().zip(&change.new) {
                    *place = Some(byte);
                }
            }
            prop_assert_eq!(made, image);
        }

        #[test]
        fn ips_any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&[MAGIC, &bytes].concat());
            let _ = parse(&[MAGIC, &bytes, b"EOF"].concat());
        }
    }
}
