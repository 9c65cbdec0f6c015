//! What people see: every command that prints for them, on terminals of two sizes, with and without colours.
//!
//! Each screen is the work of one run in a mount namespace of its own, on a new tmpfs with a tree of fixed
//! sizes and times, so that paths, disk usage and free space are the same on every machine. `tools/screens`
//! prints all screens.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use transect_testkit::wait_until;
use vt100::{Callbacks, Cell, Color, Parser, Screen};

use crate::harness::{Running, TestEnv, skip};
use crate::help::{COMMANDS, OF_GROUPS, OF_THE_LAB};

/// Columns and lines of the terminals.
const SIZES: [(u16, u16); 2] = [(80, 24), (40, 15)];

/// A command whose screens are compared with reviewed ones.
struct Shown {
    /// The name of the golden.
    name: &'static str,
    /// A shell script that runs before, without the terminal.
    before: &'static str,
    /// What the user types; `transect` is the program.
    command: &'static str,
    code: i32,
    /// Whether rows are for copying, such as whole paths, so that the terminal may wrap them.
    copied: bool,
    /// Whether the content depends on the machine: such screens must be readable, but are not compared.
    varies: bool,
}

const fn shown(name: &'static str, before: &'static str, command: &'static str) -> Shown {
    failing(name, before, command, 0)
}

const fn copied(name: &'static str, before: &'static str, command: &'static str) -> Shown {
    Shown { copied: true, ..shown(name, before, command) }
}

const fn failing(
    name: &'static str,
    before: &'static str,
    command: &'static str,
    code: i32,
) -> Shown {
    Shown { name, before, command, code, copied: false, varies: false }
}

const fn varying(name: &'static str, before: &'static str, command: &'static str) -> Shown {
    Shown { varies: true, ..shown(name, before, command) }
}

/// A kept snapshot of the tree, then a change.
const KEPT: &str = "transect keep tree; fill tree/src/new.rs 5000; fill tree/src/main.rs 90000";
/// A build directory of Rust, and packages with long paths.
const REBUILDABLE: &str = "fill tree/Cargo.toml 10; mkdir -p tree/target/debug; fill tree/target/debug/program 700000; \
                           fill tree/target/CACHEDIR.TAG 43; \
                           mkdir -p tree/src/web/frontend/of-the-product/node_modules/left-pad; \
                           fill tree/src/web/frontend/of-the-product/package.json 10; \
                           fill tree/src/web/frontend/of-the-product/node_modules/left-pad/index.js 30000; \
                           find tree -exec touch --no-dereference --date '3 days ago' {} +";

/// A snapshot before a change and one after it.
const TWO: &str = "transect snapshot tree -o old.pq; fill tree/src/new.rs 5000; \
                   rm tree/README.md; mv tree/docs tree/manual; transect snapshot tree -o new.pq";
/// A running service. `$!` is its process, as that of a function would be a shell's.
const SERVED: &str = "\"$TRANSECT\" live tree --idle 15m >served 2>&1 </dev/null & \
                      echo $! >.served; until transect service stats; do sleep 0.01; done";

/// All commands that print for people.
const ALL: &[Shown] = &[
    shown("short-help", "", "transect -h"),
    shown("scan", "", "transect tree"),
    shown("scan-top", "", "transect scan --apparent --top 3 tree"),
    failing("scan-errors", "", "transect scan missing tree/nowhere/at/all/in/this/tree tree", 2),
    shown("usage", "", "transect usage tree"),
    shown("usage-files", "", "transect usage --files tree"),
    shown("usage-by-extension", "", "transect usage --by ext tree"),
    shown("usage-by-owner", "", "transect usage --by owner tree"),
    shown(
        "usage-by-age",
        "find tree -exec touch --date '3 days ago' {} +",
        "transect usage --by age tree",
    ),
    shown("reclaim", REBUILDABLE, "transect reclaim tree"),
    shown("usage-entries", "", "transect usage --entries tree"),
    shown("usage-deep", DEEP, "transect usage deep"),
    copied("list", "", "transect list --sort path tree"),
    shown("list-long", "", "transect list --long --sort path tree"),
    shown(
        "list-columns",
        "",
        "transect list -t f --sort name --columns name,type,size,mode,owner tree",
    ),
    shown("snapshot", "", "transect snapshot tree -o tree.pq"),
    shown("snapshot-usage", "transect snapshot tree -o tree.pq", "transect usage tree.pq"),
    shown("diff", TWO, "transect diff old.pq new.pq"),
    shown("diff-summary", TWO, "transect diff --summary old.pq new.pq"),
    shown("keep", "", "transect keep tree"),
    shown("keep-again", KEPT, "transect keep tree"),
    shown("changes", KEPT, "transect changes tree"),
    failing("changes-none-kept", "", "transect changes tree", 2),
    shown("history", KEPT, "transect history tree"),
    shown("history-all", KEPT, "transect history"),
    shown("find", KEPT, "transect find --in tree main"),
    shown("find-long", KEPT, "transect find --in tree --long --verify .rs"),
    failing("find-none-kept", "", "transect find --in tree main", 2),
    shown("commit", PARTS, "transect commit parts -o all.pq"),
    shown("map", "", "transect map --html map.html tree"),
    shown("duplicates", "", "transect duplicates tree"),
    shown("duplicates-dry-run", "", "transect duplicates --remove --keep first --dry-run tree"),
    shown("duplicates-link", "", "transect duplicates --link --keep first --yes tree"),
    shown("transform", "", "transect transform eol=crlf --in-place tree/docs"),
    failing("transform-check", "", "transect transform eol=crlf --check tree/docs", 1),
    copied("transform-digests", "", "transect transform blake3 tree/docs"),
    shown("transform-steps", "", "transect transform --steps"),
    failing("verify", SUMS, "transect verify sums", 1),
    shown("attributes", "", "transect attributes tree tree/README.md missing"),
    shown("service-stats", SERVED, "transect service stats"),
    shown("service-freeze", SERVED, "transect service freeze"),
    failing("service-none", "", "transect service stats", 2),
    varying("doctor", "", "transect doctor tree"),
    shown("cache-status", "", "transect cache status tree"),
    failing("cache-drop", "", "transect cache drop tree", 1),
    varying("lab-list", "", "transect lab list"),
    shown("lab-report", SESSIONS, "transect lab report walk.jsonl"),
    shown("lab-report-articles", SESSIONS, "transect lab report articles.jsonl"),
    shown("lab-report-transform", SESSIONS, "transect lab report transform.jsonl"),
    shown("lab-report-attributes", SESSIONS, "transect lab report attributes.jsonl"),
    shown("lab-compare", SESSIONS, "transect lab compare walk.jsonl walk.jsonl"),
    shown("lab-explain", SESSIONS, "transect lab explain transform.jsonl"),
    shown("lab-corpus-list", "", "transect lab corpus list"),
    failing("wrong-option", "", "transect usage --sort-by-something tree", 2),
    failing("wrong-path", "", "transect usage a/rather/long/path/that/leads/to/nothing/at/all", 2),
];

const DEEP: &str = "path=deep/a; for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do path=$path/level; done; \
                    mkdir -p $path; fill $path/file 100000";
const PARTS: &str = "transect task --first tree | transect task --in - --out parts";
const SUMS: &str = "transect transform blake3 tree/docs tree/src >sums; fill tree/docs/guide.md 7";
const SESSIONS: &str = "cp \"$SESSIONS\"/*.jsonl .";

/// Makes the file system and the tree.
const PREPARE: &str = r#"
mount -t tmpfs -o size=64M,mode=755 transect /srv
hostname host
cd /srv
mkdir -p .home/config .home/data .home/runtime .home/cache .home/tmp
chmod 700 .home/runtime
transect() { "$TRANSECT" "$@"; }
fill() { head -c "$2" /dev/zero | tr '\0' "${3:-x}" >"$1"; }
mkdir -p tree/docs tree/src/parser tree/photos tree/empty
mkdir -p 'tree/build/debug/incremental compilation of everything'
fill 'tree/build/debug/incremental compilation of everything/libtransect-0123456789.rlib' 900000
fill tree/photos/日本語の写真.jpg 240000 j
fill tree/photos/2026-03-05T12-34-56-a-name-of-a-photo-that-is-rather-long.jpg 180000 p
yes 'A line of the guide.' | head -n 3000 >tree/docs/guide.md
cp tree/docs/guide.md tree/docs/copy-of-guide.md
fill tree/README.md 3000
fill tree/src/main.rs 12000 m
fill tree/src/lib.rs 8000 l
fill tree/src/parser/tokens.rs 25000 t
ln tree/src/lib.rs tree/src/same.rs
ln -s ../README.md tree/docs/link
find tree -exec touch --no-dereference --date '2026-03-05 12:34:56' {} +
"#;

/// What a command wrote to a terminal.
struct Written {
    bytes: Vec<u8>,
    code: Option<i32>,
}

/// Runs a command line in its own file system, on a terminal of this size.
fn run(env: &TestEnv, shown: &Shown, (width, height): (u16, u16), colours: bool) -> Written {
    let script = format!(
        "(set -e\n{PREPARE}\n{before}\n
) >log 2>&1 </dev/null\n\
         code=$?; [ $code = 0 ] || {{ cat log >&2; exit 125; }}\n\
         cd /srv && transect() {{ \"$TRANSECT\" \"$@\"; }} && {command}\n\
         code=$?; [ ! -e .served ] || kill $(cat .served); exit $code",
        before = shown.before,
        command = shown.command,
    );
    let mut command = env.command("unshare");
    command.args(["--mount", "--uts", "sh", "-c", &script]);
    for (key, value) in [
        ("HOME", "/srv/.home"),
        ("XDG_CONFIG_HOME", "/srv/.home/config"),
        ("XDG_DATA_HOME", "/srv/.home/data"),
        ("XDG_STATE_HOME", "/srv/.home/state"),
        ("XDG_RUNTIME_DIR", "/srv/.home/runtime"),
        ("XDG_CACHE_HOME", "/srv/.home/cache"),
        ("TMPDIR", "/srv/.home/tmp"),
        ("LC_ALL", "C.UTF-8"),
        ("TERM", "xterm-256color"),
        (
            "SESSIONS",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../transect-lab/tests/program/sessions"),
        ),
    ] {
        command.env(key, value);
    }
    // `clap` would prefer it to the terminal.
    command.env_remove("COLUMNS");
    if !colours {
        command.env("NO_COLOR", "1");
    }
    on_terminal(command, width, height)
}

/// Runs a command with a terminal as its output.
fn on_terminal(mut command: Command, width: u16, height: u16) -> Written {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("a terminal of our own");
    unlockpt(&terminal).expect("a terminal of our own");
    let size = Winsize { ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).expect("a terminal has a size");
    let name = ptsname(&terminal, Vec::new()).expect("a name");
    let flags = i32::try_from(OFlags::NOCTTY.bits()).expect("flags of C");
    let mut open = OpenOptions::new();
    let other = open.read(true).write(true).custom_flags(flags);
    let other = other.open(name.to_str().expect("an ASCII name")).expect("the other end");
    command.stdout(other.try_clone().expect("a descriptor")).stderr(other);
    let mut running = Running::start(&mut command);
    // The command holds the other end: reading would never end.
    drop(command);
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // Linux reports the end as an error.
        let _ = File::from(terminal).read_to_end(&mut bytes);
        bytes
    });
    let code = running.wait().code();
    let group = running.child.id().to_string();
    wait_until("the end of what the command started", || !runs_in_group(&group));
    Written { bytes: reader.join().expect("a thread that only reads"), code }
}

/// Returns whether a process of this group has not ended: `proc_pid_stat(5)`.
fn runs_in_group(group: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("a list of processes").flatten();
    let stats = processes.flat_map(|entry| std::fs::read_to_string(entry.path().join("stat")));
    stats.into_iter().any(|stat| {
        let mut words = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        words.next() != Some("Z") && words.nth(1) == Some(group)
    })
}

/// Notes every control sequence that does not style text.
#[derive(Default)]
struct Controls(Vec<String>);

impl Callbacks for Controls {
    fn audible_bell(&mut self, _: &mut Screen) {
        self.0.push("bell".to_owned());
    }

    fn unhandled_char(&mut self, _: &mut Screen, character: char) {
        self.0.push(format!("{character:?}"));
    }

    fn unhandled_control(&mut self, _: &mut Screen, byte: u8) {
        self.0.push(format!("{byte:#x}"));
    }

    fn unhandled_escape(&mut self, _: &mut Screen, _: Option<u8>, _: Option<u8>, byte: u8) {
        self.0.push(format!("ESC {}", char::from(byte)));
    }

    fn unhandled_csi(
        &mut self,
        _: &mut Screen,
        _: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        end: char,
    ) {
        self.0.push(format!("CSI {parameters:?} {end}"));
    }

    fn unhandled_osc(&mut self, _: &mut Screen, parameters: &[&[u8]]) {
        self.0.push(format!("OSC {parameters:?}"));
    }
}

/// A screen as text, and with its styles marked.
struct Seen {
    rows: Vec<String>,
    styled: Vec<String>,
    /// Why people cannot read it.
    faults: Vec<String>,
}

/// Emulates a terminal so high that nothing scrolls off.
fn emulate(what: &str, bytes: &[u8], width: u16, copied: bool) -> Seen {
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
    let most = lines + bytes.len() / usize::from(width) + 2;
    let height = u16::try_from(most).ok().and_then(NonZeroU16::new).expect("a few lines");
    let width = NonZeroU16::new(width).expect("a width");
    let mut parser = Parser::new_with_callbacks(height, width, 0, Controls::default());
    parser.process(bytes);
    let controls = parser.callbacks().0.iter();
    let mut faults: Vec<String> = controls.map(|it| format!("{what}: control {it}")).collect();
    let screen = parser.screen();
    let mut rows: Vec<String> = screen.rows(0, width.get()).collect();
    let end = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
    rows.truncate(end);
    for (number, row) in (0..).zip(&rows) {
        let is_wrapped = screen.row_wrapped(number) && !is_one_word(row);
        if is_wrapped && !copied {
            faults.push(format!("{what}: the terminal wrapped {row:?}"));
        }
        let is_control = |c: char| c.is_control() || ('\u{2400}'..='\u{243f}').contains(&c);
        if row.contains(is_control) || row.contains("\\e[") {
            faults.push(format!("{what}: control sequence in {row:?}"));
        }
    }
    let styled = (0..).take(end).map(|number| with_styles(screen, number, width.get())).collect();
    Seen { rows, styled, faults }
}

/// Returns whether a row is the beginning of a single word, such as a path or a digest: it cannot be broken, or it
/// could not be copied. `diff` has a mark before it.
fn is_one_word(row: &str) -> bool {
    let word = row.trim_start_matches(['+', '-', '~', '>', 'T', '!', '?']).trim_start();
    !word.contains(' ')
}

/// Returns a row in which the beginning of each style is marked: `‹bold›name‹›`.
fn with_styles(screen: &Screen, row: u16, width: u16) -> String {
    let (mut text, mut before) = (String::new(), String::new());
    let cells = (0..width).filter_map(|column| screen.cell(row, column));
    let cells: Vec<&Cell> = cells.filter(|cell| !cell.is_wide_continuation()).collect();
    let end = cells.iter().rposition(|cell| cell.has_contents()).map_or(0, |last| last + 1);
    for cell in &cells[..end] {
        let style = style_of(cell);
        if style != before {
            let _ = write!(text, "‹{style}›");
            before = style;
        }
        text.push_str(if cell.has_contents() { cell.contents() } else { " " });
    }
    if !before.is_empty() {
        text.push_str("‹›");
    }
    text
}

fn style_of(cell: &Cell) -> String {
    let colour = match cell.fgcolor() {
        Color::Default => "",
        Color::Idx(1) => "red",
        Color::Idx(2) => "green",
        Color::Idx(3) => "yellow",
        Color::Idx(4) => "blue",
        Color::Idx(6) => "cyan",
        _ => "another colour",
    };
    let background = if cell.bgcolor() == Color::Default { "" } else { "background" };
    let words = [
        if cell.bold() { "bold" } else { "" },
        if cell.dim() { "dim" } else { "" },
        if cell.underline() { "underlined" } else { "" },
        if cell.inverse() { "inverse" } else { "" },
        colour,
        background,
    ];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Runs a command on every terminal, and returns all screens as one text, and their faults.
fn screens(env: &TestEnv, shown: &Shown) -> (String, Vec<String>) {
    let mut faults = Vec::new();
    let mut text = format!("$ {}\n", shown.command);
    let mut coloured = Vec::new();
    for size @ (width, height) in SIZES {
        let [plain, styled] = [false, true].map(|colours| {
            let written = run(env, shown, size, colours);
            let what = format!("{} at {width} × {height}, colours: {colours}", shown.name);
            let mut seen = emulate(&what, &written.bytes, width, shown.copied);
            faults.append(&mut seen.faults);
            if written.code != Some(shown.code) {
                faults.push(format!("{what}: exit code {:?}", written.code));
            }
            if !colours && written.bytes.contains(&0x1b) {
                faults.push(format!("{what}: escape sequences in spite of NO_COLOR"));
            }
            seen
        });
        let _ = write!(text, "\n── {width} × {height} ──\n{}\n", plain.rows.join("\n"));
        coloured.push((width, height, styled));
    }
    for (width, height, seen) in coloured {
        let _ = write!(text, "\n── {width} × {height}, colours ──\n{}\n", seen.styled.join("\n"));
    }
    (text, faults)
}

/// Masks what differs between runs and machines.
fn masks() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, replacement) in [
        // Where lines end depends on the length of a time: from there on, a sentence is one line.
        (r"\s+in\s+\d[\d.]*\s(ns|µs|ms|s)\b", " in [time]"),
        (r"\[time\],\s+[\d,]+\s+entries/s\s+[^)]+\)", "[time], [rate]"),
        (r"\d\d\d\d-\d\d-\d\d", "YYYY-MM-DD"),
        (r"\d\d:\d\d:\d\d", "hh:mm:ss"),
        // The name of a kept snapshot; a narrow terminal may break it.
        (r"YYYY-MM-DDT[\dTZ.\n-]+parquet", "YYYY-MM-DDThh-mm-ss.mmmZ.parquet"),
        // The sizes of snapshots depend on the times in them.
        (r"(pq|parquet)':\s+[\d.]+\s+KiB", "$1': [size]"),
        (r"\([\d.]+ bytes each\)", "([size] each)"),
        (r"[\d.]+ KiB(\s+)host", "[size]${1}host"),
        (r"process \d+", "process [number]"),
        (r"\d+(  connections)", "N$1"),
    ] {
        settings.add_filter(pattern, replacement);
    }
    settings
}

/// Calls a function for each element, on a few threads; the order of the results is that of the elements.
fn on_threads<T: Sync, R: Send>(all: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((index, element)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            all.get(index).map(|element| (index, element))
        } {
            let result = function(element);
            done.lock().expect("no thread panicked").push((index, result));
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().expect("no thread panicked");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[test]
fn screens_of_all_commands_are_as_reviewed() {
    let env = TestEnv::new();
    let test = "screens_of_all_commands_are_as_reviewed";
    if env.sh("unshare --mount --uts mount -t tmpfs transect /srv").code != Some(0) {
        let _: Option<()> = skip(test, "cannot mount a file system in a namespace");
        return;
    }
    // For `tools/screens`: print those whose names contain this, instead.
    if let Ok(part) = std::env::var("TRANSECT_SCREENS") {
        let chosen = ALL.iter().filter(|shown| shown.name.contains(&part));
        return chosen.for_each(|shown| print(&env, shown));
    }
    let texts = on_threads(ALL, |shown| screens(&env, shown));
    let faults: Vec<&String> = texts.iter().flat_map(|(_, faults)| faults).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    for (shown, (text, _)) in ALL.iter().zip(texts).filter(|(shown, _)| !shown.varies) {
        masks().bind(|| insta::assert_snapshot!(format!("screen-{}", shown.name), text));
    }
}

#[expect(clippy::print_stdout, reason = "it is for developers, who read it")]
fn print(env: &TestEnv, shown: &Shown) {
    for size @ (width, height) in SIZES {
        println!("\n── {width} × {height}: {}", shown.command);
        let written = run(env, shown, size, std::env::var_os("NO_COLOR").is_none());
        print!("{}", String::from_utf8_lossy(&written.bytes));
    }
}

#[test]
fn help_fits_every_terminal() {
    let env = TestEnv::new();
    let commands = COMMANDS.iter().map(|command| vec![*command]).chain([Vec::new()]);
    let of_groups = OF_GROUPS.iter().map(|command| command.to_vec());
    let of_lab = OF_THE_LAB.iter().map(|command| ["lab"].into_iter().chain(command.split(' ')));
    let commands: Vec<Vec<&str>> =
        commands.chain(of_groups).chain(of_lab.map(Iterator::collect)).collect();
    let faults = on_threads(&commands, |words| {
        let mut faults = Vec::new();
        for (flag, (width, height)) in
            ["-h", "--help"].into_iter().flat_map(|flag| SIZES.map(|size| (flag, size)))
        {
            let mut command = env.command(env!("CARGO_BIN_EXE_transect"));
            command.args(words).arg(flag).env("TERM", "xterm-256color").env_remove("COLUMNS");
            let written = on_terminal(command, width, height);
            let what = format!("{words:?} {flag} at {width} × {height}");
            assert_eq!(written.code, Some(0), "{what}");
            let mut seen = emulate(&what, &written.bytes, width, false);
            assert!(!seen.rows.is_empty(), "{what}");
            faults.append(&mut seen.faults);
        }
        faults
    });
    let faults = faults.concat();
    assert!(faults.is_empty(), "{faults:#?}");
}
