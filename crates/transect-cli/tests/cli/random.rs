//! Numbers that look random and are the same in each run.

use std::path::PathBuf;

/// Xorshift numbers of a seed, which is not 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    pub(crate) fn one_of(&mut self, paths: &[PathBuf]) -> PathBuf {
        paths[self.below(paths.len())].clone()
    }
}
