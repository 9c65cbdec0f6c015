//! Commands of the user as cells of a session: `cp {in} {out}`, `du -sb {root}`.
//!
//! They run without a shell, as its time would count. With `sh -c '…'`, the start of the shell is measured
//! separately, as for every program: by the same command without work.

use std::path::Path;
use std::process::Command;

/// Words with a meaning in a shell; without one, they would be passed to the program.
const OF_A_SHELL: &[&str] = &[">", ">>", "<", "|", "||", "&", "&&", ";", "2>"];

/// A command with a name in the session: `NAME=COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    pub name: String,
    pub words: Vec<String>,
}

impl External {
    pub fn program(&self) -> &str {
        &self.words[0]
    }

    /// Parses `NAME=COMMAND`. The command must contain all `placeholders`, such as `{in}`.
    ///
    /// # Errors
    /// The problem with the text, in one line.
    pub fn parse(text: &str, placeholders: &[&str]) -> Result<Self, String> {
        let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND")?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(format!("invalid name '{name}'; use letters, digits and -_.+"));
        }
        let words = shell_words::split(command).map_err(|_| "unclosed quote")?;
        if words.is_empty() {
            return Err("the command is empty".to_owned());
        }
        if let Some(word) = words.iter().find(|word| OF_A_SHELL.contains(&word.as_str())) {
            let instead =
                format!("to use a shell, write sh -c '...' sh {}", placeholders.join(" "));
            return Err(format!("'{word}' would be passed as an argument; {instead}"));
        }
        let has = |place: &&str| words.iter().any(|word| word.contains(*place));
        if let Some(place) = placeholders.iter().find(|place| !has(place)) {
            return Err(format!("{place} is missing"));
        }
        Ok(Self { name: name.to_owned(), words })
    }

    /// Returns the command of these words, with each `{name}` replaced by its path.
    pub(crate) fn command(words: &[String], values: &[(&str, &Path)]) -> Command {
        let mut words = words.iter().map(|word| expand(word, values));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    }

    /// Returns the name of its program, which reports show as its language.
    pub(crate) fn language(&self) -> String {
        let program = Path::new(self.program()).file_name();
        program.unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Replaces each `{name}` in a word by its path, which need not be UTF-8.
fn expand(word: &str, values: &[(&str, &Path)]) -> std::ffi::OsString {
    let mut replaced = std::ffi::OsString::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        replaced.push(before);
        let known = after.split_once('}').and_then(|(name, after)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value.as_os_str(), after))
        });
        let (value, after) = known.unwrap_or(("{".as_ref(), after));
        replaced.push(value);
        rest = after;
    }
    replaced.push(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::method::Method;

    const FILES: [&str; 2] = ["{in}", "{out}"];

    #[test]
    fn expand_replaces_known_placeholders_only() {
        let values: [(&str, &Path); 2] = [("out", Path::new("/o")), ("root", Path::new("/{out}"))];
        for (word, expected) in [
            ("{out}/walk", "/o/walk"),
            ("-I{out}:{root}", "-I/o:/{out}"),
            ("{unknown} {", "{unknown} {"),
            ("plain", "plain"),
        ] {
            assert_eq!(expand(word, &values), expected, "{word}");
        }
    }

    #[test]
    fn command_split_into_words_with_placeholders_replaced() {
        let external = External::parse("my-cp=cp --reflink=never '{in}' {out}", &FILES).unwrap();
        assert_eq!((external.name.as_str(), external.program()), ("my-cp", "cp"));
        let made = External::command(
            &external.words,
            &[("in", Path::new("/a b/{out}")), ("out", Path::new("/o"))],
        );
        let words: Vec<_> = made.get_args().collect();
        assert_eq!(words, ["--reflink=never", "/a b/{out}", "/o"]);
        let dd = External::parse("dd=dd if={in} of={out} bs=1M", &FILES).unwrap();
        let made = External::command(&dd.words, &[("in", Path::new("i")), ("out", Path::new("o"))]);
        assert_eq!(made.get_args().collect::<Vec<_>>(), ["if=i", "of=o", "bs=1M"]);
        let cell = Method::<()>::of_command(dd.clone()).cell();
        assert_eq!((cell.kind.as_str(), cell.command), ("external", Some(dd.words)));
    }

    #[test]
    fn invalid_command_has_reason() {
        for (text, why) in [
            ("cp {in} {out}", "NAME=COMMAND"),
            ("a b=cp {in} {out}", "invalid name"),
            ("a=", "command is empty"),
            ("a=cp '{in} {out}", "unclosed quote"),
            ("a=cp {in}", "{out} is missing"),
            ("a=cat {in} > {out}", "'>' would be passed as an argument"),
        ] {
            let told = External::parse(text, &FILES).unwrap_err();
            assert!(told.contains(why), "{text}: {told}");
        }
        let shell = "a=sh -c 'cat \"$1\" > \"$2\"' sh {in} {out}";
        assert!(External::parse(shell, &FILES).is_ok());
        assert!(External::parse("a=cat {in}", &["{in}"]).is_ok());
    }
}
