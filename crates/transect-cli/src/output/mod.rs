//! Prints results and messages, as text or JSON.

pub(crate) mod change_lines;
pub(crate) mod columns;
pub(crate) mod csv;
pub(crate) mod inherited;
pub(crate) mod json;
pub(crate) mod not_found;
pub(crate) mod owner;
pub(crate) mod summary;
pub(crate) mod time;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use transect::table::TableBuilder;
use transect::{Diagnostics, FieldMask};
pub(crate) use transect_program::output::*;
pub(crate) use transect_program::{file, stream};
pub(crate) use transect_text::style::{BAR, BOLD, DIM, ERROR, GOOD, WARN};
pub(crate) use transect_text::wrap::{wrap, wrap_lines};
pub(crate) use transect_text::{quote, units};

const DEFAULT_ERRORS_SHOWN: usize = 10;

/// Returns a builder of a table whose errors are printed: all, or the first ten.
pub(crate) fn table_builder(columns: FieldMask, all_errors: bool) -> TableBuilder {
    let builder = TableBuilder::new(columns);
    if all_errors { builder.keep_all_errors() } else { builder }
}

/// Prints a hint, once: some commands open a file twice.
pub(crate) fn hint_once(what: &str) {
    static SHOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if shown.insert(what.to_owned()) {
        hint(what);
    }
}

/// Prints the errors of a walk: all, or the first ten and the number of the others.
pub(crate) fn show_errors(diagnostics: &Diagnostics, all: bool) {
    if diagnostics.kept_errors.is_empty() && diagnostics.errors > 0 {
        let errors = units::counted(diagnostics.errors, "error", "errors");
        return hint(&format!("{errors} while the tree was read; only their number was stored"));
    }
    let shown = if all { diagnostics.kept_errors.len() } else { DEFAULT_ERRORS_SHOWN };
    diagnostics.kept_errors.iter().take(shown).for_each(error);
    let more = diagnostics.errors - shown.min(diagnostics.kept_errors.len()) as u64;
    if more > 0 && !all {
        hint(&format!("{} more errors; use --errors to list all", units::count(more)));
    }
}

/// Prints errors as [`show_errors`] does: those of the time when a stored tree was read. `what` names it.
pub(crate) fn show_stored_errors(what: &str, diagnostics: &Diagnostics, all: bool) {
    if diagnostics.errors == 0 {
        return;
    }
    let errors = units::counted(diagnostics.errors, "error", "errors");
    if diagnostics.kept_errors.is_empty() {
        return hint(&format!("{what}: {errors} when it was read; only their number was stored"));
    }
    note(&format!("{what}: {errors} when it was read:"));
    show_errors(diagnostics, all);
    let without_path = diagnostics.errors - diagnostics.kept_errors.len() as u64;
    if all && without_path > 0 {
        hint(&format!(
            "{} more errors were stored without their paths",
            units::count(without_path)
        ));
    }
}

/// Returns a line with a path for standard output: raw bytes, or quoted for a terminal.
pub(crate) fn path_line(path: &Path) -> Vec<u8> {
    let mut line = if stream::stdout_is_terminal() {
        quote::for_terminal(path.as_os_str()).into_bytes()
    } else {
        path.as_os_str().as_encoded_bytes().to_vec()
    };
    line.push(b'\n');
    line
}
