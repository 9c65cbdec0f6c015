//! Maps of trees that are still being read, in a real browser. The tests control the progress.

#![cfg(target_os = "linux")]

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde_json::json;
use transect::internal::Order;
use transect::table::{PartialTable, Table, TableBuilder, TableSink};
use transect::{
    Cancel, Dir, Entering, FieldMask, FileType, Flow, Omission, Progress, ScanOptions, Sink, Tag,
    Visit, Want,
};
use transect_sys::fake::{FakeReader, FakeTree};
use transect_testkit::{Browser, loudly_skip};
use transect_web::map::{LiveMap, Measure, Settings};
use transect_web::serve::Server;

/// A name that would run a script if it were markup.
const EVIL: &str = "<img src=x onerror=\"window.ran = 1\">";

/// The path of the current directory.
pub(crate) const WAY: &str =
    "return [...document.querySelectorAll('.crumbs button')].map(b => b.textContent)";

/// The names and sizes in the table.
pub(crate) const ROWS: &str = "return [...document.querySelectorAll('tbody tr')].map(
    r => r.querySelector('.name').textContent + ' ' + r.children[1].textContent)";

/// Allows this many directories to be read; the parent of the roots counts as one.
#[derive(Debug, Default)]
struct Gate {
    open: Mutex<u32>,
    moved: Condvar,
}

impl Gate {
    fn open(&self, directories: u32) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = directories;
        self.moved.notify_all();
    }

    fn wait_beyond(&self, number: u32) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = self.moved.wait_while(open, |open| *open <= number);
        drop(opened.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Fills a table as far as the gate allows.
struct Gated<'g> {
    sink: TableSink,
    gate: &'g Gate,
}

impl Sink for Gated<'_> {
    fn want(&self) -> Want {
        self.sink.want()
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        let tag = self.sink.enter(entering);
        self.gate.wait_beyond(tag.number().expect("a table numbers its directories"));
        tag
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        self.sink.visit(visit)
    }

    fn omit(&mut self, dir: &Dir, omission: Omission<'_>) -> Flow {
        self.sink.omit(dir, omission)
    }

    fn merge(&mut self, other: Self) {
        self.sink.merge(other.sink);
    }
}

/// A served map, and its controls for the test.
struct Stage<'s> {
    cancel: Cancel,
    gate: &'s Gate,
    address: &'s str,
}

/// Releases all waiting threads, even if the test panics.
impl Drop for Stage<'_> {
    fn drop(&mut self) {
        self.gate.open(u32::MAX);
        self.cancel.cancel();
    }
}

fn tree() -> FakeTree {
    const MIB: u64 = 1 << 20;
    let mut tree = FakeTree::new();
    for path in ["/large", "/large/inner", "/large/beside", "/small"] {
        tree.add(path, FileType::Directory, 0);
    }
    tree.add(&format!("/small/{EVIL}"), FileType::Directory, 0);
    for (path, mebibytes) in
        [("large/inner/film.mkv", 40), ("large/inner/notes.txt", 2), ("large/own.iso", 8)]
    {
        tree.add(&format!("/{path}"), FileType::File, mebibytes * MIB);
    }
    tree.add("/large/beside/photo.jpg", FileType::File, 20 * MIB);
    tree.add(&format!("/small/{EVIL}/{EVIL}"), FileType::File, 4 * MIB);
    // Charged to one of its names once both are known.
    tree.link("/small/copy.mkv", "/large/inner/film.mkv");
    tree
}

/// Reads the tree as far as the gate allows, and serves its map.
fn with_stage(test: impl FnOnce(&Stage<'_>)) {
    let (tree, open, gate) = (Arc::new(tree()), Arc::default(), Gate::default());
    let (outline, progress) = (PartialTable::new(), Arc::new(Progress::new()));
    let builder = TableBuilder::new(FieldMask::UID | FieldMask::MTIME).partial_table(&outline);
    let settings = Settings {
        measure: Measure::Apparent,
        max_entries: 1000,
        owner_name: |uid| uid.to_string(),
        read_at: 1_800_000_000,
        interrupted: false,
        disk: None,
        served: None,
        removal: None,
        followed: false,
    };
    let cancel = Cancel::new();
    let live = LiveMap::new(outline, settings, Arc::clone(&progress), cancel.clone());
    let options = ScanOptions::new(["/"]).order(Order::Recursive).progress(progress);
    let plan = options.plan().expect("the options are right");
    let read = || -> Table {
        let sink = || Gated { sink: builder.sink(), gate: &gate };
        let reader = || FakeReader::new(Arc::clone(&tree), Arc::clone(&open));
        let outcome = plan.run_with(sink, reader).expect("the walk begins");
        outcome.sink.sink.into_table().expect("a small tree")
    };
    let server = Server::start().expect("a port");
    let address = server.address();
    std::thread::scope(|scope| {
        scope.spawn(|| server.serve(&live).expect("a server"));
        scope.spawn(|| live.finish(read(), &settings).expect("memory for a map"));
        test(&Stage { cancel, gate: &gate, address: &address });
    });
}

pub(crate) fn browser(test: &str, width: u32) -> Option<Browser> {
    match Browser::start(width, 720) {
        Ok(browser) => Some(browser),
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

pub(crate) fn text(browser: &Browser, selector: &str) -> String {
    let script = format!("return document.querySelector('{selector}').textContent");
    browser.run(&script).as_str().expect("a text").to_owned()
}

#[test]
fn map_grows_while_user_navigates() {
    let test = "map_grows_while_user_navigates";
    let Some(browser) = browser(test, 1280) else { return };
    with_stage(|stage| {
        // The top, the root, the large directory and its entry.
        stage.gate.open(4);
        let _ = browser.requests();
        browser.visit(stage.address);
        browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
        browser.wait_for(ROWS, &json!(["large 10.0 MiB"]));
        browser.wait_for(
            "return document.querySelector('.reading').textContent.startsWith('Reading: ')",
            &json!(true),
        );
        browser.click("tbody .link");
        assert_eq!(browser.run(WAY), json!(["/", "large"]));
        let known = ["own.iso 8.00 MiB", "inner 2.00 MiB", "beside 0 B"];
        assert_eq!(browser.run(ROWS), json!(known), "the film waits for its other name");
        // Large files have colours.
        browser.wait_for(
            "return document.querySelector('#legend button')?.dataset.class",
            &json!("archives"),
        );
        // A directory magnified, selected and searched for.
        browser.run("[...document.querySelectorAll('tbody .link')].at(2).focus();
            [...document.querySelectorAll('tbody .link')].at(2).click();
            const map = document.querySelector('#map'); const box = map.getBoundingClientRect();
            map.dispatchEvent(new WheelEvent('wheel', { deltaY: -200, cancelable: true, bubbles: true,
                clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }))");
        let magnified = "return document.querySelector('#map').style.touchAction";
        browser.wait_for(magnified, &json!("none"));
        assert!(text(&browser, "#detail").starts_with("/large/beside"));

        // One more directory: the same page and position, larger numbers.
        stage.gate.open(5);
        let more = ["beside 20.0 MiB", "own.iso 8.00 MiB", "inner 2.00 MiB"];
        browser.wait_for(ROWS, &json!(more));
        assert_eq!(browser.run(WAY), json!(["/", "large"]));
        assert_eq!(browser.run(magnified), "none");
        assert!(text(&browser, "#detail").starts_with("/large/beside"));
        assert_eq!(browser.run("return document.activeElement.textContent"), "beside/");
        assert_eq!(text(&browser, "tbody .chosen .name"), "beside");
        browser.type_into("#search", "film");
        browser.wait_for(ROWS, &json!([]));

        stage.gate.open(u32::MAX);
        browser.wait_for(ROWS, &json!(["film.mkv 40.0 MiB"]));
        assert_eq!(browser.run(WAY), json!(["/", "large"]));
        assert_eq!(browser.run(magnified), "none");
        browser.wait_for("return document.querySelector('.reading').hidden", &json!(true));
        let footer = text(&browser, "footer");
        assert!(footer.starts_with("12 entries, 74.0 MiB apparent size"), "{footer}");
        // Escape ends the search.
        browser.type_into("#search", "\u{e00c}");
        let all = ["inner 42.0 MiB", "beside 20.0 MiB", "own.iso 8.00 MiB"];
        browser.wait_for(ROWS, &json!(all));
        assert_eq!(text(&browser, "tbody .chosen .name"), "beside");
        browser.click(".crumbs button");
        browser.wait_for(ROWS, &json!(["large 70.0 MiB", "small 4.00 MiB"]));
        browser.click("tbody tr:nth-child(2) .link");
        browser.wait_for(ROWS, &json!([format!("{EVIL} 4.00 MiB"), "copy.mkv 0 B".to_owned()]));
        assert_eq!(browser.run("return document.querySelectorAll('img').length"), 0);
        assert_eq!(browser.run("return window.ran === undefined"), true);
        assert_eq!(browser.console(), Vec::<String>::new());
        let foreign =
            |address: &String| !address.starts_with("blob:") && !address.starts_with(stage.address);
        let requests = browser.requests();
        assert!(!requests.iter().any(foreign), "{requests:?}");
    });
}

#[test]
fn page_served_before_anything_is_read() {
    let Some(browser) = browser("page_served_before_anything_is_read", 390) else { return };
    with_stage(|stage| {
        browser.visit(stage.address);
        browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
        assert_eq!(text(&browser, ".empty"), "Nothing read yet.");
        assert_eq!(browser.run(ROWS), json!([]));
        let first = "return document.querySelector('.reading').textContent";
        browser.wait_for(first, &json!("Reading: 0 entries"));
        stage.gate.open(u32::MAX);
        browser.wait_for(ROWS, &json!(["large 70.0 MiB", "small 4.00 MiB"]));
        assert_eq!(browser.run(WAY), json!(["/"]));
        assert_eq!(browser.run("return document.title"), "/ · transect map");
        assert_eq!(browser.console(), Vec::<String>::new());
    });
}

#[test]
fn page_shows_that_reading_ended_early() {
    let test = "page_shows_that_reading_ended_early";
    let Some(browser) = browser(test, 1280) else { return };
    with_stage(|stage| {
        stage.gate.open(4);
        browser.visit(stage.address);
        browser.wait_for(ROWS, &json!(["large 10.0 MiB"]));
        browser.go_offline();
        let told = "return document.querySelector('.reading.doubt')?.textContent ?? null";
        browser.wait_for(told, &json!("transect ended before reading was complete"));
        browser.click("tbody .link");
        assert_eq!(browser.run(WAY), json!(["/", "large"]), "what is known is still there");
    });
}
