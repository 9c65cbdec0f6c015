//! A map of a million entries in a real browser. Times are printed for a reader to assess, because
//! they depend on the machine.

#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use transect::table::TableBuilder;
use transect::{FieldMask, FileType, ScanOptions};
use transect_sys::fake::{FakeReader, FakeTree};
use transect_testkit::{Browser, TempDir, loudly_skip, wait_for};
use transect_web::map::{self, Measure, Settings};
use transect_web::page::Nonce;

/// A hundred directories of a hundred directories of a hundred files, some of them much larger.
fn page() -> String {
    let mut tree = FakeTree::new();
    tree.batch = 100;
    let mut state = 88_172_645_463_325_252_u64;
    for file in 0..1_000_000_u32 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let size = 1_u64 << (state >> 59);
        let extension = ["rs", "so", "png", "txt", "mkv", "zip"][(state % 6) as usize];
        let (a, b) = (file / 10_000, file / 100 % 100);
        tree.add(&format!("/d{a:02}/sub{b:02}/file{file:06}.{extension}"), FileType::File, size);
    }
    let (tree, open) = (Arc::new(tree), Arc::default());
    let builder = TableBuilder::new(FieldMask::UID | FieldMask::MTIME);
    let plan = ScanOptions::new(["/"]).plan().expect("the options are right");
    let outcome = plan
        .run_with(|| builder.sink(), || FakeReader::new(Arc::clone(&tree), Arc::clone(&open)))
        .expect("the walk begins");
    let table = outcome.sink.into_table().expect("there is room for all rows");
    assert_eq!(table.grand_total().files, 1_000_000);
    let settings = Settings {
        measure: Measure::DiskUsage,
        max_entries: 2_000_000,
        owner_name: |uid| uid.to_string(),
        read_at: 1_800_000_000,
        interrupted: false,
        disk: None,
        served: None,
        removal: None,
        followed: false,
    };
    map::html(&table, &settings, &Nonce::predictable(1)).expect("memory for a page")
}

/// Waits until a script returns a value.
fn answer_of(browser: &Browser, script: &str) -> Value {
    wait_for(script, || Some(browser.run(script)).filter(|answer| !answer.is_null()))
}

#[test]
fn map_million_entries_navigated() {
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return loudly_skip("map_million_entries_navigated", reason),
    };
    let temp = TempDir::new();
    let file = temp.join("map.html");
    let page = page();
    println!("page: {} bytes", page.len());
    std::fs::write(&file, page).expect("room for a page");
    let began = Instant::now();
    browser.open(&file);
    answer_of(&browser, "return document.documentElement.dataset.ready ?? null");
    println!("from opening to seeing: {:?}", began.elapsed());
    let facts = browser.run("return document.querySelector('.facts').textContent");
    assert!(facts.as_str().expect("a text").contains("1,010,100 entries"), "{facts}");

    // Into a directory, one level deeper, and back, three times.
    let zooms = browser.run(
        "const click = (selector) => document.querySelector(selector).click();
        for (let round = 0; round < 3; round += 1) {
            click('tbody .link'); click('tbody .link'); click('.crumbs button');
        }
        return performance.getEntriesByName('zoom', 'measure').map(zoom => zoom.duration)",
    );
    let zooms: Vec<f64> =
        zooms.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    println!("milliseconds of each zoom: {zooms:.1?}");
    assert_eq!(zooms.len(), 9);

    // Three seconds of dragging a magnified map.
    browser.run(
        "const map = document.querySelector('#map'); const box = map.getBoundingClientRect();
        map.setPointerCapture = () => {};
        const at = (x, y) => ({ clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true });
        const point = (kind, x, y) => map.dispatchEvent(
            new PointerEvent(kind, { pointerId: 1, pointerType: 'mouse', ...at(x, y) }));
        map.dispatchEvent(new WheelEvent('wheel', { deltaY: -200, ...at(400, 300) }));
        map.dispatchEvent(new WheelEvent('wheel', { deltaY: -200, ...at(400, 300) }));
        const frames = [];
        point('pointerdown', 400, 300);
        const step = (now) => {
            frames.push(now);
            if (frames.length > 180) { window.frames_ = frames; return; }
            point('pointermove', 400 + 200 * Math.sin(frames.length / 15), 300 + 120 * Math.cos(frames.length / 11));
            requestAnimationFrame(step);
        };
        requestAnimationFrame(step)",
    );
    let frames = answer_of(&browser, "return window.frames_ ?? null");
    let frames: Vec<f64> =
        frames.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    let mut gaps: Vec<f64> = frames.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_by(f64::total_cmp);
    println!(
        "milliseconds from frame to frame: median {:.1}, 95 of 100 below {:.1}, most {:.1}",
        gaps[gaps.len() / 2],
        gaps[gaps.len() * 95 / 100],
        gaps[gaps.len() - 1]
    );
    let found = browser.run(
        "const field = document.querySelector('#search'); field.value = 'file99999';
        const began = performance.now();
        field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
        return [performance.now() - began, document.querySelector('.facts').textContent]",
    );
    println!("milliseconds of a search: {}", found[0]);
    assert!(found[1].as_str().expect("a text").starts_with("10 entries"), "{found}");
    assert_eq!(browser.console(), Vec::<String>::new());
}
