//! The value of a column for an entry.

use std::ffi::OsString;

use transect::FileType;
use transect::internal::ListEntry;

use crate::output::columns::{Column, Columns, Value};

pub(super) fn of_column(columns: &Columns, column: Column, entry: &ListEntry<'_>) -> Value {
    match column {
        Column::Name => Value::Name(entry.name().to_owned()),
        Column::Path => Value::Name(entry.path().into_os_string()),
        Column::Disk => entry.remark().map_or(Value::Unknown, |word| Value::Word(word.to_owned())),
        Column::Target => target(entry).map_or(Value::Unknown, Value::Name),
        column => columns.value(column, entry.attributes()),
    }
}

/// Returns the target of a symbolic link, as stored. It is read here by path, not by the walk: links
/// are few, and only this column needs them.
fn target(entry: &ListEntry<'_>) -> Option<OsString> {
    let is_link = entry.attributes().file_type() == FileType::Symlink;
    let read = is_link.then(|| std::fs::read_link(entry.path()))?;
    read.ok().map(Into::into)
}
