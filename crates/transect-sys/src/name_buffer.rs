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
    /// Of a packed buffer, only where each group of names begins.
    ends: Vec<u32>,
    /// Of a packed buffer, the distances from there to the ends.
    distances: Vec<u16>,
}

/// The number of names in a group of a packed buffer.
const GROUP: usize = 64;

impl NameBuffer {
    /// Returns an empty buffer with capacity for `names` names and `bytes` bytes.
    pub fn with_capacity(names: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(names),
            ..Self::default()
        }
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
        debug_assert!(self.distances.is_empty(), "BUG: names are added to a packed buffer");
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
        let start = number.checked_sub(1).map_or(0, |before| self.end(before));
        &self.bytes[start..self.end(number)]
    }

    #[inline]
    fn end(&self, number: usize) -> usize {
        match self.distances.get(number) {
            Some(&distance) => self.ends[number / GROUP] as usize + usize::from(distance),
            None => self.ends[number] as usize,
        }
    }

    /// Stores the names in fewer bytes, unless they are very long. No more can be added before they are
    /// [removed](NameBuffer::clear).
    #[doc(hidden)]
    pub fn pack(&mut self) {
        if !self.distances.is_empty() {
            return;
        }
        let begins = (0..self.len()).step_by(GROUP);
        let begins = begins.map(|first| first.checked_sub(1).map_or(0, |before| self.ends[before]));
        let begins: Vec<u32> = begins.collect();
        let distance = |(number, end): (usize, &u32)| u16::try_from(end - begins[number / GROUP]);
        let distances: Result<Vec<u16>, _> = self.ends.iter().enumerate().map(distance).collect();
        if let Ok(distances) = distances {
            (self.ends, self.distances) = (begins, distances);
        }
    }

    /// Returns the bytes of all names, one after the other.
    pub fn all_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the index of the name with the byte at an offset in [`NameBuffer::all_bytes`], and the offset of its end.
    pub fn name_at(&self, offset: usize) -> Option<(usize, usize)> {
        let number = match self.distances.is_empty() {
            true => self.ends.partition_point(|&end| end as usize <= offset),
            false => {
                let group = self.ends.partition_point(|&begin| begin as usize <= offset) - 1;
                let distance = offset - self.ends[group] as usize;
                let (before, rest) = (group * GROUP, &self.distances[group * GROUP..]);
                let ends = &rest[..rest.len().min(GROUP)];
                before + ends.partition_point(|&end| usize::from(end) <= distance)
            }
        };
        (number < self.len()).then(|| (number, self.end(number)))
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.ends.len().max(self.distances.len())
    }

    /// Returns whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all names and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.distances.clear();
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
    fn name_buffer_packed_returns_the_same() {
        for count in [0, 1, GROUP, 3 * GROUP + 1] {
            let mut names = NameBuffer::default();
            let name = |number: usize| "x".repeat(number * 7 % 50);
            (0..count).for_each(|number| names.push(OsStr::new(&name(number))));
            let length = names.all_bytes().len();
            let at = |names: &NameBuffer| (0..length + 2).map(|it| names.name_at(it)).collect();
            let expected: Vec<_> = at(&names);
            for _ in 0..2 {
                names.pack();
                assert_eq!(names.ends.len(), count.div_ceil(GROUP));
                assert_eq!(names.len(), count);
                assert!((0..count).all(|number| names.get(number) == name(number).as_str()));
                assert_eq!(at(&names), expected);
            }
            names.clear();
            names.push(OsStr::new("name"));
            assert_eq!(names.get(0), "name");
        }
    }

    #[test]
    fn name_buffer_of_very_long_names_not_packed() {
        let mut names = NameBuffer::default();
        let name = |number: usize| "x".repeat(40_000 + number);
        (0..3).for_each(|number| names.push(OsStr::new(&name(number))));
        names.pack();
        assert!((0..3).all(|number| names.get(number) == name(number).as_str()));
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
