//! Which directory a name leads to, and which name leads to a directory.

use std::cmp::Ordering;

#[derive(Clone, Copy, Debug)]
pub(super) struct Subdirectory {
    /// The [`transect_sys::name_prefix`] of the name.
    pub(super) prefix: u64,
    /// Where the name is: the part, and the offset in it.
    pub(super) offset: u64,
    pub(super) part: u32,
    /// The directory that the name leads to.
    pub(super) directory: u32,
}

/// The names that lead from directories to directories: at most one to each.
#[derive(Debug, Default)]
pub(super) struct Subdirectories {
    /// By parent, then by name: those of one directory are beside each other, as they are opened.
    all: Vec<Subdirectory>,
    /// For each directory, the first one in it; one more at the end.
    first: Vec<u32>,
    /// For each directory, the name that leads to it, or [`NONE`].
    name: Vec<u32>,
}

/// Sorts items by the numbers of their directories, and those of one directory in this order. Returns also, for each
/// directory, the place of its first item; one more at the end.
pub(super) fn sorted_by_directory<T>(
    items: impl Iterator<Item = (u32, T)> + Clone,
    directories: usize,
    order: impl Fn(&T, &T) -> Ordering,
) -> (Vec<T>, Vec<u32>) {
    // By directory by counting. At first, each number is one place further than it belongs.
    let mut first = vec![0; directories + 2];
    items.clone().for_each(|(directory, _)| first[directory as usize + 2] += 1);
    for at in 1..first.len() {
        first[at] += first[at - 1];
    }
    let mut sorted: Vec<T> = items.clone().map(|(_, it)| it).collect();
    for (directory, it) in items {
        let next = &mut first[directory as usize + 1];
        sorted[*next as usize] = it;
        *next += 1;
    }
    first.pop();
    for range in first.windows(2) {
        sorted[range[0] as usize..range[1] as usize].sort_unstable_by(&order);
    }
    (sorted, first)
}

/// Stands for a directory that no name leads to.
const NONE: u32 = u32::MAX;

impl Subdirectories {
    /// Sorts the names of directories, each given with the directory that it is in. There are `directories`
    /// of them; `name_of` returns the bytes of a name.
    pub(super) fn new<'a>(
        directories: usize,
        found: &[(u32, Subdirectory)],
        name_of: impl Fn(&Subdirectory) -> &'a [u8],
    ) -> Self {
        let (all, first) = sorted_by_directory(found.iter().copied(), directories, |a, b| {
            a.prefix.cmp(&b.prefix).then_with(|| name_of(a).cmp(name_of(b)))
        });
        let mut name = vec![NONE; directories];
        for (place, it) in (0..).zip(&all) {
            name[it.directory as usize] = place;
        }
        Self { all, first, name }
    }

    #[inline]
    pub(super) fn of(&self, parent: u32) -> &[Subdirectory] {
        let at = parent as usize;
        &self.all[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// Returns the name that leads to a directory, and the directory that it is in.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "for mounted volumes"))]
    pub(super) fn leading_to(&self, directory: u32) -> Option<(u32, &Subdirectory)> {
        let place = self.name[directory as usize];
        let it = self.all.get(place as usize)?;
        let parent = self.first.partition_point(|&first| first <= place) - 1;
        Some((parent as u32, it))
    }
}

#[cfg(test)]
mod tests {
    use transect_sys::name_prefix;

    use super::*;

    const NAMES: [&str; 6] = ["second", "beginning b", "beginning a", "", "beginning", "x"];

    fn found(parent: u32, name: u64, directory: u32) -> (u32, Subdirectory) {
        let prefix = name_prefix(NAMES[name as usize].as_bytes());
        (parent, Subdirectory { prefix, offset: name, part: 0, directory })
    }

    #[test]
    fn subdirectories_by_parent_and_name() {
        let name_of = |it: &Subdirectory| NAMES[it.offset as usize].as_bytes();
        let given =
            [found(3, 1, 1), found(0, 0, 3), found(3, 2, 2), found(3, 4, 5), found(0, 5, 4)];
        let all = Subdirectories::new(7, &given, name_of);
        let names = |parent| all.of(parent).iter().map(|it| NAMES[it.offset as usize]);
        assert!(names(0).eq(["second", "x"]));
        assert!(names(3).eq(["beginning", "beginning a", "beginning b"]));
        for parent in [1, 2, 4, 5, 6] {
            assert!(all.of(parent).is_empty());
        }
        let leading = |directory| all.leading_to(directory).map(|(from, it)| (from, it.offset));
        assert_eq!(leading(1), Some((3, 1)));
        assert_eq!(leading(3), Some((0, 0)));
        assert_eq!(leading(4), Some((0, 5)));
        assert_eq!((leading(0), leading(6)), (None, None));
    }
}
