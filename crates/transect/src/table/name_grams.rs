//! Rules out chunks whose names cannot contain a word.

use super::columns::Chunk;

/// Which sequences of three bytes occur in the names of a chunk, by their hashes. Few chunks have all those of a rare
/// word, and the names of the others need not be read. 8 KiB for 65,536 names.
#[derive(Debug)]
pub(super) struct NameGrams(Box<[u64]>);

impl NameGrams {
    pub(super) fn of(chunk: &Chunk) -> Self {
        let mut bits = vec![0; (1 << HASH_BITS) / 64].into_boxed_slice();
        // Those of two neighbours do no harm.
        for hash in hashes(chunk.names().all_bytes()) {
            bits[hash / 64] |= 1 << (hash % 64);
        }
        Self(bits)
    }

    /// Returns whether a name of the chunk can contain a word.
    pub(super) fn may_contain(&self, word: &[u8]) -> bool {
        hashes(word).all(|hash| self.0[hash / 64] >> (hash % 64) & 1 == 1)
    }
}

const HASH_BITS: u32 = 16;

fn hashes(text: &[u8]) -> impl Iterator<Item = usize> {
    let third = text.iter().skip(2);
    text.iter().zip(text.iter().skip(1)).zip(third).map(|((&a, &b), &c)| {
        (u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
    })
}
