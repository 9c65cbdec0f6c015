//! Many names in one buffer, lossless on every system.

use std::ffi::OsStr;

use crate::name;

/// A list of names in one buffer, accessed by index. Needs 4 bytes for each name besides the name
/// itself.
///
/// The layout is that of an Arrow binary array: the bytes, and the offset at which each name ends.
#[derive(Clone, Debug, Default)]
pub struct NameBuffer {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl NameBuffer {
    /// Returns an empty buffer with capacity for `names` names and `bytes` bytes.
    pub fn with_capacity(names: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(names) }
    }

    /// Reserves capacity for further names of usual length.
    #[doc(hidden)]
    pub fn reserve(&mut self, names: usize) {
        self.bytes.reserve(16 * names);
        self.ends.reserve(names);
    }

    /// Appends a name.
    ///
    /// # Panics
    /// If all names together exceed 4 GiB.
    #[inline]
    pub fn push(&mut self, name: &OsStr) {
        self.bytes.extend_from_slice(name.as_encoded_bytes());
        self.ends.push(u32::try_from(self.bytes.len()).expect("names of more than 4 GiB"));
    }

    /// Returns the name at an index.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn get(&self, number: usize) -> &OsStr {
        name::from_bytes(self.bytes(number))
    }

    /// Returns the encoded bytes of the name at an index. Names sort in the order of these bytes.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn bytes(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[number] as usize]
    }

    /// Returns the bytes of all names, one after the other.
    pub fn all_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the index of the name with the byte at an offset in [`NameBuffer::all_bytes`], and the offset of its end.
    pub fn name_at(&self, offset: usize) -> Option<(usize, usize)> {
        let number = self.ends.partition_point(|&end| end as usize <= offset);
        self.ends.get(number).map(|&end| (number, end as usize))
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all names and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Releases unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_buffer_names_round_trip() {
        let mut names = NameBuffer::with_capacity(4, 16);
        let given = ["a", "", "name with blanks", "ß"];
        given.iter().for_each(|name| names.push(OsStr::new(name)));
        assert_eq!(names.len(), 4);
        for (number, name) in given.iter().enumerate() {
            assert_eq!(names.get(number), OsStr::new(name));
        }
        assert_eq!(names.all_bytes(), "aname with blanksß".as_bytes());
        assert_eq!(
            [0, 1, 16, 17, 19].map(|at| names.name_at(at).map(|(number, _)| number)),
            [Some(0), Some(2), Some(2), Some(3), None]
        );
        assert_eq!(names.name_at(5), Some((2, 17)));
        names.clear();
        assert!(names.is_empty());
    }

    #[test]
    #[cfg(unix)]
    fn name_buffer_not_utf8() {
        use std::os::unix::ffi::OsStrExt;
        let mut names = NameBuffer::default();
        names.push(OsStr::from_bytes(b"\xff\xfe"));
        assert_eq!(names.get(0).as_bytes(), b"\xff\xfe");
    }
}
