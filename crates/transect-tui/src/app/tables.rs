//! Another table of the same tree: everybody stays where he is, by paths.

use std::sync::Arc;

use transect::table::Table;

use super::{App, Over, Reading};
use crate::tree;

impl App {
    /// Shows another table.
    pub(super) fn replace(&mut self, table: Arc<Table>, reading: Reading) {
        let old = std::mem::replace(&mut self.table, table);
        let same = |row| tree::same(&old, row, &self.table);
        let index = self.listing.index();
        let chosen = self.listing.selected().filter(|_| self.listing.is_chosen());
        let (was_chosen, selected) = (chosen.is_some(), chosen.and_then(same));
        self.marks = self.marks.iter().copied().filter_map(same).collect();
        let still_looking = match &mut self.over {
            Over::Found(found) if found.total.is_none() => Some(found.text.clone()),
            Over::Found(found) => {
                found.replace(same);
                None
            }
            _ => None,
        };
        let at = self.at.and_then(|at| tree::nearest(&old, at, &self.table));
        self.biggest = None;
        self.gone.clear();
        self.reading = reading;
        self.show(at.or_else(|| tree::home(&self.table)), selected);
        self.ask_again(&old);
        if let Some(text) = still_looking {
            // What will be found in the table before is nothing in this one.
            self.find(text);
        }
        if was_chosen && selected.is_none() {
            // It is gone: whoever goes through a list goes on where it was.
            self.listing.select_at(index);
        }
    }
}
