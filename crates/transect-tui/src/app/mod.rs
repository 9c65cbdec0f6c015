//! What is looked at, and what keys make of it. Nothing here touches the terminal or the disk:
//! what has to be done outside is a [`Wish`], and comes back as an [`Answer`].

mod biggest;
mod found;
mod listing;
mod moving;
mod removal;
mod search;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use transect::ProgressCounts;
use transect::table::{Row, Table};
use transect_remove::{Counts, Report, Summary};

use crate::cursor::Cursor;
use crate::desk::Job;
use crate::keys::{self, Action, Context};
use crate::look::Look;
use crate::order::{Measure, Order, SortKey, Sorted};
use crate::tree;
use transect_text::units::counted;

pub(crate) use biggest::Biggest;
pub(crate) use found::Found;
pub(crate) use listing::Listing;
pub(crate) use removal::{Kept, Question, Way, Work};
pub(crate) use search::Prompt;

/// What has to be done outside. Rows come with their table: there may be another one by the time that
/// somebody gets to it.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Reads everything again, but for roots that were removed.
    Read {
        without: Vec<PathBuf>,
    },
    /// Finds something out of a table.
    Do(Arc<Table>, Job),
    Open(PathBuf),
    Shell(PathBuf),
    Remove {
        table: Arc<Table>,
        way: Way,
        rows: Vec<Row>,
    },
    StopRemoving,
    Redraw,
    Suspend,
    Quit,
}

/// What came of a [`Wish`].
#[derive(Debug)]
pub(crate) enum Answer {
    /// What is known while the tree is read for the first time: directories only.
    Outline(Arc<Table>),
    /// All that is there.
    Table(Arc<Table>),
    Sorted {
        ticket: Ticket,
        entries: Sorted,
    },
    Found {
        ticket: Ticket,
        rows: Vec<Row>,
        total: u64,
    },
    Largest {
        ticket: Ticket,
        rows: Vec<Row>,
    },
    Surveyed {
        ticket: Ticket,
        summary: Result<Summary, String>,
    },
    /// How far a removal is, and the last entry of it.
    Removing {
        counts: Counts,
        last: String,
    },
    /// What became of rows of a table that were to be removed.
    Removed {
        table: Arc<Table>,
        report: Report,
    },
    /// Nothing could be removed, and why.
    NotRemoved(String),
    /// Something could not be done.
    Failed(String),
}

/// Tells the answer that is waited for from those that came too late: rows mean something in one
/// table only, and nobody wants the order before the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// How far the table is what is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The tree is read for the first time, and the table is an outline of what is known.
    First,
    /// The tree is read again, and the table is the one before.
    Again,
    /// It has been read.
    Done,
}

/// What lies above the directory.
#[derive(Debug)]
pub(crate) enum Over {
    Nothing,
    Help(Cursor),
    Errors(Cursor),
    Prompt(Prompt),
    Found(Found),
    Question(Question),
    Work(Work),
    Kept(Kept),
}

/// Whether an entry is described at length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Panel {
    /// If nobody said so, it is where there is room.
    pub(crate) wanted: Option<bool>,
    pub(crate) shown: bool,
}

/// What is said at the bottom until the next key.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// All that is shown and kept.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) table: Arc<Table>,
    pub(crate) reading: Reading,
    pub(crate) counts: ProgressCounts,
    pub(crate) elapsed: Duration,
    /// The directory that is shown; none is the list of the roots.
    pub(crate) at: Option<Row>,
    pub(crate) listing: Listing,
    pub(crate) order: Order,
    pub(crate) marks: HashSet<Row>,
    /// What was removed since the tree was read.
    pub(crate) gone: HashSet<Row>,
    pub(crate) over: Over,
    pub(crate) biggest: Option<Biggest>,
    pub(crate) panel: Panel,
    pub(crate) message: Option<Message>,
    pub(crate) read_only: bool,
    wishes: Vec<Wish>,
    ticket: Ticket,
}

impl App {
    /// Begins with an empty table: the tree is being read.
    pub(crate) fn new(empty: Arc<Table>, look: &Look) -> Self {
        let measure = if look.apparent { Measure::Apparent } else { Measure::DiskUsage };
        Self {
            table: empty,
            reading: Reading::First,
            counts: ProgressCounts::default(),
            elapsed: Duration::ZERO,
            at: None,
            listing: Listing::default(),
            order: Order::by(SortKey::default(), measure),
            marks: HashSet::new(),
            gone: HashSet::new(),
            over: Over::Nothing,
            biggest: None,
            panel: Panel::default(),
            message: None,
            read_only: look.read_only,
            wishes: Vec::new(),
            ticket: Ticket::default(),
        }
    }

    /// Returns what has to be done outside, once.
    pub(crate) fn take_wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
    }

    /// Returns where keys are pressed.
    pub(crate) fn context(&self) -> Context {
        match self.over {
            Over::Nothing => Context::Directory,
            Over::Help(_) | Over::Errors(_) | Over::Found(_) | Over::Kept(_) => Context::List,
            Over::Prompt(_) => Context::Prompt,
            Over::Question(_) => Context::Question,
            Over::Work(_) => Context::Work,
        }
    }

    /// Takes a key.
    pub(crate) fn press(&mut self, event: KeyEvent) {
        self.message = None;
        match keys::meaning(self.context(), event) {
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
        if let (Over::Prompt(_), KeyCode::Char(letter)) = (&self.over, event.code)
            && !event.modifiers.intersects(modifiers)
        {
            self.typed(letter);
        }
    }

    fn act(&mut self, action: Action) {
        match (self.context(), action) {
            (_, Action::Quit) => self.wish(Wish::Quit),
            (Context::Directory, action) => self.act_in_directory(action),
            (Context::List, action) => self.act_in_list(action),
            (Context::Prompt, action) => self.act_in_prompt(action),
            (Context::Question, action) => self.act_in_question(action),
            (Context::Work, action) => self.act_in_work(action),
        }
    }

    fn act_in_directory(&mut self, action: Action) {
        match action {
            Action::Go(motion) => self.listing.go(motion),
            Action::Enter => self.enter(),
            Action::Leave => self.leave(),
            Action::NextLargest => self.next_biggest(),
            Action::LastLargest => self.last_biggest(),
            Action::Sort(key) => self.sort(self.order.then_by(key)),
            Action::ToggleMeasure => {
                self.sort(Order { measure: self.order.measure.other(), ..self.order });
            }
            Action::TogglePanel => self.panel.wanted = Some(!self.panel.shown),
            Action::Mark => self.mark(),
            Action::MarkAll => self.marks.extend(self.listing.rows()),
            Action::UnmarkAll => self.marks.clear(),
            Action::Search => self.over = Over::Prompt(Prompt::search(self.listing.selected())),
            Action::Find => self.over = Over::Prompt(Prompt::find()),
            Action::Errors => self.show_errors(),
            Action::Help => self.over = Over::Help(Cursor::default()),
            Action::ReadAgain => self.read_again(),
            Action::Open => self.with_selected(Wish::Open),
            Action::Shell => self.shell(),
            Action::Delete => self.ask(Way::Delete),
            Action::Trash => self.ask(Way::Trash),
            Action::Redraw => self.wish(Wish::Redraw),
            Action::Suspend => self.wish(Wish::Suspend),
            _ => {}
        }
    }

    fn act_in_list(&mut self, action: Action) {
        let errors = self.table.diagnostics().kept_errors.len();
        match (&mut self.over, action) {
            (_, Action::Close) => self.over = Over::Nothing,
            (Over::Help(cursor), Action::Go(motion)) => cursor.go(motion, keys::BINDINGS.len() * 2),
            (Over::Errors(cursor), Action::Go(motion)) => cursor.go(motion, errors),
            (Over::Errors(cursor), Action::GoThere) => {
                let error = self.table.diagnostics().kept_errors.get(cursor.at());
                let row = error.and_then(|error| tree::at_path(&self.table, error.path()));
                self.over = Over::Nothing;
                self.jump(row);
            }
            (Over::Kept(kept), Action::Go(motion)) => kept.go(motion),
            (Over::Found(found), Action::Go(motion)) => found.go(motion),
            (Over::Found(found), Action::GoThere) => {
                let row = found.selected();
                self.over = Over::Nothing;
                self.jump(row);
            }
            _ => {}
        }
    }

    /// Takes what came of a wish.
    pub(crate) fn answer(&mut self, answer: Answer) {
        match answer {
            Answer::Outline(table) if self.reading == Reading::First => {
                self.replace(table, Reading::First);
            }
            // Told before everything had been read, and heard afterwards.
            Answer::Outline(_) => {}
            Answer::Table(table) => self.replace(table, Reading::Done),
            Answer::Sorted { ticket, entries } if self.listing.waits_for(ticket) => {
                self.listing.sorted(entries);
            }
            Answer::Found { ticket, rows, total } => {
                if let Over::Found(found) = &mut self.over {
                    found.take(ticket, rows, total);
                }
            }
            Answer::Largest { ticket, rows } => self.found_biggest(ticket, rows),
            Answer::Sorted { .. } => {}
            Answer::Surveyed { ticket, summary } => self.surveyed(ticket, summary),
            Answer::Removing { counts, last } => self.removing(counts, last),
            Answer::Removed { table, report } => self.removed(&table, &report),
            Answer::NotRemoved(why) => self.not_removed(why),
            Answer::Failed(text) => self.complain(text),
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
        self.listing.go(crate::cursor::Motion::Down);
    }

    fn show_errors(&mut self) {
        match self.table.diagnostics().errors {
            0 => self.say("everything could be read"),
            // While the tree is read, errors are counted only.
            _ if self.table.diagnostics().kept_errors.is_empty() => {
                self.say("errors are listed at the end")
            }
            _ => self.over = Over::Errors(Cursor::default()),
        }
    }

    fn read_again(&mut self) {
        match self.reading {
            Reading::Done => self.wish_to_read(),
            Reading::First | Reading::Again => self.say("it is being read"),
        }
    }

    /// Wishes that everything be read again, also if that is being done: something has changed since
    /// it began.
    fn wish_to_read(&mut self) {
        let removed = self.table.roots().filter(|root| self.gone.contains(root));
        let without = removed.map(|root| self.table.path(root)).collect();
        self.reading = Reading::Again;
        self.wish(Wish::Read { without });
    }

    fn shell(&mut self) {
        let directory = match self.at {
            Some(directory) => self.table.path(directory),
            None => PathBuf::from("."),
        };
        self.wish(Wish::Shell(directory));
    }

    fn with_selected(&mut self, wish: impl FnOnce(PathBuf) -> Wish) {
        if let Some(row) = self.listing.selected() {
            self.wish(wish(self.table.path(row)));
        }
    }

    /// Returns what is acted on: what is marked, or else the entry; entries of one directory in the
    /// order of their names.
    pub(crate) fn chosen(&self) -> Vec<Row> {
        if self.marks.is_empty() {
            return self.listing.selected().into_iter().collect();
        }
        let mut rows: Vec<Row> = self.marks.iter().copied().collect();
        rows.sort_unstable();
        rows
    }

    fn next_ticket(&mut self) -> Ticket {
        self.ticket.0 += 1;
        self.ticket
    }

    /// Wishes for something to be found out of the table that is shown.
    fn wish_for(&mut self, job: Job) {
        self.wish(Wish::Do(Arc::clone(&self.table), job));
    }

    fn wish(&mut self, wish: Wish) {
        self.wishes.push(wish);
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), is_error: false });
    }

    fn complain(&mut self, text: String) {
        self.message = Some(Message { text, is_error: true });
    }

    /// Returns what is marked, in words; nothing if nothing is.
    pub(crate) fn marked(&self) -> Option<String> {
        let marked = self.marks.len() as u64;
        (marked > 0).then(|| counted(marked, "entry marked", "entries marked"))
    }
}
