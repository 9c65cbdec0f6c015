//! The block device of a mounted volume.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use transect_sys::linux::Mount;

use super::super::error::unsupported;
use super::super::source;
use super::directory::value_of;

/// Opens the device with this number: where it was mounted from, or where the system keeps it.
pub(super) fn open(number: u64, mount: &Mount) -> io::Result<File> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let named = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent")).ok();
    let named = named.as_deref().and_then(|text| value_of(text, "DEVNAME="));
    let by_number = format!("/dev/block/{major}:{minor}");
    let candidates = [
        Some(PathBuf::from(&mount.source)),
        named.map(|name| Path::new("/dev").join(name)),
        Some(PathBuf::from(by_number)),
    ];
    for path in candidates.into_iter().flatten().filter(|path| path.is_absolute()) {
        let is_it = |it: std::fs::Metadata| it.file_type().is_block_device() && it.rdev() == number;
        if path.metadata().is_ok_and(is_it) {
            let file = source::open(&path).map_err(|error| {
                let text = format!("its device '{}' cannot be opened: {error}", path.display());
                io::Error::new(error.kind(), text)
            })?;
            // The path may lead elsewhere by now.
            if is_it(file.metadata()?) {
                return Ok(file);
            }
        }
    }
    let text = format!("its device {major}:{minor} is not available here");
    Err(unsupported(text))
}

/// Returns the number of sectors that were ever written to the device with this number; `None` if the kernel does
/// not count them, or there are none.
///
/// Source: Linux, `Documentation/block/stat.rst` (the seventh number), `Documentation/ABI/stable/sysfs-block`
/// (`queue/iostats`).
pub(super) fn sectors_written(number: u64) -> Option<u64> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let read = |name: &str| std::fs::read_to_string(device.join(name)).ok();
    // Partitions have the queue of their disk.
    let counts = read("queue/iostats").or_else(|| read("../queue/iostats"))?;
    let written = read("stat")?.split_ascii_whitespace().nth(6)?.parse().ok()?;
    (counts.trim() == "1" && written > 0).then_some(written)
}
