//! Capabilities and mounts of Linux.

use std::path::Path;

use transect_sys::{EndDetection, linux};

use super::{Capability, FileSystem};
use transect_program::CliError;

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
    let failed = CliError::cannot("access", path);
    let path = path.canonicalize().map_err(&failed)?;
    let (name, volume) = linux::file_system_of(&path).map_err(&failed)?;
    let mut found = FileSystem {
        kind: name.map(str::to_owned),
        pseudo: volume.pseudo,
        end_of_listing_marked: volume.end_detection != EndDetection::EmptyResult,
        ..FileSystem::default()
    };
    if let Some(mount) = linux::mount_of(&path) {
        found.kind = Some(mount.file_system);
        found.mount_point = Some(mount.point.to_string_lossy().into_owned());
        found.source = Some(mount.source);
        found.options = Some(mount.options);
    } else {
        found.why_no_mount = Some(match linux::mounts() {
            // In a chroot, the kernel leaves out mounts above the root directory.
            Ok(_) => "outside the root directory of this process",
            Err(_) => "unknown: the mount table in /proc cannot be read",
        });
    }
    Ok(Some(found))
}
