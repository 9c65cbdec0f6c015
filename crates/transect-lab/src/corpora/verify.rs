//! Verifies a corpus by counting its entries.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use transect::Cancel;

use super::corpus::{Content, Corpus};
use super::counts::TreeCounts;
use super::error::{failed, mismatch};
use crate::harness::reference_walk::{self, EntryType, Event, Visitor};
use crate::harness::tree_digest::{PathPrefix, TreeDigest};

/// Checks that the tree in `dir` has the entry counts and bytes of a corpus.
///
/// Names are not compared. The check finds incomplete corpora and added, removed or extended files.
///
/// # Errors
/// The counts differ, or the tree cannot be read.
pub fn verify(corpus: &Corpus, dir: &Path) -> Result<(), String> {
    match count(dir, corpus, &Cancel::new())? {
        Some(found) if found != TreeCounts::of(corpus) => Err(mismatch(corpus, dir, found)),
        _ => Ok(()),
    }
}

/// Counts a tree with the reference walk, which shares no code with the engine: measured code must not
/// verify its own corpus. Returns `None` if cancelled. In the corpus `odd`, directories without permission count
/// as empty.
pub(super) fn count(
    root: &Path,
    corpus: &Corpus,
    cancel: &Cancel,
) -> Result<Option<TreeCounts>, String> {
    let has_denied = corpus.content == Content::Odd;
    let mut counting = Counting { found: TreeCounts::default(), has_denied, cancel, error: None };
    reference_walk::walk(root, TreeDigest::default().add_root(), &mut counting);
    match counting.error {
        Some(error) => Err(error),
        None if cancel.is_cancelled() => Ok(None),
        None => Ok(Some(counting.found)),
    }
}

/// A count that is being taken.
struct Counting<'c> {
    found: TreeCounts,
    has_denied: bool,
    cancel: &'c Cancel,
    error: Option<String>,
}

impl Visitor for Counting<'_> {
    fn event(
        &mut self,
        event: Event<'_>,
        path: &dyn Fn() -> PathBuf,
    ) -> ControlFlow<(), Option<PathPrefix>> {
        if self.cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        let (operation, error) = match event {
            Event::Entry { parent, file_type: EntryType::Directory, .. } => {
                self.found.directories += 1;
                return ControlFlow::Continue(Some(parent));
            }
            Event::Entry { file_type: EntryType::File, attributes: Ok(attributes), .. } => {
                self.found.files += 1;
                self.found.bytes += attributes.length;
                return ControlFlow::Continue(None);
            }
            Event::Entry { file_type: EntryType::File, attributes: Err(error), .. }
            | Event::UnknownType(error) => ("access", error),
            Event::Entry { .. } => {
                self.found.others += 1;
                return ControlFlow::Continue(None);
            }
            Event::Unreadable(error)
                if self.has_denied && error.kind() == ErrorKind::PermissionDenied =>
            {
                return ControlFlow::Continue(None);
            }
            Event::Unreadable(error) => ("read directory", error),
        };
        self.error = Some(failed(operation, &path())(error));
        ControlFlow::Break(())
    }
}
