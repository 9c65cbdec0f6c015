//! The loop: keys and answers in, frames and wishes out.

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

use crate::app::{Answer, App, Way, Wish};
use crate::desk::Desk;
use crate::look::Look;
use crate::remover::Remover;
use crate::screen::Screen;
use crate::walk::{Read, SHOWN, TOLD_APART, Walk};
use crate::{system, widgets};
use transect_text::quote;

/// How long a key is waited for before somebody looks whether anything else has happened: while
/// something is on its way, and while nothing is.
const BUSY: Duration = Duration::from_millis(40);
const IDLE: Duration = Duration::from_millis(200);

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
pub struct Ended {
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
pub fn browse(options: &ScanOptions, look: &Look, stop: &Cancel) -> Result<Ended, Error> {
    if !Screen::is_there() {
        return Err(Error::NoTerminal);
    }
    let (answers, received) = channel();
    let columns = if look.read_only { SHOWN } else { SHOWN | TOLD_APART };
    let walk = Walk::start(options, columns, Some(answers.clone()))?;
    let mut browsing = Browsing {
        options: options.clone(),
        columns,
        look,
        app: App::new(nothing(), look),
        desk: Desk::new(answers.clone()),
        walk: Some(walk),
        remover: None,
        read: None,
        answers,
        received,
        has_ended: false,
    };
    let mut screen = Screen::enter()?;
    let looked = browsing.run(&mut screen, stop);
    // Whatever has to be waited for, the terminal is back.
    drop(screen);
    let ended = browsing.end();
    looked?;
    ended
}

/// Returns a table without entries.
pub(crate) fn nothing() -> Arc<Table> {
    let table = TableImporter::new(FieldMask::empty()).finish();
    Arc::new(table.expect("BUG: a table can hold nothing"))
}

struct Browsing<'a> {
    options: ScanOptions,
    columns: FieldMask,
    look: &'a Look,
    app: App,
    desk: Desk,
    walk: Option<Walk>,
    remover: Option<Remover>,
    /// What the last walk that came to its end found.
    read: Option<Read>,
    answers: Sender<Answer>,
    received: Receiver<Answer>,
    has_ended: bool,
}

impl Browsing<'_> {
    fn run(&mut self, screen: &mut Screen, stop: &Cancel) -> Result<(), Error> {
        while !self.has_ended && !stop.is_cancelled() {
            screen.draw(|frame| widgets::draw(frame, &mut self.app, self.look))?;
            self.hear()?;
            self.look_around()?;
            for wish in self.app.take_wishes() {
                self.fulfil(wish, screen)?;
            }
        }
        Ok(())
    }

    /// Waits for keys, and takes all that there are: who holds one down is not to wait for frames.
    fn hear(&mut self) -> io::Result<()> {
        let is_busy = self.walk.is_some() || self.remover.is_some();
        let mut patience = if is_busy { BUSY } else { IDLE };
        while event::poll(patience)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => self.app.press(key),
                Event::Paste(text) => self.app.paste(&text),
                _ => {}
            }
            patience = Duration::ZERO;
        }
        Ok(())
    }

    /// Takes what has happened elsewhere: a table before answers about removals, which make it one of
    /// before.
    fn look_around(&mut self) -> Result<(), Error> {
        self.desk.check();
        if let Some(walk) = &self.walk {
            self.app.progress(walk.progress.counts(), walk.elapsed());
        }
        if let Some(walk) = self.walk.take_if(|walk| walk.has_ended()) {
            let progress = Arc::clone(&walk.progress);
            let read = walk.finish()?;
            self.app.progress(progress.counts(), read.elapsed);
            // There is nothing to look at; why is told when the terminal is back.
            self.has_ended = read.table.is_empty();
            self.app.answer(Answer::Table(Arc::clone(&read.table)));
            self.read = Some(read);
        }
        while let Ok(answer) = self.received.try_recv() {
            self.app.answer(answer);
        }
        if let Some(remover) = self.remover.take_if(|remover| remover.has_ended()) {
            remover.finish();
        }
        Ok(())
    }

    fn fulfil(&mut self, wish: Wish, screen: &mut Screen) -> Result<(), Error> {
        match wish {
            Wish::Do(table, job) => self.desk.give(table, job),
            Wish::Read { without } => self.read_again(&without)?,
            Wish::Open(path) => self.open(&path),
            Wish::Shell(directory) => {
                let ran = screen.lend(|| system::shell().current_dir(&directory).status())?;
                if let Err(error) = ran {
                    self.fail(format!("cannot start a shell: {}", transect::reason(&error)));
                }
            }
            Wish::Suspend => {
                if let Err(error) = screen.lend(system::suspend)? {
                    self.fail(transect::reason(&error));
                }
            }
            Wish::Remove { table, way, rows } => self.remove(table, way, rows),
            Wish::StopRemoving => self.remover.iter().for_each(Remover::stop),
            Wish::Redraw => screen.forget()?,
            Wish::Quit => self.has_ended = true,
        }
        Ok(())
    }

    /// Reads everything again; what a walk that is not at its end has found is of before.
    fn read_again(&mut self, without: &[PathBuf]) -> Result<(), Error> {
        if let Some(walk) = self.walk.take() {
            walk.stop();
            walk.finish()?;
        }
        self.options.roots.retain(|root| !without.contains(root));
        if self.options.roots.is_empty() {
            // Nothing is left to look at.
            self.has_ended = true;
            return Ok(());
        }
        self.walk = Some(Walk::start(&self.options, self.columns, None)?);
        Ok(())
    }

    fn remove(&mut self, table: Arc<Table>, way: Way, rows: Vec<Row>) {
        let to = match way {
            Way::Delete => Ok(None),
            Way::Trash => (self.look.trash)().map(Some),
        };
        match to {
            Ok(to) => {
                self.remover = Some(Remover::start(table, rows, to, self.answers.clone()));
            }
            Err(why) => self.app.answer(Answer::NotRemoved(why)),
        }
    }

    /// Opens a file with the program for it, which nobody waits for.
    fn open(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
        let mut opener = system::opener(&path);
        let program = opener.get_program().to_string_lossy().into_owned();
        let silent = opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let name = quote::for_terminal(path.as_os_str());
        match silent.spawn() {
            Ok(mut child) => {
                let answers = self.answers.clone();
                self.app.say(format!("opens {name}"));
                std::thread::spawn(move || {
                    if let Ok(status) = child.wait()
                        && !status.success()
                    {
                        let text = format!("{program} cannot open {name} ({status})");
                        // Whoever has left is not told.
                        let _ = answers.send(Answer::Failed(text));
                    }
                });
            }
            Err(error) => {
                self.fail(format!("cannot start {program}: {}", transect::reason(&error)));
            }
        }
    }

    fn fail(&mut self, text: String) {
        self.app.answer(Answer::Failed(text));
    }

    /// Stops what is on its way, and returns what was read.
    fn end(self) -> Result<Ended, Error> {
        if let Some(remover) = self.remover {
            remover.stop();
            remover.finish();
        }
        let mut read = self.read;
        if let Some(walk) = self.walk {
            walk.stop();
            let last = walk.finish()?;
            // Reading again in part says less than what was read before.
            read = read.or(Some(last));
        }
        let Read { table, interrupted, .. } = read.expect("BUG: a walk has ended or goes on");
        Ok(Ended { table, interrupted })
    }
}
