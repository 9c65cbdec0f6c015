//! What a column says of an entry that was found.

use transect::Listed;

use crate::output::columns::{Column, Columns, Value};

/// Returns what a column says of an entry.
pub(super) fn of(columns: &Columns, column: Column, entry: &Listed<'_>) -> Value {
    match column {
        Column::Name => Value::Name(entry.name().to_owned()),
        Column::Path => Value::Name(entry.path().into_os_string()),
        column => columns.value(column, entry.attributes()),
    }
}
