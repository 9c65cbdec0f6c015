//! The contents of the screen.

use proptest::prelude::*;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use transect_sys::DiskSpace;

use crate::ViewOptions;
use crate::keys::{BINDINGS, Context};
use crate::message::{Effect, Message};
use crate::test_app::{TestApp, report_of, tree, view_options};

fn sample(width: u16, height: u16) -> TestApp {
    let mut app = TestApp::with(view_options(), width, height);
    app.send(Message::Table(tree(&[
        ("home/music/long.flac", 900_000, 30),
        ("home/music/short.ogg", 9_000, 31),
        ("home/notes/a.txt", 10, 90),
        ("home/film.mkv", 500_000, 5),
        ("home/empty/", 0, 0),
    ])));
    app
}

#[test]
fn screen_80_columns() {
    insta::assert_snapshot!(sample(80, 12).framed_screen(), @r"
    | home                                                     1.36 MiB in 8 entries
    |   disk usage ▼                      entries name
    |   892 KiB  64% ████████████████           3 music/
    |   492 KiB  35% ████████▉                  1 film.mkv
    |  4.00 KiB  <1% ▏                          2 notes/
    |       0 B   0%                            1 empty/
    |
    |
    |
    |
    |
    | complete: 8 entries in 0 µs              ? help  / search  Space mark  q quit
    ");
}

#[test]
fn screen_40_columns() {
    let mut app = sample(40, 10);
    app.press("j Space");
    insta::assert_snapshot!(app.framed_screen(), @r"
    | home                          1.36 MiB
    |   disk usage ▼ name
    |   892 KiB  64% music/
    |*  492 KiB  35% film.mkv
    |  4.00 KiB  <1% notes/
    |       0 B   0% empty/
    |
    |
    |
    | 1 entry marked, 492 KiB        ? help
    ");
}

#[test]
fn screen_120_columns_shows_panel() {
    insta::assert_snapshot!(sample(120, 14).framed_screen(), @r"
    | home                                                                                             1.36 MiB in 8 entries
    |   disk usage ▼                      entries name                               │ music
    |   892 KiB  64% ████████████████           3 music/                             │ type        directory
    |   492 KiB  35% ████████▉                  1 film.mkv                           │ disk usage  892 KiB (913,408)
    |  4.00 KiB  <1% ▏                          2 notes/                             │ apparent    888 KiB (909,000)
    |       0 B   0%                            1 empty/                             │ files       2
    |                                                                                │ directories 0
    |                                                                                │ newest      2026-01-31 31000000000
    |                                                                                │ changed     2026-01-31 0
    |                                                                                │ owner       user 1000
    |                                                                                │
    |                                                                                │
    |                                                                                │
    | complete: 8 entries in 0 µs                             ? help  / search  Space mark  q quit  b largest files  f find
    ");
}

#[test]
fn title_bar_shows_disk_where_room_permits() {
    let mut app = sample(120, 14);
    let disk = DiskSpace { size: 2 << 20, free: 640 << 10, available: 512 << 10 };
    app.state.disk = Some(disk);
    let title = |app: &mut TestApp, width| {
        app.resize(width, 14);
        app.screen().lines().next().unwrap().trim().to_owned()
    };
    let space = "512 KiB available of 2.00 MiB";
    let all = format!("1.36 MiB in 8 entries, 99% of what is used; {space}");
    assert!(title(&mut app, 120).ends_with(&all), "{}", app.screen());
    let short = format!("1.36 MiB in 8 entries; {space}");
    assert!(title(&mut app, 80).ends_with(&short), "{}", app.screen());
    assert!(title(&mut app, 60).ends_with(" 1.36 MiB in 8 entries"), "{}", app.screen());
    assert!(title(&mut app, 40).ends_with(" 1.36 MiB"), "{}", app.screen());
    // Lengths beyond the size of the disk are explained.
    app.state.disk = Some(DiskSpace { size: 1 << 19, ..disk });
    assert!(title(&mut app, 120).contains("1.36 MiB in 8 entries; 512 KiB available"));
    assert!(app.screen().contains("sparse      files with holes"), "{}", app.screen());
}

#[test]
fn panel_narrow_screen_is_below_entries() {
    let mut app = sample(60, 16);
    app.press("i");
    insta::assert_snapshot!(app.framed_screen(), @r"
    | home                                 1.36 MiB in 8 entries
    |   disk usage ▼              name
    |   892 KiB  64% ████████████ music/
    |   492 KiB  35% ██████▋      film.mkv
    |  4.00 KiB  <1%              notes/
    |       0 B   0%              empty/
    |
    |
    |────────────────────────────────────────────────────────────
    | music
    | type        directory
    | disk usage  892 KiB (913,408)
    | apparent    888 KiB (909,000)
    | files       2
    | directories 0
    | complete: 8 entries in 0 µs  ? help  / search  Space mark
    ");
    app.press("i");
    assert!(!app.screen().contains("owner"), "{}", app.screen());
}

#[test]
fn panel_previews_selected_directory() {
    let mut app = sample(120, 24);
    let panel = |app: &TestApp| -> Vec<String> {
        let screen = app.screen();
        let lines = screen.lines().filter_map(|line| line.split_once("│ "));
        lines.map(|(_, line)| line.trim_end().to_owned()).collect()
    };
    app.press("h");
    // Files only: one list.
    let lines = panel(&app);
    let at = lines.iter().position(|line| line == "largest entries").expect("a preview");
    assert_eq!(lines[at + 1..at + 3], [" 880 KiB long.flac", "12.0 KiB short.ogg"], "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("files below")), "{lines:?}");
    // A file has none.
    app.press("j");
    assert!(!app.screen().contains("largest entries"), "{}", app.screen());

    let mut app = TestApp::with(view_options(), 120, 40);
    app.send(Message::Table(tree(&[
        ("top/all/music/long.flac", 900_000, 30),
        ("top/all/music/short.ogg", 9_000, 31),
        ("top/all/film.mkv", 500_000, 5),
    ])));
    let lines = panel(&app);
    let from = |title: &str| lines.iter().position(|line| line == title).expect("a list") + 1;
    let entries = from("largest entries");
    assert_eq!(lines[entries..entries + 2], [" 892 KiB music/", " 492 KiB film.mkv"], "{lines:?}");
    let files = from("largest files below");
    let expected = [" 880 KiB music/long.flac", " 492 KiB film.mkv", "12.0 KiB music/short.ogg"];
    let normal: Vec<String> =
        lines[files..files + 3].iter().map(|it| it.replace('\\', "/")).collect();
    assert_eq!(normal, expected, "{lines:?}");
}

#[cfg(unix)]
#[test]
fn further_hard_links_have_a_sign() {
    let place = transect_testkit::TempDir::new();
    std::fs::write(place.join("first"), vec![1; 50_000]).unwrap();
    std::fs::hard_link(place.join("first"), place.join("second")).unwrap();
    std::fs::write(place.join("third"), vec![1; 10_000]).unwrap();
    let mut app = TestApp::on_disk(place.path());
    let lines = |app: &TestApp| -> Vec<String> {
        let screen = app.screen();
        let lines = screen.lines().skip(2).take(3);
        lines
            .map(|line| format!("{}{}", &line[..2], line.split_whitespace().last().unwrap()))
            .collect()
    };
    let names =
        |app: &TestApp| lines(app).iter().map(|line| line[..1].to_owned()).collect::<String>();
    assert_eq!(app.listed(), ["first", "third", "second"]);
    assert_eq!(names(&app), "  H", "{}", app.screen());
    app.press("G Space");
    assert_eq!(names(&app), "  *", "{}", app.screen());
    app.press("?");
    app.press("G");
    assert!(app.screen().contains("hard link, counted at another name"), "{}", app.screen());
}

#[test]
fn help_shows_every_key() {
    let mut app = sample(80, 110);
    app.press("?");
    let screen = app.screen();
    for binding in BINDINGS {
        assert!(screen.contains(binding.help), "{}\n{screen}", binding.help);
    }
    app.resize(40, 10);
    app.press("G");
    assert!(app.screen().contains("stop"), "{}", app.screen());
    app.press("Esc j");
    assert_eq!(app.selected(), "film.mkv");
}

#[test]
fn names_never_control_terminal_or_leave_line() {
    let names = [
        "r/new\nline",
        "r/\u{1b}[31mred",
        "r/\u{202e}gpj.exe",
        "r/日本語の名前がとても長いので切られます日本語の名前",
        "r/e\u{301}e\u{301}e\u{301}",
        "r/👩‍👩‍👧‍👦 family",
        "r/שלום",
        "r/\u{200b}\u{200d}",
        "r/-rf",
    ];
    let files: Vec<_> = names.iter().map(|name| (*name, 1, 0)).collect();
    for width in [20, 40, 80, 200] {
        let mut app = TestApp::with(view_options(), width, 14);
        let steering = ("r/\u{1b}]0;title\u{7}\u{9b}2J\u{7f}\r\u{2066}\u{200f}\u{61c}", 1, 0);
        let all = [files.as_slice(), &[steering]].concat();
        app.send(Message::Table(tree(&all)));
        for _ in &all {
            let screen = app.screen();
            let steers = |c: char| c != '\n' && transect_text::quote::is_hostile(c);
            assert!(!screen.contains(steers), "{screen:?}");
            assert_eq!(screen.lines().count(), 14, "{screen}");
            for line in screen.lines() {
                let columns = transect_text::quote::width(line);
                assert!(columns <= usize::from(width), "{columns} of {width}: {line:?}");
            }
            app.press("j");
        }
    }
    let mut app = TestApp::with_table(tree(&files));
    app.press("n");
    insta::assert_snapshot!(app.framed_screen(), @r"
    | r                                                       36.0 KiB in 10 entries
    |     disk usage                      entries name ▲
    |  4.00 KiB  11% ████████████████           1 \e[31mred
    |  4.00 KiB  11% ████████████████           1 -rf
    |  4.00 KiB  11% ████████████████           1 ééé
    |  4.00 KiB  11% ████████████████           1 new\nline
    |  4.00 KiB  11% ████████████████           1 שלום
    |  4.00 KiB  11% ████████████████           1
    |  4.00 KiB  11% ████████████████           1 \u{202e}gpj.exe
    |  4.00 KiB  11% ████████████████           1 日本語の名…切られます日本語の名前
    |  4.00 KiB  11% ████████████████           1 👩‍👩‍👧‍👦 family
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    | complete: 10 entries in 0 µs             ? help  / search  Space mark  q quit
    ");
}

#[test]
fn entries_empty_directory_and_empty_file() {
    let mut app = TestApp::with_table(tree(&[("r/", 0, 0)]));
    assert!(app.screen().contains("empty"), "{}", app.screen());
    app.send(Message::Table(tree(&[("r/empty", 0, 0)])));
    insta::assert_snapshot!(app.framed_screen(), @r"
    | r                                                             0 B in 2 entries
    |   disk usage ▼                      entries name
    |       0 B   0%                            1 empty
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    |
    | complete: 2 entries in 0 µs              ? help  / search  Space mark  q quit
    ");
}

#[test]
fn sizes_and_times_at_their_limits() {
    let huge = i64::MAX as u64 / 4096 * 4096;
    let mut app = TestApp::with_table(tree(&[
        ("r/huge", huge, i64::MAX),
        ("r/old", 0, i64::MIN),
        ("r/before", 0, -1),
    ]));
    app.resize(120, 12);
    app.press("m j j i i");
    assert!(app.screen().contains("8.00 EiB"), "{}", app.screen());
}

#[test]
fn colours_disabled_uses_none() {
    let view = ViewOptions { colour: false, ..view_options() };
    let mut app = TestApp::with(view, 80, 24);
    app.send(Message::Table(tree(&[("r/a/x", 1, 0), ("r/b", 2, 0)])));
    for keys in ["Space", "?", "Esc", "/", "x", "Esc", "i"] {
        app.press(keys);
        let buffer = app.terminal.backend().buffer();
        let reset = ratatui::style::Color::Reset;
        assert!(buffer.content.iter().all(|cell| cell.fg == reset && cell.bg == reset), "{keys}");
    }
}

#[test]
fn selected_bar_not_reversed() {
    let app = sample(80, 12);
    let buffer = app.terminal.backend().buffer();
    let is_reversed = |x: u16| buffer[(x, 2)].modifier.contains(Modifier::REVERSED);
    for x in 0..80 {
        // All columns except the bar are reversed.
        assert_eq!(is_reversed(x), !(16..32).contains(&x), "{x} in\n{}", app.screen());
    }
}

/// Keys with and without a binding.
fn any_key() -> impl Strategy<Value = KeyEvent> {
    let code = prop_oneof![
        8 => prop::sample::select("jkhlgG/fsncmai *u?erbBoydtqx\u{301}日".chars().collect::<Vec<_>>())
            .prop_map(KeyCode::Char),
        4 => prop::sample::select(vec![
            KeyCode::Enter, KeyCode::Esc, KeyCode::Backspace, KeyCode::Tab, KeyCode::Left,
            KeyCode::Right, KeyCode::Up, KeyCode::Down, KeyCode::Home, KeyCode::End,
            KeyCode::PageUp, KeyCode::PageDown, KeyCode::F(1), KeyCode::Delete,
        ]),
    ];
    (code, prop::bool::weighted(0.1)).prop_map(|(code, control)| {
        let modifiers = if control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        KeyEvent::new(code, modifiers)
    })
}

/// An event in the life of a screen.
#[derive(Clone, Debug)]
enum TestEvent {
    Key(KeyEvent),
    Size(u16, u16),
    Table(usize),
    /// A removal ends; the first entries are gone.
    Removed(usize),
}

fn any_event() -> impl Strategy<Value = TestEvent> {
    let side = |most| prop_oneof![2 => 1_u16..6, 2 => 6_u16..40, 1 => 40_u16..most];
    prop_oneof![
        12 => any_key().prop_map(TestEvent::Key),
        2 => (side(320), side(110)).prop_map(|(width, height)| TestEvent::Size(width, height)),
        1 => (0_usize..4).prop_map(TestEvent::Table),
        1 => (0_usize..9).prop_map(TestEvent::Removed),
    ]
}

/// Reports that the first `most` entries of a removal are gone.
fn removed(app: &mut TestApp, most: usize) {
    let wished = app.effects.iter().rev().find_map(|effect| match effect {
        Effect::Remove { rows, .. } => Some(rows.clone()),
        _ => None,
    });
    if let (Some(mut gone), Context::Removal) = (wished, app.state.context()) {
        gone.truncate(most);
        let table = app.state.table.clone();
        // The removal may refer to an earlier table.
        gone.retain(|&row| table.iter().any(|there| there == row));
        app.send(Message::Removed { table, report: report_of(gone), changed: Vec::new() });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn keys_and_sizes_random_never_panic(events in prop::collection::vec(any_event(), 0..60)) {
        let mut app = TestApp::empty();
        for event in events {
            match event {
                TestEvent::Key(key) => app.press_key(key),
                TestEvent::Size(width, height) => app.resize(width, height),
                TestEvent::Removed(most) => removed(&mut app, most),
                TestEvent::Table(0) => app.send(Message::Table(crate::background::empty_table())),
                TestEvent::Table(1) => app.send(Message::PartialTable(tree(&[("r/a/b/", 0, 0)]))),
                TestEvent::Table(2) => app.send(Message::Table(tree(&[
                    ("r/a/b/日本語\u{1b}[1m", 1 << 40, -5), ("r/a/c", 0, 0), ("r/d/e/f/g", 7, 7),
                ]))),
                TestEvent::Table(_) => app.send(Message::Table(tree(&[("q/x", 1, 1), ("r/a", 2, 2)]))),
            }
            let table = &app.state.table;
            prop_assert!(app.state.directory.is_none_or(|at| crate::tree::is_directory(table, at)));
        }
    }
}
