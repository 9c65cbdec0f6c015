//! The fewest calls that find all names, types and lengths of a tree: a floor for the readers.
//!
//! A directory is opened by name in its parent, listed, and closed. Nothing else is done: no name is
//! converted, and no record is stored or checked beyond its bounds.

use std::io;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::Path;

use super::handle_reader::as_bytes;
use super::list::{DirectoryCall, Stop};
use super::open::{Purpose, open_path, open_units};
use super::path;
use crate::attributes::FileType;
use crate::record::dirinfo::{Layout, read_u32};

/// A directory, open for listing.
#[derive(Debug)]
pub struct BareDirectory(OwnedHandle);

/// One entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareEntry<'b> {
    /// Its name in UTF-16, lowest byte first.
    pub name: &'b [u8],
    /// Its file type.
    pub file_type: FileType,
    /// Its length in bytes.
    pub size: u64,
}

impl BareDirectory {
    /// Opens a directory by its path. A link at its end is followed.
    pub fn open(root: &Path) -> io::Result<Self> {
        open_path(&path::units(root)?, Purpose::List, true).map(Self)
    }

    /// Opens a directory by its name in this one, as [`BareEntry::name`] has it. A link is not
    /// followed.
    pub fn open_in(&self, name: &[u8]) -> io::Result<Self> {
        let mut units = [0; 256];
        let name = name.as_chunks::<2>().0;
        let named = units.get_mut(..name.len()).ok_or(io::ErrorKind::InvalidFilename)?;
        for (unit, bytes) in named.iter_mut().zip(name) {
            *unit = u16::from_le_bytes(*bytes);
        }
        open_units(self.0.as_handle(), named, Purpose::List, false).map(Self)
    }

    /// Calls `entry` with each entry, without `.` and `..`. A call of the system fills `buffer`, which
    /// must hold the longest record: 64 KiB do.
    ///
    /// # Errors
    /// Any error that the system reports, or a record is invalid.
    pub fn list(&self, buffer: &mut [u64], mut entry: impl FnMut(BareEntry<'_>)) -> io::Result<()> {
        let mut restart = true;
        loop {
            let listed =
                DirectoryCall::NtQuery.list(self.0.as_handle(), Layout::Full, restart, buffer);
            let length = match listed {
                Ok(length) => length,
                Err(Stop::End) => return Ok(()),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::TooSmall | Stop::Refused) => {
                    return Err(io::ErrorKind::Unsupported.into());
                }
            };
            restart = false;
            each(as_bytes(buffer, length), &mut entry).ok_or(io::ErrorKind::InvalidData)?;
        }
    }
}

/// Calls `entry` with each record of a buffer; `None` if one is outside the buffer.
fn each(mut bytes: &[u8], entry: &mut impl FnMut(BareEntry<'_>)) -> Option<()> {
    loop {
        let header = bytes.first_chunk::<{ Layout::Full.header_length() }>()?;
        let number = |at: usize| read_u32(header, at);
        let length = number(60) as usize;
        let name = bytes.get(header.len()..header.len().checked_add(length)?)?;
        if name != b".\0" && name != b".\0.\0" {
            // The field of the tag has another meaning for other entries, and is then not used.
            let file_type = FileType::from_attributes(number(56), number(64));
            let size = u64::from(number(40)) | u64::from(number(44)) << 32;
            entry(BareEntry { name, file_type, size });
        }
        match number(0) as usize {
            0 => return Some(()),
            next => bytes = bytes.get(next..)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::dirinfo::utf16_units;
    use transect_testkit::TempDir;

    #[test]
    fn bare_directory_lists_every_entry_with_its_type_and_size() {
        let temp = TempDir::new();
        std::fs::create_dir(temp.join("sub")).unwrap();
        let long = "x".repeat(200);
        let mut expected: Vec<_> = (0..500)
            .map(|n| {
                let name = format!("{long}{n}\u{e9}");
                std::fs::write(temp.join(&name), vec![0; n]).unwrap();
                (name, FileType::File, n as u64)
            })
            .collect();
        std::fs::write(temp.join("sub").join("leaf"), "12345").unwrap();
        let listed = |directory: &BareDirectory| {
            // Several calls.
            let (mut buffer, mut found) = (vec![0; 8192], Vec::new());
            directory
                .list(&mut buffer, |entry| {
                    let name = char::decode_utf16(utf16_units(entry.name));
                    let name: String = name.map(Result::unwrap).collect();
                    let size = if entry.file_type == FileType::File { entry.size } else { 0 };
                    found.push((name, entry.file_type, size));
                })
                .unwrap();
            found.sort_by(|a, b| a.0.cmp(&b.0));
            found
        };
        let root = BareDirectory::open(temp.path()).unwrap();
        expected.push(("sub".to_owned(), FileType::Directory, 0));
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(listed(&root), expected);
        let units = |name: &str| -> Vec<u8> {
            name.encode_utf16().flat_map(|unit| unit.to_le_bytes()).collect()
        };
        let sub = root.open_in(&units("sub")).unwrap();
        assert_eq!(listed(&sub), [("leaf".to_owned(), FileType::File, 5)]);
        for missing in ["nowhere", &"x".repeat(257)] {
            assert!(root.open_in(&units(missing)).is_err());
        }
        assert!(sub.open_in(&units("leaf")).is_err());
    }

    #[test]
    fn each_record_outside_of_buffer_is_an_error() {
        let whole = [0_u64; 9];
        let bytes = as_bytes(&whole, 72);
        let (mut found, mut add) = (0, |_: BareEntry<'_>| ());
        assert_eq!(each(&bytes[..67], &mut add), None);
        let mut long = bytes[..68].to_vec();
        long[60] = 2;
        assert_eq!(each(&long, &mut add), None);
        let mut far = bytes.to_vec();
        far[0] = 80;
        assert_eq!(each(&far, &mut |_| found += 1), None);
        assert_eq!(found, 1);
    }
}
