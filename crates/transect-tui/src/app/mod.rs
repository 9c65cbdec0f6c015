//! The state of the view, and how keys change it. Nothing here accesses the terminal or the disk:
//! the state requests an [`Effect`] and receives its result as a [`Message`].
//!
//! Each part of the view is a file: the state of that part, which [`App`] contains, and the methods of [`App`] that
//! change it. So the two refer to each other on purpose.

mod duplicates;
mod listing;
mod mouse;
mod navigation;
mod preview;
mod removal;
mod search;
mod table_update;
#[cfg(test)]
mod tests;
mod trash;

use std::sync::Arc;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use transect::ProgressCounts;
use transect::table::{Row, RowSet, Table};
use transect_remove::RemovalKind;
use transect_sys::DiskSpace;
use transect_text::measure::Measure;

use crate::cursor::Cursor;
use crate::growth::TreeBefore;
use crate::keys::{self, Action, Context};
use crate::message::{Effect, Job, Message, RequestId};
use crate::sort::{SortKey, SortOrder};
use crate::tree;
use crate::view_options::ViewOptions;

pub(crate) use duplicates::{DuplicateLine, DuplicateSearch};
pub(crate) use listing::Listing;
pub(crate) use mouse::DrawnEntries;
pub(crate) use preview::Preview;
pub(crate) use removal::{Confirmation, KeptEntries, RemovalProgress};
pub(crate) use search::{Prompt, SearchResults};

use search::Purpose;
use trash::TrashState;

/// How the table relates to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadState {
    /// The first walk is running: the table is partial.
    First,
    /// Another walk is running: the table is that of the walk before.
    Again,
    Done,
}

#[derive(Debug)]
pub(crate) enum Overlay {
    None,
    Help(Cursor),
    Errors(Cursor),
    Prompt(Prompt),
    SearchResults(SearchResults),
    /// The groups in [`App::duplicates`].
    Duplicates,
    Confirmation(Confirmation),
    RemovalProgress(RemovalProgress),
    KeptEntries(KeptEntries),
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PanelState {
    /// The user's choice; `None` shows the panel if the screen is wide enough.
    pub(crate) wanted: Option<bool>,
    pub(crate) shown: bool,
}

/// A message in the status line, shown until the next key.
#[derive(Debug)]
pub(crate) struct StatusMessage {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) table: Arc<Table>,
    pub(crate) read_state: ReadState,
    pub(crate) counts: ProgressCounts,
    pub(crate) elapsed: Duration,
    /// The file system of the only root, when the walk has ended.
    pub(crate) disk: Option<DiskSpace>,
    /// The current directory; `None` is the list of roots.
    pub(crate) directory: Option<Row>,
    pub(crate) listing: Listing,
    pub(crate) order: SortOrder,
    pub(crate) marks: RowSet,
    /// Entries removed since the tree was read.
    pub(crate) removed_rows: RowSet,
    trash: TrashState,
    pub(crate) overlay: Overlay,
    /// The last search for duplicates.
    pub(crate) duplicates: Option<DuplicateSearch>,
    pub(crate) panel: PanelState,
    /// What the selected directory holds; `None` until the panel is drawn.
    pub(crate) preview: Option<Preview>,
    pub(crate) drawn: DrawnEntries,
    pub(crate) message: Option<StatusMessage>,
    pub(crate) read_only: bool,
    /// When the tree was read, if it is a snapshot.
    pub(crate) stored_at: Option<String>,
    /// A service follows the tree, and every change is shown.
    pub(crate) is_followed: bool,
    /// The tree that growth is relative to, when it is read, and its time.
    before: Option<TreeBefore>,
    pub(crate) before_at: Option<String>,
    effects: Vec<Effect>,
    request: RequestId,
    /// The pending table without removed entries.
    pruning: Option<RequestId>,
}

impl App {
    /// Returns the state before the first walk has found anything.
    pub(crate) fn new(empty: Arc<Table>, view: &ViewOptions) -> Self {
        let measure = if view.apparent { Measure::Apparent } else { Measure::DiskUsage };
        let key = if view.before.is_some() { SortKey::Growth } else { SortKey::default() };
        Self {
            table: empty,
            read_state: ReadState::First,
            counts: ProgressCounts::default(),
            elapsed: Duration::ZERO,
            disk: None,
            directory: None,
            listing: Listing::default(),
            order: SortOrder::by(key, measure),
            marks: RowSet::new(),
            removed_rows: RowSet::new(),
            trash: TrashState::default(),
            overlay: Overlay::None,
            duplicates: None,
            panel: PanelState::default(),
            preview: None,
            drawn: DrawnEntries::default(),
            message: None,
            read_only: view.read_only,
            stored_at: view.stored_at.clone(),
            is_followed: false,
            before: None,
            before_at: view.before.as_ref().map(|before| before.read_at.clone()),
            effects: Vec::new(),
            request: RequestId::default(),
            pruning: None,
        }
    }

    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub(crate) fn context(&self) -> Context {
        match self.overlay {
            Overlay::None => Context::Directory,
            Overlay::Help(_) | Overlay::Errors(_) | Overlay::KeptEntries(_) => Context::List,
            Overlay::SearchResults(_) => Context::Found,
            Overlay::Duplicates => Context::Duplicates,
            Overlay::Prompt(_) => Context::Prompt,
            Overlay::Confirmation(_) => Context::Confirmation,
            Overlay::RemovalProgress(_) => Context::Removal,
        }
    }

    pub(crate) fn press(&mut self, event: KeyEvent) {
        self.message = None;
        match keys::action_for(self.context(), event) {
            Some(action) => self.act(action),
            None => self.type_in(event),
        }
    }

    /// Handles pasted text. It is inserted into a prompt; elsewhere it is ignored, so that pasted
    /// letters are never taken as keys.
    pub(crate) fn paste(&mut self, text: &str) {
        text.chars().filter(|letter| !letter.is_control()).for_each(|letter| self.typed(letter));
    }

    /// Inserts a letter without a binding into the prompt.
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
            (Context::Found, action) => self.act_in_found(action),
            (Context::Duplicates, action) => self.act_in_duplicates(action),
            (Context::Prompt, action) => self.act_in_prompt(action),
            (Context::Confirmation, action) => self.act_in_confirmation(action),
            (Context::Removal, action) => self.act_in_removal(action),
        }
    }

    fn act_in_directory(&mut self, action: Action) {
        if self.lacks_disk(action) {
            return;
        }
        match action {
            Action::Move(motion) => self.listing.move_by(motion),
            Action::Enter => self.enter(),
            Action::Leave => self.leave(),
            Action::LargestFiles => self.list_largest_files(),
            Action::Sort(SortKey::Growth) if self.before_at.is_none() => {
                self.note("no tree to compare with: start with --since yesterday");
            }
            Action::Sort(key) => self.sort(self.order.select_key(key)),
            Action::ToggleMeasure => {
                let measure = match self.order.measure {
                    Measure::DiskUsage => Measure::Apparent,
                    Measure::Apparent => Measure::DiskUsage,
                };
                self.sort(SortOrder { measure, ..self.order });
            }
            Action::TogglePanel => self.panel.wanted = Some(!self.panel.shown),
            Action::ToggleMark => self.mark(),
            Action::MarkAll => self.marks.extend(self.listing.entries.rows.iter().copied()),
            Action::UnmarkAll => self.marks.clear(),
            Action::Search => {
                let from = self.listing.selected();
                self.overlay = Overlay::Prompt(Prompt::new(Purpose::Search { from }));
            }
            Action::Find => self.overlay = Overlay::Prompt(Prompt::new(Purpose::Find)),
            Action::FindDuplicates => self.show_duplicates(),
            Action::Errors => self.show_errors(),
            Action::Help => self.overlay = Overlay::Help(Cursor::default()),
            Action::Rescan => self.rescan_directory(),
            Action::RescanAll => self.rescan(),
            Action::Open => {
                let selected = self.listing.selected().map(|row| self.table.path(row));
                self.effects.extend(selected.map(Effect::Open));
            }
            Action::Shell => self.shell(),
            Action::Delete => self.confirm_removal(RemovalKind::Delete),
            Action::Trash => self.confirm_removal(RemovalKind::Trash),
            Action::Undo => self.undo(),
            Action::EmptyTrash => self.read_trash(),
            Action::Redraw => self.push_effect(Effect::Redraw),
            Action::Suspend => self.push_effect(Effect::Suspend),
            _ => {}
        }
    }

    /// Tells that an action is impossible in a snapshot, and returns whether it is.
    fn lacks_disk(&mut self, action: Action) -> bool {
        let lacks = self.stored_at.is_some() && action.needs_disk();
        if lacks {
            self.note("not in a snapshot: it may be older than the disk");
        }
        lacks
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
                let error = self.table.diagnostics().kept_errors.get(cursor.index);
                let row = error.and_then(|error| tree::find_path(&self.table, error.path()));
                self.jump(row);
            }
            (Overlay::KeptEntries(kept), Action::Move(motion)) => {
                kept.cursor.move_by(motion, kept.lines.len());
            }
            _ => {}
        }
    }

    pub(crate) fn handle(&mut self, message: Message) {
        match message {
            Message::PartialTable(table) if self.read_state == ReadState::First => {
                self.replace(table, ReadState::First);
            }
            // A late partial table: the complete one is already there.
            Message::PartialTable(_) => {}
            Message::Table(table) | Message::Followed(table) => {
                self.replace(table, ReadState::Done);
            }
            Message::NotFollowed => {
                self.is_followed = false;
                self.error("not followed any more: r reads again".to_owned());
            }
            Message::Before(before) => self.set_before(before),
            Message::Sorted { request, entries } if self.listing.awaits(request) => {
                self.listing.set_sorted(entries);
            }
            Message::Found { request, rows, total } => {
                if let Overlay::SearchResults(found) = &mut self.overlay
                    && found.request == request
                {
                    (found.rows, found.total) = (rows, Some(total));
                }
            }
            Message::Sorted { .. } => {}
            Message::Duplicates { request, table, found } => {
                self.set_duplicates(request, &table, found);
            }
            Message::Previewed { request, entries, files } => {
                self.set_preview(request, entries, files);
            }
            Message::Summarized { request, summary } => self.set_summary(request, summary),
            Message::RemovalProgress { counts, last } => self.set_removal_progress(counts, last),
            Message::Removed { table, report, changed } => {
                self.finish_removal(&table, report, changed);
            }
            Message::TrashRead(trash) => self.confirm_emptying(trash),
            Message::Restored { restored, kept, changed } => {
                self.finish_restoring(restored, kept, changed);
            }
            Message::Pruned { request, table } => self.set_pruned(request, table),
            Message::RemovalFailed(why) => self.fail_removal(why),
            Message::Error(text) => self.error(text),
        }
    }

    pub(crate) fn progress(&mut self, counts: ProgressCounts, elapsed: Duration) {
        (self.counts, self.elapsed) = (counts, elapsed);
    }

    fn mark(&mut self) {
        let Some(row) = self.listing.selected() else { return };
        self.toggle_mark(row);
        self.listing.move_by(crate::cursor::Motion::Down);
    }

    fn toggle_mark(&mut self, row: Row) {
        if !self.marks.remove(row) {
            self.marks.insert(row);
        }
    }

    fn show_errors(&mut self) {
        match self.table.diagnostics().errors {
            0 => self.note("no errors"),
            // Errors are listed when the walk has ended.
            _ if self.table.diagnostics().kept_errors.is_empty() => {
                self.note("errors are listed at the end")
            }
            _ => self.overlay = Overlay::Errors(Cursor::default()),
        }
    }

    fn rescan_directory(&mut self) {
        match self.directory.filter(|&directory| self.table.parent(directory).is_some()) {
            // Otherwise, a table without removed entries is on its way, and would be lost.
            Some(directory) if self.read_state == ReadState::Done && self.pruning.is_none() => {
                self.request_directory(directory);
            }
            _ => self.rescan(),
        }
    }

    /// Requests another walk of one directory.
    fn request_directory(&mut self, directory: Row) {
        self.read_state = ReadState::Again;
        let table = Arc::clone(&self.table);
        self.push_effect(Effect::RescanDirectory { table, directory });
    }

    fn rescan(&mut self) {
        match self.read_state {
            ReadState::Done => self.request_rescan(),
            ReadState::First | ReadState::Again => self.note("already reading"),
        }
    }

    /// Requests another walk, even if one is running: the tree has changed since it started.
    fn request_rescan(&mut self) {
        let removed = self.table.roots().filter(|root| self.removed_rows.contains(*root));
        let without = removed.map(|root| self.table.path(root)).collect();
        self.read_state = ReadState::Again;
        self.push_effect(Effect::Rescan { without });
    }

    fn shell(&mut self) {
        let directory = self.directory.map(|directory| self.table.path(directory));
        self.push_effect(Effect::Shell(directory.unwrap_or_else(|| ".".into())));
    }

    /// Returns the marked entries, or the selected one if there are none. Entries of one directory
    /// are in the order of their names.
    pub(crate) fn targets(&self) -> Vec<Row> {
        if !self.marks.is_empty() {
            return self.marks.iter().collect();
        }
        let selected = match &self.overlay {
            Overlay::SearchResults(found) => found.selected(),
            _ => self.listing.selected(),
        };
        selected.into_iter().collect()
    }

    fn next_request(&mut self) -> RequestId {
        self.request = self.request.next();
        self.request
    }

    /// Requests the result of a job on the table.
    fn request(&mut self, job: Job) -> RequestId {
        self.request_on(Arc::clone(&self.table), job)
    }

    fn request_on(&mut self, table: Arc<Table>, job: Job) -> RequestId {
        let request = self.next_request();
        self.push_effect(Effect::RunJob(table, request, job));
        request
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
}
