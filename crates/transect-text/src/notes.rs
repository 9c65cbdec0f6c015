//! Notes on an entry, next to its size.

use transect::table::{Row, Table};

use crate::units::{bytes, counted};

/// Returns the notes on an entry in parentheses, with a leading space: shared bytes, why it was not
/// read, errors. Empty if there are none.
pub fn of(table: &Table, row: Row) -> String {
    let mut notes = Vec::new();
    let shared = table.shared(row);
    if shared > 0 {
        notes.push(format!("{} shared", bytes(shared)));
    }
    match table.unread_reason(row) {
        Some(why) => notes.push(why.as_str().replace('_', " ")),
        None => {
            let errors = table.errors(row);
            if errors > 0 {
                notes.push(counted(errors, "error", "errors"));
            }
        }
    }
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}
