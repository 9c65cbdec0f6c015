//! The checksums of ext4's metadata.
//!
//! Source: Linux, `fs/ext4/` (`ext4_chksum`, `ext4_group_desc_csum`) and
//! `Documentation/filesystems/ext4/checksums.rst`.

/// From this length on, the crate calculates the checksums of three parts at once. For less, it takes four
/// times as many instructions.
#[cfg(any(target_arch = "x86_64", test))]
const LONG: usize = 768;

/// Continues a CRC32C as the kernel does: without inverting it at the beginning and the end.
#[inline]
pub(super) fn crc32c(seed: u32, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() < LONG && is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has these instructions.
        return unsafe { short_crc32c(seed, bytes) };
    }
    !crc32c::crc32c_append(!seed, bytes)
}

/// The same with little around the instruction that does it, so that a processor begins with the next inode
/// before this one is done.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn short_crc32c(seed: u32, bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u64};
    let (words, rest) = bytes.as_chunks();
    let add = |crc, word: &[u8; 8]| _mm_crc32_u64(crc, u64::from_le_bytes(*word));
    let crc = words.iter().fold(seed.into(), add) as u32;
    rest.iter().fold(crc, |crc, &byte| _mm_crc32_u8(crc, byte))
}

/// Continues a CRC32C with words of eight bytes.
#[inline]
pub(super) fn crc32c_of_words<const N: usize>(seed: u32, words: &[u64; N]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has these instructions.
        return unsafe { hardware_crc32c(seed, words) };
    }
    words.iter().fold(seed, |crc, word| crc32c(crc, &word.to_le_bytes()))
}

/// The number of words is known, so that there is nothing but the instruction that does it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn hardware_crc32c<const N: usize>(seed: u32, words: &[u64; N]) -> u32 {
    let add = |crc, word: &u64| std::arch::x86_64::_mm_crc32_u64(crc, *word);
    words.iter().fold(seed.into(), add) as u32
}

/// Continues a CRC16 (polynomial 0x8005, reflected), which protects group descriptors where there is
/// no CRC32C.
pub(super) fn crc16(seed: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(seed, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte), |crc, _| (crc >> 1) ^ (0xA001 * (crc & 1)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_known_values() {
        // The check values of both in the catalogue of parametrised CRC algorithms, for "123456789":
        // CRC-32/ISCSI is inverted at the end, CRC-16/ARC begins with 0.
        assert_eq!(!crc32c(!0, b"123456789"), 0xE306_9283);
        assert_eq!(crc16(0, b"123456789"), 0xBB3D);
    }

    #[test]
    fn crc32c_of_words_that_of_their_bytes() {
        let words = [0, 1, u64::MAX, 0x0123_4567_89AB_CDEF];
        let bytes = words.map(u64::to_le_bytes);
        assert_eq!(crc32c_of_words(7, &words), crc32c(7, bytes.as_flattened()));
    }

    #[test]
    fn crc32c_same_for_all_lengths_and_places() {
        let bytes: Vec<u8> = (0..2 * LONG).map(|at| (at * at / 7) as u8).collect();
        for begin in 0..9 {
            for end in (begin..40).chain(LONG - 9..LONG + 9) {
                let bytes = &bytes[begin..end];
                let slowly = bytes.iter().fold(7, |crc, &byte| crc32c(crc, &[byte]));
                assert_eq!(crc32c(7, bytes), slowly, "{begin}..{end}");
            }
        }
    }
}
