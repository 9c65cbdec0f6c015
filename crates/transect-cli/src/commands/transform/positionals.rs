//! Separates the steps on the command line from the paths.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use transect_transform::chain::Chain;
use transect_transform::steps::STEPS;

/// The step that changes nothing.
const COPY: &str = "copy";

/// Separates steps within one word, as in `'decode=auto | eol=lf'`.
const PIPE: &str = " | ";

#[derive(Debug)]
pub(super) struct Positionals {
    pub(super) chain: Chain,
    pub(super) paths: Vec<PathBuf>,
    /// The first step is `copy`.
    pub(super) copies: bool,
}

impl Positionals {
    /// Parses the words before `--`, and the paths after it (`None` if there is no `--`).
    ///
    /// Steps end at the first word that does not name one. From there on every word is a path, and
    /// so is every word after `--`. A shell expands `*` to names that may look like steps, so a
    /// further step that is also the name of a file is an error, unless `--` separates the two.
    pub(super) fn parse(words: &[OsString], after: Option<&[PathBuf]>) -> Result<Self, String> {
        let named: Vec<_> = words.iter().map_while(|word| Some((word, steps_in(word)?))).collect();
        let paths = &words[named.len()..];
        if after.is_none()
            && let Some((word, _)) = named.iter().skip(1).find(|(word, _)| exists(word))
        {
            let path = word.display();
            return Err(format!(
                "'{path}' is both a step and a file; write './{path}' for \
                 the file, or -- between the steps and the paths"
            ));
        }
        if named.is_empty() {
            // The first word is a misspelled step, unless a file of that name exists.
            return Err(match (paths, after) {
                ([first, ..], _) if !exists(first) => not_a_step(first),
                ([first, ..], _) => missing_step(first),
                ([], Some([first, ..])) => missing_step(first.as_os_str()),
                ([], _) => missing_step(OsStr::new("")),
            });
        }
        let steps: Vec<_> = named.into_iter().flat_map(|(_, steps)| steps).collect();
        let copies = steps.first() == Some(&COPY);
        let steps: Vec<_> = steps.into_iter().filter(|&step| step != COPY).collect();
        let chain = Chain::parse(&steps).map_err(|error| error.to_string())?;
        let after = after.unwrap_or_default().iter().cloned();
        Ok(Self { chain, paths: paths.iter().map(PathBuf::from).chain(after).collect(), copies })
    }
}

/// Returns the error for a first word that is a path.
fn missing_step(path: &OsStr) -> String {
    let path = path.display();
    format!("no step before '{path}'; write a step, or `copy`, before the paths")
}

/// Returns the error for a first word that was meant to name a step.
fn not_a_step(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let steps: Vec<_> = split_pipes(&text).into_iter().filter(|&step| step != COPY).collect();
    match Chain::parse(&steps) {
        Err(error) => error.to_string(),
        // Lossy conversion of a name that is not UTF-8 can yield a valid step.
        Ok(_) => missing_step(word),
    }
}

/// Returns the steps that a word names, written as in a shell (`'decode=auto | eol=lf'`); `None`
/// if it is not made of steps alone.
fn steps_in(word: &OsString) -> Option<Vec<&str>> {
    let text = word.to_str()?;
    let steps = split_pipes(text);
    if steps.iter().all(|step| is_step(step)) {
        return Some(steps);
    }
    is_step(text).then(|| vec![text])
}

fn split_pipes(text: &str) -> Vec<&str> {
    text.split(PIPE).map(str::trim).collect()
}

fn is_step(word: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    word == COPY || STEPS.iter().any(|step| step.name == name)
}

fn exists(word: &OsStr) -> bool {
    Path::new(word).symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_with(words: &[&str], after: Option<&[&str]>) -> Result<(String, Vec<String>), String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let after: Option<Vec<PathBuf>> =
            after.map(|paths| paths.iter().map(PathBuf::from).collect());
        let parsed = Positionals::parse(&words, after.as_deref());
        let Positionals { chain, paths, .. } = parsed.map_err(|wrong| wrong.to_string())?;
        let paths = paths.iter().map(|path| path.display().to_string()).collect();
        Ok((chain.to_string(), paths))
    }

    fn parse(words: &[&str]) -> Result<(String, Vec<String>), String> {
        parse_with(words, None)
    }

    fn parsed(steps: &str, paths: &[&str]) -> Result<(String, Vec<String>), String> {
        Ok((steps.to_owned(), paths.iter().map(|path| (*path).to_owned()).collect()))
    }

    #[test]
    fn words_from_first_non_step_are_paths() {
        assert_eq!(parse(&["eol=lf", "trim", "a", "trim"]), parsed("eol=lf trim", &["a", "trim"]));
        assert_eq!(parse(&["trim", "./trim", "x=y"]), parsed("trim", &["./trim", "x=y"]));
        assert_eq!(parse(&["trim"]), parsed("trim", &[]));
        assert_eq!(parse(&["copy", "a"]), parsed("", &["a"]));
        assert_eq!(parse(&["copy", "blake3", "a"]), parsed("blake3", &["a"]));
        assert_eq!(
            parse(&["decode=auto | eol=lf | blake3", "a"]),
            parsed("decode=auto eol=lf blake3", &["a"])
        );
        assert_eq!(parse(&["replace=a|b/c", "a"]), parsed("replace=a|b/c", &["a"]));
        assert_eq!(parse(&["replace=a | b/c", "a"]), parsed(r"replace=a\x20|\x20b/c", &["a"]));
    }

    #[test]
    fn paths_that_look_like_steps_stay_paths() {
        for path in ["a | b", "a | trim", "trim | a"] {
            assert_eq!(parse(&["eol=lf", path]), parsed("eol=lf", &[path]));
        }
        for path in ["trim | eol=lf", "a", "eol=crlf", "case=upper", "copy"] {
            assert_eq!(parse(&["trim", "a", path]), parsed("trim", &["a", path]), "after a path");
            let after = parse_with(&["trim"], Some(&[path, "b"]));
            assert_eq!(after, parsed("trim", &[path, "b"]), "after --");
            let after = parse_with(&["trim", "a"], Some(&[path]));
            assert_eq!(after, parsed("trim", &["a", path]), "after a path and --");
        }
    }

    #[test]
    fn words_without_step_are_an_error() {
        assert!(parse(&["elo=lf", "a"]).unwrap_err().contains("mean 'eol'?"));
        assert!(parse(&["trim | elo=lf", "a"]).unwrap_err().contains("mean 'eol'?"));
        let here = env!("CARGO_MANIFEST_DIR");
        assert!(parse(&[here, "trim"]).unwrap_err().starts_with("no step before"));
        assert!(parse_with(&[], Some(&["trim"])).unwrap_err().starts_with("no step before 'trim'"));
        assert!(parse(&["eol=lff", "a"]).unwrap_err().contains("eol=lf|crlf|report"));
    }
}
