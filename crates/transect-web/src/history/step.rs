//! What changed between two snapshots of a series, as far as a page shows it.

use std::cmp::Reverse;

use transect_snapshot::{Change, ChangeKind, Diff, DiffOptions, Facts, ReadError, Snapshot, diff};

use super::point::Point;

/// What changed between two snapshots.
pub(super) struct Step<'h> {
    pub(super) before: &'h Point,
    pub(super) after: &'h Point,
    /// The numbers of changes, as text: `3 added`.
    pub(super) parts: Vec<String>,
    /// What grew or shrank most.
    pub(super) growth: Vec<Grown>,
}

/// A directory that grew or shrank, or an entry that is new or gone.
pub(super) struct Grown {
    pub(super) path: Vec<u8>,
    /// Allocated bytes; `None` where it does not exist.
    pub(super) before: Option<u64>,
    pub(super) after: Option<u64>,
}

impl Grown {
    /// Returns by how many bytes it grew.
    pub(super) fn difference(&self) -> i128 {
        i128::from(self.after.unwrap_or(0)) - i128::from(self.before.unwrap_or(0))
    }

    fn of_change(change: &Change) -> Option<Self> {
        let is_one_sided = matches!(change.kind, ChangeKind::Added | ChangeKind::Removed);
        is_one_sided.then(|| Self {
            path: change.path.clone(),
            before: change.before.as_ref().map(Facts::allocated),
            after: change.after.as_ref().map(Facts::allocated),
        })
    }
}

/// Returns what grew or shrank most: directories of both snapshots, and entries of one.
fn largest(found: &Diff, most: usize) -> Vec<Grown> {
    let grown = found.growth.iter().map(|it| Grown {
        path: it.path.clone(),
        before: Some(it.before),
        after: Some(it.after),
    });
    let mut all: Vec<Grown> =
        grown.chain(found.changes.iter().filter_map(Grown::of_change)).collect();
    all.retain(|it| it.difference() != 0);
    all.sort_by_key(|it| Reverse(it.difference().unsigned_abs()));
    all.truncate(most);
    all
}

impl<'h> Step<'h> {
    /// Compares two snapshots; of what grew or shrank, `most` are returned. `summary` writes the numbers of changes.
    ///
    /// # Errors
    /// Says which snapshot cannot be read, or was removed meanwhile.
    pub(super) fn between(
        before: &'h Point,
        after: &'h Point,
        most: usize,
        summary: fn(&Diff) -> Vec<String>,
    ) -> Result<Self, String> {
        let open =
            |point: &Point| Snapshot::open(&point.path).map_err(|error| reason(point, &error));
        let (a, b) = (open(before)?, open(after)?);
        let mut options = DiffOptions::default();
        options.max_growth = most;
        let found = diff(&a, &b, &options).map_err(|error| reason(after, &error))?;
        let named = |part: &str| {
            part.replace("in A", "in the earlier one").replace("in B", "in the later one")
        };
        let parts = summary(&found).iter().map(|part| named(part)).collect();
        Ok(Self { before, after, parts, growth: largest(&found, most) })
    }
}

fn reason(point: &Point, error: &ReadError) -> String {
    format!("cannot use '{}': {error}", point.path.display())
}
