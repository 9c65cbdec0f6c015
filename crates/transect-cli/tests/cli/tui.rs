//! The terminal view in `tmux`: the tests send keys and read the screen.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, read_to_string};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use transect_testkit::wait_for_ok;

use crate::followed::Live;
use crate::harness::{TestEnv, assert_output, skip};

/// A terminal that runs a shell.
struct Terminal<'e> {
    env: &'e TestEnv,
}

impl<'e> Terminal<'e> {
    /// Opens a terminal of this many columns and lines; without `tmux`, reports a skip and returns
    /// `None`.
    fn open(env: &'e TestEnv, test: &str, width: u16, height: u16) -> Option<Self> {
        if !env.has("tmux") {
            return skip(test, "there is no tmux");
        }
        let terminal = Self { env };
        // Without the user's settings, and with a shell that reads none either.
        let size = format!("-x {width} -y {height}");
        terminal.tmux(&format!("-f /dev/null new-session -d {size} 'PS1=\"$ \" exec sh -i'"));
        terminal.shows("$");
        Some(terminal)
    }

    fn tmux(&self, command: &str) -> String {
        // The socket lies beside the viewed trees. Its path is relative, because socket paths must
        // be short.
        let output = self.env.sh(&format!("LC_ALL=C.UTF-8 tmux -S ../tmux -u {command}"));
        output.exits(0).stdout_text()
    }

    /// Types a command for the shell.
    fn run(&self, command: &str) {
        self.tmux(&format!("send-keys -l '{command}'"));
        self.press("Enter");
    }

    /// Presses keys, as `tmux` calls them.
    fn press(&self, keys: &str) {
        self.tmux(&format!("send-keys {keys}"));
    }

    fn screen(&self) -> String {
        self.tmux("capture-pane -p")
    }

    /// Waits until a text is on the screen, and returns all of it.
    #[track_caller]
    fn shows(&self, text: &str) -> String {
        self.waits(text, |screen| screen.contains(text))
    }

    #[track_caller]
    fn waits(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        wait_for_ok(what, || {
            let screen = self.screen();
            if holds(&screen) { Ok(screen) } else { Err(screen) }
        })
    }

    fn resize(&self, width: u16, height: u16) {
        self.tmux(&format!("resize-window -x {width} -y {height}"));
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.env.sh("tmux -S ../tmux kill-server").code;
    }
}

fn small(env: &TestEnv) {
    env.mkdir("tree/folder");
    env.write("tree/folder/one", 20_000);
    env.write("tree/folder/two", 10_000);
    env.write("tree/large", 200_000);
    env.write("tree/small", 10);
}

#[test]
fn tui_snapshot_browsed_after_its_tree_is_gone() {
    let env = TestEnv::new();
    small(&env);
    let _ = env.transect(["snapshot", "tree", "-o", "tree.parquet"]).exits(0).quiet();
    let _ = env.sh("rm -r tree").exits(0);
    let test = "tui_snapshot_browsed_after_its_tree_is_gone";
    let Some(terminal) = Terminal::open(&env, test, 100, 24) else { return };
    terminal.run(r#""$TRANSECT" tui tree.parquet; echo "ended with $?""#);
    let screen = terminal.shows("complete: 6 entries");
    assert!(screen.contains("snapshot of 20") && screen.contains(" large"), "{screen}");
    terminal.press("/ f o l d Enter Enter");
    assert!(terminal.shows(" one").contains("/tree/folder "));
    terminal.press("d");
    terminal.shows("not in a snapshot");
    terminal.press("q");
    terminal.shows("ended with 0");
}

#[test]
fn tui_since_shows_growth() {
    let env = TestEnv::new();
    small(&env);
    let _ = env.transect(["keep", "tree"]).exits(0);
    env.write("tree/folder/one", 2_000_000);
    let _ = env.sh("rm tree/small").exits(0);
    let Some(terminal) = Terminal::open(&env, "tui_since_shows_growth", 100, 24) else { return };
    terminal.run(r#""$TRANSECT" tui --since 0s tree; echo "ended with $?""#);
    terminal.shows("growth since 20");
    // The numbers may come after the line that announces them.
    let screen = terminal.shows("+1.8");
    let line = |name: &str| screen.lines().find(|line| line.contains(name)).unwrap_or_default();
    assert!(line("folder/").contains("+1.8"), "{screen}");
    assert!(line("large").contains("±0"), "{screen}");
    assert!(line("gone").contains('-'), "{screen}");
    let order = ["folder/", "large", "gone"].map(|name| screen.find(name));
    assert!(order.is_sorted(), "{screen}");
    terminal.press("q");
    terminal.shows("ended with 0");
    for (arguments, why) in [
        ("--since 0s tree tree/folder", "--since needs one directory"),
        ("--since 0s --size +1 tree", "leave out filters"),
        ("--since 30d tree", "no snapshot of"),
        ("--since 0s tree/folder", "keep"),
    ] {
        terminal.run(&format!(r#""$TRANSECT" tui {arguments}; echo "ended with $?""#));
        terminal.shows(why);
        terminal.shows("ended with 2");
        terminal.run("clear");
        terminal.waits("an empty screen", |screen| !screen.contains("ended"));
    }
}

#[test]
fn tui_shows_what_changes_in_a_followed_tree() {
    let env = TestEnv::new();
    small(&env);
    let test = "tui_shows_what_changes_in_a_followed_tree";
    let Some(terminal) = Terminal::open(&env, test, 80, 24) else { return };
    let live = Live::start(&env, "tree");
    terminal.run(r#""$TRANSECT" tui tree; echo "ended with $?""#);
    terminal.shows("live: 6 entries");
    terminal.press("Down");
    env.write("tree/folder/new", 3_000_000);
    let screen = terminal.shows("live: 7 entries");
    assert!(screen.contains("folder/"), "{screen}");
    let _ = env.sh("rm -r tree/folder").exits(0);
    terminal.waits("a list without the directory", |screen| !screen.contains("folder/"));
    // The service ends: the view stays, and reads the disk if it is asked to.
    assert_eq!(live.end().0, Some(0));
    terminal.shows("not followed any more");
    env.write("tree/later", 1);
    terminal.press("r");
    terminal.shows("later");
    terminal.press("q");
    terminal.shows("ended with 0");
    let _live = Live::start(&env, "tree");
    terminal.run(r#""$TRANSECT" tui --live no tree"#);
    terminal.shows("complete: ");
    terminal.press("q");
}

#[test]
fn tui_browse_mark_and_delete() {
    let env = TestEnv::new();
    small(&env);
    let test = "tui_browse_mark_and_delete";
    let Some(terminal) = Terminal::open(&env, test, 80, 24) else { return };
    terminal.run(r#""$TRANSECT" tui tree; echo "ended with $?""#);
    let screen = terminal.shows("complete: 6 entries");
    let large = screen.find(" large").expect("the largest is shown");
    assert!(large < screen.find(" folder/").expect("so is the folder"), "{screen}");
    terminal.press("n");
    let screen = terminal.shows("name ▲");
    assert!(screen.find(" folder/") < screen.find(" large"), "{screen}");
    terminal.press("/ l a r Enter d");
    // The confirmation is not shown before the sizes are known.
    assert!(terminal.shows("cannot be undone").contains("Delete 1 entry for good?"));
    assert!(env.path("tree/large").exists());
    terminal.press("y");
    terminal.shows("1 entry deleted");
    assert!(!env.path("tree/large").exists());
    terminal.press("s");
    let screen = terminal.waits("the rest alone", |screen| !screen.contains(" large"));
    assert!(screen.contains(" folder/") && screen.contains(" small"), "{screen}");
    terminal.press("g Enter");
    terminal.shows("tree/folder ");
    terminal.press("q");
    let screen = terminal.shows("ended with 0");
    assert!(!screen.contains("folder/"), "the screen is what it was:\n{screen}");
    terminal.run("echo typed");
    assert!(terminal.waits("an echo", |screen| screen.contains("\ntyped")).contains("echo typed"));
}

#[test]
fn tui_restores_terminal_on_every_exit() {
    let env = TestEnv::new();
    small(&env);
    let test = "tui_restores_terminal_on_every_exit";
    let Some(terminal) = Terminal::open(&env, test, 80, 24) else { return };
    env.text("run", r#"echo $$ >process; exec "$TRANSECT" tui tree"#);
    for by_key in [true, false] {
        terminal.run(r#"clear; sh run; echo "ended with $?""#);
        terminal.shows("complete: 6 entries");
        if by_key {
            terminal.press("C-c");
        } else {
            let _ = env.sh("kill -s TERM $(cat process)").exits(0);
        }
        terminal.shows("ended with 0");
        terminal.run("stty -a | grep -q -e -icanon || echo as before");
        terminal.shows("\nas before");
    }
}

#[test]
fn tui_any_terminal_size() {
    let env = TestEnv::new();
    small(&env);
    env.write("tree/a\nb\x1b[2J", 5000);
    let test = "tui_any_terminal_size";
    let Some(terminal) = Terminal::open(&env, test, 80, 24) else { return };
    terminal.run(r#""$TRANSECT" tui tree; echo "ended with $?""#);
    terminal.shows("complete: 7 entries");
    for (width, height) in [(1, 1), (40, 10), (2, 50), (300, 100), (300, 1), (80, 24)] {
        terminal.resize(width, height);
        terminal.press("j Space i i d n");
        // All keys were handled when the screen shows the result of another one.
        terminal.resize(80, 24);
        terminal.press("?");
        terminal.shows("Keys");
        terminal.press("?");
        terminal.shows(r"a\nb\e[2J");
    }
    terminal.press("q");
    terminal.shows("ended with 0");
}

#[test]
fn tui_suspends_on_ctrl_z() {
    let env = TestEnv::new();
    small(&env);
    let test = "tui_suspends_on_ctrl_z";
    let Some(terminal) = Terminal::open(&env, test, 80, 24) else { return };
    terminal.run(r#""$TRANSECT" tui tree; echo "ended with $?""#);
    terminal.shows("complete: 6 entries");
    terminal.press("C-z");
    terminal.waits("the shell", |screen| !screen.contains("complete"));
    terminal.run("fg");
    terminal.shows("complete: 6 entries");
    terminal.press("q");
    terminal.waits("the shell", |screen| !screen.contains("complete"));
}

#[test]
fn tui_errors_listed_at_end() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let test = "tui_errors_listed_at_end";
    let Some(terminal) = Terminal::open(&env, test, 80, 24) else { return };
    // Without a tree, the view does not wait for a key.
    terminal.run(r#""$TRANSECT" tui nowhere; echo "ended with $?""#);
    let screen = terminal.shows("ended with 2");
    assert!(screen.contains("cannot access 'nowhere'"), "{screen}");
    // One of two roots exists, so the view is shown.
    terminal.run(r#"clear; "$TRANSECT" tui nowhere tree; echo "ended with $?""#);
    terminal.shows("partial");
    terminal.press("e");
    terminal.shows("cannot access 'nowhere'");
    terminal.press("q q");
    let screen = terminal.shows("ended with 2");
    assert!(screen.contains("cannot access 'nowhere'"), "{screen}");
}

#[test]
fn tui_without_terminal_fails() {
    let env = TestEnv::new();
    small(&env);
    assert_output!(env, env.transect(["tui", "tree"]), @r"
    exit code: 2
    ----- stderr -----
    transect: standard input and output must be a terminal
    ");
}

/// While the view waits for a terminal that accepts no more output, the window is resized, and then
/// a key is pressed. Both are reported at once, and the key must not wait for the next one.
#[test]
fn tui_key_pressed_after_resize_taken() {
    let env = TestEnv::new();
    env.mkdir("tree");
    // One screen is more output than a terminal buffers.
    for number in 0..400 {
        env.write(format!("tree/{number:03}{}", "n".repeat(240)), 0);
    }
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let name = OsStr::from_bytes(name.as_bytes());
    let flags = fcntl_getfl(&terminal).unwrap();
    fcntl_setfl(&terminal, flags | OFlags::NONBLOCK).unwrap();
    let resize = |columns| {
        let size = Winsize { ws_row: 380, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
    };
    resize(400);
    let open = || OpenOptions::new().read(true).write(true).open(name).unwrap();
    let mut view = Command::new("setsid")
        .arg("--ctty")
        .args([env!("CARGO_BIN_EXE_transect"), "tui"])
        .arg(env.path("tree"))
        .env("TERM", "xterm-256color")
        .stdin(open())
        .stdout(open())
        .stderr(open())
        .spawn()
        .unwrap();
    let mut screen = File::from(terminal.try_clone().unwrap());
    let mut shows = |text: &str| {
        let mut shown = Vec::new();
        wait_for_ok(text, || {
            let mut some = [0; 65536];
            while let Ok(read @ 1..) = screen.read(&mut some) {
                shown.extend_from_slice(&some[..read]);
            }
            let shown = String::from_utf8_lossy(&shown);
            if shown.contains(text) { Ok(()) } else { Err(shown.into_owned()) }
        });
    };
    shows("complete");
    resize(401);
    let proc = PathBuf::from(format!("/proc/{}", view.id()));
    wait_for_ok("writing", || {
        // The number of the system call and its arguments; the first of `write` is the descriptor.
        let call = read_to_string(proc.join("syscall")).unwrap();
        if call.split(' ').nth(1) == Some("0x1") { Ok(()) } else { Err(call) }
    });
    resize(402);
    wait_for_ok("the signal taken", || {
        let status = read_to_string(proc.join("status")).unwrap();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:\t")).unwrap();
        if pending.chars().all(|digit| digit == '0') { Ok(()) } else { Err(pending.to_owned()) }
    });
    File::from(terminal.try_clone().unwrap()).write_all(b"?").unwrap();
    shows("Keys");
    view.kill().unwrap();
    view.wait().unwrap();
}
