//! What changed between two trees.
//!
//! ```text
//! a, b in tree order ─► merge: one list of siblings against the other
//!                         equal names ─► compared; directories of equal digests are skipped
//!                         only in a, only in b ─► removed, added
//!                      ─► moves: a removed and an added entry of the same file id
//!                         a moved directory is merged with itself, for what changed inside
//! ```
//!
//! Memory grows with what changed: the merge has one path, and skips what is below a removed or an added
//! directory.

mod change;
mod compare;
mod entry_pairs;
mod merge;
mod moves;

use crate::read::ReadError;
use crate::tree::{Tree, device_map};

pub use change::{Change, ChangeKind, Diff, DiffOptions, DiffSummary, Facts, Growth};
pub use compare::changed_fields;
pub use entry_pairs::{EntryPair, entry_pairs};

use merge::{Merger, Pair};
use moves::MoveFinder;

/// Compares two trees.
///
/// # Errors
/// A snapshot cannot be read, or is damaged.
pub fn diff<'t>(
    a: impl Into<Tree<'t>>,
    b: impl Into<Tree<'t>>,
    options: &DiffOptions,
) -> Result<Diff, ReadError> {
    let (a, b) = (a.into(), b.into());
    // Trees of one root each are compared whatever the roots are called.
    let pairs_roots = a.has_one_root()? && b.has_one_root()?;
    // Digests cover which attributes are known, so those of trees with other attributes differ.
    let mut merger = Merger::new(*options, !options.verify);
    merger.merge(a.rows(), b.rows(), Pair::Whole { pairs_roots })?;
    let devices = device_map(a.file_systems(), b.file_systems());
    MoveFinder { a, b, devices }.find(&mut merger)?;
    Ok(merger.finish())
}
