//! The examples in the help of a command line.

use clap::Command;

/// Splits a shell line at unquoted `|`, `&`, `;`, `<` and `>` into commands, and these into words.
fn shell_commands(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut word, mut quote) = (vec![Vec::new()], None::<String>, None);
    for c in line.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '|' | '&' | ';' | '<' | '>') => {
                commands.last_mut().expect("there is always one").extend(word.take());
                if c != ' ' {
                    commands.push(Vec::new());
                }
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    commands
}

/// Returns the example lines of a command's `--help`.
fn examples(command: &Command) -> Vec<String> {
    let notes = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let examples = notes.lines().skip_while(|line| *line != "Examples:").skip(1);
    let examples = examples.take_while(|line| !line.is_empty());
    examples.filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// Asserts that the examples of a command and of its subcommands are parsed: at least three of each command that
/// does something. `parse` is the program's parser.
pub fn assert_examples_parse(
    command: &Command,
    parse: &dyn Fn(&[String]) -> Result<(), clap::Error>,
) {
    let name = command.get_bin_name().unwrap_or("transect").to_owned();
    let examples = examples(command);
    // A command without help of its own stands for another program.
    let is_main = command.get_name() == "transect";
    let is_group = command.has_subcommands() && !is_main || command.is_disable_help_flag_set();
    assert!(is_group || examples.len() >= 3, "{name}: {} examples", examples.len());
    for line in examples {
        assert!(line.len() <= 76, "{name}: an 80-column terminal wraps: {line}");
        let commands = shell_commands(&line);
        let of_transect: Vec<_> = commands
            .iter()
            .filter(|words| words.first().is_some_and(|it| it == "transect"))
            .collect();
        assert!(!of_transect.is_empty(), "{name}: {line}");
        for words in of_transect {
            if let Err(error) = parse(words) {
                panic!("{name}: {line}\n{error}");
            }
        }
    }
    for command in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        assert_examples_parse(command, parse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_line_split_like_shell() {
        let words = shell_commands("find . -print0 | transect list --glob '*.rs a' >out");
        assert_eq!(words.len(), 3);
        assert_eq!(words[1], ["transect", "list", "--glob", "*.rs a"]);
    }
}
