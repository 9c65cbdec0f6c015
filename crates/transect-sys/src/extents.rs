//! The parts of a device that hold the content of a file, where several files may share them
//! (clones, also called reflinks).

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// Returns the parts of the device that a file shares with other files, or with other parts of
/// itself. `None` if the file system cannot share parts, or does not report them: currently all
/// but Btrfs, XFS, OCFS2 and bcachefs on Linux.
///
/// Data that is not on the device yet has no part there. A compressed part has the length of its
/// content, at a place of its own behind all others: it identifies the part, but is not on the device.
pub fn shared_extents(file: &File) -> io::Result<Option<Vec<Range<u64>>>> {
    #[cfg(target_os = "linux")]
    return crate::linux::shared_extents(file);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        Ok(None)
    }
}

/// The file systems of a tree where files can share parts of the device.
#[derive(Debug, Default)]
pub struct SharingVolumes(HashMap<Option<u64>, Option<u64>>);

impl SharingVolumes {
    /// Returns a number of the file system that a path on this device is on: parts of a file there can be
    /// those of other files. Subvolumes of a Btrfs have devices of their own, but the same number. `None` if
    /// files cannot share parts there. Queries the system once for each device.
    ///
    /// # Errors
    /// The path cannot be found, or is longer than the system allows.
    pub fn volume_of(
        &mut self,
        device: Option<u64>,
        path: impl FnOnce() -> PathBuf,
    ) -> io::Result<Option<u64>> {
        if let Some(&known) = self.0.get(&device) {
            return Ok(known);
        }
        #[cfg(target_os = "linux")]
        let volume = crate::linux::sharing_volume(&path())?;
        #[cfg(not(target_os = "linux"))]
        let (volume, _) = (None, path);
        self.0.insert(device, volume);
        Ok(volume)
    }
}
