//! Names of the same file among inputs: hard links, and what was given twice.

use std::collections::{HashMap, HashSet};

use transect::FileType;
use transect_sys::file::attributes_at;
use transect_sys::{Attributes, FileId};

use super::Input;

/// Which inputs are further names of others. The first name in the order of inputs stands for all,
/// however many threads there are.
#[derive(Debug, Default)]
pub(super) struct HardLinks {
    /// By the places of all their names.
    files: HashMap<usize, usize>,
    groups: Vec<LinkGroup>,
}

/// A file that several inputs name.
#[derive(Debug)]
pub(super) struct LinkGroup {
    /// The places of its names among the inputs, the first one first.
    places: Vec<usize>,
    /// What it was when its names were looked for.
    pub(super) before: Attributes,
    /// No name of it is elsewhere.
    pub(super) is_whole: bool,
}

impl LinkGroup {
    /// Returns the places of all names but the first.
    pub(super) fn other_names(&self) -> &[usize] {
        &self.places[1..]
    }
}

impl HardLinks {
    /// Looks for names of the same file. The listings have told a number of each, so that only what
    /// can be the same is asked about.
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

    /// Takes names whose files have the same number, on whatever devices.
    fn add_group(&mut self, inputs: &[Input], places: impl Iterator<Item = usize>) {
        let mut by_id: HashMap<FileId, LinkGroup> = HashMap::new();
        for place in places {
            // What is gone is nobody's name; whoever opens it tells so.
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

    /// Returns the file that an input names, if others name it as well.
    pub(super) fn group(&self, place: usize) -> Option<&LinkGroup> {
        // Mostly there is none at all.
        if self.groups.is_empty() {
            return None;
        }
        self.files.get(&place).map(|&group| &self.groups[group])
    }

    /// Returns whether an input is another name of one before it.
    pub(super) fn is_other_name(&self, place: usize) -> bool {
        self.group(place).is_some_and(|group| group.places[0] != place)
    }
}
