//! The boot sector: the geometry of the file system, and where the file table begins.
//!
//! Sources: Linux, `fs/ntfs3/ntfs.h` (`struct NTFS_BOOT`); `layout.h` of ntfs-3g.

use std::io;

use transect_sys::ReadAt;

use super::super::error::invalid;
use super::super::source::Fields;

const LENGTH: usize = 512;
/// What the boot sector has at [`NAME_OFFSET`].
const NAME: &[u8; 8] = b"NTFS    ";
const NAME_OFFSET: u64 = 3;

/// The geometry of a volume, checked to be possible.
#[derive(Clone, Copy, Debug)]
pub(super) struct BootSector {
    /// Bytes of a cluster, a power of two.
    pub(super) cluster_size: u32,
    pub(super) clusters: u64,
    /// Bytes of a record of the file table, a power of two.
    pub(super) record_size: u32,
    /// The first byte of the file table.
    pub(super) file_table: u64,
    pub(super) serial_number: u64,
}

pub(in super::super) fn is_likely(source: &dyn ReadAt) -> bool {
    let mut name = [0; NAME.len()];
    source.read_exact_at(NAME_OFFSET, &mut name).is_ok() && name == *NAME
}

impl BootSector {
    pub(super) fn read(source: &dyn ReadAt) -> io::Result<Self> {
        let size = source.size()?;
        if size < LENGTH as u64 {
            return Err(invalid(format!("{size} bytes hold no file system")));
        }
        if !is_likely(source) {
            return Err(invalid(match copy(source, size) {
                Some(offset) => format!(
                    "its boot sector is damaged; there is a copy at byte {offset}, from which `ntfsfix` \
                     repairs it"
                ),
                None => "there is no NTFS in it".to_owned(),
            }));
        }
        let mut bytes = [0; LENGTH];
        source.read_exact_at(0, &mut bytes)?;
        let this = Self::parse(&bytes)
            .ok_or_else(|| invalid("its boot sector describes no possible file system"))?;
        let end = this.clusters.saturating_mul(this.cluster_size.into());
        if size < end {
            return Err(invalid(format!(
                "it is truncated: {size} bytes of a file system of {end}"
            )));
        }
        Ok(this)
    }

    fn parse(bytes: &[u8; LENGTH]) -> Option<Self> {
        let fields = Fields(bytes);
        let sector_size = u32::from(fields.u16(0xB));
        let cluster_size = match fields.u8(0xD) {
            few @ 0..=0x80 => sector_size.checked_mul(few.into())?,
            // The power of two, as a negative number.
            many => sector_size.checked_mul(1_u32.checked_shl(0x100 - u32::from(many))?)?,
        };
        let record_size = match fields.u8(0x40).cast_signed() {
            clusters @ 1.. => cluster_size.checked_mul(clusters.unsigned_abs().into())?,
            power => 1_u32.checked_shl(power.unsigned_abs().into())?,
        };
        let is_possible = sector_size.is_power_of_two()
            && (256..=4096).contains(&sector_size)
            && cluster_size.is_power_of_two()
            && cluster_size <= 2 << 20
            && record_size.is_power_of_two()
            && (512..=64 << 10).contains(&record_size);
        if !is_possible {
            return None;
        }
        let clusters = fields.u64(0x28) / u64::from(cluster_size / sector_size);
        let first = fields.u64(0x30);
        (first > 0 && first < clusters).then_some(())?;
        Some(Self {
            cluster_size,
            clusters,
            record_size,
            file_table: first.checked_mul(cluster_size.into())?,
            serial_number: fields.u64(0x48),
        })
    }
}

/// Looks for the copy of the boot sector in the last sector of the volume. Returns its offset.
fn copy(source: &dyn ReadAt, size: u64) -> Option<u64> {
    [512, 1024, 2048, 4096].into_iter().find_map(|sector: u64| {
        let offset = (size / sector * sector).checked_sub(sector)?;
        let mut bytes = [0; LENGTH];
        source.read_exact_at(offset, &mut bytes).ok()?;
        let is_copy = bytes[NAME_OFFSET as usize..].starts_with(NAME);
        (is_copy && BootSector::parse(&bytes).is_some()).then_some(offset)
    })
}
