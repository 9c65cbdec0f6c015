//! Memory that the kernel reads into and writes from.

/// As pages of memory: copies between pages that lie alike are the fastest.
pub(super) const ALIGNMENT: usize = 4096;

/// A block of bytes that begins with a page.
#[derive(Debug, Default)]
pub(super) struct Block {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Block {
    /// Returns its first `length` bytes, whatever they hold. The block grows if it is smaller.
    pub(super) fn first(&mut self, length: usize) -> &mut [u8] {
        if self.length < length {
            self.memory = vec![0; length + ALIGNMENT];
            // A place that cannot be told is no error: it is only slower.
            self.start = self.memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
            self.length = length;
        }
        &mut self.memory[self.start..self.start + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_begins_with_a_page_and_grows() {
        let mut block = Block::default();
        for length in [1, 4096, 100, 1 << 18] {
            let bytes = block.first(length);
            assert_eq!(bytes.len(), length);
            assert_eq!(bytes.as_ptr() as usize % ALIGNMENT, 0);
            bytes.fill(7);
        }
    }
}
