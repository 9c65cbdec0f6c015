//! Where the file table (`$MFT`) is: its own first record describes that.
//!
//! A fragmented table has more runs than fit in that record. The extension records with the rest are in the
//! table themselves, in parts whose runs are known by then.

use std::io;

use transect_sys::ReadAt;

use super::super::error::invalid;
use super::boot_sector::BootSector;
use super::record::kind;
use super::runs::Runs;
use super::stream::{Stream, Wanted};

/// The file table (`$MFT`), opened for reading its records.
pub(super) struct FileTable<'a> {
    pub(super) source: &'a dyn ReadAt,
    pub(super) boot: BootSector,
    runs: Runs,
    /// The number of records that were ever in use.
    pub(super) records: u32,
}

impl<'a> FileTable<'a> {
    pub(super) fn find(source: &'a dyn ReadAt) -> io::Result<Self> {
        let boot = BootSector::read(source)?;
        let mut bytes = vec![0; boot.record_size as usize];
        source.read_exact_at(boot.file_table, &mut bytes)?;
        let size = u64::from(boot.record_size);
        let read = |runs: &Runs, record: u32, block: &mut [u8]| {
            runs.read(source, u64::from(record) * size, block)
        };
        let wanted = Wanted { boot: &boot, what: "file table", kind: kind::DATA, name: &[] };
        let found = wanted.find(source, 0, wanted.in_use(&mut bytes)?, read)?;
        let table = found.ok_or_else(|| wanted.damaged())?;
        let length = table.initialized.min(table.size);
        if !table.runs.is_stored() || length > table.runs.bytes() {
            return Err(wanted.damaged());
        }
        let too_many = |_| invalid("its file table has more than 2^32 records");
        let records = u32::try_from(length / size).map_err(too_many)?;
        Ok(Self { source, boot, runs: table.runs, records })
    }

    /// Fills a block with records, as they are on the volume.
    pub(super) fn read(&self, first: u32, block: &mut [u8]) -> io::Result<()> {
        self.runs.read(self.source, u64::from(first) * u64::from(self.boot.record_size), block)
    }

    /// Keeps the records that are in use by the bitmap of the table, which decides for those that cannot be read. Where it
    /// cannot be read itself, they may be in use.
    pub(super) fn retain_used(&self, records: &mut Vec<u32>) {
        let (boot, what) = (&self.boot, "file table's bitmap");
        let wanted = Wanted { boot, what, kind: kind::BITMAP, name: &[] };
        let Some(bitmap) = self.find_in(0, &wanted).ok().flatten() else { return };
        let end = bitmap.initialized.min(bitmap.size);
        records.retain(|record| {
            let (at, mut byte) = (u64::from(record / 8), [0]);
            let is_read = at < end && bitmap.runs.read(self.source, at, &mut byte).is_ok();
            !is_read || byte[0] >> (record % 8) & 1 != 0
        });
    }

    /// Finds content of a file in the table. `None` if it has no such content.
    pub(super) fn find_in(&self, record: u32, wanted: &Wanted<'_>) -> io::Result<Option<Stream>> {
        let mut bytes = vec![0; self.boot.record_size as usize];
        self.read(record, &mut bytes)?;
        let read = |_: &Runs, record: u32, block: &mut [u8]| self.read(record, block);
        wanted.find(self.source, record, wanted.in_use(&mut bytes)?, read)
    }
}
