//! Names with `*`.

use std::ffi::{OsStr, OsString};

/// A name in which each `*` stands for any text.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The texts between the stars.
    parts: Vec<OsString>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self { parts: text.split('*').map(OsString::from).collect() }
    }

    /// Returns the name, if there is no star in it.
    pub(super) fn literal(&self) -> Option<&OsStr> {
        match &self.parts[..] {
            [name] => Some(name),
            _ => None,
        }
    }

    pub(super) fn matches(&self, name: &OsStr) -> bool {
        let [first, middle @ .., last] = &self.parts[..] else { return self.parts[0] == name };
        let name = name.as_encoded_bytes();
        let Some(name) = name.strip_prefix(first.as_encoded_bytes()) else { return false };
        let Some(mut name) = name.strip_suffix(last.as_encoded_bytes()) else { return false };
        middle.iter().all(|part| match memchr::memmem::find(name, part.as_encoded_bytes()) {
            Some(at) => {
                name = &name[at + part.len()..];
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let matches = |pattern: &str, name: &str| Pattern::new(pattern).matches(OsStr::new(name));
        for (pattern, name) in [
            ("a", "a"),
            ("*", ""),
            ("*", "a"),
            ("a*", "a"),
            ("*.log.*", "x.log.1"),
            ("a*b*c", "abbc"),
            ("*.gz", ".gz"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("a", "ab"), ("a*a", "a"), ("*.log.*", "x.log"), ("a*b*c", "acb"), ("*.gz", "gz")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
