//! The largest entries as a table, for browsers without scripts.

use std::fmt::Write;

use transect::table::{Row, Table};

use super::changes::Changes;
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

/// Returns the HTML of the fallback of a page of changes: the entries of the roots that changed most.
pub(super) fn of_changes(changes: &Changes<'_>) -> String {
    let table = &changes.table;
    let growth = |row: Row| {
        let (before, after) = changes.sizes_of(row);
        i128::from(after.unwrap_or(0)) - i128::from(before.unwrap_or(0))
    };
    let rank = |row: Row| u64::try_from(growth(row).unsigned_abs()).unwrap_or(u64::MAX);
    let entries = table.roots().flat_map(|root| table.children(root));
    let mut out = String::from(
        "<p>The map requires scripts. These entries changed most.</p>\n\
         <table><thead><tr><th>name</th><th>bytes now</th><th>bytes before</th><th>change</th></tr></thead>\
         <tbody>\n",
    );
    for row in table.largest(entries, MAX_ROWS, rank) {
        let (before, after) = changes.sizes_of(row);
        let known = |size: Option<u64>| size.map_or_else(String::new, |size| size.to_string());
        let _ = writeln!(
            out,
            "<tr><td><bdi>{}</bdi></td><td>{}</td><td>{}</td><td>{:+}</td></tr>",
            escape_html(&columns::text(table.name(row))),
            known(after),
            known(before),
            growth(row)
        );
    }
    out.push_str("</tbody></table>\n");
    out
}
