//! Checksums of what a file describes itself with: they are the last field of a structure, which other programs skip.
//!
//! ```text
//! fields of the structure │ x8 05 │ checksum, 5 bytes │ 00
//! ```
//!
//! `x` is the difference of the field's number, 16, to the number before. Parquet reserves a greater number for
//! extensions, 32767, whose long form some programs cannot skip. `docs/FORMAT.md` describes it.

/// The number of the field. No structure of Parquet that has it uses numbers above 9.
pub(crate) const FIELD: u8 = 16;

/// The length of the checksum, and the end of the structure.
const SUM_BYTES: usize = 5;
const END: u8 = 0;

/// What a structure shows of its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    Intact,
    Broken,
    Missing,
}

/// Returns the checksum as it is stored: seven bits in each byte, the lowest first. Some programs skip a field only if
/// it is UTF-8.
fn stored_sum(bytes: &[u8]) -> [u8; SUM_BYTES] {
    let sum = crc32fast::hash(bytes);
    std::array::from_fn(|at| (sum >> (7 * at)) as u8 & 0x7f)
}

/// Adds the checksum and the end to a structure, which is all of `bytes`, after the beginning of the field.
pub(crate) fn seal(bytes: &mut Vec<u8>) {
    bytes.push(SUM_BYTES as u8);
    let sum = stored_sum(bytes);
    bytes.extend_from_slice(&sum);
    bytes.push(END);
}

/// Verifies the checksum of a structure, which is all of `bytes`.
pub(crate) fn verify(bytes: &[u8]) -> Seal {
    let parts = bytes.split_last_chunk::<{ SUM_BYTES + 1 }>();
    let Some((before, [sum @ .., END])) = parts else { return Seal::Missing };
    match before {
        // No other field has such a distance to the one before.
        [.., field, length] if is_begin(*field) && usize::from(*length) == SUM_BYTES => {
            if stored_sum(before) == *sum {
                Seal::Intact
            } else {
                Seal::Broken
            }
        }
        _ => Seal::Missing,
    }
}

/// Returns whether a byte begins the field in Thrift's compact protocol: its type is that of bytes.
fn is_begin(byte: u8) -> bool {
    const LEAST_DISTANCE: u8 = FIELD - 9;
    byte & 0x0f == 8 && byte >> 4 >= LEAST_DISTANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::thrift::Thrift;

    fn sealed() -> Vec<u8> {
        // The field 1 is the number 7.
        let mut bytes = vec![0x15, 14, 0xf8];
        seal(&mut bytes);
        bytes
    }

    #[test]
    fn checksum_is_a_field_that_readers_skip() {
        let bytes = sealed();
        let (mut fields, mut thrift) = (Vec::new(), Thrift::new(&bytes));
        let read = thrift.fields(|_, id, kind| {
            fields.push((id, kind));
            Ok(false)
        });
        read.unwrap();
        assert_eq!((fields, thrift.remaining()), (vec![(1, 5), (16, 8)], 0));
    }

    #[test]
    fn checksum_of_changed_structure_is_not_intact() {
        assert_eq!(verify(&sealed()), Seal::Intact);
        for bit in 0..8 * sealed().len() {
            let mut bytes = sealed();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(verify(&bytes), Seal::Intact, "{bit}");
        }
        // The name of a program of five letters is no checksum.
        for other in [&b"\x15\x0e\x00"[..], b"", b"\x15\x0e\x28\x05hello\x00"] {
            assert_eq!(verify(other), Seal::Missing);
        }
    }

    #[test]
    fn stored_sum_is_text() {
        let sums = (0..300_u32).map(|number| stored_sum(&number.to_le_bytes()));
        assert!(sums.clone().all(|sum| std::str::from_utf8(&sum).is_ok()));
        assert_eq!(stored_sum(b"123456789"), [0x26, 0x72, 0x50, 0x5f, 0x0c]);
    }

    #[test]
    fn crc32_is_that_of_gzip() {
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
    }
}
