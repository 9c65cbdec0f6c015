//! The app with an in-memory screen and simulated keys.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent, MouseEventKind};
use transect::table::{Row, Table, TableImporter};
use transect::{Attributes, FieldMask, FileType, ScanOptions};
use transect_remove::{RemovalKind, Report, Trash};

use crate::app::App;
use crate::background::{
    Worker, empty_table, search_duplicates, start_emptying, start_reading_trash, start_removal,
    start_restoring,
};
use crate::message::{Effect, Message};
use crate::view_options::ViewOptions;
use crate::walk_thread::WalkThread;
use crate::widgets;

/// A file: its path from the root, its length, and its time of change in seconds.
pub(crate) type File<'a> = (&'a str, u64, i64);

#[derive(Default)]
struct Folder {
    folders: BTreeMap<OsString, Folder>,
    files: Vec<(OsString, u64, i64)>,
}

/// Returns a table with these files, and with an empty directory for each path that ends with `/`.
pub(crate) fn tree(files: &[File<'_>]) -> Arc<Table> {
    let mut root = Folder::default();
    for &(path, size, time) in files {
        let mut names: Vec<&str> = path.split('/').collect();
        let last = names.pop().expect("a path has a name");
        let mut folder = &mut root;
        for name in names {
            folder = folder.folders.entry(name.into()).or_default();
        }
        if !last.is_empty() {
            folder.files.push((last.into(), size, time));
        }
    }
    let mut importer = TableImporter::new(FieldMask::MTIME | FieldMask::UID);
    add_folder(&mut importer, &root);
    Arc::new(importer.finish().unwrap())
}

fn add_folder(importer: &mut TableImporter, folder: &Folder) {
    for (name, inside) in &folder.folders {
        importer.enter(name, &attributes(FileType::Directory, 0, 0));
        add_folder(importer, inside);
        importer.leave().unwrap();
    }
    for (name, size, time) in &folder.files {
        importer.add_entry(name, &attributes(FileType::File, *size, *time));
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

/// Returns the report of a removal of these rows.
pub(crate) fn report_of(gone: Vec<Row>) -> Report {
    let mut report = Report::default();
    report.gone = gone;
    report
}

pub(crate) fn view_options() -> ViewOptions {
    ViewOptions {
        colour: true,
        time: Box::new(|time| format!("2026-01-31 {time}")),
        owner: |uid| format!("user {uid}"),
        trash: Box::new(|| Err("there is no trash".to_owned())),
        apparent: false,
        mouse: true,
        read_only: false,
        stored_at: None,
        before: None,
        followed: None,
    }
}

/// Returns a key by its name: `Enter`, `Ctrl-C`, or the letter itself.
pub(crate) fn key(name: &str) -> KeyEvent {
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

pub(crate) struct TestApp {
    pub(crate) state: App,
    pub(crate) view: ViewOptions,
    pub(crate) terminal: Terminal<TestBackend>,
    /// Effects that the test app does not perform.
    pub(crate) effects: Vec<Effect>,
    /// The root of the tree on the disk, if there is one.
    disk: Option<PathBuf>,
}

impl TestApp {
    /// Shows a complete table on a screen of 80 × 24.
    pub(crate) fn with_table(table: Arc<Table>) -> Self {
        let mut app = Self::empty();
        app.send(Message::Table(table));
        app
    }

    /// Starts with an empty table.
    pub(crate) fn empty() -> Self {
        Self::with(view_options(), 80, 24)
    }

    pub(crate) fn with(view: ViewOptions, width: u16, height: u16) -> Self {
        let terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut app = Self {
            state: App::new(empty_table(), &view),
            view,
            terminal,
            effects: Vec::new(),
            disk: None,
        };
        app.draw();
        app
    }

    /// Shows a tree on the disk.
    pub(crate) fn on_disk(root: &Path) -> Self {
        let mut app = Self::empty();
        app.disk = Some(root.to_owned());
        let table = app.read(root);
        app.send(Message::Table(table));
        app
    }

    /// Puts the trash into a directory.
    pub(crate) fn trash_in(&mut self, home: &Path) {
        let trash = home.join("Trash");
        self.view.trash = Box::new(move || {
            let trash = Trash::new(trash.clone(), "2026-01-31T12:00:00");
            trash.map_err(|refused| refused.to_string())
        });
    }

    fn read(&self, root: &Path) -> Arc<Table> {
        let walk = WalkThread::start(&ScanOptions::new([root]), None).unwrap();
        walk.worker.join().unwrap().table
    }

    fn remove(&mut self, table: Arc<Table>, kind: RemovalKind, rows: Vec<Row>) {
        let trash = match kind {
            RemovalKind::Delete => Ok(None),
            RemovalKind::Trash => (self.view.trash)().map(Some),
        };
        self.run(|messages| start_removal(table, rows, trash, messages));
    }

    /// Runs work to its end, and handles its messages.
    fn run(&mut self, start: impl FnOnce(Sender<Message>) -> Worker<()>) {
        let (messages, received) = channel();
        start(messages).join();
        received.iter().for_each(|message| self.state.handle(message));
    }

    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.draw();
    }

    pub(crate) fn draw(&mut self) {
        self.terminal.draw(|frame| widgets::draw(frame, &mut self.state, &self.view)).unwrap();
    }

    pub(crate) fn send(&mut self, message: Message) {
        self.state.handle(message);
        self.run_effects();
    }

    /// Presses keys, separated by spaces.
    pub(crate) fn press(&mut self, keys: &str) {
        for name in keys.split_whitespace() {
            self.press_key(key(name));
        }
    }

    pub(crate) fn press_key(&mut self, key: KeyEvent) {
        self.state.press(key);
        self.run_effects();
    }

    /// Sends an event of the mouse at a column and a line of the screen.
    pub(crate) fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        self.state.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
        self.run_effects();
    }

    /// Types a text, letter by letter.
    pub(crate) fn type_in(&mut self, text: &str) {
        for letter in text.chars() {
            self.press_key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
    }

    /// Performs all effects that need only a table or the disk, and draws.
    pub(crate) fn run_effects(&mut self) {
        loop {
            let effects = self.state.take_effects();
            if effects.is_empty() {
                break self.draw();
            }
            for effect in effects {
                match effect {
                    Effect::RunJob(table, request, job) => {
                        self.state.handle(job.run(request, &table));
                    }
                    Effect::Remove { table, kind, rows } if self.disk.is_some() => {
                        self.remove(table, kind, rows);
                    }
                    Effect::FindDuplicates { request, table, options } if self.disk.is_some() => {
                        self.run(|messages| search_duplicates(request, table, options, messages));
                    }
                    Effect::ReadTrash { near } if self.disk.is_some() => {
                        let trash = (self.view.trash)();
                        self.run(|messages| start_reading_trash(trash, near, messages));
                    }
                    Effect::EmptyTrash { trash, rows, shown } => {
                        self.run(|messages| start_emptying(trash, rows, shown, messages));
                    }
                    Effect::Restore { entries, shown } => {
                        self.run(|messages| start_restoring(entries, shown, messages));
                    }
                    Effect::Rescan { .. } if self.disk.is_some() => {
                        let table = self.read(&self.disk.clone().expect("that was asked"));
                        self.state.handle(Message::Table(table));
                    }
                    Effect::RescanDirectory { table, directory } if self.disk.is_some() => {
                        let options = ScanOptions::new(self.disk.clone());
                        let walk = WalkThread::start_directory(&options, table, directory);
                        let read = walk.unwrap().worker.join().unwrap();
                        self.state.handle(Message::Table(read.table));
                    }
                    effect => self.effects.push(effect),
                }
            }
        }
    }

    /// Returns the name of the selected entry.
    pub(crate) fn selected(&self) -> String {
        let row = self.state.listing.selected();
        row.map(|row| self.state.table.name(row).to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the path of the current directory.
    pub(crate) fn current_path(&self) -> String {
        let path = self.state.directory.map(|at| self.state.table.path(at));
        path.map(|path| path.to_string_lossy().replace('\\', "/")).unwrap_or_default()
    }

    /// Returns the listed names in order.
    pub(crate) fn listed(&self) -> Vec<String> {
        let rows = self.state.listing.entries.rows.iter();
        rows.map(|&row| self.state.table.name(row).to_string_lossy().into_owned()).collect()
    }

    /// Returns the lines of the screen without trailing spaces.
    pub(crate) fn screen(&self) -> String {
        let buffer = self.terminal.backend().buffer();
        let lines = buffer.content.chunks(usize::from(buffer.area.width.max(1)));
        let lines = lines.map(|cells| {
            let mut line = String::new();
            let mut hidden = 0;
            for cell in cells {
                // A wide character hides the cell after it.
                if hidden == 0 {
                    line.push_str(cell.symbol());
                }
                hidden = transect_text::quote::width(cell.symbol()).max(hidden).saturating_sub(1);
            }
            line.trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the screen with a marked left edge.
    pub(crate) fn framed_screen(&self) -> String {
        let lines = self.screen();
        lines.lines().map(|line| format!("|{line}\n")).collect()
    }

    /// Returns the last line of the screen, with Unix path separators.
    pub(crate) fn last_line(&self) -> String {
        self.screen().lines().last().unwrap_or_default().trim().replace('\\', "/")
    }

    /// Selects an entry of the current directory.
    pub(crate) fn select(&mut self, name: &str) {
        let row = self.state.table.child(self.state.directory.unwrap(), OsStr::new(name)).unwrap();
        self.state.listing.select(row);
        self.draw();
    }
}
