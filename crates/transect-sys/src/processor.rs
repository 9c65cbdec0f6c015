//! Instructions of the processor that the readers of volumes use: to fetch memory that is read soon, and for
//! CRC32C.

/// Has the processor fetch a value, so that reading it a little later does not wait for memory: the tables of a volume are
/// too large for its caches, and a walk reads them in the order of the tree.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        /// Bytes that a processor fetches at once.
        const LINE: usize = 64;
        /// Of larger values, the beginning is enough: the processor notices that reading goes on.
        const MOST: usize = 4 * LINE;
        let begin = std::ptr::from_ref(value).cast::<i8>();
        let last = size_of_val(value).saturating_sub(1).min(MOST);
        let mut at = 0;
        loop {
            // SAFETY: it changes nothing that a program can observe, and cannot fail at any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(at.min(last))) };
            if at >= last {
                break;
            }
            at += LINE;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// From this length on, the crate calculates the checksums of three parts at once. For less, it takes four
/// times as many instructions.
#[cfg(any(target_arch = "x86_64", test))]
const LONG: usize = 768;

/// Continues a CRC32C as Linux does (`ext4_chksum`): without inverting it at the beginning and the end.
#[inline]
pub fn crc32c(seed: u32, bytes: &[u8]) -> u32 {
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
pub fn crc32c_of_words<const N: usize>(seed: u32, words: &[u64; N]) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32c_known_value() {
        // The check value of CRC-32/ISCSI in the catalogue of parametrised CRC algorithms, inverted at the end.
        assert_eq!(!crc32c(!0, b"123456789"), 0xE306_9283);
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
