//! The rows of a table as batches of columns, made when a consumer asks for the next one.

use std::path::{MAIN_SEPARATOR, is_separator};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use transect::FileType;
use transect::table::{Children, Row, Table};
use transect_snapshot::LiveTree;

use crate::columns::{Block, BlockRow, Column, ColumnBuilder};
use crate::rows::BATCH_ROWS;

const _: () = assert!(BATCH_ROWS.is_multiple_of(BLOCK_ROWS));

/// Rows in a block, at most: so few that they stay in the processor's cache from one column to the next.
const BLOCK_ROWS: usize = 512;

/// All entries of a table in tree order: a directory before its entries, which are sorted by the
/// bytes of their names.
pub(crate) struct TableBatches {
    tree: Arc<LiveTree>,
    columns: Vec<Column>,
    schema: SchemaRef,
    /// Whether the table may hold directories that no filter selected.
    filtered: bool,
    position: Position,
}

/// Where in the table the next row is.
struct Position {
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
        let position = Position { roots, open: Vec::new(), path: Vec::new() };
        let schema = Arc::new(schema(&columns));
        Self { tree, columns, schema, filtered, position }
    }
}

impl Position {
    /// Sets `path` to that of the next row, and returns the row with what is known about its path;
    /// `None` after the last one.
    fn step(&mut self, table: &Table) -> Option<Step> {
        loop {
            let Some(directory) = self.open.last_mut() else {
                let row = self.roots.pop()?;
                self.path.clear();
                return Some(self.enter(table, row, 0, true));
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
            return Some(self.enter(table, row, dir_length, is_utf8));
        }
    }

    fn enter(&mut self, table: &Table, row: Row, dir_length: usize, dir_is_utf8: bool) -> Step {
        let name = table.name(row).as_encoded_bytes();
        self.path.extend_from_slice(name);
        // A path that the system accepts has fewer steps than bytes.
        let depth = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        let is_utf8 = dir_is_utf8 && str::from_utf8(name).is_ok();
        if table.file_type(row) == FileType::Directory {
            let length = self.path.len();
            let separated = name.last().is_some_and(|&byte| is_separator(byte.into()));
            let entries = table.children(row);
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
    depth: u32,
}

/// Returns the names and types of columns, all of which may contain nulls.
pub(crate) fn schema(columns: &[Column]) -> Schema {
    let field = |column: &Column| Field::new(column.name(), column.data_type(), true);
    Schema::new(columns.iter().map(field).collect::<Vec<_>>())
}

impl Iterator for TableBatches {
    type Item = RecordBatch;

    fn next(&mut self) -> Option<RecordBatch> {
        let table = self.tree.table();
        let room = BATCH_ROWS.min(usize::try_from(table.len()).unwrap_or(BATCH_ROWS));
        let builder = |column: &Column| ColumnBuilder::new(*column, room);
        let mut builders: Vec<ColumnBuilder> = self.columns.iter().map(builder).collect();
        let (mut block, mut rows) = (Block::default(), 0);
        while rows < BATCH_ROWS {
            block.rows.clear();
            block.paths.clear();
            while block.rows.len() < BLOCK_ROWS {
                let Some(Step { row, dir_length, is_utf8, depth }) = self.position.step(table)
                else {
                    break;
                };
                if self.filtered && !is_selected(table, row) {
                    continue;
                }
                let begin = block.paths.len();
                block.paths.extend_from_slice(&self.position.path);
                block.rows.push(BlockRow {
                    name: table.name(row),
                    path: begin..block.paths.len(),
                    dir_length,
                    path_is_utf8: is_utf8,
                    depth,
                    attributes: table.attributes(row),
                });
            }
            if block.rows.is_empty() {
                break;
            }
            builders.iter_mut().for_each(|builder| builder.push(&block));
            rows += block.rows.len();
        }
        let finish = || builders.into_iter().map(ColumnBuilder::finish).collect();
        let batch = || RecordBatch::try_new(Arc::clone(&self.schema), finish());
        (rows > 0).then(|| batch().expect("BUG: columns differ in length or type"))
    }
}

/// Returns whether filters selected an entry. A table also has rows for directories that were only
/// passed through, which its totals do not count.
pub(crate) fn is_selected(table: &Table, row: Row) -> bool {
    let below = |row: Row| table.children(row).map(|child| table.totals(child).directories).sum();
    table.file_type(row) != FileType::Directory || table.totals(row).directories > below(row)
}
