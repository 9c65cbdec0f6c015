//! Verifies a corpus by counting its entries.

use std::path::Path;

use super::corpus::Corpus;
use super::counts::TreeCounts;
use crate::harness::error::cannot;
use crate::harness::inventory::Inventory;

/// Checks that the tree in `dir` has the entry counts and bytes of a corpus.
///
/// Names are not compared. The check finds incomplete corpora and added, removed or extended files.
pub fn verify(corpus: &Corpus, dir: &Path) -> Result<(), String> {
    compare(corpus, dir, count(dir)?)
}

/// Compares the counts of the tree that is or will be in `dir` with those of a corpus.
pub(super) fn compare(corpus: &Corpus, dir: &Path, found: TreeCounts) -> Result<(), String> {
    let &Corpus { ref name, files, directories, bytes, .. } = corpus;
    let (dir, expected) = (dir.display(), TreeCounts { files, directories, others: 0, bytes });
    match found == expected {
        true => Ok(()),
        false => Err(format!("'{dir}' is not corpus '{name}': {found}, expected {expected}")),
    }
}

/// Counts a tree with the reference walk, which shares no code with the engine: measured code must not
/// verify its own corpus.
pub(super) fn count(root: &Path) -> Result<TreeCounts, String> {
    let mut first = None;
    let Inventory { files, directories, symlinks, others, .. } =
        Inventory::take(root, &mut |operation, path, error| {
            first.get_or_insert_with(|| cannot(operation, path)(error));
        });
    let found = TreeCounts {
        files: files.names,
        directories: directories.names - 1,
        others: symlinks.names + others.names,
        bytes: files.bytes,
    };
    first.map_or(Ok(found), Err)
}
