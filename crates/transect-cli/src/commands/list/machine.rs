//! Lists for programs: a JSON object per line, or comma-separated values.

use transect::FieldMask;
use transect::internal::{LineFormat, ListEntry};

use super::value;
use crate::output::columns::{Column, Columns, Object, Value};
use crate::output::csv::Record;
use crate::output::json;

/// A JSON object per entry. The keys are the names of the columns; unknown values are null.
#[derive(Debug)]
pub(super) struct Json(pub(super) Columns);

impl LineFormat for Json {
    fn fields(&self) -> FieldMask {
        self.0.fields()
    }

    fn write(&self, entry: &ListEntry<'_>, line: &mut Vec<u8>) {
        let object = Object(&self.0, |column| value::of_column(&self.0, column, entry));
        json::write(line, &object).expect("BUG: a line in memory that cannot be written");
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
        let mut record = Record::new(line);
        for column in self.0.iter() {
            match value::of_column(&self.0, column, entry) {
                Value::Unknown => record.unknown(),
                Value::Name(name) => record.text(name.as_encoded_bytes()),
                Value::Word(word) => record.text(word.as_bytes()),
                Value::Bytes(number) | Value::Number(number) => record.plain(number),
                Value::Bits(bits) => record.plain(bits),
                Value::Mode(mode, _) => record.plain(mode),
                Value::Time(time) => record.plain(time),
            }
        }
    }
}

pub(super) fn header(columns: &[Column]) -> Vec<u8> {
    let mut line = Vec::new();
    let mut record = Record::new(&mut line);
    columns.iter().for_each(|column| record.plain(column.as_str()));
    line.push(b'\n');
    line
}
