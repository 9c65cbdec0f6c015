//! What is looked at, and what keys make of it. Nothing here touches the terminal or the disk:
//! what has to be done outside is a [`Effect`], and comes back as an [`Message`].

mod largest_files;
mod listing;
mod navigation;
mod removal;
mod search;
mod search_results;
mod table_update;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use transect::ProgressCounts;
use transect::table::{Row, Table};

use crate::cursor::Cursor;
use crate::keys::{self, Action, Context};
use crate::message::{Effect, Job, Message, RemovalKind, RequestId};
use crate::sort::{Measure, SortKey, SortOrder};
use crate::tree;
use crate::view_options::ViewOptions;
use transect_text::units::counted;

pub(crate) use largest_files::LargestFiles;
pub(crate) use listing::Listing;
pub(crate) use removal::{Confirmation, KeptEntries, RemovalProgress};
pub(crate) use search::Prompt;
pub(crate) use search_results::SearchResults;

/// How far the table is what is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadState {
    /// The tree is read for the first time, and the table is an outline of what is known.
    First,
    /// The tree is read again, and the table is the one before.
    Again,
    /// It has been read.
    Done,
}

/// What lies above the directory.
#[derive(Debug)]
pub(crate) enum Overlay {
    None,
    Help(Cursor),
    Errors(Cursor),
    Prompt(Prompt),
    SearchResults(SearchResults),
    Confirmation(Confirmation),
    RemovalProgress(RemovalProgress),
    KeptEntries(KeptEntries),
}

/// Whether an entry is described at length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PanelState {
    /// If nobody said so, it is where there is room.
    pub(crate) wanted: Option<bool>,
    pub(crate) shown: bool,
}

/// What is said at the bottom until the next key.
#[derive(Debug)]
pub(crate) struct StatusMessage {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// All that is shown and kept.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) table: Arc<Table>,
    pub(crate) read_state: ReadState,
    pub(crate) counts: ProgressCounts,
    pub(crate) elapsed: Duration,
    /// The directory that is shown; none is the list of the roots.
    pub(crate) directory: Option<Row>,
    pub(crate) listing: Listing,
    pub(crate) order: SortOrder,
    pub(crate) marks: HashSet<Row>,
    /// What was removed since the tree was read.
    pub(crate) removed_rows: HashSet<Row>,
    pub(crate) overlay: Overlay,
    pub(crate) largest_files: Option<LargestFiles>,
    pub(crate) panel: PanelState,
    pub(crate) message: Option<StatusMessage>,
    pub(crate) read_only: bool,
    effects: Vec<Effect>,
    request: RequestId,
}

impl App {
    /// Begins with an empty table: the tree is being read.
    pub(crate) fn new(empty: Arc<Table>, view: &ViewOptions) -> Self {
        let measure = if view.apparent { Measure::Apparent } else { Measure::DiskUsage };
        Self {
            table: empty,
            read_state: ReadState::First,
            counts: ProgressCounts::default(),
            elapsed: Duration::ZERO,
            directory: None,
            listing: Listing::default(),
            order: SortOrder::by(SortKey::default(), measure),
            marks: HashSet::new(),
            removed_rows: HashSet::new(),
            overlay: Overlay::None,
            largest_files: None,
            panel: PanelState::default(),
            message: None,
            read_only: view.read_only,
            effects: Vec::new(),
            request: RequestId::default(),
        }
    }

    /// Returns what has to be done outside, once.
    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Returns where keys are pressed.
    pub(crate) fn context(&self) -> Context {
        match self.overlay {
            Overlay::None => Context::Directory,
            Overlay::Help(_)
            | Overlay::Errors(_)
            | Overlay::SearchResults(_)
            | Overlay::KeptEntries(_) => Context::List,
            Overlay::Prompt(_) => Context::Prompt,
            Overlay::Confirmation(_) => Context::Confirmation,
            Overlay::RemovalProgress(_) => Context::Removal,
        }
    }

    /// Takes a key.
    pub(crate) fn press(&mut self, event: KeyEvent) {
        self.message = None;
        match keys::action_for(self.context(), event) {
            Some(action) => self.act(action),
            None => self.type_in(event),
        }
    }

    /// Takes a text that was pasted: it is typed where something is typed, and nowhere else are its
    /// letters keys, as nobody pressed them.
    pub(crate) fn paste(&mut self, text: &str) {
        text.chars().filter(|letter| !letter.is_control()).for_each(|letter| self.typed(letter));
    }

    /// What means nothing is typed, where something is typed.
    fn type_in(&mut self, event: KeyEvent) {
        let modifiers = KeyModifiers::CONTROL | KeyModifiers::ALT;
        if let (Overlay::Prompt(_), KeyCode::Char(letter)) = (&self.overlay, event.code)
            && !event.modifiers.intersects(modifiers)
        {
            self.typed(letter);
        }
    }

    fn act(&mut self, action: Action) {
        match (self.context(), action) {
            (_, Action::Quit) => self.push_effect(Effect::Quit),
            (Context::Directory, action) => self.act_in_directory(action),
            (Context::List, action) => self.act_in_list(action),
            (Context::Prompt, action) => self.act_in_prompt(action),
            (Context::Confirmation, action) => self.act_in_confirmation(action),
            (Context::Removal, action) => self.act_in_removal(action),
        }
    }

    fn act_in_directory(&mut self, action: Action) {
        match action {
            Action::Move(motion) => self.listing.move_by(motion),
            Action::Enter => self.enter(),
            Action::Leave => self.leave(),
            Action::NextLargest => self.next_largest(),
            Action::PreviousLargest => self.previous_largest(),
            Action::Sort(key) => self.sort(self.order.select_key(key)),
            Action::ToggleMeasure => {
                self.sort(SortOrder { measure: self.order.measure.other(), ..self.order });
            }
            Action::TogglePanel => self.panel.wanted = Some(!self.panel.shown),
            Action::ToggleMark => self.mark(),
            Action::MarkAll => self.marks.extend(self.listing.rows()),
            Action::UnmarkAll => self.marks.clear(),
            Action::Search => {
                self.overlay = Overlay::Prompt(Prompt::search(self.listing.selected()))
            }
            Action::Find => self.overlay = Overlay::Prompt(Prompt::find()),
            Action::Errors => self.show_errors(),
            Action::Help => self.overlay = Overlay::Help(Cursor::default()),
            Action::Rescan => self.rescan(),
            Action::Open => self.with_selected(Effect::Open),
            Action::Shell => self.shell(),
            Action::Delete => self.confirm_removal(RemovalKind::Delete),
            Action::Trash => self.confirm_removal(RemovalKind::Trash),
            Action::Redraw => self.push_effect(Effect::Redraw),
            Action::Suspend => self.push_effect(Effect::Suspend),
            _ => {}
        }
    }

    fn act_in_list(&mut self, action: Action) {
        let errors = self.table.diagnostics().kept_errors.len();
        match (&mut self.overlay, action) {
            (_, Action::Close) => self.overlay = Overlay::None,
            (Overlay::Help(cursor), Action::Move(motion)) => {
                cursor.move_by(motion, keys::BINDINGS.len() * 2)
            }
            (Overlay::Errors(cursor), Action::Move(motion)) => cursor.move_by(motion, errors),
            (Overlay::Errors(cursor), Action::GoTo) => {
                let error = self.table.diagnostics().kept_errors.get(cursor.index());
                let row = error.and_then(|error| tree::find_path(&self.table, error.path()));
                self.overlay = Overlay::None;
                self.jump(row);
            }
            (Overlay::KeptEntries(kept), Action::Move(motion)) => kept.move_by(motion),
            (Overlay::SearchResults(found), Action::Move(motion)) => found.move_by(motion),
            (Overlay::SearchResults(found), Action::GoTo) => {
                let row = found.selected();
                self.overlay = Overlay::None;
                self.jump(row);
            }
            _ => {}
        }
    }

    /// Takes what came of a effect.
    pub(crate) fn handle(&mut self, message: Message) {
        match message {
            Message::PartialTable(table) if self.read_state == ReadState::First => {
                self.replace(table, ReadState::First);
            }
            // Told before everything had been read, and heard afterwards.
            Message::PartialTable(_) => {}
            Message::Table(table) => self.replace(table, ReadState::Done),
            Message::Sorted { request, entries } if self.listing.awaits(request) => {
                self.listing.set_sorted(entries);
            }
            Message::Found { request, rows, total } => {
                if let Overlay::SearchResults(found) = &mut self.overlay {
                    found.take(request, rows, total);
                }
            }
            Message::Largest { request, rows } => self.set_largest(request, rows),
            Message::Sorted { .. } => {}
            Message::Summarized { request, summary } => self.set_summary(request, summary),
            Message::RemovalProgress { counts, last } => self.set_removal_progress(counts, last),
            Message::Removed { table, report } => self.finish_removal(&table, &report),
            Message::RemovalFailed(why) => self.fail_removal(why),
            Message::Error(text) => self.error(text),
        }
    }

    /// Takes how far the walk is.
    pub(crate) fn progress(&mut self, counts: ProgressCounts, elapsed: Duration) {
        (self.counts, self.elapsed) = (counts, elapsed);
    }

    fn mark(&mut self) {
        let Some(row) = self.listing.selected() else { return };
        if !self.marks.remove(&row) {
            self.marks.insert(row);
        }
        self.listing.move_by(crate::cursor::Motion::Down);
    }

    fn show_errors(&mut self) {
        match self.table.diagnostics().errors {
            0 => self.note("everything could be read"),
            // While the tree is read, errors are counted only.
            _ if self.table.diagnostics().kept_errors.is_empty() => {
                self.note("errors are listed at the end")
            }
            _ => self.overlay = Overlay::Errors(Cursor::default()),
        }
    }

    fn rescan(&mut self) {
        match self.read_state {
            ReadState::Done => self.request_rescan(),
            ReadState::First | ReadState::Again => self.note("it is being read"),
        }
    }

    /// Wishes that everything be read again, also if that is being done: something has changed since
    /// it began.
    fn request_rescan(&mut self) {
        let removed = self.table.roots().filter(|root| self.removed_rows.contains(root));
        let without = removed.map(|root| self.table.path(root)).collect();
        self.read_state = ReadState::Again;
        self.push_effect(Effect::Rescan { without });
    }

    fn shell(&mut self) {
        let directory = match self.directory {
            Some(directory) => self.table.path(directory),
            None => PathBuf::from("."),
        };
        self.push_effect(Effect::Shell(directory));
    }

    fn with_selected(&mut self, effect: impl FnOnce(PathBuf) -> Effect) {
        if let Some(row) = self.listing.selected() {
            self.push_effect(effect(self.table.path(row)));
        }
    }

    /// Returns what is acted on: what is marked, or else the entry; entries of one directory in the
    /// order of their names.
    pub(crate) fn targets(&self) -> Vec<Row> {
        if self.marks.is_empty() {
            return self.listing.selected().into_iter().collect();
        }
        let mut rows: Vec<Row> = self.marks.iter().copied().collect();
        rows.sort_unstable();
        rows
    }

    fn next_request(&mut self) -> RequestId {
        self.request = self.request.next();
        self.request
    }

    /// Wishes for something to be found out of the table that is shown.
    fn request(&mut self, job: Job) {
        self.push_effect(Effect::RunJob(Arc::clone(&self.table), job));
    }

    fn push_effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.message = Some(StatusMessage { text: text.into(), is_error: false });
    }

    fn error(&mut self, text: String) {
        self.message = Some(StatusMessage { text, is_error: true });
    }

    /// Returns what is marked, in words; nothing if nothing is.
    pub(crate) fn marked(&self) -> Option<String> {
        let marked = self.marks.len() as u64;
        (marked > 0).then(|| counted(marked, "entry marked", "entries marked"))
    }
}
