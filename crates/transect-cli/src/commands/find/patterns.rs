//! The patterns of `find`: substrings, globs, regular expressions.

use std::ffi::OsStr;

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use transect::Error;
use transect_snapshot::NamePattern;

use crate::args::FindArgs;
use transect_program::CliError;

pub(super) fn parse(args: &FindArgs) -> Result<Vec<NamePattern>, CliError> {
    args.patterns.iter().map(|pattern| parse_one(args, pattern)).collect()
}

fn parse_one(args: &FindArgs, pattern: &OsStr) -> Result<NamePattern, CliError> {
    if pattern.is_empty() {
        let why = "an empty PATTERN is in every name; use --glob '*' to find all entries";
        return Err(CliError::failed(why));
    }
    if args.glob {
        return glob(text(pattern)?, args.ignore_case);
    }
    if args.regex {
        let pattern = text(pattern)?;
        let regex = regex(pattern, pattern, args.ignore_case)?;
        let words = words_of_regex(pattern, args.ignore_case);
        return Ok(NamePattern::name(words, move |name| regex.is_match(name)));
    }
    // Only a regular expression knows the case of other letters.
    if let Some(text) = pattern.to_str().filter(|_| args.ignore_case)
        && !text.is_ascii()
        && !text.contains('/')
    {
        let escaped = regex::escape(text);
        let regex = regex(text, &escaped, true)?;
        let words = words_of_regex(&escaped, true);
        return Ok(NamePattern::name(words, move |name| regex.is_match(name)));
    }
    let bytes = pattern.as_encoded_bytes();
    if cfg!(windows) {
        let slash = |&byte: &u8| if byte == b'\\' { b'/' } else { byte };
        return Ok(NamePattern::substring(&bytes.iter().map(slash).collect::<Vec<u8>>()));
    }
    Ok(NamePattern::substring(bytes))
}

/// Returns a pattern for a glob: for names, or if it has a slash for paths.
fn glob(pattern: &str, ignore_case: bool) -> Result<NamePattern, CliError> {
    let of_path = pattern.contains('/');
    let whole = match of_path && !pattern.starts_with('/') {
        true => format!("**/{pattern}"),
        false => pattern.to_owned(),
    };
    let glob = GlobBuilder::new(&whole)
        .literal_separator(true)
        .backslash_escape(!cfg!(windows))
        .case_insensitive(ignore_case)
        .build()
        .map_err(|error| Error::invalid_pattern(pattern, error.kind()))?;
    let regex = regex(pattern, glob.regex(), false)?;
    let test = move |text: &[u8]| regex.is_match(text);
    Ok(match of_path {
        true => NamePattern::path(words_of_path(pattern), test),
        false => NamePattern::name(words(pattern), test),
    })
}

/// Returns the texts that every name has which a glob matches.
fn words(glob: &str) -> Vec<Vec<u8>> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut chars = glob.chars();
    let mut braces = 0_usize;
    while let Some(c) = chars.next() {
        let literal = match c {
            '\\' if !cfg!(windows) => chars.next(),
            '*' | '?' => None,
            '[' => {
                // The first character belongs to the class even if it is `]`.
                let first = chars.next();
                if matches!(first, Some('!' | '^')) {
                    chars.next();
                }
                if chars.by_ref().any(|c| c == ']') {
                    None
                } else {
                    return Vec::new();
                }
            }
            '{' => {
                braces += 1;
                None
            }
            '}' => {
                braces = braces.saturating_sub(1);
                None
            }
            c => Some(c),
        };
        match literal.filter(|_| braces == 0) {
            Some(c) => word.push(c),
            None => words.push(std::mem::take(&mut word)),
        }
    }
    words.push(word);
    words.into_iter().filter(|word| !word.is_empty()).map(String::into_bytes).collect()
}

/// Returns the texts that the name of every path has which a glob matches. In a class or a group, a slash need
/// not be the last one of the path.
fn words_of_path(glob: &str) -> Vec<Vec<u8>> {
    match (glob.contains(['[', '{', '\\']), glob.rsplit_once('/')) {
        (false, Some((_, name))) => words(name),
        _ => Vec::new(),
    }
}

/// Returns the texts that every name has which a regular expression matches; if it ignores case, without the case of ASCII
/// letters.
fn words_of_regex(regex: &str, ignore_case: bool) -> Vec<Vec<u8>> {
    let parsed =
        ParserBuilder::new().utf8(false).case_insensitive(ignore_case).build().parse(regex);
    let mut words = vec![Vec::new()];
    if let Ok(parsed) = parsed {
        add_words(&parsed, ignore_case, &mut words);
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// Adds the texts of a part of a regular expression. The last word ends where the part begins.
fn add_words(part: &Hir, ignore_case: bool, words: &mut Vec<Vec<u8>>) {
    let mut append = |text: &[u8]| words.last_mut().expect("BUG: no word").extend_from_slice(text);
    match part.kind() {
        HirKind::Literal(literal) => append(&literal.0),
        HirKind::Class(class) if ignore_case && let Some(letter) = letter(class) => {
            append(&[letter])
        }
        // They match between two bytes.
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Capture(capture) => add_words(&capture.sub, ignore_case, words),
        HirKind::Concat(parts) => {
            parts.iter().for_each(|part| add_words(part, ignore_case, words));
        }
        HirKind::Repetition(repetition) => {
            words.push(Vec::new());
            if repetition.min > 0 {
                add_words(&repetition.sub, ignore_case, words);
                words.push(Vec::new());
            }
        }
        HirKind::Class(_) | HirKind::Alternation(_) => words.push(Vec::new()),
    }
}

/// Returns the lower case of an ASCII letter if a class has only its two cases. Those of k and s have another letter.
fn letter(class: &Class) -> Option<u8> {
    let Class::Unicode(class) = class else { return None };
    let [upper, lower] = class.ranges() else { return None };
    let is_one = upper.len() == 1 && lower.len() == 1;
    let lower = lower.start();
    let is_letter = lower.is_ascii_lowercase() && upper.start() == lower.to_ascii_uppercase();
    (is_one && is_letter).then_some(lower as u8)
}

fn regex(pattern: &str, regex: &str, ignore_case: bool) -> Result<Regex, Error> {
    let built = RegexBuilder::new(regex).case_insensitive(ignore_case).build();
    built.map_err(|error| Error::invalid_pattern(pattern, &error))
}

fn text(pattern: &OsStr) -> Result<&str, Error> {
    let invalid = || Error::invalid_pattern(&pattern.to_string_lossy(), &"it is not UTF-8");
    pattern.to_str().ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_every_name_that_matches() {
        for (glob, expected, names) in [
            ("*.iso", &[".iso"][..], &["a.iso", ".iso"][..]),
            ("a?c*d", &["a", "c", "d"], &["abcd", "a-cd"]),
            ("x[ab]y", &["x", "y"], &["xay", "xby"]),
            ("x[]a]y", &["x", "y"], &["x]y", "xay"]),
            ("x[!]a]y", &["x", "y"], &["xby"]),
            ("*.{jpg,{p,s}ng}!", &[".", "!"], &["a.jpg!", "a.sng!"]),
            ("all", &["all"], &["all"]),
            ("*", &[], &["", "any"]),
        ] {
            let words = words(glob);
            let texts: Vec<&str> =
                words.iter().map(|word| std::str::from_utf8(word).unwrap()).collect();
            assert_eq!(texts, expected, "{glob}");
            let matcher = GlobBuilder::new(glob).literal_separator(true).build().unwrap();
            let regex = Regex::new(matcher.regex()).unwrap();
            for name in names {
                assert!(regex.is_match(name.as_bytes()), "{glob} {name}");
                assert!(texts.iter().all(|word| name.contains(word)), "{glob} {name}");
            }
        }
    }

    #[test]
    fn words_of_regex_are_in_every_name_that_matches() {
        for (regex, ignore_case, expected, names) in [
            ("^make(file)?$", false, &["make"][..], &["make", "makefile"][..]),
            ("a(bc)d[0-9]+e{2,3}f*gh?i", false, &["abcd", "e", "g", "i"], &["abcd7eegi"]),
            (r"\.tar\.(gz|xz)$", false, &[".tar."], &["a.tar.gz", "b.tar.xz"]),
            ("lib.*so|other", false, &[], &["libx.so", "another"]),
            ("(ab)+c", false, &["ab", "c"], &["xababc"]),
            ("(?i)word", false, &[], &["WORD"]),
            ("x{0}y", false, &["y"], &["y"]),
            (r"[a]\bb?", false, &["a"], &["a b"]),
            ("Read-me[Xx]", true, &["read-mex"], &["README-mex READ-MEX"]),
            ("Makes", true, &["ma", "e"], &["MA\u{212a}E\u{17f}", "makes"]),
            ("\u{c4}pfel", true, &["pfel"], &["\u{e4}PFEL"]),
            (r"a(?-u:\xff)b", false, &["a\u{ff}b"], &[]),
        ] {
            let words = words_of_regex(regex, ignore_case);
            let text = |word: &Vec<u8>| word.iter().map(|&byte| char::from(byte)).collect();
            let texts: Vec<String> = words.iter().map(text).collect();
            assert_eq!(texts, expected, "{regex}");
            let matcher = RegexBuilder::new(regex).case_insensitive(ignore_case).build().unwrap();
            for name in names {
                assert!(matcher.is_match(name.as_bytes()), "{regex} {name}");
                let lower = name.to_ascii_lowercase();
                let name = if ignore_case { &lower } else { *name };
                assert!(texts.iter().all(|word| name.contains(word)), "{regex} {name}");
            }
        }
    }

    #[test]
    fn words_of_paths_are_those_behind_the_last_slash() {
        assert_eq!(words_of_path("src/*.rs"), [b".rs"]);
        assert_eq!(words_of_path("/usr/**"), Vec::<Vec<u8>>::new());
        assert_eq!(words_of_path("a/b[/]c"), Vec::<Vec<u8>>::new());
        assert_eq!(words_of_path("a/{b/c,d}"), Vec::<Vec<u8>>::new());
    }
}
