//! The partition tables of disks: GPT and MBR.
//!
//! Source: UEFI Specification 2.10, chapter 5 (GPT; the protective MBR); Linux, `block/partitions/efi.c`
//! and `msdos.c` (chains of extended partitions).
//!
//! Crates for it open files themselves, and read as many entries as a table claims. This reads from any
//! [`ReadAt`], within fixed bounds, as anybody can make an image.

use std::io;

use transect_sys::ReadAt;

use super::error::invalid;
use super::source::Fields;

/// A part of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// Its number, as Linux names it: 1 to 4 in an MBR, logical ones from 5; its place in a GPT.
    pub(super) number: u32,
    pub(super) begin: u64,
    pub(super) length: u64,
}

/// The size of a sector where an MBR does not say otherwise.
const SECTOR: u64 = 512;
/// Sizes of sectors of disks with a GPT.
const SECTORS: [u64; 2] = [SECTOR, 4096];
/// The largest table that is read: 8 times as long as usual.
const MAX_ENTRIES: u64 = 1024;
const MAX_ENTRY_SIZE: u64 = 1024;
/// The most logical partitions; a chain may be a loop.
const MAX_LOGICAL: u32 = 128;

const PROTECTIVE: u8 = 0xEE;
const EXTENDED: [u8; 3] = [0x05, 0x0F, 0x85];

/// Returns the partitions of a disk; none if it has no table.
pub(super) fn read(disk: &dyn ReadAt) -> io::Result<Vec<Partition>> {
    let size = disk.size()?;
    let Some(entries) = (size >= SECTOR).then(|| read_mbr(disk, 0)).transpose()?.flatten() else {
        return Ok(Vec::new());
    };
    if entries.iter().any(|entry| entry.kind == PROTECTIVE) {
        return read_gpt(disk, size);
    }
    let mut found = Vec::new();
    for (number, entry) in (1..).zip(entries) {
        if EXTENDED.contains(&entry.kind) {
            add_logical(disk, entry.first, &mut found)?;
        } else if entry.is_used() {
            found.push(entry.partition(number, 0));
        }
    }
    found.sort_unstable_by_key(|it| it.number);
    Ok(found)
}

/// An entry of an MBR. Sectors are counted from the one that the table is for.
#[derive(Clone, Copy)]
struct MbrEntry {
    kind: u8,
    first: u32,
    count: u32,
}

impl MbrEntry {
    fn is_used(self) -> bool {
        self.kind != 0 && self.count != 0
    }

    fn partition(self, number: u32, above: u64) -> Partition {
        let begin = (above + u64::from(self.first)) * SECTOR;
        Partition { number, begin, length: u64::from(self.count) * SECTOR }
    }
}

/// Reads the table in a sector; `None` if it is not one. The boot sectors of FAT and NTFS have the same
/// signature, but other bytes in place of the status.
fn read_mbr(disk: &dyn ReadAt, sector: u64) -> io::Result<Option<[MbrEntry; 4]>> {
    let mut bytes = [0; SECTOR as usize];
    disk.read_exact_at(sector * SECTOR, &mut bytes)?;
    let entry = |at: usize| Fields(&bytes[446 + at * 16..][..16]);
    let is_status = |at: usize| matches!(entry(at).u8(0), 0 | 0x80);
    if Fields(&bytes).u16(510) != 0xAA55 || !(0..4).all(is_status) {
        return Ok(None);
    }
    Ok(Some([0, 1, 2, 3].map(|at| {
        let fields = entry(at);
        MbrEntry { kind: fields.u8(4), first: fields.u32(8), count: fields.u32(12) }
    })))
}

/// Adds the partitions in an extended one: a chain of tables, each with a partition and the next table.
fn add_logical(disk: &dyn ReadAt, extended: u32, found: &mut Vec<Partition>) -> io::Result<()> {
    let extended = u64::from(extended);
    let (mut table, mut number) = (extended, 5);
    for _ in 0..MAX_LOGICAL {
        let entries = read_mbr(disk, table).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(),
            _ => error,
        })?;
        let entries = entries.ok_or_else(damaged)?;
        let (mut next, is_link) = (None, |it: &MbrEntry| EXTENDED.contains(&it.kind));
        for entry in entries.into_iter().filter(|it| it.is_used()) {
            if is_link(&entry) {
                next = next.or(Some(extended + u64::from(entry.first)));
            } else {
                found.push(entry.partition(number, table));
                number += 1;
            }
        }
        let Some(next) = next else { return Ok(()) };
        table = next;
    }
    Err(damaged())
}

fn damaged() -> io::Error {
    invalid("its partition table is damaged")
}

/// Reads the table at the beginning of the disk, or its copy at the end.
fn read_gpt(disk: &dyn ReadAt, size: u64) -> io::Result<Vec<Partition>> {
    let at_end = |sector: u64| size.checked_sub(sector).map(|at| at / sector);
    let primary = SECTORS.map(|sector| (sector, Some(1)));
    let backup = SECTORS.map(|sector| (sector, at_end(sector)));
    for (sector, place) in primary.into_iter().chain(backup) {
        let Some(place) = place else { continue };
        match read_gpt_at(disk, sector, place) {
            Ok(Some(found)) => return Ok(found),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
            _ => {}
        }
    }
    Err(damaged())
}

/// Reads the table whose header is in this sector; `None` if it is not right.
fn read_gpt_at(disk: &dyn ReadAt, sector: u64, place: u64) -> io::Result<Option<Vec<Partition>>> {
    let mut header = [0; SECTOR as usize];
    disk.read_exact_at(place.saturating_mul(sector), &mut header)?;
    let fields = Fields(&header);
    let length = fields.u32(12) as usize;
    if header[..8] != *b"EFI PART" || !(92..=header.len()).contains(&length) {
        return Ok(None);
    }
    let crc = crc32(crc32(crc32(!0, &header[..16]), &[0; 4]), &header[20..length]);
    let (first, count, size) = (fields.u64(72), fields.u32(80), fields.u32(84));
    let (count, size) = (u64::from(count), u64::from(size));
    let is_possible = count <= MAX_ENTRIES && (128..=MAX_ENTRY_SIZE).contains(&size);
    if !crc != fields.u32(16) || fields.u64(24) != place || !is_possible {
        return Ok(None);
    }
    let mut entries = vec![0; (count * size) as usize];
    disk.read_exact_at(first.saturating_mul(sector), &mut entries)?;
    if !crc32(!0, &entries) != fields.u32(88) {
        return Ok(None);
    }
    let found = (1..).zip(entries.chunks_exact(size as usize)).filter_map(|(number, entry)| {
        let (first, last) = (Fields(entry).u64(32), Fields(entry).u64(40));
        // The type of a free entry is zero.
        if entry[..16] == [0; 16] || last < first {
            return None;
        }
        let length = (last - first).saturating_add(1).saturating_mul(sector);
        Some(Partition { number, begin: first.saturating_mul(sector), length })
    });
    Ok(Some(found.collect()))
}

/// Continues a CRC32 (polynomial 0x04C11DB7, reflected) without inverting it at the beginning and the end.
fn crc32(seed: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(seed, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn put(disk: &mut [u8], at: usize, bytes: &[u8]) {
        disk[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes a table with partitions: slot, type, first sector, number of sectors.
    fn put_mbr(disk: &mut [u8], sector: usize, partitions: &[(usize, u8, u32, u32)]) {
        put(disk, sector * 512 + 510, &[0x55, 0xAA]);
        for &(slot, kind, first, count) in partitions {
            let at = sector * 512 + 446 + slot * 16;
            disk[at + 4] = kind;
            put(disk, at + 8, &first.to_le_bytes());
            put(disk, at + 12, &count.to_le_bytes());
        }
    }

    /// Writes a header, and the entries after it or before it.
    fn put_gpt(disk: &mut [u8], sector: usize, place: usize, entries_at: usize) {
        let mut entries = vec![0; 4 * 128];
        for (slot, first, last) in [(0, 10_u64, 19_u64), (2, 20, 20)] {
            put(&mut entries, slot * 128, &[7; 16]);
            put(&mut entries, slot * 128 + 32, &first.to_le_bytes());
            put(&mut entries, slot * 128 + 40, &last.to_le_bytes());
        }
        let mut header = [0; 92];
        put(&mut header, 0, b"EFI PART");
        put(&mut header, 12, &92_u32.to_le_bytes());
        put(&mut header, 24, &(place as u64).to_le_bytes());
        put(&mut header, 72, &(entries_at as u64).to_le_bytes());
        put(&mut header, 80, &4_u32.to_le_bytes());
        put(&mut header, 84, &128_u32.to_le_bytes());
        put(&mut header, 88, &(!crc32(!0, &entries)).to_le_bytes());
        let crc = !crc32(!0, &header);
        put(&mut header, 16, &crc.to_le_bytes());
        put(disk, place * sector, &header);
        put(disk, entries_at * sector, &entries);
    }

    fn disk_with_gpt(sector: usize) -> Vec<u8> {
        let mut disk = vec![0; 64 * sector];
        put_mbr(&mut disk, 0, &[(0, PROTECTIVE, 1, 63)]);
        put_gpt(&mut disk, sector, 1, 2);
        put_gpt(&mut disk, sector, 63, 60);
        disk
    }

    fn partition(number: u32, first: u64, count: u64, sector: u64) -> Partition {
        Partition { number, begin: first * sector, length: count * sector }
    }

    #[test]
    fn crc32_known_value() {
        // CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
        assert_eq!(!crc32(!0, b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn partitions_none_without_table() {
        assert_eq!(read(&&[0; 511][..]).unwrap(), []);
        assert_eq!(read(&&[0; 4096][..]).unwrap(), []);
        let mut boot_sector = vec![0x33; 4096];
        put(&mut boot_sector, 510, &[0x55, 0xAA]);
        assert_eq!(read(&boot_sector).unwrap(), [], "code in place of a table");
    }

    #[test]
    fn partitions_mbr_primary_and_logical() {
        let mut disk = vec![0; 100 * 512];
        put_mbr(&mut disk, 0, &[(0, 0x83, 1, 9), (1, 0x0F, 20, 60), (3, 0x07, 80, 5)]);
        // Two logical ones: the second table is counted from the extended partition.
        put_mbr(&mut disk, 20, &[(0, 0x83, 1, 9), (1, 0x05, 10, 30)]);
        put_mbr(&mut disk, 30, &[(0, 0x82, 2, 8)]);
        let expected = [(1, 1, 9), (4, 80, 5), (5, 21, 9), (6, 32, 8)];
        let expected = expected.map(|(number, first, count)| partition(number, first, count, 512));
        assert_eq!(read(&disk).unwrap(), expected);
    }

    #[test]
    fn partitions_mbr_loop_of_tables_damaged() {
        let mut disk = vec![0; 100 * 512];
        put_mbr(&mut disk, 0, &[(1, 0x05, 20, 60)]);
        put_mbr(&mut disk, 20, &[(0, 0x83, 1, 9), (1, 0x05, 0, 60)]);
        assert!(read(&disk).unwrap_err().to_string().contains("damaged"));
        // A chain that leads outside the disk.
        put_mbr(&mut disk, 20, &[(0, 0x83, 1, 9), (1, 0x05, 500, 60)]);
        assert!(read(&disk).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn partitions_gpt_copy_read_where_first_is_damaged() {
        for sector in [512, 4096] {
            let mut disk = disk_with_gpt(sector);
            let sector = sector as u64;
            let expected = [partition(1, 10, 10, sector), partition(3, 20, 1, sector)];
            assert_eq!(read(&disk).unwrap(), expected);
            disk[sector as usize + 80] ^= 1;
            assert_eq!(read(&disk).unwrap(), expected, "the copy");
            disk[60 * sector as usize] ^= 1;
            assert!(read(&disk).unwrap_err().to_string().contains("damaged"));
        }
    }

    proptest! {
        /// Whatever the bytes are: an answer of bounded length, and no overflow.
        #[test]
        fn partitions_hostile_tables_bounded(
            is_gpt in any::<bool>(),
            repair in any::<bool>(),
            changes in prop::collection::vec((0_usize..24 * 512, any::<u8>()), 0..12),
        ) {
            let mut disk = disk_with_gpt(512);
            if !is_gpt {
                put_mbr(&mut disk, 0, &[(0, 0x83, 1, 9), (1, 0x0F, 20, 40)]);
                put_mbr(&mut disk, 20, &[(0, 0x83, 1, 9), (1, 0x05, 2, 30)]);
            }
            for (at, byte) in changes {
                disk[at] = byte;
            }
            if repair {
                // So that what is behind the checksum is used.
                let crc = |header: &[u8]| !crc32(crc32(crc32(!0, &header[..16]), &[0; 4]), &header[20..92]);
                let crc = crc(&disk[512..604]);
                put(&mut disk, 528, &crc.to_le_bytes());
            }
            if let Ok(found) = read(&disk) {
                prop_assert!(found.len() as u64 <= MAX_ENTRIES + u64::from(MAX_LOGICAL) * 4);
            }
        }
    }
}
