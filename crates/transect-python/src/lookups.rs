//! What a cache returned for many paths, as rows.

use std::ffi::CStr;
use std::path::PathBuf;
use std::sync::Arc;

use transect_cache::{LookupError, LookupResult};

use crate::arrow::array::{Array, Builder, Field, Kind};
use crate::arrow::interface::BatchSource;
use crate::columns::{Column, lossy};

/// A path, and what was found of it.
pub(crate) type Found = (PathBuf, LookupResult);

/// Rows in a batch, except the last.
const BATCH_ROWS: usize = 65_536;

const ATTRIBUTES: [Column; 13] = [
    Column::Type,
    Column::Size,
    Column::Allocated,
    Column::Mtime,
    Column::Ctime,
    Column::Atime,
    Column::Btime,
    Column::Mode,
    Column::Uid,
    Column::Gid,
    Column::Nlink,
    Column::Inode,
    Column::Device,
];

/// The columns before and after those of attributes.
const BEFORE: [(&CStr, Kind); 2] = [(c"path", Kind::Text), (c"path_raw", Kind::Binary)];
const AFTER: [(&CStr, Kind); 2] = [(c"error", Kind::Text), (c"errno", Kind::U32)];

pub(crate) struct LookupBatches {
    found: Arc<[Found]>,
    next: usize,
}

impl LookupBatches {
    pub(crate) fn new(found: Arc<[Found]>) -> Self {
        Self { found, next: 0 }
    }
}

impl BatchSource for LookupBatches {
    fn fields(&self) -> Vec<Field> {
        let field = |(name, kind): (&'static CStr, Kind)| Field { name, format: kind.format() };
        let attributes = ATTRIBUTES.iter().map(|column| column.field());
        BEFORE.map(field).into_iter().chain(attributes).chain(AFTER.map(field)).collect()
    }

    fn metadata(&self) -> Vec<(&'static str, String)> {
        vec![("transect.version", env!("CARGO_PKG_VERSION").to_owned())]
    }

    fn rows(&self) -> usize {
        self.found.len()
    }

    fn next_batch(&mut self) -> Option<(usize, Vec<Array>)> {
        let rest = &self.found[self.next..];
        let batch = &rest[..rest.len().min(BATCH_ROWS)];
        self.next += batch.len();
        if batch.is_empty() {
            return None;
        }
        let builder = |kind: Kind| kind.builder(batch.len());
        let [mut path, mut path_raw] = BEFORE.map(|(_, kind)| builder(kind));
        let mut attributes = ATTRIBUTES.map(|column| builder(column.kind()));
        let [mut error, mut errno] = AFTER.map(|(_, kind)| builder(kind));
        for (of, result) in batch {
            let bytes = of.as_os_str().as_encoded_bytes();
            path.bytes(Some(&lossy(bytes)));
            path_raw.bytes(str::from_utf8(bytes).is_err().then_some(bytes));
            for (column, builder) in ATTRIBUTES.iter().zip(&mut attributes) {
                match result {
                    Ok(found) => column.push(builder, found),
                    Err(_) => builder.null(),
                }
            }
            let failed = result.as_ref().err();
            error.bytes(failed.map(|&failed| kind(failed).as_bytes()));
            errno.number(failed.and_then(|failed| match failed {
                LookupError::System { os_error, .. } => os_error.and_then(|it| it.try_into().ok()),
                _ => None,
            }));
        }
        let builders = [path, path_raw].into_iter().chain(attributes).chain([error, errno]);
        Some((batch.len(), builders.map(Builder::finish).collect()))
    }
}

/// Returns the kind of an error in one word.
fn kind(error: LookupError) -> &'static str {
    match error {
        LookupError::OutsideRoots => "outside_roots",
        LookupError::NoBase => "no_base",
        error => error.kind().map_or("other", |kind| kind.as_str()),
    }
}
