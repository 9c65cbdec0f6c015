//! The rows of a table in tree order.

use transect_sys::FileType;

use super::{Children, Row, Table};

/// The entries of a table in tree order: a directory before its entries, each of them before everything that
/// follows it in the order of names. Of an entry that a changing directory listed twice, the first one.
#[derive(Clone, Debug)]
pub struct TreeOrder<'t> {
    table: &'t Table,
    first: std::vec::IntoIter<Row>,
    /// The entries that are left of the directories that were entered.
    open: Vec<Children>,
    current: Option<Row>,
}

#[doc(hidden)]
impl Table {
    /// Returns the highest entry above this one, or itself, that is on the same device without another one between: its
    /// path is the shortest to that device.
    pub fn top_of_device(&self, row: Row) -> Row {
        let device = self.attributes(row).device();
        let above = self.ancestors(row);
        above.take_while(|&row| self.attributes(row).device() == device).last().unwrap_or(row)
    }

    /// Returns all entries in tree order.
    pub fn in_tree_order(&self) -> TreeOrder<'_> {
        self.in_tree_order_from(self.roots().collect())
    }

    /// Returns these entries and everything below them in tree order.
    pub fn in_tree_order_from(&self, first: Vec<Row>) -> TreeOrder<'_> {
        TreeOrder { table: self, first: first.into_iter(), open: Vec::new(), current: None }
    }
}

impl<'t> TreeOrder<'t> {
    /// Returns the table.
    pub fn table(&self) -> &'t Table {
        self.table
    }

    /// Returns the current row.
    ///
    /// # Panics
    /// Before the first one, and after the last.
    pub fn row(&self) -> Row {
        self.current.expect("there is no current entry")
    }

    /// Returns the number of steps from the first rows to the current one.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Goes to the next entry, and returns whether there is one. Unless it `enters`, skips everything below
    /// the current one.
    pub fn advance(&mut self, enters: bool) -> bool {
        if let Some(row) = self.current
            && enters
            && self.table.file_type(row) == FileType::Directory
        {
            self.open.push(self.table.children(row));
        }
        self.go_on()
    }

    fn go_on(&mut self) -> bool {
        let table = self.table;
        while let Some(children) = self.open.last_mut() {
            let before = self.current.take();
            let is_twice = |row: Row| {
                before.is_some_and(|before| {
                    table.name(before) == table.name(row)
                        && table.parent(before) == table.parent(row)
                })
            };
            match children.next() {
                Some(row) if is_twice(row) => self.current = before,
                Some(row) => {
                    self.current = Some(row);
                    return true;
                }
                None => drop(self.open.pop()),
            }
        }
        self.current = self.first.next();
        self.current.is_some()
    }
}
