//! The snapshots of a series, in numbers.

use std::path::Path;

use transect::FileType;
use transect_snapshot::{ReadError, Snapshot, StoredTotals};
use transect_web::history::Point;

use crate::series::{Series, Unusable};

pub(super) struct History {
    pub(super) series: Series,
    pub(super) points: Vec<Point>,
    pub(super) unusable: Vec<Unusable>,
}

/// Returns the length of a file in bytes; `None` if it cannot be queried.
pub(super) fn file_size(file: &Path) -> Option<u64> {
    transect_sys::file::attributes_at(file).ok()?.size()
}

/// Returns the totals of the root: its first row has them.
pub(super) fn totals(snapshot: &Snapshot) -> Result<StoredTotals, ReadError> {
    let mut rows = snapshot.rows();
    if !rows.advance(true)? {
        return Ok(StoredTotals::default());
    }
    let totals = rows.totals().unwrap_or_else(|| {
        let attributes = rows.attributes();
        StoredTotals {
            entries: 1,
            files: u64::from(attributes.file_type() == FileType::File),
            apparent: attributes.size().unwrap_or(0),
            allocated: attributes.allocated().unwrap_or(0),
            ..StoredTotals::default()
        }
    });
    rows.check_columns()?;
    Ok(totals)
}
