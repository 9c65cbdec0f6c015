//! Completions and manual pages.

use crate::harness::{TestEnv, skip};
use crate::help::{COMMANDS, PART};

/// Lets a shell find the programs, as those that are installed.
const ON_PATH: &str = "PATH=${TRANSECT%/*}:$PATH";

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn completions_of_every_shell_contain_every_command() {
    let env = TestEnv::new();
    for shell in SHELLS {
        let script = env.transect(["completions", shell]).exits(0).quiet().stdout_text();
        for word in COMMANDS.iter().chain(&["one-file-system", "min-depth"]) {
            assert!(script.contains(word), "completions for {shell} lack {word}");
        }
        assert!(script.ends_with('\n'), "completions for {shell} end with a newline");
    }
}

#[test]
fn completions_bash_completes_words() {
    let env = TestEnv::new();
    let test = "completions_bash_completes_words";
    if !env.has("bash") {
        return skip(test, "there is no bash").unwrap_or_default();
    }
    let script = env.transect(["completions", "bash"]).exits(0);
    std::fs::write(env.path("script"), &script.stdout).unwrap();
    let _ = env.sh("bash -n script").exits(0).quiet();
    let complete = r#"
        . ./script
        COMP_WORDS=(transect "$@") COMP_CWORD=$#
        _transect_or_lab transect "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    std::fs::write(env.path("try"), complete).unwrap();
    for (words, expected) in [
        ("do", "doctor\n"),
        ("cache status --pseu", "--pseudo\n"),
        ("help cache dr", "drop\n"),
        ("list --columns si", "size\n"),
        ("list --columns path,si", "path,size\n"),
        ("list --type f,", "f,f\nf,d\nf,l\nf,b\nf,c\nf,p\nf,s\nf,x\n"),
        ("list --sort mt", "mtime\n"),
        ("list --owner roo", "root\n"),
        ("transform eol=c", "eol=crlf\n"),
        ("transform eol=lf bla", "blake3\n"),
        ("lab rep", "report\n"),
        ("lab run enumerate --pres", "--preset\n"),
        ("lab tune --state warm,co", "warm,cold\n"),
        ("lab run enumerate --methods getdents-statx/rec", "getdents-statx/recursive\n"),
    ] {
        let tried = env.sh(&format!("{ON_PATH} bash try {words}")).exits(0);
        assert_eq!(tried.stdout_text(), expected, "{}", tried.text());
    }
}

#[test]
fn completions_of_fish_and_zsh_contain_lists_and_steps() {
    let env = TestEnv::new();
    let script = |shell| env.transect(["completions", shell]).exits(0).quiet().stdout_text();
    for (shell, parts) in [
        (
            "zsh",
            [
                ":COLUMN,…:_sequence compadd - name path target owner ",
                ":TYPE:_sequence compadd - f d l b c p s x' ",
                "'*:step or file:{_alternative \"steps:step:(blake3 ",
            ],
        ),
        (
            "fish",
            [
                " -a \"(__fish_transect_list name path target owner ",
                " -a \"(__fish_transect_list f d l b c p s x)\"",
                "subcommand transform\" -a \"blake3 ",
            ],
        ),
    ] {
        let script = script(shell);
        for part in parts {
            assert!(script.contains(part), "{shell}: {part}");
        }
    }
}

#[test]
fn completions_fish_completes_words() {
    let env = TestEnv::new();
    let test = "completions_fish_completes_words";
    if !env.has("fish") {
        return skip(test, "there is no fish").unwrap_or_default();
    }
    let _ = env.sh(r#""$TRANSECT" completions fish >script"#).exits(0).quiet();
    for (words, expected) in [
        ("do", "doctor"),
        ("list --columns si", "size"),
        ("list --columns path,si", "path,size"),
        ("list --columns=path,si", "--columns=path,size"),
        ("list --type f,", "f,b f,c f,d f,f f,l f,p f,s f,x"),
        ("list --sort mt", "mtime"),
        ("transform eol=c", "eol=crlf"),
        ("transform eol=lf bla", "blake3"),
        ("lab rep", "report"),
        ("lab run enumerate --pres", "--preset"),
        ("lab run enumerate --preset qui", "quick"),
        ("lab run transform --methods mapped-r", "mapped-read"),
    ] {
        let complete = format!(
            "{ON_PATH} HOME=$PWD fish -c 'source script; complete -C \"transect {words}\"'"
        );
        let tried = env.sh(&format!("{complete} | cut -f 1")).exits(0);
        let lines: Vec<_> = tried.stdout_text().lines().map(str::to_owned).collect();
        assert_eq!(lines.join(" "), expected, "{words}: {}", tried.text());
    }
}

#[test]
fn completions_zsh_completes_words() {
    let env = TestEnv::new();
    let test = "completions_zsh_completes_words";
    if !env.has("zsh") {
        return skip(test, "there is no zsh").unwrap_or_default();
    }
    let _ =
        env.sh(r#""$TRANSECT" completions zsh >_transect && zsh -n _transect"#).exits(0).quiet();
    // A terminal, in which Tab is typed. The second read waits for the completed word.
    let script = r#"
        zmodload zsh/zpty
        zpty z zsh -f -i
        zpty -w z 'PS1=; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; print re""ady'
        zpty -r z out '*ready*'
        zpty -w -n z "transect $1"$'\t'
        zpty -r z out "*$2*"
    "#;
    std::fs::write(env.path("try"), script).unwrap();
    for (words, expected) in [
        ("docto", "doctor"),
        ("list --columns siz", "size"),
        ("list --columns path,siz", "path,size"),
        ("list --sort mti", "mtime"),
        ("list --owner daemo", "daemon"),
        ("transform eol=cr", "eol=crlf"),
        ("transform trim bla", "blake3"),
        ("lab repor", "report"),
        ("lab run enumerate --prese", "preset"),
        ("lab run enumerate --preset qui", "quick"),
        ("lab run transform --methods mapped-r", "mapped-read"),
    ] {
        let tried = env.sh(&format!(
            "{ON_PATH} HOME=$PWD TERM=xterm timeout 600 zsh -f try '{words}' '{expected}'"
        ));
        assert_eq!(tried.code, Some(0), "{words}: {}", tried.text());
    }
}

#[test]
fn man_prints_the_page_of_any_command() {
    let env = TestEnv::new();
    for (args, title, parts) in [
        (&["man"][..], "transect", &["EXAMPLES", "SUBCOMMANDS", "\\-\\-read\\-depth"][..]),
        (&["man", "list"], "transect-list", &["EXAMPLES", "TUNING", "\\-\\-min\\-depth"]),
        (&["man", "cache", "status"], "transect-cache-status", &["EXAMPLES", "\\-\\-pseudo"]),
    ] {
        let page = env.transect(args).exits(0).quiet().stdout_text();
        let titles: Vec<&str> = page.lines().filter(|line| line.starts_with(".TH ")).collect();
        assert_eq!(titles.len(), 1, "{titles:?}");
        let start = format!(".TH {title} ");
        assert!(titles[0].starts_with(&start), "{}", titles[0]);
        for part in parts {
            assert!(page.contains(part), "{title}: no {part}");
        }
        assert!(
            page.contains("Use at most N threads") == (title != "transect-cache-status"),
            "{page}"
        );
        assert!(page.ends_with('\n'));
    }
    for (words, why) in [
        (["cache", "walk"], "'walk' is not a command; `transect cache --help` lists the commands"),
        ([PART, "report"], "'lab' is a program of its own; `transect lab man` prints its pages"),
    ] {
        let refused = env.transect(["man"].iter().chain(&words)).exits(2).stderr_text();
        assert_eq!(refused, format!("transect: {why}\n"));
    }
}

#[test]
fn man_output_writes_a_page_per_command() {
    let env = TestEnv::new();
    let _ = env.transect(["man", "--output", "man1"]).exits(0).quiet();
    let listed = env.sh("cd man1 && ls").exits(0).stdout_text();
    let names: Vec<&str> = listed.lines().collect();
    for command in COMMANDS.into_iter().filter(|command| *command != PART) {
        assert!(names.contains(&&*format!("transect-{command}.1")), "{command}: {names:?}");
    }
    for name in ["transect.1", "transect-cache-drop.1"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(!names.contains(&"transect-lab.1"), "the other program writes it");
    let printed = env.transect(["man", "scan"]).exits(0).stdout_text();
    assert_eq!(std::fs::read_to_string(env.path("man1/transect-scan.1")).unwrap(), printed);
}

#[test]
fn output_closed_pipe_is_success() {
    let env = TestEnv::new();
    env.mkdir("tree");
    crate::tree::mkfifo(&env, &env.path("gate"));
    for command in ["man", "completions bash", "doctor", "scan tree", "--json tree", "list tree"] {
        // The reader closes the pipe before the gate opens.
        let writer = format!(r#"{{ read go <gate; "$TRANSECT" {command}; echo $? >code; }}"#);
        let _ = env.sh(&format!("{writer} | {{ exec <&-; echo go >gate; }}")).exits(0).quiet();
        let code = std::fs::read_to_string(env.path("code")).unwrap();
        assert_eq!(code, "0\n", "{command}");
        let read = env.sh(&format!(r#""$TRANSECT" {command}"#)).exits(0).quiet();
        assert!(!read.stdout.is_empty(), "{command} prints something");
    }
}
