//! Completions and the man page.

use crate::harness::{TestEnv, skip};
use crate::help::COMMANDS;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn completions_for_every_shell_know_every_command() {
    let env = TestEnv::new();
    for shell in SHELLS {
        let script = env.transect(["completions", shell]).exits(0).quiet().stdout_text();
        for word in COMMANDS.iter().chain(&["one-file-system", "min-depth"]) {
            assert!(script.contains(word), "completions for {shell} do not know {word}");
        }
        assert!(script.ends_with('\n'), "completions for {shell} end with a newline");
    }
}

#[test]
fn completions_for_bash_are_a_bash_script() {
    let env = TestEnv::new();
    let test = "completions_for_bash_are_a_bash_script";
    if !env.has("bash") {
        return skip(test, "there is no bash").unwrap_or_default();
    }
    let script = env.transect(["completions", "bash"]).exits(0);
    std::fs::write(env.path("script"), &script.stdout).unwrap();
    let _ = env.sh("bash -n script").exits(0).quiet();
    let complete = r#"
        . ./script
        COMP_WORDS=(transect "$@") COMP_CWORD=$#
        _transect transect "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    std::fs::write(env.path("try"), complete).unwrap();
    for (words, expected) in [
        ("do", "doctor\n"),
        ("lab run enumerate --pres", "--preset\n"),
        ("help lab rep", "report\n"),
    ] {
        let tried = env.sh(&format!("bash try {words}")).exits(0);
        assert_eq!(tried.stdout_text(), expected, "{}", tried.text());
    }
}

#[test]
fn the_man_page_describes_every_command_and_option() {
    let env = TestEnv::new();
    let page = env.transect(["man"]).exits(0).quiet().stdout_text();
    let first = page.lines().next().unwrap();
    assert!(first.starts_with(".TH") || first.starts_with(".ie"), "{first}");
    assert_eq!(page.lines().filter(|line| line.starts_with(".TH ")).count(), 1);
    for command in COMMANDS {
        let heading = format!(".SH \"COMMAND: {}\"", command.to_uppercase());
        assert!(page.lines().any(|line| line == heading), "no section for {command}");
    }
    for option in ["one-file-system", "max-depth", "min-depth", "gitignore", "errors", "json"] {
        let roff = format!(r"\-\-{}", option.replace('-', r"\-"));
        assert!(page.contains(&roff), "--{option} is not described");
    }
    assert!(page.ends_with('\n'));
}

#[test]
fn a_reader_that_is_gone_is_no_error() {
    let env = TestEnv::new();
    env.mkdir("tree");
    crate::tree::mkfifo(&env, &env.path("gate"));
    for command in ["man", "completions bash", "doctor", "scan tree", "--json tree", "list tree"] {
        // Nobody can read any more when the gate opens.
        let writer = format!(r#"{{ read go <gate; "$TRANSECT" {command}; echo $? >code; }}"#);
        let _ = env.sh(&format!("{writer} | {{ exec <&-; echo go >gate; }}")).exits(0).quiet();
        let code = std::fs::read_to_string(env.path("code")).unwrap();
        assert_eq!(code, "0\n", "{command}");
        let read = env.sh(&format!(r#""$TRANSECT" {command}"#)).exits(0).quiet();
        assert!(!read.stdout.is_empty(), "{command} has something to say");
    }
}
