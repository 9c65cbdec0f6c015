//! Searches the names of all rows at once: they are one text for each chunk.

use std::ops::ControlFlow;

use memchr::memmem::Finder;

use super::columns::Chunk;
use super::name_grams::NameGrams;
use super::{Row, Table};

impl Table {
    /// Calls `each` with the rows whose names contain a word, in no meaningful order, until it breaks.
    #[doc(hidden)]
    pub fn rows_with_word(&self, word: &Finder<'_>, mut each: impl FnMut(Row) -> ControlFlow<()>) {
        let base = self.base.rows.chunks();
        let grams = || base.iter().map(NameGrams::of).collect();
        let grams = self.base.name_grams.get_or_init(grams);
        let chunks = base.iter().chain(self.edits.chunks.iter().map(|chunk| &**chunk));
        for (number, chunk) in chunks.enumerate() {
            if grams.get(number).is_some_and(|grams| !grams.may_contain(word.needle())) {
                continue;
            }
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

    /// A chunk that lacks a sequence is passed over, and only that one.
    #[test]
    fn rows_with_word_of_several_chunks_are_found() {
        let mut importer = TableImporter::new(FieldMask::empty());
        importer.enter(OsStr::new("/root"), &Attributes::of_type(FileType::Directory));
        for number in 0..200_000 {
            importer.add_entry(
                OsStr::new(&format!("file {number:06}")),
                &Attributes::of_type(FileType::File),
            );
        }
        let table = importer.finish().unwrap();
        let chunks = table.base.rows.chunks().iter();
        let with = |word: &str| {
            let grams = chunks.clone().map(NameGrams::of);
            grams.map(|grams| grams.may_contain(word.as_bytes())).collect::<Vec<_>>()
        };
        assert_eq!(with("quartz"), [false; 4]);
        assert_eq!(with("e 199"), [false, false, true, true]);
        let expected = |range: std::ops::Range<usize>| -> BTreeSet<String> {
            let path = |number| std::path::Path::new("/root").join(format!("file {number:06}"));
            range.map(|number| path(number).display().to_string()).collect()
        };
        assert_eq!(found(&table, "quartz"), BTreeSet::new());
        assert_eq!(found(&table, "e 19999"), expected(199_990..200_000));
        assert_eq!(found(&table, "e 00000"), expected(0..10));
    }
}
