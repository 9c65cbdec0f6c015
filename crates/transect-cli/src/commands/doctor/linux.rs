//! Capabilities and mounts of Linux.

use std::path::Path;

use transect::{Error, Operation, ScanError};
use transect_sys::{EndDetection, linux};

use super::{Capability, FileSystem};
use transect_program::exit::CliError;

pub(super) fn open_file_limit() -> Option<u64> {
    linux::open_file_limit()
}

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability {
            name: "statx",
            allowed: linux::has_statx(),
            meaning: "queries only the attributes needed (Linux 4.11)",
        },
        Capability {
            name: "openat2",
            allowed: linux::has_openat2(),
            meaning: "opens a path several levels below a handle (Linux 5.6)",
        },
        Capability {
            name: "drop caches",
            allowed: linux::can_drop_caches(),
            meaning: "cold measurements (root)",
        },
    ]
}

pub(super) fn file_system(path: &Path) -> Result<Option<FileSystem>, CliError> {
    let failed = |source| {
        let error = ScanError::new(Operation::Stat, path.to_owned(), 0, source);
        CliError::from(Error::Root(error))
    };
    let path = path.canonicalize().map_err(failed)?;
    let (name, volume) = linux::file_system_of(&path).map_err(failed)?;
    let (mut kind, mut point, mut source, mut options) =
        (name.map(str::to_owned), None, None, None);
    let mut why_no_mount = None;
    if let Some(mount) = linux::mount_of(&path) {
        kind = Some(mount.file_system);
        point = Some(mount.point.to_string_lossy().into_owned());
        source = Some(mount.source);
        options = Some(mount.options);
    } else {
        why_no_mount = Some(match linux::mounts() {
            // In a chroot, the kernel leaves out mounts above the root directory.
            Ok(_) => "outside the root directory of this process",
            Err(_) => "unknown: the mount table in /proc cannot be read",
        });
    }
    Ok(Some(FileSystem {
        kind,
        mount_point: point,
        why_no_mount,
        source,
        options,
        pseudo: volume.pseudo,
        end_of_listing_marked: volume.end_detection != EndDetection::EmptyResult,
        ..FileSystem::default()
    }))
}
