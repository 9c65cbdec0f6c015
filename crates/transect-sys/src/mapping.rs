//! Parts of files in memory, safe if a page of the file goes missing.
//!
//! No reference into a mapping is ever handed out. Other processes may write to the file at any
//! time, and neither `&[u8]` nor the steps of a pass, which may read a byte again after they
//! checked it, allow bytes that change. All bytes are copied, once.

use std::fs::File;
use std::io;
use std::ops::Range;

#[cfg(target_os = "linux")]
use crate::linux::View;
#[cfg(windows)]
use crate::windows::View;

/// A part of a file in memory. Unmapped on drop.
#[derive(Debug)]
pub struct Mapping {
    view: View,
    /// Offset of the part within the view, which begins at a page.
    lead: usize,
    writable: bool,
}

impl Mapping {
    /// Maps a part of a file for reading. `None` if files of this kind cannot be mapped.
    ///
    /// # Errors
    /// Any other error that the system reports; on Linux, too many mappings.
    ///
    /// # Panics
    /// If the part is empty.
    pub fn map_read(file: &File, part: Range<u64>) -> io::Result<Option<Self>> {
        Self::new(file, part, false)
    }

    /// Maps a part of a file for writing. The file must already have its length and its disk space.
    /// `None` if files of this kind cannot be mapped.
    ///
    /// Written bytes are visible to every reader of the file as soon as they are copied. They are on
    /// the device after the mapping was dropped and the file synced.
    ///
    /// # Errors
    /// Any other error that the system reports; on Linux, too many mappings.
    ///
    /// # Panics
    /// If the part is empty.
    pub fn map_write(file: &File, part: Range<u64>) -> io::Result<Option<Self>> {
        Self::new(file, part, true)
    }

    fn new(file: &File, part: Range<u64>, writable: bool) -> io::Result<Option<Self>> {
        assert!(!part.is_empty(), "an empty part cannot be mapped");
        let lead = part.start % View::granularity();
        let length = usize::try_from(part.end - part.start + lead)
            .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let view = View::new(file, part.start - lead, length, writable)?;
        Ok(view.map(|view| Self { view, lead: lead as usize, writable }))
    }

    /// Returns the length of the part in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.view.length() - self.lead
    }

    /// Copies the bytes from offset `at` into `to`.
    ///
    /// # Errors
    /// The file no longer has these bytes, or its device could not read them. The content of `to`
    /// is then undefined.
    ///
    /// # Panics
    /// If the range exceeds the mapping.
    pub fn read(&self, at: usize, to: &mut [u8]) -> io::Result<()> {
        let from = self.place(at, to.len());
        // SAFETY: `from` is within the view, which is readable for as long as `self` exists; `to` is
        // ours to write and not part of the view, to which no references exist.
        unsafe { self.view.copy(from, to.as_mut_ptr(), to.len()) }
    }

    /// Copies `bytes` to offset `at`.
    ///
    /// # Errors
    /// The file no longer has this range, or its device could not read it.
    ///
    /// # Panics
    /// If the range exceeds the mapping, or the mapping is read-only.
    pub fn write(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        assert!(self.writable, "the mapping is read-only");
        let to = self.place(at, bytes.len());
        // SAFETY: `to` is within the view, which is writable for as long as `self` exists; no reference
        // to it exists, and `bytes` does not overlap it.
        unsafe { self.view.copy(bytes.as_ptr(), to, bytes.len()) }
    }

    /// Returns the address of offset `at`.
    fn place(&self, at: usize, length: usize) -> *mut u8 {
        let end = at.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.len()), "past the end of a mapping");
        // SAFETY: the range is within the view.
        unsafe { self.view.start().add(self.lead + at) }
    }
}

/// Creates a file of `count` pieces of the granularity, each filled with its number.
#[cfg(test)]
pub(crate) fn pieces(dir: &std::path::Path, count: usize) -> File {
    let piece = View::granularity() as usize;
    let bytes: Vec<u8> = (0..count * piece).map(|at| (at / piece) as u8).collect();
    let path = dir.join("file");
    std::fs::write(&path, bytes).unwrap();
    File::options().read(true).write(true).open(path).unwrap()
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn mapping_any_range_readable() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 3);
        let piece = View::granularity();
        let expected = std::fs::read(temp.join("file")).unwrap();
        for part in
            [0..1, 0..3 * piece, piece - 1..piece + 1, piece..2 * piece, 2 * piece + 7..3 * piece]
        {
            let mapping = Mapping::map_read(&file, part.clone()).unwrap().unwrap();
            assert_eq!(mapping.len() as u64, part.end - part.start);
            let mut bytes = vec![9; mapping.len()];
            mapping.read(0, &mut bytes).unwrap();
            assert_eq!(bytes, expected[part.start as usize..part.end as usize]);
            let last = bytes.len() - 1;
            mapping.read(last, &mut bytes[..1]).unwrap();
            assert_eq!(bytes[0], expected[part.end as usize - 1]);
            mapping.read(mapping.len(), &mut []).unwrap();
        }
    }

    #[test]
    fn mapping_write_reaches_file() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 2);
        let piece = View::granularity() as usize;
        let mut mapping = Mapping::map_write(&file, 5..piece as u64 + 7).unwrap().unwrap();
        mapping.write(piece, b"ab").unwrap();
        // Both while it is mapped and afterwards.
        let bytes = std::fs::read(temp.join("file")).unwrap();
        assert_eq!(bytes[piece + 4..][..4], [1, b'a', b'b', 1]);
        drop(mapping);
        file.sync_all().unwrap();
        assert_eq!(std::fs::read(temp.join("file")).unwrap(), bytes);
    }

    #[test]
    #[should_panic(expected = "past the end of a mapping")]
    fn mapping_read_past_end_panics() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 1);
        let mapping = Mapping::map_read(&file, 0..10).unwrap().unwrap();
        let _ = mapping.read(8, &mut [0; 3]);
    }
}
