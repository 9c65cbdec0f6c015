//! What is removed is gone from the disk and from the list, and nothing else.

use std::fs;
use std::sync::Arc;

use transect_remove::Report;
use transect_testkit::TempDir;

use crate::Look;
use crate::app::{Answer, Wish};
use crate::session::{Session, look, tree};

/// A tree on the disk: `big` 100,000 bytes, `folder` with two files, `small`.
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
fn it_deletes_what_is_selected_when_somebody_agrees() {
    let place = place();
    let mut session = Session::on_disk(place.path());
    assert_eq!(session.selected(), "big");
    session.press("d");
    let screen = session.screen();
    assert!(screen.contains("Delete 1 entry for good?"), "{screen}");
    assert!(screen.contains("big") && screen.contains("will be free"), "{screen}");
    session.press("y");
    assert!(!place.join("big").exists());
    assert!(place.join("small").exists());
    assert_eq!(session.listed(), ["folder", "small"]);
    assert!(session.foot().contains("1 entry deleted, 100 KiB freed"), "{}", session.foot());
    assert_eq!(session.app.table.len(), 5, "it was read again");
}

#[test]
fn it_deletes_nothing_if_nobody_says_yes() {
    let place = place();
    let mut session = Session::on_disk(place.path());
    for keys in
        ["d n", "d Esc", "d q", "d Enter", "d Tab Tab Enter", "d Ctrl-C", "d x Esc", "t Esc"]
    {
        session.press(keys);
        assert!(!session.screen().contains("for good"), "{keys}: {}", session.screen());
        assert_eq!(session.listed(), ["big", "folder", "small"], "{keys}");
    }
    assert!(place.join("big").exists() && session.wishes.is_empty());
    session.press("d Tab Enter");
    assert!(!place.join("big").exists(), "the other answer was chosen");
}

#[test]
fn it_deletes_all_that_is_marked_wherever_it_is() {
    let place = place();
    let mut session = Session::on_disk(place.path());
    session.select("folder");
    session.press("l Space h j Space d");
    let screen = session.screen();
    assert!(screen.contains("Delete 2 entries for good?"), "{screen}");
    assert!(screen.contains("2 files"), "{screen}");
    session.press("y");
    assert!(!place.join("small").exists() && !place.join("folder/one").exists());
    assert!(place.join("big").exists() && place.join("folder/two").exists());
    assert!(session.app.marks.is_empty());
}

#[test]
fn it_leaves_a_directory_that_is_gone() {
    let place = place();
    let mut session = Session::on_disk(place.path());
    session.select("folder");
    session.press("Space k l d");
    assert!(session.screen().contains("folder"), "what is marked: {}", session.screen());
    session.press("y");
    assert_eq!(session.place(), place.path().to_string_lossy().replace('\\', "/"));
    assert_eq!(session.listed(), ["big", "small"]);
}

#[test]
fn what_changed_since_it_was_read_is_kept_and_told() {
    let place = place();
    let mut session = Session::on_disk(place.path());
    fs::write(place.join("folder/one"), "longer than before").unwrap();
    fs::write(place.join("folder/new"), "came later").unwrap();
    session.select("folder");
    session.press("d y");
    let screen = session.screen();
    assert!(screen.contains("1 entry kept; 1 entry deleted"), "{screen}");
    assert!(screen.contains("changed since the scan"), "{screen}");
    assert!(place.join("folder/one").exists() && place.join("folder/new").exists());
    session.press("Esc");
    session.select("folder");
    session.press("l");
    assert_eq!(session.listed(), ["new", "one"], "as it is on the disk now");
}

#[test]
fn it_moves_to_the_trash() {
    let (place, home) = (place(), TempDir::new());
    let mut session = Session::on_disk(place.path());
    session.trash_in(home.path());
    session.select("folder");
    session.press("t");
    let screen = session.screen();
    assert!(screen.contains("to the trash?") && screen.contains("is emptied"), "{screen}");
    session.press("y");
    if cfg!(not(target_os = "linux")) {
        assert!(session.foot().contains("not supported"), "{}", session.foot());
        return;
    }
    assert!(!place.join("folder").exists());
    assert!(home.join("Trash/files/folder/one").exists(), "{}", session.screen());
    assert_eq!(session.listed(), ["big", "small"]);
    assert!(session.foot().contains("1 entry moved to the trash"), "{}", session.foot());
}

#[test]
fn it_removes_nothing_where_it_must_not_or_does_not_know_what() {
    let mut session = Session::with(Look { read_only: true, ..look() }, 80, 24);
    session.tell(Answer::Table(tree(&[("r/a", 1, 0)])));
    session.press("d");
    assert!(session.foot().contains("--read-only"), "{}", session.foot());
    session.press("t y ?");
    assert!(!session.screen().contains("delete what"), "{}", session.screen());
    assert!(session.wishes.is_empty());

    let mut session = Session::before();
    session.tell(Answer::Outline(tree(&[("r/a/", 1, 0)])));
    session.press("d");
    assert!(session.foot().contains("before everything has been read"), "{}", session.foot());
    session.press("t y");
    assert!(session.wishes.is_empty());
}

#[test]
fn it_asks_again_when_another_table_comes() {
    let mut session = Session::of(tree(&[("r/a", 1, 0), ("r/b", 1, 0)]));
    session.press("d");
    session.tell(Answer::Table(tree(&[("r/a", 9000, 0), ("r/c", 1, 0)])));
    assert!(session.screen().contains("12.0 KiB will be free"), "{}", session.screen());
    session.tell(Answer::Table(tree(&[("r/c", 1, 0)])));
    assert!(session.foot().contains("is gone"), "{}", session.foot());
    session.press("y");
    assert!(session.wishes.is_empty());
}

#[test]
fn it_stops_when_somebody_wants_it_to() {
    let mut session = Session::of(tree(&[("r/a", 1, 0), ("r/b", 1, 0)]));
    session.press("d y q");
    let wishes = std::mem::take(&mut session.wishes);
    assert!(matches!(wishes[..], [Wish::Remove { .. }, Wish::StopRemoving]), "{wishes:?}");
    assert!(session.screen().contains("Stopping"), "{}", session.screen());
    let report = Report { cancelled: true, ..Report::default() };
    let table = session.app.table.clone();
    session.tell(Answer::Removed { table, report });
    assert!(session.foot().starts_with("stopped: 0 entries deleted"), "{}", session.foot());
    assert_eq!(session.listed(), ["a", "b"]);
}

#[test]
fn what_happened_is_understood_also_if_the_table_is_another_one_by_then() {
    let old = tree(&[("r/a", 1, 0), ("r/b", 1, 0)]);
    let mut session = Session::of(old.clone());
    session.press("d y");
    session.tell(Answer::Table(tree(&[("r/0", 1, 0), ("r/a", 1, 0), ("r/b", 1, 0)])));
    // Rows are removed from the table that they are rows of.
    let Some(Wish::Remove { table, rows, .. }) = session.wishes.pop() else { panic!() };
    assert!(Arc::ptr_eq(&table, &old));
    assert_eq!(table.name(rows[0]), "a");
    assert!(session.screen().contains("Deleting"), "{}", session.screen());
    let root = old.roots().next().unwrap();
    let gone = vec![old.child(root, "a".as_ref()).unwrap()];
    session.tell(Answer::Removed { table: old, report: Report { gone, ..Report::default() } });
    assert_eq!(session.listed(), ["0", "b"]);
}

#[test]
fn a_root_that_was_removed_is_not_missed() {
    let table = tree(&[("one/a", 1, 0), ("two/b", 1, 0)]);
    let mut session = Session::of(table.clone());
    session.press("d y");
    let gone = vec![table.roots().next().unwrap()];
    session.tell(Answer::Removed { table, report: Report { gone, ..Report::default() } });
    assert_eq!(session.listed(), ["two"]);
    let wish = session.wishes.pop().unwrap();
    assert!(
        matches!(&wish, Wish::Read { without } if without == &[std::path::PathBuf::from("one")]),
        "{wish:?}"
    );
}

#[test]
fn a_question_fits_every_screen() {
    let names: Vec<String> = (0..40).map(|number| format!("r/entry {number:02}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), 1 << 20, 0)).collect();
    let mut session = Session::of(tree(&files));
    session.press("* d");
    insta::assert_snapshot!(session.picture().replace('\\', "/"), @r"
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
    |* │ 40.0 MiB will be free; nothing brings it back                            │
    |* │ 40 files                                                                 │
    |* │                                                                          │
    |* │  n keep    y delete                                                      │
    |* ╰───────────────────────────────────────────────────────────── 1–12 of 40 ─╯
    |* 1.00 MiB   3% ████████████████           1 entry 19
    |* 1.00 MiB   3% ████████████████           1 entry 20
    | 40 entries marked, 40.0 MiB; complete: 41 entries in 0 µs
    ");
    session.resize(40, 10);
    insta::assert_snapshot!(session.picture().replace('\\', "/"), @r"
    |╭─ Delete 40 entries for good? ────────╮
    |│ r/entry 00                  1.00 MiB │
    |│ r/entry 01                  1.00 MiB │
    |│ r/entry 02                  1.00 MiB │
    |│ 40.0 MiB will be free; nothing       │
    |│   brings it back                     │
    |│ 40 files                             │
    |│  n keep    y delete                  │
    |╰────────────────────────── 1–3 of 40 ─╯
    | 40 entries marked, 40.0 MiB; complete
    ");
    for (width, height) in [(1, 1), (2, 2), (3, 3), (7, 5), (12, 4), (300, 3), (300, 100)] {
        session.resize(width, height);
        session.press("j j k Tab");
    }
    session.resize(60, 12);
    session.press("y");
    insta::assert_snapshot!(session.picture().replace('\\', "/"), @r"
    | r                                   40.0 MiB in 41 entries
    |   disk usage ▼              name
    |╭─ Deleting … ─────────────────────────────────────────────╮
    |│                                                          │
    |│ 0 of 40 entries                                          │
    |│                                                          │
    |│ Esc stops; what is removed by then stays so              │
    |╰──────────────────────────────────────────────────────────╯
    |* 1.00 MiB   3% ████████████ entry 06
    |* 1.00 MiB   3% ████████████ entry 07
    |* 1.00 MiB   3% ████████████ entry 08
    | 40 entries marked, 40.0 MiB; complete: 41 entries in 0 µs
    ");
}
