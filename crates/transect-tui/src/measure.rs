//! Times of keys in a directory with many entries, for the example `marks`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use transect::table::{Table, TableImporter};
use transect::{Attributes, FieldMask, FileType};

use crate::app::App;
use crate::event_loop::empty_table;
use crate::message::{Effect, Message};
use crate::view_options::ViewOptions;
use crate::widgets;

/// The time of one step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What was done.
    pub name: &'static str,
    /// How long it took.
    pub time: Duration,
}

/// Shows a directory of made-up entries on a screen of 200 × 60 in memory, marks all of them, and
/// unmarks them. Returns the time of each step; jobs that the view runs in the background are steps
/// of their own.
///
/// # Panics
/// If there is no memory for the table.
pub fn time_marks(entries: u32) -> Vec<Step> {
    let mut timed = Timed::new(entries);
    timed.draw("draw the directory");
    timed.press(' ', "mark one entry");
    timed.draw("draw again");
    timed.press('*', "mark all");
    timed.draw("draw again, all marked");
    timed.press('j', "move down");
    timed.draw("draw again");
    timed.press(' ', "unmark one entry");
    timed.draw("draw again");
    timed.press('n', "sort by name: the key");
    timed.run_jobs("sort by name: in the background");
    timed.draw("draw again");
    let again = Arc::new(table(entries));
    timed.step("take another table of the same tree", |app, _| {
        app.state.handle(Message::Table(again));
    });
    timed.run_jobs("sort: in the background");
    timed.draw("draw again, all marked");
    timed.press('u', "unmark all");
    timed.draw("draw again");
    timed.steps
}

struct Shown {
    state: App,
    view: ViewOptions,
    terminal: Terminal<TestBackend>,
}

struct Timed {
    app: Shown,
    steps: Vec<Step>,
}

impl Timed {
    fn new(entries: u32) -> Self {
        let view = ViewOptions {
            colour: true,
            time: Box::new(|time| format!("2026-01-31 {time}")),
            owner: |uid| uid.to_string(),
            trash: Box::new(|| Err("there is no trash".to_owned())),
            apparent: false,
            mouse: true,
            read_only: false,
            stored_at: None,
        };
        let terminal = Terminal::new(TestBackend::new(200, 60));
        let terminal = terminal.expect("BUG: a screen in memory has no errors");
        let state = App::new(empty_table(), &view);
        let mut timed = Self { app: Shown { state, view, terminal }, steps: Vec::new() };
        timed.step("make the table", |app, steps| {
            let table = Arc::new(table(entries));
            steps.clear();
            app.state.handle(Message::Table(table));
        });
        timed.run_jobs("sort by size: in the background");
        timed
    }

    fn step(&mut self, name: &'static str, run: impl FnOnce(&mut Shown, &mut Vec<Step>)) {
        let began = Instant::now();
        run(&mut self.app, &mut self.steps);
        self.steps.push(Step { name, time: began.elapsed() });
    }

    fn press(&mut self, letter: char, name: &'static str) {
        let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
        self.step(name, |app, _| app.state.press(key));
    }

    fn draw(&mut self, name: &'static str) {
        self.step(name, |Shown { state, view, terminal }, _| {
            let drawn = terminal.draw(|frame| widgets::draw(frame, state, view));
            let _ = drawn.expect("BUG: a screen in memory has no errors");
        });
    }

    fn run_jobs(&mut self, name: &'static str) {
        self.step(name, |app, _| {
            for effect in app.state.take_effects() {
                if let Effect::RunJob(table, job) = effect {
                    app.state.handle(job.run(&table));
                }
            }
        });
    }
}

/// Returns a table with one directory of files.
fn table(entries: u32) -> Table {
    let mut importer = TableImporter::new(FieldMask::MTIME | FieldMask::UID);
    importer.enter("root".as_ref(), &Attributes::of_type(FileType::Directory));
    let mut file = Attributes::of_type(FileType::File);
    for number in 0..entries {
        // Sizes in no order.
        let size = u64::from(number.wrapping_mul(2_654_435_761) >> 8);
        file.set_size(size);
        file.set_allocated(size.next_multiple_of(4096));
        file.set_mtime(i64::from(number) * 1_000_000_000);
        file.set_uid(1000);
        importer.add_entry(format!("file{number:08}").as_ref(), &file);
    }
    importer.leave().expect("BUG: the names differ");
    importer.finish().expect("BUG: there are fewer entries than rows")
}
