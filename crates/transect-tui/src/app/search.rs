//! Prompts: search in the current directory while typing, or find in the whole tree.

use transect::table::Row;
use transect_remove::RemovalKind;

use super::{App, Overlay, ReadState};
use crate::cursor::{Cursor, Motion};
use crate::keys::Action;
use crate::message::{Job, Query, RequestId};
use crate::pattern::Pattern;
use transect_text::quote;

#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) purpose: Purpose,
    /// No entry of this directory matches.
    pub(crate) fails: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Selects a match in this directory. Cancelling selects the previous entry again.
    Search { from: Option<Row> },
    /// Finds in the whole tree.
    Find,
}

impl Prompt {
    pub(super) fn new(purpose: Purpose) -> Self {
        Self { text: String::new(), purpose, fails: false }
    }

    pub(crate) fn label(&self) -> &'static str {
        match self.purpose {
            Purpose::Search { .. } => "search here: ",
            Purpose::Find => "find in tree: ",
        }
    }
}

/// The entries found in the whole tree, the largest first.
#[derive(Debug)]
pub(crate) struct SearchResults {
    pub(crate) query: Query,
    pub(crate) title: String,
    pub(crate) rows: Vec<Row>,
    /// The number of matches, of which only the largest are listed; `None` while searching.
    pub(crate) total: Option<u64>,
    pub(crate) cursor: Cursor,
    pub(super) request: RequestId,
}

impl SearchResults {
    pub(super) fn selected(&self) -> Option<Row> {
        self.rows.get(self.cursor.index).copied()
    }
}

impl App {
    pub(super) fn act_in_found(&mut self, action: Action) {
        if self.lacks_disk(action) {
            return;
        }
        let Overlay::SearchResults(found) = &mut self.overlay else { return };
        match action {
            Action::Move(motion) => found.cursor.move_by(motion, found.rows.len()),
            Action::GoTo => {
                let row = found.selected();
                self.jump(row);
            }
            Action::ToggleMark => {
                let row = found.selected();
                found.cursor.move_by(Motion::Down, found.rows.len());
                row.into_iter().for_each(|row| self.toggle_mark(row));
            }
            // What lies below others is removed with them.
            Action::MarkAll => {
                self.marks.extend(self.table.outermost(found.rows.iter().copied()));
            }
            Action::UnmarkAll => self.marks.clear(),
            Action::Trash => self.confirm_removal(RemovalKind::Trash),
            Action::Delete => self.confirm_removal(RemovalKind::Delete),
            Action::Close => self.overlay = Overlay::None,
            _ => {}
        }
    }

    pub(super) fn typed(&mut self, letter: char) {
        if let Overlay::Prompt(prompt) = &mut self.overlay {
            prompt.text.push(letter);
            self.search_on();
        }
    }

    pub(super) fn act_in_prompt(&mut self, action: Action) {
        let Overlay::Prompt(prompt) = &mut self.overlay else { return };
        match action {
            Action::Erase => {
                // Backspace in an empty prompt closes it.
                if prompt.text.pop().is_none() {
                    self.give_up();
                } else {
                    self.search_on();
                }
            }
            Action::EraseAll => {
                prompt.text.clear();
                self.search_on();
            }
            Action::NextMatch => self.search_next(true),
            Action::PreviousMatch => self.search_next(false),
            Action::Accept => self.accept(),
            Action::Close => self.give_up(),
            _ => {}
        }
    }

    fn give_up(&mut self) {
        if let Overlay::Prompt(Prompt { purpose: Purpose::Search { from: Some(row) }, .. }) =
            self.overlay
        {
            self.listing.select(row);
        }
        self.overlay = Overlay::None;
    }

    fn accept(&mut self) {
        let Overlay::Prompt(prompt) = std::mem::replace(&mut self.overlay, Overlay::None) else {
            return;
        };
        if prompt.purpose != Purpose::Find || prompt.text.is_empty() {
            return;
        }
        self.find(Query::Named(prompt.text));
    }

    /// Lists the largest files below this directory.
    pub(super) fn list_largest_files(&mut self) {
        match self.read_state {
            ReadState::First => self.note("files are known when reading is done"),
            ReadState::Again | ReadState::Done => self.find(Query::FilesBelow(self.directory)),
        }
    }

    pub(super) fn find(&mut self, query: Query) {
        let title = match &query {
            Query::Named(text) => format!("“{}”", quote::for_terminal(text.as_ref())),
            Query::FilesBelow(Some(directory)) => {
                let path = self.table.path(*directory);
                format!("files below {}", quote::for_terminal(path.as_os_str()))
            }
            Query::FilesBelow(None) => "files below all roots".to_owned(),
        };
        let request = self.request(Job::Find { query: query.clone(), measure: self.order.measure });
        let (rows, cursor) = (Vec::new(), Cursor::default());
        let found = SearchResults { query, title, rows, total: None, cursor, request };
        self.overlay = Overlay::SearchResults(found);
    }

    /// Selects the first match, beginning with the entry where the search started.
    fn search_on(&mut self) {
        let Overlay::Prompt(prompt) = &self.overlay else { return };
        let Purpose::Search { from } = prompt.purpose else { return };
        let rows = &self.listing.entries.rows;
        let start = from.and_then(|from| rows.iter().position(|&row| row == from)).unwrap_or(0);
        self.select_match(start, true);
    }

    fn search_next(&mut self, forward: bool) {
        let length = self.listing.entries.rows.len().max(1);
        let start = self.listing.index() + if forward { 1 } else { length - 1 };
        self.select_match(start % length, forward);
    }

    /// Selects the first match from `start` on, and wraps around.
    fn select_match(&mut self, start: usize, forward: bool) {
        let Overlay::Prompt(prompt) = &mut self.overlay else { return };
        let pattern = Pattern::new(&prompt.text);
        let rows = &self.listing.entries.rows;
        let matching = |at: &usize| pattern.matches(self.table.name(rows[*at]));
        let found = match forward {
            true => (start..rows.len()).chain(0..start.min(rows.len())).find(matching),
            false => {
                let end = (start + 1).min(rows.len());
                (0..end).rev().chain((end..rows.len()).rev()).find(matching)
            }
        };
        prompt.fails = found.is_none();
        if let Some(at) = found {
            self.listing.select_at(at);
        }
    }
}
