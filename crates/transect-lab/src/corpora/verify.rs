//! Verifies a corpus by counting its entries.

use std::path::Path;

use transect::Cancel;

use super::corpus::Corpus;
use super::counts::TreeCounts;
use super::error::{CorpusError, Operation};

/// Checks that the tree in `dir` has the entry counts and bytes of a corpus.
///
/// Names are not compared. The check finds incomplete corpora and added, removed or extended files.
///
/// # Errors
/// [`CorpusError::Mismatch`] if the counts differ; [`CorpusError::Failed`] if the tree cannot be read.
pub fn verify(corpus: &Corpus, dir: &Path) -> Result<(), CorpusError> {
    match count(dir, &Cancel::new())? {
        Some(found) if found != TreeCounts::of(corpus) => {
            Err(CorpusError::mismatch(corpus, dir, found))
        }
        _ => Ok(()),
    }
}

/// Counts a tree with a plain recursion that shares no code with the engine: measured code must not
/// verify its own corpus. Returns `None` if cancelled.
#[expect(
    clippy::disallowed_methods,
    reason = "the engine must not verify the trees it is measured on"
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
