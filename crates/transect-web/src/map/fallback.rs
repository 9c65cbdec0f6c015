//! The largest entries as a table, for browsers without scripts.

use std::fmt::Write;

use transect::table::{Row, Table};
use transect_text::measure::Measure;

use super::changes::Changes;
use super::columns;
use crate::page::escape_html;

/// The maximum number of rows.
const MAX_ROWS: usize = 100;

/// Returns the HTML of the fallback: the entries of the root, or the roots if there are several.
pub(super) fn write(table: &Table, measure: Measure) -> String {
    let size = |row: Row| measure.size(&table.totals(row));
    let roots: Vec<Row> = table.roots().collect();
    let (rows, total): (Vec<Row>, u64) = match roots.as_slice() {
        [root] => (table.largest(table.children(*root), MAX_ROWS, size), size(*root)),
        roots => (
            table.largest(roots.iter().copied(), MAX_ROWS, size),
            measure.size(&table.grand_total()),
        ),
    };
    let cells = |row: Row| {
        let share = 100.0 * size(row) as f64 / total.max(1) as f64;
        let entries = table.totals(row).entries();
        [size(row).to_string(), format!("{share:.1} %"), entries.to_string()]
    };
    html(table, rows, "are the largest entries", ["bytes", "share", "entries"], cells)
}

/// Returns the HTML of the fallback of a page of changes: the entries of the roots that changed most.
pub(super) fn of_changes(changes: &Changes<'_>) -> String {
    let table = &changes.table;
    let growth = |row: Row| {
        let (before, after) = changes.sizes_of(row);
        i128::from(after.unwrap_or(0)) - i128::from(before.unwrap_or(0))
    };
    let rank = |row: Row| u64::try_from(growth(row).unsigned_abs()).unwrap_or(u64::MAX);
    let entries = table.roots().flat_map(|root| table.children(root));
    let rows = table.largest(entries, MAX_ROWS, rank);
    let known = |size: Option<u64>| size.map_or_else(String::new, |size| size.to_string());
    let cells = |row: Row| {
        let (before, after) = changes.sizes_of(row);
        [known(after), known(before), format!("{:+}", growth(row))]
    };
    html(table, rows, "entries changed most", ["bytes now", "bytes before", "change"], cells)
}

/// Returns a table of names, and of three cells for each.
fn html(
    table: &Table,
    rows: Vec<Row>,
    these: &str,
    columns: [&str; 3],
    cells: impl Fn(Row) -> [String; 3],
) -> String {
    let head = columns.map(|column| format!("<th>{column}</th>")).concat();
    let mut out = format!(
        "<p>The map requires scripts. These {these}.</p>\n\
         <table><thead><tr><th>name</th>{head}</tr></thead><tbody>\n"
    );
    for row in rows {
        let name = escape_html(&columns::text(table.name(row)));
        let cells = cells(row).map(|cell| format!("<td>{cell}</td>")).concat();
        let _ = writeln!(out, "<tr><td><bdi>{name}</bdi></td>{cells}</tr>");
    }
    out.push_str("</tbody></table>\n");
    out
}
