//! A table as a small piece of HTML, for notebooks.

use std::ffi::OsStr;
use std::fmt::Write;

use pyo3::prelude::*;
use transect::table::{Row, Table};
use transect_text::units;

/// The entries to list.
const LARGEST: usize = 10;

/// Returns totals, completeness and the largest entries of the roots. Contains no script and no style
/// sheet, and escapes all names.
pub(crate) fn summary(
    py: Python<'_>,
    table: &Table,
    is_selected: impl Fn(Row) -> bool,
) -> PyResult<String> {
    let total = table.grand_total();
    let mut html = String::from("<div><p>");
    for (index, root) in table.roots().enumerate() {
        html.push_str(if index > 0 { ", " } else { "" });
        let _ = write!(html, "<code>{}</code>", escape(py, table.name(root))?);
    }
    let _ = write!(
        html,
        ": {} in {} and {}. ",
        units::bytes(total.disk_usage),
        units::counted(total.files.into(), "file", "files"),
        units::counted(total.directories.into(), "directory", "directories"),
    );
    match table.diagnostics().errors {
        0 => html.push_str("Complete."),
        errors => {
            let errors = units::counted(errors, "error", "errors");
            let _ = write!(html, "<strong>Partial: {errors}.</strong>");
        }
    }
    html.push_str("</p>");
    let usage = |row| table.totals(row).disk_usage;
    let entries =
        table.roots().flat_map(|root| table.children(root)).filter(|&row| is_selected(row));
    let largest = table.largest(entries, LARGEST, usage);
    if !largest.is_empty() {
        html.push_str("<table><tr><th>path</th><th>disk usage</th><th>files</th></tr>");
        for row in largest {
            let _ = write!(
                html,
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(py, table.path(row))?,
                units::bytes(usage(row)),
                units::count(table.totals(row).files.into()),
            );
        }
        html.push_str("</table>");
    }
    html.push_str("</div>");
    Ok(html)
}

/// Escapes what has a meaning in HTML, as Python does.
fn escape(py: Python<'_>, text: impl AsRef<OsStr>) -> PyResult<String> {
    let text = text.as_ref().to_string_lossy();
    py.import("html")?.call_method1("escape", (text,))?.extract()
}
