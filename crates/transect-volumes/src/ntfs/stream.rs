//! Content that is described in several records of one file.
//!
//! If a file has more attributes than fit in its record, the rest is in extension records, which an attribute
//! list names in the order of the content.

use std::io;

use transect_sys::ReadAt;

use super::super::error::invalid;
use super::super::source::Fields;
use super::boot_sector::BootSector;
use super::record::{Attribute, Damaged, Record, Reference, kind};
use super::runs::Runs;

/// The longest attribute list: 256 KiB, as Windows limits it.
const MAX_LIST: u64 = 256 << 10;
/// The bytes of an entry of an attribute list before its name.
const LIST_ENTRY: usize = 26;

/// The content of an attribute that lies on clusters.
pub(super) struct Stream {
    pub(super) runs: Runs,
    pub(super) size: u64,
    /// The number of bytes that were ever written.
    pub(super) initialized: u64,
}

/// Which content to find.
pub(super) struct Wanted<'a> {
    pub(super) boot: &'a BootSector,
    /// What it is, for errors.
    pub(super) what: &'static str,
    pub(super) kind: u32,
    /// In UTF-16, lowest byte first.
    pub(super) name: &'a [u8],
}

impl Wanted<'_> {
    /// Finds content of the file with this record. `read` fills a block with another record of the file table,
    /// and gets the runs that were found so far. `None` if there is no such content.
    pub(super) fn find(
        &self,
        source: &dyn ReadAt,
        number: u32,
        base: Record<'_>,
        read: impl Fn(&Runs, u32, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<Option<Stream>> {
        let runs = Runs::new(self.boot.cluster_size, self.boot.clusters);
        let mut stream = Stream { runs, size: 0, initialized: 0 };
        let mut is_found = self.append(base, &mut stream)?;
        let list = attribute(base, kind::ATTRIBUTE_LIST, &[], 0);
        let Some(list) = list.map_err(|Damaged| self.damaged())? else {
            return Ok(is_found.then_some(stream));
        };
        let list = self.list(source, list)?;
        let mut rest = list.as_slice();
        while rest.len() >= LIST_ENTRY {
            let fields = Fields(rest);
            let length = usize::from(fields.u16(4));
            if length < LIST_ENTRY || length > rest.len() {
                return Err(self.damaged());
            }
            let (entry, others) = rest.split_at(length);
            rest = others;
            let record = Reference::new(fields.u64(16)).record;
            let is_done = record == u64::from(number) && fields.u64(8) < stream.runs.end();
            if !self.is_named(entry) || is_done {
                continue;
            }
            if fields.u64(8) != stream.runs.end() {
                return Err(self.damaged());
            }
            if record == u64::from(number) {
                is_found |= self.append(base, &mut stream)?;
                continue;
            }
            let record = u32::try_from(record).map_err(|_| self.damaged())?;
            let mut bytes = vec![0; self.boot.record_size as usize];
            read(&stream.runs, record, &mut bytes)?;
            if !self.append(self.in_use(&mut bytes)?, &mut stream)? {
                return Err(self.damaged());
            }
            is_found = true;
        }
        Ok(is_found.then_some(stream))
    }

    /// Returns the error for a description that contradicts the format.
    pub(super) fn damaged(&self) -> io::Error {
        invalid(format!("the description of its {} is damaged", self.what))
    }

    /// Restores a record that must be in use.
    pub(super) fn in_use<'r>(&self, bytes: &'r mut [u8]) -> io::Result<Record<'r>> {
        Record::restore(bytes).ok().flatten().ok_or_else(|| self.damaged())
    }

    /// Appends the next runs, which a record may have. Returns whether it has them.
    fn append(&self, record: Record<'_>, stream: &mut Stream) -> io::Result<bool> {
        let next = stream.runs.end();
        let part = attribute(record, self.kind, self.name, next);
        let Some(part) = part.map_err(|Damaged| self.damaged())? else { return Ok(false) };
        if next == 0 {
            stream.size = part.sizes().size;
            stream.initialized = part.initialized();
        }
        stream.runs.append(part.run_list().ok_or_else(|| self.damaged())?)?;
        Ok(true)
    }

    /// Returns whether an entry of an attribute list stands for a part of the content.
    fn is_named(&self, entry: &[u8]) -> bool {
        let fields = Fields(entry);
        let (begin, length) = (usize::from(fields.u8(7)), 2 * usize::from(fields.u8(6)));
        let name = if length == 0 { Some(&[][..]) } else { entry.get(begin..begin + length) };
        fields.u32(0) == self.kind && name == Some(self.name)
    }

    fn list(&self, source: &dyn ReadAt, list: Attribute<'_>) -> io::Result<Vec<u8>> {
        if let Some(value) = list.value() {
            return Ok(value.to_owned());
        }
        let length = list.sizes().size;
        if length > MAX_LIST {
            return Err(self.damaged());
        }
        let mut runs = Runs::new(self.boot.cluster_size, self.boot.clusters);
        runs.append(list.run_list().ok_or_else(|| self.damaged())?)?;
        let mut bytes = vec![0; length as usize];
        runs.read(source, 0, &mut bytes)?;
        Ok(bytes)
    }
}

/// Returns the attribute of a record that describes the content from this cluster on.
fn attribute<'a>(
    record: Record<'a>,
    kind: u32,
    name: &[u8],
    first_cluster: u64,
) -> Result<Option<Attribute<'a>>, Damaged> {
    for attribute in record.attributes() {
        let it = attribute?;
        if it.kind() == kind && it.name() == name && it.first_cluster() == first_cluster {
            return Ok(Some(it));
        }
    }
    Ok(None)
}
