//! The file system that a tree is on, in words.

use transect_sys::DiskSpace;

use crate::share::percent;
use crate::units::bytes;

/// Returns what is available on a disk, and its size.
pub fn space(disk: &DiskSpace) -> String {
    format!("{} available of {}", bytes(disk.available), bytes(disk.size))
}

/// Returns the space of a disk, and the share that a tree of this disk usage has of what is used.
pub fn space_and_share(disk: &DiskSpace, usage: u64) -> String {
    match share(disk, usage) {
        Some(share) => format!("{}; this tree is {share} of what is used", space(disk)),
        None => space(disk),
    }
}

/// Returns the share of what is used, in percent. `None` if a tree occupies more than what is used:
/// it contains mounts of other file systems.
pub fn share(disk: &DiskSpace, usage: u64) -> Option<String> {
    (usage <= disk.used()).then(|| percent(usage as f64 / disk.used().max(1) as f64))
}

/// Explains file lengths that add up to more than the size of a disk.
pub fn sparse(disk: &DiskSpace, apparent: u64) -> Option<String> {
    (apparent > disk.size).then(|| {
        format!("apparent {} on a disk of {}: files with holes", bytes(apparent), bytes(disk.size))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_share_omitted_for_more_than_used() {
        let disk = DiskSpace { size: 64 << 20, free: 48 << 20, available: 40 << 20 };
        let space = "40.0 MiB available of 64.0 MiB";
        let half = format!("{space}; this tree is 50% of what is used");
        assert_eq!(space_and_share(&disk, 8 << 20), half);
        assert_eq!(space_and_share(&disk, 17 << 20), space);
        assert_eq!(sparse(&disk, 64 << 20), None);
        let text = "apparent 8.00 TiB on a disk of 64.0 MiB: files with holes";
        assert_eq!(sparse(&disk, 8 << 40).as_deref(), Some(text));
    }
}
