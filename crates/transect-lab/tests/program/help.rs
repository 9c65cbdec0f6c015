//! The texts of `--help` and `-h`.

use crate::harness::TestEnv;

/// The commands, as users type them.
const COMMANDS: [&str; 12] = [
    "list",
    "run",
    "run enumerate",
    "run transform",
    "run attributes",
    "compare",
    "explain",
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
    COMMANDS.into_iter().chain([""]).for_each(|command| env.help_fits(command, 40));
}

#[test]
fn version_is_that_of_package() {
    let version = TestEnv::new().lab(["--version"]).exits(0).quiet().stdout_text();
    assert_eq!(version, concat!("transect-lab ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn help_command_knows_commands_of_lab() {
    let env = TestEnv::new();
    let asked = env.transect(["help", "lab", "run", "enumerate"]).exits(0).quiet().stdout_text();
    assert_eq!(asked, env.lab(["run", "enumerate", "--help"]).exits(0).stdout_text());
}
