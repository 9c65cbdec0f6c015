//! A bitmap with constant-time rank: how many numbers of a set are less than a given one. Takes a
//! bit per possible number, and 4 bytes per 512.

/// Numbers per word, and per block with a stored count.
const WORD: usize = 64;
const BLOCK: usize = 8 * WORD;

/// A set of numbers below a limit.
#[derive(Clone, Debug, Default)]
pub(super) struct RankBitmap {
    words: Vec<u64>,
    /// How many numbers of the set lie before each block of 512.
    before: Vec<u32>,
}

impl RankBitmap {
    /// Returns an empty set for numbers below `limit`.
    pub(super) fn with_limit(limit: usize) -> Self {
        Self { words: vec![0; limit.div_ceil(BLOCK) * (BLOCK / WORD)], before: Vec::new() }
    }

    /// Inserts a number; returns whether it was new.
    pub(super) fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = word_and_bit(number);
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Counts the numbers. Until then only [`RankBitmap::contains`] works.
    pub(super) fn indexed(mut self) -> Self {
        let mut sum = 0;
        self.before = self
            .words
            .chunks(BLOCK / WORD)
            .map(|block| {
                let before = sum;
                sum += block.iter().map(|word| word.count_ones()).sum::<u32>();
                before
            })
            .collect();
        self
    }

    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        let (word, bit) = word_and_bit(number);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Returns how many numbers of the set are less than this one.
    #[inline]
    pub(super) fn rank(&self, number: u32) -> u32 {
        let (word, bit) = word_and_bit(number);
        let Some(last) = self.words.get(word) else {
            return self.words.iter().map(|word| word.count_ones()).sum();
        };
        let block = number as usize / BLOCK;
        let whole = &self.words[block * (BLOCK / WORD)..word];
        self.before[block]
            + whole.iter().map(|word| word.count_ones()).sum::<u32>()
            + (last & (bit - 1)).count_ones()
    }

    /// Returns the rank of a number that is in the set.
    #[inline]
    pub(super) fn index_of(&self, number: u32) -> Option<usize> {
        self.contains(number).then(|| self.rank(number) as usize)
    }
}

fn word_and_bit(number: u32) -> (usize, u64) {
    (number as usize / WORD, 1 << (number as usize % WORD))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rank_bitmap_agrees_with_sorted_set(numbers in prop::collection::btree_set(0u32..3000, 0..400)) {
            let mut ranks = RankBitmap::with_limit(3000);
            for &number in &numbers {
                prop_assert!(ranks.insert(number));
                prop_assert!(!ranks.insert(number));
            }
            let ranks = ranks.indexed();
            for number in 0..3600 {
                prop_assert_eq!(ranks.rank(number) as usize, numbers.range(..number).count());
                prop_assert_eq!(ranks.contains(number), numbers.contains(&number));
            }
        }
    }

    #[test]
    fn rank_bitmap_empty_contains_nothing() {
        let ranks = RankBitmap::with_limit(0).indexed();
        assert_eq!(ranks.index_of(0), None);
        assert_eq!(ranks.rank(7), 0);
    }
}
