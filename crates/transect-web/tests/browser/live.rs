//! A map that is looked at while the tree is being read, in a real browser. The reading stands still
//! where the tests want it to.

#![cfg(target_os = "linux")]

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde_json::json;
use transect::table::{PartialTable, Table, TableBuilder, TableSink};
use transect::{
    Cancel, Dir, Entering, FieldMask, FileType, Flow, Order, Progress, ScanError, ScanOptions,
    Sink, SkipReason, Visit, Want,
};
use transect_sys::fake::{FakeReader, FakeTree};
use transect_testkit::{Browser, loudly_skip};
use transect_web::map::{LiveMap, Measure, Settings};
use transect_web::serve::Server;

/// A name that would run if it were not text.
const EVIL: &str = "<img src=x onerror=\"window.ran = 1\">";

/// The names on the way to the directory that is looked at.
const WAY: &str = "return [...document.querySelectorAll('.crumbs button')].map(b => b.textContent)";

/// The names and the sizes in the table.
const ROWS: &str = "return [...document.querySelectorAll('tbody tr')].map(
    r => r.querySelector('.name').textContent + ' ' + r.children[1].textContent)";

/// Lets so many directories begin; that above the roots is one of them.
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

/// Fills a table as long as the gate is open.
struct Gated<'g> {
    sink: TableSink,
    gate: &'g Gate,
}

impl Sink for Gated<'_> {
    type Tag = u32;

    fn want(&self) -> Want {
        self.sink.want()
    }

    fn enter(&mut self, entering: Entering<'_, u32>) -> u32 {
        let number = self.sink.enter(entering);
        self.gate.wait_beyond(number);
        number
    }

    fn visit(&mut self, visit: Visit<'_, u32>) -> Flow {
        self.sink.visit(visit)
    }

    fn error(&mut self, dir: &Dir<u32>, error: ScanError) -> Flow {
        self.sink.error(dir, error)
    }

    fn vanished(&mut self, dir: &Dir<u32>, file_type: FileType) {
        self.sink.vanished(dir, file_type);
    }

    fn skipped(&mut self, dir: &Dir<u32>, reason: SkipReason) {
        self.sink.skipped(dir, reason);
    }

    fn merge(&mut self, other: Self) {
        self.sink.merge(other.sink);
    }
}

/// What a browser is shown, and what the test does with it.
struct Stage<'s> {
    cancel: Cancel,
    gate: &'s Gate,
    address: &'s str,
}

/// Whatever becomes of a test, nothing waits for it.
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
    // Charged to one of its names, when both are known.
    tree.link("/small/copy.mkv", "/large/inner/film.mkv");
    tree
}

/// Reads the tree as far as the gate allows, and serves the map of it.
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
        served: None,
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
        scope.spawn(|| live.finish(&read(), false).expect("memory for a map"));
        test(&Stage { cancel, gate: &gate, address: &address });
    });
}

fn browser(test: &str, width: u32) -> Option<Browser> {
    match Browser::start(width, 720) {
        Ok(browser) => Some(browser),
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

fn text(browser: &Browser, selector: &str) -> String {
    let script = format!("return document.querySelector('{selector}').textContent");
    browser.run(&script).as_str().expect("a text").to_owned()
}

#[test]
fn a_map_grows_under_the_eyes_of_who_walks_around_in_it() {
    let test = "a_map_grows_under_the_eyes_of_who_walks_around_in_it";
    let Some(browser) = browser(test, 1280) else { return };
    with_stage(|stage| {
        // The top, the root, what is large and what is in it.
        stage.gate.open(4);
        let _ = browser.requests();
        browser.visit(stage.address);
        browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
        browser.wait_for(ROWS, &json!(["large 10.0 MiB"]));
        browser.wait_for(
            "return document.querySelector('.reading').textContent.startsWith('Still reading: ')",
            &json!(true),
        );
        browser.click("tbody .link");
        assert_eq!(browser.run(WAY), json!(["/", "large"]));
        let known = ["1 entry not listed yet 8.00 MiB", "inner 2.00 MiB", "beside 0 B"];
        assert_eq!(browser.run(ROWS), json!(known), "the film waits for its other name");
        // The name of a directory that is magnified, chosen, and searched for.
        browser.run("[...document.querySelectorAll('tbody .link')].at(0).focus();
            [...document.querySelectorAll('tbody .link')].at(0).click();
            const map = document.querySelector('#map'); const box = map.getBoundingClientRect();
            map.dispatchEvent(new WheelEvent('wheel', { deltaY: -200, cancelable: true, bubbles: true,
                clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }))");
        let magnified = "return document.querySelector('#map').style.touchAction";
        browser.wait_for(magnified, &json!("none"));
        assert!(text(&browser, "#detail").starts_with("/large/inner"));

        // One directory more: the same page, the same place, larger numbers.
        stage.gate.open(5);
        let more = ["beside 20.0 MiB", "1 entry not listed yet 8.00 MiB", "inner 2.00 MiB"];
        browser.wait_for(ROWS, &json!(more));
        assert_eq!(browser.run(WAY), json!(["/", "large"]));
        assert_eq!(browser.run(magnified), "none");
        assert!(text(&browser, "#detail").starts_with("/large/inner"));
        assert_eq!(browser.run("return document.activeElement.textContent"), "inner/");
        assert_eq!(text(&browser, "tbody .chosen .name"), "inner");
        browser.type_into("#search", "film");
        browser.wait_for(ROWS, &json!([]));

        stage.gate.open(u32::MAX);
        browser.wait_for(ROWS, &json!(["film.mkv 40.0 MiB"]));
        assert_eq!(browser.run(WAY), json!(["/", "large"]));
        assert_eq!(browser.run(magnified), "none");
        browser.wait_for("return document.querySelector('.reading').hidden", &json!(true));
        let footer = text(&browser, "footer");
        assert!(footer.starts_with("12 entries, 74.0 MiB long"), "{footer}");
        // Escape ends the search.
        browser.type_into("#search", "\u{e00c}");
        let all = ["inner 42.0 MiB", "beside 20.0 MiB", "own.iso 8.00 MiB"];
        browser.wait_for(ROWS, &json!(all));
        assert_eq!(text(&browser, "tbody .chosen .name"), "inner");
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
fn a_page_is_there_before_anything_is() {
    let Some(browser) = browser("a_page_is_there_before_anything_is", 390) else { return };
    with_stage(|stage| {
        browser.visit(stage.address);
        browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
        assert_eq!(text(&browser, ".empty"), "Nothing that is in here has been read yet.");
        assert_eq!(browser.run(ROWS), json!([]));
        let first = "return document.querySelector('.reading').textContent";
        browser.wait_for(first, &json!("Still reading: 0 entries"));
        stage.gate.open(u32::MAX);
        browser.wait_for(ROWS, &json!(["large 70.0 MiB", "small 4.00 MiB"]));
        assert_eq!(browser.run(WAY), json!(["/"]));
        assert_eq!(browser.run("return document.title"), "/ · transect map");
        assert_eq!(browser.console(), Vec::<String>::new());
    });
}

#[test]
fn who_looks_is_told_that_the_reading_has_ended_early() {
    let test = "who_looks_is_told_that_the_reading_has_ended_early";
    let Some(browser) = browser(test, 1280) else { return };
    with_stage(|stage| {
        stage.gate.open(4);
        browser.visit(stage.address);
        browser.wait_for(ROWS, &json!(["large 10.0 MiB"]));
        browser.go_offline();
        let told = "return document.querySelector('.reading.doubt')?.textContent ?? null";
        browser.wait_for(told, &json!("transect has ended before all of it was read"));
        browser.click("tbody .link");
        assert_eq!(browser.run(WAY), json!(["/", "large"]), "what is known is still there");
    });
}
