//! Names and other bytes of a column.

/// Byte strings, one after the other in one buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByteValues {
    pub(crate) bytes: Vec<u8>,
    /// Where each value ends.
    pub(crate) ends: Vec<u32>,
}

impl ByteValues {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> &[u8] {
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin as usize..self.ends[index] as usize]
    }

    /// Adds a value. All together have less than 4 GiB.
    pub(crate) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len() as u32);
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len()).map(|index| self.get(index))
    }
}
