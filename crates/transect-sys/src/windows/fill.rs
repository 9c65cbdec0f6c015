//! Asking for what the records did not bring, entry by entry.

use std::ffi::OsStr;
use std::io;

use super::query_attributes::SUPPORTED_FIELDS;
use super::status::{fault_below, leads_nowhere};
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::batch::{Batch, Verdict};
use crate::reader::Want;

/// Asks `query` about every entry of which something wanted is missing: for the name, the fields,
/// and whether to follow a link.
pub(super) fn fill(
    batch: &mut Batch,
    want: &Want,
    mut query: impl FnMut(&OsStr, FieldMask, bool) -> io::Result<Attributes>,
) {
    for index in 0..batch.entries.len() {
        let entry = &batch.entries[index];
        let file_type = entry.attributes.file_type();
        let wanted = match file_type {
            FileType::Directory => want.directories,
            // A link is no further name of anything.
            FileType::Symlink => want.entries - FieldMask::FILE_ID,
            _ => want.entries,
        } & SUPPORTED_FIELDS;
        let missing = !entry.attributes.known().contains(wanted);
        if file_type == FileType::Symlink && want.follow {
            follow(batch, index, wanted, &mut query);
        } else if missing {
            match query(batch.name(entry), wanted, false) {
                Ok(attributes) => {
                    let entry = &mut batch.entries[index];
                    entry.attributes = attributes;
                    // The record tells links apart where the file itself does not (Wine).
                    entry.attributes.set_file_type(file_type);
                }
                Err(error) => batch.set_fault(index, fault_below(error)),
            }
        }
        let entry = &mut batch.entries[index];
        // Kept only because it might have led to a directory.
        if entry.verdict == Verdict::DescendOnly
            && entry.attributes.file_type() != FileType::Directory
        {
            entry.verdict = Verdict::Drop;
        }
    }
}

/// Replaces a link by what it leads to, if it leads anywhere.
fn follow(
    batch: &mut Batch,
    index: usize,
    wanted: FieldMask,
    query: &mut impl FnMut(&OsStr, FieldMask, bool) -> io::Result<Attributes>,
) {
    // It may lead to a directory: then its identity is needed, to find loops.
    let wanted = wanted | FieldMask::FILE_ID;
    match query(batch.name(&batch.entries[index]), wanted, true) {
        Ok(attributes) => {
            let entry = &mut batch.entries[index];
            entry.attributes = attributes;
            entry.followed = true;
        }
        Err(error) if leads_nowhere(&error) => {}
        Err(error) => batch.set_fault(index, fault_below(error)),
    }
}
