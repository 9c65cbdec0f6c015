//! Messages of errors of creating and verifying a corpus.

use std::path::Path;

use super::corpus::Corpus;
use super::counts::TreeCounts;

pub(super) fn unusable(path: &Path, problem: &str) -> String {
    format!("cannot create a corpus in '{}': {problem}", path.display())
}

pub(super) fn mismatch(corpus: &Corpus, path: &Path, found: TreeCounts) -> String {
    let (path, name, expected) = (path.display(), &corpus.name, TreeCounts::of(corpus));
    format!("'{path}' is not corpus '{name}': {found}, expected {expected}")
}
