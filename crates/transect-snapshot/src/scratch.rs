//! Bytes that are needed again before the end: in memory, or in a hidden temporary file.
//!
//! On Unix the file has no name from the start, on Windows the system deletes it with its last handle. So nothing is
//! left of it whatever ends the program.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::ReadAt;

/// The bytes that wait in memory before they are written to the file.
const BUFFER: usize = 1 << 20;

/// Bytes that are appended, and read at any offset.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: Option<PathBuf>,
    file: Option<File>,
    /// The number of bytes in the file; the others are in `buffer`.
    in_file: u64,
    buffer: Vec<u8>,
}

impl Scratch {
    /// Returns an empty scratch. A file is made in `folder` when it is needed; without, everything stays in memory.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let folder = folder.map(Path::to_owned);
        Self { folder, file: None, in_file: 0, buffer: Vec::new() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.in_file + self.buffer.len() as u64
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        match &self.folder {
            Some(folder) if self.buffer.len() >= BUFFER => {
                let file = match &mut self.file {
                    Some(file) => file,
                    none => none.insert(temporary_file(folder)?),
                };
                io::Write::write_all(file, &self.buffer)?;
                self.in_file += self.buffer.len() as u64;
                self.buffer.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Fills a block with the bytes at an offset.
    ///
    /// # Errors
    /// There are fewer; the file cannot be read.
    pub(crate) fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        let of_file = self.in_file.saturating_sub(offset).min(block.len() as u64) as usize;
        let (from_file, from_buffer) = block.split_at_mut(of_file);
        if let Some(file) = self.file.as_ref().filter(|_| of_file > 0) {
            file.read_exact_at(offset, from_file)?;
        }
        let begin = (offset + of_file as u64).saturating_sub(self.in_file) as usize;
        let rest = self.buffer.get(begin..begin + from_buffer.len());
        from_buffer.copy_from_slice(rest.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    pub(crate) fn copy_to(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut block = vec![0; BUFFER.min(self.in_file as usize)];
        let mut offset = 0;
        while offset < self.in_file {
            let length = (self.in_file - offset).min(block.len() as u64) as usize;
            self.read_exact_at(offset, &mut block[..length])?;
            out.write_all(&block[..length])?;
            offset += length as u64;
        }
        out.write_all(&self.buffer)
    }
}

/// Makes a file that is deleted when it is closed.
fn temporary_file(folder: &Path) -> io::Result<File> {
    let random = transect_sys::host::random();
    let path = folder.join(format!(".transect-{random:016x}.tmp"));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        const DELETE_ON_CLOSE: u32 = 0x0400_0000;
        options.custom_flags(DELETE_ON_CLOSE).share_mode(0);
    }
    let file = options.open(&path)?;
    #[cfg(not(windows))]
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn scratch_reads_what_was_appended_in_file_and_memory() {
        let folder = TempDir::new();
        for space in [None, Some(folder.path())] {
            let mut scratch = Scratch::new(space);
            let block: Vec<u8> = (0..300_000_u32).map(|at| (at * 7 / 3) as u8).collect();
            (0..7).for_each(|_| scratch.append(&block).unwrap());
            let all = block.repeat(7);
            assert_eq!(scratch.len(), all.len() as u64);
            assert_eq!(scratch.file.is_some(), space.is_some());
            // Also across the end of what is in the file.
            for (offset, length) in [(0, 10), (299_999, 2), (1_199_000, 900_000), (2_099_999, 1)] {
                let mut read = vec![0; length];
                scratch.read_exact_at(offset as u64, &mut read).unwrap();
                assert!(read == all[offset..offset + length], "{offset}");
            }
            assert!(scratch.read_exact_at(2_099_999, &mut [0; 2]).is_err());
            let mut copy = Vec::new();
            scratch.copy_to(&mut copy).unwrap();
            assert!(copy == all);
            #[cfg(unix)]
            assert_eq!(folder.path().read_dir().unwrap().count(), 0, "the file has no name");
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
