//! What a column says of an entry that was found.

use std::ffi::OsString;

use transect::{FileType, ListEntry};

use crate::output::columns::{Column, Columns, Value};

/// Returns what a column says of an entry.
pub(super) fn of_column(columns: &Columns, column: Column, entry: &ListEntry<'_>) -> Value {
    match column {
        Column::Name => Value::Name(entry.name().to_owned()),
        Column::Path => Value::Name(entry.path().into_os_string()),
        Column::Target => target(entry).map_or(Value::Unknown, Value::Name),
        column => columns.value(column, entry.attributes()),
    }
}

/// Returns what a symbolic link leads to, as it is written there. It is read here, by the path that is
/// printed beside it: links are few, and nobody but a list that shows targets has to know of them.
fn target(entry: &ListEntry<'_>) -> Option<OsString> {
    let is_link = entry.attributes().file_type() == FileType::Symlink;
    let read = is_link.then(|| std::fs::read_link(entry.path()))?;
    read.ok().map(Into::into)
}
