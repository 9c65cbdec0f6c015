//! Queries, entry by entry, of wanted fields that the records lack.

use std::ffi::OsStr;
use std::io;

use super::query_attributes::SUPPORTED_FIELDS;
use super::status::{fault_of_entry, is_broken_link};
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::batch::Batch;
use crate::reader::Want;

/// Calls `query` for every entry that lacks a wanted field: with its name, the wanted fields, and
/// whether to follow a link.
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
            // A link is never a second name of another file.
            FileType::Symlink => want.entries - FieldMask::FILE_ID,
            _ => want.entries,
        } & SUPPORTED_FIELDS;
        let follow = file_type == FileType::Symlink && want.follow;
        // The target may be a directory, which needs its identity to detect loops.
        let wanted = if follow { wanted | FieldMask::FILE_ID } else { wanted };
        if follow || !entry.attributes.known().contains(wanted) {
            match query(batch.name(entry), wanted, follow) {
                Ok(attributes) => {
                    let entry = &mut batch.entries[index];
                    entry.attributes = attributes;
                    entry.followed = follow;
                    if !follow {
                        // The record identifies links where the file itself does not (Wine).
                        entry.attributes.set_file_type(file_type);
                    }
                }
                // A broken link keeps its own attributes.
                Err(error) if follow && is_broken_link(&error) => {}
                Err(error) => batch.set_fault(index, fault_of_entry(error)),
            }
        }
        batch.entries[index].drop_unless_directory();
    }
}
