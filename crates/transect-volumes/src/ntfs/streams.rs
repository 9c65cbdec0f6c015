//! The alternate streams of the files that a walk finds.

use std::collections::HashMap;

use transect_sys::AlternateStreams;

use super::super::index::VolumeIndex;
use super::super::inode_table::Role;
use super::record::Reference;
use super::records::{FileStreams, Sequences};

/// Adds up streams. Those of the file system's own files, which are not below the top directory, are left out.
pub(super) fn sum(
    index: &VolumeIndex,
    sequences: &Sequences,
    found: &[FileStreams],
) -> AlternateStreams {
    let role = |file: Reference| {
        let is_current = sequences.is_current(&index.inodes, file);
        let record = u32::try_from(file.record).ok().filter(|_| is_current)?;
        Some((record, index.inodes.get(record)?.role()))
    };
    // The directory of a file is known from one of its names, or, with names in other records, only from all entries.
    let mut parents = HashMap::new();
    let mut all = Vec::new();
    for it in found {
        let Some((record, own)) = role(it.file) else { continue };
        match (own, it.directory) {
            (Role::Directory(number), _) => all.push((record, Some(number), it.streams)),
            (Role::Entry, None) => {
                parents.insert(record, None);
                all.push((record, None, it.streams));
            }
            (Role::Entry, Some(directory)) => {
                if let Some((_, Role::Directory(number))) = role(directory) {
                    all.push((record, Some(number), it.streams));
                }
            }
            _ => {}
        }
    }
    if !parents.is_empty() {
        for directory in 0..index.directories() {
            let mut at = index.begin(directory);
            while let Some((_, record)) = index.next(&mut at) {
                parents.entry(record).and_modify(|it| *it = Some(directory));
            }
        }
    }
    let mut is_shown = HashMap::new();
    let mut sum = AlternateStreams::default();
    for (record, directory, streams) in all {
        let directory = directory.or_else(|| parents.get(&record).copied().flatten());
        let is_below = |directory| index.steps_to(directory).is_some();
        if directory.is_some_and(|it| *is_shown.entry(it).or_insert_with(|| is_below(it))) {
            sum += streams;
        }
    }
    sum
}
