use std::fs;

use transect_testkit::TempDir;

use crate::app::Overlay;
use crate::message::Effect;
use crate::test_app::{TestApp, tree};

/// Three files of the same content, one of which has two names, and another one of the same length.
fn sample() -> TempDir {
    let temp = TempDir::new();
    for (name, byte) in [("a/one", 1), ("b/two", 1), ("c/three", 1), ("c/other", 2)] {
        let path = temp.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![byte; 9_000]).unwrap();
    }
    fs::hard_link(temp.join("b/two"), temp.join("b/zwei")).unwrap();
    temp
}

#[test]
fn duplicates_listed_below_directory() {
    let temp = sample();
    let mut app = TestApp::on_disk(temp.path());
    app.press("D");
    let screen = app.screen();
    assert!(screen.contains("1 group, "), "{screen}");
    assert!(screen.contains("3 files of 8.79 KiB, frees "), "{screen}");
    assert!(screen.contains("2 names"), "{screen}");
    assert!(!screen.contains("other"), "another content: {screen}");
    // To the second file, and back to the list without another search.
    app.press("Down Enter");
    assert_eq!(app.selected(), "two");
    app.press("h D");
    assert!(app.screen().contains("1 group, "), "{}", app.screen());
    assert!(matches!(app.state.overlay, Overlay::Duplicates));
    app.press("Esc");
    app.select("a");
    app.press("Enter D");
    assert!(app.screen().contains("no duplicates"), "{}", app.screen());
}

#[test]
fn duplicates_marked_and_deleted_through_confirmation() {
    let temp = sample();
    let mut app = TestApp::on_disk(temp.path());
    app.press("D d");
    assert!(app.last_line().starts_with("nothing is marked"), "{}", app.last_line());
    // Down to the second file: a mark takes all of its names.
    app.press("Down Space");
    assert_eq!(app.state.marks.len(), 2);
    app.press("Up Space");
    assert_eq!(app.state.marks.len(), 0);
    app.press("*");
    assert_eq!(app.state.marks.len(), 3, "two files, three names");
    app.press("d");
    assert!(app.screen().contains("Delete 3 entries for good?"), "{}", app.screen());
    app.press("y");
    let left = |name: &str| temp.join(name).exists();
    assert!(left("a/one") && left("c/other"));
    assert!(!left("b/two") && !left("b/zwei") && !left("c/three"));
    app.press("D");
    assert!(app.screen().contains("no duplicates"), "{}", app.screen());
}

#[test]
fn duplicates_search_stopped() {
    let mut app = TestApp::with_table(tree(&[("root/one", 5, 0), ("root/two", 5, 0)]));
    app.press("D");
    let Some(Effect::FindDuplicates { options, .. }) = app.effects.pop() else {
        panic!("no search")
    };
    assert!(app.screen().contains("searching …"), "{}", app.screen());
    assert!(!options.cancel.is_cancelled());
    app.press("Esc");
    assert!(options.cancel.is_cancelled());
    assert_eq!(app.last_line(), "search for duplicates stopped");
}
