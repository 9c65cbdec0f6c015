//! Space that clones (reflinks) share: removing one of them does not free it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use transect::Cancel;
use transect::table::Row;
use transect_sys::FileType;
use transect_sys::extents::{SharingVolumes, shared_extents};

use crate::{CheckedFile, Removal};

/// The space that files share as clones, with each other or with files elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClonedSpace {
    /// Bytes in the files: what several of them share, several times.
    pub in_files: u64,
    /// Bytes on the device. Removing all of the files frees those that no other file shares, so at most these.
    pub on_device: u64,
}

impl Removal<'_> {
    /// Queries which parts of the files are shared with clones: one call for each file on Btrfs, XFS, OCFS2 and
    /// bcachefs on Linux. Elsewhere, there are none. Files that cannot be opened, or that changed, are left out.
    pub fn cloned_space(&self, cancel: &Cancel) -> ClonedSpace {
        let mut space = ClonedSpace::default();
        // The end of each part by its beginning, for each file system.
        let mut parts: HashMap<u64, BTreeMap<u64, u64>> = HashMap::new();
        let (mut volumes, mut seen) = (SharingVolumes::default(), HashSet::new());
        for row in self.rows().iter().flat_map(|&row| self.table.subtree(row)) {
            let attributes = self.table.attributes(row);
            if cancel.is_cancelled() {
                break;
            }
            if attributes.file_type() != FileType::File
                || attributes.nlink() != Some(1) && !seen.insert(attributes.file_id())
            {
                continue;
            }
            let path = || self.table.path(self.table.top_of_device(row));
            let volume = volumes.volume_of(attributes.device(), path);
            let Ok(Some(volume)) = volume else { continue };
            let parts = parts.entry(volume).or_default();
            for part in self.shared_parts(row).unwrap_or_default() {
                space.in_files += part.end - part.start;
                let end = parts.entry(part.start).or_default();
                *end = part.end.max(*end);
            }
        }
        space.on_device = parts.values().map(length).sum();
        space
    }

    /// Returns the shared parts of a file; `None` if they cannot be read.
    fn shared_parts(&self, row: Row) -> Option<Vec<Range<u64>>> {
        let file = CheckedFile::open(self.table, row).ok()?.open_to_read().ok()?;
        shared_extents(&file).ok()?
    }
}

/// Returns the length of parts that may overlap.
fn length(parts: &BTreeMap<u64, u64>) -> u64 {
    let mut covered = 0;
    parts.iter().fold(0, |sum, (&start, &end)| {
        let start = start.max(covered);
        covered = covered.max(end);
        sum + end.saturating_sub(start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_parts_count_once() {
        assert_eq!(length(&BTreeMap::new()), 0);
        assert_eq!(length(&BTreeMap::from([(0, 10), (5, 7), (8, 20), (30, 31)])), 21);
    }
}
