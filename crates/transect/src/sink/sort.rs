//! Sorts the entries of a list: all are kept until the walk ends, or as many as the limit allows.

use std::cmp::Ordering;

use transect_sys::{Attributes, FieldMask};

transect_sys::words! {
    /// The key that sorts a list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum SortKey {
        /// The bytes of the path.
        Path = "path",
        /// The bytes of the name.
        Name = "name",
        /// The path, with each number in it by its value: `a2` before `a10`.
        Natural = "natural",
        /// Apparent size, largest first.
        Size = "size",
        /// Allocated size, largest first.
        Allocated = "allocated",
        /// Last change of the content, newest first.
        Mtime = "mtime",
        /// Last change of the attributes, newest first.
        Ctime = "ctime",
        /// Last access, newest first.
        Atime = "atime",
        /// Creation, newest first.
        Btime = "btime",
        /// Link count, largest first.
        Nlink = "nlink",
        /// Inode number, smallest first.
        Inode = "inode",
    }
}

impl SortKey {
    /// Returns the attribute that the key needs.
    pub fn field(self) -> FieldMask {
        self.field_and_value().0
    }

    /// Returns a number that sorts smallest first; `None` for a key of text, or if the attribute is unknown.
    fn sort_value(self, of: &Attributes) -> Option<i128> {
        self.field_and_value().1(of)
    }

    /// Orders two entries whose values of [`SortKey::sort_value`] are equal by the bytes of their paths, whose names
    /// begin at these offsets.
    fn compare_paths(self, a: (&[u8], usize), b: (&[u8], usize)) -> Ordering {
        let by_key = match self {
            Self::Name => a.0[a.1..].cmp(&b.0[b.1..]),
            Self::Natural => compare_naturally(a.0, b.0),
            _ => Ordering::Equal,
        };
        by_key.then_with(|| a.0.cmp(b.0))
    }

    fn field_and_value(self) -> (FieldMask, fn(&Attributes) -> Option<i128>) {
        match self {
            Self::Path | Self::Name | Self::Natural => (FieldMask::empty(), |_| None),
            Self::Size => (FieldMask::SIZE, |of| Some(-i128::from(of.size()?))),
            Self::Allocated => (FieldMask::ALLOCATED, |of| Some(-i128::from(of.allocated()?))),
            Self::Mtime => (FieldMask::MTIME, |of| Some(-i128::from(of.mtime()?))),
            Self::Ctime => (FieldMask::CTIME, |of| Some(-i128::from(of.ctime()?))),
            Self::Atime => (FieldMask::ATIME, |of| Some(-i128::from(of.atime()?))),
            Self::Btime => (FieldMask::BTIME, |of| Some(-i128::from(of.btime()?))),
            Self::Nlink => (FieldMask::NLINK, |of| Some(-i128::from(of.nlink()?))),
            Self::Inode => (FieldMask::INODE, |of| of.inode().map(i128::from)),
        }
    }
}

/// The order of a list, and the maximum number of its entries.
#[derive(Clone, Copy, Debug)]
pub struct SortSpec {
    /// The key.
    pub key: SortKey,
    /// Reverse the order.
    pub reverse: bool,
    /// Keep the first entries only.
    pub limit: Option<usize>,
}

/// An entry to be sorted, and what the list shows of it.
#[derive(Debug)]
struct SortEntry<T> {
    sort_value: Option<i128>,
    path: Vec<u8>,
    /// The offset of the name in the path.
    name: usize,
    shown: T,
}

/// The entries that one thread found, or the first of them.
///
/// Without a limit all are kept: their paths, what the list shows, and some bytes each. With a limit,
/// at most twice as many plus `TRIM_SLACK`.
#[derive(Debug)]
pub struct SortBuffer<T> {
    spec: SortSpec,
    entries: Vec<SortEntry<T>>,
}

impl<T> SortBuffer<T> {
    /// Entries kept beyond twice the limit before they are trimmed: rare enough to cost next to
    /// nothing per entry.
    const TRIM_SLACK: usize = 1024;

    /// Returns a buffer without entries.
    pub fn new(spec: SortSpec) -> Self {
        Self { spec, entries: Vec::new() }
    }

    /// Adds an entry by its path, in which its name begins at the offset `name`.
    pub fn push(&mut self, attributes: &Attributes, path: Vec<u8>, name: usize, shown: T) {
        let sort_value = self.spec.key.sort_value(attributes);
        self.entries.push(SortEntry { sort_value, path, name, shown });
        let limit = self.spec.limit.unwrap_or(usize::MAX);
        if self.entries.len() >= limit.saturating_mul(2).saturating_add(Self::TRIM_SLACK) {
            self.trim();
        }
    }

    pub(super) fn merge(&mut self, mut other: Self) {
        self.entries.append(&mut other.entries);
        self.trim();
    }

    /// Drops the entries beyond the limit.
    fn trim(&mut self) {
        let Self { spec, entries, .. } = self;
        if let Some(limit) = spec.limit.filter(|&limit| limit < entries.len()) {
            entries.select_nth_unstable_by(limit, |a, b| spec.compare(a, b));
            entries.truncate(limit);
        }
    }

    /// Returns the paths in order, with what the list shows.
    pub fn into_sorted(mut self) -> impl Iterator<Item = (Vec<u8>, T)> {
        self.trim();
        let Self { spec, mut entries, .. } = self;
        entries.sort_unstable_by(|a, b| spec.compare(a, b));
        entries.into_iter().map(|entry| (entry.path, entry.shown))
    }
}

impl SortSpec {
    /// Orders two entries. Unknown values come last, in either direction. Equal entries are ordered
    /// by path, so that a list does not depend on the schedule.
    fn compare<T>(&self, a: &SortEntry<T>, b: &SortEntry<T>) -> Ordering {
        let known = b.sort_value.is_some().cmp(&a.sort_value.is_some());
        known.then_with(|| {
            let paths = || self.key.compare_paths((&a.path, a.name), (&b.path, b.name));
            let order = a.sort_value.cmp(&b.sort_value).then_with(paths);
            if self.reverse { order.reverse() } else { order }
        })
    }
}

/// Orders texts by their bytes, but numbers in them, which may be of any length, by value.
fn compare_naturally(a: &[u8], b: &[u8]) -> Ordering {
    let (mut a, mut b) = (a, b);
    while let (Some(first), Some(second)) = (a.first(), b.first()) {
        let order = match first.is_ascii_digit() && second.is_ascii_digit() {
            true => {
                let (one, other) = (take_number(&mut a), take_number(&mut b));
                one.len().cmp(&other.len()).then_with(|| one.cmp(other))
            }
            false => {
                (a, b) = (&a[1..], &b[1..]);
                first.cmp(second)
            }
        };
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// Removes the digits at the start of a text, and returns them without leading zeros.
fn take_number<'t>(text: &mut &'t [u8]) -> &'t [u8] {
    let whole = *text;
    let end = whole.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(whole.len());
    *text = &whole[end..];
    let zeros = whole[..end].iter().take_while(|&&byte| byte == b'0').count();
    &whole[zeros..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_sys::FileType;

    fn sorted(key: SortKey, reverse: bool, limit: Option<usize>, sizes: &[u64]) -> Vec<String> {
        let spec = SortSpec { key, reverse, limit };
        let (mut one, mut two) = (SortBuffer::new(spec), SortBuffer::new(spec));
        for (index, &size) in sizes.iter().enumerate() {
            let mut attributes = Attributes::of_type(FileType::File);
            if size != 0 {
                attributes.set_size(size);
            }
            let path = format!("{}/{index:05}", if index % 2 == 0 { "z" } else { "a" });
            let half = if index % 3 == 0 { &mut one } else { &mut two };
            half.push(&attributes, path.into_bytes(), 2, ());
        }
        one.merge(two);
        one.into_sorted().map(|(path, ())| String::from_utf8(path).unwrap()).collect()
    }

    #[test]
    fn sort_by_size_unknown_last_in_both_directions() {
        let sizes = [5, 0, 7, 5];
        let forth = sorted(SortKey::Size, false, None, &sizes);
        assert_eq!(forth, ["z/00002", "a/00003", "z/00000", "a/00001"]);
        let back = sorted(SortKey::Size, true, None, &sizes);
        assert_eq!(back, ["z/00000", "a/00003", "z/00002", "a/00001"]);
    }

    #[test]
    fn sort_by_name_ignores_directory() {
        assert_eq!(
            sorted(SortKey::Name, false, None, &[1, 1, 1]),
            ["z/00000", "a/00001", "z/00002"]
        );
        assert_eq!(
            sorted(SortKey::Path, false, None, &[1, 1, 1]),
            ["a/00001", "z/00000", "z/00002"]
        );
    }

    #[test]
    fn natural_order_compares_numbers_by_value() {
        let in_order: [&[u8]; 11] = [
            b"",
            b"a",
            b"a/10",
            b"a1b2",
            b"a1b10",
            b"a2",
            b"a10",
            b"a010/z",
            b"a18446744073709551617",
            b"b007",
            b"\xff",
        ];
        for (at, a) in in_order.iter().enumerate() {
            for (other, b) in in_order.iter().enumerate() {
                assert_eq!(
                    SortKey::Natural.compare_paths((a, 0), (b, 0)),
                    at.cmp(&other),
                    "{a:?} {b:?}"
                );
            }
        }
        // The same numbers, written in two ways, are still two names.
        assert_eq!(SortKey::Natural.compare_paths((b"a01", 0), (b"a1", 0)), Ordering::Less);
    }

    #[test]
    fn sort_with_limit_equals_start_of_full_list() {
        let sizes: Vec<u64> = (1..=9_000).map(|number| number * 7_919 % 9_001).collect();
        for reverse in [false, true] {
            let all = sorted(SortKey::Size, reverse, None, &sizes);
            for limit in [1, 10, 8_999, 9_000, 10_000] {
                let first = sorted(SortKey::Size, reverse, Some(limit), &sizes);
                assert_eq!(first, all[..limit.min(all.len())], "{limit}");
            }
        }
    }
}
