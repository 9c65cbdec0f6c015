//! What a volume holds, by the bytes at its beginning: for errors that name it.

use transect_sys::ReadAt;

/// Bytes at an offset that only one kind of content has, and its name. Sources: the formats' documents, and
/// `libblkid/src/superblocks/` of util-linux.
const KNOWN: &[(u64, &[u8], &str)] = &[
    (0, b"LUKS\xBA\xBE", "an encrypted volume (LUKS)"),
    (0, b"XFSB", "XFS"),
    (0, b"hsqs", "SquashFS"),
    (0, b"LABELONE", LVM),
    (512, b"LABELONE", LVM),
    (1024, b"LABELONE", LVM),
    (1536, b"LABELONE", LVM),
    (3, b"-FVE-FS-", "an encrypted volume (BitLocker)"),
    (3, b"EXFAT   ", "exFAT"),
    (3, b"ReFS\0\0\0\0", "ReFS"),
    (82, b"FAT32   ", "FAT"),
    (54, b"FAT16   ", "FAT"),
    (54, b"FAT12   ", "FAT"),
    (1024, b"\x10\x20\xF5\xF2", "F2FS"),
    (1024, b"\xE2\xE1\xF5\xE0", "EROFS"),
    (1024, b"H+", "HFS+"),
    (32, b"NXSB", "APFS"),
    (4086, b"SWAPSPACE2", "swap space"),
    (4096, b"\xFC\x4E\x2B\xA9", "a part of a RAID (Linux)"),
    (0x8001, b"CD001", "ISO 9660"),
    (0x1_0040, b"_BHRfS_M", "Btrfs"),
];

const LVM: &str = "a physical volume (LVM)";

/// Returns what a volume holds, if it is known.
pub(super) fn name_of(volume: &dyn ReadAt) -> Option<&'static str> {
    let is_there = |offset: u64, expected: &[u8]| {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..expected.len()];
        volume.read_exact_at(offset, bytes).is_ok() && bytes == expected
    };
    KNOWN.iter().find(|it| is_there(it.0, it.1)).map(|it| it.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_named_by_magic() {
        let mut volume = vec![0; 70_000];
        assert_eq!(name_of(&volume), None);
        volume[0x1_0040..][..8].copy_from_slice(b"_BHRfS_M");
        assert_eq!(name_of(&volume), Some("Btrfs"));
        volume[512..520].copy_from_slice(b"LABELONE");
        assert_eq!(name_of(&volume), Some(LVM));
        assert_eq!(name_of(&&volume[..515]), None, "too short");
    }
}
