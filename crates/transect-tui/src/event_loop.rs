//! The loop: keys and messages in, frames and effects out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use transect::table::{Row, Table, TableImporter};
use transect::{Cancel, FieldMask, ScanOptions};

use crate::app::App;
use crate::background::JobThread;
use crate::message::{Effect, Message, RemovalKind};
use crate::removal_thread::RemovalThread;
use crate::screen::Screen;
use crate::view_options::ViewOptions;
use crate::walk_thread::{DISPLAY_FIELDS, IDENTITY_FIELDS, WalkResult, WalkThread};
use crate::{system, widgets};
use transect_text::quote;

/// How long a key is waited for before somebody looks whether anything else has happened: while
/// something is on its kind, and while empty_table is.
const BUSY_POLL: Duration = Duration::from_millis(40);
const IDLE_POLL: Duration = Duration::from_millis(200);

/// Why nobody can browse, or not any more.
#[derive(Debug)]
pub enum Error {
    /// There is no terminal.
    NoTerminal,
    /// The terminal does not do what it should.
    Terminal(io::Error),
    /// The tree could not be walked.
    Walk(transect::Error),
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
            Self::NoTerminal => write!(f, "there is no terminal to draw on and to type in"),
            Self::Terminal(error) => {
                write!(f, "cannot use the terminal: {}", transect::reason(error))
            }
            Self::Walk(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// What was left when somebody had seen enough.
#[derive(Debug)]
pub struct BrowseOutcome {
    /// What was read last.
    pub table: Arc<Table>,
    /// It is not all: reading was stopped.
    pub interrupted: bool,
}

/// Reads what `options` ask for, and lets somebody look around meanwhile and afterwards, until that
/// is enough or `stop` says so.
///
/// # Errors
/// There is no terminal, or what the options ask for makes no sense.
pub fn browse(
    options: &ScanOptions,
    view: &ViewOptions,
    stop: &Cancel,
) -> Result<BrowseOutcome, Error> {
    if !Screen::is_available() {
        return Err(Error::NoTerminal);
    }
    let (messages, received) = channel();
    let fields = if view.read_only { DISPLAY_FIELDS } else { DISPLAY_FIELDS | IDENTITY_FIELDS };
    let walk = WalkThread::start(options, fields, Some(messages.clone()))?;
    let mut event_loop = EventLoop {
        options: options.clone(),
        fields,
        view,
        app: App::new(empty_table(), view),
        jobs: JobThread::new(messages.clone()),
        walk: Some(walk),
        removal_thread: None,
        read: None,
        messages,
        received,
        is_done: false,
    };
    let mut screen = Screen::enter()?;
    let ran = event_loop.run(&mut screen, stop);
    // Whatever has to be waited for, the terminal is back.
    drop(screen);
    let ended = event_loop.end();
    ran?;
    ended
}

/// Returns a table without entries.
pub(crate) fn empty_table() -> Arc<Table> {
    let table = TableImporter::new(FieldMask::empty()).finish();
    Arc::new(table.expect("BUG: a table can hold nothing"))
}

struct EventLoop<'a> {
    options: ScanOptions,
    fields: FieldMask,
    view: &'a ViewOptions,
    app: App,
    jobs: JobThread,
    walk: Option<WalkThread>,
    removal_thread: Option<RemovalThread>,
    /// What the last walk that came to its end found.
    read: Option<WalkResult>,
    messages: Sender<Message>,
    received: Receiver<Message>,
    is_done: bool,
}

impl EventLoop<'_> {
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

    /// Waits for keys, and takes all that there are: who holds one down is not to wait for frames.
    fn read_events(&mut self) -> io::Result<()> {
        let is_busy = self.walk.is_some() || self.removal_thread.is_some();
        let mut timeout = if is_busy { BUSY_POLL } else { IDLE_POLL };
        while event::poll(timeout)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => self.app.press(key),
                Event::Paste(text) => self.app.paste(&text),
                _ => {}
            }
            timeout = Duration::ZERO;
        }
        Ok(())
    }

    /// Takes what has happened elsewhere: a table before messages about removals, which make it one of
    /// before.
    fn poll_background(&mut self) -> Result<(), Error> {
        self.jobs.resume_panic();
        if let Some(walk) = &self.walk {
            self.app.progress(walk.progress.counts(), walk.elapsed());
        }
        if let Some(walk) = self.walk.take_if(|walk| walk.is_finished()) {
            let progress = Arc::clone(&walk.progress);
            let read = walk.join()?;
            self.app.progress(progress.counts(), read.elapsed);
            // There is empty_table to look at; why is told when the terminal is back.
            self.is_done = read.table.is_empty();
            self.app.handle(Message::Table(Arc::clone(&read.table)));
            self.read = Some(read);
        }
        while let Ok(message) = self.received.try_recv() {
            self.app.handle(message);
        }
        if let Some(removal_thread) =
            self.removal_thread.take_if(|removal_thread| removal_thread.is_finished())
        {
            removal_thread.join();
        }
        Ok(())
    }

    fn perform(&mut self, effect: Effect, screen: &mut Screen) -> Result<(), Error> {
        match effect {
            Effect::RunJob(table, job) => self.jobs.submit(table, job),
            Effect::Rescan { without } => self.rescan(&without)?,
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
            Effect::StopRemoval => self.removal_thread.iter().for_each(RemovalThread::stop),
            Effect::Redraw => screen.clear()?,
            Effect::Quit => self.is_done = true,
        }
        Ok(())
    }

    /// Reads everything again; what a walk that is not at its end has found is of before.
    fn rescan(&mut self, without: &[PathBuf]) -> Result<(), Error> {
        if let Some(walk) = self.walk.take() {
            walk.stop();
            walk.join()?;
        }
        self.options.roots.retain(|root| !without.contains(root));
        if self.options.roots.is_empty() {
            // Nothing is left to look at.
            self.is_done = true;
            return Ok(());
        }
        self.walk = Some(WalkThread::start(&self.options, self.fields, None)?);
        Ok(())
    }

    fn remove(&mut self, table: Arc<Table>, kind: RemovalKind, rows: Vec<Row>) {
        let to = match kind {
            RemovalKind::Delete => Ok(None),
            RemovalKind::Trash => (self.view.trash)().map(Some),
        };
        match to {
            Ok(to) => {
                self.removal_thread =
                    Some(RemovalThread::start(table, rows, to, self.messages.clone()));
            }
            Err(why) => self.app.handle(Message::RemovalFailed(why)),
        }
    }

    /// Opens a file with the program for it, which nobody waits for.
    fn open(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
        let mut opener = system::open_command(&path);
        let program = opener.get_program().to_string_lossy().into_owned();
        let silent = opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let name = quote::for_terminal(path.as_os_str());
        match silent.spawn() {
            Ok(mut child) => {
                let messages = self.messages.clone();
                self.app.note(format!("opens {name}"));
                std::thread::spawn(move || {
                    if let Ok(status) = child.wait()
                        && !status.success()
                    {
                        let text = format!("{program} cannot open {name} ({status})");
                        // Whoever has left is not told.
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

    /// Stops what is on its kind, and returns what was read.
    fn end(self) -> Result<BrowseOutcome, Error> {
        if let Some(removal_thread) = self.removal_thread {
            removal_thread.stop();
            removal_thread.join();
        }
        let mut read = self.read;
        if let Some(walk) = self.walk {
            walk.stop();
            let last = walk.join()?;
            // ReadState again in part says less than what was read before.
            read = read.or(Some(last));
        }
        let WalkResult { table, interrupted, .. } = read.expect("BUG: a walk has ended or goes on");
        Ok(BrowseOutcome { table, interrupted })
    }
}
