//! Lists for programs: a JSON object per line, or comma-separated values.

use std::io::Write;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use transect::{FieldMask, LineFormat, ListEntry};

use super::value;
use crate::output::columns::{Column, Columns, Value};
use crate::output::json;

/// The message for errors that cannot happen: writing to memory does not fail.
const IN_MEMORY: &str = "BUG: a line in memory that cannot be written";

/// A JSON object per entry. The keys are the names of the columns; unknown values are null.
#[derive(Debug)]
pub(super) struct Json(pub(super) Columns);

impl LineFormat for Json {
    fn fields(&self) -> FieldMask {
        self.0.fields()
    }

    fn write(&self, entry: &ListEntry<'_>, line: &mut Vec<u8>) {
        let object = Object { columns: &self.0, entry };
        json::write(line, &object).expect(IN_MEMORY);
    }
}

struct Object<'a> {
    columns: &'a Columns,
    entry: &'a ListEntry<'a>,
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for column in self.columns.iter() {
            value::of_column(self.columns, column, self.entry).write(column.as_str(), &mut map)?;
        }
        map.end()
    }
}

/// Comma-separated values. Names and paths are written as raw bytes; unknown values are empty.
#[derive(Debug)]
pub(super) struct Csv(pub(super) Columns);

impl LineFormat for Csv {
    fn fields(&self) -> FieldMask {
        self.0.fields()
    }

    fn write(&self, entry: &ListEntry<'_>, line: &mut Vec<u8>) {
        write_record(
            line,
            self.0.iter().map(|column| field(value::of_column(&self.0, column, entry))),
        );
    }
}

/// Returns the header line.
pub(super) fn header(columns: &[Column]) -> Vec<u8> {
    let mut line = Vec::new();
    write_record(&mut line, columns.iter().map(|column| column.as_str().as_bytes().to_vec()));
    line.push(b'\n');
    line
}

/// Appends a record without its terminator.
fn write_record(line: &mut Vec<u8>, fields: impl Iterator<Item = Vec<u8>>) {
    const CAPACITY: usize = 512;
    let mut csv = csv::WriterBuilder::new().buffer_capacity(CAPACITY).from_writer(&mut *line);
    for field in fields {
        csv.write_field(field).expect(IN_MEMORY);
    }
    csv.write_record(None::<&[u8]>).and_then(|()| Ok(csv.flush()?)).expect(IN_MEMORY);
    drop(csv);
    line.pop();
}

fn field(value: Value) -> Vec<u8> {
    let mut field = Vec::new();
    let written = match value {
        Value::Unknown => Ok(()),
        Value::Name(name) => return name.into_encoded_bytes(),
        Value::Word(word) => return word.into_bytes(),
        Value::Bytes(number) | Value::Number(number) => write!(field, "{number}"),
        Value::Bits(bits) => write!(field, "{bits}"),
        Value::Mode(mode, _) => write!(field, "{mode}"),
        Value::Time(time) => write!(field, "{time}"),
    };
    written.expect(IN_MEMORY);
    field
}
