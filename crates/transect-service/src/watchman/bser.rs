//! BSER, Watchman's binary form of JSON, versions 1 and 2. A message is `00 01`, or `00 02` and four bytes of flags; then
//! its length as an integer, and a value. Each value begins with a byte for its type. Numbers have the byte order of the
//! machine, which is little-endian on all that Watchman supports.

use super::value::Value;
use crate::protocol::{ByteReader, ProtocolError};

const ARRAY: u8 = 0x00;
const OBJECT: u8 = 0x01;
const BYTES: u8 = 0x02;
const INT8: u8 = 0x03;
const INT16: u8 = 0x04;
const INT32: u8 = 0x05;
const INT64: u8 = 0x06;
const REAL: u8 = 0x07;
const TRUE: u8 = 0x08;
const FALSE: u8 = 0x09;
const NULL: u8 = 0x0A;
/// A string that is UTF-8, in version 2.
const TEXT: u8 = 0x0D;

/// The deepest nesting of a message, as of JSON.
const MAX_DEPTH: u32 = 128;

/// The form of a message. The answer has that of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `00 01`
    One,
    /// `00 02`
    Two,
}

/// Appends a message.
pub fn append_message(out: &mut Vec<u8>, version: Version, value: &Value) {
    let mut body = Vec::new();
    append(&mut body, value);
    match version {
        Version::One => out.extend_from_slice(&[0, 1]),
        // Without flags: the reader accepts strings of both types.
        Version::Two => out.extend_from_slice(&[0, 2, 0, 0, 0, 0]),
    }
    append_int(out, body.len() as i64);
    out.extend_from_slice(&body);
}

/// Takes a message from the beginning of the input: its version, its value and its length. Returns `None` if more of it
/// is still to come.
///
/// # Errors
/// It is malformed, longer than `longest`, or nested too deeply.
pub fn take_message(
    input: &[u8],
    longest: usize,
) -> Result<Option<(Version, Value, usize)>, ProtocolError> {
    let (version, header) = match input.get(1) {
        None => return Ok(None),
        Some(1) => (Version::One, 2),
        Some(2) => (Version::Two, 6),
        Some(_) => return Err(ProtocolError("an unknown version of BSER")),
    };
    let Some((&kind, rest)) = input.get(header..).and_then(<[u8]>::split_first) else {
        return Ok(None);
    };
    if rest.len() < int_bytes(kind)? {
        return Ok(None);
    }
    let mut from = ByteReader(&input[header..]);
    let length = usize::try_from(take_int(&mut from)?);
    let length = length.ok().filter(|&length| length <= longest);
    let length = length.ok_or(ProtocolError("a message is too long"))?;
    let Ok(body) = from.take(length) else { return Ok(None) };
    let mut body = ByteReader(body);
    let value = take(&mut body, MAX_DEPTH)?;
    body.end()?;
    Ok(Some((version, value, input.len() - from.0.len())))
}

fn append(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(true) => out.push(TRUE),
        Value::Bool(false) => out.push(FALSE),
        Value::Int(number) => append_int(out, *number),
        Value::Real(number) => {
            out.push(REAL);
            out.extend_from_slice(&number.to_le_bytes());
        }
        Value::Bytes(bytes) => append_bytes(out, bytes),
        Value::Array(values) => {
            out.push(ARRAY);
            append_int(out, values.len() as i64);
            values.iter().for_each(|value| append(out, value));
        }
        Value::Object(pairs) => {
            out.push(OBJECT);
            append_int(out, pairs.len() as i64);
            for (key, value) in pairs {
                append_bytes(out, key);
                append(out, value);
            }
        }
    }
}

fn append_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(BYTES);
    append_int(out, bytes.len() as i64);
    out.extend_from_slice(bytes);
}

/// Appends an integer in as few bytes as it needs.
fn append_int(out: &mut Vec<u8>, number: i64) {
    if let Ok(number) = i8::try_from(number) {
        out.extend_from_slice(&[INT8, number.cast_unsigned()]);
    } else if let Ok(number) = i16::try_from(number) {
        out.push(INT16);
        out.extend_from_slice(&number.to_le_bytes());
    } else if let Ok(number) = i32::try_from(number) {
        out.push(INT32);
        out.extend_from_slice(&number.to_le_bytes());
    } else {
        out.push(INT64);
        out.extend_from_slice(&number.to_le_bytes());
    }
}

fn take(from: &mut ByteReader<'_>, depth: u32) -> Result<Value, ProtocolError> {
    let below = depth.checked_sub(1).ok_or(ProtocolError("a value is nested too deeply"))?;
    let &kind = from.0.first().ok_or(ProtocolError("a value is missing"))?;
    if (INT8..=INT64).contains(&kind) {
        return take_int(from).map(Value::Int);
    }
    if matches!(kind, BYTES | TEXT) {
        return take_bytes(from).map(Value::Bytes);
    }
    from.take(1)?;
    // Nothing is reserved for the announced number of elements: each takes a byte at least.
    match kind {
        ARRAY => {
            let count = take_int(from)?;
            (0..count).map(|_| take(from, below)).collect::<Result<_, _>>().map(Value::Array)
        }
        OBJECT => {
            let count = take_int(from)?;
            let pairs = (0..count).map(|_| Ok((take_bytes(from)?, take(from, below)?)));
            pairs.collect::<Result<_, _>>().map(Value::Object)
        }
        REAL => from.u64().map(|bits| Value::Real(f64::from_bits(bits))),
        TRUE => Ok(Value::Bool(true)),
        FALSE => Ok(Value::Bool(false)),
        NULL => Ok(Value::Null),
        _ => Err(ProtocolError("an unknown type of value")),
    }
}

fn take_bytes(from: &mut ByteReader<'_>) -> Result<Vec<u8>, ProtocolError> {
    if !matches!(from.u8()?, BYTES | TEXT) {
        return Err(ProtocolError("not a string"));
    }
    let length = usize::try_from(take_int(from)?);
    let length = length.map_err(|_| ProtocolError("a negative length"))?;
    from.take(length).map(<[u8]>::to_vec)
}

fn take_int(from: &mut ByteReader<'_>) -> Result<i64, ProtocolError> {
    let bytes = int_bytes(from.u8()?)?;
    let mut number = [0; 8];
    number[..bytes].copy_from_slice(from.take(bytes)?);
    // The upper bits are those of the sign.
    let unused = 64 - 8 * bytes as u32;
    Ok(i64::from_le_bytes(number) << unused >> unused)
}

/// Returns the number of bytes of an integer of this type.
fn int_bytes(kind: u8) -> Result<usize, ProtocolError> {
    match kind {
        INT8..=INT64 => Ok(1 << (kind - INT8)),
        _ => Err(ProtocolError("not an integer")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let bytes = prop::collection::vec(any::<u8>(), 0..300);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            (-40_000..40_000_i64).prop_map(Value::Int),
            (-1e9..1e9).prop_map(Value::Real),
            bytes.clone().prop_map(Value::Bytes),
        ];
        leaf.prop_recursive(4, 60, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
                prop::collection::vec((bytes.clone(), inner), 0..8).prop_map(Value::Object),
            ]
        })
    }

    fn message(version: Version, value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        append_message(&mut out, version, value);
        out
    }

    proptest! {
        #[test]
        fn message_round_trip_and_truncated(value in any_value()) {
            for version in [Version::One, Version::Two] {
                let whole = message(version, &value);
                let longer = [&whole[..], b"more"].concat();
                let taken = take_message(&longer, usize::MAX);
                prop_assert_eq!(taken, Ok(Some((version, value.clone(), whole.len()))));
                for length in 0..whole.len() {
                    prop_assert_eq!(take_message(&whole[..length], usize::MAX), Ok(None));
                }
            }
        }

        #[test]
        fn parser_random_bytes_no_panic(mut bytes in prop::collection::vec(0..16_u8, 2..200)) {
            let _ = take_message(&bytes, 1000);
            (bytes[0], bytes[1]) = (0, 1);
            let _ = take_message(&bytes, 1000);
        }
    }

    #[test]
    fn message_of_watchman_documentation() {
        // The example of Watchman's description of BSER, with the length that it leaves out.
        let fred = Value::object([("name", "fred".into()), ("age", Value::Int(20))]);
        let body = b"\x01\x03\x02\x02\x03\x04name\x02\x03\x04fred\x02\x03\x03age\x03\x14";
        let whole = [b"\0\x01\x03".as_slice(), &[body.len() as u8], body].concat();
        assert_eq!(message(Version::One, &fred), whole);
        let text = b"\0\x02\0\0\0\0\x03\x05\x0D\x03\x02hi";
        let taken = take_message(text, 100).unwrap().map(|(_, value, _)| value);
        assert_eq!(taken, Some("hi".into()));
    }

    #[test]
    fn message_hostile_refused() {
        let deep = [&b"\0\x01\x05\xD0\x07\0\0"[..], &[0, 3, 1].repeat(667)[..2000]].concat();
        let refused: [(&[u8], &str); 8] = [
            (&deep, "a value is nested too deeply"),
            (b"\0\x01\x06\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", "a message is too long"),
            (b"\0\x01\x03\xFF\0", "a message is too long"),
            (b"\0\x01\x0A\0", "not an integer"),
            (b"\0\x03", "an unknown version of BSER"),
            (b"\0\x01\x03\x04\x02\x03\xFFa", "a negative length"),
            (b"\0\x01\x03\x06\x02\x05\xFF\xFF\xFF\x7F", "the frame ends early"),
            (b"\0\x01\x03\x06\0\x05\xFF\xFF\xFF\x7F", "a value is missing"),
        ];
        for (bytes, why) in refused {
            assert_eq!(take_message(bytes, 1 << 20), Err(ProtocolError(why)), "{why}");
        }
        // A byte after the value.
        assert!(take_message(b"\0\x01\x03\x02\x0A\x0A", 100).is_err());
    }
}
