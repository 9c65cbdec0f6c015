//! A copy of a table in which nothing is left of its edits.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use transect_sys::{FileId, FileType};

use super::{Children, Row, Table, TableImporter};
use crate::error::Error;

/// The files with several names: by row, their ids and link counts.
type LinkedRows = HashMap<u32, (FileId, u32), FixedState>;

impl Table {
    /// Copies all entries into a table of their own, without diagnostics.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub(super) fn copied(&self) -> Result<Self, Error> {
        let linked = self.linked_files();
        let linked: LinkedRows = linked
            .flat_map(|file| file.rows.iter().map(move |&row| (row, (file.id, file.link_count))))
            .collect();
        let mut importer = TableImporter::new(self.columns());
        let mut open: Vec<Children> = Vec::new();
        let mut roots = self.roots();
        loop {
            let next = match open.last_mut() {
                Some(children) => children.next(),
                None => match roots.next() {
                    Some(root) => Some(root),
                    None => break,
                },
            };
            match next {
                Some(row) => open.extend(self.copy(row, &linked, &mut importer)),
                None => {
                    open.pop();
                    // Two entries of one name were also in the table before.
                    let _ = importer.leave();
                }
            }
        }
        importer.finish()
    }

    /// Copies an entry. Returns the entries of a directory, which follow.
    fn copy(
        &self,
        row: Row,
        linked: &LinkedRows,
        importer: &mut TableImporter,
    ) -> Option<Children> {
        let (name, mut attributes) = (self.name(row), self.attributes(row));
        if attributes.file_type() != FileType::Directory {
            match linked.get(&row.0) {
                Some(&(id, link_count)) => {
                    attributes.set_device(id.device);
                    attributes.set_inode(id.inode);
                    // 0 is unknown.
                    if link_count > 0 {
                        attributes.set_nlink(link_count);
                    }
                }
                None => attributes.set_nlink(1),
            }
        }
        // A directory below the maximum depth was not entered.
        if self.index(row).is_none() {
            importer.add_entry(name, &attributes);
            return None;
        }
        importer.enter(name, &attributes);
        if let Some(why) = self.why_unread(row) {
            importer.mark_unread(why);
        }
        // Errors are counted with everything below; here, those of the directory itself are needed.
        let errors = self.errors(row);
        if errors > 0 {
            let below: u64 = self.children(row).map(|child| self.errors(child)).sum();
            importer.count_errors(errors.saturating_sub(below));
        }
        Some(self.children(row))
    }
}
