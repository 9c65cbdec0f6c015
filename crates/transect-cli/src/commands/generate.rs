//! `transect completions`.

use std::io::Write;

use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use transect_program::generate::{CompletionsArgs, completion_script};
use transect_transform::steps::{STEPS, StepInfo};

use crate::args::Cli;
use crate::output::stream;
use crate::parts;
use transect_program::{CliError, ExitStatus};

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
    let mut script = completion_script(args.shell, &mut command, "transect");
    match args.shell {
        Shell::Zsh => script = complete_steps_in_zsh(&complete_commands_in_zsh(&script), &steps),
        // The generator completes no positional arguments.
        Shell::Fish => {
            let condition = "__fish_transect_using_subcommand transform";
            let steps = steps.join(" ");
            script += &format!("complete -c transect -n \"{condition}\" -a \"{steps}\"\n");
        }
        _ => {}
    }
    script = parts::complete(args.shell, script);
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
