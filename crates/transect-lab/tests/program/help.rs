//! The texts of `--help` and `-h`.

use crate::harness::TestEnv;

/// The commands, as users type them.
const COMMANDS: [&str; 13] = [
    "list",
    "run",
    "run enumerate",
    "run transform",
    "run attributes",
    "compare",
    "explain",
    "import",
    "tune",
    "report",
    "corpus",
    "completions",
    "man",
];

#[test]
fn help_of_every_command_is_as_reviewed() {
    let env = TestEnv::new();
    let help = |args: &[&str], name: &str| {
        let output = env.lab(args).exits(0).quiet();
        env.settings().bind(|| insta::assert_snapshot!(name, output.stdout_text()));
    };
    help(&["--help"], "help-lab");
    for command in COMMANDS {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        help(&args, &format!("help-lab-{}", command.replace(' ', "-")));
    }
}

#[test]
fn help_fits_a_terminal() {
    let env = TestEnv::new();
    for command in COMMANDS.into_iter().chain([""]) {
        let mut lab = env.command(env!("CARGO_BIN_EXE_transect-lab"));
        lab.args(command.split_whitespace()).arg("--help").env("COLUMNS", "80");
        let help = lab.output().unwrap();
        assert!(help.status.success() && !help.stdout.is_empty());
        for line in String::from_utf8(help.stdout).unwrap().lines() {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
        let short = env.lab(command.split_whitespace().chain(["-h"])).exits(0).quiet();
        let lines = short.stdout_text().lines().count();
        assert!(lines <= 40, "{command:?}: {lines} lines");
    }
}

#[test]
fn version_is_that_of_package() {
    let version = TestEnv::new().lab(["--version"]).exits(0).quiet().stdout_text();
    assert_eq!(version, concat!("transect-lab ", env!("CARGO_PKG_VERSION"), "\n"));
}
