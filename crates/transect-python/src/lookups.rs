//! What a cache returned for many paths, as columns.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{LargeBinaryArray, LargeStringArray, UInt32Array};
use transect_cache::{LookupError, LookupResult};

use crate::columns::Column;
use crate::rows::{Columns, raw};

/// A path, and what was found of it.
pub(crate) type Found = (PathBuf, LookupResult);

pub(crate) fn columns(found: &[Found]) -> Columns {
    let paths = || found.iter().map(|(path, _)| path.as_os_str().as_encoded_bytes());
    let text: LargeStringArray = paths().map(|path| Some(String::from_utf8_lossy(path))).collect();
    let path_raw: LargeBinaryArray = paths().map(raw).collect();
    let errors = || found.iter().map(|(_, result)| result.as_ref().err());
    let kinds: LargeStringArray = errors().map(|error| error.copied().map(kind)).collect();
    let numbers: UInt32Array = errors().map(|error| number(*error?)).collect();
    let mut columns: Columns =
        vec![("path".to_owned(), Arc::new(text)), ("path_raw".to_owned(), Arc::new(path_raw))];
    let attributes = || found.iter().map(|(_, result)| result.as_ref().ok());
    let array = |column: Column| (column.name().to_owned(), column.array(attributes()));
    columns.extend(Column::attributes().map(array));
    columns.push(("error".to_owned(), Arc::new(kinds)));
    columns.push(("errno".to_owned(), Arc::new(numbers)));
    columns
}

/// Returns the number of the system.
fn number(error: LookupError) -> Option<u32> {
    match error {
        LookupError::System { os_error, .. } => os_error?.try_into().ok(),
        _ => None,
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
