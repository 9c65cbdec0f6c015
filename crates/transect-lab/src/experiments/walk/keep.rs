//! Records that a walk keeps of the files it finds.
//!
//! The seed articles fill a vector of names and write times (row A43), and advise to filter while walking, not
//! after collecting (row A39). Methods with the setting `keep` do the work of all methods, and this besides.

use std::ffi::OsString;

use transect::{Attributes, FieldMask};

use crate::harness::protocol::Held;

/// The length of the smallest files that a filter keeps, in bytes: one page.
const LARGE: u64 = 4096;

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Keep {
        Names = "names" => "keeps the names of all files",
        Times = "times" => "keeps the names and write times of all files",
        Large = "large" => "keeps the names and lengths of files of 4 KiB or more, filtered in the walk",
        LargeAfter = "large-after" =>
            "keeps the names and lengths of all files, and filters those of 4 KiB or more afterwards",
    }
}

impl Keep {
    /// Returns the kind with whose result its own has to agree.
    pub(super) fn agrees_with(self) -> Self {
        if self == Self::LargeAfter { Self::Large } else { self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    name: OsString,
    /// The write time in nanoseconds since 1970, or the length in bytes; 0 if only the name is kept.
    number: u64,
}

/// The records of a walk, or of one of its threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptFiles {
    keep: Keep,
    records: Vec<Record>,
}

impl KeptFiles {
    pub(super) fn new(keep: Keep) -> Self {
        Self { keep, records: Vec::new() }
    }

    /// Returns the attributes needed beyond those of every walk.
    pub(super) fn wanted(&self) -> FieldMask {
        if self.keep == Keep::Times { FieldMask::MTIME } else { FieldMask::empty() }
    }

    pub(super) fn add(&mut self, name: &std::ffi::OsStr, attributes: &Attributes) {
        let number = match self.keep {
            Keep::Names => 0,
            Keep::Times => attributes.mtime().unwrap_or(0).cast_unsigned(),
            Keep::Large | Keep::LargeAfter => attributes.size().unwrap_or(0),
        };
        if self.keep != Keep::Large || number >= LARGE {
            self.records.push(Record { name: name.to_owned(), number });
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.records.extend(other.records);
    }

    /// Filters the records, if that comes after the walk.
    pub(super) fn finish(&mut self) {
        if self.keep == Keep::LargeAfter {
            self.records.retain(|record| record.number >= LARGE);
        }
    }

    pub(super) fn held(&self) -> Held {
        let names: usize = self.records.iter().map(|record| record.name.capacity()).sum();
        let records = self.records.capacity() * size_of::<Record>();
        Held { memory: (names + records) as u64, names: self.records.len() as u64 }
    }

    /// Returns the sum of the write times, modulo 2^64, if they are kept.
    pub(super) fn changed(&self) -> Option<u64> {
        let sum = |sum: u64, record: &Record| sum.wrapping_add(record.number);
        (self.keep == Keep::Times).then(|| self.records.iter().fold(0, sum))
    }
}
