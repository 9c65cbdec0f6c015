//! Where the directories are that parts left over: which rows of which other parts.

use std::collections::HashMap;
use std::ffi::OsString;

use transect_sys::name_from_bytes;

use super::parts::{OpenPart, inconsistent};
use crate::tasks::{Item, NameRange, Part, Task, TaskError, part_of, read_error};

/// A root of a part.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Rows of a part.
    Rows { part: usize, first: u64, rows: u64 },
    /// The directory was deleted before its task began.
    Gone,
}

/// Places that are being found.
#[derive(Default)]
pub(super) struct Places {
    /// By the number of the part that left the whole directory over: the ranges of its names.
    found: HashMap<(usize, Item), Vec<(NameRange, Place)>>,
    /// Of directories of which a part has ranges, by its number: the part that left the whole directory over. Ranges
    /// are divided again, and passed on.
    dividers: HashMap<(usize, Item), usize>,
}

impl Places {
    /// Finds the rows of the roots of a part, which the part with the number `above` left over.
    pub(super) fn find(
        &mut self,
        above: usize,
        number: usize,
        open: &OpenPart,
    ) -> Result<(), TaskError> {
        let part = part_of(&open.snapshot);
        let path_of = |item: &Item| match part.roots.get(item.root) {
            Some(root) => Ok(Task::join(root.to_path(), item).into_os_string()),
            None => Err(inconsistent(open, "names a root that there is not")),
        };
        let mut named: HashMap<OsString, Option<&Item>> = HashMap::new();
        for item in &part.items {
            let is_read = !is_passed_on(part, item);
            let named = named.entry(path_of(item)?).or_default();
            if is_read && named.replace(item).is_some() {
                return Err(inconsistent(open, "has a directory twice"));
            }
            if item.names.is_some() {
                let divider = self.divider(above, item);
                self.dividers.insert((number, item.whole()), divider);
            }
        }
        let failed = |error| read_error(&open.path, error);
        let mut rows = open.snapshot.rows();
        while rows.advance(false).map_err(failed)? {
            let Some(item) = named.remove(&name_from_bytes(rows.name().to_vec())) else {
                return Err(inconsistent(open, "has rows that its task did not read"));
            };
            if let Some(item) = item {
                let (first, rows) = (rows.row(), rows.entries());
                self.add(above, item, Place::Rows { part: number, first, rows });
            }
        }
        let metadata = open.snapshot.metadata();
        if named.len() as u64 > metadata.vanished.saturating_add(metadata.errors) {
            return Err(inconsistent(open, "has no rows of directories that were there"));
        }
        named.into_values().flatten().for_each(|item| self.add(above, item, Place::Gone));
        Ok(())
    }

    fn add(&mut self, above: usize, item: &Item, place: Place) {
        let key = (self.divider(above, item), item.whole());
        let range = item.names.clone().unwrap_or_default();
        self.found.entry(key).or_default().push((range, place));
    }

    /// Returns the part that left the whole directory of an item over.
    fn divider(&self, above: usize, item: &Item) -> usize {
        self.dividers.get(&(above, item.whole())).copied().unwrap_or(above)
    }

    /// Returns the places of each directory, in the order of its names.
    ///
    /// # Errors
    /// A name is in no range, or in two.
    pub(super) fn in_order(
        self,
        parts: &[OpenPart],
    ) -> Result<HashMap<(usize, Item), Vec<Place>>, TaskError> {
        let in_order = |(key, mut places): ((usize, Item), Vec<(NameRange, Place)>)| {
            places.sort_by_cached_key(|(range, _)| range.bounds());
            let froms = places.iter().map(|(range, _)| &range.from).chain([&None]);
            let tos = [&None].into_iter().chain(places.iter().map(|(range, _)| &range.to));
            match froms.eq(tos) {
                true => Ok((key, places.into_iter().map(|(_, place)| place).collect())),
                false => {
                    Err(inconsistent(&parts[key.0], "left ranges over that parts do not have once"))
                }
            }
        };
        self.found.into_iter().map(in_order).collect()
    }
}

/// Returns whether an item of a part is the work of the tasks that follow from it: a range that it divided or did not come to.
fn is_passed_on(part: &Part, item: &Item) -> bool {
    let Some(range) = &item.names else { return false };
    let begins_alike = |left: &Item| {
        (left.root, &left.path) == (item.root, &item.path)
            && left.names.as_ref().is_some_and(|left| left.from == range.from)
    };
    part.leftover.iter().flatten().any(begins_alike)
}
