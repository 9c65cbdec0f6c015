//! Memory for reads and writes by the kernel.

/// Page size, because copies between equally aligned pages are fastest.
pub(super) const ALIGNMENT: usize = 4096;

/// Block size for large files. Larger blocks are not faster, and do not fit into the processor's
/// cache.
pub(crate) const LARGE_BLOCK: usize = 256 << 10;

/// Block size for files below [`LARGE_FILE`]: touches less memory.
pub(super) const SMALL_BLOCK: usize = 128 << 10;

/// Size from which a file is large.
pub(super) const LARGE_FILE: u64 = 1 << 20;

/// A page-aligned block of bytes.
#[derive(Debug, Default)]
pub(super) struct Block {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Block {
    /// Returns the first `length` bytes, with arbitrary content. Grows the block if needed.
    pub(super) fn first(&mut self, length: usize) -> &mut [u8] {
        if self.length < length {
            self.memory = vec![0; length + ALIGNMENT];
            // If the alignment cannot be computed, copies are only slower.
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
    fn block_page_aligned_and_grows() {
        let mut block = Block::default();
        for length in [1, 4096, 100, 1 << 18] {
            let bytes = block.first(length);
            assert_eq!(bytes.len(), length);
            assert_eq!(bytes.as_ptr() as usize % ALIGNMENT, 0);
            bytes.fill(7);
        }
    }
}
