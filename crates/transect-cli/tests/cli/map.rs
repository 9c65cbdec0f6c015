//! The map in a real browser, and its file.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use transect_testkit::{Browser, Mount};

use crate::harness::{TestEnv, skip};
use crate::tree;

/// Names that would be markup, run, or reverse the text around them if they were not text.
const NAMES: [&str; 5] = [
    "<img src=x onerror=\"window.ran = 1\">",
    "<script>window.ran = 2",
    "\"&'<!--",
    "\u{202e}txt.exe",
    "line\nbreak\u{1b}[31m",
];

/// Creates a map and opens it. Skips the test if there is no browser.
pub(crate) fn open(test: &str, env: &TestEnv, args: &[&str]) -> Option<Browser> {
    let args = ["map", "--html", "map.html"].iter().chain(args);
    let _ = env.transect(args).exits(0).quiet();
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return skip(test, &reason),
    };
    show(&browser, env);
    Some(browser)
}

fn show(browser: &Browser, env: &TestEnv) {
    browser.open(&env.path("map.html"));
    browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
}

#[track_caller]
pub(crate) fn assert_silent(browser: &Browser) {
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// The path of the current directory.
pub(crate) const WAY: &str =
    "return [...document.querySelectorAll('.crumbs button')].map(b => b.textContent)";

/// The names in the table.
pub(crate) const ROWS: &str = "return [...document.querySelectorAll('tbody tr')].map(
    r => r.querySelector('.name').textContent)";

pub(crate) fn text(browser: &Browser, selector: &str) -> String {
    let script = format!("return document.querySelector('{selector}').textContent");
    browser.run(&script).as_str().expect("a text").to_owned()
}

fn press(browser: &Browser, keys: &[&str]) {
    for key in keys {
        browser.run(&format!(
            "document.querySelector('#map').dispatchEvent(
            new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true, cancelable: true }}))"
        ));
    }
}

/// Turns the wheel over the middle of the map.
fn wheel(browser: &Browser, turns: usize, delta: i32) {
    browser.run(&format!(
        "const map = document.querySelector('#map'); const box = map.getBoundingClientRect();
        for (let turn = 0; turn < {turns}; turn += 1) map.dispatchEvent(new WheelEvent('wheel', {{
            deltaY: {delta}, cancelable: true, bubbles: true,
            clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }}))"
    ));
}

/// A large directory with a large subdirectory, and small entries beside both.
pub(crate) fn nested(env: &TestEnv) {
    env.mkdir("tree/large/inner");
    env.mkdir("tree/small");
    env.write("tree/large/inner/film.mkv", 3_000_000);
    env.write("tree/large/inner/notes.txt", 40_000);
    env.write("tree/large/beside.rs", 50_000);
    env.write("tree/small/photo.jpg", 60_000);
}

#[test]
fn map_table_matches_find_and_scan() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let test = "map_table_matches_find_and_scan";
    let Some(browser) = open(test, &env, &["tree", "--apparent"]) else { return };
    let numbers = |script: &str| -> Vec<u64> {
        let text = env.sh(script).exits(0).stdout_text();
        text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
    };
    let below = "-mindepth 1 -printf x | wc -c";
    let each = format!(r#"-type d -exec sh -c 'find "$1" {below}' sh {{}} \;"#);
    let mut expected = numbers(&format!("find tree -mindepth 1 -maxdepth 1 {each}"));
    expected.sort_unstable();
    let script =
        "return [...document.querySelectorAll('tbody tr')].map(r => r.children[3].textContent)
        .filter(n => n !== '').map(n => Number(n.replaceAll(',', ''))).sort((a, b) => a - b)";
    assert_eq!(browser.run(script), json!(expected));
    let told = text(&browser, ".facts").replace(',', "");
    let all = numbers(&format!("find tree {below}"))[0];
    assert!(told.contains(&format!("{all} entries")), "{told}");
    let scan = env.transect(["scan", "--json", "tree"]).exits(0).json();
    let sizes =
        "return [...document.querySelectorAll('tbody tr')].map(r => r.children[1].textContent)";
    assert!(browser.run(sizes)[0].as_str().expect("a size").ends_with('B'));
    let whole = scan["apparent_size"].as_u64().expect("a number");
    let unit = 1_u64 << (10 * (whole.ilog2() / 10));
    let figure: f64 = told.split(' ').next().expect("a figure").parse().expect("a number");
    assert!((figure - whole as f64 / unit as f64).abs() < 1.0, "{told}: {whole}");
    assert_eq!(browser.run("return document.querySelectorAll('#plain').length"), 0);
    assert_silent(&browser);
}

#[test]
fn map_zooms_by_click_wheel_and_keyboard() {
    let env = TestEnv::new();
    nested(&env);
    let test = "map_zooms_by_click_wheel_and_keyboard";
    let Some(browser) = open(test, &env, &["tree"]) else { return };
    assert_eq!(browser.run(WAY), json!(["tree"]));
    assert_eq!(browser.run(ROWS), json!(["large", "small"]));
    browser.click("#map");
    assert_eq!(browser.run(WAY), json!(["tree", "large"]));
    assert_eq!(browser.run(ROWS), json!(["inner", "beside.rs"]));
    browser.click("#map");
    assert_eq!(browser.run(WAY), json!(["tree", "large", "inner"]));
    // A file is selected and described.
    browser.click("#map");
    assert_eq!(browser.run(WAY), json!(["tree", "large", "inner"]));
    assert_eq!(text(&browser, "tbody .chosen .name"), "film.mkv");
    let told = text(&browser, "#detail");
    for word in ["tree/large/inner/film.mkv", "2.86 MiB", "video", "%"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    press(&browser, &["Backspace"]);
    assert_eq!(browser.run(WAY), json!(["tree", "large"]));
    press(&browser, &["Home"]);
    assert_eq!(browser.run(WAY), json!(["tree"]));
    press(&browser, &["ArrowRight", "Enter"]);
    assert_eq!(browser.run(WAY), json!(["tree", "large"]));
    browser.click(".crumbs button");
    assert_eq!(browser.run(WAY), json!(["tree"]));
    // A directory that fills the screen is opened; the rest of the same turn opens nothing more.
    browser.run("window.clock_ = 1000; performance.now = () => window.clock_");
    wheel(&browser, 12, -200);
    assert_eq!(browser.run(WAY), json!(["tree", "large"]));
    browser.run("window.clock_ += 299");
    wheel(&browser, 1, 200);
    assert_eq!(browser.run(WAY), json!(["tree", "large"]));
    browser.run("window.clock_ += 1");
    wheel(&browser, 1, 200);
    assert_eq!(browser.run(WAY), json!(["tree"]));
    browser.click("tbody tr:nth-child(2) .link");
    assert_eq!(browser.run(WAY), json!(["tree", "small"]));
    let spoken = text(&browser, "#spoken");
    assert!(spoken.starts_with("small, "), "{spoken}");
    assert_silent(&browser);
}

#[test]
fn map_pointer_shows_path_size_and_share() {
    let env = TestEnv::new();
    nested(&env);
    let test = "map_pointer_shows_path_size_and_share";
    fs::hard_link(env.path("tree/large/inner/film.mkv"), env.path("tree/small/copy"))
        .expect("a link");
    let Some(browser) = open(test, &env, &["tree"]) else { return };
    browser.run(
        "const map = document.querySelector('#map'); const box = map.getBoundingClientRect();
        map.dispatchEvent(new PointerEvent('pointermove', { pointerType: 'mouse', bubbles: true,
            clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }))",
    );
    let told = text(&browser, ".tip");
    for word in
        ["tree/large/inner/film.mkv", "2.86 MiB", "of all", "2.86 MiB shared with names elsewhere"]
    {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(browser.run("return document.querySelector('.tip').hidden"), false);
    // Counted once: the other name is listed with size 0.
    browser.click("tbody tr:nth-child(2) .link");
    browser.click("tbody tr:nth-child(2) .link");
    let told = text(&browser, "#detail");
    assert!(told.contains("tree/small/copy") && told.contains("charged to another name"), "{told}");
    assert_silent(&browser);
}

#[test]
fn map_search_finds_names() {
    let env = TestEnv::new();
    nested(&env);
    // A name with letters that become two in lower case comes before the others.
    env.write("tree/\u{130}\u{130}\u{130}", 10);
    let Some(browser) = open("map_search_finds_names", &env, &["tree"]) else { return };
    browser.type_into("#search", "NOTES");
    browser.wait_for(ROWS, &json!(["notes.txt"]));
    let told = text(&browser, ".facts");
    assert!(told.starts_with("1 entry"), "{told}");
    browser.click("tbody .link");
    assert_eq!(browser.run(WAY), json!(["tree"]));
    browser.click("tbody .link");
    assert_eq!(browser.run(WAY), json!(["tree", "large", "inner"]));
    browser.type_into("#search", " nowhere");
    browser.wait_for(ROWS, &json!([]));
    // Escape ends the search.
    browser.type_into("#search", "\u{e00c}");
    browser.wait_for(ROWS, &json!(["film.mkv", "notes.txt"]));
    assert_silent(&browser);
}

#[test]
fn map_tabs_list_and_highlight() {
    let env = TestEnv::new();
    nested(&env);
    env.write("tree/small/plain", 8_000);
    let Some(browser) = open("map_tabs_list_and_highlight", &env, &["tree"]) else { return };
    let colour = "const read = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
        const map = document.querySelector('#map');
        read.drawImage(map, -map.width / 2, -map.height / 2);
        return [...read.getImageData(0, 0, 1, 1).data]";
    browser.wait_until_drawn();
    let film = browser.run(colour);
    browser.click("#tab-files");
    let files = ["film.mkv", "photo.jpg", "beside.rs", "notes.txt", "plain"];
    assert_eq!(browser.run(ROWS), json!(files));
    assert!(text(&browser, ".facts").contains("in 5 files"), "{}", text(&browser, ".facts"));
    assert_eq!(text(&browser, "tbody tr .where"), "tree/large/inner");
    browser.wait_until_drawn();
    assert_eq!(browser.run(colour), film, "among the largest");
    // The first click selects, and the list stays. The second leads to another directory, with its files.
    browser.click("tbody tr:nth-child(2) .link");
    assert_eq!(text(&browser, "tbody .chosen .name"), "photo.jpg");
    assert_eq!((browser.run(WAY), browser.run(ROWS)), (json!(["tree"]), json!(files)));
    browser.click("tbody tr:nth-child(2) .link");
    assert_eq!(browser.run(WAY), json!(["tree", "small"]));
    assert_eq!(browser.run(ROWS), json!(["photo.jpg", "plain"]));
    assert_eq!(text(&browser, "tbody .chosen .name"), "photo.jpg");
    press(&browser, &["Home"]);

    browser.click("#tab-extensions");
    let known = [".mkv", ".jpg", ".rs", ".txt", "(directories)", "(no extension)"];
    assert_eq!(browser.run(ROWS), json!(known));
    let usage = env.transect(["usage", "--by", "ext", "--json", "tree"]).exits(0).json();
    let groups = usage["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), known.len(), "as in usage: {usage}");
    browser.click("[data-extension='.jpg'] button");
    browser.wait_until_drawn();
    assert_ne!(browser.run(colour), film, "the film is dim");
    browser.click("[data-extension='.jpg'] button");
    browser.wait_until_drawn();
    assert_eq!(browser.run(colour), film);
    browser.click("#tab-directory");
    assert_eq!(browser.run(ROWS), json!(["large", "small"]));
    // A search replaces the list; another tab ends it.
    browser.type_into("#search", "notes");
    browser.wait_for(ROWS, &json!(["notes.txt"]));
    browser.click("#tab-files");
    assert_eq!(browser.run(ROWS), json!(files));
    assert_eq!(browser.run("return document.querySelector('#search').value"), "");
    assert_silent(&browser);
}

#[test]
fn map_links_lead_to_entries() {
    let env = TestEnv::new();
    nested(&env);
    let strange = "100% #1 & é";
    env.mkdir(format!("tree/large/{strange}"));
    env.write(format!("tree/large/{strange}/file"), 9_000);
    let Some(browser) = open("map_links_lead_to_entries", &env, &["tree"]) else { return };
    let address = "return location.hash";
    browser.click("#map");
    browser.wait_for(address, &json!("#/large/"));
    press(&browser, &["ArrowRight"]);
    browser.wait_for(address, &json!("#/large/inner"));
    browser.click("[data-at] .link[title$='é']");
    let escaped = "#/large/100%25%20%231%20%26%20%C3%A9/";
    browser.wait_for(address, &json!(escaped));
    // The browser's Back button.
    browser.run("history.back()");
    browser.wait_for(WAY, &json!(["tree", "large"]));
    browser.wait_for(
        "return document.querySelector('tbody .chosen .name').textContent",
        &json!("inner"),
    );
    // Links that someone else copied, or typed.
    for (link, way, chosen) in [
        (escaped, json!(["tree", "large", strange]), json!(null)),
        ("#/large/inner/notes.txt", json!(["tree", "large", "inner"]), json!("notes.txt")),
        ("#/large/inner/missing", json!(["tree", "large", "inner"]), json!(null)),
        ("#/%ff", json!(["tree"]), json!(null)),
    ] {
        browser.run(&format!("location.hash = '{link}'"));
        browser.wait_for(WAY, &way);
        browser.wait_for(
            "return document.querySelector('tbody .chosen .name')?.textContent ?? null",
            &chosen,
        );
    }
    // At the start, too.
    browser.run("location.hash = '#/small/photo.jpg'; location.reload()");
    browser.wait_for(
        "return document.querySelector('tbody .chosen .name')?.textContent ?? null",
        &json!("photo.jpg"),
    );
    assert_eq!(browser.run(WAY), json!(["tree", "small"]));
    assert_silent(&browser);
}

#[test]
fn map_copies_path() {
    let env = TestEnv::new();
    nested(&env);
    let Some(browser) = open("map_copies_path", &env, &["tree"]) else { return };
    // What the page hands to the clipboard.
    browser.run(
        "window.copied = []; document.execCommand = () => {
            window.copied.push(document.activeElement.value); return true; };
        navigator.clipboard.writeText = async (text) => { window.copied.push(text); }",
    );
    browser.click("#copy-path");
    browser.wait_for("return window.copied", &json!(["tree"]));
    browser.click("#map");
    press(&browser, &["ArrowRight"]);
    browser.run(
        "document.querySelector('#map').dispatchEvent(
        new KeyboardEvent('keydown', { key: 'y', bubbles: true, cancelable: true }))",
    );
    browser.wait_for("return window.copied", &json!(["tree", "tree/large/inner"]));
    assert_silent(&browser);
}

#[test]
fn map_several_roots_side_by_side() {
    let env = TestEnv::new();
    nested(&env);
    env.mkdir("other");
    env.write("other/file", 10_000);
    let test = "map_several_roots_side_by_side";
    let Some(browser) = open(test, &env, &["tree", "other", "--apparent"]) else { return };
    assert_eq!(browser.run(WAY), json!(["2 paths"]));
    assert_eq!(browser.run(ROWS), json!(["tree", "other"]));
    browser.click("tbody .link");
    assert_eq!(browser.run(WAY), json!(["2 paths", "tree"]));
    assert_eq!(text(&browser, "caption"), "Entries of tree, largest first");
    press(&browser, &["Backspace"]);
    assert_eq!(browser.run(ROWS), json!(["tree", "other"]));
    assert_silent(&browser);
}

#[test]
fn map_legend_adds_up() {
    let env = TestEnv::new();
    nested(&env);
    let test = "map_legend_adds_up";
    let Some(browser) = open(test, &env, &["tree"]) else { return };
    let known = "return [...document.querySelectorAll('#legend button')].map(b => b.dataset.class)";
    browser.wait_for(known, &json!(["video", "images", "source code", "documents"]));
    let colour = |way: &str| {
        browser.run(&format!(
            "const s = document.querySelector('#colours'); s.value = '{way}';
            s.dispatchEvent(new Event('change'))"
        ));
    };
    colour("age");
    browser.wait_for(known, &json!(["less than 1 day"]));
    colour("owner");
    let owner = env.sh("id -un").stdout_text();
    browser.wait_for(known, &json!([owner.trim()]));
    colour("type");
    browser.click("#legend [data-class=video]");
    let pressed = "return document.querySelectorAll('#legend [aria-pressed=true]').length";
    assert_eq!(browser.run(pressed), 1);
    assert_silent(&browser);
}

#[test]
fn map_kinds_by_mode_and_rotation() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let program = env.write("tree/program", 900_000);
    env.chmod(&program, 0o755);
    env.write("tree/libm.so.6.1", 500_000);
    env.write("tree/syslog.1", 300_000);
    env.write("tree/unknown", 100_000);
    let test = "map_kinds_by_mode_and_rotation";
    let Some(browser) = open(test, &env, &["tree"]) else { return };
    let known = "return [...document.querySelectorAll('#legend button')].map(b => b.dataset.class)";
    browser.wait_for(known, &json!(["programs", "documents", "other files"]));
    assert!(text(&browser, "#legend .amount").starts_with("1.34 MiB"));
    assert_silent(&browser);
}

#[test]
fn map_names_are_text_not_script() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for (at, name) in NAMES.iter().enumerate() {
        env.mkdir(format!("tree/{name}"));
        env.write(format!("tree/{name}/{name}"), 100_000 - 9_000 * at);
    }
    env.write(tree::raw(b"tree/no text \xff\xfe"), 9_000);
    let Some(browser) = open("map_names_are_text_not_script", &env, &["tree"]) else { return };
    let shown = browser.run(ROWS);
    // Direction marks and line ends become visible escapes.
    let spelt = |name: &str| {
        name.replace('\u{202e}', "\\u{202e}").replace('\n', "\\u{a}").replace('\u{1b}', "\\u{1b}")
    };
    let expected: Vec<String> = NAMES
        .iter()
        .map(|name| spelt(name))
        .chain(["no text \u{fffd}\u{fffd}".to_owned()])
        .collect();
    assert_eq!(shown, json!(expected));
    for _ in NAMES {
        browser.click("tbody .link");
        browser.click("tbody .link");
        press(&browser, &["ArrowRight", "Home"]);
    }
    browser.type_into("#search", "<img");
    browser.wait_for("return document.querySelectorAll('tbody tr').length", &json!(2));
    assert_eq!(browser.run("return document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.run("return window.ran === undefined"), true);
    assert_silent(&browser);
    // Even markup that was inserted would run nothing.
    let refused = browser.run("const node = document.createElement('div');
        node.innerHTML = '<img src=x onerror=\"window.ran = 1\"><p onclick=\"window.ran = 1\">x</p>';
        document.body.append(node); node.querySelector('p').click();
        return window.ran === undefined");
    assert_eq!(refused, true);
}

#[test]
fn map_makes_no_network_requests() {
    let env = TestEnv::new();
    nested(&env);
    let Some(browser) = open("map_makes_no_network_requests", &env, &["tree"]) else { return };
    let _ = browser.requests();
    browser.go_offline();
    show(&browser, &env);
    browser.click("#map");
    let requests = browser.requests();
    // Unpacking reads from memory.
    let foreign = |address: &&String| !address.starts_with("blob:");
    let requests: Vec<&String> = requests.iter().filter(foreign).collect();
    assert_eq!(requests.len(), 1, "the page itself: {requests:?}");
    assert!(requests[0].starts_with("file://"), "{requests:?}");
    assert_silent(&browser);
}

#[test]
fn map_empty_zero_and_huge_trees() {
    let env = TestEnv::new();
    env.mkdir("empty");
    let test = "map_empty_zero_and_huge_trees";
    let Some(browser) = open(test, &env, &["empty"]) else { return };
    assert_eq!(text(&browser, ".empty"), "Empty.");
    browser.click("#map");
    press(&browser, &["ArrowRight", "Enter", "Backspace", "+", "-", "Home"]);
    assert_silent(&browser);

    env.mkdir("zero");
    env.write("zero/file", 0);
    let draw = |args: &[&str]| {
        let args = ["map", "--html", "map.html"].iter().chain(args);
        let _ = env.transect(args).exits(0).quiet();
        show(&browser, &env);
    };
    draw(&["zero", "--apparent"]);
    assert!(text(&browser, ".empty").contains("No space used"));
    assert_eq!(browser.run(ROWS), json!(["file"]));
    assert_silent(&browser);
    draw(&["zero/file"]);
    assert_eq!(browser.run(WAY), json!(["zero/file"]));
    assert_silent(&browser);

    env.mkdir("holes");
    let huge = fs::File::create(env.path("holes/huge")).expect("a new file");
    // The largest size that this file system supports.
    let length =
        (20..61).rev().map(|bits| 1_u64 << bits).find(|&length| huge.set_len(length).is_ok());
    env.write("holes/small", 10);
    draw(&["holes", "--apparent"]);
    let unit = length.expect("a length").ilog2();
    let expected = format!(
        "{} {}",
        1 << (unit % 10),
        ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit as usize / 10]
    );
    let shown = text(&browser, "tbody tr:nth-child(1) td");
    assert_eq!(shown.replace(".00", "").replace(".0", ""), expected);
    assert_eq!(text(&browser, "tbody tr:nth-child(2) td"), "10 B");
    assert_silent(&browser);
}

#[test]
fn map_shows_disk_and_sparse_files() {
    let env = TestEnv::new();
    let test = "map_shows_disk_and_sparse_files";
    env.mkdir("disk");
    let _mount = match Mount::tmpfs("64m", &env.path("disk")) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    env.write("disk/file", 16 << 20);
    let sparse = fs::File::create(env.path("disk/sparse")).expect("a new file");
    sparse.set_len(8 << 40).expect("a hole");
    let Some(browser) = open(test, &env, &["disk"]) else { return };
    assert_eq!(text(&browser, "#disk"), "48.0 MiB available of 64.0 MiB");
    let footer = text(&browser, "footer");
    let disk = "Disk: 48.0 MiB available of 64.0 MiB; this tree is 100% of what is used";
    let sparse = "Sparse: apparent 8.00 TiB on a disk of 64.0 MiB: files with holes";
    assert!(footer.contains(disk) && footer.contains(sparse), "{footer}");
    assert_silent(&browser);
}

#[test]
fn map_out_of_range_times_marked() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/old", 20);
    env.write("tree/future", 10);
    let _ = env.sh("touch -d 1912-06-23 tree/old && touch -d 2200-01-01 tree/future").exits(0);
    let Some(browser) = open("map_out_of_range_times_marked", &env, &["tree", "--apparent"]) else {
        return;
    };
    let dates = "return [...document.querySelectorAll('tbody .date')].map(d => d.textContent)";
    assert_eq!(browser.run(dates), json!(["1912-06-23", "2200-01-01"]));
    browser.run(
        "const s = document.querySelector('#colours'); s.value = 'age';
        s.dispatchEvent(new Event('change'))",
    );
    let known = "return [...document.querySelectorAll('#legend button')].map(b => b.dataset.class)";
    browser.wait_for(known, &json!(["in the future", "older"]));
    assert_silent(&browser);
}

#[test]
fn map_unreadable_directory_marked() {
    let env = TestEnv::new();
    let locked = env.mkdir("tree/locked");
    env.write("tree/readable", 50_000);
    env.chmod(&locked, 0);
    let test = "map_unreadable_directory_marked";
    let Some(output) = env.transect_unprivileged(test, ["map", "tree", "--html", "-"]) else {
        return;
    };
    let output = output.exits(1);
    env.chmod(&locked, 0o755);
    env.text("map.html", &output.stdout_text());
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    show(&browser, &env);
    assert_eq!(text(&browser, ".doubt"), "Partial, 1 error");
    assert!(text(&browser, ".warning").contains("may contain more"));
    assert_eq!(text(&browser, "tbody tr:nth-child(2) .lack"), "denied");
    assert_silent(&browser);
}

#[test]
fn map_max_entries_sums_up_rest() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for at in 0..40 {
        env.write(format!("tree/{at:02}"), 5_000);
    }
    env.write("tree/large", 900_000);
    let test = "map_max_entries_sums_up_rest";
    let Some(browser) = open(test, &env, &["tree", "--max-entries", "4"]) else { return };
    assert_eq!(browser.run(ROWS), json!(["large", "38 smaller entries", "00", "01"]));
    let footer = text(&browser, "footer");
    assert!(footer.contains("42 entries") && footer.contains("--max-entries 4"), "{footer}");
    assert!(footer.contains("38 smaller ones are summed up"), "{footer}");
    assert_silent(&browser);
}

#[test]
fn map_fits_phone_light_and_dark() {
    let env = TestEnv::new();
    let name = "a name that is long enough to need more than there is ".repeat(4);
    env.mkdir(format!("tree/{name}/{name}"));
    env.write(format!("tree/{name}/{name}/file"), 100_000);
    nested(&env);
    let test = "map_fits_phone_light_and_dark";
    let Some(browser) = open(test, &env, &["tree"]) else { return };
    for (width, height) in [(390, 844), (320, 568), (1280, 720), (1920, 1080)] {
        browser.resize(width, height);
        show(&browser, &env);
        let fits = "const page = document.documentElement;
            return page.scrollWidth <= page.clientWidth && innerWidth";
        assert_eq!(browser.run(fits), width, "it has to be scrolled sideways");
        let search = browser.run("return document.querySelector('#search').offsetWidth");
        assert!(search.as_u64() >= Some(190), "{width}: room to type in: {search}");
        browser.click("tbody .link");
        assert_eq!(browser.run(fits), width, "it has to be scrolled sideways");
        assert_silent(&browser);
    }
    show(&browser, &env);
    let colours = "const read = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
        read.drawImage(document.querySelector('#map'), -100, -3);
        return [getComputedStyle(document.body).backgroundColor, [...read.getImageData(0, 0, 1, 1).data]]";
    browser.prefer_dark(false);
    browser.wait_for("return matchMedia('(prefers-color-scheme: dark)').matches", &json!(false));
    browser.wait_until_drawn();
    let light = browser.run(colours);
    browser.click("#theme");
    browser.wait_until_drawn();
    let dark = browser.run(colours);
    assert_ne!(light[0], dark[0]);
    assert_ne!(light[1], dark[1], "the map, too");
    browser.click("#theme");
    browser.wait_for(colours, &light);
    show(&browser, &env);
    browser.prefer_dark(true);
    browser.wait_for(colours, &dark);
    assert_silent(&browser);
}

#[test]
fn map_long_names_and_paths_show_last_part() {
    let env = TestEnv::new();
    let root = format!("tree/{}/data", "a-directory-with-a-long-name/".repeat(4));
    for day in ["27", "28"] {
        let directory = format!("{root}/backup-of-the-server-in-the-cellar-2024-11-{day}");
        env.mkdir(format!("{directory}/deep/deeper"));
        env.write(format!("{directory}/deep/deeper/the-archive-of-all-files-of-{day}.tar"), 90_000);
    }
    let test = "map_long_names_and_paths_show_last_part";
    let Some(browser) = open(test, &env, &[&root]) else { return };
    let shows_end = |selector: &str| {
        let script = format!(
            "return [...document.querySelectorAll('{selector}')].map((element) => {{
                const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
                while (texts.nextNode()) ;
                const end = document.createRange();
                end.setStart(texts.currentNode, texts.currentNode.length - 4);
                end.setEnd(texts.currentNode, texts.currentNode.length);
                const [part, whole] = [end.getBoundingClientRect(), element.getBoundingClientRect()];
                return part.left >= whole.left && part.right <= whole.right + 1;
            }})"
        );
        browser.run(&script)
    };
    for width in [1280, 390] {
        browser.resize(width, 844);
        show(&browser, &env);
        assert_eq!(shows_end(".crumbs button .name"), json!([true]), "{width}");
        assert_eq!(shows_end("#detail .path"), json!([true]), "{width}");
        assert_eq!(shows_end("tbody .name"), json!([true, true]), "{width}");
        assert_eq!(text(&browser, "h1"), "data");
        browser.click("#tab-files");
        assert_eq!(shows_end("tbody .name"), json!([true, true]), "{width}");
        assert_eq!(shows_end("tbody .where"), json!([true, true]), "{width}");
    }
    assert!(text(&browser, "tbody .where").starts_with("tree/a-directory"), "the whole path");
    assert_silent(&browser);
}

#[test]
fn map_html_replaces_file_atomically() {
    let env = TestEnv::new();
    nested(&env);
    let _ = env.transect(["map", "tree", "--html", "map.html"]).exits(0).quiet();
    let first = fs::read(env.path("map.html")).expect("the page");
    env.text("old.html", "old");
    symlink("old.html", env.path("link.html")).expect("a link");
    let _ = env.transect(["map", "tree", "--html", "link.html"]).exits(0).quiet();
    assert!(env.path("link.html").is_symlink());
    assert_ne!(fs::read(env.path("old.html")).expect("the page"), b"old");
    let missing = env.transect(["map", "tree", "--html", "missing/map.html"]).exits(2);
    assert!(
        missing.stderr_text().contains("cannot create 'missing/map.html'"),
        "{}",
        missing.text()
    );
    // A missing tree leaves the page unchanged.
    let failed = env.transect(["map", "nowhere", "--html", "map.html"]).exits(2);
    assert!(failed.stderr_text().contains("nowhere"), "{}", failed.text());
    assert_eq!(fs::read(env.path("map.html")).expect("the page"), first);
    let left = env.sh("ls -A").exits(0).stdout_text();
    assert_eq!(left, "link.html\nmap.html\nold.html\ntree\n");
}

#[test]
fn map_without_scripts_shows_table() {
    let env = TestEnv::new();
    nested(&env);
    let page = env.transect(["map", "tree", "--html", "-"]).exits(0).quiet().stdout_text();
    let plain = page.split_once("<main id=\"plain\">").expect("a part").1;
    let plain = plain.split_once("</main>").expect("its end").0;
    let large = plain.find("<bdi>large</bdi>").expect("the largest");
    assert!(large < plain.find("<bdi>small</bdi>").expect("the other"), "{plain}");
    let refused =
        env.transect(["map", "tree", "--html", "map.html", "--max-entries", "0"]).exits(2);
    assert!(refused.stderr_text().contains("--max-entries"), "{}", refused.text());
}

#[test]
fn map_disk_is_outer_frame_on_request() {
    let env = TestEnv::new();
    let test = "map_disk_is_outer_frame_on_request";
    env.mkdir("disk");
    let _mount = match Mount::tmpfs("64m", &env.path("disk")) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    env.mkdir("disk/tree");
    env.write("disk/tree/file.mkv", 16 << 20);
    env.write("disk/beside", 16 << 20);
    let Some(browser) = open(test, &env, &["disk/tree"]) else { return };
    // The entry at three quarters of the width.
    let pointed =
        "const map = document.querySelector('#map'); const box = map.getBoundingClientRect();
        map.dispatchEvent(new PointerEvent('pointermove', { pointerType: 'mouse', bubbles: true,
            clientX: box.left + 0.75 * box.width, clientY: box.top + box.height / 2 }));
        return document.querySelector('.tip').hidden";
    assert_eq!(browser.run(pointed), false, "the file fills the map");
    browser.run(
        "window.labels = []; const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
            window.labels.push(text); write.call(this, text, ...place); }",
    );
    browser.click("#frame");
    browser.wait_for(pointed, &json!(true));
    // The page uses one word and one number for what is available.
    let available =
        "const [number, unit, word] = document.querySelector('#disk').textContent.split(' ');
        return word === 'available' && window.labels.includes(`Available ${number} ${unit}`)";
    browser.wait_for(available, &json!(true));
    // The left quarter is the tree.
    assert_eq!(browser.run(&pointed.replace("0.75", "0.2")), false);
    assert_eq!(browser.run(&pointed.replace("0.75", "0.3")), true, "other data");
    browser.click("#frame");
    browser.wait_for(pointed, &json!(false));
    assert_silent(&browser);
    drop(browser);
    // Lengths are no shares of the disk.
    let Some(browser) = open(test, &env, &["disk/tree", "--apparent"]) else { return };
    assert_eq!(browser.run("return document.querySelector('#frame').hidden"), true);
}
