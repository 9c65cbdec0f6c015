//! Matching of names.

use std::ffi::OsStr;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use transect_text::quote;

const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// A text to find in names, or a glob for whole names; both ignore case.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// In lower case.
    Text(String),
    Glob(GlobMatcher),
}

impl Pattern {
    /// Returns the glob if the text is one, otherwise the text: `[` alone is found in names.
    pub(crate) fn new(text: &str) -> Self {
        let is_glob = text.contains(WILDCARDS);
        let glob = || GlobBuilder::new(text).case_insensitive(true).backslash_escape(true).build();
        match is_glob.then(glob) {
            Some(Ok(glob)) => Self::Glob(glob.compile_matcher()),
            _ => Self::Text(text.to_lowercase()),
        }
    }

    /// Returns whether a name matches the glob, or, as displayed, contains the text.
    pub(crate) fn matches(&self, name: &OsStr) -> bool {
        let lower = match self {
            Self::Glob(glob) => return glob.is_match(Path::new(name)),
            Self::Text(lower) => lower,
        };
        let bytes = name.as_encoded_bytes();
        // Nearly all names are displayed unchanged, and there may be millions: they are compared
        // without a copy.
        if bytes.iter().all(|byte| (b' '..=b'~').contains(byte)) {
            let wanted = lower.as_bytes();
            let is_it = |part: &[u8]| part.eq_ignore_ascii_case(wanted);
            return wanted.is_empty() || bytes.windows(wanted.len()).any(is_it);
        }
        quote::for_terminal(name).to_lowercase().contains(lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_ignores_case_and_matches_displayed_names() {
        for (text, name, holds) in [
            ("", "", true),
            ("", "anything", true),
            ("READ", "readme", true),
            ("me", "README", true),
            ("readme!", "readme", false),
            ("É", "été", true),
            ("\\n", "new\nline", true),
            ("x", "", false),
        ] {
            assert_eq!(Pattern::new(text).matches(name.as_ref()), holds, "{text:?} in {name:?}");
        }
    }

    #[test]
    fn pattern_with_wildcards_is_glob_for_whole_name() {
        for (text, name, holds) in [
            ("*.iso", "debian.ISO", true),
            ("*.iso", "debian.iso.part", false),
            ("*.iso*", "debian.iso.part", true),
            ("page?.html", "page1.html", true),
            ("page?.html", "page10.html", false),
            ("[ab]*", "beta", true),
            ("[ab]*", "gamma", false),
            ("*.{mkv,mp4}", "film.mp4", true),
            ("*", ".hidden", true),
            // Not a glob: found in names.
            ("a[", "A[1", true),
            ("a[", "a", false),
        ] {
            assert_eq!(Pattern::new(text).matches(name.as_ref()), holds, "{text:?} in {name:?}");
        }
    }
}
