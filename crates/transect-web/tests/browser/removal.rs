//! Removing entries and finding duplicates through the page, in a real browser.

#![cfg(target_os = "linux")]

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use transect_remove::Trash;
use transect_testkit::{Browser, TempDir};

use crate::live::{ROWS, WAY, browser, text};
use crate::served::{Served, with_held_tasks, with_served, write};

fn no_trash() -> Result<Trash, String> {
    Err("no trash in this test".to_owned())
}

/// Opens the page, and waits until its buttons work.
fn visit(browser: &Browser, served: &Served) {
    browser.visit(&served.address);
    browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
    browser.wait_for("return document.querySelector('#rescan').disabled", &json!(false));
}

fn press(browser: &Browser, key: &str, shift: bool) {
    browser.run(&format!(
        "document.querySelector('#map').dispatchEvent(new KeyboardEvent('keydown',
        {{ key: '{key}', shiftKey: {shift}, bubbles: true, cancelable: true }}))"
    ));
}

const DIALOG: &str = "return document.querySelector('#removal').open";

#[test]
fn entry_deleted_through_page() {
    let Some(browser) = browser("entry_deleted_through_page", 1280) else { return };
    let temp = TempDir::new();
    let evil = "<img src=x onerror=\"window.ran = 1\">";
    write(temp.join("large/inner/film"), 4_000_000);
    write(temp.join(format!("large/inner/{evil}")), 3_000_000);
    write(temp.join("large/beside"), 1_000_000);
    write(temp.join("small"), 10_000);
    write(temp.join("other/file"), 500);
    fs::hard_link(temp.join("large/inner/film"), temp.join("other/copy")).expect("a link");
    with_served(temp.path(), Some(no_trash), 1000, |served| {
        visit(&browser, served);
        assert_eq!(browser.run("return document.querySelector('#remove-delete').disabled"), true);
        browser.click("tbody .link");
        assert_eq!(browser.run(ROWS), json!(["inner 6.68 MiB", "beside 977 KiB"]));
        browser.run("location.hash = '#/large/inner'");
        browser.wait_for(
            "return document.querySelector('tbody .chosen .name')?.textContent ?? null",
            &json!("inner"),
        );
        // Keep.
        browser.click("#remove-delete");
        browser.wait_for("return !!document.querySelector('#removal-yes')", &json!(true));
        let told = text(&browser, "#removal");
        for part in [
            "Delete for good?",
            "large/inner",
            "Cannot be undone",
            " MiB stay in use",
            "1 file has other names elsewhere",
            "2 files, 1 directory",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(browser.run("return document.activeElement.textContent"), "Keep");
        browser.click("#removal-no");
        assert_eq!(browser.run(DIALOG), false);
        assert!(temp.join("large/inner/film").exists());
        // One file of it, by keyboard.
        browser.run(&format!(
            "location.hash = '#/large/inner/{}'",
            "%3Cimg%20src%3Dx%20onerror%3D%22window.ran%20%3D%201%22%3E"
        ));
        browser.wait_for(
            "return document.querySelector('tbody .chosen .name')?.textContent ?? null",
            &json!(evil),
        );
        // On a magnified map.
        browser.run(
            "const map = document.querySelector('#map'); const box = map.getBoundingClientRect();
            map.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, cancelable: true, bubbles: true,
                clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }))",
        );
        let magnified = "return document.querySelector('#map').style.touchAction";
        browser.wait_for(magnified, &json!("none"));
        press(&browser, "Delete", true);
        browser.wait_for("return !!document.querySelector('#removal-yes')", &json!(true));
        browser.click("#removal-yes");
        browser.wait_for(DIALOG, &json!(false));
        browser.wait_for(ROWS, &json!(["film 3.81 MiB"]));
        assert_eq!(browser.run(WAY)[2], "inner");
        assert!(!temp.join("large/inner").join(evil).exists());
        assert!(text(&browser, "#spoken").starts_with("1 entry deleted"));
        assert_eq!(browser.run(magnified), "none", "still magnified");
        // The directory shown: the page goes to its parent.
        press(&browser, "Delete", true);
        browser.wait_for("return !!document.querySelector('#removal-yes')", &json!(true));
        browser.click("#removal-yes");
        browser.wait_for(ROWS, &json!(["beside 977 KiB"]));
        assert_eq!(browser.run(WAY)[1], "large");
        assert!(!temp.join("large/inner").exists() && temp.join("other/copy").exists());
        // What changed meanwhile stays, and is reported.
        browser.run("location.hash = '#/large/beside'");
        browser.wait_for(
            "return document.querySelector('tbody .chosen .name')?.textContent ?? null",
            &json!("beside"),
        );
        browser.click("#remove-delete");
        browser.wait_for("return !!document.querySelector('#removal-yes')", &json!(true));
        write(temp.join("large/beside"), 2_000_000);
        browser.click("#removal-yes");
        browser.wait_for("return !!document.querySelector('#removal-outcome')", &json!(true));
        let told = text(&browser, "#removal");
        assert!(
            told.contains("1 entry kept") && told.contains("it changed since the walk"),
            "{told}"
        );
        browser.click("#removal-close");
        browser.wait_for(ROWS, &json!(["beside 1.91 MiB"]));
        // There is no trash.
        browser.wait_for("return document.querySelector('#remove-trash').disabled", &json!(false));
        press(&browser, "Delete", false);
        browser.wait_for("return !!document.querySelector('#removal-yes')", &json!(true));
        browser.click("#removal-yes");
        browser.wait_for("return !!document.querySelector('#removal-close')", &json!(true));
        assert!(text(&browser, "#removal").contains("No trash in this test."));
        assert_eq!(browser.run("return window.ran === undefined"), true);
        assert_eq!(browser.console(), Vec::<String>::new());
    });
}

#[test]
fn removal_in_list_acts_on_entry_selected_there() {
    let test = "removal_in_list_acts_on_entry_selected_there";
    let Some(browser) = browser(test, 390) else { return };
    let temp = TempDir::new();
    write(temp.join("a/film"), 4_000_000);
    write(temp.join("a/copy"), 3_000_000);
    write(temp.join("songs/other"), 2_000_000);
    write(temp.join("songs/last"), 1_000_000);
    with_served(temp.path(), Some(no_trash), 1000, |served| {
        visit(&browser, served);
        let selected = |name: &str| {
            browser.wait_for(
                "return document.querySelector('#to-remove').textContent.split('/').at(-1)",
                &json!(name),
            );
        };
        let disabled = "return document.querySelector('#remove-delete').disabled";
        let confirm = |name: &str| {
            browser.wait_for("return !!document.querySelector('#removal-yes')", &json!(true));
            assert!(text(&browser, "#removal .path").ends_with(name));
            browser.click("#removal-yes");
            browser.wait_for(DIALOG, &json!(false));
        };
        // What the map has selected is not in the list.
        browser.run("location.hash = '#/a'");
        selected("a");
        browser.click("#tab-extensions");
        selected("Nothing is selected in this list.");
        assert_eq!(browser.run(disabled), true);
        press(&browser, "Delete", true);
        assert_eq!(browser.run(DIALOG), false);
        browser.click("#tab-files");
        selected("Nothing is selected in this list.");

        browser.click("tbody tr:nth-child(2) .link");
        selected("copy");
        browser.click("#remove-delete");
        confirm("/a/copy");
        browser.wait_for(ROWS, &json!(["film 3.81 MiB", "other 1.91 MiB", "last 977 KiB"]));
        selected("Nothing is selected in this list.");
        assert_eq!(browser.run(disabled), true, "not its directory");
        // The focused row, by keyboard.
        browser.run(
            "const row = document.querySelector('tbody tr:nth-child(3) .link'); row.focus();
            row.dispatchEvent(new KeyboardEvent('keydown',
                { key: 'Delete', shiftKey: true, bubbles: true, cancelable: true }))",
        );
        confirm("/songs/last");
        browser.wait_for(ROWS, &json!(["film 3.81 MiB", "other 1.91 MiB"]));

        // A directory among the search results. The root's name is a random temporary path, which
        // could contain a short word.
        browser.type_into("#search", "songs");
        browser.wait_for(ROWS, &json!(["songs 1.91 MiB"]));
        browser.click("tbody .link");
        selected("songs");
        let fits =
            "const page = document.documentElement; return page.scrollWidth <= page.clientWidth";
        assert_eq!(browser.run(fits), true);
        browser.click("#remove-delete");
        confirm("/songs");
        browser.wait_for(ROWS, &json!([]));
        assert!(temp.join("a/film").exists() && !temp.join("songs").exists());
        assert_eq!(browser.console(), Vec::<String>::new());
    });
}

#[test]
fn page_without_permission_has_no_removal() {
    let Some(browser) = browser("page_without_permission_has_no_removal", 1280) else { return };
    let temp = TempDir::new();
    write(temp.join("file"), 10_000);
    with_served(temp.path(), None, 1000, |served| {
        visit(&browser, served);
        browser.run("location.hash = '#/file'");
        let buttons =
            "return document.querySelectorAll('#remove-delete, #remove-trash, #removal').length";
        assert_eq!(browser.run(buttons), 0);
        press(&browser, "Delete", true);
        assert_eq!(browser.run("return document.querySelectorAll('dialog[open]').length"), 0);
        assert!(temp.join("file").exists());
        assert_eq!(browser.console(), Vec::<String>::new());
    });
}

#[test]
fn duplicates_listed_and_highlighted() {
    let Some(browser) = browser("duplicates_listed_and_highlighted", 1280) else { return };
    let temp = TempDir::new();
    for (name, kibibytes) in
        [("a/film", 3000), ("b/copy", 3000), ("c/other", 3000), ("a/two", 20), ("b/two", 20)]
    {
        write(temp.join(name), kibibytes << 10);
    }
    // Another file of the same length.
    fs::write(temp.join("c/other"), vec![1; 3000 << 10]).expect("a file");
    with_served(temp.path(), Some(no_trash), 1000, |served| {
        visit(&browser, served);
        browser.click("#tab-duplicates");
        assert_eq!(browser.run(ROWS), json!([]));
        browser.click("#find-duplicates");
        browser.wait_for(ROWS, &json!(["film 2.93 MiB", "two 20.0 KiB"]));
        assert!(
            text(&browser, ".facts")
                .starts_with("2 groups; keeping one file of each frees 2.95 MiB")
        );
        // The files of a group, and only they, are highlighted.
        let colour = |x: f64| {
            browser.wait_until_drawn();
            browser.run(&format!("const read = document.createElement('canvas').getContext('2d', {{ willReadFrequently: true }});
                const map = document.querySelector('#map');
                read.drawImage(map, -map.width * {x}, -map.height / 2);
                return [...read.getImageData(0, 0, 1, 1).data]"))
        };
        browser.click("[data-group='0'] button");
        browser.wait_for(
            "return [...document.querySelectorAll('tr.member .name')].map(n => n.textContent)",
            &json!(["film", "copy"]),
        );
        let first = colour(0.15);
        browser.click("[data-group='1'] button");
        assert_ne!(colour(0.15), first, "another group");
        browser.click("[data-group='0'] button");
        assert_eq!(colour(0.15), first);
        // One of the files is selected; the list stays. Without it, there is no group any more.
        assert_eq!(text(&browser, "#to-remove"), "Nothing is selected in this list.");
        browser.click("tr.member:nth-child(3) .link");
        assert_eq!(browser.run(WAY).as_array().map(Vec::len), Some(1));
        assert_eq!(text(&browser, "#detail .path").rsplit('/').next(), Some("copy"));
        browser.click("#remove-delete");
        browser.wait_for("return !!document.querySelector('#removal-yes')", &json!(true));
        browser.click("#removal-yes");
        browser.wait_for(ROWS, &json!(["two 20.0 KiB"]));
        assert!(!temp.join("b/copy").exists() && temp.join("a/film").exists());
        browser.click("#tab-directory");
        assert_eq!(browser.run(ROWS), json!(["a 2.95 MiB", "c 2.93 MiB", "b 20.0 KiB"]));
        assert_eq!(
            browser.run("return document.querySelector('#find-duplicates').checkVisibility()"),
            false
        );
        assert_eq!(browser.console(), Vec::<String>::new());
    });
}

#[test]
fn search_ends_with_its_page_or_its_button() {
    let Some(browser) = browser("search_ends_with_its_page_or_its_button", 1280) else { return };
    let temp = TempDir::new();
    write(temp.join("one"), 9_000);
    write(temp.join("two"), 9_000);
    for leaves in [true, false] {
        let held = AtomicBool::new(true);
        with_held_tasks(temp.path(), None, 1000, &held, |served| {
            visit(&browser, served);
            browser.click("#tab-duplicates");
            browser.click("#find-duplicates");
            browser.wait_for(
                "return document.querySelector('#stop-search').checkVisibility()",
                &json!(true),
            );
            let started = transect_testkit::wait_for("the search", || {
                let state: serde_json::Value =
                    serde_json::from_slice(&served.get("task").1).expect("JSON");
                (state["running"] == true).then_some(state)
            });
            // The page has to receive the answer before it can stop the search.
            browser.wait_for(
                "return document.querySelector('.search-tools p').textContent.startsWith('Searching')",
                &json!(true),
            );
            browser.wait_for(
                "return performance.getEntriesByType('resource').some(it => it.name.endsWith('/task'))",
                &json!(true),
            );
            if leaves {
                browser.visit("about:blank");
            } else {
                browser.click("#stop-search");
            }
            transect_testkit::wait_until("the request to stop", || {
                served.get("task").1.windows(15).any(|part| part == b"\"stopping\":true")
            });
            held.store(false, Ordering::Relaxed);
            let outcome = served.outcome(&started);
            assert_eq!(outcome["stopped"], true, "{outcome}");
        });
    }
}
