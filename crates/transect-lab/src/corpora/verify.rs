//! Counting a corpus, to see whether it is one.

use std::path::Path;

use transect::Cancel;

use super::corpus::Corpus;
use super::counts::TreeCounts;
use super::error::{CorpusError, Operation};

/// Checks that the tree in `dir` has the counts and bytes of a corpus.
///
/// Names are not compared: this tells whether a corpus is there, complete and untouched by those
/// who add, remove and append.
///
/// # Errors
/// [`CorpusError::Mismatch`] if it has not; [`CorpusError::Failed`] if it cannot be read.
pub fn verify(corpus: &Corpus, dir: &Path) -> Result<(), CorpusError> {
    match count(dir, &Cancel::new())? {
        Some(found) if found != TreeCounts::of(corpus) => {
            Err(CorpusError::mismatch(corpus, dir, found))
        }
        _ => Ok(()),
    }
}

/// Counts a tree as plainly as it can be done: what is measured on a corpus must not be what says
/// that it is right. Returns `None` if it was cancelled.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing of transect may judge what it is measured on"
)]
pub(super) fn count(root: &Path, cancel: &Cancel) -> Result<Option<TreeCounts>, CorpusError> {
    let mut found = TreeCounts::default();
    let mut due = vec![root.to_owned()];
    while let Some(dir) = due.pop() {
        let failed = |source| CorpusError::failed(Operation::ReadDirectory, &dir)(source);
        for entry in std::fs::read_dir(&dir).map_err(failed)? {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            let entry = entry.map_err(failed)?;
            let failed = |source| CorpusError::failed(Operation::Stat, &entry.path())(source);
            let file_type = entry.file_type().map_err(failed)?;
            if file_type.is_dir() {
                found.directories += 1;
                due.push(entry.path());
            } else if file_type.is_file() {
                found.files += 1;
                found.bytes += entry.metadata().map_err(failed)?.len();
            } else {
                found.others += 1;
            }
        }
    }
    Ok(Some(found))
}
