//! Messages of Watchman's protocol on a connection: lines of JSON, and BSER.

use super::bser::{self, Version};
use super::value::Value;
use crate::protocol::ProtocolError;

/// The form of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A line of JSON.
    Json,
    /// BSER.
    Bser(Version),
}

impl Encoding {
    /// Appends a message.
    pub fn append(self, out: &mut Vec<u8>, value: &Value) {
        match self {
            Self::Json => {
                value.append_json(out);
                out.push(b'\n');
            }
            Self::Bser(version) => bser::append_message(out, version, value),
        }
    }
}

/// Takes a message from the beginning of the input: its form, its value and its length. Returns `None` if more of it is
/// still to come.
///
/// # Errors
/// It is malformed, or longer than `longest`.
pub fn take_message(
    input: &[u8],
    longest: usize,
) -> Result<Option<(Encoding, Value, usize)>, ProtocolError> {
    if input.first() == Some(&0) {
        let taken = bser::take_message(input, longest)?;
        return Ok(taken.map(|(version, value, length)| (Encoding::Bser(version), value, length)));
    }
    match memchr::memchr(b'\n', input) {
        Some(end) if end <= longest => {
            let value = Value::from_json(&input[..end]);
            let value = value.map_err(|_| ProtocolError("not a line of JSON"))?;
            Ok(Some((Encoding::Json, value, end + 1)))
        }
        None if input.len() <= longest => Ok(None),
        _ => Err(ProtocolError("a message is too long")),
    }
}

/// Returns whether a connection speaks Watchman's protocol, by its first five bytes. In the service's own one they are the
/// length of a frame and its kind. No frame is as long as JSON would make it, and no kind is 0. The four lengths that
/// remain are those that the beginning of BSER 1 would be.
pub(crate) fn is_watchman(first: [u8; 5]) -> bool {
    match first {
        [b'[', _, _, length, _] => length != 0,
        [0, 1, 3..=6, _, _] => true,
        [0, 2, _, _, kind] => kind == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_json_taken_one_at_a_time() {
        let input = b"[\"version\"]\n[\"clock\", 1]\n[";
        let (encoding, value, length) = take_message(input, 100).unwrap().unwrap();
        assert_eq!((encoding, &value), (Encoding::Json, &vec!["version".into()].into()));
        let rest = &input[length..];
        let (_, value, length) = take_message(rest, 100).unwrap().unwrap();
        assert_eq!(value, vec!["clock".into(), Value::Int(1)].into());
        assert_eq!(take_message(&rest[length..], 100), Ok(None));
        assert!(take_message(input, 5).is_err() && take_message(b"[[[[[[", 5).is_err());
        assert!(take_message(b"{\n", 5).is_err());
    }

    #[test]
    fn protocol_recognized_by_its_first_bytes() {
        for value in [vec!["version".into()].into(), Value::Bytes(vec![b'a'; 40_000])] {
            for version in [Version::One, Version::Two] {
                let mut out = Vec::new();
                Encoding::Bser(version).append(&mut out, &value);
                assert!(is_watchman(*out.first_chunk().unwrap()));
            }
        }
        assert!(is_watchman(*b"[\"ver"));
        // Hello; a frame of 91 bytes; one of 512.
        for own in [[7, 0, 0, 0, 1], [b'[', 0, 0, 0, 2], [0, 2, 0, 0, 2]] {
            assert!(!is_watchman(own));
        }
    }
}
