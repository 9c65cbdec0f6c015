//! The reader of ncdu's exports.
//!
//! With arbitrary bytes, it never panics. A table that it returns contains only valid names, and
//! stays the same when it is written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use transect::table::Table;
use transect::{FieldMask, ncdu};

const COLUMNS: FieldMask = FieldMask::FILE_ID
    .union(FieldMask::NLINK)
    .union(FieldMask::UID)
    .union(FieldMask::GID)
    .union(FieldMask::MODE)
    .union(FieldMask::MTIME);

fuzz_target!(|export: &[u8]| {
    let Ok(table) = ncdu::read(export, COLUMNS) else { return };
    let root = table.roots().next().expect("an export has a root");
    let mut left = table.children(root).collect::<Vec<_>>();
    while let Some(row) = left.pop() {
        let name = table.name(row).as_encoded_bytes();
        assert!(!matches!(name, b"" | b"." | b".."));
        assert!(!name.contains(&b'/') && !name.contains(&0));
        left.extend(table.children(row));
    }
    let again = again(&table);
    assert_eq!(again.len(), table.len());
    // A link without a link count is written once, as a separate file.
    let twice = self::again(&again);
    assert_eq!(twice.len(), again.len());
    assert_eq!(twice.grand_total(), again.grand_total());
});

/// Writes a table, and reads it again.
fn again(table: &Table) -> Table {
    let root = table.roots().next().expect("an export has a root");
    let mut written = Vec::new();
    ncdu::write(table, root, &table.path(root), 0, &mut written).expect("memory for an export");
    ncdu::read(written.as_slice(), COLUMNS).expect("what is written can be read")
}
