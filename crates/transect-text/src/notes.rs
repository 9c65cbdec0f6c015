//! Notes on an entry, next to its size.

use transect::table::{Row, Table, UnreadReason};

use crate::units::{bytes, counted};

/// Returns the notes on an entry in parentheses, with a leading space: shared bytes, why it was not
/// read, errors. Empty if there are none.
pub fn of(table: &Table, row: Row) -> String {
    of_parts(table.shared(row), table.unread_reason(row), table.errors(row))
}

/// As [`of`], for an entry with these shared bytes, this reason why it was not read, and as many errors.
pub fn of_parts(shared: u64, unread: Option<UnreadReason>, errors: u64) -> String {
    let mut notes = Vec::new();
    if shared > 0 {
        notes.push(format!("{} shared", bytes(shared)));
    }
    match unread {
        Some(why) => notes.push(why.as_str().replace('_', " ")),
        None if errors > 0 => notes.push(counted(errors, "error", "errors")),
        None => {}
    }
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}
