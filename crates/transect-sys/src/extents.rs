//! The parts of a device that hold the content of a file, where several files may share them
//! (clones, also called reflinks).

use std::fs::File;
use std::io;
use std::ops::Range;

/// Returns the parts of the device that a file shares with other files, or with other parts of
/// itself. `None` if the file system cannot share parts, or does not report them: currently all
/// but Btrfs, XFS, OCFS2 and bcachefs on Linux.
///
/// Data that is not on the device yet has no part there. Compressed parts have the length of their
/// content.
pub fn shared_extents(file: &File) -> io::Result<Option<Vec<Range<u64>>>> {
    #[cfg(target_os = "linux")]
    return crate::linux::shared_extents(file);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        Ok(None)
    }
}
