//! Completions and manual pages.

use crate::harness::{TestEnv, skip};

#[test]
fn man_output_writes_a_page_per_command() {
    let env = TestEnv::new();
    let _ = env.lab(["man", "--output", "man1"]).exits(0).quiet();
    let listed = env.sh("cd man1 && ls").exits(0).stdout_text();
    let names: Vec<&str> = listed.lines().collect();
    for name in ["transect-lab.1", "transect-lab-report.1", "transect-lab-corpus-create.1"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(!names.contains(&"transect-lab-method.1"), "hidden commands have no page");
    let printed = env.lab(["man", "report"]).exits(0).stdout_text();
    assert_eq!(std::fs::read_to_string(env.path("man1/transect-lab-report.1")).unwrap(), printed);
    assert!(printed.contains("EXAMPLES") && printed.contains("\\-\\-markdown"), "{printed}");
    let unknown = env.lab(["man", "walk"]).exits(2).stderr_text();
    let why = "transect-lab: 'walk' is not a command; `transect lab --help` lists the commands\n";
    assert_eq!(unknown, why);
}

#[test]
fn completions_bash_completes_words() {
    let env = TestEnv::new();
    if !env.has("bash") {
        return skip("completions_bash_completes_words", "there is no bash").unwrap_or_default();
    }
    let _ = env.sh(r#""$LAB" completions bash >script && bash -n script"#).exits(0).quiet();
    let complete = r#"
        . ./script
        COMP_WORDS=(transect-lab "$@") COMP_CWORD=$#
        _transect__lab transect-lab "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    std::fs::write(env.path("try"), complete).unwrap();
    for (words, expected) in [
        ("rep", "report\n"),
        ("run enumerate --pres", "--preset\n"),
        ("tune --state warm,co", "warm,cold\n"),
    ] {
        let tried = env.sh(&format!("bash try {words}")).exits(0);
        assert_eq!(tried.stdout_text(), expected, "{}", tried.text());
    }
}

#[test]
fn completions_of_every_shell_contain_commands() {
    let env = TestEnv::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = env.lab(["completions", shell]).exits(0).quiet().stdout_text();
        for word in ["transect-lab", "report", "tune", "max-time"] {
            assert!(script.contains(word), "completions for {shell} lack {word}");
        }
    }
}
