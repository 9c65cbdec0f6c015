//! Every entry of two trees with its path, also where nothing differs. A diff skips what looks the same; this is for callers
//! that know more about changes than a diff compares.

use std::cmp::Ordering;

use transect::{Attributes, FieldMask};

use crate::read::ReadError;
use crate::tree::Tree;

/// An entry of either tree, or of both.
#[derive(Debug)]
#[non_exhaustive]
pub struct EntryPair<'p> {
    /// The path below the root, with slashes between names; empty for the root.
    pub path: &'p [u8],
    /// The entry in the first tree.
    pub before: Option<Attributes>,
    /// The entry in the second tree.
    pub after: Option<Attributes>,
    /// Whether the second tree has entries below it.
    pub has_entries: bool,
    /// Whether the second tree lacks entries below it, for whatever reason: what it does not have there may exist.
    pub is_unread: bool,
}

/// The directories on the way to the current entries.
#[derive(Default)]
struct Way {
    path: Vec<u8>,
    /// For each of them, the length of its path, and whether something in it may be missing in the second tree.
    levels: Vec<(usize, bool)>,
}

impl Way {
    /// Goes to an entry, and returns whether something is missing in its directory.
    fn enter(&mut self, level: usize, name: &[u8]) -> bool {
        self.levels.truncate(level);
        let (end, is_unread) = self.levels.last().copied().unwrap_or_default();
        self.path.truncate(end);
        if level > 0 {
            if end > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(name);
        }
        is_unread
    }
}

/// Calls `each` for every entry of two trees of one root each, in tree order. What the second tree does not have is left out if
/// its directory was not read completely.
///
/// # Errors
/// A snapshot cannot be read, or is damaged; or a tree has several roots.
pub fn entry_pairs<'t>(
    a: impl Into<Tree<'t>>,
    b: impl Into<Tree<'t>>,
    mut each: impl FnMut(&EntryPair<'_>),
) -> Result<(), ReadError> {
    let (a, b) = (a.into(), b.into());
    if !a.has_one_root()? || !b.has_one_root()? {
        return Err(ReadError::Unsuitable("it has several roots".to_owned()));
    }
    let (mut a, mut b) = (a.rows(), b.rows());
    let mut way = Way::default();
    let (mut has_a, mut has_b) = (a.advance(true)?, b.advance(true)?);
    while has_a || has_b {
        let order = match (has_a, has_b) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // Deeper entries come first: the other tree has no more in their directory.
            _ => b.depth().cmp(&a.depth()).then_with(|| match a.depth() {
                0 => Ordering::Equal,
                _ => a.name().cmp(b.name()),
            }),
        };
        let first = if order == Ordering::Greater { &b } else { &a };
        let is_in_unread = way.enter(first.depth() as usize, first.name());
        let is_unread = match order {
            Ordering::Less => is_in_unread,
            _ => b.unread().is_some(),
        };
        way.levels.push((way.path.len(), is_unread));
        let before = (order != Ordering::Greater).then(|| a.attributes_of(FieldMask::all()));
        let after = (order != Ordering::Less).then(|| b.attributes_of(FieldMask::all()));
        let has_entries = after.is_some() && b.totals().is_some_and(|totals| totals.entries > 1);
        if after.is_some() || !is_in_unread {
            each(&EntryPair { path: &way.path, before, after, has_entries, is_unread });
        }
        if order != Ordering::Greater {
            has_a = a.advance(true)?;
        }
        if order != Ordering::Less {
            has_b = b.advance(true)?;
        }
    }
    Ok(())
}
