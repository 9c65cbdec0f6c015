//! Jumping to the largest files below a directory.

use transect::table::Row;

use super::{App, ReadState};
use crate::message::{Job, MAX_LISTED, RequestId};
use transect_text::units::counted;

/// The largest files below a directory, and the current one.
#[derive(Debug)]
pub(crate) struct LargestFiles {
    below: Option<Row>,
    request: RequestId,
    rows: Vec<Row>,
    at: usize,
}

impl LargestFiles {
    /// Returns the current file.
    fn current(&self) -> Option<Row> {
        self.rows.get(self.at).copied()
    }
}

impl App {
    /// Goes to the largest file below this directory; from there to the next largest.
    pub(super) fn next_largest(&mut self) {
        if self.read_state == ReadState::First {
            self.note("files are known when reading is done");
            return;
        }
        match self.current_series() {
            Some(files) => {
                files.at = (files.at + 1).min(files.rows.len());
                self.go_to_largest();
            }
            None => {
                let (request, below) = (self.next_request(), self.directory);
                self.largest_files = Some(LargestFiles { below, request, rows: Vec::new(), at: 0 });
                self.request(Job::Largest { request, below });
            }
        }
    }

    pub(super) fn previous_largest(&mut self) {
        match self.current_series() {
            Some(files) if files.at > 0 => {
                files.at -= 1;
                self.go_to_largest();
            }
            Some(_) => self.note("no larger file"),
            None => self.note("b goes to the largest file"),
        }
    }

    pub(super) fn set_largest(&mut self, request: RequestId, rows: Vec<Row>) {
        if let Some(files) = self.largest_files.as_mut().filter(|files| files.request == request) {
            files.rows = rows;
            self.go_to_largest();
        }
    }

    /// Returns the current series, if one of its files is selected. Otherwise the next jump starts
    /// a new one.
    fn current_series(&mut self) -> Option<&mut LargestFiles> {
        let selected = self.listing.selected();
        self.largest_files.as_mut().filter(|it| it.current().is_some() && it.current() == selected)
    }

    fn go_to_largest(&mut self) {
        let Some(LargestFiles { below, rows, at, .. }) = &self.largest_files else { return };
        let Some(&row) = rows.get(*at) else {
            let length = rows.len();
            if let Some(files) = &mut self.largest_files {
                files.at = length.saturating_sub(1);
            }
            self.note(if length == 0 { "no files below" } else { "no more files below" });
            return;
        };
        let place = match below {
            Some(below) => transect_text::quote::for_terminal(self.table.path(*below).as_os_str()),
            None => "all roots".to_owned(),
        };
        let (number, of) = (at + 1, counted(rows.len() as u64, "file", "files"));
        let limit = if rows.len() == MAX_LISTED { "the largest " } else { "" };
        self.jump(Some(row));
        self.note(format!("{number} of {limit}{of} below {place}"));
    }
}
