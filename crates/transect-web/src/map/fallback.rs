//! The largest entries as a table, for browsers without scripts.

use std::fmt::Write;

use transect::table::{Row, Table};

use super::columns;
use super::measure::Measure;
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
    let mut out = String::from(
        "<p>The map requires scripts. These are the largest entries.</p>\n\
         <table><thead><tr><th>name</th><th>bytes</th><th>share</th><th>entries</th></tr></thead>\
         <tbody>\n",
    );
    for row in rows {
        let (name, sums) = (columns::text(table.name(row)), table.totals(row));
        let share = 100.0 * size(row) as f64 / total.max(1) as f64;
        let _ = writeln!(
            out,
            "<tr><td><bdi>{}</bdi></td><td>{}</td><td>{share:.1} %</td><td>{}</td></tr>",
            escape_html(&name),
            size(row),
            sums.entries()
        );
    }
    out.push_str("</tbody></table>\n");
    out
}
