//! Messages of errors of creating and verifying a corpus. Callers only print them.

use std::io;
use std::path::Path;

use super::corpus::Corpus;
use super::counts::TreeCounts;

/// Returns a function that adds an operation, such as `create file`, and its path to an error of the system.
pub(super) fn failed(operation: &str, path: &Path) -> impl FnOnce(io::Error) -> String {
    move |error| format!("cannot {operation} '{}': {}", path.display(), transect::reason(&error))
}

pub(super) fn unusable(path: &Path, problem: &str) -> String {
    format!("cannot create a corpus in '{}': {problem}", path.display())
}

pub(super) fn mismatch(corpus: &Corpus, path: &Path, found: TreeCounts) -> String {
    let (path, name, expected) = (path.display(), &corpus.name, TreeCounts::of(corpus));
    format!("'{path}' is not corpus '{name}': {found}, expected {expected}")
}
