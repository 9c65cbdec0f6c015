//! The map as its own program serves it, in a real browser.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use serde_json::json;
use transect_testkit::Browser;

use crate::followed::Live;
use crate::harness::{Running, TestEnv, skip};
use crate::map::{ROWS, WAY, assert_silent, nested};

#[test]
fn map_served_only_with_secret_address() {
    let env = TestEnv::new();
    nested(&env);
    let test = "map_served_only_with_secret_address";
    let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
    let mut serving = Running::start(command.args(["map", "tree"]));
    let address = serving.first_line();
    let address = address.as_str();
    assert!(address.starts_with("http://127.0.0.1:") && address.ends_with('/'), "{address}");
    match Browser::start(1280, 720) {
        Err(reason) => drop(skip::<()>(test, &reason)),
        Ok(browser) => {
            browser.visit(address);
            browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
            browser.wait_for("return document.querySelector('.reading').hidden", &json!(true));
            assert_eq!(browser.run(ROWS), json!(["large", "small"]));
            browser.run(
                "window.alive = fetch('alive').then(answer => { window.heard = answer.status })",
            );
            browser.wait_for("return window.heard", &json!(204));
            // The port alone is not enough.
            let (origin, _) =
                address.split_at(address.trim_end_matches('/').rfind('/').expect("a token") + 1);
            browser.visit(origin);
            assert_eq!(browser.run("return document.querySelectorAll('#map, #columns').length"), 0);
        }
    }
    serving.signal(Signal::INT);
    assert_eq!(serving.wait().code(), Some(0), "Ctrl-C ends it normally");
}

/// A served map. Ctrl-C ends it on drop.
pub(crate) struct Served {
    program: Running,
    pub(crate) address: String,
}

impl Served {
    fn start(command: &mut Command) -> Self {
        let mut program = Running::start(command);
        let address = program.first_line();
        Self { program, address }
    }

    pub(crate) fn map(env: &TestEnv, args: &[&str]) -> Self {
        Self::start(env.command(env!("CARGO_BIN_EXE_transect")).arg("map").args(args))
    }

    /// Opens the page, and waits until all of the tree is shown.
    fn visit(&self, browser: &Browser) {
        browser.visit(&self.address);
        browser.wait_for("return document.documentElement.dataset.ready", &json!("yes"));
        browser.wait_for("return document.querySelector('#rescan').disabled", &json!(false));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.program.signal(Signal::INT);
        let _ = self.program.wait();
    }
}

#[test]
fn map_rescan_shows_changes() {
    let env = TestEnv::new();
    nested(&env);
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => return skip("map_rescan_shows_changes", &reason).unwrap_or_default(),
    };
    let served = Served::map(&env, &["tree"]);
    served.visit(&browser);
    browser.click("tbody .link");
    assert_eq!(browser.run(ROWS), json!(["inner", "beside.rs"]));
    env.write("tree/large/new", 5_000_000);
    fs::remove_file(env.path("tree/large/beside.rs")).expect("a file");
    for _ in 0..2 {
        browser.click("#rescan");
        browser.wait_for("return document.querySelector('#rescan').disabled", &json!(false));
        browser.wait_for(ROWS, &json!(["new", "inner"]));
        assert_eq!(browser.run(WAY), json!(["tree", "large"]), "the same directory");
    }
    // Nothing to read: the page keeps what it shows.
    fs::rename(env.path("tree"), env.path("gone")).expect("a directory");
    browser.click("#rescan");
    browser.wait_for("return document.querySelector('#rescan').disabled", &json!(false));
    assert_eq!(browser.run(ROWS), json!(["new", "inner"]));
    assert_silent(&browser);
}

#[test]
fn map_shows_what_changes_in_a_followed_tree() {
    let env = TestEnv::new();
    nested(&env);
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => {
            return skip("map_shows_what_changes_in_a_followed_tree", &reason).unwrap_or_default();
        }
    };
    let live = Live::start(&env, "tree");
    let served = Served::map(&env, &["tree"]);
    served.visit(&browser);
    browser.click("tbody .link");
    assert_eq!(browser.run(ROWS), json!(["inner", "beside.rs"]));
    let footer = "return document.querySelector('footer').textContent.includes('; live')";
    browser.wait_for(footer, &json!(true));
    env.write("tree/large/new", 5_000_000);
    browser.wait_for(ROWS, &json!(["new", "inner", "beside.rs"]));
    fs::remove_file(env.path("tree/large/beside.rs")).expect("a file");
    browser.wait_for(ROWS, &json!(["new", "inner"]));
    assert_eq!(browser.run(WAY), json!(["tree", "large"]), "the same directory");
    assert_eq!(live.end().0, Some(0));
    browser.wait_for(footer, &json!(false));
    env.write("tree/large/later", 9_000_000);
    browser.click("#rescan");
    browser.wait_for(ROWS, &json!(["later", "new", "inner"]));
    assert_silent(&browser);
}

#[test]
fn map_removes_through_page_only_if_allowed() {
    let env = TestEnv::new();
    nested(&env);
    env.mkdir("data");
    let refused = env.transect(["map", "--allow-removal", "--html", "map.html", "tree"]).exits(2);
    let told = refused.stderr_text();
    assert!(told.contains("--allow-removal") && told.contains("--html"), "{told}");
    let browser = match Browser::start(1280, 720) {
        Ok(browser) => browser,
        Err(reason) => {
            return skip("map_removes_through_page_only_if_allowed", &reason).unwrap_or_default();
        }
    };
    let buttons = "return document.querySelectorAll('#remove-delete, #remove-trash').length";
    let served = Served::map(&env, &["tree"]);
    served.visit(&browser);
    assert_eq!(browser.run(buttons), 0);
    drop(served);

    let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
    let _ = command.env("XDG_DATA_HOME", env.path("data"));
    let served = Served::start(command.args(["map", "--allow-removal", "tree"]));
    served.visit(&browser);
    assert_eq!(browser.run(buttons), 2);
    let remove = |kind: &str, link: &str| {
        browser.run(&format!("location.hash = '{link}'"));
        let name = link.rsplit('/').next().expect("a name");
        browser.wait_for(
            "return document.querySelector('tbody .chosen .name')?.textContent ?? null",
            &json!(name),
        );
        browser.click(&format!("#remove-{kind}"));
        browser.wait_for("return !!document.querySelector('#removal-yes')", &json!(true));
        browser.click("#removal-yes");
        browser.wait_for("return document.querySelector('#removal').open", &json!(false));
    };
    remove("delete", "#/large/beside.rs");
    browser.wait_for(ROWS, &json!(["inner"]));
    assert!(!env.path("tree/large/beside.rs").exists());
    remove("trash", "#/large/inner/notes.txt");
    browser.wait_for(ROWS, &json!(["film.mkv"]));
    assert!(!env.path("tree/large/inner/notes.txt").exists());
    let trashed = fs::read_dir(env.path("data/Trash/files")).expect("a trash");
    let trashed: Vec<_> = trashed.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(trashed, ["notes.txt"]);
    let info = fs::read_to_string(env.path("data/Trash/info/notes.txt.trashinfo")).expect("a file");
    assert!(info.contains("tree/large/inner/notes.txt"), "{info}");
    assert_silent(&browser);
}

#[test]
fn map_open_starts_browser_without_secret_in_arguments() {
    let env = TestEnv::new();
    nested(&env);
    env.mkdir("bin");
    env.script(
        "bin/xdg-open",
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > seen\ncat \"$1\" >> seen\nmv seen opened\n",
    );
    let with_opener = |args: &[&str]| {
        let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
        let path = format!("{}:/usr/bin:/bin", env.path("bin").display());
        let _ = command.env("PATH", path).arg("map").args(args);
        command
    };
    let served = Served::start(&mut with_opener(&["--open", "tree"]));
    let wait = "while [ ! -e opened ]; do sleep 0.01; done; cat opened; rm opened";
    let opened = env.sh(wait).exits(0).stdout_text();
    let (path, page) = opened.split_once('\n').expect("a path");
    assert!(page.contains(&format!("content=\"0; url={}\"", served.address)), "{opened}");
    let secret = served.address.trim_end_matches('/').rsplit('/').next().expect("a token");
    assert!(path.ends_with(".html") && !path.contains(secret), "{path}");
    let mode = env.sh(&format!("stat -c %a \"$(dirname {path})\"")).exits(0).stdout_text();
    assert_eq!(mode, "700\n", "only the owner reads it");
    drop(served);
    assert!(!std::path::Path::new(path).exists(), "it is removed");

    let html =
        with_opener(&["--open", "tree", "--html", "map.html"]).output().expect("the program");
    assert!(html.status.success());
    let opened = env.sh(wait).exits(0).stdout_text();
    assert!(opened.starts_with(env.path("map.html").to_str().expect("a path")), "{opened}");

    // Without a program that opens pages, the map is written all the same.
    let _ = env.sh("rm bin/xdg-open");
    let mut without = with_opener(&["--open", "tree", "--html", "map.html"]);
    let without = without.env("PATH", env.path("bin")).output().expect("the program");
    let told = String::from_utf8_lossy(&without.stderr).into_owned();
    let reason = "transect: no browser was opened: cannot start xdg-open: ";
    assert!(without.status.success() && told.starts_with(reason), "{told}");
    let refused = env.transect(["map", "--open", "--html", "-", "tree"]).exits(2);
    assert!(refused.stderr_text().contains("--open needs a file"), "{}", refused.text());
}

#[test]
fn map_unreadable_root_serves_nothing() {
    let env = TestEnv::new();
    let failed = env.transect(["map", "nowhere"]).exits(2);
    assert!(failed.stderr_text().contains("nowhere"), "{}", failed.text());
}
