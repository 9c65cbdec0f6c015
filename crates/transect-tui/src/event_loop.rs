//! The event loop: reads keys and messages, draws frames, performs effects.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use transect::table::{Row, Table, UnreadReason};
use transect::{Cancel, ScanOptions};
use transect_remove::RemovalKind;

use crate::app::App;
use crate::background::{
    JobThread, Worker, empty_table, search_duplicates, start_emptying, start_reading_trash,
    start_removal, start_restoring,
};
use crate::followed::follow;
use crate::message::{Effect, Message};
use crate::screen::Screen;
use crate::view_options::ViewOptions;
use crate::walk_thread::{WalkResult, WalkThread};
use crate::{system, widgets};
use transect_text::quote;

/// The longest wait for a key before other events are checked, while background threads run and
/// while they do not.
const BUSY_POLL: Duration = Duration::from_millis(40);
const IDLE_POLL: Duration = Duration::from_millis(200);

/// An error that ends the view.
#[derive(Debug)]
pub enum Error {
    /// Standard input or output is not a terminal.
    NoTerminal,
    /// A terminal operation failed.
    Terminal(io::Error),
    /// The tree could not be walked.
    Walk(transect::Error),
    /// The stored tree could not be read.
    Stored(String),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Terminal(error)
    }
}

impl From<transect::Error> for Error {
    fn from(error: transect::Error) -> Self {
        Self::Walk(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerminal => write!(f, "standard input and output must be a terminal"),
            Self::Terminal(error) => {
                write!(f, "cannot use the terminal: {}", transect::reason(error))
            }
            Self::Walk(error) => error.fmt(f),
            Self::Stored(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

/// The result of [`browse`].
#[derive(Debug)]
pub struct BrowseOutcome {
    /// The last complete table, or the partial one if there is none.
    pub table: Arc<Table>,
    /// Reading was interrupted: the table is incomplete.
    pub interrupted: bool,
}

/// Reads the tree that `options` describe and shows it in the terminal, until the user quits or
/// `stop` is cancelled.
///
/// # Errors
/// Standard input or output is not a terminal, a terminal operation fails, or the options are
/// invalid.
pub fn browse(
    options: &ScanOptions,
    view: &ViewOptions,
    stop: &Cancel,
) -> Result<BrowseOutcome, Error> {
    if !Screen::is_available() {
        return Err(Error::NoTerminal);
    }
    let mut event_loop = EventLoop::new(options, view);
    let partial_tables = Some(event_loop.messages.clone());
    event_loop.walk = Some(match &view.followed {
        Some(tree) => WalkThread::start_followed(options, Arc::clone(tree))?,
        None => WalkThread::start(options, partial_tables)?,
    });
    if let Some(before) = &view.before {
        let (read, messages) = (Arc::clone(&before.read), event_loop.messages.clone());
        std::thread::spawn(move || {
            // A failed send means that the view has closed.
            let _ = messages.send(Message::Before(read().map(Arc::new)));
        });
    }
    let mut screen = Screen::enter(view.mouse)?;
    let ran = event_loop.run(&mut screen, stop);
    // Restores the terminal before waiting for threads.
    drop(screen);
    let outcome = event_loop.end();
    ran?;
    outcome
}

/// Shows a table that was stored, and `partial` until `read` has returned it. Meanwhile, `read` can call its argument
/// with other partial tables. Nothing that needs the disk is possible: [`ViewOptions::stored_at`] must be set.
///
/// # Errors
/// Standard input or output is not a terminal, a terminal operation fails, or the table cannot be read.
pub fn browse_stored(
    partial: Option<Table>,
    read: impl FnOnce(&dyn Fn(Table)) -> Result<Table, String> + Send + 'static,
    view: &ViewOptions,
    stop: &Cancel,
) -> Result<(), Error> {
    if !Screen::is_available() {
        return Err(Error::NoTerminal);
    }
    let mut event_loop = EventLoop::new(&ScanOptions::default(), view);
    if let Some(partial) = partial {
        event_loop.app.handle(Message::PartialTable(Arc::new(partial)));
    }
    let messages = event_loop.messages.clone();
    let show = move |table| {
        // A failed send means that the view has closed.
        let _ = messages.send(Message::PartialTable(Arc::new(table)));
    };
    // It is not joined at exit.
    event_loop.stored = Some(Worker::start(Cancel::new(), move || read(&show)));
    event_loop.run(&mut Screen::enter(view.mouse)?, stop)
}

/// Returns whether a walk from a directory finds the same entries as a walk from its root. On Windows,
/// listings have no link counts, so such a walk cannot see that a file has names elsewhere.
fn is_independent_of_root(options: &ScanOptions) -> bool {
    let filters = &options.filters;
    let by_path = filters.globs.iter().any(|glob| glob.contains('/'));
    let is_limited = options.max_depth.is_some() || options.min_depth > 0;
    let is_single = options.roots.len() == 1 && !options.follow_links;
    cfg!(not(windows)) && is_single && !by_path && !is_limited && !filters.gitignore
}

struct EventLoop<'a> {
    options: ScanOptions,
    view: &'a ViewOptions,
    app: App,
    jobs: JobThread,
    walk: Option<WalkThread>,
    /// What reads a stored table.
    stored: Option<Worker<Result<Table, String>>>,
    /// The running removal, or what reads the trash or moves entries back.
    removal: Option<Worker<()>>,
    /// The running search for duplicates. It is not joined at exit.
    search: Option<Worker<()>>,
    /// The result of the last finished walk.
    read: Option<WalkResult>,
    /// The tree after a change, from the service that follows it. It waits while a thread works on an older table.
    followed: Option<Arc<Table>>,
    messages: Sender<Message>,
    received: Receiver<Message>,
    is_done: bool,
}

impl<'a> EventLoop<'a> {
    fn new(options: &ScanOptions, view: &'a ViewOptions) -> Self {
        let (messages, received) = channel();
        Self {
            options: options.clone(),
            view,
            app: App::new(empty_table(), view),
            jobs: JobThread::new(messages.clone()),
            walk: None,
            stored: None,
            removal: None,
            search: None,
            read: None,
            followed: None,
            messages,
            received,
            is_done: false,
        }
    }

    fn run(&mut self, screen: &mut Screen, stop: &Cancel) -> Result<(), Error> {
        while !self.is_done && !stop.is_cancelled() {
            screen.draw(|frame| widgets::draw(frame, &mut self.app, self.view))?;
            self.read_events()?;
            self.poll_background()?;
            for effect in self.app.take_effects() {
                self.perform(effect, screen)?;
            }
        }
        Ok(())
    }

    /// Waits for an event and handles all pending ones, so that a key held down does not wait for
    /// frames.
    fn read_events(&mut self) -> io::Result<()> {
        let is_busy = self.walk.is_some()
            || self.stored.is_some()
            || self.removal.is_some()
            || self.search.is_some();
        let mut timeout = if is_busy { BUSY_POLL } else { IDLE_POLL };
        while event::poll(timeout)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => self.app.press(key),
                Event::Mouse(event) => self.app.mouse(event),
                Event::Paste(text) => self.app.paste(&text),
                Event::Resize(..) => system::report_input_again(),
                _ => {}
            }
            timeout = Duration::ZERO;
        }
        Ok(())
    }

    /// Handles the results of background threads. A new table comes before the messages about
    /// removals, which may refer to the table before it.
    fn poll_background(&mut self) -> Result<(), Error> {
        self.jobs.resume_panic();
        if let Some(walk) = &self.walk {
            self.app.progress(walk.progress.counts(), walk.elapsed());
        }
        if let Some(walk) = self.walk.take_if(|walk| walk.worker.is_finished()) {
            let progress = Arc::clone(&walk.progress);
            let read = walk.worker.join()?;
            self.app.progress(progress.counts(), read.elapsed);
            self.app.disk = read.disk;
            // The table is empty; the caller reports why once the terminal is restored.
            self.is_done = read.table.is_empty();
            self.app.handle(Message::Table(Arc::clone(&read.table)));
            if read.is_followed {
                self.follow();
            }
            self.read = Some(read);
        }
        if let Some(stored) = self.stored.take_if(|stored| stored.is_finished()) {
            let table = stored.join().map_err(Error::Stored)?;
            self.app.handle(Message::Table(Arc::new(table)));
        }
        while let Ok(message) = self.received.try_recv() {
            if matches!(message, Message::Pruned { .. } | Message::Removed { .. }) {
                self.app.disk = transect::internal::disk_space_of(&self.options.roots);
            }
            match message {
                Message::Followed(table) => self.followed = Some(table),
                message => self.app.handle(message),
            }
        }
        for worker in [&mut self.removal, &mut self.search] {
            worker.take_if(|worker| worker.is_finished()).into_iter().for_each(Worker::join);
        }
        if self.walk.is_none()
            && self.removal.is_none()
            && let (Some(table), Some(read)) = (self.followed.take(), &mut self.read)
        {
            read.table = Arc::clone(&table);
            self.app.disk = transect::internal::disk_space_of(&self.options.roots);
            self.app.handle(Message::Followed(table));
        }
        Ok(())
    }

    /// Starts to follow the tree. The thread is not joined at exit.
    fn follow(&mut self) {
        let Some(tree) = self.view.followed.clone() else { return };
        let messages = self.messages.clone();
        self.app.is_followed = true;
        std::thread::spawn(move || follow(&*tree, &messages));
    }

    fn perform(&mut self, effect: Effect, screen: &mut Screen) -> Result<(), Error> {
        match effect {
            Effect::RunJob(table, request, job) => self.jobs.submit(table, request, job),
            Effect::Rescan { without } => self.rescan(&without)?,
            Effect::RescanDirectory { table, directory } => {
                self.rescan_directory(table, directory)?;
            }
            Effect::Open(path) => self.open(&path),
            Effect::Shell(directory) => {
                let ran = screen
                    .leave_during(|| system::shell_command().current_dir(&directory).status())?;
                if let Err(error) = ran {
                    self.fail(format!("cannot start a shell: {}", transect::reason(&error)));
                }
            }
            Effect::Suspend => {
                if let Err(error) = screen.leave_during(system::suspend)? {
                    self.fail(transect::reason(&error));
                }
            }
            Effect::Remove { table, kind, rows } => self.remove(table, kind, rows),
            Effect::ReadTrash { near } => {
                let messages = self.messages.clone();
                self.removal = Some(start_reading_trash((self.view.trash)(), near, messages));
            }
            Effect::EmptyTrash { trash, rows, shown } => {
                let messages = self.messages.clone();
                self.removal = Some(start_emptying(trash, rows, shown, messages));
            }
            Effect::Restore { entries, shown } => {
                self.removal = Some(start_restoring(entries, shown, self.messages.clone()));
            }
            Effect::StopRemoval => self.removal.iter().for_each(Worker::stop),
            Effect::FindDuplicates { request, table, mut options } => {
                options.follow = self.options.follow_links;
                let messages = self.messages.clone();
                self.search = Some(search_duplicates(request, table, options, messages));
            }
            Effect::Redraw => screen.clear()?,
            Effect::Quit => self.is_done = true,
        }
        Ok(())
    }

    /// Reads everything again. An unfinished walk is stopped, and its result dropped.
    fn rescan(&mut self, without: &[PathBuf]) -> Result<(), Error> {
        if let Some(walk) = self.walk.take() {
            walk.worker.stop();
            walk.worker.join()?;
        }
        self.options.roots.retain(|root| !without.contains(root));
        if self.options.roots.is_empty() {
            // All roots were removed.
            self.is_done = true;
            return Ok(());
        }
        self.walk = Some(WalkThread::start(&self.options, None)?);
        Ok(())
    }

    /// Reads one directory again; everything if a filter depends on the path from the root.
    fn rescan_directory(&mut self, table: Arc<Table>, directory: Row) -> Result<(), Error> {
        let is_skipped = matches!(table.unread_reason(directory), Some(UnreadReason::Skipped(_)));
        if is_skipped || !is_independent_of_root(&self.options) {
            return self.rescan(&[]);
        }
        self.walk = Some(WalkThread::start_directory(&self.options, table, directory)?);
        Ok(())
    }

    fn remove(&mut self, table: Arc<Table>, kind: RemovalKind, rows: Vec<Row>) {
        let trash = match kind {
            RemovalKind::Delete => Ok(None),
            RemovalKind::Trash => (self.view.trash)().map(Some),
        };
        self.removal = Some(start_removal(table, rows, trash, self.messages.clone()));
    }

    /// Opens a file with its default program, without waiting for it.
    fn open(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
        let mut opener = transect_sys::open_command(&path);
        let program = opener.get_program().to_string_lossy().into_owned();
        let silent = opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let name = quote::for_terminal(path.as_os_str());
        match silent.spawn() {
            Ok(mut child) => {
                let messages = self.messages.clone();
                self.app.note(format!("opening {name}"));
                std::thread::spawn(move || {
                    if let Ok(status) = child.wait()
                        && !status.success()
                    {
                        let text = format!("{program} cannot open {name} ({status})");
                        // A failed send means that the view has closed.
                        let _ = messages.send(Message::Error(text));
                    }
                });
            }
            Err(error) => {
                self.fail(format!("cannot start {program}: {}", transect::reason(&error)));
            }
        }
    }

    fn fail(&mut self, text: String) {
        self.app.handle(Message::Error(text));
    }

    fn end(self) -> Result<BrowseOutcome, Error> {
        if let Some(removal) = self.removal {
            removal.stop();
            removal.join();
        }
        let mut read = self.read;
        if let Some(walk) = self.walk {
            walk.worker.stop();
            let last = walk.worker.join()?;
            // A partial second reading contains less than the first one.
            read = read.or(Some(last));
        }
        let WalkResult { table, interrupted, .. } = read.expect("BUG: a walk has ended or goes on");
        Ok(BrowseOutcome { table, interrupted })
    }
}
