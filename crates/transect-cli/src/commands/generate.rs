//! Completions and manual pages, both made from the definition of the command line.

use std::io::Write;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{CliError, ExitStatus};
use crate::output::{file, stream};

/// Writes a completion script.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitStatus, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "transect", &mut script);
    stream::stdout().write_all(&script)?;
    Ok(ExitStatus::Complete)
}

/// Prints the manual page of a command, or writes those of all commands to a directory.
pub(crate) fn man(args: &ManArgs) -> Result<ExitStatus, CliError> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    if let Some(dir) = &args.output {
        std::fs::create_dir_all(dir).map_err(|error| {
            let (dir, reason) = (dir.display(), transect::reason(&error));
            CliError::File(format!("cannot create '{dir}': {reason}"))
        })?;
        write_pages(&root, dir)?;
        return Ok(ExitStatus::Complete);
    }
    let mut command = &root;
    for name in &args.command {
        command = find(command, name).ok_or_else(|| {
            let parent = command.get_bin_name().unwrap_or("transect");
            CliError::Usage(format!(
                "'{name}' is not a command; `{parent} --help` lists the commands"
            ))
        })?;
    }
    stream::stdout().write_all(&page(command)?)?;
    Ok(ExitStatus::Complete)
}

fn find<'c>(command: &'c Command, name: &str) -> Option<&'c Command> {
    command.find_subcommand(name).filter(|command| !command.is_hide_set())
}

/// Writes the page of a command and those of its subcommands.
fn write_pages(command: &Command, dir: &Path) -> Result<(), CliError> {
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
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
