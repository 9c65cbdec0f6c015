//! Inputs that refer to the same file: hard links, and paths given twice.

use std::collections::{HashMap, HashSet};

use transect::FileType;
use transect_sys::file::attributes_at;
use transect_sys::{Attributes, FileId};

use super::Input;

/// Inputs that are other names of an earlier input. The first name in input order stands for the
/// file, independent of the number of threads.
#[derive(Debug, Default)]
pub(super) struct HardLinks {
    /// Index into `groups`, by the input index of each name.
    files: HashMap<usize, usize>,
    groups: Vec<LinkGroup>,
}

/// A file that several inputs name.
#[derive(Debug)]
pub(super) struct LinkGroup {
    /// Input indexes of its names, in input order.
    places: Vec<usize>,
    /// Its attributes when the group was found.
    pub(super) before: Attributes,
    /// Whether all its names are among the inputs.
    pub(super) is_whole: bool,
}

impl LinkGroup {
    /// Returns the input indexes of all names but the first.
    pub(super) fn other_names(&self) -> &[usize] {
        &self.places[1..]
    }
}

impl HardLinks {
    /// Finds inputs that are the same file. The listings report an inode number for each, so only
    /// inputs with equal numbers are queried.
    pub(super) fn find(inputs: &[Input]) -> Self {
        let numbered = inputs.iter().enumerate().filter_map(|(place, input)| {
            let is_file = input.file_type == FileType::File;
            Some((input.inode.filter(|_| is_file)?, place))
        });
        let mut numbered: Vec<_> = numbered.collect();
        numbered.sort_unstable();
        let mut names = Self::default();
        for alike in numbered.chunk_by(|one, other| one.0 == other.0) {
            if alike.len() > 1 {
                names.add_group(inputs, alike.iter().map(|&(_, place)| place));
            }
        }
        names
    }

    /// Adds inputs with equal inode numbers, which may be on different devices.
    fn add_group(&mut self, inputs: &[Input], places: impl Iterator<Item = usize>) {
        let mut by_id: HashMap<FileId, LinkGroup> = HashMap::new();
        for place in places {
            // A file that vanished is in no group; opening it reports the error.
            let there = attributes_at(&inputs[place].path);
            if let Some((id, before)) = there.ok().and_then(|there| Some((there.file_id()?, there)))
            {
                let group = LinkGroup { places: Vec::new(), before, is_whole: false };
                by_id.entry(id).or_insert(group).places.push(place);
            }
        }
        for mut group in by_id.into_values().filter(|group| group.places.len() > 1) {
            let paths = group.places.iter().filter_map(|&at| inputs[at].path.canonicalize().ok());
            let count = paths.collect::<HashSet<_>>().len();
            group.is_whole = group.before.nlink().is_some_and(|links| count >= links as usize);
            self.files.extend(group.places.iter().map(|&place| (place, self.groups.len())));
            self.groups.push(group);
        }
    }

    /// Returns the group of an input, if other inputs name the same file.
    pub(super) fn group(&self, place: usize) -> Option<&LinkGroup> {
        self.files.get(&place).map(|&group| &self.groups[group])
    }

    /// Returns whether an input is another name of an earlier input.
    pub(super) fn is_other_name(&self, place: usize) -> bool {
        self.group(place).is_some_and(|group| group.places[0] != place)
    }
}
