//! A look at a tree that was given, with keys pressed and a screen of cells.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use transect::table::{Row, Table, TableImporter};
use transect::{Attributes, FieldMask, FileType, ScanOptions};
use transect_remove::Trash;

use crate::app::{Answer, App, Way, Wish};
use crate::look::Look;
use crate::remover::Remover;
use crate::run::nothing;
use crate::walk::{SHOWN, TOLD_APART, Walk};
use crate::widgets;

/// A file of a tree: its path with its root first, its length, and the second of its last change.
pub(crate) type File<'a> = (&'a str, u64, i64);

#[derive(Default)]
struct Folder {
    folders: BTreeMap<OsString, Folder>,
    files: Vec<(OsString, u64, i64)>,
}

/// Returns the table of a tree with these files, and with empty directories for paths that end
/// with `/`.
pub(crate) fn tree(files: &[File<'_>]) -> Arc<Table> {
    let mut top = Folder::default();
    for &(path, size, time) in files {
        let mut names: Vec<&str> = path.split('/').collect();
        let last = names.pop().expect("a path has a name");
        let mut folder = &mut top;
        for name in names {
            folder = folder.folders.entry(name.into()).or_default();
        }
        if !last.is_empty() {
            folder.files.push((last.into(), size, time));
        }
    }
    let mut given = TableImporter::new(FieldMask::MTIME | FieldMask::UID);
    give(&mut given, &top);
    Arc::new(given.finish().unwrap())
}

fn give(given: &mut TableImporter, folder: &Folder) {
    for (name, inside) in &folder.folders {
        given.enter(name, &attributes(FileType::Directory, 0, 0));
        give(given, inside);
        given.leave().unwrap();
    }
    for (name, size, time) in &folder.files {
        given.add_entry(name, &attributes(FileType::File, *size, *time));
    }
}

fn attributes(file_type: FileType, size: u64, seconds: i64) -> Attributes {
    let mut attributes = Attributes::of_type(file_type);
    attributes.set_size(size);
    attributes.set_allocated(size.next_multiple_of(4096));
    attributes.set_mtime(seconds.saturating_mul(1_000_000_000));
    attributes.set_uid(1000);
    attributes
}

pub(crate) fn look() -> Look {
    Look {
        colour: true,
        time: Box::new(|time| format!("2026-01-31 {time}")),
        owner: |uid| format!("user {uid}"),
        trash: Box::new(|| Err("there is no trash".to_owned())),
        apparent: false,
        read_only: false,
    }
}

/// A key by its name: `Enter`, `Ctrl-C`, or the letter itself.
fn key(name: &str) -> KeyEvent {
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Space" => KeyCode::Char(' '),
        "Backspace" => KeyCode::Backspace,
        "Down" => KeyCode::Down,
        "Up" => KeyCode::Up,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "PgDn" => KeyCode::PageDown,
        "PgUp" => KeyCode::PageUp,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        _ => {
            let letter = name.chars().last().expect("a key has a name");
            let control = name.starts_with("Ctrl-");
            let letter = if control { letter.to_ascii_lowercase() } else { letter };
            let modifiers = if control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
            return KeyEvent::new(KeyCode::Char(letter), modifiers);
        }
    };
    KeyEvent::new(code, KeyModifiers::NONE)
}

pub(crate) struct Session {
    pub(crate) app: App,
    pub(crate) look: Look,
    pub(crate) terminal: Terminal<TestBackend>,
    /// What was wished for and nobody has done.
    pub(crate) wishes: Vec<Wish>,
    /// What is looked at, if it is there to be removed.
    disk: Option<PathBuf>,
}

impl Session {
    /// Looks at a whole tree, on a screen of 80 × 24.
    pub(crate) fn of(table: Arc<Table>) -> Self {
        let mut session = Self::before();
        session.tell(Answer::Table(table));
        session
    }

    /// Looks at a tree of which nothing is known yet.
    pub(crate) fn before() -> Self {
        Self::with(look(), 80, 24)
    }

    pub(crate) fn with(look: Look, width: u16, height: u16) -> Self {
        let terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut session = Self {
            app: App::new(nothing(), &look),
            look,
            terminal,
            wishes: Vec::new(),
            disk: None,
        };
        session.draw();
        session
    }

    /// Looks at a tree on the disk.
    pub(crate) fn on_disk(root: &Path) -> Self {
        let mut session = Self::before();
        session.disk = Some(root.to_owned());
        let table = session.read(root);
        session.tell(Answer::Table(table));
        session
    }

    /// Has the trash in a directory.
    pub(crate) fn trash_in(&mut self, home: &Path) {
        let trash = home.join("Trash");
        self.look.trash = Box::new(move || {
            let trash = Trash::new(trash.clone(), "2026-01-31T12:00:00");
            trash.map_err(|refused| refused.to_string())
        });
    }

    fn read(&self, root: &Path) -> Arc<Table> {
        let walk = Walk::start(&ScanOptions::new([root]), SHOWN | TOLD_APART, None).unwrap();
        walk.finish().unwrap().table
    }

    fn remove(&mut self, table: Arc<Table>, way: Way, rows: Vec<Row>) {
        let to = match way {
            Way::Delete => None,
            Way::Trash => match (self.look.trash)() {
                Ok(trash) => Some(trash),
                Err(why) => return self.app.answer(Answer::NotRemoved(why)),
            },
        };
        let (answers, received) = channel();
        Remover::start(table, rows, to, answers).finish();
        received.iter().for_each(|answer| self.app.answer(answer));
    }

    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.draw();
    }

    fn draw(&mut self) {
        self.terminal.draw(|frame| widgets::draw(frame, &mut self.app, &self.look)).unwrap();
    }

    pub(crate) fn tell(&mut self, answer: Answer) {
        self.app.answer(answer);
        self.settle();
    }

    /// Presses keys, with blanks between them.
    pub(crate) fn press(&mut self, keys: &str) {
        for name in keys.split_whitespace() {
            self.press_key(key(name));
        }
    }

    pub(crate) fn press_key(&mut self, key: KeyEvent) {
        self.app.press(key);
        self.settle();
    }

    /// Types a text, letter by letter.
    pub(crate) fn type_in(&mut self, text: &str) {
        for letter in text.chars() {
            self.press_key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
    }

    /// Does what can be done with a table, and draws what came of it.
    fn settle(&mut self) {
        loop {
            let wishes = self.app.take_wishes();
            if wishes.is_empty() {
                break self.draw();
            }
            for wish in wishes {
                match wish {
                    Wish::Do(table, job) => self.app.answer(job.do_with(&table)),
                    Wish::Remove { table, way, rows } if self.disk.is_some() => {
                        self.remove(table, way, rows);
                    }
                    Wish::Read { .. } if self.disk.is_some() => {
                        let table = self.read(&self.disk.clone().expect("that was asked"));
                        self.app.answer(Answer::Table(table));
                    }
                    wish => self.wishes.push(wish),
                }
            }
        }
    }

    /// Returns the name of what is selected.
    pub(crate) fn selected(&self) -> String {
        let row = self.app.listing.selected();
        row.map(|row| self.app.table.name(row).to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the path of the directory that is shown.
    pub(crate) fn place(&self) -> String {
        let path = self.app.at.map(|at| self.app.table.path(at));
        path.map(|path| path.to_string_lossy().replace('\\', "/")).unwrap_or_default()
    }

    /// Returns the names that are listed, in their order.
    pub(crate) fn listed(&self) -> Vec<String> {
        let rows = self.app.listing.rows().iter();
        rows.map(|&row| self.app.table.name(row).to_string_lossy().into_owned()).collect()
    }

    /// Returns the lines of the screen, without blanks at their ends.
    pub(crate) fn screen(&self) -> String {
        let buffer = self.terminal.backend().buffer();
        let lines = buffer.content.chunks(usize::from(buffer.area.width.max(1)));
        let lines = lines.map(|cells| {
            let mut line = String::new();
            let mut hidden = 0;
            for cell in cells {
                // What is wide hides the cell behind it.
                if hidden == 0 {
                    line.push_str(cell.symbol());
                }
                hidden = transect_text::quote::width(cell.symbol()).max(hidden).saturating_sub(1);
            }
            line.trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the screen with its left edge.
    pub(crate) fn picture(&self) -> String {
        let lines = self.screen();
        lines.lines().map(|line| format!("|{line}\n")).collect()
    }

    /// Returns the last line of the screen; paths in it are written as on Unix.
    pub(crate) fn foot(&self) -> String {
        self.screen().lines().last().unwrap_or_default().trim().replace('\\', "/")
    }

    /// Selects an entry of the directory that is shown.
    pub(crate) fn select(&mut self, name: &str) {
        let row = self.app.table.child(self.app.at.unwrap(), OsStr::new(name)).unwrap();
        self.app.listing.select(row);
        self.draw();
    }
}
