//! The texts of `--help` and `-h`.

use crate::harness::TestEnv;

/// The commands, as users type them.
pub(crate) const COMMANDS: [&str; 27] = [
    "scan",
    "usage",
    "tui",
    "map",
    "list",
    "attributes",
    "find",
    "duplicates",
    "reclaim",
    "snapshot",
    "keep",
    "changes",
    "history",
    "diff",
    "watch",
    "query",
    "transform",
    "verify",
    "live",
    "service",
    "task",
    "commit",
    "doctor",
    "cache",
    "lab",
    "completions",
    "man",
];

/// The command that is a program of its own; that program tests its help.
pub(crate) const PART: &str = "lab";

/// The commands of the page cache, and of the service.
pub(crate) const OF_GROUPS: [[&str; 2]; 9] = [
    ["cache", "status"],
    ["cache", "drop"],
    ["service", "freeze"],
    ["service", "thaw"],
    ["service", "invalidate"],
    ["service", "stats"],
    ["service", "git-hook"],
    ["service", "watch-helper"],
    ["service", "watchman"],
];

/// The commands of the lab.
pub(crate) const OF_THE_LAB: [&str; 10] = [
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
];

#[test]
fn help_of_every_command_is_as_reviewed() {
    let env = TestEnv::new();
    let help = |args: &[&str], name: &str| {
        let output = env.transect(args).exits(0).quiet();
        env.settings().bind(|| insta::assert_snapshot!(name, output.stdout_text()));
    };
    help(&["--help"], "help");
    for command in COMMANDS.into_iter().filter(|command| *command != PART) {
        help(&[command, "--help"], &format!("help-{command}"));
    }
    for [group, command] in OF_GROUPS {
        help(&[group, command, "--help"], &format!("help-{group}-{command}"));
    }
}

#[test]
fn help_names_every_command() {
    let env = TestEnv::new();
    let commands: Vec<String> = listed(&env, &[]).into_iter().map(|(name, _)| name).collect();
    assert_eq!(commands, COMMANDS, "in the order of --help; new commands need a snapshot, too");
}

#[test]
fn help_fits_a_terminal() {
    let env = TestEnv::new();
    for command in COMMANDS.into_iter().filter(|command| *command != PART) {
        env.help_fits(command, 40);
    }
    OF_GROUPS.iter().for_each(|command| env.help_fits(&command.join(" "), 40));
    // It lists all commands in groups.
    env.help_fits("", 48);
}

#[test]
fn version_is_that_of_package() {
    let env = TestEnv::new();
    for flag in ["--version", "-V"] {
        let version = env.transect([flag]).exits(0).quiet().stdout_text();
        assert_eq!(version, concat!("transect ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}

/// Returns the commands of a group and their lines in its lists of commands, without `help`; nothing for a command
/// that has none.
pub(crate) fn listed(env: &TestEnv, group: &[String]) -> Vec<(String, String)> {
    let help = env.transect(group.iter().map(String::as_str).chain(["--help"])).exits(0);
    let help = help.stdout_text();
    let mut commands: Vec<(String, String)> = Vec::new();
    // The usage comes before, arguments or options after the lists, each with a heading.
    let list = help.lines().skip_while(|line| !line.starts_with("Usage:"));
    let list = list.skip_while(|line| !line.is_empty());
    let list = list.take_while(|line| !matches!(*line, "Arguments:" | "Options:"));
    for line in list.filter(|line| line.starts_with(' ')) {
        let text = line.trim_start();
        match commands.last_mut() {
            // The rest of a long line.
            Some((_, headline)) if line.len() - text.len() > 2 => *headline += &format!(" {text}"),
            _ => {
                let (name, headline) = text.split_once(' ').expect("a name and a line");
                commands.push((name.to_owned(), headline.trim_start().to_owned()));
            }
        }
    }
    commands.retain(|(name, _)| name != "help");
    commands
}

/// The doc comment of a flattened struct of arguments once replaced the headlines of three commands.
#[test]
fn headline_of_command_same_in_help_man_page_and_completions() {
    let env = TestEnv::new();
    let script = |args: &[&str]| env.transect(args).exits(0).quiet().stdout_text();
    let [fish, fish_of_part] =
        [script(&["completions", "fish"]), script(&[PART, "completions", "fish"])];
    let (mut groups, mut met) = (vec![Vec::new()], 0);
    while let Some(group) = groups.pop() {
        for (name, headline) in listed(&env, &group) {
            let command = [group.clone(), vec![name.clone()]].concat();
            for flag in ["-h", "--help"] {
                let args = command.iter().map(String::as_str).chain([flag]);
                let help = env.transect(args).exits(0).quiet().stdout_text();
                let first: Vec<&str> = help.lines().take_while(|line| !line.is_empty()).collect();
                assert_eq!(first.join(" "), headline, "{command:?} {flag}");
            }
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let args = match words.split_first() {
                Some((&PART, words)) => [&[PART, "man"], words].concat(),
                _ => [&["man"], &*words].concat(),
            };
            let page = env.transect(args).exits(0).quiet().stdout_text().replace("\\-", "-");
            let named = format!("\ntransect-{} - {headline}\n", command.join("-"));
            assert!(page.contains(&named), "man {command:?}: no {named:?} in\n{page}");
            let completed = format!(" -a \"{name}\" -d '{headline}'");
            let begins = "complete -c transect -n \"__fish_transect_needs_command\"";
            let is_meant = |line: &str| match group.is_empty() {
                true => line.starts_with(begins) && line.contains(&format!(" -a \"{name}\" ")),
                false => line.ends_with(&completed),
            };
            let is_of_part = group.first().is_some_and(|name| name == PART);
            let fish = if is_of_part { &fish_of_part } else { &fish };
            let line = fish.lines().find(|line| is_meant(line)).unwrap_or_default();
            assert!(line.ends_with(&completed), "fish {command:?}: {line}");
            met += 1;
            groups.push(command);
        }
    }
    assert!(met > COMMANDS.len(), "{met}");
}
