//! The changes of a diff as columns.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeBinaryArray, LargeStringArray, UInt64Array};
use transect_snapshot::{Change, Facts};

use crate::columns::Column;
use crate::rows::{Columns, raw};

pub(crate) fn compared() -> impl Iterator<Item = Column> {
    Column::attributes().filter(|column| !matches!(column, Column::Type | Column::Atime))
}

pub(crate) fn columns(changes: &[Change]) -> Columns {
    let text = |of: fn(&Change) -> Option<Cow<'_, str>>| -> ArrayRef {
        Arc::new(changes.iter().map(of).collect::<LargeStringArray>())
    };
    let bytes = |of: fn(&Change) -> Option<&[u8]>| -> ArrayRef {
        Arc::new(changes.iter().map(of).collect::<LargeBinaryArray>())
    };
    let growth = changes.iter().map(|change| i64::try_from(change.growth()).ok());
    let moved = changes.iter().map(|change| change.moved_entries);
    let columns: [(&str, ArrayRef); 9] = [
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
    let mut columns: Columns =
        columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect();
    columns.extend(of_tree("before", changes.iter().map(|change| change.before.as_ref())));
    columns.extend(of_tree("after", changes.iter().map(|change| change.after.as_ref())));
    columns
}

/// Returns the names of the attributes that changed.
fn changed(change: &Change) -> Option<String> {
    let names = compared().filter(|column| change.fields.intersects(column.needs()));
    let names: Vec<&str> = names.map(Column::name).collect();
    (!names.is_empty()).then(|| names.join(","))
}

/// Returns the columns of the first or the second tree: what is known of the entries.
fn of_tree<'a>(
    tree: &str,
    of: impl ExactSizeIterator<Item = Option<&'a Facts>> + Clone,
) -> Columns {
    let attributes = || of.clone().map(|of| Some(&of?.attributes));
    let is_rare = |column: &Column| matches!(column, Column::Ctime | Column::Atime | Column::Btime);
    let mut columns: Columns = Column::attributes()
        .filter(|column| !is_rare(column))
        .map(|column| (format!("{tree}_{}", column.name()), column.array(attributes())))
        .collect();
    let entries: UInt64Array = of.clone().map(|of| of.map(Facts::entries)).collect();
    let allocated: UInt64Array = of.clone().map(|of| of.map(Facts::allocated)).collect();
    columns.push((format!("{tree}_entries"), Arc::new(entries)));
    columns.push((format!("{tree}_total_allocated"), Arc::new(allocated)));
    columns
}
