//! The page of `transect history`, in a real browser.

use serde_json::{Value, json};
use transect_testkit::Browser;

use crate::harness::{TestEnv, skip};
use crate::map::{assert_silent, text};

/// Names that would be markup, run, or reverse the text around them if they were not text.
const NAMES: [&str; 5] = [
    "<img src=x onerror=\"window.ran = 1\">",
    "</script><script>window.ran = 2<!--",
    "\"&'",
    "\u{202e}txt.exe",
    "line\nbreak\u{1b}[31m",
];

/// Keeps snapshots of a tree with directories of such names, which grow one after the other, and one that
/// shrinks. The root has a long name of this kind, too.
fn grow(env: &TestEnv) -> String {
    let root = format!("{} {}", "<b>'root'", "long ".repeat(30));
    env.mkdir(format!("{root}/shrinks"));
    env.write(format!("{root}/shrinks/file"), 700_000);
    let _ = env.transect(["keep", &root]).exits(0).quiet();
    for (number, name) in (1..).zip(NAMES) {
        // No name has a slash but that of an end tag.
        let directory = env.mkdir(format!("{root}/{name}"));
        env.write(directory.join("file"), number * 100_000);
        let _ = env.transect(["keep", &root]).exits(0).quiet();
    }
    std::fs::remove_file(env.path(format!("{root}/shrinks/file"))).expect("it exists");
    let _ = env.transect(["keep", &root]).exits(0).quiet();
    root
}

fn write(env: &TestEnv, root: &str) -> String {
    let _ = env.transect(["history", "--html", "history.html", root]).exits(0).quiet();
    std::fs::read_to_string(env.path("history.html")).expect("UTF-8")
}

fn count(browser: &Browser, selector: &str) -> Value {
    browser.run(&format!("return document.querySelectorAll('{selector}').length"))
}

#[test]
fn history_page_has_every_snapshot_and_growth() {
    let env = TestEnv::new();
    let root = grow(&env);
    let page = write(&env, &root);
    assert_eq!(page.matches("<script").count(), 1, "an empty one");
    assert!(!page.contains("<img") && !page.contains("<b>'root'") && !page.contains("http:"));
    assert!(!page.contains("https:") && !page.contains("@import") && !page.contains("url("));
    for name in [
        "&lt;img src=x onerror=&quot;window.ran = 1&quot;&gt;",
        "\\u{202e}txt.exe",
        "line\\u{a}break\\u{1b}[31m",
    ] {
        assert!(page.contains(name), "{name}");
    }
    // Commands that can be copied have no escapes in them.
    assert!(page.contains("<code>transect diff "), "{page}");
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => {
            return skip("history_page_has_every_snapshot_and_growth", &reason).unwrap_or_default();
        }
    };
    let _ = browser.requests();
    browser.go_offline();
    browser.open(&env.path("history.html"));
    assert_silent(&browser);
    let requests = browser.requests();
    assert_eq!(requests.len(), 1, "the page itself: {requests:?}");
    assert_eq!(browser.run("return window.ran === undefined"), true);
    // Seven snapshots, on three curves, in one table; six steps.
    assert_eq!(count(&browser, "circle.dot"), 21);
    assert_eq!(count(&browser, "[aria-label=Snapshots] tbody tr"), 7);
    assert_eq!(count(&browser, "details"), 6);
    let whole = text(&browser, ".growth tbody");
    assert!(whole.contains("shrinks") && whole.contains("txt.exe"), "{whole}");
    assert!(text(&browser, "figure:nth-child(3) figcaption").starts_with("Files 1 → 5 (+4)"));
    // The newest step is the first, and closed until the keyboard opens it.
    let shown = "return document.querySelector('details table').checkVisibility()";
    assert_eq!(browser.run(shown), false);
    // Enter.
    browser.type_into("details summary", "\u{e007}");
    assert_eq!(browser.run(shown), true);
    let step = text(&browser, "details .growth tbody");
    assert!(step.contains("-684 KiB") && step.contains("shrinks"), "{step}");
    assert_silent(&browser);
}

#[test]
fn history_page_fits_phone_and_themes() {
    let env = TestEnv::new();
    let root = grow(&env);
    let _ = write(&env, &root);
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => {
            return skip("history_page_fits_phone_and_themes", &reason).unwrap_or_default();
        }
    };
    for (width, height) in [(400, 844), (320, 568), (1280, 720), (1920, 1080)] {
        browser.resize(width, height);
        browser.open(&env.path("history.html"));
        browser.run("document.querySelectorAll('details').forEach(it => { it.open = true })");
        let fits = "const page = document.documentElement;
            return page.scrollWidth <= page.clientWidth && innerWidth";
        assert_eq!(browser.run(fits), width, "it has to be scrolled sideways");
    }
    let colours = "return [getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector('.curve')).stroke]";
    browser.prefer_dark(false);
    let light = browser.run(colours);
    browser.prefer_dark(true);
    assert_ne!(browser.run(colours), light);
    assert_silent(&browser);
}

#[test]
fn history_page_of_one_snapshot_and_of_a_partial_one() {
    let test = "history_page_of_one_snapshot_and_of_a_partial_one";
    let env = TestEnv::new();
    env.mkdir("tree/denied<i>");
    let _ = env.transect(["keep", "tree"]).exits(0).quiet();
    let one = write(&env, "tree");
    assert_eq!((one.matches("<circle").count(), one.contains("<details")), (3, false));
    let data = env.path("../data");
    let _ = env
        .sh(&format!("chmod 0 tree/denied*; rm -r '{0}'; mkdir -m 777 '{0}'", data.display()))
        .exits(0);
    let Some(stored) = env.transect_unprivileged(test, ["keep", "tree"]) else { return };
    let _ = stored.exits(1);
    let shown = env.transect_unprivileged(test, ["history", "--html", "-", "tree"]);
    let Some(shown) = shown else { return };
    let page = shown.exits(1).stdout_text();
    assert!(page.contains("partial: 1 error") && page.contains("dot partial"), "{page}");
    assert!(page.contains("denied&lt;i&gt;&#39;: Permission denied</bdi>"), "{page}");
}

#[test]
fn history_page_wrong_options_and_removed_snapshots() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for (args, word) in [
        (&["--html", "page.html"][..], "<PATH>"),
        (&["--html", "page.html", "--json", "tree"], "cannot be used with"),
        (&["--html", "page.html", "tree"], "keep one: transect keep tree"),
    ] {
        let refused = env.transect(["history"].iter().chain(args)).exits(2);
        assert!(refused.stderr_text().contains(word), "{args:?}: {}", refused.text());
    }
    let kept: Vec<String> = (0..2)
        .map(|_| {
            let kept = env.transect(["keep", "--json", "tree"]).exits(0).quiet().json();
            kept["snapshot"]["path"].as_str().expect("a path").to_owned()
        })
        .collect();
    // Its rows are damaged, its description is not.
    let mut bytes = std::fs::read(&kept[1]).expect("a snapshot");
    let end = bytes.len() - 8;
    let description = u32::from_le_bytes(bytes[end..end + 4].try_into().expect("four bytes"));
    bytes[4..end - description as usize].fill(0xff);
    std::fs::write(&kept[1], bytes).expect("written");
    let shown = env.transect(["history", "--html", "page.html", "tree"]).exits(1);
    assert!(shown.stderr_text().contains("cannot use '"), "{}", shown.text());
    let page = std::fs::read_to_string(env.path("page.html")).expect("a page");
    assert!(page.contains("Files that were skipped"), "{page}");
    assert_eq!(json!(page.matches("<circle").count()), 3);
}
