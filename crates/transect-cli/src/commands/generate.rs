//! Completions and manual pages, both made from the definition of the command line.

use std::io::Write;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use transect_sys::check_output_path;
use transect_transform::steps::{STEPS, StepInfo};

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{CliError, ExitStatus};
use crate::output::{file, stream};

/// Writes a completion script.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitStatus, CliError> {
    let mut command = Cli::command();
    command.build();
    // For the parser, steps and paths are the same words. They live as long as the command, which takes
    // only static ones: until the program ends.
    let steps: Vec<&'static str> =
        STEPS.iter().flat_map(words_of).map(|word| &*word.leak()).collect();
    let parser = PossibleValuesParser::new(steps.iter().copied());
    let mut command = command.mut_subcommand("transform", |transform| {
        transform.mut_arg("words", |words| words.value_parser(parser))
    });
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "transect", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match args.shell {
        Shell::Bash => script = complete_lists_in_bash(&script),
        Shell::Zsh => {
            script = complete_commands_in_zsh(&complete_lists_in_zsh(&script));
            script = complete_steps_in_zsh(&script, &steps);
        }
        Shell::Fish => script = complete_lists_in_fish(&script) + &steps_in_fish(&steps),
        _ => {}
    }
    stream::stdout().write_all(script.as_bytes())?;
    Ok(ExitStatus::Complete)
}

/// Returns the words that complete a step: with each value of its parameter, where these are few.
fn words_of(step: &StepInfo) -> Vec<String> {
    let (name, parameter) = (step.name, step.parameter);
    let is_value = |value: &str| {
        value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    match parameter.strip_prefix('=') {
        Some(values) if values.split('|').all(is_value) => {
            values.split('|').map(|value| format!("{name}={value}")).collect()
        }
        Some(_) => vec![format!("{name}=")],
        None => vec![name.to_owned()],
    }
}

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

/// Makes a script for zsh accept a command or a path as the first word. The generator expects the path
/// first, then the command, and completes nothing after the command.
fn complete_commands_in_zsh(script: &str) -> String {
    let mut root = true;
    let lines = script.lines().filter_map(|line| {
        let line = match line {
            line if !root => line.to_owned(),
            line if line.starts_with("'::paths ") => return None,
            "\":: :_transect_commands\" \\" => {
                "'::command or path:{_transect_commands; _files}' \\".to_owned()
            }
            line => {
                let line = line.replace("$line[2]", "$line[1]");
                root = !line.contains("case $line[1] in");
                line
            }
        };
        Some(line + "\n")
    });
    lines.collect()
}

/// Adds the steps of `transform` to a script for zsh. The generator completes only the paths after `--`.
fn complete_steps_in_zsh(script: &str, steps: &[&str]) -> String {
    // No other command has this option.
    let of_transform = script.split_once("'--steps[").and_then(|(before, rest)| {
        let (options, rest) = rest.split_once("'*::paths ")?;
        let (_, after) = rest.split_once('\n')?;
        Some((before, options, after))
    });
    let Some((before, options, after)) = of_transform else { return script.to_owned() };
    let steps = format!("steps:step:({})", steps.join(" "));
    let words = format!("'*:step or file:{{_alternative \"{steps}\" \"files:file:_files\"}}' \\");
    format!("{before}'--steps[{options}{words}\n{after}")
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

/// Returns lines of a script for fish that complete the steps of `transform`: the generator completes no
/// positional arguments.
fn steps_in_fish(steps: &[&str]) -> String {
    let condition = "__fish_transect_using_subcommand transform";
    format!("complete -c transect -n \"{condition}\" -a \"{}\"\n", steps.join(" "))
}

/// Prints the manual page of a command, or writes those of all commands to a directory.
pub(crate) fn man(args: &ManArgs) -> Result<ExitStatus, CliError> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    if let Some(dir) = &args.output {
        check_output_path(dir).and_then(|()| std::fs::create_dir_all(dir)).map_err(|error| {
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
