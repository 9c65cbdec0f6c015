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

/// Continues a CRC-32 (polynomial 0x04C11DB7, not reflected and not inverted), which commits of older journals
/// have (`crc32_be`).
pub(super) fn crc32(seed: u32, bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(seed, |crc, &byte| crc << 8 ^ CRC32_OF_BYTES[usize::from((crc >> 24) as u8 ^ byte)])
}

const CRC32_OF_BYTES: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = ((byte as u32) << 24, 0);
        while bit < 8 {
            crc = crc << 1 ^ (0x04C1_1DB7 * (crc >> 31));
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_known_values() {
        // The check values in the catalogue of parametrised CRC algorithms, for "123456789": CRC-32/ISCSI is
        // inverted at the end, CRC-16/ARC begins with 0, CRC-32/MPEG-2 with all bits set.
        assert_eq!(!crc32c(!0, b"123456789"), 0xE306_9283);
        assert_eq!(crc16(0, b"123456789"), 0xBB3D);
        assert_eq!(crc32(!0, b"123456789"), 0x0376_E6E7);
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
