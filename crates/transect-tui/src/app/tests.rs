//! Sequences of keys, and their effects.

use std::sync::Arc;
use std::time::Instant;

use transect::table::{PartialTable, TableBuilder};
use transect::{FieldMask, ScanOptions};
use transect_testkit::TempDir;

use crate::message::{Effect, Message};
use crate::test_app::{TestApp, key, tree, view_options};
use crate::{StoredBefore, ViewOptions, tree as paths};

/// A tree with entries of several sizes and ages.
fn sample() -> TestApp {
    TestApp::with_table(tree(&[
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
fn start_single_root_selects_largest_entry() {
    let app = sample();
    assert_eq!(app.current_path(), "home");
    assert_eq!(app.listed(), ["music", "film.mkv", "notes", "empty"]);
    assert_eq!(app.selected(), "music");
}

#[test]
fn start_several_roots_lists_roots() {
    let mut app = TestApp::with_table(tree(&[("one/a", 1, 0), ("two/b", 90_000, 0)]));
    assert_eq!(app.listed(), ["two", "one"]);
    app.press("Enter");
    assert_eq!((app.current_path(), app.selected()), ("two".into(), "b".into()));
    app.press("h");
    assert_eq!((app.current_path(), app.selected()), ("".into(), "two".into()));
    app.press("Left Left");
    assert_eq!(app.current_path(), "");
}

#[test]
fn leave_selects_directory_left() {
    let mut app = sample();
    for (enter, leave) in [("Enter", "Left"), ("Right", "Backspace"), ("l", "h")] {
        app.select("notes");
        app.press(enter);
        assert_eq!(app.current_path(), "home/notes");
        assert_eq!(app.selected(), "a.txt", "equals are in the order of names");
        app.press(leave);
        assert_eq!((app.current_path(), app.selected()), ("home".into(), "notes".into()));
    }
    app.press("h");
    assert_eq!(app.current_path(), "home", "above the root is nothing that was read");
    assert!(app.last_line().contains("already at the root"), "{}", app.last_line());
}

#[test]
fn enter_file_stays_in_directory() {
    let mut app = sample();
    app.select("film.mkv");
    app.press("Enter");
    assert_eq!(app.current_path(), "home");
    assert!(app.last_line().contains("not a directory"), "{}", app.last_line());
    app.select("empty");
    app.press("Enter");
    assert_eq!(app.current_path(), "home/empty");
    assert!(app.screen().contains("empty"), "{}", app.screen());
    app.press("j k G g PgDn PgUp Enter Space o t d b Esc");
    app.press("h");
    assert_eq!(app.selected(), "empty");
}

#[test]
fn sort_every_key_in_both_directions() {
    let mut app = sample();
    let mut listed = |keys: &str| {
        app.press(keys);
        let title = app.screen().lines().nth(1).unwrap().to_owned();
        (app.listed().join(" "), title)
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
fn sort_selection_kept() {
    let mut app = sample();
    app.select("notes");
    for key in ["s", "c", "n", "m", "a", "s"] {
        app.press(key);
        assert_eq!(app.selected(), "notes", "{key}");
    }
    // Without a selection by the user, the first entry is selected.
    let mut app = sample();
    app.press("n");
    assert_eq!(app.selected(), "empty");
}

#[test]
fn measure_toggle_changes_order() {
    let mut app = TestApp::with_table(tree(&[
        ("root/many/1", 1, 0),
        ("root/many/2", 1, 0),
        ("root/many/3", 1, 0),
        ("root/one", 5000, 0),
    ]));
    assert_eq!(app.listed(), ["many", "one"]);
    app.press("a");
    assert_eq!(app.listed(), ["one", "many"]);
    assert!(app.screen().contains("apparent ▼"));
}

#[test]
fn mark_moves_to_next_entry() {
    let mut app = sample();
    app.press("Space");
    assert_eq!(app.selected(), "film.mkv");
    app.press("j Space");
    assert!(app.last_line().starts_with("2 entries marked"), "{}", app.last_line());
    app.press("k k k Space");
    assert!(app.last_line().starts_with("1 entry marked"), "{}", app.last_line());
    app.press("u");
    assert!(app.state.marks.is_empty());
    app.press("*");
    assert_eq!(app.state.marks.len(), 4);
}

#[test]
fn marks_nested_entries_counted_once() {
    let mut app = sample();
    app.press("l Space h Space");
    assert_eq!(app.state.marks.len(), 2);
    assert!(app.last_line().contains("marked, 892 KiB"), "{}", app.last_line());
}

#[test]
fn search_selects_match_while_typing() {
    let mut app = sample();
    app.press("/");
    app.type_in("NO");
    assert_eq!(app.selected(), "notes");
    app.type_in("x");
    assert_eq!(app.selected(), "notes");
    assert!(app.last_line().contains("no match"), "{}", app.last_line());
    app.press("Esc");
    assert_eq!(app.selected(), "music", "given up: it is where it was");
    app.press("/");
    app.type_in("m");
    assert_eq!(app.selected(), "music");
    app.press("Down");
    assert_eq!(app.selected(), "film.mkv");
    app.press("Down");
    assert_eq!(app.selected(), "empty");
    app.press("Down");
    assert_eq!(app.selected(), "music", "round the end");
    app.press("Up Up");
    assert_eq!(app.selected(), "film.mkv");
    app.press("Enter");
    assert_eq!(app.selected(), "film.mkv");
    app.press("j");
    assert_eq!(app.selected(), "notes", "keys are keys again");
}

#[test]
fn prompt_letters_trigger_no_actions() {
    let mut app = sample();
    app.press("/");
    app.type_in("dqt!");
    assert!(app.effects.is_empty(), "{:?}", app.effects);
    app.press("Backspace Backspace Backspace Backspace");
    assert!(app.last_line().starts_with("search here:"), "{}", app.last_line());
    app.press("Backspace");
    assert!(!app.last_line().starts_with("search here:"), "nothing is left to erase");
}

#[test]
fn paste_outside_prompt_ignored() {
    let mut app = sample();
    app.state.paste("dyq");
    assert!(app.state.take_effects().is_empty());
    app.press("/");
    app.state.paste("not\n");
    assert_eq!(app.selected(), "notes");
}

#[test]
fn find_result_opens_its_directory() {
    let mut app = sample();
    app.press("f");
    app.type_in("TXT");
    app.press("Enter");
    let screen = app.screen();
    assert!(screen.contains("“TXT”: 3 entries"), "{screen}");
    app.press("j Enter");
    assert_eq!((app.current_path(), app.selected()), ("home/notes".into(), "b.txt".into()));
    app.press("f");
    app.type_in("nowhere");
    app.press("Enter Enter");
    assert_eq!(app.current_path(), "home/notes", "what was not found cannot be gone to");
    app.press("f Esc f Enter");
    assert_eq!(app.selected(), "b.txt", "nothing was asked for");
}

#[test]
fn largest_files_listed_in_order() {
    let mut app = sample();
    app.press("b");
    let screen = app.screen().replace('\\', "/");
    assert!(screen.contains("files below home: 6 entries"), "{screen}");
    let places = ["long.flac", "home/film.mkv", "short.ogg", "b.txt"].map(|name| screen.find(name));
    assert!(places.is_sorted() && places[0].is_some(), "{screen}");
    app.press("Enter");
    assert_eq!((app.current_path(), app.selected()), ("home/music".into(), "long.flac".into()));
    app.press("h b j Enter");
    assert_eq!((app.current_path(), app.selected()), ("home".into(), "film.mkv".into()));
    app.select("notes");
    app.press("l b");
    let screen = app.screen().replace('\\', "/");
    assert!(screen.contains("files below home/notes: 3 entries"), "{screen}");
}

#[test]
fn partial_table_update_keeps_position() {
    let mut app = TestApp::empty();
    assert!(app.screen().contains("nothing read yet"), "{}", app.screen());
    app.press("b j k l h / Esc Space d t e");
    let outline = |files: &[_]| Message::PartialTable(tree(files));
    app.send(outline(&[("r/a/", 0, 0), ("r/b/x", 9000, 0)]));
    assert_eq!((app.current_path(), app.selected()), ("r".into(), "b".into()));
    // Without a selection by the user, the first entry stays selected.
    app.send(outline(&[("r/a/x", 90_000, 0), ("r/b/x", 9000, 0)]));
    assert_eq!(app.selected(), "a");
    app.press("j Space");
    assert_eq!(app.selected(), "b");
    app.send(outline(&[("r/a/x", 90_000, 0), ("r/b/x", 900_000, 0), ("r/0/y", 1, 0)]));
    assert_eq!(app.listed(), ["b", "a", "0"]);
    assert_eq!(app.selected(), "b", "it moves with its entry");
    let marked: Vec<_> = app.state.marks.iter().map(|row| app.state.table.path(row)).collect();
    assert_eq!(marked, [std::path::Path::new("r").join("b")]);
    app.press("l");
    app.send(Message::Table(tree(&[("r/a/x", 9, 0), ("r/b/c/x", 9, 0), ("r/file", 9, 0)])));
    assert_eq!((app.current_path(), app.listed()), ("r/b".into(), vec!["c".into()]));
    assert!(app.last_line().starts_with("1 entry marked"), "{}", app.last_line());
}

#[test]
fn partial_table_search_repeated_in_complete_one() {
    let mut app = TestApp::empty();
    app.send(Message::PartialTable(tree(&[("r/name/", 0, 0)])));
    app.press("f");
    app.type_in("name");
    app.press("Enter");
    assert!(app.screen().contains("“name”: 1 entry"), "{}", app.screen());
    let complete = tree(&[("r/name/", 0, 0), ("r/name 2", 9, 0)]);
    app.send(Message::Table(Arc::clone(&complete)));
    assert!(app.screen().contains("“name”: 2 entries"), "{}", app.screen());
    app.press("j");
    let selected = app.state.targets();
    app.send(Message::Table(complete));
    assert_eq!(app.state.targets(), selected, "later ones keep the selection");
}

#[test]
fn partial_table_after_complete_one_ignored() {
    let mut app = sample();
    app.send(Message::PartialTable(tree(&[("home/", 0, 0)])));
    assert_eq!(app.listed().len(), 4);
}

#[test]
fn partial_table_files_summed_up() {
    let place = TempDir::new();
    std::fs::create_dir(place.join("folder")).unwrap();
    for (name, size) in [("one", 50_000), ("two", 30_000), ("folder/three", 20_000)] {
        std::fs::write(place.join(name), vec![1; size]).unwrap();
    }
    let outline = PartialTable::new();
    let builder = TableBuilder::new(FieldMask::MTIME).partial_table(&outline);
    let plan = ScanOptions::new([place.path()]).plan().unwrap();
    let table = plan.run(|| builder.sink()).unwrap().sink.into_table().unwrap();
    let mut app = TestApp::empty();
    app.send(Message::PartialTable(Arc::new(outline.table().unwrap())));
    assert_eq!(app.listed(), ["folder"]);
    assert!(app.screen().contains("2 other files (listed at"), "{}", app.screen());
    app.press("j j a c s n");
    assert_eq!(app.selected(), "folder");
    app.send(Message::Table(Arc::new(table)));
    assert!(!app.screen().contains("(listed at"), "{}", app.screen());
    assert_eq!(app.listed(), ["folder", "one", "two"]);
}

#[test]
fn table_update_without_directory_shows_nearest() {
    let mut app = sample();
    app.press("l j Space");
    app.send(Message::Table(tree(&[("home/notes/x", 1, 0), ("home/film.mkv", 1, 0)])));
    assert_eq!(app.current_path(), "home", "the nearest directory that is there");
    assert!(app.state.marks.is_empty());
    app.press("j");
    app.send(Message::Table(tree(&[("other/x", 1, 0)])));
    assert_eq!((app.current_path(), app.selected()), ("other".into(), "x".into()));
    app.send(Message::Table(crate::background::empty_table()));
    assert_eq!((app.current_path(), app.selected()), ("".into(), "".into()));
}

#[test]
fn large_directory_shown_before_sorting() {
    let names: Vec<String> = (0..60_000).map(|number| format!("r/{number:05}")).collect();
    let files: Vec<_> = (0..).zip(&names).map(|(size, name)| (name.as_str(), size, 0)).collect();
    let table = tree(&files);
    let mut app = TestApp::empty();
    app.state.handle(Message::Table(table));
    assert!(!app.state.listing.is_sorted());
    assert_eq!(app.selected(), "00000");
    app.state.press(ratatui::crossterm::event::KeyCode::Down.into());
    assert_eq!(app.selected(), "00001");
    app.press("u");
    assert!(app.state.listing.is_sorted());
    assert_eq!(app.selected(), "00001", "what was chosen meanwhile stays so");
    app.press("g");
    assert_eq!(app.selected(), "57345", "the first of the largest");
}

#[test]
fn sort_requests_only_last_one_applies() {
    let names: Vec<String> = (0..60_000).map(|number| format!("r/{number:05}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), 1, 0)).collect();
    let mut app = TestApp::with_table(tree(&files));
    app.state.press(ratatui::crossterm::event::KeyCode::Char('n').into());
    let by_name = app.state.take_effects();
    app.state.press(ratatui::crossterm::event::KeyCode::Char('n').into());
    for effect in by_name {
        let Effect::RunJob(table, request, job) = effect else { panic!("{effect:?}") };
        app.state.handle(job.run(request, &table));
    }
    assert!(!app.state.listing.is_sorted(), "that was the order before");
    app.press("u");
    assert_eq!(app.listed()[0], "59999");
}

#[test]
fn find_results_of_old_table_dropped() {
    let mut app = TestApp::with_table(tree(&[("r/a/b/c/name", 1, 0), ("r/x", 1, 0)]));
    app.press("f");
    app.type_in("name");
    app.state.press(ratatui::crossterm::event::KeyCode::Enter.into());
    let late = app.state.take_effects();
    app.state.handle(Message::Table(tree(&[("r/name", 1, 0)])));
    for effect in late {
        let Effect::RunJob(table, request, job) = effect else { panic!("{effect:?}") };
        app.send(job.run(request, &table));
    }
    assert!(app.screen().contains("1 entry"), "{}", app.screen());
    app.press("Enter");
    assert_eq!((app.current_path(), app.selected()), ("r".into(), "name".into()));
}

#[test]
fn effects_requested_by_keys() {
    let mut app = sample();
    app.select("film.mkv");
    app.press("o ! r r Ctrl-L Ctrl-Z q Ctrl-C");
    let effects = format!("{:?}", app.effects).replace(r"\\", "/");
    let expected = r#"[Open("home/film.mkv"), Shell("home"), Rescan { without: [] }, Redraw, Suspend, Quit, Quit]"#;
    assert_eq!(effects, expected);
}

#[test]
fn errors_list_leads_to_entries() {
    use std::io;
    use transect::table::TableImporter;
    use transect::{Attributes, FieldMask, FileType};

    let directory = Attributes::of_type(FileType::Directory);
    let mut importer = TableImporter::new(FieldMask::empty());
    for name in ["root", "open", "closed"] {
        importer.enter(name.as_ref(), &directory);
    }
    importer.fail_directory(io::ErrorKind::PermissionDenied.into());
    let table = Arc::new(importer.finish().unwrap());
    let mut app = TestApp::with_table(table);
    assert!(app.last_line().starts_with("partial"), "{}", app.last_line());
    assert!(app.screen().contains("(1 error)"), "{}", app.screen());
    app.press("e");
    assert!(app.screen().contains("permission denied"), "{}", app.screen());
    app.press("Enter");
    assert_eq!(app.selected(), "closed");
    assert!(app.screen().contains("(denied)"), "{}", app.screen());
    let mut app = sample();
    app.press("e");
    assert!(app.last_line().contains("no errors"), "{}", app.last_line());
}

#[test]
fn apparent_option_shows_apparent_sizes() {
    let view = crate::ViewOptions { apparent: true, ..view_options() };
    let app = TestApp::with(view, 80, 24);
    assert!(app.screen().contains("apparent ▼"), "{}", app.screen());
}

#[test]
fn mouse_click_selects_then_opens() {
    use ratatui::crossterm::event::{MouseButton, MouseEventKind};

    let click = MouseEventKind::Down(MouseButton::Left);
    let mut app = sample();
    // The first line is the title bar, the second has the titles of columns.
    app.mouse(click, 30, 4);
    assert_eq!((app.current_path(), app.selected()), ("home".into(), "notes".into()));
    app.mouse(click, 70, 4);
    assert_eq!(app.current_path(), "home/notes");
    app.mouse(click, 0, 3);
    assert_eq!(app.selected(), "b.txt");
    for (column, row) in [(5, 0), (5, 1), (5, 20), (5, 23), (200, 2)] {
        app.mouse(click, column, row);
        assert_eq!((app.current_path(), app.selected()), ("home/notes".into(), "b.txt".into()));
    }
    app.mouse(MouseEventKind::ScrollUp, 5, 5);
    assert_eq!(app.selected(), "a.txt");
    app.mouse(MouseEventKind::ScrollDown, 5, 5);
    assert_eq!(app.selected(), "c.txt", "three lines");
    app.mouse(MouseEventKind::Moved, 0, 2);
    app.mouse(MouseEventKind::Down(MouseButton::Right), 0, 2);
    assert_eq!(app.selected(), "c.txt");
    // Above other lists, a click reaches nothing below them; the wheel scrolls them.
    app.press("?");
    app.mouse(click, 30, 2);
    app.mouse(MouseEventKind::ScrollDown, 5, 5);
    app.press("Esc");
    assert_eq!(app.selected(), "c.txt");
}

#[test]
fn find_accepts_globs() {
    let mut app = sample();
    app.press("f");
    app.type_in("*.TXT");
    app.press("Enter");
    let screen = app.screen();
    assert!(screen.contains("“*.TXT”: 3 entries"), "{screen}");
    app.press("Esc /");
    app.type_in("f*v");
    assert_eq!(app.selected(), "film.mkv");
}

#[test]
fn directory_read_again_without_the_others() {
    let place = TempDir::new();
    for folder in ["one/inner", "two"] {
        std::fs::create_dir_all(place.join(folder)).unwrap();
    }
    std::fs::write(place.join("one/inner/file"), vec![1; 50_000]).unwrap();
    std::fs::write(place.join("two/file"), vec![1; 10_000]).unwrap();
    let mut app = TestApp::on_disk(place.path());
    app.press("Enter");
    assert!(app.current_path().ends_with("one"), "{}", app.current_path());
    app.press("Space");
    std::fs::write(place.join("one/new"), vec![1; 90_000]).unwrap();
    std::fs::write(place.join("two/unseen"), vec![1; 900_000]).unwrap();
    app.press("r");
    assert_eq!(app.listed(), ["new", "inner"]);
    assert!(app.last_line().starts_with("1 entry marked"), "{}", app.last_line());
    app.press("h");
    assert_eq!(app.listed(), ["one", "two"], "two was not read again");
    assert_eq!(app.selected(), "one");
    let size = |app: &TestApp, name: &str| {
        let row = app.state.table.child(app.state.directory.unwrap(), name.as_ref()).unwrap();
        app.state.table.totals(row).apparent
    };
    assert_eq!((size(&app, "one"), size(&app, "two")), (140_000, 10_000));
    // A directory that is gone.
    app.press("Enter");
    std::fs::remove_dir_all(place.join("one")).unwrap();
    app.press("r");
    assert_eq!(app.listed(), ["two"]);
    app.press("R");
    assert_eq!(size(&app, "two"), 910_000);
}

/// Prints how long keys take in a directory with many entries, all of them marked, on a screen of 200 × 60. `MARKS` is
/// the number of entries, 20,000 without it.
#[test]
fn marks_in_a_large_directory_survive_another_table() {
    let entries: usize = std::env::var("MARKS").map_or(20_000, |text| text.parse().unwrap());
    let table = || {
        // Sizes in no order.
        let size = |number: usize| (number as u64).wrapping_mul(2_654_435_761) % (16 << 20);
        let names: Vec<String> = (0..entries).map(|at| format!("root/file{at:08}")).collect();
        let file = |(at, name): (usize, &'_ String)| (name.clone(), size(at), at as i64);
        let files: Vec<(String, u64, i64)> = names.iter().enumerate().map(file).collect();
        tree(&files.iter().map(|(name, size, at)| (&**name, *size, *at)).collect::<Vec<_>>())
    };
    let mut app = TestApp::with(view_options(), 200, 60);
    app.send(Message::Table(table()));
    let mut step = |name: &str, run: &mut dyn FnMut(&mut TestApp)| {
        let began = Instant::now();
        run(&mut app);
        println!("{:>12.3} ms  {name}", began.elapsed().as_secs_f64() * 1e3);
        app.state.marks.len()
    };
    assert_eq!(step("mark one entry", &mut |app| app.state.press(key("Space"))), 1);
    assert_eq!(step("mark all", &mut |app| app.state.press(key("*"))), entries);
    step("draw, all marked", &mut TestApp::draw);
    assert_eq!(step("unmark one entry", &mut |app| app.state.press(key("Space"))), entries - 1);
    step("draw again", &mut TestApp::draw);
    step("sort by name: the key", &mut |app| app.state.press(key("n")));
    step("sort by name: in the background", &mut TestApp::run_effects);
    let again = table();
    let marked = step("take another table of the same tree", &mut |app| {
        app.state.handle(Message::Table(Arc::clone(&again)));
    });
    assert_eq!(marked, entries - 1);
    step("sort: in the background", &mut TestApp::run_effects);
    assert_eq!(step("unmark all", &mut |app| app.state.press(key("u"))), 0);
}

#[test]
fn growth_sorted_first_and_gone_entries_summed_up() {
    let before = Some(StoredBefore {
        read: Arc::new(|| Err("read by the event loop".to_owned())),
        read_at: "2026-01-30 10:00:00".to_owned(),
    });
    let mut app = TestApp::with(ViewOptions { before, ..view_options() }, 80, 10);
    let now = [("r/a", 1 << 20, 0), ("r/b", 3 << 20, 0), ("r/d/new", 2 << 20, 0), ("r/e", 1, 0)];
    app.send(Message::PartialTable(tree(&[("r/d/", 1, 0)])));
    app.send(Message::Table(tree(&now)));
    assert_eq!(app.listed(), ["b", "d", "a", "e"], "by size: the tree before is not known yet");
    let old = [("r/a", 2 << 20, 0), ("r/b", 3 << 20, 0), ("r/d/", 1, 0), ("r/x/y", 4 << 20, 0)];
    app.send(Message::Before(Ok(tree(&old))));
    insta::assert_snapshot!(app.framed_screen().replace('\\', "/"), @r"
    | r                                            6.00 MiB (-3.00 MiB) in 6 entries
    |   growth ▼    disk usage                      entries name
    |  +2.00 MiB 2.00 MiB  67% ████████████████           2 d/
    |  +4.00 KiB 4.00 KiB  <1%                            1 e
    |         ±0 3.00 MiB   0%                            1 b
    |  -1.00 MiB 1.00 MiB  33% ████████                   1 a
    |  -4.00 MiB            0%                            2 gone
    |
    |
    | complete: 6 entries in 0 µs; growth since 2026-01-30 10:00:00          ? help
    ");
    app.press("w");
    assert_eq!(app.listed(), ["a", "b", "e", "d"]);
    app.press("s");
    assert_eq!(app.listed(), ["b", "d", "a", "e"]);
    // A directory that was not read before may have had any size.
    let row =
        |app: &TestApp, path: &str| paths::find_path(&app.state.table, path.as_ref()).unwrap();
    assert_eq!(app.state.growth(row(&app, "r/d/new")), Some(2 << 20));
    app.resize(20, 5);
    app.resize(40, 10);
    assert!(app.screen().contains("+2.00 MiB"), "{}", app.screen());

    let mut app = TestApp::with_table(tree(&now));
    app.press("w");
    assert!(app.last_line().contains("--since yesterday"), "{}", app.last_line());
}
