//! Requests that remove entries or search for duplicates, without a browser.

#![cfg(target_os = "linux")]

use std::fs;

use serde_json::json;
use transect_remove::Trash;
use transect_testkit::TempDir;

use crate::served::{Served, with_served, write};

fn no_trash() -> Result<Trash, String> {
    Err("no trash in this test".to_owned())
}

/// A directory with two files, one of which has another name outside of it.
fn tree() -> TempDir {
    let temp = TempDir::new();
    write(temp.join("old/large"), 50_000);
    write(temp.join("old/linked"), 9_000);
    fs::hard_link(temp.join("old/linked"), temp.join("outside")).expect("a link");
    write(temp.join("kept/other"), 700);
    temp
}

/// Refused with a reason, and nothing is gone.
#[track_caller]
fn assert_refused(served: &Served, temp: &TempDir, page: &str, status: u16, reason: &str) {
    let (refused, answer) = served.post(page);
    assert_eq!(refused, status, "{page}: {answer}");
    let told = answer["error"].as_str().unwrap_or_default();
    assert!(told.contains(reason), "{page}: {told}");
    for name in ["old/large", "old/linked", "outside", "kept/other"] {
        assert!(temp.join(name).exists(), "{page}: {name} is gone");
    }
}

#[test]
fn removal_without_permission_refused() {
    let temp = tree();
    with_served(temp.path(), None, 1000, |served| {
        let entry = served.entry("old");
        for page in [format!("delete/{entry}"), format!("trash/{entry}")] {
            assert_refused(served, &temp, &page, 403, "--allow-removal");
        }
        let confirm = format!("confirm/{}", "0".repeat(32));
        assert_refused(served, &temp, &confirm, 403, "--allow-removal");
        let page = String::from_utf8(served.get("").1).expect("text");
        assert!(!page.contains("remove-delete") && !page.contains("removal-yes"));
    });
}

#[test]
fn removal_with_permission_has_buttons() {
    let temp = tree();
    with_served(temp.path(), Some(no_trash), 1000, |served| {
        let page = String::from_utf8(served.get("").1).expect("text");
        assert!(page.contains("askRemoval") && page.contains("removal-yes"));
    });
}

#[test]
fn removal_refused_unless_token_origin_version_and_number_are_right() {
    let temp = tree();
    with_served(temp.path(), Some(no_trash), 1000, |served| {
        let entry = served.entry("old");
        let origin = format!(
            "Origin: {}\r\n",
            served.address.split_inclusive('/').take(3).collect::<String>().trim_end_matches('/')
        );
        let page = |token: &str| format!("/{token}/delete/{entry}");
        let own = page(served.token());
        for (status, method, path, headers) in [
            (404, "POST", page(&"0".repeat(32)), origin.as_str()),
            (404, "POST", page(&served.token()[..31]), origin.as_str()),
            (404, "GET", own.clone(), origin.as_str()),
            (405, "DELETE", own.clone(), origin.as_str()),
            (403, "POST", own.clone(), ""),
            (403, "POST", own.clone(), "Origin: null\r\n"),
            (403, "POST", own, "Origin: http://example.org\r\n"),
        ] {
            let (refused, answer) = served.send(method, &path, headers);
            let answer = String::from_utf8_lossy(&answer);
            assert_eq!(refused, status, "{method} {path} {headers}: {answer}");
            assert!(!answer.contains("confirm"), "{answer}");
        }
        let (version, index) = entry.split_once('/').expect("two numbers");
        let version: u64 = version.parse().expect("a number");
        for other in [version - 1, version + 1] {
            let page = format!("delete/{other}/{index}");
            assert_refused(served, &temp, &page, 409, "the map has changed");
        }
        assert_refused(served, &temp, &format!("delete/{version}/999"), 409, "not a single entry");
        assert_refused(served, &temp, &format!("delete/{version}/0"), 409, "root");

        let (status, first) = served.post(&format!("delete/{entry}"));
        assert_eq!(status, 200, "{first}");
        let (_, second) = served.post(&format!("delete/{entry}"));
        assert_ne!(first["confirm"], second["confirm"]);
        let confirm = |plan: &serde_json::Value| {
            format!("confirm/{}", plan["confirm"].as_str().expect("a number"))
        };
        // The second question replaces the first one.
        assert_refused(served, &temp, &confirm(&first), 409, "used, or replaced");
        let wrong = format!("confirm/{}", "0".repeat(32));
        assert_refused(served, &temp, &wrong, 409, "used, or replaced");
        // The tree is read again between question and confirmation.
        assert_eq!(served.post("rescan").0, 204);
        transect_testkit::wait_for("another version", || {
            (served.columns().0["version"] != json!(version)).then_some(())
        });
        transect_testkit::wait_for("the end of the walk", || {
            let progress: serde_json::Value =
                serde_json::from_slice(&served.get("progress").1).expect("JSON");
            (progress["reading"] == false).then_some(())
        });
        assert_refused(served, &temp, &confirm(&second), 409, "the map has changed");
        assert_refused(served, &temp, &confirm(&second), 409, "used, or replaced");
    });
}

#[test]
fn removal_confirmed_once_frees_what_was_announced() {
    let temp = tree();
    with_served(temp.path(), Some(no_trash), 1000, |served| {
        let (_, plan) = served.post(&format!("delete/{}", served.entry("old")));
        assert_eq!((&plan["files"], &plan["directories"]), (&json!(2), &json!(1)), "{plan}");
        assert_eq!(plan["shared_files"], 1);
        assert!(
            plan["shared"].as_u64() > Some(0) && plan["freed"].as_u64() >= Some(50_000),
            "{plan}"
        );
        assert_eq!(plan["path"], temp.join("old").to_string_lossy().as_ref());
        let confirm = format!("confirm/{}", plan["confirm"].as_str().expect("a number"));
        let (status, started) = served.post(&confirm);
        assert_eq!(status, 200, "{started}");
        let outcome = served.outcome(&started);
        assert_eq!((&outcome["removed"], &outcome["kept"]), (&json!(3), &json!(0)), "{outcome}");
        assert_eq!((&outcome["error"], &outcome["kept_entries"]), (&json!(null), &json!([])));
        assert!(!temp.join("old").exists() && temp.join("outside").exists());
        let (about, mut names) = served.columns();
        let _root = names.remove(0);
        names.sort();
        assert_eq!(names, ["kept", "other", "outside"], "without another walk");
        assert_eq!((&about["complete"], &about["hard_links"]), (&json!(true), &json!(0)));
        let (status, reused) = served.post(&confirm);
        assert_eq!(status, 409, "{reused}");
        assert!(temp.join("kept/other").exists());
    });
}

#[test]
fn removal_keeps_what_changed_and_reports_it() {
    let temp = tree();
    with_served(temp.path(), Some(no_trash), 1000, |served| {
        let (_, plan) = served.post(&format!("delete/{}", served.entry("old")));
        // Another file of this name, and a new one.
        fs::remove_file(temp.join("old/large")).expect("a file");
        write(temp.join("old/large"), 50_001);
        write(temp.join("old/new"), 3);
        let confirm = format!("confirm/{}", plan["confirm"].as_str().expect("a number"));
        let outcome = served.outcome(&served.post(&confirm).1);
        assert_eq!((&outcome["removed"], &outcome["kept"]), (&json!(1), &json!(1)), "{outcome}");
        let kept = outcome["kept_entries"].to_string();
        assert!(kept.contains("it changed since the walk"), "{kept}");
        assert!(temp.join("old/large").exists() && temp.join("old/new").exists());
        assert!(!temp.join("old/linked").exists() && temp.join("outside").exists());
        // The tree is not as it was read, and is read again.
        transect_testkit::wait_for("the new file", || {
            served.columns().1.iter().any(|name| name == "new").then_some(())
        });
    });
}

#[test]
fn removal_to_missing_trash_reports_error() {
    let temp = tree();
    with_served(temp.path(), Some(no_trash), 1000, |served| {
        let (_, plan) = served.post(&format!("trash/{}", served.entry("old")));
        assert_eq!(plan["kind"], "trash");
        let confirm = format!("confirm/{}", plan["confirm"].as_str().expect("a number"));
        let outcome = served.outcome(&served.post(&confirm).1);
        assert_eq!(outcome["error"], "no trash in this test");
        assert!(temp.join("old/large").exists());
        let about = served.columns().0;
        assert_eq!(about["entries"], 7, "{about}");
    });
}

#[test]
fn duplicates_found_below_directory() {
    let temp = TempDir::new();
    write(temp.join("in/a"), 5_000);
    write(temp.join("in/deep/b"), 5_000);
    write(temp.join("c"), 5_000);
    write(temp.join("in/small"), 10);
    write(temp.join("in/small2"), 10);
    with_served(temp.path(), None, 1000, |served| {
        let names = served.columns().1;
        let (_, started) = served.post(&format!("duplicates/{}", served.entry("in")));
        let outcome = served.outcome(&started);
        assert_eq!(
            (&outcome["group_count"], &outcome["errors"]),
            (&json!(2), &json!(0)),
            "{outcome}"
        );
        let name = |group: usize, copy: usize| {
            let entry = outcome["groups"][group]["copies"][copy]["entry"].as_u64();
            names[entry.expect("an entry") as usize].as_str()
        };
        assert_eq!((name(0, 0), name(0, 1)), ("a", "b"));
        assert_eq!((name(1, 0), name(1, 1)), ("small", "small2"));
        let group = &outcome["groups"][0];
        assert_eq!((&group["size"], &group["count"]), (&json!(5_000), &json!(2)));
        assert_eq!(group["freed"], group["copies"][1]["freed"]);
        let (status, told) = served.post("duplicates/1/1");
        assert_eq!(status, 409, "{told}");
    });
    // Files that are not shown individually have paths.
    with_served(temp.path(), None, 2, |served| {
        let (_, started) = served.post(&format!("duplicates/{}", served.entry("in")));
        let outcome = served.outcome(&started);
        let copy = &outcome["groups"][1]["copies"][1];
        let path = temp.join("in/small2");
        assert_eq!((&copy["entry"], &copy["path"]), (&json!(null), &json!(path.to_string_lossy())));
    });
}
