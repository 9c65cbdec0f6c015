//! Searches the names of all rows at once: they are one text for each chunk.

use std::ops::ControlFlow;

use memchr::memmem::Finder;

use super::columns::Chunk;
use super::{Row, Table};

impl Table {
    /// Calls `each` with the rows whose names contain a word, in no meaningful order, until it breaks.
    #[doc(hidden)]
    pub fn rows_with_word(&self, word: &Finder<'_>, mut each: impl FnMut(Row) -> ControlFlow<()>) {
        let base = self.base.rows.chunks().iter();
        let chunks = base.chain(self.edits.chunks.iter().map(|chunk| &**chunk));
        for (number, chunk) in chunks.enumerate() {
            let found = search(chunk, word, |index| {
                let row = Row::new(number, index).expect("BUG: a row beyond all limits");
                if self.contains(row) { each(row) } else { ControlFlow::Continue(()) }
            });
            if found.is_break() {
                return;
            }
        }
    }
}

fn search(
    chunk: &Chunk,
    word: &Finder<'_>,
    mut each: impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let names = chunk.names();
    let all = names.all_bytes();
    let mut begin = 0;
    while let Some(at) = word.find(&all[begin..]).map(|at| begin + at)
        && let Some((index, end)) = names.name_at(at)
    {
        // The end of a name and the beginning of the next one may look like the word, too.
        if at + word.needle().len() > end {
            begin = at + 1;
            continue;
        }
        each(index)?;
        begin = end;
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsStr;

    use proptest::prelude::*;
    use transect_sys::{Attributes, FieldMask, FileType};

    use super::*;
    use crate::table::{TableEditor, TableImporter};

    fn found(table: &Table, word: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        table.rows_with_word(&Finder::new(word), |row| {
            assert!(found.insert(table.path(row).display().to_string()), "found twice");
            ControlFlow::Continue(())
        });
        found
    }

    proptest! {
        #[test]
        fn rows_with_word_are_those_of_an_iteration(
            names in prop::collection::btree_set("[ab]{1,5}", 0..40),
            word in "[ab]{1,4}",
            removed in any::<prop::sample::Index>(),
        ) {
            let mut importer = TableImporter::new(FieldMask::empty());
            importer.enter(OsStr::new("/ab"), &Attributes::of_type(FileType::Directory));
            for name in &names {
                importer.add_entry(OsStr::new(name), &Attributes::of_type(FileType::File));
            }
            let mut table = importer.finish().unwrap();
            for _ in 0..2 {
                let rows = table.iter().filter(|&row| {
                    table.name(row).to_str().is_some_and(|name| name.contains(&word))
                });
                let expected: BTreeSet<_> =
                    rows.map(|row| table.path(row).display().to_string()).collect();
                prop_assert_eq!(found(&table, &word), expected);
                // The second time, a row is gone, and the others of its directory are others.
                let files: Vec<Row> = table.iter().skip(1).collect();
                if let Some(&row) = files.get(removed.index(files.len().max(1))) {
                    let name = table.name(row).to_owned();
                    let directory = table.directory_id(table.roots().next().unwrap()).unwrap();
                    let gone = crate::table::EntryChange { name: &name, now: None, directory: None };
                    let mut editor = TableEditor::new(&table);
                    editor.change(directory, None, &[gone]).unwrap();
                    table = editor.finish().unwrap().0;
                }
            }
        }
    }
}
