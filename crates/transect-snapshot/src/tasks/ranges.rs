//! Large directories, shared out by ranges of their names.

use std::path::Path;

use transect::{Cancel, Dir, EntryRef, Flow, Omission, ScanOptions, Sink, Verdict, Visit, Want};
use transect_sys::name_from_bytes;

use super::{NameRange, StoredPath};

/// The maximum number of ranges that a directory is divided into at once. Those that are too large are divided again.
const MAX_RANGES: u64 = 64;

/// The maximum number of names that the ranges of a directory are chosen by.
const MAX_SAMPLE: usize = 1 << 16;

impl NameRange {
    /// Divides the range at names in it, which must be in order.
    fn divided_at(&self, names: impl Iterator<Item = Vec<u8>>) -> Vec<Self> {
        let mut ranges = vec![self.clone()];
        for name in names {
            let name = StoredPath::new(Path::new(&name_from_bytes(name)));
            let last = ranges.len() - 1;
            let to = ranges[last].to.replace(name.clone());
            ranges.push(Self { from: Some(name), to });
        }
        ranges
    }

    pub(super) fn bounds(&self) -> Bounds {
        let bytes = |name: &StoredPath| name.to_path().into_os_string().into_encoded_bytes();
        Bounds { from: self.from.as_ref().map(bytes), to: self.to.as_ref().map(bytes) }
    }
}

/// A range of names as bytes. The order is that of the names.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bounds {
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
}

impl Bounds {
    pub(super) fn contain(&self, name: &[u8]) -> bool {
        let is_above = self.from.as_deref().is_none_or(|from| name >= from);
        is_above && self.to.as_deref().is_none_or(|to| name < to)
    }

    /// Returns whether the range stands for the directory itself, too.
    pub(super) fn has_directory(&self) -> bool {
        self.from.is_none()
    }
}

/// Divides a range of the names in a directory into ranges with at most `limit` names, by a sample of them. Returns the range
/// itself if the directory changed and has no such names any more.
pub(super) fn divide(
    path: &Path,
    range: &NameRange,
    limit: u64,
    cancel: &Cancel,
) -> Vec<NameRange> {
    let sample = || NameSample { bounds: range.bounds(), names: Vec::new(), step: 1, seen: 0 };
    let plan = ScanOptions::new([path]).threads(1).cancel(cancel.clone()).plan();
    let Ok(outcome) = plan.and_then(|plan| plan.run(sample)) else { return vec![range.clone()] };
    let NameSample { mut names, seen, .. } = outcome.sink;
    names.sort_unstable();
    // A sample does not divide evenly.
    let ranges = (seen + seen / 4).div_ceil(limit.max(1)).clamp(2, MAX_RANGES);
    let ranges = ranges.min(names.len() as u64).max(1) as usize;
    range.divided_at((1..ranges).map(|number| names[number * names.len() / ranges].clone()))
}

/// Some of the names in a root, evenly chosen from its listing. Reads nothing else.
struct NameSample {
    bounds: Bounds,
    names: Vec<Vec<u8>>,
    /// One name is taken of this many.
    step: u64,
    seen: u64,
}

impl Sink for NameSample {
    fn want(&self) -> Want {
        Want::nothing()
    }

    fn judges(&self) -> bool {
        true
    }

    fn judge(&mut self, dir: &Dir, entry: EntryRef<'_>) -> Verdict {
        if dir.is_top() {
            return Verdict::Keep;
        }
        let name = entry.name.as_encoded_bytes();
        if self.bounds.contain(name) {
            if self.seen.is_multiple_of(self.step) {
                self.names.push(name.to_vec());
            }
            self.seen += 1;
            if self.names.len() == MAX_SAMPLE {
                let mut is_kept = false;
                self.names.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                self.step *= 2;
            }
        }
        Verdict::Drop
    }

    fn visit(&mut self, _: Visit<'_>) -> Flow {
        Flow::Continue
    }

    fn omit(&mut self, _: &Dir, _: Omission<'_>) -> Flow {
        Flow::Continue
    }

    fn merge(&mut self, other: Self) {
        self.names.extend(other.names);
        self.seen += other.seen;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn divided_ranges_have_every_name_once() {
        let folder = TempDir::new();
        for number in 0..1000 {
            fs::write(folder.join(format!("{:04}", number * 7919 % 10_000)), "").unwrap();
        }
        let whole = NameRange::default();
        let ranges = divide(folder.path(), &whole, 100, &Cancel::new());
        assert_eq!(ranges.len(), 13);
        let bounds: Vec<Bounds> = ranges.iter().map(NameRange::bounds).collect();
        let mut counts = vec![0; bounds.len()];
        for number in 0..1000 {
            let name = format!("{:04}", number * 7919 % 10_000);
            let mut having = (0..bounds.len()).filter(|&at| bounds[at].contain(name.as_bytes()));
            counts[having.next().unwrap()] += 1;
            assert_eq!(having.next(), None, "{name}");
        }
        assert!(counts.iter().all(|count| (50..=100).contains(count)), "{counts:?}");
        assert!(bounds[0].has_directory() && bounds[1..].iter().all(|it| !it.has_directory()));

        // A range is divided within its bounds.
        let parts = divide(folder.path(), &ranges[3], 30, &Cancel::new());
        assert!(parts.len() > 2);
        assert_eq!((&parts[0].from, &parts[parts.len() - 1].to), (&ranges[3].from, &ranges[3].to));
    }

    #[test]
    fn range_of_directory_without_such_names_stays_whole() {
        let folder = TempDir::new();
        let range = NameRange { from: Some(StoredPath::new(Path::new("m"))), to: None };
        fs::write(folder.join("a"), "").unwrap();
        for path in [folder.path(), &folder.join("missing")] {
            assert_eq!(divide(path, &range, 1, &Cancel::new()), std::slice::from_ref(&range));
        }
    }
}
