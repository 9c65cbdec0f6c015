//! Numbers in the bytes of a volume.

/// Little-endian numbers at fixed offsets of a record. Beyond its end, there are zeros.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn u8(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    pub(super) fn u16(self, at: usize) -> u16 {
        self.array(at).map_or(0, u16::from_le_bytes)
    }

    pub(super) fn u32(self, at: usize) -> u32 {
        self.array(at).map_or(0, u32::from_le_bytes)
    }

    /// Returns a number whose halves are apart.
    pub(super) fn u64_of(self, low: usize, high: usize) -> u64 {
        u64::from(self.u32(low)) | u64::from(self.u32(high)) << 32
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..)?.first_chunk().copied()
    }
}
