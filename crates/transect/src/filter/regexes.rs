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
                .map_err(|error| Error::InvalidPattern(regex.clone(), reason(&error)))?;
        }
        RegexSetBuilder::new(regexes)
            .case_insensitive(ignore_case)
            .build()
            .map(Self)
            .map_err(|error| Error::InvalidPattern(regexes.join(" "), reason(&error)))
    }

    /// Returns whether a name matches one of them, or there are none.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        self.0.is_empty() || self.0.is_match(name)
    }
}

/// Returns the last line of the message, which is the reason; those above point into the expression.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().next_back().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}
