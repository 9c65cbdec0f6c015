//! Deleted files that programs keep open: they occupy space that no walk finds.

#![expect(clippy::disallowed_methods, reason = "/proc, not a tree to be measured")]

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The deleted files of one file system that programs keep open. There may be more: files that are
/// only mapped, swap files, and those of other PID namespaces are not in `/proc/PID/fd`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedFiles {
    /// The number of files.
    pub files: u64,
    /// The bytes they occupy.
    pub size: u64,
    /// The file that occupies the most.
    pub largest: Option<DeletedFile>,
    /// The number of processes whose open files this user may not see.
    pub unreadable_processes: u64,
}

/// A deleted file that a program keeps open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedFile {
    /// The bytes it occupies.
    pub size: u64,
    /// A process that keeps it open.
    pub process: u32,
    /// The name of that process, as `/proc/PID/comm` has it: at most 15 bytes.
    pub program: String,
}

impl DeletedFiles {
    /// Finds the deleted files of the file system with this device number.
    ///
    /// # Errors
    /// `/proc` is not mounted or not readable.
    pub fn on_device(device: u64) -> io::Result<Self> {
        let mut found = Self::default();
        let mut seen = HashSet::new();
        for process in fs::read_dir("/proc")?.flatten() {
            let id = process.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(id) = id else { continue };
            let descriptors = match fs::read_dir(process.path().join("fd")) {
                Ok(descriptors) => descriptors,
                Err(error) => {
                    // Other errors: the process has ended.
                    found.unreadable_processes +=
                        u64::from(error.kind() == ErrorKind::PermissionDenied);
                    continue;
                }
            };
            for descriptor in descriptors.flatten() {
                let Some((inode, size)) = deleted_file(&descriptor.path(), device) else {
                    continue;
                };
                if seen.insert(inode) {
                    found.add(size, id, &process.path());
                }
            }
        }
        Ok(found)
    }

    fn add(&mut self, size: u64, process: u32, directory: &Path) {
        self.files += 1;
        self.size = self.size.saturating_add(size);
        if self.largest.as_ref().is_none_or(|largest| largest.size < size) {
            let program = fs::read(directory.join("comm")).unwrap_or_default();
            let program = String::from_utf8_lossy(program.trim_ascii_end()).into_owned();
            self.largest = Some(DeletedFile { size, process, program });
        }
    }
}

/// Returns inode and size of the file of a descriptor, if it is a deleted file of this device.
fn deleted_file(descriptor: &Path, device: u64) -> Option<(u64, u64)> {
    // Only such descriptors are queried: a query of another may wait for a server.
    let target = fs::read_link(descriptor).ok()?;
    target.as_os_str().as_bytes().ends_with(b" (deleted)").then_some(())?;
    let file = fs::metadata(descriptor).ok()?;
    let is_deleted = file.is_file() && file.nlink() == 0 && file.dev() == device;
    is_deleted.then(|| (file.ino(), file.blocks().saturating_mul(512)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn deleted_files_open_file_counted_once() {
        let temp = TempDir::new();
        let path = temp.join("deleted");
        let mut file = fs::File::create(&path).unwrap();
        file.write_all(&[1; 3 << 20]).unwrap();
        file.sync_all().unwrap();
        let again = file.try_clone().unwrap();
        let device = file.metadata().unwrap().dev();
        let inode = file.metadata().unwrap().ino();
        let descriptor = |file: &fs::File| {
            use std::os::fd::AsRawFd;
            Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
        };
        assert_eq!(deleted_file(&descriptor(&file), device), None, "it has a name");
        fs::remove_file(&path).unwrap();
        let (found, size) = deleted_file(&descriptor(&again), device).unwrap();
        assert!(found == inode && size >= 3 << 20, "{size}");
        assert_eq!(deleted_file(&descriptor(&file), device + 1), None);
        // Other programs may keep deleted files open, too.
        let all = DeletedFiles::on_device(device).unwrap();
        assert!(all.files >= 1 && all.size >= 3 << 20, "{all:?}");
        assert!(all.largest.unwrap().size >= 3 << 20);
    }
}
