//! Functions for single files: attributes, and closing with error reporting.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(any(test, not(target_os = "linux")))]
use crate::attributes::FileType;
use crate::attributes::{Attributes, FieldMask};
#[cfg(target_os = "linux")]
use crate::linux::{GetdentsReader, StatCall};
use crate::reader::Reader;
#[cfg(target_os = "linux")]
use crate::settings::ReaderSettings;

/// Returns all attributes of an open file.
pub fn attributes_of(file: &File) -> io::Result<Attributes> {
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        crate::windows::attributes_of(file.as_handle(), FieldMask::all(), None)
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsFd;
        crate::linux::attributes_of(file.as_fd())
    }
    #[cfg(not(any(target_os = "linux", windows)))]
    Ok(crate::portable::attributes_of(&file.metadata()?))
}

/// Returns all attributes of the target of a path. Follows a link; for a broken link, returns the
/// attributes of the link itself.
///
/// # Errors
/// Any error that the system reports, also if nothing exists there.
pub fn attributes_at(path: &Path) -> io::Result<Attributes> {
    #[cfg(target_os = "linux")]
    let mut reader = GetdentsReader::new(StatCall::Statx, ReaderSettings::default());
    #[cfg(not(target_os = "linux"))]
    let mut reader = crate::portable::PortableReader::new();
    Ok(reader.stat_root(path, FieldMask::all(), true)?)
}

/// Returns the wanted attributes of a path, or of its target if `follow` is set. Links in the
/// middle of the path are always followed.
///
/// # Errors
/// The unchanged error of the system, also for a broken link and for a loop of links.
pub fn query_attributes(path: &Path, want: FieldMask, follow: bool) -> io::Result<Attributes> {
    #[cfg(target_os = "linux")]
    return crate::linux::query_attributes(path, want, follow);
    #[cfg(not(target_os = "linux"))]
    {
        let mut reader = crate::portable::PortableReader::new();
        let attributes = reader.stat_root(path, want, follow)?;
        // The reader returns the attributes of a broken link itself. Opening it returns the reason.
        if follow && attributes.file_type() == FileType::Symlink {
            std::fs::File::open(path)?;
        }
        Ok(attributes)
    }
}

/// Reads at an offset until the block is full or the file ends. Returns the number of bytes read.
pub fn read_at(file: &File, block: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    use std::os::unix::fs::FileExt;
    #[cfg(windows)]
    use std::os::windows::fs::FileExt;
    let mut filled = 0;
    while filled < block.len() {
        let (rest, at) = (&mut block[filled..], offset + filled as u64);
        #[cfg(unix)]
        let read = file.read_at(rest, at);
        #[cfg(windows)]
        let read = file.seek_read(rest, at);
        match read {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Closes a file and returns the error that `std` drops. Network file systems and quotas may report
/// only now that written data found no space.
///
/// # Errors
/// Any error that the system reports. The file is closed in any case.
pub fn close(file: File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::IntoRawFd;
        // SAFETY: the descriptor was ours alone, and nothing uses it after this call.
        let answer = unsafe { libc::close(file.into_raw_fd()) };
        let error = io::Error::last_os_error();
        // Linux has closed it even then (`EINTR`); a second close could close another thread's
        // file.
        if answer != 0 && error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    #[cfg(not(target_os = "linux"))]
    drop(file);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn file_attributes_handle_and_path_agree() {
        let temp = TempDir::new();
        let path = temp.join("file");
        std::fs::write(&path, "12345").unwrap();
        let file = File::open(&path).unwrap();
        let (open, named) = (attributes_of(&file).unwrap(), attributes_at(&path).unwrap());
        assert_eq!(open.file_type(), FileType::File);
        assert_eq!((open.size(), open.mtime()), (Some(5), named.mtime()));
        assert!(open.file_id().is_some());
        assert_eq!(open.file_id(), named.file_id());
        close(file).unwrap();
        let missing = attributes_at(&temp.join("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn read_at_stops_at_end() {
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "12345").unwrap();
        let file = File::open(temp.join("file")).unwrap();
        let mut block = [0; 4];
        assert_eq!(read_at(&file, &mut block, 0).unwrap(), 4);
        assert_eq!(read_at(&file, &mut block, 3).unwrap(), 2);
        assert_eq!(&block, b"4534");
        assert_eq!(read_at(&file, &mut block, 9).unwrap(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn query_attributes_link_or_target() {
        use crate::fault::FaultKind;
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "12345").unwrap();
        for (link, target) in [("link", "file"), ("dangling", "nowhere"), ("loop", "loop")] {
            std::os::unix::fs::symlink(target, temp.join(link)).unwrap();
        }
        let of = |name: &str, follow| query_attributes(&temp.join(name), FieldMask::SIZE, follow);
        assert_eq!(of("link", true).unwrap().size(), Some(5));
        assert_eq!(of("link", false).unwrap().file_type(), FileType::Symlink);
        assert_eq!(of("dangling", false).unwrap().file_type(), FileType::Symlink);
        let kind = |name, follow| FaultKind::of(&of(name, follow).unwrap_err());
        assert_eq!(kind("dangling", true), FaultKind::NotFound);
        assert_eq!(kind("loop", true), FaultKind::Loop);
        assert_eq!(kind("file/below", false), FaultKind::NotADirectory);
        assert_eq!(kind(&"x".repeat(300), false), FaultKind::NameTooLong);
    }
}
