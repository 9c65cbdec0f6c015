//! Capabilities and volumes of Windows and Wine.

use std::path::Path;

use transect_sys::windows::system::{self, VolumeInfo};

use super::{Capability, FileSystem};
use transect_program::CliError;

/// Windows has no practical limit on handles.
pub(super) fn open_file_limit() -> Option<u64> {
    None
}

pub(super) fn capabilities() -> Vec<Capability> {
    vec![
        Capability {
            name: "long paths",
            allowed: system::has_long_paths(),
            meaning: r"beyond 260 characters without the prefix \\?\ (not needed)",
        },
        Capability {
            name: "cloud files",
            allowed: system::sees_placeholders(),
            meaning: "can be distinguished from files on the disk (Windows 10 1803)",
        },
    ]
}

pub(super) fn file_system(path: &Path) -> Result<Option<FileSystem>, CliError> {
    path.metadata().map_err(CliError::cannot("access", path))?;
    // Some file systems cannot resolve paths.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // Missing if the volume cannot be queried: Wine has no mounts below a drive.
    Ok(system::volume(&place).ok().map(describe))
}

fn describe(volume: VolumeInfo) -> FileSystem {
    FileSystem {
        options: Some(options(&volume)),
        mount_point: Some(volume.mount_point.to_string_lossy().into_owned()),
        label: Some(volume.label).filter(|label| !label.is_empty()),
        serial: Some(serial(volume.serial)),
        kind: Some(volume.file_system),
        ..FileSystem::default()
    }
}

/// Returns the properties of a volume in the style of mount options.
fn options(volume: &VolumeInfo) -> String {
    let access = if volume.read_only { "ro" } else { "rw" };
    let further = [
        (volume.remote, "remote"),
        (volume.hard_links, "hard_links"),
        (volume.reparse_points, "reparse_points"),
        (volume.case_sensitive, "case_sensitive"),
    ];
    let further = further.iter().filter(|(has, _)| *has).map(|(_, word)| *word);
    std::iter::once(access).chain(further).collect::<Vec<_>>().join(",")
}

/// Formats a serial number as `vol` and `dir` do.
fn serial(number: u32) -> String {
    format!("{:04X}-{:04X}", number >> 16, number & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_is_formatted_like_vol() {
        assert_eq!(serial(0x1a2b_003c), "1A2B-003C");
    }
}
