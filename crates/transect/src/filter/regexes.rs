//! Regular expressions.

use regex::bytes::{RegexSet, RegexSetBuilder};

use crate::error::Error;

/// Compiled regular expressions, of which one must match.
#[derive(Debug)]
pub(super) struct Regexes(RegexSet);

impl Regexes {
    pub(super) fn compile(regexes: &[String], ignore_case: bool) -> Result<Self, Error> {
        // Each on its own first, so that an error names the one that is wrong.
        for regex in regexes {
            RegexSetBuilder::new([regex])
                .build()
                .map_err(|error| Error::invalid_pattern(regex, &error))?;
        }
        RegexSetBuilder::new(regexes)
            .case_insensitive(ignore_case)
            .build()
            .map(Self)
            .map_err(|error| Error::invalid_pattern(&regexes.join(" "), &error))
    }

    /// Returns whether a name matches one of them, or there are none.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        self.0.is_empty() || self.0.is_match(name)
    }
}
