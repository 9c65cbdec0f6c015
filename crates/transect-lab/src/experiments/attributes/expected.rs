//! The expected answers, queried one by one with the standard library. They share no code with any method.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::questions::Questions;
use crate::harness::work::Work;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    /// `files` counts existing files, `errors` missing ones.
    pub(super) work: Work,
    /// The sum of the last write times, in nanoseconds, modulo 2^64.
    pub(super) changed: u64,
    /// Number of directories probed, for all names.
    pub(super) probes: u64,
}

impl Expected {
    #[expect(clippy::disallowed_methods, reason = "an oracle has to be independent of the engine")]
    fn add(&mut self, path: &Path) {
        let Ok(found) = std::fs::metadata(path) else {
            self.work.errors += 1;
            return;
        };
        self.work.files += 1;
        self.work.bytes += found.len();
        let changed = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        // Truncated on purpose: the sum is modulo 2^64.
        let changed = changed.map_or(0, |changed| changed.as_nanos() as u64);
        self.changed = self.changed.wrapping_add(changed);
    }
}

pub(super) fn expect(questions: &Questions) -> Expected {
    let mut expected = Expected::default();
    if questions.dirs.is_empty() {
        questions.paths.iter().for_each(|path| expected.add(path));
        return expected;
    }
    let listed: Vec<BTreeSet<OsString>> = questions.dirs.iter().map(names_in).collect();
    for name in &questions.paths {
        let found = listed.iter().position(|names| names.contains(name.as_os_str()));
        expected.probes += found.map_or(listed.len(), |at| at + 1) as u64;
        match found {
            Some(at) => expected.add(&questions.dirs[at].join(name)),
            None => expected.work.errors += 1,
        }
    }
    expected
}

#[expect(clippy::disallowed_methods, reason = "an oracle has to be independent of the engine")]
fn names_in(dir: &PathBuf) -> BTreeSet<OsString> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}
