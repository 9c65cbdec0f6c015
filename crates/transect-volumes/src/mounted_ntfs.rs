//! Volumes that Windows has mounted: the file table is read from the device of the volume (`\\.\C:`), whose
//! geometry is in its boot sector.
//!
//! Windows writes to the device while it is read, and keeps changes in memory for a while. A table that changes is shown
//! as it was read; a record that was half written is damaged. Reparse points, and so what is mounted
//! below a directory, are not followed: in the tables they are links.
//!
//! Source: "`CreateFileW`: Physical Disks and Volumes", "Naming a Volume" (Microsoft).

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::windows::{ends_with_separator, system};
use transect_sys::{FileId, ReadAt};

use super::aligned::Aligned;
use super::error::unsupported;
use super::index::VolumeIndex;
use super::threads::Effort;
use super::{contents, ntfs};

pub(super) type Device = Aligned<File>;

/// The prefixes of devices.
const PREFIXES: [&str; 2] = [r"\\.\", r"\\?\"];

/// Returns whether a path is that of a volume's device, such as `\\.\C:` or `\\?\Volume{…}`. With a separator at
/// the end, such paths are directories.
pub(super) fn is_device(path: &Path) -> bool {
    let text = path.as_os_str().to_str();
    let Some(name) = text.and_then(|it| PREFIXES.iter().find_map(|prefix| it.strip_prefix(prefix)))
    else {
        return false;
    };
    match name.as_bytes() {
        [letter, b':'] => letter.is_ascii_alphabetic(),
        [b'V', b'o', b'l', b'u', b'm', b'e', b'{', id @ .., b'}'] => {
            id.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
        }
        _ => false,
    }
}

/// Opens the device of a volume with NTFS.
/// Only an administrator may open it.
pub(super) fn open(path: &Path) -> io::Result<Device> {
    // Windows does not show the size of a volume like that of a file.
    let unlimited = Aligned::new(File::open(path).map_err(explained)?, u64::MAX);
    unlimited.read_exact_at(0, &mut [0])?;
    if let Some(name) = contents::name_of(&unlimited) {
        return Err(unsupported(format!(
            "it holds {name}; of mounted volumes, only NTFS is supported"
        )));
    }
    let size = ntfs::size_of_volume(&unlimited)?;
    Ok(unlimited.with_size(size))
}

/// Explains why the device of a volume cannot be opened.
fn explained(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let text = format!("reading a volume takes the rights of an administrator: {error}");
            io::Error::new(error.kind(), text)
        }
        _ => error,
    }
}

/// A directory, and the volume that it is on.
struct Place {
    device: PathBuf,
    /// The path below the top of the volume.
    below: PathBuf,
    id: Option<FileId>,
}

fn place_of(directory: &Path) -> io::Result<Place> {
    if !ends_with_separator(directory) && directory.symlink_metadata()?.is_symlink() {
        return Err(unsupported(
            "it is a link; with a separator at its end, the path is that of the target",
        ));
    }
    let real = directory.canonicalize()?;
    let (mount_point, below) = system::place_on_volume(&real)?;
    let id = transect_sys::file::attributes_at(&real)?.file_id();
    Ok(Place { device: device_of(&mount_point)?, below, id })
}

fn device_of(mount_point: &Path) -> io::Result<PathBuf> {
    match mount_point.as_os_str().as_encoded_bytes() {
        [letter, b':', b'\\'] => Ok(PathBuf::from(format!(r"\\.\{}:", char::from(*letter)))),
        _ => system::volume_name(mount_point),
    }
}

/// Checks whether the tables of the volume that a directory is on can be read, without reading them. Returns whether
/// the directory is the top of the volume.
pub(super) fn probe(directory: &Path) -> io::Result<bool> {
    let place = place_of(directory)?;
    open(&place.device)?;
    Ok(place.below.as_os_str().is_empty())
}

/// Reads the tables of the volume that a directory is on. The walk begins at the directory.
pub(super) fn read(directory: &Path, effort: Effort) -> io::Result<VolumeIndex> {
    let Place { device, below, id } = place_of(directory)?;
    let index = ntfs::read(&open(&device)?, effort)?;
    begin_at(index, below.iter(), id)
}

/// Has the walk begin at a directory, by its names from the top, and its number.
fn begin_at<'a>(
    mut index: VolumeIndex,
    names: impl Iterator<Item = &'a OsStr>,
    id: Option<FileId>,
) -> io::Result<VolumeIndex> {
    let mut at = index.top;
    for name in names {
        at = at.and_then(|at| index.subdirectory(at, name.as_encoded_bytes()));
    }
    let (Some(directory), Some(id)) = (at, id) else {
        let text =
            "the file table of its volume does not have it (yet), or its number is not known";
        return Err(unsupported(text));
    };
    // The upper bits of a number count how often the record was used.
    let is_it = id.inode & 0xFFFF_FFFF_FFFF == u64::from(index.inode_of(directory));
    // Of the serial number, some systems show the lower half.
    if !is_it || id.device as u32 != index.about.device as u32 {
        return Err(unsupported(
            "its number or that of its volume is another one than in the file table",
        ));
    }
    index.begin_walk_at(directory);
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_of_volume_recognized_by_path() {
        for path in [r"\\.\C:", r"\\?\c:", r"\\?\Volume{4c1b02c1-d990-11dc-99ae-806e6f6e6963}"] {
            assert!(is_device(Path::new(path)), "{path}");
        }
        for path in
            [r"\\.\C:\", r"\\.\COM1", r"\\.\C:\x", r"C:", r"\\?\Volume{1}\", r"\\?\", r"\\.\1:"]
        {
            assert!(!is_device(Path::new(path)), "{path}");
        }
        assert_eq!(device_of(Path::new(r"C:\")).unwrap(), Path::new(r"\\.\C:"));
    }

    #[test]
    fn device_access_denied_explained() {
        let denied = explained(io::Error::from_raw_os_error(5)).to_string();
        assert!(denied.starts_with("reading a volume takes the rights of an administrator: "));
        let other = explained(io::Error::from_raw_os_error(2));
        assert_eq!(other.raw_os_error(), Some(2));
    }
}
