//! The lab's page in a real browser, and the other formats of the report. The sessions are written by
//! hand, with hostile names.

use std::path::PathBuf;

use serde_json::{Value, json};
use transect_testkit::Browser;

use crate::harness::{TestEnv, skip};

const BASE: &str = "base";
const AGAIN: &str = "base (again)";

/// Names that would be markup, run, or reverse the text around them if they were not text.
const NAMES: [&str; 6] = [
    "<img src=x onerror=\"window.ran = 1\">",
    "</script><script>window.ran = 2</script>",
    "<!-- <script>",
    "\"&'",
    "\u{202e}txt.exe",
    "a,b | `c`",
];

/// A session written by hand.
struct Session {
    preset: &'static str,
    /// Names and numbers of files.
    places: Vec<(String, u64)>,
    passes: Vec<&'static str>,
    rounds: u64,
    /// Names, languages and nanoseconds.
    cells: Vec<(String, &'static str, u64)>,
    /// KiB that each run reads from devices.
    read_kib: u64,
}

impl Session {
    /// Cells with hostile and ordinary names; later ones are slower.
    fn new() -> Self {
        let plain = [BASE, AGAIN, "floor", "c-readdir", "python-walk"];
        let languages = ["Rust", "Rust", "C", "C", "Python"];
        let times = [1_000_000, 1_000_000, 900_000, 1_500_000, 40_000_000];
        let mut cells: Vec<(String, &'static str, u64)> = plain
            .into_iter()
            .zip(languages)
            .zip(times)
            .map(|((name, language), time)| (name.to_owned(), language, time))
            .collect();
        for (at, name) in NAMES.into_iter().enumerate() {
            cells.push((name.to_owned(), "Go", 2_000_000 + 100_000 * at as u64));
        }
        Self {
            preset: "quick",
            places: vec![("flat-1000".to_owned(), 1000)],
            passes: vec!["warm"],
            rounds: 12,
            cells,
            read_kib: 0,
        }
    }

    fn text(&self) -> String {
        let nothing = json!({"names": 0, "bytes": 0, "distinct_bytes": 0});
        let place = |(name, files): &(String, u64)| {
            json!({"name": name, "root": format!("/corpora/{name}"),
                "file_system": {"name": "ext4", "options": "rw,relatime"},
                "expected": {"files": files, "directories": 1, "bytes": 10, "errors": 0},
                "inventory": {"files": nothing, "directories": nothing, "symlinks": nothing,
                    "others": nothing, "errors": 0, "unasked": 0}})
        };
        let cell = |(name, language, _): &(String, &str, u64)| {
            let kind = if name.starts_with("portable/") { "engine" } else { "contender" };
            json!({"name": name, "method": name, "contract": ["A29"], "language": language,
                "kind": kind, "parallel": false})
        };
        let mut cells: Vec<Value> = self.cells.iter().map(cell).collect();
        cells.push(cell(&("wrong".to_owned(), "C", 0)));
        let header = json!({
            "schema": "transect.lab/1", "preset": self.preset,
            "environment": {
                "began": 1_700_049_600, "processor": "A Processor", "cores": 2,
                "memory": 1_u64 << 30, "system": "Linux 6.1", "hypervisor": true, "load": "0.10",
                "version": "0.1.0", "command": ["transect", "lab", "run", NAMES[0]],
            },
            "places": self.places.iter().map(place).collect::<Vec<_>>(),
            "passes": self.passes, "rounds": self.rounds, "runs": 1,
            "seed": 18_446_744_073_709_551_557_u64, "limit": 120, "cells": cells,
            "base": BASE, "again": AGAIN, "floor": "floor", "parallel_floor": null,
        });
        let mut lines = vec![header];
        for (place, (_, files)) in self.places.iter().enumerate() {
            let work = json!({"files": files, "directories": 1, "bytes": 10, "errors": 0});
            for pass in 0..self.passes.len() {
                for round in 0..self.rounds {
                    for (at, (name, _, time)) in self.cells.iter().enumerate() {
                        let mut run = work.clone();
                        let noise = (round * 7 + at as u64 * 3) % 5 * 1000;
                        run["elapsed_ns"] = (time * files / 1000 + noise).into();
                        lines.push(json!({
                            "record": "sample", "round": round, "place": place, "pass": pass,
                            "cell": name, "outcome": "right", "runs": [run],
                            "usage": {"wall_ns": time, "user_ns": time, "system_ns": time,
                                "peak_memory": 4096},
                            "read_kib": self.read_kib,
                        }));
                    }
                }
            }
            lines.push(json!({"record": "sample", "round": 0, "place": place, "pass": 0,
                "cell": "wrong", "outcome": "wrong", "found": NAMES[0]}));
            for (name, _, _) in &self.cells {
                lines.push(
                    json!({"record": "calls", "place": place, "pass": 0, "cell": name, "calls":
                    {"opening_ns": 1000, "opening_calls": 1, "listing_ns": 2000,
                        "listing_calls": 2, "attributes_ns": 3000, "attributes_calls": 2,
                        "threads": 2}}),
                );
                lines.push(json!({"record": "accesses", "place": place, "cell": name, "accesses":
                    {"entries": files, "calls": 4 * files, "opens": 1, "listings": 2, "attributes": files}}));
            }
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The number of cells, including the wrong one.
    fn rows(&self) -> usize {
        self.cells.len() + 1
    }
}

/// Writes a session and its page; returns the path of the page.
fn page(env: &TestEnv, session: &Session) -> PathBuf {
    env.text("session.jsonl", &session.text());
    let written = env.lab(["report", "session.jsonl", "--html", "page.html"]);
    assert_eq!(written.exits(0).quiet().stdout_text(), "");
    env.path("page.html")
}

/// Opens the page of a session. Skips the test if there is no browser.
fn open(test: &str, env: &TestEnv, session: &Session) -> Option<Browser> {
    let page = page(env, session);
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return skip(test, &reason),
    };
    browser.open(&page);
    browser.click("#all > summary");
    Some(browser)
}

#[track_caller]
fn assert_silent(browser: &Browser) {
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// Returns the number of elements that match a selector.
fn count(browser: &Browser, selector: &str) -> u64 {
    let script = format!("return document.querySelectorAll('{selector}').length");
    browser.run(&script).as_u64().expect("a number")
}

/// Returns the methods in the table, from first to last.
fn methods(browser: &Browser) -> Vec<String> {
    let script =
        "return [...document.querySelectorAll('#table tbody tr')].map(r => r.dataset.method)";
    let methods = browser.run(script);
    let text = |method: &Value| method.as_str().expect("a name").to_owned();
    methods.as_array().expect("a list").iter().map(text).collect()
}

/// Converts a session into one of transforms, in which only `c-readdir` writes everything to the device
/// and every sample is disturbed.
fn of_files(session: &str) -> String {
    let nothing = json!({"wall_ns": 1, "user_ns": 1, "system_ns": 1, "peak_memory": 1});
    let each = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("an object");
        if line["schema"] == "transect.lab/1" {
            line["transform"] = json!({"kind": "copy", "sync": "none"});
            for place in line["places"].as_array_mut().expect("a list") {
                place["digests"] = json!({"input": "", "output": ""});
            }
        }
        if line["outcome"] == "right" {
            let unwritten = if line["cell"] == "c-readdir" { 0 } else { 1 << 20 };
            line["passed"] = json!({"bytes": 1 << 20, "resident": 1 << 20, "written": 1 << 20,
                "unwritten": unwritten, "primed": nothing});
            line["runs"][0]["cpu_ns"] = line["runs"][0]["elapsed_ns"].clone();
            line["beside"] = json!({"wall_ns": 1, "processors": 2, "foreign_ns": 1, "stolen_ns": 0,
                "lab_ns": 0, "running": 0, "disturbed": ["foreign"]});
        }
        format!("{line}\n")
    };
    session.lines().map(each).collect()
}

#[test]
fn page_lists_synced_methods_separately() {
    let env = TestEnv::new();
    let session = Session::new();
    env.text("session.jsonl", &of_files(&session.text()));
    let written = env.lab(["report", "session.jsonl", "--html", "page.html"]);
    assert_eq!(written.exits(0).quiet().stdout_text(), "");
    let page = std::fs::read_to_string(env.path("page.html")).expect("the page");
    let (plain, _) = page.split_once("application/json").expect("the data");
    assert!(plain.contains("CPU time is compared"), "{plain}");
    let title = "\nListed separately, not ranked:\n";
    let (_, apart) = plain.split_once(title).expect("a table apart");
    assert!(apart.contains("c-readdir") && !apart.contains("python-walk"), "{apart}");
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => {
            let test = "page_lists_synced_methods_separately";
            return skip(test, &reason).unwrap_or_default();
        }
    };
    browser.open(&env.path("page.html"));
    browser.click("#all > summary");
    let all = methods(&browser);
    assert!(!all.contains(&"c-readdir".to_owned()), "{all:?}");
    assert_eq!(all.len(), session.rows() - 1);
    assert_eq!(count(&browser, "#apart tbody tr[data-method=c-readdir]"), 1);
    let text = |selector: &str| {
        let script = format!("return document.querySelector('{selector}').textContent");
        browser.run(&script).as_str().expect("a text").to_owned()
    };
    assert_eq!(text("#table h2"), "All numbers, by CPU time");
    assert_eq!(text(".count"), "12 rows");
    browser.click("#apart .link");
    assert!(text("dialog").contains("listed separately"), "{}", text("dialog"));
    assert_silent(&browser);
}

#[test]
fn page_shows_every_sample_and_cell() {
    let (env, session) = (TestEnv::new(), Session::new());
    let Some(browser) = open("page_shows_every_sample_and_cell", &env, &session) else {
        return;
    };
    let cells = session.cells.len() as u64;
    assert_eq!(count(&browser, "#samples .dot"), cells * session.rounds);
    assert_eq!(count(&browser, "#samples .median"), cells);
    assert_eq!(methods(&browser).len(), session.rows());
    // The base is compared with nothing; the repeated base shows the noise.
    assert_eq!(count(&browser, "#ratios .whisker"), cells - 1);
    assert_eq!(count(&browser, "#calls .row rect:not(.band)"), 4 * cells);
    assert_eq!(count(&browser, "#plain"), 0, "the plain tables are for browsers without scripts");
    let sentence = browser.run("return document.querySelector('.summary .sentence').textContent");
    let sentence = sentence.as_str().expect("a text");
    assert!(sentence.contains("of 9 methods") && sentence.contains("base"), "{sentence}");
    let facts = browser.run("return document.querySelector('#environment').textContent");
    let facts = facts.as_str().expect("a text");
    for fact in ["18446744073709551557", "2, virtual", "rw,relatime", "2023-11-15 12:00 UTC"] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    // The logarithmic scale is chosen for a wide range; the user may choose the other one.
    browser.click("#samples [data-value=linear]");
    let pressed = "return document.querySelector('#samples [aria-pressed=true]').textContent";
    assert_eq!(browser.run(pressed), "linear");
    browser.click("#ratios [data-value=floor]");
    assert_eq!(count(&browser, "#ratios .whisker"), cells - 1, "all but the floor");
    assert_silent(&browser);
}

#[test]
fn page_names_never_become_markup() {
    let env = TestEnv::new();
    let mut session = Session::new();
    session.places.push((NAMES[1].to_owned(), 2000));
    let Some(browser) = open("page_names_never_become_markup", &env, &session) else { return };
    let shown = methods(&browser);
    for name in NAMES {
        assert!(shown.iter().any(|method| method == name), "{name}: {shown:?}");
        let script =
            "return [...document.querySelectorAll('#table .link')].map(b => b.textContent)";
        let buttons = browser.run(script);
        // Direction marks become visible escapes.
        let name = name.replace('\u{202e}', "\\u{202e}");
        assert!(buttons.as_array().expect("a list").contains(&json!(name)), "{name}");
    }
    let tab = browser.run("return document.querySelectorAll('[role=tab]')[1].textContent");
    assert_eq!(tab, NAMES[1]);
    // Also in the details and in tooltips.
    browser.run(
        "for (const b of document.querySelectorAll('#table .link')) {
        b.click(); document.querySelector('dialog').close();
    }",
    );
    assert_eq!(count(&browser, "img"), 0);
    assert_eq!(count(&browser, "script"), 2);
    assert_eq!(browser.run("return window.ran === undefined"), true);
    // Whatever is beside a name that turns the direction keeps its own.
    let isolated = "return [...document.querySelectorAll('bdi')].every(
        b => getComputedStyle(b).unicodeBidi === 'isolate')";
    assert_eq!(browser.run(isolated), true);
    assert_silent(&browser);
}

#[test]
fn page_table_sorts_by_clicked_column() {
    let (env, session) = (TestEnv::new(), Session::new());
    let Some(browser) = open("page_table_sorts_by_clicked_column", &env, &session) else {
        return;
    };
    let fastest = methods(&browser);
    assert_eq!((&*fastest[0], &*fastest[fastest.len() - 1]), ("floor", "wrong"));
    browser.click("[data-column=median]");
    let slowest = methods(&browser);
    assert_eq!((&*slowest[0], &*slowest[slowest.len() - 1]), ("python-walk", "wrong"));
    let sort = "return document.querySelector('[aria-sort]').getAttribute('aria-sort')";
    assert_eq!(browser.run(sort), "descending");
    // By keyboard, too; what has no ratio is last in both directions.
    for _ in 0..2 {
        browser.type_into("[data-column=to_base]", "\u{e007}");
        let sorted = methods(&browser);
        assert_eq!(sorted[sorted.len() - 3..].iter().filter(|m| m.starts_with(BASE)).count(), 2);
    }
    browser.click("[data-column=method]");
    let mut names: Vec<String> = methods(&browser);
    assert_eq!(names.pop().as_deref(), Some("wrong"));
    assert!(names.is_sorted_by_key(|name| name.to_lowercase()), "{names:?}");
    assert_silent(&browser);
}

#[test]
fn page_filters_apply_to_charts_table_and_csv() {
    let (env, session) = (TestEnv::new(), Session::new());
    let test = "page_filters_apply_to_charts_table_and_csv";
    let Some(browser) = open(test, &env, &session) else { return };
    browser.type_into("#filter", "READDIR c");
    assert_eq!(methods(&browser), ["c-readdir"]);
    assert_eq!(count(&browser, "#samples .dot"), session.rounds);
    assert_eq!(count(&browser, "#ratios .whisker"), 1);
    let told = browser.run("return document.querySelector('.count').textContent");
    assert_eq!(told, format!("1 of {}", session.rows()));
    browser.type_into("#filter", " nothing");
    assert_eq!(methods(&browser), Vec::<String>::new());
    assert_eq!(count(&browser, "#samples .nothing"), 1);
    browser.run(
        "const f = document.querySelector('#filter'); f.value = '';
        f.dispatchEvent(new Event('input'))",
    );
    let choose = |id: &str, value: &str| {
        browser.run(&format!(
            "const s = document.querySelector('#{id}'); s.value = '{value}';
            s.dispatchEvent(new Event('change'))"
        ));
    };
    choose("language", "Go");
    assert_eq!(methods(&browser).len(), NAMES.len());
    choose("language", "");
    choose("verdict", "unranked");
    assert_eq!(methods(&browser), ["wrong"]);
    choose("verdict", "slower");
    assert_eq!(methods(&browser).len(), NAMES.len() + 2);
    choose("colour", "language");
    assert!(count(&browser, "#samples .row.l1") > 0 && count(&browser, "#samples .v-slower") == 0);
    choose("language", "Python");
    // Records the copied text: the button may use a temporary field.
    browser.run(
        "window.copied = []; document.execCommand = () => {
        window.copied.push(document.activeElement.value); return true; };
        Object.defineProperty(navigator, 'clipboard', { value: { writeText: (text) => {
            window.copied.push(text); return Promise.resolve(); } } })",
    );
    browser.click("#table .controls button");
    let copied = browser.run("return window.copied[0]");
    let copied = copied.as_str().expect("a text");
    assert_eq!(copied.lines().count(), 2, "{copied}");
    let csv = env.lab(["report", "session.jsonl", "--csv"]).exits(0).stdout_text();
    for line in copied.lines() {
        assert!(csv.lines().any(|other| other == line), "{line}");
    }
    assert!(copied.contains(",python-walk,"), "{copied}");
    assert_silent(&browser);
}

#[test]
fn page_has_tab_for_every_dataset_and_state() {
    let env = TestEnv::new();
    let mut session = Session::new();
    session.places.push(("flat-5000".to_owned(), 5000));
    session.passes = vec!["warm", "as_is"];
    let Some(browser) = open("page_has_tab_for_every_dataset_and_state", &env, &session) else {
        return;
    };
    assert_eq!(count(&browser, "[role=tab]"), 4);
    let seen = "return [document.querySelector('.tiles').textContent,
        document.querySelector('#samples .value').textContent]";
    let first = browser.run(seen);
    assert!(first[0].as_str().expect("a text").contains("1,001 entries"), "{first}");
    browser.click("[data-key=place][data-at='1']");
    let second = browser.run(seen);
    assert!(second[0].as_str().expect("a text").contains("5,001 entries"), "{second}");
    assert_ne!(first[1], second[1]);
    // Tabs by keyboard.
    browser.type_into("[data-key=pass][aria-selected=true]", "\u{e014}");
    let state = browser.run(seen);
    assert!(state[0].as_str().expect("a text").contains("as is"), "{state}");
    // A line for every method except the repeated base, and a point for every tree.
    browser.click("#scaling [data-value=all]");
    let lines = session.cells.len() as u64 - 1;
    assert_eq!(count(&browser, "#scaling .line path"), lines);
    assert_eq!(count(&browser, "#scaling .line circle"), 2 * lines);
    assert_eq!(count(&browser, "#article:not([hidden])"), 0, "it is no session of an article");
    assert_silent(&browser);
}

#[test]
fn page_details_by_click_and_keyboard() {
    let (env, session) = (TestEnv::new(), Session::new());
    let test = "page_details_by_click_and_keyboard";
    let Some(browser) = open(test, &env, &session) else { return };
    browser.click("#table .link");
    assert_eq!(browser.run("return document.querySelector('#detail-title').textContent"), "floor");
    assert_eq!(count(&browser, "dialog[open] .dot"), session.rounds);
    assert_eq!(count(&browser, "dialog[open] .samples li"), session.rounds);
    browser.click("dialog header button");
    assert_eq!(count(&browser, "dialog[open]"), 0);
    // The third method, its second round.
    browser.run("document.querySelector('#samples svg').focus()");
    for key in ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"] {
        browser.run(&format!(
            "document.querySelector('#samples svg').dispatchEvent(
            new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        ));
    }
    let told = browser.run("return document.querySelector('[role=status]').textContent");
    let told = told.as_str().expect("a text");
    assert!(told.contains("round 2: "), "{told}");
    browser.run(
        "document.querySelector('#samples svg').dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))",
    );
    assert_eq!(count(&browser, "dialog[open]"), 1);
    assert_silent(&browser);
}

/// Without a click and without scrolling: the sentence, and a bar for each tool that a reader knows.
#[test]
fn page_first_screen_is_one_sentence_and_few_bars() {
    let (env, session) = (TestEnv::new(), Session::new());
    let page = page(&env, &session);
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return transect_testkit::loudly_skip("the first screen", reason),
    };
    browser.open(&page);
    let seen = browser.run(
        "const text = (at) => document.querySelector(at).textContent;
        const bottom = document.querySelector('.overview').getBoundingClientRect().bottom;
        return [text('.overview .sentence'), text('.tools'), bottom <= innerHeight,
            document.querySelector('#all').open]",
    );
    let sentence = seen[0].as_str().expect("a text");
    let begin = "base 1.00 ms: 11 % above the floor, 40 × faster than Python, 1.5 × than C";
    assert!(sentence.starts_with(begin), "{sentence}");
    let bars = seen[1].as_str().expect("a text");
    assert!(bars.contains("Python40.0 ms 39.9 ×") && bars.contains("base1.00 ms"), "{bars}");
    assert_eq!((&seen[2], &seen[3]), (&true.into(), &false.into()));
    browser.click(".tools li[data-method=\"c-readdir\"] button");
    assert_eq!(
        browser.run("return document.querySelector('#detail-title').textContent"),
        "c-readdir"
    );
    assert_silent(&browser);
}

/// A session whose base differs from itself shows no figures that a reader would believe.
#[test]
fn page_of_noisy_session_says_so_instead_of_figures() {
    let (env, mut session) = (TestEnv::new(), Session::new());
    session.cells[1].2 = 2_000_000;
    let test = "page_of_noisy_session_says_so_instead_of_figures";
    let Some(browser) = open(test, &env, &session) else { return };
    let sentence = browser.run("return document.querySelector('.overview .sentence').textContent");
    let sentence = sentence.as_str().expect("a text");
    assert!(
        sentence.starts_with("Too noisy to compare: base differs from itself, 2.00"),
        "{sentence}"
    );
    assert_eq!(count(&browser, ".tools, .tile"), 0);
    assert_silent(&browser);
}

/// Cores used, and the length of each contender's code.
#[test]
fn page_shows_cores_and_code_length() {
    let (env, session) = (TestEnv::new(), Session::new());
    let mut lines: Vec<Value> =
        session.text().lines().map(|it| serde_json::from_str(it).expect("an object")).collect();
    for line in &mut lines {
        for cell in line["cells"].as_array_mut().into_iter().flatten() {
            cell["code"] = json!({"lines": 4567});
        }
        for run in line["runs"].as_array_mut().into_iter().flatten() {
            run["cpu_ns"] = (run["elapsed_ns"].as_u64().expect("a number") * 3 / 2).into();
        }
    }
    // Older versions wrote this record.
    lines.push(json!({"record": "counters", "place": 0, "pass": 0, "cell": "floor", "counters": {
        "elapsed_ns": 3_000_000, "cores": [0.5, 2.0, 2.0]}}));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    env.text("session.jsonl", &text);
    let _ = env.lab(["report", "session.jsonl", "--html", "page.html"]).exits(0);
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return transect_testkit::loudly_skip("cores on the page", reason),
    };
    browser.open(&env.path("page.html"));
    browser.click("#all > summary");
    let cells = "return [...document.querySelectorAll('#table tr[data-method=floor] td')].map(d => d.textContent)";
    let cells = browser.run(cells).to_string();
    for shown in ["\"1.50\"", "\"4,567\""] {
        assert!(cells.contains(shown), "{shown}: {cells}");
    }
    browser.click("#table .link");
    let facts = browser.run("return document.querySelector('dialog .facts').textContent");
    let facts = facts.as_str().expect("a text");
    for shown in ["cores used1.50 of 2", "4,567 lines"] {
        assert!(facts.contains(shown), "{shown}: {facts}");
    }
    assert_silent(&browser);
}

#[test]
fn page_fits_phone_and_themes() {
    let env = TestEnv::new();
    let mut session = Session::new();
    session.places.push(("a name that is long enough to need two lines ".repeat(3), 2000));
    session.preset = "article-s4";
    let Some(browser) = open("page_fits_phone_and_themes", &env, &session) else {
        return;
    };
    let page = env.path("page.html");
    assert_eq!(count(&browser, "#article:not([hidden]) tbody tr"), 8, "the methods of the article");
    for (width, height) in [(390, 844), (320, 568), (1280, 720), (1920, 1080)] {
        browser.resize(width, height);
        browser.open(&page);
        let fits = "const page = document.documentElement;
            return page.scrollWidth <= page.clientWidth && innerWidth";
        assert_eq!(browser.run(fits), width, "it has to be scrolled sideways");
        assert_silent(&browser);
    }
    let colours = "return [getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.body).color]";
    browser.prefer_dark(false);
    let light = browser.run(colours);
    browser.click("#theme");
    let dark = browser.run(colours);
    assert_ne!(light, dark);
    browser.click("#theme");
    assert_eq!(browser.run(colours), light);
    browser.prefer_dark(true);
    assert_eq!(browser.run(colours), light, "the user's choice wins");
    browser.open(&page);
    assert_eq!(browser.run(colours), dark, "follows the system by default");
    assert_silent(&browser);
}

#[test]
fn page_works_offline() {
    let (env, session) = (TestEnv::new(), Session::new());
    let Some(browser) = open("page_works_offline", &env, &session) else { return };
    let _ = browser.requests();
    browser.go_offline();
    browser.open(&env.path("page.html"));
    browser.click("#all > summary");
    browser.click("#table .link");
    let requests = browser.requests();
    assert_eq!(requests.len(), 1, "the page itself: {requests:?}");
    assert!(requests[0].starts_with("file://"), "{requests:?}");
    assert!(count(&browser, "#samples .dot") > 0);
    assert_silent(&browser);
    // Even markup that was inserted would run nothing.
    let refused = browser.run("const node = document.createElement('div');
        node.innerHTML = '<img src=x onerror=\"window.ran = 1\"><p onclick=\"window.ran = 1\">x</p>';
        document.body.append(node); node.querySelector('p').click();
        return window.ran === undefined");
    assert_eq!(refused, true);
}

#[test]
fn page_warnings_are_banners() {
    let env = TestEnv::new();
    let mut session = Session::new();
    // A method of this program faster than the floor, a repeated base that differs, and reads from devices while warm.
    session.cells[1].2 = 2_000_000;
    session.cells[3] = ("portable/queue".to_owned(), "Rust", 100_000);
    session.read_kib = 100_000;
    let Some(browser) = open("page_warnings_are_banners", &env, &session) else {
        return;
    };
    let banners = browser.run(
        "return [...document.querySelectorAll('.banner')].map(b => b.textContent).join('\\n')",
    );
    let banners = banners.as_str().expect("a text");
    for told in [
        "base differs from itself: no verdict counts.",
        "Not every sample proved that caches were warm: ",
        "Below the floor, which is impossible: portable/queue",
    ] {
        assert!(banners.contains(told), "{banners}");
    }
    assert_silent(&browser);
}

/// Returns a page without its nonce.
fn without_nonce(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let (_, nonce) = page.split_once("script-src 'nonce-").expect("a policy");
    let (nonce, _) = nonce.split_once('\'').expect("its end");
    page.replace(nonce, "")
}

#[test]
fn page_file_replaced_atomically() {
    let (env, session) = (TestEnv::new(), Session::new());
    let written = page(&env, &session);
    let first = std::fs::read(&written).expect("the page");
    let printed = env.lab(["report", "session.jsonl", "--html", "-"]).exits(0).quiet();
    assert!(without_nonce(&printed.stdout) == without_nonce(&first), "the same page");
    // A link stays a link, and its target is replaced.
    env.text("old.html", "old");
    std::os::unix::fs::symlink("old.html", env.path("link.html")).expect("a link");
    let _ = env.lab(["report", "session.jsonl", "--html", "link.html"]).exits(0);
    assert!(env.path("link.html").is_symlink());
    let replaced = std::fs::read(env.path("old.html")).expect("the page");
    assert!(without_nonce(&replaced) == without_nonce(&first), "the same page");
    assert!(replaced != first, "every page has a nonce of its own");
    // A device is not replaced by a file.
    let _ = env.lab(["report", "session.jsonl", "--html", "/dev/null"]).exits(0);
    assert!(!std::path::Path::new("/dev/null").is_file());
    env.mkdir("folder");
    for (to, told) in [
        ("folder", "cannot write 'folder': Is a directory"),
        ("missing/page.html", "cannot create 'missing/page.html': No such file or directory"),
    ] {
        let failed = env.lab(["report", "session.jsonl", "--html", to]).exits(2);
        assert!(failed.stderr_text().contains(told), "{}", failed.text());
    }
    // A missing session leaves the page unchanged.
    let _ = env.lab(["report", "missing.jsonl", "--html", "page.html"]).exits(2);
    assert_eq!(std::fs::read(&written).expect("the page"), first);
    let left = env.sh("ls -A").exits(0).stdout_text();
    assert_eq!(left, "folder\nlink.html\nold.html\npage.html\nsession.jsonl\n");
}

#[test]
fn report_other_formats_contain_every_cell() {
    let env = TestEnv::new();
    let mut session = Session::new();
    session.preset = "article-s4";
    env.text("session.jsonl", &session.text());
    let report = |form: &[&str]| {
        let args = ["report", "session.jsonl"].iter().chain(form);
        env.lab(args).exits(0).quiet().stdout_text()
    };
    let csv = report(&["--csv"]);
    assert_eq!(csv.lines().count(), 1 + session.rows());
    assert!(csv.starts_with("place,entries,pass,state,cell,"), "{csv}");
    assert!(csv.contains("\"\"\"&'\""), "{csv}");
    let markdown = report(&["--markdown"]);
    for told in [
        "| a,b \\| \\`c\\` |",
        "\\<img src=x onerror=\"window.ran = 1\"\\>",
        "* not ranked: wrong: found something else: \\<img",
        "### Beside the article: S4, the FindFirstFileEx matrix with std::async",
        "> The article's times are as it printed them, of another machine",
        "| sync LARGE\\_FETCH Basic |  | 2261.000 |  |  |",
    ] {
        assert!(markdown.contains(told), "{told}\n{markdown}");
    }
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let table = |title: &str| {
        let rest = markdown.split_once(title).expect("a table").1;
        rest.lines().take_while(|line| !line.is_empty()).skip(1).map(cells).collect::<Vec<_>>()
    };
    let columns = table("| method | language |");
    assert!(columns.len() > session.cells.len() && columns.iter().all(|&n| n == columns[0]));
    let json: Value = serde_json::from_str(&report(&["--json"])).expect("an object");
    assert_eq!(json["schema"], "transect.lab.report/1");
    assert_eq!(json["articles"][0]["source"], "S4");
    assert_eq!(json["rankings"][0]["rows"][0]["rounds"].as_array().map(Vec::len), Some(12));
    let plain = report(&[]);
    for told in ["\\u{202e}txt.exe", "wrong: found something else", "Beside the article: S4"] {
        assert!(plain.contains(told), "{told}\n{plain}");
    }
    let both = ["report", "session.jsonl", "--json", "--csv"];
    let refused = env.lab(both).exits(2).stderr_text();
    assert!(refused.contains("cannot be used with"), "{refused}");
}

#[test]
fn report_fits_terminal_width() {
    let env = TestEnv::new();
    let test = "report_fits_terminal_width";
    if env.sh("script --version | grep -q util-linux").code != Some(0) {
        let _: Option<()> = skip(test, "there is no script of util-linux");
        return;
    }
    let mut session = Session::new();
    // With the tables of an article.
    session.preset = "article-s4";
    session.places.push(("data".to_owned(), 56_393));
    env.text("session.jsonl", &session.text());
    let shown = |columns: usize| {
        let command =
            format!("stty rows 24 cols {columns}; NO_COLOR=1 \"$LAB\" report session.jsonl");
        let run = format!("TERM=xterm script --quiet --return --command '{command}' typescript");
        env.sh(&run).exits(0).stdout_text().replace('\r', "")
    };
    for columns in [80, 100, 120, 200] {
        for line in shown(columns).lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
    let of = |text: &str| text.lines().find(|line| line.starts_with("method")).map(str::to_owned);
    let (narrow, wide) = (of(&shown(80)).expect("a title"), of(&shown(200)).expect("a title"));
    assert!(narrow.contains("× base") && narrow.contains("verdict"), "{narrow}");
    assert!(!narrow.contains("max") && wide.contains("max") && wide.contains("language"), "{wide}");
}
