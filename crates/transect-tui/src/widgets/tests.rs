//! What is on the screen.

use proptest::prelude::*;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use transect_remove::Report;

use crate::Look;
use crate::app::{Answer, Wish};
use crate::keys::{BINDINGS, Context};
use crate::session::{Session, look, tree};

fn sample(width: u16, height: u16) -> Session {
    let mut session = Session::with(look(), width, height);
    session.tell(Answer::Table(tree(&[
        ("home/music/long.flac", 900_000, 30),
        ("home/music/short.ogg", 9_000, 31),
        ("home/notes/a.txt", 10, 90),
        ("home/film.mkv", 500_000, 5),
        ("home/empty/", 0, 0),
    ])));
    session
}

#[test]
fn an_ordinary_screen() {
    insta::assert_snapshot!(sample(80, 12).picture(), @r"
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
fn a_small_screen() {
    let mut session = sample(40, 10);
    session.press("j Space");
    insta::assert_snapshot!(session.picture(), @r"
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
fn a_wide_screen_describes_the_entry() {
    insta::assert_snapshot!(sample(120, 14).picture(), @r"
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
    | complete: 8 entries in 0 µs                              ? help  / search  Space mark  q quit  b biggest file  f find
    ");
}

#[test]
fn an_entry_is_described_below_where_there_is_no_room_beside() {
    let mut session = sample(60, 16);
    session.press("i");
    insta::assert_snapshot!(session.picture(), @r"
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
    session.press("i");
    assert!(!session.screen().contains("owner"), "{}", session.screen());
}

#[test]
fn help_shows_every_key() {
    let mut session = sample(80, 90);
    session.press("?");
    let screen = session.screen();
    for binding in BINDINGS {
        assert!(screen.contains(binding.does), "{}\n{screen}", binding.does);
    }
    session.resize(40, 10);
    session.press("G");
    assert!(session.screen().contains("stop"), "{}", session.screen());
    session.press("Esc j");
    assert_eq!(session.selected(), "film.mkv");
}

#[test]
fn names_cannot_steer_the_terminal_nor_leave_their_line() {
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
        let mut session = Session::with(look(), width, 14);
        let steering = ("r/\u{1b}]0;title\u{7}\u{9b}2J\u{7f}\r\u{2066}\u{200f}\u{61c}", 1, 0);
        let all = [files.as_slice(), &[steering]].concat();
        session.tell(Answer::Table(tree(&all)));
        for _ in &all {
            let screen = session.screen();
            let steers = |c: char| c != '\n' && transect_text::quote::is_hostile(c);
            assert!(!screen.contains(steers), "{screen:?}");
            assert_eq!(screen.lines().count(), 14, "{screen}");
            for line in screen.lines() {
                let columns = transect_text::quote::width(line);
                assert!(columns <= usize::from(width), "{columns} of {width}: {line:?}");
            }
            session.press("j");
        }
    }
    let mut session = Session::of(tree(&files));
    session.press("n");
    insta::assert_snapshot!(session.picture(), @r"
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
fn nothing_at_all_and_next_to_nothing() {
    let mut session = Session::of(tree(&[("r/", 0, 0)]));
    assert!(session.screen().contains("nothing is in here"), "{}", session.screen());
    session.tell(Answer::Table(tree(&[("r/empty", 0, 0)])));
    insta::assert_snapshot!(session.picture(), @r"
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
fn sizes_and_times_may_be_absurd() {
    let huge = i64::MAX as u64 / 4096 * 4096;
    let mut session = Session::of(tree(&[
        ("r/huge", huge, i64::MAX),
        ("r/old", 0, i64::MIN),
        ("r/before", 0, -1),
    ]));
    session.resize(120, 12);
    session.press("m j j i i");
    assert!(session.screen().contains("8.00 EiB"), "{}", session.screen());
}

#[test]
fn without_colours_nothing_is_coloured() {
    let look = Look { colour: false, ..look() };
    let mut session = Session::with(look, 80, 24);
    session.tell(Answer::Table(tree(&[("r/a/x", 1, 0), ("r/b", 2, 0)])));
    for keys in ["Space", "?", "Esc", "/", "x", "Esc", "i"] {
        session.press(keys);
        let buffer = session.terminal.backend().buffer();
        let reset = ratatui::style::Color::Reset;
        assert!(buffer.content.iter().all(|cell| cell.fg == reset && cell.bg == reset), "{keys}");
    }
}

#[test]
fn a_selected_bar_is_not_the_wrong_way_round() {
    let session = sample(80, 12);
    let buffer = session.terminal.backend().buffer();
    let is_reversed = |x: u16| buffer[(x, 2)].modifier.contains(Modifier::REVERSED);
    for x in 0..80 {
        // Where bars are, and nowhere else.
        assert_eq!(is_reversed(x), !(16..32).contains(&x), "{x} in\n{}", session.screen());
    }
}

/// Keys that mean something somewhere, and some that do not.
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

/// What may happen to a screen.
#[derive(Clone, Debug)]
enum Happening {
    Key(KeyEvent),
    Size(u16, u16),
    Table(usize),
    /// What was to be removed is gone, or in part.
    Removed(usize),
}

fn any_happening() -> impl Strategy<Value = Happening> {
    let side = |most| prop_oneof![2 => 1_u16..6, 2 => 6_u16..40, 1 => 40_u16..most];
    prop_oneof![
        12 => any_key().prop_map(Happening::Key),
        2 => (side(320), side(110)).prop_map(|(width, height)| Happening::Size(width, height)),
        1 => (0_usize..4).prop_map(Happening::Table),
        1 => (0_usize..9).prop_map(Happening::Removed),
    ]
}

/// Answers that the first `most` of what is to be removed are gone.
fn removed(session: &mut Session, most: usize) {
    let wished = session.wishes.iter().rev().find_map(|wish| match wish {
        Wish::Remove { rows, .. } => Some(rows.clone()),
        _ => None,
    });
    if let (Some(mut gone), Context::Work) = (wished, session.app.context()) {
        gone.truncate(most);
        let table = session.app.table.clone();
        // Of another table than the one that it was wished for, if there is another one by now.
        gone.retain(|&row| table.iter().any(|there| there == row));
        session.tell(Answer::Removed { table, report: Report { gone, ..Report::default() } });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn no_key_on_no_screen_breaks_it(happenings in prop::collection::vec(any_happening(), 0..60)) {
        let mut session = Session::before();
        for happening in happenings {
            match happening {
                Happening::Key(key) => session.press_key(key),
                Happening::Size(width, height) => session.resize(width, height),
                Happening::Removed(most) => removed(&mut session, most),
                Happening::Table(0) => session.tell(Answer::Table(crate::run::nothing())),
                Happening::Table(1) => session.tell(Answer::Outline(tree(&[("r/a/b/", 0, 0)]))),
                Happening::Table(2) => session.tell(Answer::Table(tree(&[
                    ("r/a/b/日本語\u{1b}[1m", 1 << 40, -5), ("r/a/c", 0, 0), ("r/d/e/f/g", 7, 7),
                ]))),
                Happening::Table(_) => session.tell(Answer::Table(tree(&[("q/x", 1, 1), ("r/a", 2, 2)]))),
            }
            let table = &session.app.table;
            prop_assert!(session.app.at.is_none_or(|at| crate::tree::is_directory(table, at)));
        }
    }
}
