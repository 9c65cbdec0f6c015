//! Trees in memory.

use std::ffi::c_void;

use transect::table::{Row, Table};

use crate::attributes::CAttributes;
use crate::boundary::{Out, OutArray, Text, functions, guard_or, objects, required, write_path};
use crate::failure::Failure;
use crate::options::WalkOptions;
use crate::walk::{OnError, WalkCounts, report_errors};

/// `TRANSECT_NO_ROW`: no table has a row with this number.
pub const NO_ROW: u32 = u32::MAX;

/// `transect_totals`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct Totals {
    pub files: u64,
    pub directories: u64,
    pub others: u64,
    pub apparent: u64,
    pub disk_usage: u64,
    pub exclusive: u64,
    pub errors: u64,
    pub newest: i64,
    pub unread: u64,
    pub reserved: [u64; 4],
}

functions! {
    transect_table_read(
        path: Text<'_>, options: Option<&WalkOptions>, table: Out<'_, Box<Table>>
    ) {
        let (root, out) = (path.path("path")?, required(table, "table")?);
        let options = options.cloned().unwrap_or_default();
        let columns = options.fields();
        let table = Table::read_with(options.with_root(&root), columns)?;
        options.require_not_cancelled()?;
        out.write(Box::new(table));
    }
}

objects! {
    Table: transect_table_free;
}

/// Returns the number of the row that `find` returns in a table, or [`NO_ROW`].
fn row_number(table: Option<&Table>, find: impl FnOnce(&Table) -> Option<Row>) -> u32 {
    guard_or(NO_ROW, || table.and_then(find).map_or(NO_ROW, Row::number))
}

/// Returns the root.
#[unsafe(no_mangle)]
pub extern "C" fn transect_table_root(table: Option<&Table>) -> u32 {
    row_number(table, |table| table.roots().next())
}

/// Returns the directory that holds an entry.
#[unsafe(no_mangle)]
pub extern "C" fn transect_table_parent(table: Option<&Table>, row: u32) -> u32 {
    row_number(table, |table| table.parent(table.row(row)?))
}

/// Returns the entry of a directory with a name.
#[unsafe(no_mangle)]
pub extern "C" fn transect_table_child(
    table: Option<&Table>,
    directory: u32,
    name: Text<'_>,
) -> u32 {
    row_number(table, |table| {
        let name = name.path("name").ok()?;
        table.child(table.row(directory)?, name.as_os_str())
    })
}

/// Returns the first entry of a directory, and how many there are.
#[unsafe(no_mangle)]
pub extern "C" fn transect_table_children(
    table: Option<&Table>,
    directory: u32,
    count: Out<'_, u32>,
) -> u32 {
    let mut found = 0;
    let first = row_number(table, |table| {
        let mut children = table.children(table.row(directory)?);
        found = children.len() as u32;
        children.next()
    });
    if let Some(count) = count {
        count.write(found);
    }
    first
}

/// Returns the next entry in and below `top`.
#[unsafe(no_mangle)]
pub extern "C" fn transect_table_next(table: Option<&Table>, top: u32, row: u32) -> u32 {
    row_number(table, |table| {
        let (top, mut row) = (table.row(top)?, table.row(row)?);
        if let Some(first) = table.children(row).next() {
            return Some(first);
        }
        while row != top {
            let parent = table.parent(row)?;
            let next = table.row(row.number() + 1);
            if next.is_some() && next <= table.children(parent).next_back() {
                return next;
            }
            row = parent;
        }
        None
    })
}

/// Returns the name of an entry.
#[unsafe(no_mangle)]
pub extern "C" fn transect_table_name(
    table: Option<&Table>,
    row: u32,
    buffer: OutArray<'_, u8>,
    capacity: usize,
) -> usize {
    write_path(buffer, capacity, || {
        table.and_then(|table| Some(table.name(table.row(row)?).into()))
    })
}

/// Returns the path of an entry.
#[unsafe(no_mangle)]
pub extern "C" fn transect_table_path(
    table: Option<&Table>,
    row: u32,
    buffer: OutArray<'_, u8>,
    capacity: usize,
) -> usize {
    write_path(buffer, capacity, || table.and_then(|table| Some(table.path(table.row(row)?))))
}

fn find_row(table: &Table, row: u32) -> Result<Row, Failure<'static>> {
    table.row(row).ok_or_else(|| Failure::Invalid(format!("there is no row {row}").into()))
}

functions! {
    table: &Table;
    transect_table_counts(counts: Out<'_, WalkCounts>) {
        required(counts, "counts")?.write(WalkCounts::new(table.len(), table.diagnostics()));
    }
    transect_table_errors(on_error: Option<OnError>, context: *mut c_void) {
        let on_error = required(on_error, "on_error")?;
        report_errors(&table.diagnostics().kept_errors, on_error, context);
    }
    transect_table_attributes(row: u32, attributes: Out<'_, CAttributes>) {
        let row = find_row(table, row)?;
        required(attributes, "attributes")?.write((&table.attributes(row)).into());
    }
    transect_table_totals(row: u32, totals: Out<'_, Totals>) {
        let row = find_row(table, row)?;
        let found = table.totals(row);
        required(totals, "totals")?.write(Totals {
            files: found.files.into(),
            directories: found.directories.into(),
            others: found.others.into(),
            apparent: found.apparent,
            disk_usage: found.disk_usage,
            exclusive: table.exclusive(row),
            errors: table.errors(row),
            newest: found.newest().unwrap_or(i64::MIN),
            unread: table.unread_reason(row).is_some().into(),
            reserved: [0; 4],
        });
    }
}
