//! Steps, and the paths they are done to: which word is which.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use transect_transform::chain::{Chain, ParseError};
use transect_transform::steps::STEPS;

/// The word for no step at all.
const COPY: &str = "copy";

/// What the words of a command line stand for.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) chain: Chain,
    pub(super) paths: Vec<PathBuf>,
}

/// Why words stand for nothing.
#[derive(Debug)]
pub(super) enum Wrong {
    Chain(ParseError),
    /// The first word is a path.
    NoStep(PathBuf),
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Chain(error) => error.fmt(f),
            Self::NoStep(path) => {
                let path = path.display();
                write!(f, "what is to be done comes before '{path}': a step, or `copy`")
            }
        }
    }
}

impl Words {
    /// Tells steps from paths: the first word that is the name of no step is the first path.
    pub(super) fn parse(words: &[OsString]) -> Result<Self, Wrong> {
        let words: Vec<&OsStr> = words.iter().flat_map(split).collect();
        let first_path = words.iter().position(|word| !is_step(word)).unwrap_or(words.len());
        let (steps, paths) = words.split_at(first_path);
        if let ([], [first, ..]) = (steps, paths)
            && Path::new(first).symlink_metadata().is_ok()
        {
            return Err(Wrong::NoStep(first.into()));
        }
        // The first word was meant as a step, whatever it is.
        let steps = if steps.is_empty() { &words[..1] } else { steps };
        let steps: Vec<_> = steps.iter().map(|word| word.to_string_lossy()).collect();
        let is_copy = |word: &&_| **word != COPY;
        let steps: Vec<_> = steps.iter().filter(is_copy).collect();
        let chain = Chain::parse(&steps).map_err(Wrong::Chain)?;
        Ok(Self { chain, paths: paths.iter().map(PathBuf::from).collect() })
    }
}

/// Returns the words in a word: steps may be written as in a shell, `'decode=auto | eol=lf'`.
fn split(word: &OsString) -> Vec<&OsStr> {
    match word.to_str() {
        Some(text) if text.contains(" | ") => {
            text.split(" | ").map(str::trim).map(OsStr::new).collect()
        }
        _ => vec![word],
    }
}

/// Returns whether a word begins with the name of a step.
fn is_step(word: &OsStr) -> bool {
    let Some(word) = word.to_str() else {
        return false;
    };
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    word == COPY || STEPS.iter().any(|step| step.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<(String, Vec<String>), String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let Words { chain, paths } = Words::parse(&words).map_err(|wrong| wrong.to_string())?;
        let paths = paths.iter().map(|path| path.display().to_string()).collect();
        Ok((chain.to_string(), paths))
    }

    fn parsed(steps: &str, paths: &[&str]) -> Result<(String, Vec<String>), String> {
        Ok((steps.to_owned(), paths.iter().map(|path| (*path).to_owned()).collect()))
    }

    #[test]
    fn the_first_word_that_is_no_step_is_the_first_path() {
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
    }

    #[test]
    fn without_a_step_it_is_told_what_is_missing() {
        assert!(parse(&["elo=lf", "a"]).unwrap_err().contains("'eol' is"));
        let here = env!("CARGO_MANIFEST_DIR");
        assert!(parse(&[here, "trim"]).unwrap_err().starts_with("what is to be done comes before"));
        assert!(parse(&["eol=lff", "a"]).unwrap_err().contains("eol=lf|crlf|report"));
    }
}
