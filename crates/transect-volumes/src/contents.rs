//! What a volume holds, by the bytes at its beginning: for errors that name it.

use transect_sys::ReadAt;

/// Bytes at an offset that only one kind of content has.
struct Magic {
    offset: u64,
    bytes: &'static [u8],
    name: &'static str,
}

const fn magic(offset: u64, bytes: &'static [u8], name: &'static str) -> Magic {
    Magic { offset, bytes, name }
}

/// Sources: the formats' documents, and `libblkid/src/superblocks/` of util-linux.
const KNOWN: &[Magic] = &[
    magic(0, b"LUKS\xBA\xBE", "an encrypted volume (LUKS)"),
    magic(0, b"XFSB", "XFS"),
    magic(0, b"hsqs", "SquashFS"),
    magic(0, b"LABELONE", LVM),
    magic(512, b"LABELONE", LVM),
    magic(1024, b"LABELONE", LVM),
    magic(1536, b"LABELONE", LVM),
    magic(3, b"-FVE-FS-", "an encrypted volume (BitLocker)"),
    magic(3, b"EXFAT   ", "exFAT"),
    magic(3, b"ReFS\0\0\0\0", "ReFS"),
    magic(82, b"FAT32   ", "FAT"),
    magic(54, b"FAT16   ", "FAT"),
    magic(54, b"FAT12   ", "FAT"),
    magic(1024, b"\x10\x20\xF5\xF2", "F2FS"),
    magic(1024, b"\xE2\xE1\xF5\xE0", "EROFS"),
    magic(1024, b"H+", "HFS+"),
    magic(32, b"NXSB", "APFS"),
    magic(4086, b"SWAPSPACE2", "swap space"),
    magic(4096, b"\xFC\x4E\x2B\xA9", "a part of a RAID (Linux)"),
    magic(0x8001, b"CD001", "ISO 9660"),
    magic(0x1_0040, b"_BHRfS_M", "Btrfs"),
];

const LVM: &str = "a physical volume (LVM)";

/// Returns what a volume holds, if it is known.
pub(super) fn name_of(volume: &(impl ReadAt + ?Sized)) -> Option<&'static str> {
    let found = KNOWN.iter().find(|it| {
        let mut bytes = [0; 16];
        let bytes = &mut bytes[..it.bytes.len()];
        volume.read_exact_at(it.offset, bytes).is_ok() && bytes == it.bytes
    })?;
    Some(found.name)
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
        assert_eq!(name_of(&volume[..515]), None, "too short");
    }
}
