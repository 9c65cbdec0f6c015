//! Removal deletes exactly the selected entries, on the disk and in the list.

use std::fs;
use std::sync::Arc;

use transect_remove::Report;
use transect_testkit::TempDir;

use crate::ViewOptions;
use crate::message::{Effect, Message};
use crate::test_app::{TestApp, report_of, tree, view_options};

/// A tree on the disk: `big` (100,000 bytes), `folder` with two files, `small`.
fn place() -> TempDir {
    let place = TempDir::new();
    fs::write(place.join("big"), vec![1; 100_000]).unwrap();
    fs::create_dir(place.join("folder")).unwrap();
    fs::write(place.join("folder/one"), "1").unwrap();
    fs::write(place.join("folder/two"), "22").unwrap();
    fs::write(place.join("small"), "3").unwrap();
    place
}

#[test]
fn delete_confirmed_removes_selected_entry() {
    let place = place();
    let mut app = TestApp::on_disk(place.path());
    assert_eq!(app.selected(), "big");
    app.press("d");
    let screen = app.screen();
    assert!(screen.contains("Delete 1 entry for good?"), "{screen}");
    assert!(screen.contains("big") && screen.contains("frees"), "{screen}");
    app.press("y");
    assert!(!place.join("big").exists());
    assert!(place.join("small").exists());
    assert_eq!(app.listed(), ["folder", "small"]);
    assert!(app.last_line().contains("1 entry deleted, 100 KiB freed"), "{}", app.last_line());
    assert_eq!(app.state.table.len(), 5, "it was read again");
}

#[test]
fn delete_not_confirmed_removes_nothing() {
    let place = place();
    let mut app = TestApp::on_disk(place.path());
    for keys in
        ["d n", "d Esc", "d q", "d Enter", "d Tab Tab Enter", "d Ctrl-C", "d x Esc", "t Esc"]
    {
        app.press(keys);
        assert!(!app.screen().contains("for good"), "{keys}: {}", app.screen());
        assert_eq!(app.listed(), ["big", "folder", "small"], "{keys}");
    }
    assert!(place.join("big").exists() && app.effects.is_empty());
    app.press("d Tab Enter");
    assert!(!place.join("big").exists(), "the other answer was chosen");
}

#[test]
fn delete_removes_marks_in_all_directories() {
    let place = place();
    let mut app = TestApp::on_disk(place.path());
    app.select("folder");
    app.press("l Space h j Space d");
    let screen = app.screen();
    assert!(screen.contains("Delete 2 entries for good?"), "{screen}");
    assert!(screen.contains("2 files"), "{screen}");
    app.press("y");
    assert!(!place.join("small").exists() && !place.join("folder/one").exists());
    assert!(place.join("big").exists() && place.join("folder/two").exists());
    assert!(app.state.marks.is_empty());
}

#[test]
fn delete_entries_that_were_found() {
    let place = place();
    fs::create_dir_all(place.join("other/folder/folder")).unwrap();
    let mut app = TestApp::on_disk(place.path());
    app.press("f");
    app.type_in("folder");
    app.press("Enter * u Space");
    assert_eq!(app.state.marks.len(), 1);
    app.press("* d");
    let screen = app.screen();
    // The third one lies below one of them.
    assert!(screen.contains("Delete 2 entries for good?"), "{screen}");
    app.press("y");
    assert!(!place.join("folder").exists() && !place.join("other/folder").exists());
    assert!(place.join("other").exists() && app.state.marks.is_empty());
    app.press("f");
    app.type_in("small");
    app.press("Enter d");
    assert!(app.screen().contains("Delete 1 entry for good?"), "{}", app.screen());
    app.press("y");
    assert!(!place.join("small").exists() && place.join("big").exists());
}

#[test]
fn delete_current_directory_shows_parent() {
    let place = place();
    let mut app = TestApp::on_disk(place.path());
    app.select("folder");
    app.press("Space k l d");
    assert!(app.screen().contains("folder"), "what is marked: {}", app.screen());
    app.press("y");
    assert_eq!(app.current_path(), place.path().to_string_lossy().replace('\\', "/"));
    assert_eq!(app.listed(), ["big", "small"]);
}

#[test]
fn delete_changed_entries_kept_and_listed() {
    let place = place();
    let mut app = TestApp::on_disk(place.path());
    fs::write(place.join("folder/one"), "longer than before").unwrap();
    fs::write(place.join("folder/new"), "came later").unwrap();
    app.select("folder");
    app.press("d y");
    let screen = app.screen();
    assert!(screen.contains("1 entry kept; 1 entry deleted"), "{screen}");
    assert!(screen.contains("changed since the walk"), "{screen}");
    assert!(place.join("folder/one").exists() && place.join("folder/new").exists());
    app.press("Esc");
    app.select("folder");
    app.press("l");
    assert_eq!(app.listed(), ["new", "one"], "as it is on the disk now");
}

#[test]
fn trash_moves_entry() {
    let (place, home) = (place(), TempDir::new());
    let mut app = TestApp::on_disk(place.path());
    // The message ends with the path of the trash, which may be long.
    app.resize(300, 24);
    app.trash_in(home.path());
    app.select("folder");
    app.press("t");
    let screen = app.screen();
    assert!(screen.contains("to the trash?") && screen.contains("is emptied"), "{screen}");
    app.press("y");
    if cfg!(not(target_os = "linux")) {
        assert!(app.last_line().contains("not supported"), "{}", app.last_line());
        return;
    }
    assert!(!place.join("folder").exists());
    assert!(home.join("Trash/files/folder/one").exists(), "{}", app.screen());
    assert_eq!(app.listed(), ["big", "small"]);
    assert!(app.last_line().contains("1 entry moved to the trash"), "{}", app.last_line());
    assert!(app.last_line().contains("(z undoes"), "{}", app.last_line());

    app.press("z");
    assert!(app.last_line().contains("1 entry moved back"), "{}", app.last_line());
    assert!(place.join("folder/one").exists());
    assert_eq!(app.listed(), ["big", "folder", "small"]);
    app.press("z");
    assert!(app.last_line().contains("nothing to undo"), "{}", app.last_line());
}

#[test]
#[cfg(target_os = "linux")]
fn undo_of_occupied_path_keeps_entry_in_trash() {
    let (place, home) = (place(), TempDir::new());
    let mut app = TestApp::on_disk(place.path());
    app.trash_in(home.path());
    app.select("small");
    app.press("Space");
    app.select("big");
    app.press("Space t y");
    fs::write(place.join("small"), "new").unwrap();
    app.press("z");
    let screen = app.screen();
    assert!(screen.contains("1 entry moved back") && screen.contains("not moved back"), "{screen}");
    assert!(home.join("Trash/files/small").exists() && place.join("big").exists());
    fs::remove_file(place.join("small")).unwrap();
    app.press("Esc z");
    assert_eq!(fs::read_to_string(place.join("small")).unwrap(), "3");
}

/// Sizes are right after each step, also where the trash is in the tree.
#[test]
#[cfg(target_os = "linux")]
fn trash_in_tree_counts_until_emptied() {
    let place = place();
    fs::create_dir(place.join("home")).unwrap();
    let mut app = TestApp::on_disk(place.path());
    app.trash_in(&place.join("home"));
    let sum = |app: &TestApp| {
        let table = &app.state.table;
        let files = table.iter().filter(|&row| table.file_type(row) == transect::FileType::File);
        files.map(|row| table.size(row).unwrap()).sum::<u64>()
    };
    let all = sum(&app);
    app.select("big");
    app.press("t y");
    assert!(sum(&app) > all, "the file, and what the trash records about it");
    app.select("home");
    app.press("l l l");
    assert_eq!(app.listed(), ["big"]);
    app.press("T");
    let screen = app.screen();
    assert!(screen.contains("Empty the trash: delete 1 entry for good?"), "{screen}");
    app.press("y");
    assert!(app.last_line().contains("1 entry deleted, 100 KiB freed"), "{}", app.last_line());
    assert_eq!(sum(&app), all - 100_000);
    assert!(!place.join("home/Trash/info/big.trashinfo").exists());
    app.press("T");
    assert!(app.last_line().contains("the trash is empty"), "{}", app.last_line());
    app.press("z");
    assert!(app.last_line().contains("nothing to undo"), "{}", app.last_line());
}

#[test]
fn delete_read_only_or_partial_refused() {
    let mut app = TestApp::with(ViewOptions { read_only: true, ..view_options() }, 80, 24);
    app.send(Message::Table(tree(&[("r/a", 1, 0)])));
    app.press("d");
    assert!(app.last_line().contains("--read-only"), "{}", app.last_line());
    app.press("t y ?");
    assert!(!app.screen().contains("delete marked"), "{}", app.screen());
    assert!(app.effects.is_empty());

    let mut app = TestApp::empty();
    app.send(Message::PartialTable(tree(&[("r/a/", 1, 0)])));
    app.press("d");
    assert!(app.last_line().contains("before reading is done"), "{}", app.last_line());
    app.press("t y");
    assert!(app.effects.is_empty());
}

#[test]
fn snapshot_only_looked_at() {
    let stored_at = Some("2026-01-31 10:00:00".to_owned());
    let mut app = TestApp::with(ViewOptions { stored_at, ..view_options() }, 80, 24);
    app.send(Message::Table(tree(&[("r/a", 9000, 0), ("r/b", 1, 0)])));
    let line = app.last_line();
    assert!(line.contains("snapshot of 2026-01-31 10:00:00, complete: 3 entries"), "{line}");
    for key in ["d", "t", "D", "r", "R", "o", "!"] {
        app.press(key);
        assert!(app.last_line().contains("not in a snapshot"), "{key}: {}", app.last_line());
        app.press("y");
    }
    assert!(app.effects.is_empty(), "{:?}", app.effects);
    app.press("?");
    let help = app.screen();
    assert!(help.contains("open directory") && !help.contains("default program"), "{help}");
    assert!(!help.contains("delete marked"), "{help}");
}

#[test]
fn confirmation_updated_by_new_table() {
    let mut app = TestApp::with_table(tree(&[("r/a", 1, 0), ("r/b", 1, 0)]));
    app.press("d");
    app.send(Message::Table(tree(&[("r/a", 9000, 0), ("r/c", 1, 0)])));
    assert!(app.screen().contains("frees 12.0 KiB"), "{}", app.screen());
    app.send(Message::Table(tree(&[("r/c", 1, 0)])));
    assert!(app.last_line().contains("are gone"), "{}", app.last_line());
    app.press("y");
    assert!(app.effects.is_empty());
}

#[test]
fn removal_stops_on_request() {
    let mut app = TestApp::with_table(tree(&[("r/a", 1, 0), ("r/b", 1, 0)]));
    app.press("d y q");
    let effects = std::mem::take(&mut app.effects);
    assert!(matches!(effects[..], [Effect::Remove { .. }, Effect::StopRemoval]), "{effects:?}");
    assert!(app.screen().contains("Stopping"), "{}", app.screen());
    let mut report = Report::default();
    report.cancelled = true;
    let table = app.state.table.clone();
    app.send(Message::Removed { table, report, changed: Vec::new() });
    assert!(app.last_line().starts_with("stopped: 0 entries deleted"), "{}", app.last_line());
    assert_eq!(app.listed(), ["a", "b"]);
}

#[test]
fn removal_outcome_of_old_table_applied() {
    let old = tree(&[("r/a", 1, 0), ("r/b", 1, 0)]);
    let mut app = TestApp::with_table(old.clone());
    app.press("d y");
    app.send(Message::Table(tree(&[("r/0", 1, 0), ("r/a", 1, 0), ("r/b", 1, 0)])));
    // Rows are removed from the table that they belong to.
    let Some(Effect::Remove { table, rows, .. }) = app.effects.pop() else { panic!() };
    assert!(Arc::ptr_eq(&table, &old));
    assert_eq!(table.name(rows[0]), "a");
    assert!(app.screen().contains("Deleting"), "{}", app.screen());
    let root = old.roots().next().unwrap();
    let gone = vec![old.child(root, "a".as_ref()).unwrap()];
    app.send(Message::Removed { table: old, report: report_of(gone), changed: Vec::new() });
    assert_eq!(app.listed(), ["0", "b"]);
}

#[test]
fn rescan_leaves_out_removed_root() {
    let table = tree(&[("one/a", 1, 0), ("two/b", 1, 0)]);
    let mut app = TestApp::with_table(table.clone());
    app.press("d y");
    let gone = vec![table.roots().next().unwrap()];
    app.send(Message::Removed { table, report: report_of(gone), changed: Vec::new() });
    assert_eq!(app.listed(), ["two"]);
    let effect = app.effects.pop().unwrap();
    assert!(
        matches!(&effect, Effect::Rescan { without } if without == &[std::path::PathBuf::from("one")]),
        "{effect:?}"
    );
}

#[test]
fn confirmation_fits_every_screen() {
    let names: Vec<String> = (0..40).map(|number| format!("r/entry {number:02}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), 1 << 20, 0)).collect();
    let mut app = TestApp::with_table(tree(&files));
    app.press("* d");
    insta::assert_snapshot!(app.framed_screen().replace('\\', "/"), @r"
    | r                                                       40.0 MiB in 41 entries
    |   disk usage ▼                      entries name
    |* ╭─ Delete 40 entries for good? ────────────────────────────────────────────╮
    |* │ r/entry 00                                                      1.00 MiB │
    |* │ r/entry 01                                                      1.00 MiB │
    |* │ r/entry 02                                                      1.00 MiB │
    |* │ r/entry 03                                                      1.00 MiB │
    |* │ r/entry 04                                                      1.00 MiB │
    |* │ r/entry 05                                                      1.00 MiB │
    |* │ r/entry 06                                                      1.00 MiB │
    |* │ r/entry 07                                                      1.00 MiB │
    |* │ r/entry 08                                                      1.00 MiB │
    |* │ r/entry 09                                                      1.00 MiB │
    |* │ r/entry 10                                                      1.00 MiB │
    |* │ r/entry 11                                                      1.00 MiB │
    |* │                                                                          │
    |* │ frees 40.0 MiB; cannot be undone                                         │
    |* │ 40 files                                                                 │
    |* │                                                                          │
    |* │  n keep    y delete                                                      │
    |* ╰───────────────────────────────────────────────────────────── 1–12 of 40 ─╯
    |* 1.00 MiB   3% ████████████████           1 entry 19
    |* 1.00 MiB   3% ████████████████           1 entry 20
    | 40 entries marked, 40.0 MiB; complete: 41 entries in 0 µs
    ");
    app.resize(40, 10);
    insta::assert_snapshot!(app.framed_screen().replace('\\', "/"), @r"
    |╭─ Delete 40 entries for good? ────────╮
    |│ r/entry 00                  1.00 MiB │
    |│ r/entry 01                  1.00 MiB │
    |│ r/entry 02                  1.00 MiB │
    |│ r/entry 03                  1.00 MiB │
    |│ frees 40.0 MiB; cannot be undone     │
    |│ 40 files                             │
    |│  n keep    y delete                  │
    |╰────────────────────────── 1–4 of 40 ─╯
    | 40 entries marked, 40.0 MiB; complete
    ");
    for (width, height) in [(1, 1), (2, 2), (3, 3), (7, 5), (12, 4), (300, 3), (300, 100)] {
        app.resize(width, height);
        app.press("j j k Tab");
    }
    app.resize(60, 12);
    app.press("y");
    insta::assert_snapshot!(app.framed_screen().replace('\\', "/"), @r"
    | r                                   40.0 MiB in 41 entries
    |   disk usage ▼              name
    |╭─ Deleting … ─────────────────────────────────────────────╮
    |│                                                          │
    |│ 0 of 40 entries                                          │
    |│                                                          │
    |│ Esc stops; what is done stays done                       │
    |╰──────────────────────────────────────────────────────────╯
    |* 1.00 MiB   3% ████████████ entry 06
    |* 1.00 MiB   3% ████████████ entry 07
    |* 1.00 MiB   3% ████████████ entry 08
    | 40 entries marked, 40.0 MiB; complete: 41 entries in 0 µs
    ");
}
