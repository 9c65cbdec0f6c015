//! Adds up the entries of a list.

use transect_sys::{Attributes, FieldMask, FileType, Want};

use crate::account::{HardLinks, SizeTotals};

/// The number of the entries in a list, and their sizes.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ListTotals {
    /// The entries.
    pub entries: u64,
    /// Their sizes, each file id once.
    pub sizes: SizeTotals,
    links: HardLinks,
}

impl ListTotals {
    /// Returns the number of names beyond the first of each file.
    pub fn hard_links(&self) -> u64 {
        self.links.extra_names()
    }

    /// Returns the attributes that totals need.
    pub(super) fn want() -> Want {
        let sizes = FieldMask::SIZE | FieldMask::ALLOCATED;
        Want::from(sizes | FieldMask::FILE_ID).opportunistic(FieldMask::NLINK)
    }

    /// Adds an entry. With `follow`, a file may be met more often than it has names, and a directory more
    /// than once.
    pub(super) fn add(&mut self, attributes: &Attributes, follow: bool) {
        self.entries += 1;
        let (apparent, allocated) =
            (attributes.size().unwrap_or(0), attributes.allocated().unwrap_or(0));
        let is_dir = attributes.file_type() == FileType::Directory;
        let size = if is_dir && !follow {
            SizeTotals {
                directories_apparent: apparent,
                directories_allocated: allocated,
                ..SizeTotals::default()
            }
        } else {
            let apparent = if is_dir { 0 } else { apparent };
            SizeTotals { apparent, allocated, ..SizeTotals::default() }
        };
        if is_dir && !follow || self.links.add_entry(attributes, follow, size) {
            self.sizes += size;
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.entries += other.entries;
        // Subtract before adding, so that no sum exceeds the bytes there are.
        let mut sizes = other.sizes;
        sizes -= self.links.merge(other.links);
        self.sizes += sizes;
    }
}
