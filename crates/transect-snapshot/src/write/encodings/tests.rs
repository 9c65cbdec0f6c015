//! What is encoded is decoded again, by the decoders of the reader.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::read::decode::{self, PageBytes};

/// Returns numbers that are often equal, near each other, or at the ends of the range.
fn numbers() -> impl Strategy<Value = Vec<u64>> {
    let number = prop_oneof![
        4 => 0..4_u64,
        2 => 1_000_000..1_000_300_u64,
        1 => any::<u64>(),
        1 => prop::sample::select(vec![
            0,
            1,
            u64::MAX,
            i64::MAX as u64,
            i64::MIN as u64,
            u64::from(u32::MAX),
            (-1_i64) as u64,
        ]),
    ];
    // Each is repeated, so that there are runs.
    let repeated = vec((number, prop_oneof![1..12_usize, 30..80_usize]), 0..30);
    repeated.prop_map(|runs| {
        runs.into_iter().flat_map(|(number, times)| std::iter::repeat_n(number, times)).collect()
    })
}

fn byte_values() -> impl Strategy<Value = ByteValues> {
    let value = prop_oneof![4 => vec(any::<u8>(), 0..20), 1 => vec(97..99_u8, 200..300)];
    vec(value, 0..200).prop_map(|all| {
        let mut values = ByteValues::default();
        all.iter().for_each(|value| values.push(value));
        values
    })
}

fn all(values: &ByteValues) -> Vec<Vec<u8>> {
    values.iter().map(<[u8]>::to_vec).collect()
}

/// Encodes numbers as files of version 1 have them: all first bytes, then all second bytes, and so on. `width` is their number.
fn byte_stream_split(values: &[u64], width: usize, out: &mut Vec<u8>) {
    for byte in 0..width {
        out.extend(values.iter().map(|value| (value >> (8 * byte)) as u8));
    }
}

/// Encodes values whose lengths come first, as differences, as files of version 1 have names.
fn delta_length(values: &ByteValues, out: &mut Vec<u8>) {
    delta(values.iter().map(|value| value.len() as u64), out);
    out.extend_from_slice(&values.bytes);
}

/// Encodes each value as the length of what it shares with the one before, and the rest, as files
/// of version 1 have paths.
fn delta_bytes(values: &RepeatedBytes, out: &mut Vec<u8>) {
    let mut last = &[][..];
    let mut last_index = None;
    let (mut shared, mut rests) = (Vec::new(), ByteValues::default());
    for &index in &values.of_row {
        let value = values.values.get(index as usize);
        let prefix = match last_index == Some(index) {
            true => value.len(),
            false => value.iter().zip(last).take_while(|(a, b)| a == b).count(),
        };
        shared.push(prefix as u64);
        rests.push(&value[prefix..]);
        (last, last_index) = (value, Some(index));
    }
    delta(shared.into_iter(), out);
    delta_length(&rests, out);
}

/// Decodes `DELTA_BYTE_ARRAY`, which the reader of snapshots never needs.
fn decode_delta_bytes(bytes: &[u8], count: usize) -> Vec<Vec<u8>> {
    let (mut shared, mut rests) = (Vec::new(), ByteValues::default());
    let rest = decode::delta(PageBytes::new(bytes), count, &mut shared).unwrap();
    decode::delta_length(rest, count, &mut Vec::new(), &mut rests).unwrap();
    let mut last = Vec::new();
    let whole = shared.iter().zip(rests.iter()).map(|(&shared, rest)| {
        last.truncate(shared as usize);
        last.extend_from_slice(rest);
        last.clone()
    });
    whole.collect()
}

fn round_trip_numbers(values: &[u64]) {
    let (count, mut out, mut read) = (values.len(), Vec::new(), Vec::new());
    for width in [4, 8] {
        let expected: Vec<u64> = match width {
            4 => values.iter().map(|&value| u64::from(value as u32)).collect(),
            _ => values.to_vec(),
        };
        out.clear();
        read.clear();
        plain(values, width, &mut out);
        decode::plain(PageBytes::new(&out), count, width, &mut read).unwrap();
        assert_eq!(read, expected);
        out.clear();
        read.clear();
        byte_stream_split(values, width, &mut out);
        decode::byte_stream_split(PageBytes::new(&out), count, width, &mut read).unwrap();
        assert_eq!(read, expected);
    }
    out.clear();
    read.clear();
    delta(values.iter().copied(), &mut out);
    let mut rest = decode::delta(PageBytes::new(&out), count, &mut read).unwrap();
    assert_eq!(read, values);
    assert!(rest.byte().is_err(), "all bytes are read");
}

fn round_trip_runs(values: &[u32]) {
    let width = bits(values.iter().copied().max().unwrap_or(0));
    let mut out = Vec::new();
    runs(values, width, &mut out);
    let mut read = Vec::new();
    decode::runs(PageBytes::new(&out), width as usize, values.len(), |value, length| {
        read.resize(read.len() + length, value);
    })
    .unwrap();
    assert_eq!(read, values);
}

proptest! {
    #[test]
    fn numbers_of_every_encoding_decode_to_the_same(values in numbers()) {
        round_trip_numbers(&values);
    }

    #[test]
    fn runs_decode_to_the_same(values in numbers(), width in 0..33_u32) {
        let mask = (1_u64 << width) - 1;
        let values: Vec<u32> = values.iter().map(|value| (value & mask) as u32).collect();
        round_trip_runs(&values);
    }

    #[test]
    fn bytes_of_every_encoding_decode_to_the_same(values in byte_values(), repeat in 1..4_usize) {
        let count = values.len();
        let (mut out, mut read) = (Vec::new(), ByteValues::default());
        plain_bytes(values.iter(), &mut out);
        decode::plain_bytes(&mut out.clone(), 0, count, &mut read).unwrap();
        prop_assert_eq!(all(&read), all(&values));
        out.clear();
        read.clear();
        delta_length(&values, &mut out);
        decode::delta_length(PageBytes::new(&out), count, &mut Vec::new(), &mut read).unwrap();
        prop_assert_eq!(all(&read), all(&values));
        let of_row: Vec<u32> = (0..count * repeat).map(|row| (row / repeat) as u32).collect();
        let expected: Vec<_> = of_row.iter().map(|&at| values.get(at as usize).to_vec()).collect();
        out.clear();
        delta_bytes(&RepeatedBytes { values, of_row }, &mut out);
        prop_assert_eq!(decode_delta_bytes(&out, expected.len()), expected);
    }
}

#[test]
fn numbers_around_blocks_and_extremes_decode_to_the_same() {
    let extremes = [i64::MIN as u64, i64::MAX as u64, 0, u64::MAX];
    for count in [0, 1, 2, 31, 32, 33, 63, 64, 65, 129, 255, 256, 257, 258, 8192] {
        round_trip_numbers(&vec![7; count]);
        let ascending: Vec<u64> = (0..count as u64).collect();
        round_trip_numbers(&ascending);
        let jumping: Vec<u64> = (0..count).map(|index| extremes[index % 4]).collect();
        round_trip_numbers(&jumping);
        let alternating: Vec<u32> = (0..count).map(|index| (index % 2) as u32).collect();
        round_trip_runs(&alternating);
        round_trip_runs(&vec![1; count]);
    }
}

#[test]
fn runs_of_equal_values_take_few_bytes() {
    let mut out = Vec::new();
    runs(&[true; 8192], 1, &mut out);
    assert_eq!(out, [0x80, 0x80, 0x01, 1]);
    // A single dictionary entry needs no bits.
    out.clear();
    runs(&[0_u32; 8192], bits(0), &mut out);
    assert_eq!(out, [0x80, 0x80, 0x01]);
}

#[test]
fn widths_of_small_numbers() {
    let widths = [0, 1, 2, 3, 4, 255, 256, u32::MAX].map(bits);
    assert_eq!(widths, [0, 1, 2, 2, 3, 8, 9, 32]);
}
