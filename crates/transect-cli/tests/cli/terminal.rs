//! Output that differs on a terminal: colours, progress, and names with control sequences. `script`
//! provides the terminal.

use crate::harness::{Output, TestEnv, skip};
use crate::tree;

const ESCAPE: u8 = 0x1b;

/// Runs a shell command on a terminal of its own; `None` without `script`.
pub(crate) fn on_terminal(
    env: &TestEnv,
    test: &str,
    variables: &str,
    command: &str,
) -> Option<Output> {
    // BSD's `script` has other options.
    if env.sh("script --version | grep -q util-linux").code != Some(0) {
        return skip(test, "there is no script of util-linux");
    }
    let variables = format!("TERM=xterm-256color {variables}");
    let shown = env.sh(&format!(
        r#"{variables} script --quiet --flush --return --command '{command}' typescript"#
    ));
    Some(shown)
}

fn small(env: &TestEnv) {
    env.mkdir("tree/sub");
    env.write("tree/sub/file", 10);
}

#[test]
fn terminal_gets_colours_pipe_does_not() {
    let env = TestEnv::new();
    small(&env);
    let test = "terminal_gets_colours_pipe_does_not";
    for command in ["tree", "doctor tree", "nowhere"] {
        let run = format!(r#""$TRANSECT" {command}"#);
        let Some(coloured) = on_terminal(&env, test, "", &run) else {
            return;
        };
        assert!(coloured.stdout.contains(&ESCAPE), "{}", coloured.text());
        for variables in ["NO_COLOR=1", "TERM=dumb", "CLICOLOR=0"] {
            let Some(plain) = on_terminal(&env, test, variables, &run) else {
                return;
            };
            assert!(!plain.stdout.is_empty());
            assert!(!plain.stdout.contains(&ESCAPE), "{variables}: {}", plain.text());
        }
        let Some(piped) = on_terminal(&env, test, "", &format!("{run} 2>&1 | cat")) else {
            return;
        };
        assert!(!piped.stdout.is_empty());
        assert!(!piped.stdout.contains(&ESCAPE), "in a pipe: {}", piped.text());
    }
    let Some(fatal) = on_terminal(&env, test, "", r#""$TRANSECT" list -g "["; true"#) else {
        return;
    };
    assert!(fatal.stdout.contains(&ESCAPE), "{}", fatal.text());
    assert!(fatal.stdout_text().contains("cannot parse pattern"), "{}", fatal.text());
}

#[test]
fn terminal_json_without_colours() {
    let env = TestEnv::new();
    small(&env);
    let test = "terminal_json_without_colours";
    let Some(output) = on_terminal(&env, test, "", r#""$TRANSECT" --json tree"#) else {
        return;
    };
    assert!(!output.stdout.contains(&ESCAPE), "{}", output.text());
    assert_eq!(output.exits(0).json()["files"], 1);
}

#[test]
fn terminal_exit_codes_are_the_same() {
    let env = TestEnv::new();
    small(&env);
    let test = "terminal_exit_codes_are_the_same";
    for (command, code) in [("tree", 0), ("list tree", 0), ("nowhere", 2), ("--bogus", 2)] {
        let run = format!(r#""$TRANSECT" {command}"#);
        let Some(output) = on_terminal(&env, test, "", &run) else {
            return;
        };
        let _ = output.exits(code);
    }
}

#[test]
fn terminal_hostile_names_quoted() {
    let env = TestEnv::new();
    let directory = env.mkdir("tree/a\rb\nc");
    env.write(directory.join("\x1b[31mred\x07\x08\x7f"), 10);
    let test = "terminal_hostile_names_quoted";
    for command in ["tree", "list tree", "list --errors tree", "doctor tree/*"] {
        let run = format!(r#""$TRANSECT" {command}"#);
        let Some(output) = on_terminal(&env, test, "NO_COLOR=1", &run) else {
            return;
        };
        let output = output.exits(0);
        // The terminal itself ends lines with \r\n.
        let text = output.stdout_text().replace("\r\n", "\n");
        assert!(text.contains("tree"), "{text}");
        let controls: Vec<char> = text.chars().filter(|&c| c.is_control() && c != '\n').collect();
        assert!(controls.is_empty(), "{command}: {controls:?} in {text:?}");
        assert!(!text.contains("b\nc"), "{command}: a name makes a line of its own: {text:?}");
    }
    // A pipe receives the names unchanged.
    let piped = env.transect(["list", "-0", "tree"]).exits(0).quiet();
    assert_eq!(piped.paths(b'\0'), tree::paths(&env, "tree"));
}

#[test]
fn terminal_non_ascii_controls_escaped() {
    let env = TestEnv::new();
    env.mkdir("tree");
    // The control sequence introducer in one character, and a right-to-left override.
    env.write("tree/csi\u{9b}31m", 1);
    env.write("tree/override\u{202e}gpj.exe", 1);
    let test = "terminal_non_ascii_controls_escaped";
    for command in ["tree", "list tree"] {
        let run = format!(r#""$TRANSECT" {command}"#);
        let Some(output) = on_terminal(&env, test, "NO_COLOR=1", &run) else {
            return;
        };
        let text = output.exits(0).stdout_text();
        for character in ['\u{9b}', '\u{202e}'] {
            assert!(!text.contains(character), "{command}: {character:?} in {text:?}");
        }
    }
}

/// Returns the final content of a terminal: the last text written to each line.
fn visible(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace("\x1b[K", "");
    let lines = text.split('\n').map(|line| line.rsplit('\r').next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn terminal_wrong_options_wrapped_between_words() {
    let env = TestEnv::new();
    let test = "terminal_wrong_options_wrapped_between_words";
    for wrong in [
        "usage --sort-by-something tree",
        "list --type nonsense tree",
        "map --html page --allow-removal tree",
        "scan --top many tree",
        "transform",
    ] {
        let words = |cols: usize| {
            let run = format!(r#"stty cols {cols} rows 30; "$TRANSECT" {wrong}"#);
            let shown = on_terminal(&env, test, "NO_COLOR=1", &run)?;
            let text = visible(&shown.exits(2).stdout_text());
            for line in text.lines() {
                let is_word = !line.trim_start().contains(' ');
                assert!(is_word || line.chars().count() <= cols, "{cols} columns: {line:?}");
            }
            Some(text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        };
        let (Some(narrow), Some(wide)) = (words(40), words(400)) else { return };
        assert_eq!(narrow, wide, "{wrong}");
        assert!(wide.len() > 5, "{wrong}: {wide:?}");
    }
}

/// Holds for short and long scans: on a busy machine every scan is long. (A unit test of the
/// progress line checks that short commands never show it.)
#[test]
fn terminal_progress_erased_after_scan() {
    let env = TestEnv::new();
    small(&env);
    let test = "terminal_progress_erased_after_scan";
    for command in ["tree", "list tree >/dev/null"] {
        let run = format!(r#""$TRANSECT" {command}"#);
        let Some(output) = on_terminal(&env, test, "NO_COLOR=1", &run) else { return };
        let text = visible(&output.exits(0).stdout_text());
        assert!(!text.contains('\x1b') && !text.contains(" entries/s  "), "{text:?}");
        // The paths of the list are on stdout, not here.
        assert_eq!(text.contains("  entries "), command == "tree", "{text:?}");
        assert_eq!(text.is_empty(), command != "tree", "{text:?}");
    }
}

#[test]
fn progress_without_terminal_prints_lines() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.text("tree/file", "12345");
    let said = |words: &str| env.transect(words.split(' ')).exits(0).stderr_text();
    for command in ["scan tree", "usage tree", "list tree", "map --html map.html tree"] {
        let line = said(&format!("{command} --progress"));
        assert!(line.starts_with("2 entries") && line.ends_with('\n'), "{line:?}");
        assert!(line.lines().count() == 1 && !line.contains(['\r', '\x1b']), "{line:?}");
        for words in ["", " --no-progress", " --progress --no-progress"] {
            assert_eq!(said(&format!("{command}{words}")), "", "{command}{words}");
        }
    }
    let line = said("transform case=upper --in-place --progress tree");
    assert!(line.starts_with("1 of 1 files"), "{line:?}");
}

#[test]
fn progress_of_sorted_list_not_in_output() {
    let env = TestEnv::new();
    // More than a pipe holds: the list waits until it is read, which is after the progress.
    tree::many_files(&env, &env.path("tree"), 2000, &"x".repeat(240));
    let test = "progress_of_sorted_list_not_in_output";
    let reader = "while ! grep -q entries typescript; do sleep 0.05; done; cat >listed";
    std::fs::write(env.path("reader"), reader).unwrap();
    let run = r#""$TRANSECT" list tree | sh reader"#;
    // Unbuffered, so that the typescript can be watched.
    let Some(output) = on_terminal(&env, test, "SHELL=/bin/sh", run) else {
        return;
    };
    let output = output.exits(0);
    let text = output.stdout_text();
    assert!(text.contains(" entries  ") && text.contains("/s"), "{text:?}");
    // The last progress line is erased: nothing visible follows the last carriage return.
    let visible = text.rsplit('\r').next().unwrap();
    assert!(!visible.contains("entries"), "progress stays: {text:?}");
    let listed = std::fs::read(env.path("listed")).unwrap();
    assert!(!listed.contains(&ESCAPE));
    let lines = listed.split(|&byte| byte == b'\n').count() - 1;
    assert_eq!(lines, tree::paths(&env, "tree").len());
}

#[test]
fn scan_and_messages_fit_forty_columns() {
    let env = TestEnv::new();
    let test = "scan_and_messages_fit_forty_columns";
    let long = "tree/a directory with a rather long name/and another one in it";
    env.mkdir(long);
    env.write(format!("{long}/file"), 100_000);
    std::fs::hard_link(env.path(format!("{long}/file")), env.path("tree/link")).unwrap();
    for (command, words) in [
        ("scan tree", &["in directories)", "work-stealing", "counted once", "available", "…"][..]),
        ("list no/such/directory", &["transect:", "cannot access", "No such file or directory"]),
        ("list -x no-such-program", &["cannot start", "'no-such-program':", "directory"]),
        ("list -x ./tree", &["is a directory, not a program:", "--one-file-system"]),
    ] {
        let run = format!(r#"stty cols 40 rows 30; "$TRANSECT" {command} 2>&1"#);
        let Some(shown) = on_terminal(&env, test, "NO_COLOR=1", &run) else { return };
        let text = shown.stdout_text().replace('\r', "");
        for line in text.lines() {
            assert!(line.chars().count() <= 40, "{command}: {line}\n{text}");
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in words {
            assert!(text.contains(words), "{command}: no {words} in {text}");
        }
    }
    let piped = env.transect(["scan", "tree"]).exits(0).quiet().stdout_text();
    assert!(piped.contains("tree/a directory with a rather long name/and another one in it/file"));
}
