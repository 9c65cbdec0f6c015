//! Encodes paths in few bytes: every directory once, and the names in it.

use std::ops::Range;
use std::path::Path;

use super::bytes::{append_string, limited};
use super::{ByteReader, MAX_PATH_BYTES, MAX_PATHS, ProtocolError};

/// The length that stands for no directory: the names are whole paths without a separator.
const NO_DIRECTORY: u16 = u16::MAX;

/// The separator of a directory and a name in it. On Windows a path may contain `/`, too; it stays
/// in the directory or in the name, so that each path is decoded unchanged.
const SEPARATOR: u8 = if cfg!(windows) { b'\\' } else { b'/' };

/// Returns the path with these bytes. Where paths are not bytes (Windows), bytes that are not UTF-8
/// become a path that no system accepts.
pub fn path_from_bytes(bytes: &[u8]) -> &Path {
    #[cfg(unix)]
    return Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    Path::new(std::str::from_utf8(bytes).unwrap_or("\0"))
}

/// Paths in one buffer that is reused.
#[derive(Debug, Default)]
pub struct PathList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl PathList {
    /// Removes all paths and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds a path that `write` appends.
    ///
    /// # Errors
    /// Those of `write`; then nothing is added.
    pub fn push_with<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.bytes.len();
        let written = write(&mut self.bytes);
        match written {
            Ok(()) => self.ends.push(self.bytes.len()),
            Err(_) => self.bytes.truncate(start),
        }
        written
    }

    /// Returns the paths.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }

    /// Replaces all paths by those of a frame.
    ///
    /// # Errors
    /// They are malformed, or too many.
    pub fn take(&mut self, from: &mut ByteReader<'_>) -> Result<(), ProtocolError> {
        self.clear();
        while !from.is_empty() {
            let directory = match from.u16()? {
                NO_DIRECTORY => None,
                length => Some(from.take(length.into())?),
            };
            let names = from.u32()? as usize;
            if names > MAX_PATHS - self.len() {
                return Err(ProtocolError("too many paths"));
            }
            for _ in 0..names {
                let name = from.string()?;
                if directory.map_or(0, |it| it.len() + 1) + name.len() > MAX_PATH_BYTES {
                    return Err(ProtocolError("a path is too long"));
                }
                if let Some(directory) = directory {
                    self.bytes.extend_from_slice(directory);
                    self.bytes.push(SEPARATOR);
                }
                self.bytes.extend_from_slice(name);
                self.ends.push(self.bytes.len());
            }
        }
        Ok(())
    }
}

/// Appends paths to a frame. Consecutive paths of one directory share it.
#[derive(Debug)]
pub struct PathsEncoder<'a> {
    out: &'a mut Vec<u8>,
    /// The position of the last directory in `out`, if there is one.
    directory: Option<Range<usize>>,
    /// The position of the number of names in it.
    names_at: usize,
    names: u32,
}

impl<'a> PathsEncoder<'a> {
    /// Begins at the end of `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, directory: None, names_at: 0, names: 0 }
    }

    /// Appends a path. One that is too long is truncated (no system accepts the beginning either), or
    /// on Windows becomes a path that no system accepts.
    #[inline]
    pub fn push(&mut self, path: &[u8]) {
        let path = limited(path);
        let (directory, name) = match memchr::memrchr(SEPARATOR, path) {
            Some(at) => (Some(&path[..at]), &path[at + 1..]),
            None => (None, path),
        };
        if self.names == 0 || self.directory.clone().map(|last| &self.out[last]) != directory {
            self.begin(directory);
        }
        self.names += 1;
        append_string(self.out, name);
    }

    fn begin(&mut self, directory: Option<&[u8]>) {
        self.end_directory();
        match directory {
            Some(directory) => append_string(self.out, directory),
            None => self.out.extend_from_slice(&NO_DIRECTORY.to_le_bytes()),
        }
        self.names_at = self.out.len();
        self.directory = directory.map(|it| self.names_at - it.len()..self.names_at);
        self.names = 0;
        self.out.extend_from_slice(&[0; 4]);
    }

    fn end_directory(&mut self) {
        if self.names > 0 {
            let at = self.names_at;
            self.out[at..at + 4].copy_from_slice(&self.names.to_le_bytes());
        }
    }

    /// Returns the number of bytes in `out`.
    pub fn bytes(&self) -> usize {
        self.out.len()
    }
}

impl Drop for PathsEncoder<'_> {
    fn drop(&mut self) {
        self.end_directory();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a path with the system's separators.
    fn native(path: &str) -> Vec<u8> {
        path.replace('/', std::path::MAIN_SEPARATOR_STR).into_bytes()
    }

    fn encode(paths: &[Vec<u8>]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = PathsEncoder::new(&mut out);
        paths.iter().for_each(|path| encoder.push(path));
        drop(encoder);
        out
    }

    fn decode(bytes: &[u8]) -> Result<Vec<Vec<u8>>, ProtocolError> {
        let mut list = PathList::default();
        list.take(&mut ByteReader(bytes))?;
        Ok(list.iter().map(<[u8]>::to_vec).collect())
    }

    #[test]
    fn encoder_consecutive_paths_share_directory() {
        let paths = ["/a/b/x", "/a/b/y", "/a/b/", "/z", "/"].map(native);
        let bytes = encode(&paths);
        assert_eq!(bytes.len(), (2 + 4 + 4) + (3 + 3 + 2) + (2 + 4) + (3 + 2));
        assert_eq!(decode(&bytes).unwrap(), paths);
    }

    #[test]
    fn encoder_long_path_truncated_or_made_invalid() {
        let path = |length| [native("/"), vec![b'x'; length - 1]].concat();
        let sent = |length| decode(&encode(&[path(length)])).unwrap();
        assert_eq!(sent(MAX_PATH_BYTES), [path(MAX_PATH_BYTES)]);
        let limited = if cfg!(windows) { b"\0".to_vec() } else { path(MAX_PATH_BYTES) };
        assert_eq!(sent(MAX_PATH_BYTES + 1), sent(70_000));
        assert_eq!(sent(70_000), [limited]);
        // A long path in two parts is refused, too.
        let mut bytes = (MAX_PATH_BYTES as u16).to_le_bytes().to_vec();
        bytes.resize(2 + MAX_PATH_BYTES, b'x');
        bytes.extend([1, 0, 0, 0, 0, 0]);
        assert_eq!(decode(&bytes), Err(ProtocolError("a path is too long")));
    }

    #[test]
    fn decoder_too_many_paths_refused() {
        let mut bytes = vec![0, 0];
        bytes.extend(u32::MAX.to_le_bytes());
        assert_eq!(decode(&bytes), Err(ProtocolError("too many paths")));
        let group = |names: usize| {
            let mut bytes = vec![0, 0];
            bytes.extend((names as u32).to_le_bytes());
            bytes.resize(bytes.len() + 2 * names, 0);
            bytes
        };
        assert_eq!(decode(&group(MAX_PATHS)).map(|list| list.len()), Ok(MAX_PATHS));
        let two = [group(MAX_PATHS), group(1)].concat();
        assert_eq!(decode(&two), Err(ProtocolError("too many paths")));
    }

    #[test]
    fn path_list_failed_write_adds_nothing() {
        let mut list = PathList::default();
        let write = |path: &'static [u8], fails: bool| {
            move |out: &mut Vec<u8>| {
                out.extend(path);
                if fails { Err(()) } else { Ok(()) }
            }
        };
        list.push_with(write(b"/a", false)).unwrap();
        list.push_with(write(b"/b", true)).unwrap_err();
        list.push_with(write(b"/c", false)).unwrap();
        assert_eq!(list.iter().collect::<Vec<_>>(), [b"/a", b"/c"]);
    }

    proptest! {
        #[test]
        fn paths_round_trip(
            paths in prop::collection::vec(
                prop_oneof![
                    "([/\\\\][a-c]{0,2}){0,3}".prop_map(String::into_bytes),
                    "(/[a-c]{0,2}){0,3}".prop_map(|path| native(&path)),
                    "[a-c]{0,2}".prop_map(String::into_bytes),
                    prop::collection::vec(any::<u8>(), 0..9),
                ],
                0..30,
            ),
        ) {
            prop_assert_eq!(decode(&encode(&paths)), Ok(paths));
        }

        #[test]
        fn parser_random_bytes_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode(&bytes);
        }
    }
}
