//! Groups of files of the same content below a directory: searched in the background, listed,
//! marked for removal.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use transect::Cancel;
use transect::table::{Row, Table};
use transect_duplicates::{Duplicates, FindOptions, Progress};
use transect_remove::RemovalKind;

use super::{App, Overlay, ReadState};
use crate::cursor::{Cursor, Motion};
use crate::keys::Action;
use crate::message::{Effect, RequestId};
use crate::tree;
use transect_text::units::counted;

#[derive(Debug)]
pub(crate) struct DuplicateSearch {
    pub(crate) below: Row,
    pub(crate) progress: Arc<Progress>,
    cancel: Cancel,
    pub(crate) is_running: bool,
    pub(crate) groups: Vec<DuplicateGroup>,
    pub(crate) lines: Vec<DuplicateLine>,
    /// Files that could not be compared.
    pub(crate) errors: u64,
    pub(crate) cursor: Cursor,
    request: RequestId,
}

#[derive(Debug)]
pub(crate) struct DuplicateGroup {
    /// The length of each file.
    pub(crate) size: u64,
    /// The files by their names, the one to keep first, and what removing each would free.
    pub(crate) files: Vec<(Vec<Row>, u64)>,
}

impl DuplicateGroup {
    /// Returns the bytes that removing all files but the first would free.
    pub(crate) fn freed(&self) -> u64 {
        self.files.iter().skip(1).fold(0, |sum, (_, freed)| sum.saturating_add(*freed))
    }
}

/// A line of the list, by indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DuplicateLine {
    Group(usize),
    File { group: usize, file: usize },
}

impl Drop for DuplicateSearch {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl DuplicateSearch {
    fn list(&mut self) {
        let lines =
            self.groups.iter().enumerate().flat_map(|(group, DuplicateGroup { files, .. })| {
                let files = (0..files.len()).map(move |file| DuplicateLine::File { group, file });
                std::iter::once(DuplicateLine::Group(group)).chain(files)
            });
        self.lines = lines.collect();
        // Stays within the list.
        self.cursor.move_by(Motion::Down, self.lines.len());
        self.cursor.move_by(Motion::Up, self.lines.len());
    }

    /// Returns the names of the selected file; of a group, those of its first file.
    fn selected(&self) -> Option<&[Row]> {
        let (group, file) = match *self.lines.get(self.cursor.index)? {
            DuplicateLine::Group(group) => (group, 0),
            DuplicateLine::File { group, file } => (group, file),
        };
        Some(&self.groups[group].files[file].0)
    }

    /// Converts the rows to another table. Groups with less than two files left are dropped.
    fn replace(&mut self, same: impl Fn(Row) -> Option<Row>) {
        for group in &mut self.groups {
            for (names, _) in &mut group.files {
                *names = names.iter().copied().filter_map(&same).collect();
            }
            group.files.retain(|(names, _)| !names.is_empty());
        }
        self.groups.retain(|group| group.files.len() > 1);
        self.list();
    }
}

impl App {
    /// Shows the duplicates below this directory: those found before, or searches for them.
    pub(super) fn show_duplicates(&mut self) {
        if self.read_state != ReadState::Done {
            return self.note("duplicates are searched when reading is done");
        }
        let Some(below) = self.directory else { return self.note("open a directory first") };
        match &self.duplicates {
            Some(search) if search.below == below => self.overlay = Overlay::Duplicates,
            _ => self.search_duplicates(below),
        }
    }

    fn search_duplicates(&mut self, below: Row) {
        let request = self.next_request();
        let mut options = FindOptions::default();
        options.below = Some(below);
        let search = DuplicateSearch {
            below,
            progress: Arc::clone(&options.progress),
            cancel: options.cancel.clone(),
            is_running: true,
            groups: Vec::new(),
            lines: Vec::new(),
            errors: 0,
            cursor: Cursor::default(),
            request,
        };
        self.duplicates = Some(search);
        self.overlay = Overlay::Duplicates;
        let table = Arc::clone(&self.table);
        self.push_effect(Effect::FindDuplicates { request, table, options });
    }

    pub(super) fn set_duplicates(
        &mut self,
        request: RequestId,
        table: &Arc<Table>,
        found: Duplicates,
    ) {
        let Some(search) = self.duplicates.as_mut().filter(|it| it.request == request) else {
            return;
        };
        let groups = found.groups.into_iter().map(|group| {
            let files = group.copies.into_iter().map(|copy| (copy.names, copy.freed)).collect();
            DuplicateGroup { size: group.size, files }
        });
        search.groups = groups.collect();
        search.is_running = false;
        search.errors = found.diagnostics.errors + found.diagnostics.vanished;
        search.list();
        search.cursor.index = usize::from(search.lines.len() > 1);
        if !Arc::ptr_eq(table, &self.table) {
            let new = &self.table;
            search.replace(|row| tree::same_path(table, row, new));
        }
    }

    /// Finds the files of the groups in another table.
    pub(super) fn replace_duplicates(&mut self, old: &Table) {
        let Some(mut search) = self.duplicates.take() else { return };
        let same = |row| tree::same_path(old, row, &self.table);
        if let Some(below) = same(search.below) {
            search.below = below;
            search.replace(same);
            self.duplicates = Some(search);
        } else if matches!(self.overlay, Overlay::Duplicates) {
            self.overlay = Overlay::None;
        }
    }

    pub(super) fn act_in_duplicates(&mut self, action: Action) {
        let Some(search) = &mut self.duplicates else { return self.overlay = Overlay::None };
        match action {
            Action::Move(motion) => search.cursor.move_by(motion, search.lines.len()),
            Action::Close => {
                self.overlay = Overlay::None;
                if self.duplicates.take_if(|search| search.is_running).is_some() {
                    self.note("search for duplicates stopped");
                }
            }
            Action::GoTo => {
                let row = search.selected().and_then(|names| names.first().copied());
                self.jump(row);
            }
            Action::ToggleMark => {
                if let Some(DuplicateLine::File { .. }) = search.lines.get(search.cursor.index) {
                    let names = search.selected().unwrap_or_default();
                    let is_marked = names.iter().all(|&row| self.marks.contains(row));
                    for &row in names {
                        let _ =
                            if is_marked { self.marks.remove(row) } else { self.marks.insert(row) };
                    }
                }
                search.cursor.move_by(Motion::Down, search.lines.len());
            }
            Action::MarkAll => {
                let copies = search.groups.iter().flat_map(|group| group.files.iter().skip(1));
                self.marks.extend(copies.flat_map(|(names, _)| names.iter().copied()));
                let marked = counted(self.marks.len() as u64, "entry", "entries");
                self.note(format!("{marked} marked; the first file of each group stays"));
            }
            Action::UnmarkAll => self.marks.clear(),
            Action::FindDuplicates => {
                let below = search.below;
                self.search_duplicates(below);
            }
            Action::Trash => self.remove_marked_duplicates(RemovalKind::Trash),
            Action::Delete => self.remove_marked_duplicates(RemovalKind::Delete),
            _ => {}
        }
    }

    fn remove_marked_duplicates(&mut self, kind: RemovalKind) {
        match self.marks.is_empty() {
            true => self
                .note("nothing is marked; Space marks a file, * all but the first of each group"),
            false => self.confirm_removal(kind),
        }
    }
}
