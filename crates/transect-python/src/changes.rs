//! The changes of a diff as columns.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeBinaryArray, LargeStringArray, UInt64Array};
use transect::FieldMask;
use transect_snapshot::{Change, Facts};

use crate::columns::Column;
use crate::rows::{Columns, raw};

/// The names of attributes that are compared.
pub(crate) const COMPARED: [(&str, FieldMask); 11] = [
    ("size", FieldMask::SIZE),
    ("allocated", FieldMask::ALLOCATED),
    ("mtime", FieldMask::MTIME),
    ("ctime", FieldMask::CTIME),
    ("btime", FieldMask::BTIME),
    ("mode", FieldMask::MODE),
    ("uid", FieldMask::UID),
    ("gid", FieldMask::GID),
    ("nlink", FieldMask::NLINK),
    ("inode", FieldMask::INODE),
    ("device", FieldMask::DEVICE),
];

/// The attributes of an entry in each of the trees.
const ATTRIBUTES: [(Column, [&str; 2]); 10] = [
    (Column::Type, ["before_type", "after_type"]),
    (Column::Size, ["before_size", "after_size"]),
    (Column::Allocated, ["before_allocated", "after_allocated"]),
    (Column::Mtime, ["before_mtime", "after_mtime"]),
    (Column::Mode, ["before_mode", "after_mode"]),
    (Column::Uid, ["before_uid", "after_uid"]),
    (Column::Gid, ["before_gid", "after_gid"]),
    (Column::Nlink, ["before_nlink", "after_nlink"]),
    (Column::Inode, ["before_inode", "after_inode"]),
    (Column::Device, ["before_device", "after_device"]),
];

/// Returns the columns of changes.
pub(crate) fn columns(changes: &[Change]) -> Columns {
    let text = |of: fn(&Change) -> Option<Cow<'_, str>>| -> ArrayRef {
        Arc::new(changes.iter().map(of).collect::<LargeStringArray>())
    };
    let bytes = |of: fn(&Change) -> Option<&[u8]>| -> ArrayRef {
        Arc::new(changes.iter().map(of).collect::<LargeBinaryArray>())
    };
    let growth = changes.iter().map(|change| i64::try_from(change.growth()).ok());
    let moved = changes.iter().map(|change| change.moved_entries);
    let mut columns: Columns = vec![
        ("change", text(|change| Some(change.kind.as_str().into()))),
        ("path", text(|change| Some(String::from_utf8_lossy(&change.path)))),
        ("path_raw", bytes(|change| raw(&change.path))),
        ("from", text(|change| change.from.as_deref().map(String::from_utf8_lossy))),
        ("from_raw", bytes(|change| change.from.as_deref().and_then(raw))),
        ("changed", text(|change| changed(change).map(Cow::from))),
        ("reason", text(|change| change.reason.as_deref().map(Cow::from))),
        ("growth", Arc::new(growth.collect::<Int64Array>())),
        ("moved_entries", Arc::new(UInt64Array::from_iter_values(moved))),
    ];
    columns.extend(of_tree(0, changes.iter().map(|change| change.before.as_ref())));
    columns.extend(of_tree(1, changes.iter().map(|change| change.after.as_ref())));
    columns
}

/// Returns the names of the attributes that changed.
fn changed(change: &Change) -> Option<String> {
    let names = COMPARED.iter().filter(|(_, field)| change.fields.contains(*field));
    let names: Vec<&str> = names.map(|(name, _)| *name).collect();
    (!names.is_empty()).then(|| names.join(","))
}

/// Returns the columns of the first or the second tree: what is known of the entries.
fn of_tree<'a>(
    tree: usize,
    of: impl ExactSizeIterator<Item = Option<&'a Facts>> + Clone,
) -> Columns {
    let attributes = || of.clone().map(|of| Some(&of?.attributes));
    let mut columns: Columns = ATTRIBUTES
        .iter()
        .map(|(column, names)| (names[tree], column.array(attributes())))
        .collect();
    let entries: UInt64Array = of.clone().map(|of| of.map(Facts::entries)).collect();
    let allocated: UInt64Array = of.clone().map(|of| of.map(Facts::allocated)).collect();
    columns.push((["before_entries", "after_entries"][tree], Arc::new(entries)));
    columns.push((["before_total_allocated", "after_total_allocated"][tree], Arc::new(allocated)));
    columns
}
