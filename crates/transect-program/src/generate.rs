//! Completions and manual pages, both made from the definition of the command line.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::exit::{CliError, ExitStatus};
use crate::{file, stream};

#[derive(Debug, Args)]
#[allow(missing_docs, reason = "clap would show it instead of the headline of the command")]
pub struct CompletionsArgs {
    /// Write the script for this shell
    pub shell: Shell,
}

#[derive(Debug, Args)]
#[allow(missing_docs, reason = "clap would show it instead of the headline of the command")]
pub struct ManArgs {
    /// Print the page of this command, one word or more [default: the main page]
    ///
    /// On a terminal, the program `man` shows it, if it is installed.
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write the pages of all commands to DIR, one file for each
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub output: Option<PathBuf>,
}

/// Returns the completion script of a program for a shell.
pub fn completion_script(shell: Shell, command: &mut Command, program: &str) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, program, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => {
            // The generator takes a hyphen in the name of a program for the end of a command.
            let (wrong, right) = (program.replace('-', "__subcmd__"), program.replace('-', "__"));
            let users = script.replace(&wrong, &right).replace(FILES_AS_OWNERS, OWNERS);
            complete_lists_in_bash(&users)
        }
        // The generator does not escape a colon in the name of a value.
        Shell::Zsh => complete_lists_in_zsh(&script.replace("[:GROUP]:", r"[\:GROUP]:")),
        Shell::Fish => complete_lists_in_fish(&script),
        _ => script,
    }
}

/// The generator completes users by files in bash.
const FILES_AS_OWNERS: &str = "--owner)
                    COMPREPLY=($(compgen -f ";
const OWNERS: &str = "--owner)
                    COMPREPLY=($(compgen -u ";

/// Makes a script for bash complete the last word of a list with commas: `--columns path,si`.
fn complete_lists_in_bash(script: &str) -> String {
    let lists = script.lines().map(|line| match line.split_once("COMPREPLY=($(compgen -W \"") {
        Some((indent, values)) if !values.starts_with('$') => {
            let values = values.replace("\"${cur}\"", "\"${cur##*,}\"");
            let before = "local list=\"${cur%\"${cur##*,}\"}\"";
            format!("{indent}{before}; COMPREPLY=($(compgen -P \"${{list}}\" -W \"{values}\n")
        }
        _ => format!("{line}\n"),
    });
    lists.collect()
}

/// The same for zsh: every option that can be repeated accepts a list.
fn complete_lists_in_zsh(script: &str) -> String {
    let lists = script.lines().map(|line| {
        let values = line.strip_suffix(")' \\").filter(|line| line.starts_with("'*-"));
        match values.and_then(|line| line.rsplit_once(":(")) {
            Some((option, values)) => format!("{option}:_sequence compadd - {values}' \\\n"),
            None => format!("{line}\n"),
        }
    });
    lists.collect()
}

/// Makes a script for fish complete the last word of a list with commas.
fn complete_lists_in_fish(script: &str) -> String {
    // What precedes the last comma is repeated before each value.
    let function = "\
# Print values for the last word of a list with commas.
function __fish_transect_list
    set -l word (string replace -r '^--[^=]*=' '' -- (commandline -ct))
    set -l before (string match -r '.*,' -- $word)
    printf '%s\\n' \"$before\"$argv
end

";
    let mut lists = String::from(function);
    // A list of values has a line for each.
    let mut is_inside = false;
    for line in script.lines() {
        let value = |text: &str| text.trim_end_matches('"').trim_end_matches("\\t''").to_owned();
        let is_list = ["columns", "type"].iter().any(|name| line.contains(&format!(" -l {name} ")));
        match line.split_once(" -a \"").filter(|_| is_list) {
            Some((option, first)) => {
                lists += &format!("{option} -a \"(__fish_transect_list {}", value(first));
                is_inside = true;
            }
            None if is_inside => lists += &format!(" {}", value(line)),
            None => lists += &format!("{line}\n"),
        }
        if is_inside && line.ends_with('"') {
            lists += ")\"\n";
            is_inside = false;
        }
    }
    lists
}

/// Prints the manual page of a command of a program, or writes those of all commands to a directory.
///
/// # Errors
/// There is no such command, or a page cannot be written.
pub fn man(root: Command, args: &ManArgs) -> Result<ExitStatus, CliError> {
    let mut root = root.disable_help_subcommand(true);
    root.build();
    if let Some(dir) = &args.output {
        file::create_directory(dir)?;
        write_pages(&root, dir)?;
        return Ok(ExitStatus::Complete);
    }
    let mut command = &root;
    for name in &args.command {
        let parent = command.get_bin_name().unwrap_or(command.get_name());
        let found = command.find_subcommand(name).filter(|command| !command.is_hide_set());
        command = found.ok_or_else(|| {
            CliError::Failed(format!(
                "'{name}' is not a command; `{parent} --help` lists the commands"
            ))
        })?;
        if is_program(command) {
            let why = format!("'{name}' is a program of its own");
            return Err(CliError::Failed(format!("{why}; `{parent} {name} man` prints its pages")));
        }
    }
    let page = page(command)?;
    if !(stream::stdout_is_terminal() && is_shown_by_man(&page)) {
        stream::stdout().write_all(&page)?;
    }
    Ok(ExitStatus::Complete)
}

/// Gives a page to the program `man`, which formats it and starts the user's pager. Returns whether that worked.
fn is_shown_by_man(page: &[u8]) -> bool {
    let mut man = process::Command::new("man");
    let Ok(mut man) = man.args(["-l", "-"]).stdin(Stdio::piped()).spawn() else { return false };
    if let Some(mut input) = man.stdin.take() {
        // A pager that is left early closes its input.
        let _ = input.write_all(page);
    }
    man.wait().is_ok_and(|status| status.success())
}

/// Returns whether a command stands for a program of its own, which has its own help and pages.
fn is_program(command: &Command) -> bool {
    command.is_disable_help_flag_set()
}

fn write_pages(command: &Command, dir: &Path) -> Result<(), CliError> {
    let has_page = |command: &&Command| !command.is_hide_set() && !is_program(command);
    for subcommand in command.get_subcommands().filter(has_page) {
        write_pages(subcommand, dir)?;
    }
    let (name, page) = (Man::new(command.clone()).get_filename(), page(command)?);
    file::write(&dir.join(name), |out| out.write_all(&page))
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    // `clap_mangen` omits options that -h hides.
    let man = Man::new(command.clone().mut_args(|arg| arg.hide_short_help(false)));
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(notes) = command.get_after_long_help() {
        write_notes(&notes.to_string(), &mut page)?;
    }
    Ok(page)
}

/// Appends the text that follows the options in `--help`. Its examples and exit codes become
/// sections; commands are indented by four spaces there.
fn write_notes(notes: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut is_first = true;
    for paragraph in notes.trim().split("\n\n") {
        if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
            writeln!(page, ".SH EXAMPLES")?;
            for line in examples.lines() {
                match line.strip_prefix("    ") {
                    Some(command) => writeln!(page, ".RS 4\n{}\n.RE", roff(command))?,
                    None => writeln!(page, ".PP\n{}", roff(line.trim()))?,
                }
            }
            continue;
        }
        match paragraph.strip_prefix("Exit codes: ") {
            Some(codes) => writeln!(page, ".SH \"EXIT STATUS\"\n{}", roff(codes))?,
            None if is_first => writeln!(page, ".SH NOTES\n{}", roff(paragraph))?,
            None => writeln!(page, ".PP\n{}", roff(paragraph))?,
        }
        is_first = false;
    }
    Ok(())
}

/// Escapes a text for roff. Characters of shell commands must not become typographic ones.
fn roff(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (place, c) in text.char_indices() {
        match c {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '`' => escaped.push_str("\\(ga"),
            '~' => escaped.push_str("\\(ti"),
            '^' => escaped.push_str("\\(ha"),
            '.' if place == 0 => escaped.push_str("\\&."),
            c => escaped.push(c),
        }
    }
    escaped
}
