//! Matching of names.

use std::ffi::OsStr;

use transect_text::quote;

/// A text to find in names, ignoring case.
#[derive(Debug)]
pub(crate) struct Pattern {
    lower: String,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self { lower: text.to_lowercase() }
    }

    /// Returns whether a name, as displayed, contains the text.
    pub(crate) fn matches(&self, name: &OsStr) -> bool {
        let bytes = name.as_encoded_bytes();
        // Nearly all names are displayed unchanged, and there may be millions: they are compared
        // without a copy.
        if bytes.iter().all(|byte| (b' '..=b'~').contains(byte)) {
            return self.matches_ascii(bytes);
        }
        quote::for_terminal(name).to_lowercase().contains(&self.lower)
    }

    fn matches_ascii(&self, name: &[u8]) -> bool {
        let wanted = self.lower.as_bytes();
        wanted.is_empty()
            || name.windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted))
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
}
