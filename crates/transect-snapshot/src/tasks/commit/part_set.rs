//! All parts of a scan.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use transect::FieldMask;

use super::parts::{OpenPart, check_continues, first_of, open_all};
use super::places::{Place, Places};
use crate::tasks::{Item, TaskError, part_of};

/// All parts of one scan.
pub(super) struct PartSet {
    /// In the order of their tasks: each before those that follow from it.
    pub(super) parts: Vec<OpenPart>,
    /// For each directory that a part left over, by the number of that part: where it is a root. A directory that is
    /// divided has several places, in the order of their names.
    pub(super) places: HashMap<(usize, Item), Vec<Place>>,
}

impl PartSet {
    /// Opens the parts in a directory, and checks that none is missing.
    ///
    /// # Errors
    /// Tasks have not run ([`TaskError::Pending`]), the directory has parts of several scans, or one of them is damaged.
    pub(super) fn open(folder: &Path) -> Result<Self, TaskError> {
        let mut found = open_all(folder)?;
        let first = first_of(folder, &found)?;
        let mut parts: Vec<OpenPart> = Vec::new();
        let mut places = Places::default();
        let mut missing = Vec::new();
        // The ids of tasks, and the part and the list that they follow from.
        let mut ids = VecDeque::from([(first, None)]);
        while let Some((id, from)) = ids.pop_front() {
            let Some(part) = found.remove(&id) else {
                missing.push(id);
                continue;
            };
            if let Some((above, list)) = from {
                check_continues(&part, &parts[0], &parts[above], list)?;
                places.find(above, parts.len(), &part)?;
            }
            let children = part_of(&part.snapshot).child_ids().enumerate();
            ids.extend(children.map(|(list, id)| (id, Some((parts.len(), list)))));
            parts.push(part);
        }
        if let Some(id) = missing.first() {
            return Err(TaskError::Pending(missing.len(), id.clone()));
        }
        let places = places.in_order(&parts)?;
        Ok(Self { parts, places })
    }

    /// Returns the attributes that the parts have.
    pub(super) fn fields(&self) -> FieldMask {
        self.parts[0].snapshot.metadata().fields()
    }
}
