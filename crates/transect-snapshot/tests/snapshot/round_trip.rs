//! What is written is read again: rows, totals, metadata.

use std::ffi::OsStr;
use std::io::{self, Write};

use crate::model::{self, Node};
use proptest::prelude::*;
use transect::table::{Row, Table, TableImporter};
use transect::{Attributes, Cancel, FieldMask, FileType};
use transect_snapshot::{Metadata, Snapshot, write};

/// Returns everything that is stored of each entry, in tree order.
fn facts(table: &Table) -> Vec<String> {
    let fact = |row: Row| {
        let of = table.attributes(row);
        let (totals, errors, unread) =
            (table.totals(row), table.errors(row), table.unread_reason(row));
        let shared = (table.shared(row), table.standalone_usage(row));
        format!("{:?} {of:?} {totals:?} {errors} {unread:?} {shared:?}", table.path(row))
    };
    table.iter().map(fact).collect()
}

fn stored(table: &Table) -> Snapshot<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut metadata = Metadata::default();
    metadata.set_fields(table.columns());
    metadata.set_diagnostics(table.diagnostics());
    write(table, &metadata, &Cancel::new(), &mut bytes).expect("a snapshot");
    let snapshot = Snapshot::new(bytes).expect("a snapshot");
    assert_eq!(*snapshot.metadata(), metadata);
    snapshot
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(200)))]

    #[test]
    fn snapshot_of_any_tree_has_identical_rows(tree in model::tree(), columns in model::columns()) {
        let table = model::table(&tree, columns);
        let snapshot = stored(&table);
        let again = snapshot.table(columns).unwrap();
        prop_assert_eq!(facts(&again), facts(&table));
        prop_assert_eq!(again.len(), table.len());
        prop_assert_eq!(again.hard_links(), table.hard_links());
    }
}

/// A table without the column has the link counts of files with several names, and so has its snapshot on request.
#[test]
fn snapshot_of_a_table_without_link_counts_has_them_on_request() {
    let file = |name: &str, inode: u64, count: u32| {
        let mut of = Attributes::of_type(FileType::File);
        of.set_device(1);
        of.set_inode(inode);
        of.set_nlink(count);
        (name.to_owned(), of)
    };
    let written = |columns: FieldMask, stored: FieldMask| {
        let mut importer = TableImporter::new(columns);
        importer.enter(OsStr::new("/root"), &Attributes::of_type(FileType::Directory));
        for (name, of) in [file("a", 5, 3), file("b", 5, 3), file("c", 6, 1)] {
            importer.add_entry(OsStr::new(&name), &of);
        }
        let mut metadata = Metadata::default();
        metadata.set_fields(stored);
        let (table, mut bytes) = (importer.finish().expect("few entries"), Vec::new());
        write(&table, &metadata, &Cancel::new(), &mut bytes).expect("a snapshot");
        bytes
    };
    let with = FieldMask::FILE_ID | FieldMask::NLINK;
    assert!(written(FieldMask::FILE_ID, with) == written(with, with));
    let unknown = Snapshot::new(written(FieldMask::FILE_ID, FieldMask::FILE_ID)).unwrap();
    let mut rows = unknown.rows();
    while rows.advance(true).unwrap() {
        assert_eq!(rows.attributes_of(with).nlink(), None);
    }
}

#[test]
fn snapshot_of_nothing_has_no_rows() {
    let table = model::table(&[], FieldMask::MTIME);
    let snapshot = stored(&table);
    assert!(snapshot.is_empty());
    assert!(snapshot.table(FieldMask::MTIME).unwrap().is_empty());
}

#[test]
fn snapshot_of_several_groups_has_identical_rows() {
    // More rows than one group has, and directories that reach from one to the next.
    let inner =
        |count: u32| (0..count).map(|number| Node::file(&format!("n{number:06}"))).collect();
    let directories = (0..7).map(|number| Node::directory(&format!("d{number}"), inner(40_000)));
    let root = Node::directory("/root", directories.collect());
    let columns = FieldMask::MTIME | FieldMask::FILE_ID | FieldMask::MODE;
    let table = model::table(&[root], columns);
    let snapshot = stored(&table);
    assert_eq!(snapshot.len(), 280_008);
    assert_eq!(facts(&snapshot.table(columns).unwrap()), facts(&table));
}

#[test]
fn snapshot_around_page_boundaries_has_identical_rows() {
    // Pages have 8192 rows. Times and file ids have the greatest and the least values.
    let extremes = [(Some(1 << 45), i64::MIN), (Some(0), i64::MAX), (None, -1), (Some(1), 0)];
    for rows in [1, 2, 8191, 8192, 8193, 16384, 16385] {
        let file = |number: usize| {
            let mut node = Node::file(&format!("n{number:06}"));
            (node.own.size, node.own.mtime) = extremes[number % 4];
            // A whole page without sizes.
            node.own.size = node.own.size.filter(|_| number < 8192);
            node.own.inode = [0, u64::MAX, 1 << 63, 7][number / 3 % 4];
            node
        };
        let root = Node::directory("/root", (1..rows).map(file).collect());
        for columns in [FieldMask::empty(), FieldMask::all()] {
            let table = model::table(std::slice::from_ref(&root), columns);
            let snapshot = stored(&table);
            assert_eq!(snapshot.len(), rows as u64);
            assert_eq!(facts(&snapshot.table(columns).unwrap()), facts(&table), "{rows}");
        }
    }
}

#[test]
fn snapshot_of_deep_tree_is_small_and_readable() {
    let mut node = Node::file("leaf");
    for _ in 0..3000 {
        node = Node::directory(&"d".repeat(200), vec![node]);
    }
    let table = model::table(&[Node::directory("/r", vec![node])], FieldMask::MTIME);
    let mut bytes = Vec::new();
    write(&table, &Metadata::default(), &Cancel::new(), &mut bytes).unwrap();
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    let again = Snapshot::new(bytes).unwrap().table(FieldMask::MTIME).unwrap();
    assert_eq!(again.len(), table.len());
}

#[test]
fn write_cancelled_is_an_error() {
    let table = model::table(&[Node::directory("/root", Vec::new())], FieldMask::MTIME);
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(write(&table, &Metadata::default(), &cancel, &mut Vec::new()).is_err());
}

/// An output with room for some bytes.
struct SmallOutput {
    room: usize,
}

impl Write for SmallOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = bytes.len().min(self.room);
        self.room -= written;
        match written {
            0 if !bytes.is_empty() => Err(io::ErrorKind::StorageFull.into()),
            written => Ok(written),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn write_to_full_output_is_an_error_at_every_byte() {
    let files = (0..20).map(|number| Node::file(&format!("n{number}"))).collect();
    let table = model::table(&[Node::directory("/root", files)], FieldMask::MTIME);
    let write_to = |room| {
        let mut output = SmallOutput { room };
        let written = write(&table, &Metadata::default(), &Cancel::new(), &mut output);
        (written, output.room)
    };
    let (whole, left) = write_to(1 << 20);
    whole.unwrap();
    for room in 0..(1 << 20) - left {
        let (written, _) = write_to(room);
        let kind = written.map_err(|error| error.kind());
        assert_eq!(kind, Err(io::ErrorKind::StorageFull), "{room}");
    }
}
