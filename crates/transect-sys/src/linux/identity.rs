//! An identifier of a file system that survives a reboot.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::statvfs;

use super::mount_of;

/// Returns an identifier of the file system that a path is on; `None` if nothing distinguishes it
/// from others.
///
/// This is `f_fsid` of `statfs(2)`: ext4 and Btrfs derive it from the UUID that they were formatted
/// with, XFS from the device. Network file systems have none; for them it is a hash of what is
/// mounted, and where.
pub fn file_system_identity(path: &Path) -> Option<String> {
    let number = statvfs(path).ok()?.f_fsid;
    if number != 0 {
        return Some(format!("{number:016x}"));
    }
    let mount = mount_of(&path.canonicalize().ok()?)?;
    let point = mount.point.as_os_str().as_bytes();
    let number = fnv1a(&[mount.file_system.as_bytes(), mount.source.as_bytes(), point]);
    Some(format!("mount-{number:016x}"))
}

/// Hashes words (FNV-1a, 64 bits, a NUL after each). The standard library's hasher may change with
/// its version, and these numbers are stored in files.
fn fnv1a(words: &[&[u8]]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.iter().chain(&[0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_system_identity_same_within_differs_between() {
        let of = |path: &str| file_system_identity(Path::new(path));
        let here = of(".").unwrap();
        assert!(here.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'), "{here}");
        assert_eq!(of("./src"), Some(here));
        assert!(of("/proc").is_some() && of("/proc") == of("/proc/self"));
        // Neither has a number of its own.
        assert_ne!(of("/proc"), of("/sys"));
        assert_eq!(of("/nothing/of/that/name"), None);
    }
}
