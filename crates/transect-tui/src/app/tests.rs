//! Journeys: keys in, and what they lead to.

use std::sync::Arc;

use transect::table::{PartialTable, TableBuilder};
use transect::{FieldMask, ScanOptions};
use transect_testkit::TempDir;

use crate::app::{Answer, Wish};
use crate::session::{Session, look, tree};

/// A tree with something of everything.
fn sample() -> Session {
    Session::of(tree(&[
        ("home/music/long.flac", 900_000, 30),
        ("home/music/short.ogg", 9_000, 31),
        ("home/notes/a.txt", 10, 90),
        ("home/notes/b.txt", 20, 10),
        ("home/notes/c.txt", 30, 20),
        ("home/film.mkv", 500_000, 5),
        ("home/empty/", 0, 0),
    ]))
}

#[test]
fn it_begins_in_the_root_with_the_largest_entry_selected() {
    let session = sample();
    assert_eq!(session.place(), "home");
    assert_eq!(session.listed(), ["music", "film.mkv", "notes", "empty"]);
    assert_eq!(session.selected(), "music");
}

#[test]
fn it_begins_above_several_roots() {
    let mut session = Session::of(tree(&[("one/a", 1, 0), ("two/b", 90_000, 0)]));
    assert_eq!(session.listed(), ["two", "one"]);
    session.press("Enter");
    assert_eq!((session.place(), session.selected()), ("two".into(), "b".into()));
    session.press("h");
    assert_eq!((session.place(), session.selected()), ("".into(), "two".into()));
    session.press("Left Left");
    assert_eq!(session.place(), "");
}

#[test]
fn it_selects_the_directory_that_it_comes_from() {
    let mut session = sample();
    for (enter, leave) in [("Enter", "Left"), ("Right", "Backspace"), ("l", "h")] {
        session.select("notes");
        session.press(enter);
        assert_eq!(session.place(), "home/notes");
        assert_eq!(session.selected(), "a.txt", "equals are in the order of names");
        session.press(leave);
        assert_eq!((session.place(), session.selected()), ("home".into(), "notes".into()));
    }
    session.press("h");
    assert_eq!(session.place(), "home", "above the root is nothing that was read");
    assert!(session.foot().contains("nothing above"), "{}", session.foot());
}

#[test]
fn it_does_not_enter_a_file() {
    let mut session = sample();
    session.select("film.mkv");
    session.press("Enter");
    assert_eq!(session.place(), "home");
    assert!(session.foot().contains("no directory"), "{}", session.foot());
    session.select("empty");
    session.press("Enter");
    assert_eq!(session.place(), "home/empty");
    assert!(session.screen().contains("nothing is in here"), "{}", session.screen());
    session.press("j k G g PgDn PgUp Enter Space o t d b");
    session.press("h");
    assert_eq!(session.selected(), "empty");
}

#[test]
fn it_sorts_by_everything_in_both_directions() {
    let mut session = sample();
    let mut listed = |keys: &str| {
        session.press(keys);
        let title = session.screen().lines().nth(1).unwrap().to_owned();
        (session.listed().join(" "), title)
    };
    let (order, title) = listed("s");
    assert_eq!(order, "empty notes film.mkv music");
    assert!(title.contains("disk usage ▲"), "{title}");
    let (order, title) = listed("s");
    assert_eq!(order, "music film.mkv notes empty");
    assert!(title.contains("disk usage ▼"), "{title}");
    let (order, title) = listed("c");
    assert_eq!(order, "notes music empty film.mkv");
    assert!(title.contains("entries ▼"), "{title}");
    let (order, title) = listed("n");
    assert_eq!(order, "empty film.mkv music notes");
    assert!(title.contains("name ▲"), "{title}");
    let (order, _) = listed("n");
    assert_eq!(order, "notes music film.mkv empty");
    let (order, title) = listed("m");
    assert_eq!(order, "notes music film.mkv empty");
    assert!(title.contains("changed ▼"), "{title}");
    let (order, _) = listed("m");
    assert_eq!(order, "empty film.mkv music notes");
}

#[test]
fn what_is_selected_stays_so_in_another_order() {
    let mut session = sample();
    session.select("notes");
    for key in ["s", "c", "n", "m", "a", "s"] {
        session.press(key);
        assert_eq!(session.selected(), "notes", "{key}");
    }
    // Who has chosen nothing sees the first.
    let mut session = sample();
    session.press("n");
    assert_eq!(session.selected(), "empty");
}

#[test]
fn it_measures_what_is_occupied_or_how_long_files_are() {
    let mut session = Session::of(tree(&[
        ("root/many/1", 1, 0),
        ("root/many/2", 1, 0),
        ("root/many/3", 1, 0),
        ("root/one", 5000, 0),
    ]));
    assert_eq!(session.listed(), ["many", "one"]);
    session.press("a");
    assert_eq!(session.listed(), ["one", "many"]);
    assert!(session.screen().contains("apparent ▼"));
}

#[test]
fn it_marks_and_goes_on() {
    let mut session = sample();
    session.press("Space");
    assert_eq!(session.selected(), "film.mkv");
    session.press("j Space");
    assert!(session.foot().starts_with("2 entries marked"), "{}", session.foot());
    session.press("k k k Space");
    assert!(session.foot().starts_with("1 entry marked"), "{}", session.foot());
    session.press("u");
    assert!(session.app.marks.is_empty());
    session.press("*");
    assert_eq!(session.app.marks.len(), 4);
}

#[test]
fn marks_in_marked_directories_are_counted_once() {
    let mut session = sample();
    session.press("l Space h Space");
    assert_eq!(session.app.marks.len(), 2);
    assert!(session.foot().contains("marked, 892 KiB"), "{}", session.foot());
}

#[test]
fn it_searches_while_a_name_is_typed() {
    let mut session = sample();
    session.press("/");
    session.type_in("NO");
    assert_eq!(session.selected(), "notes");
    session.type_in("x");
    assert_eq!(session.selected(), "notes");
    assert!(session.foot().contains("nothing matches"), "{}", session.foot());
    session.press("Esc");
    assert_eq!(session.selected(), "music", "given up: it is where it was");
    session.press("/");
    session.type_in("m");
    assert_eq!(session.selected(), "music");
    session.press("Down");
    assert_eq!(session.selected(), "film.mkv");
    session.press("Down");
    assert_eq!(session.selected(), "empty");
    session.press("Down");
    assert_eq!(session.selected(), "music", "round the end");
    session.press("Up Up");
    assert_eq!(session.selected(), "film.mkv");
    session.press("Enter");
    assert_eq!(session.selected(), "film.mkv");
    session.press("j");
    assert_eq!(session.selected(), "notes", "keys are keys again");
}

#[test]
fn letters_that_are_typed_do_nothing_else() {
    let mut session = sample();
    session.press("/");
    session.type_in("dqt!");
    assert!(session.wishes.is_empty(), "{:?}", session.wishes);
    session.press("Backspace Backspace Backspace Backspace");
    assert!(session.foot().starts_with("search here:"), "{}", session.foot());
    session.press("Backspace");
    assert!(!session.foot().starts_with("search here:"), "nothing is left to erase");
}

#[test]
fn what_is_pasted_is_typed_or_nothing_at_all() {
    let mut session = sample();
    session.app.paste("dyq");
    assert!(session.app.take_wishes().is_empty());
    session.press("/");
    session.app.paste("not\n");
    assert_eq!(session.selected(), "notes");
}

#[test]
fn it_finds_in_the_whole_tree_and_goes_there() {
    let mut session = sample();
    session.press("f");
    session.type_in("TXT");
    session.press("Enter");
    let screen = session.screen();
    assert!(screen.contains("“TXT”: 3 entries"), "{screen}");
    session.press("j Enter");
    assert_eq!((session.place(), session.selected()), ("home/notes".into(), "b.txt".into()));
    session.press("f");
    session.type_in("nowhere");
    session.press("Enter Enter");
    assert_eq!(session.place(), "home/notes", "what was not found cannot be gone to");
    session.press("f Esc f Enter");
    assert_eq!(session.selected(), "b.txt", "nothing was asked for");
}

#[test]
fn it_goes_to_the_biggest_file_and_to_the_next() {
    let mut session = sample();
    session.press("b");
    assert_eq!((session.place(), session.selected()), ("home/music".into(), "long.flac".into()));
    assert!(session.foot().contains("number 1 of 6 files below home"), "{}", session.foot());
    session.press("b");
    assert_eq!((session.place(), session.selected()), ("home".into(), "film.mkv".into()));
    session.press("b");
    assert_eq!(session.selected(), "short.ogg");
    session.press("B B");
    assert_eq!(session.selected(), "long.flac");
    session.press("B");
    assert!(session.foot().contains("none is bigger"), "{}", session.foot());
    session.press("b b b b b b");
    assert!(session.foot().contains("no more files"), "{}", session.foot());
    session.press("B");
    assert_eq!(session.selected(), "b.txt");
    // Who goes elsewhere begins anew there.
    session.press("h h");
    session.select("notes");
    session.press("l g b");
    assert!(session.foot().contains("of 3 files below home/notes"), "{}", session.foot());
}

#[test]
fn an_outline_grows_and_everybody_stays_where_he_is() {
    let mut session = Session::before();
    assert!(session.screen().contains("nothing is known yet"), "{}", session.screen());
    session.press("b j k l h / Esc Space d t e");
    let outline = |files: &[_]| Answer::Outline(tree(files));
    session.tell(outline(&[("r/a/", 0, 0), ("r/b/x", 9000, 0)]));
    assert_eq!((session.place(), session.selected()), ("r".into(), "b".into()));
    // Nobody has chosen anything: the first stays selected.
    session.tell(outline(&[("r/a/x", 90_000, 0), ("r/b/x", 9000, 0)]));
    assert_eq!(session.selected(), "a");
    session.press("j Space");
    assert_eq!(session.selected(), "b");
    session.tell(outline(&[("r/a/x", 90_000, 0), ("r/b/x", 900_000, 0), ("r/0/y", 1, 0)]));
    assert_eq!(session.listed(), ["b", "a", "0"]);
    assert_eq!(session.selected(), "b", "it moves with its entry");
    let marked: Vec<_> = session.app.marks.iter().map(|&row| session.app.table.path(row)).collect();
    assert_eq!(marked, [std::path::Path::new("r").join("b")]);
    session.press("l");
    session.tell(Answer::Table(tree(&[("r/a/x", 9, 0), ("r/b/c/x", 9, 0), ("r/file", 9, 0)])));
    assert_eq!((session.place(), session.listed()), ("r/b".into(), vec!["c".into()]));
    assert!(session.foot().starts_with("1 entry marked"), "{}", session.foot());
}

#[test]
fn an_outline_that_comes_too_late_is_none() {
    let mut session = sample();
    session.tell(Answer::Outline(tree(&[("home/", 0, 0)])));
    assert_eq!(session.listed().len(), 4);
}

#[test]
fn files_are_one_line_until_they_are_listed() {
    let place = TempDir::new();
    std::fs::create_dir(place.join("folder")).unwrap();
    for (name, size) in [("one", 50_000), ("two", 30_000), ("folder/three", 20_000)] {
        std::fs::write(place.join(name), vec![1; size]).unwrap();
    }
    let outline = PartialTable::new();
    let builder = TableBuilder::new(FieldMask::MTIME).partial_table(&outline);
    let plan = ScanOptions::new([place.path()]).plan().unwrap();
    let table = plan.run(|| builder.sink()).unwrap().sink.into_table().unwrap();
    let mut session = Session::before();
    session.tell(Answer::Outline(Arc::new(outline.table().unwrap())));
    assert_eq!(session.listed(), ["folder"]);
    assert!(session.screen().contains("2 files (listed at"), "{}", session.screen());
    session.press("j j a c s n");
    assert_eq!(session.selected(), "folder");
    session.tell(Answer::Table(Arc::new(table)));
    assert!(!session.screen().contains("(listed at"), "{}", session.screen());
    assert_eq!(session.listed(), ["folder", "one", "two"]);
}

#[test]
fn what_is_gone_in_the_next_table_is_left() {
    let mut session = sample();
    session.press("l j Space");
    session.tell(Answer::Table(tree(&[("home/notes/x", 1, 0), ("home/film.mkv", 1, 0)])));
    assert_eq!(session.place(), "home", "the nearest directory that is there");
    assert!(session.app.marks.is_empty());
    session.press("j");
    session.tell(Answer::Table(tree(&[("other/x", 1, 0)])));
    assert_eq!((session.place(), session.selected()), ("other".into(), "x".into()));
    session.tell(Answer::Table(crate::run::nothing()));
    assert_eq!((session.place(), session.selected()), ("".into(), "".into()));
}

#[test]
fn a_large_directory_is_shown_before_it_is_sorted() {
    let names: Vec<String> = (0..60_000).map(|number| format!("r/{number:05}")).collect();
    let files: Vec<_> = (0..).zip(&names).map(|(size, name)| (name.as_str(), size, 0)).collect();
    let table = tree(&files);
    let mut session = Session::before();
    session.app.answer(Answer::Table(table));
    assert!(!session.app.listing.is_sorted());
    assert_eq!(session.selected(), "00000");
    session.app.press(ratatui::crossterm::event::KeyCode::Down.into());
    assert_eq!(session.selected(), "00001");
    session.press("u");
    assert!(session.app.listing.is_sorted());
    assert_eq!(session.selected(), "00001", "what was chosen meanwhile stays so");
    session.press("g");
    assert_eq!(session.selected(), "57345", "the first of the largest");
}

#[test]
fn who_wants_another_order_gets_the_last_one() {
    let names: Vec<String> = (0..60_000).map(|number| format!("r/{number:05}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), 1, 0)).collect();
    let mut session = Session::of(tree(&files));
    session.app.press(ratatui::crossterm::event::KeyCode::Char('n').into());
    let by_name = session.app.take_wishes();
    session.app.press(ratatui::crossterm::event::KeyCode::Char('n').into());
    for wish in by_name {
        let Wish::Do(table, job) = wish else { panic!("{wish:?}") };
        session.app.answer(job.do_with(&table));
    }
    assert!(!session.app.listing.is_sorted(), "that was the order before");
    session.press("u");
    assert_eq!(session.listed()[0], "59999");
}

#[test]
fn what_was_found_in_another_table_is_not_taken_for_something_in_this_one() {
    let mut session = Session::of(tree(&[("r/a/b/c/name", 1, 0), ("r/x", 1, 0)]));
    session.press("f");
    session.type_in("name");
    session.app.press(ratatui::crossterm::event::KeyCode::Enter.into());
    let late = session.app.take_wishes();
    session.app.answer(Answer::Table(tree(&[("r/name", 1, 0)])));
    for wish in late {
        let Wish::Do(table, job) = wish else { panic!("{wish:?}") };
        session.tell(job.do_with(&table));
    }
    assert!(session.screen().contains("1 entry"), "{}", session.screen());
    session.press("Enter");
    assert_eq!((session.place(), session.selected()), ("r".into(), "name".into()));
}

#[test]
fn it_wishes_for_what_is_done_outside() {
    let mut session = sample();
    session.select("film.mkv");
    session.press("o ! r r Ctrl-L Ctrl-Z q Ctrl-C");
    let wishes = format!("{:?}", session.wishes).replace(r"\\", "/");
    let wished = r#"[Open("home/film.mkv"), Shell("home"), Read { without: [] }, Redraw, Suspend, Quit, Quit]"#;
    assert_eq!(wishes, wished);
}

#[test]
fn errors_are_listed_and_lead_to_their_places() {
    use std::io;
    use transect::table::TableImporter;
    use transect::{Attributes, FieldMask, FileType};

    let directory = Attributes::of_type(FileType::Directory);
    let mut given = TableImporter::new(FieldMask::empty());
    for name in ["root", "open", "closed"] {
        given.enter(name.as_ref(), &directory);
    }
    given.fail_directory(io::ErrorKind::PermissionDenied.into());
    let table = Arc::new(given.finish().unwrap());
    let mut session = Session::of(table);
    assert!(session.foot().starts_with("partial"), "{}", session.foot());
    assert!(session.screen().contains("(1 error)"), "{}", session.screen());
    session.press("e");
    assert!(session.screen().contains("permission denied"), "{}", session.screen());
    session.press("Enter");
    assert_eq!(session.selected(), "closed");
    assert!(session.screen().contains("(denied)"), "{}", session.screen());
    let mut session = sample();
    session.press("e");
    assert!(session.foot().contains("everything could be read"), "{}", session.foot());
}

#[test]
fn lengths_are_shown_first_where_that_is_asked_for() {
    let look = crate::Look { apparent: true, ..look() };
    let session = Session::with(look, 80, 24);
    assert!(session.screen().contains("apparent ▼"), "{}", session.screen());
}
