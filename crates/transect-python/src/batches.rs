//! The rows of a table as batches of columns, made when a consumer asks for the next one.

use std::ffi::OsStr;
use std::path::{MAIN_SEPARATOR, is_separator};
use std::sync::Arc;

use transect::FileType;
use transect::table::{Children, Row, Table};
use transect_snapshot::LiveTree;

use crate::arrow::array::{Array, Field};
use crate::arrow::interface::BatchSource;
use crate::columns::{Column, ColumnBuilder, RowValues};

/// Rows in a batch, except the last.
const BATCH_ROWS: usize = 65_536;

/// All entries of a table in tree order: a directory before its entries, which are sorted by the
/// bytes of their names.
pub(crate) struct TableBatches {
    tree: Arc<LiveTree>,
    columns: Vec<Column>,
    /// Whether the table may hold directories that no filter selected.
    filtered: bool,
    roots: Vec<Row>,
    open: Vec<OpenDirectory>,
    path: Vec<u8>,
}

/// A directory whose entries are being returned.
struct OpenDirectory {
    entries: Children,
    /// The length of its path, without and with a separator.
    length: usize,
    prefix: usize,
    is_utf8: bool,
}

impl TableBatches {
    pub(crate) fn new(tree: Arc<LiveTree>, columns: Vec<Column>, filtered: bool) -> Self {
        let roots = tree.table().roots().rev().collect();
        Self { tree, columns, filtered, roots, open: Vec::new(), path: Vec::new() }
    }

    /// Sets `path` to that of the next row, and returns the row with what is known about its path;
    /// `None` after the last one.
    fn step(&mut self) -> Option<Step> {
        loop {
            let Some(directory) = self.open.last_mut() else {
                let row = self.roots.pop()?;
                self.path.clear();
                return Some(self.enter(row, 0, true));
            };
            let Some(row) = directory.entries.next() else {
                self.open.pop();
                continue;
            };
            self.path.resize(directory.length, 0);
            if directory.prefix > directory.length {
                self.path.push(MAIN_SEPARATOR as u8);
            }
            let (dir_length, is_utf8) = (directory.length, directory.is_utf8);
            return Some(self.enter(row, dir_length, is_utf8));
        }
    }

    fn enter(&mut self, row: Row, dir_length: usize, dir_is_utf8: bool) -> Step {
        let name = self.tree.table().name(row).as_encoded_bytes();
        self.path.extend_from_slice(name);
        let (depth, is_utf8) = (self.open.len(), dir_is_utf8 && str::from_utf8(name).is_ok());
        if self.tree.table().file_type(row) == FileType::Directory {
            let length = self.path.len();
            let separated = name.last().is_some_and(|&byte| is_separator(byte.into()));
            let entries = self.tree.table().children(row);
            let prefix = length + usize::from(!separated);
            self.open.push(OpenDirectory { entries, length, prefix, is_utf8 });
        }
        Step { row, dir_length, is_utf8, depth }
    }
}

struct Step {
    row: Row,
    dir_length: usize,
    is_utf8: bool,
    depth: usize,
}

impl BatchSource for TableBatches {
    fn fields(&self) -> Vec<Field> {
        self.columns.iter().map(|column| column.field()).collect()
    }

    fn metadata(&self) -> Vec<(&'static str, String)> {
        let complete = self.tree.table().diagnostics().is_complete();
        vec![
            ("transect.version", env!("CARGO_PKG_VERSION").to_owned()),
            ("transect.complete", complete.to_string()),
        ]
    }

    fn rows(&self) -> usize {
        self.tree
            .table()
            .iter()
            .filter(|&row| !self.filtered || is_selected(self.tree.table(), row))
            .count()
    }

    fn next_batch(&mut self) -> Option<(usize, Vec<Array>)> {
        let room = BATCH_ROWS.min(usize::try_from(self.tree.table().len()).unwrap_or(BATCH_ROWS));
        let builder = |column: &Column| ColumnBuilder::new(*column, room);
        let mut builders: Vec<ColumnBuilder> = self.columns.iter().map(builder).collect();
        let mut rows = 0;
        while rows < BATCH_ROWS {
            let Some(Step { row, dir_length, is_utf8, depth }) = self.step() else { break };
            if self.filtered && !is_selected(self.tree.table(), row) {
                continue;
            }
            let name: &OsStr = self.tree.table().name(row);
            let attributes = self.tree.table().attributes(row);
            let path_is_utf8 = is_utf8;
            let values =
                RowValues { name, path: &self.path, dir_length, path_is_utf8, depth, attributes };
            builders.iter_mut().for_each(|builder| builder.push(&values));
            rows += 1;
        }
        let columns = builders.into_iter().map(ColumnBuilder::finish).collect();
        (rows > 0).then_some((rows, columns))
    }
}

/// Returns whether filters selected an entry. A table also has rows for directories that were only
/// passed through, which its totals do not count.
pub(crate) fn is_selected(table: &Table, row: Row) -> bool {
    let below = |row: Row| table.children(row).map(|child| table.totals(child).directories).sum();
    table.file_type(row) != FileType::Directory || table.totals(row).directories > below(row)
}
