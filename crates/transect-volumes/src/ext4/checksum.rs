//! The checksums of ext4's metadata, beside CRC32C (`transect_sys::processor`).
//!
//! Source: Linux, `fs/ext4/` (`ext4_chksum`, `ext4_group_desc_csum`) and
//! `Documentation/filesystems/ext4/checksums.rst`.

/// Continues a CRC16 (polynomial 0x8005, reflected), which protects group descriptors where there is
/// no CRC32C.
pub(super) fn crc16(seed: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(seed, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte), |crc, _| (crc >> 1) ^ (0xA001 * (crc & 1)))
    })
}

/// Continues a CRC-32 (polynomial 0x04C11DB7, not reflected and not inverted), which commits of older journals
/// have (`crc32_be`).
pub(super) fn crc32(seed: u32, bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(seed, |crc, &byte| crc << 8 ^ CRC32_OF_BYTES[usize::from((crc >> 24) as u8 ^ byte)])
}

const CRC32_OF_BYTES: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = ((byte as u32) << 24, 0);
        while bit < 8 {
            crc = crc << 1 ^ (0x04C1_1DB7 * (crc >> 31));
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_known_values() {
        // The check values in the catalogue of parametrised CRC algorithms, for "123456789": CRC-16/ARC begins
        // with 0, CRC-32/MPEG-2 with all bits set.
        assert_eq!(crc16(0, b"123456789"), 0xBB3D);
        assert_eq!(crc32(!0, b"123456789"), 0x0376_E6E7);
    }
}
