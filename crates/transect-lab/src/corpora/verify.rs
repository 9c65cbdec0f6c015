//! Verifies a corpus by counting its entries.

use std::io::ErrorKind;
use std::path::Path;

use super::corpus::{Content, Corpus};
use super::counts::TreeCounts;
use super::error::mismatch;
use crate::harness::error::cannot;
use crate::harness::inventory::Inventory;
use crate::harness::reference_walk::READ;

/// Checks that the tree in `dir` has the entry counts and bytes of a corpus.
///
/// Names are not compared. The check finds incomplete corpora and added, removed or extended files.
pub fn verify(corpus: &Corpus, dir: &Path) -> Result<(), String> {
    match count(corpus, dir)? {
        found if found == TreeCounts::of(corpus) => Ok(()),
        found => Err(mismatch(corpus, dir, found)),
    }
}

/// Counts a tree with the reference walk, which shares no code with the engine: measured code must not
/// verify its own corpus. In the corpus `odd`, directories without permission count as empty.
pub(super) fn count(corpus: &Corpus, root: &Path) -> Result<TreeCounts, String> {
    let mut first = None;
    let Inventory { files, directories, symlinks, others, .. } =
        Inventory::take(root, &mut |operation, path, error| {
            let is_denied = operation == READ && error.kind() == ErrorKind::PermissionDenied;
            if first.is_none() && !(is_denied && corpus.content == Content::Odd) {
                first = Some(cannot(operation, path)(error));
            }
        });
    let found = TreeCounts {
        files: files.names,
        directories: directories.names - 1,
        others: symlinks.names + others.names,
        bytes: files.bytes,
    };
    first.map_or(Ok(found), Err)
}
