//! Some attributes of all rows, by columns: a walk reads few of them, and attributes as a whole need more memory.

use transect::{Attributes, FieldMask, FileType};

use crate::attribute_columns::{ATTRIBUTES, SetAttribute};
use crate::read::{ReadAt, ReadError, Snapshot};

/// Some attributes of all rows.
#[derive(Debug, Default)]
pub(super) struct StoredAttributes {
    /// For each row, which of them are known.
    known: Vec<FieldMask>,
    columns: Vec<StoredColumn>,
}

/// An attribute of all rows; 0 if it is unknown.
#[derive(Debug)]
struct StoredColumn {
    field: FieldMask,
    set: SetAttribute,
    values: Vec<u64>,
}

impl StoredAttributes {
    /// Reads attributes of a snapshot that has `rows` rows, which were read.
    pub(super) fn read<S: ReadAt>(
        snapshot: &Snapshot<S>,
        fields: FieldMask,
        rows: usize,
    ) -> Result<Self, ReadError> {
        let mut attributes = Self { known: vec![FieldMask::empty(); rows], columns: Vec::new() };
        for (field, column, set) in ATTRIBUTES {
            if !fields.contains(field) {
                continue;
            }
            let mut values = Vec::with_capacity(rows);
            let mut reader = snapshot.column(column);
            while values.len() < rows {
                let page = reader.read_numbers(values.len() as u64)?;
                let known = attributes.known[values.len()..].iter_mut().zip(page.rows());
                known.filter(|(_, value)| value.is_some()).for_each(|(known, _)| *known |= field);
                values.extend_from_slice(page.values);
            }
            attributes.columns.push(StoredColumn { field, set, values });
        }
        Ok(attributes)
    }

    /// Returns which of them are known of a row.
    pub(super) fn known(&self, row: u32) -> FieldMask {
        self.known[row as usize]
    }

    /// Returns the attributes of a row, as far as they are `wanted`.
    pub(super) fn get(&self, row: u32, file_type: FileType, wanted: FieldMask) -> Attributes {
        let mut attributes = Attributes::of_type(file_type);
        let known = self.known(row) & wanted;
        for column in self.columns.iter().filter(|column| known.contains(column.field)) {
            (column.set)(&mut attributes, column.values[row as usize]);
        }
        attributes
    }
}
