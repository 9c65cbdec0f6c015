//! Lists for people: aligned columns, sizes with units, local times.

use std::ffi::OsStr;

use transect::{FieldMask, LineFormat, ListEntry};

use super::colours::Colours;
use super::value;
use crate::output::columns::{Column, Columns, Value};
use crate::output::quote;
use crate::output::time::TimeFormatter;

/// Columns with the width of typical values: lines are printed before the widest one is found.
#[derive(Debug)]
pub(super) struct HumanFormat {
    columns: Columns,
    /// Quote names, for a terminal.
    quoted: bool,
    colours: Option<Colours>,
    times: TimeFormatter,
}

impl HumanFormat {
    pub(super) fn new(columns: Columns, quoted: bool, colours: Option<Colours>) -> Self {
        let times = TimeFormatter::for_fields(columns.fields());
        Self { columns, quoted, colours, times }
    }

    fn write_name(&self, column: Column, name: &OsStr, entry: &ListEntry<'_>, line: &mut Vec<u8>) {
        let Some(colours) = self.colours.as_ref().filter(|_| column != Column::Target) else {
            return self.write_text(name, line);
        };
        let (text, own) = (quote::for_terminal(name), quote::for_terminal(entry.name()));
        let is_below = column == Column::Path && text.len() > own.len();
        let (above, own) = text.split_at(if is_below { text.len() - own.len() } else { 0 });
        colours.paint(above, own, entry, line);
    }

    fn write_text(&self, name: &OsStr, line: &mut Vec<u8>) {
        match self.quoted {
            true => line.extend_from_slice(quote::for_terminal(name).as_bytes()),
            false => line.extend_from_slice(name.as_encoded_bytes()),
        }
    }
}

impl LineFormat for HumanFormat {
    fn fields(&self) -> FieldMask {
        let coloured = if self.colours.is_some() { FieldMask::MODE } else { FieldMask::empty() };
        self.columns.fields() | coloured
    }

    fn write(&self, entry: &ListEntry<'_>, line: &mut Vec<u8>) {
        let mut padding = 0_usize;
        for (place, column) in self.columns.iter().enumerate() {
            let value = value::of_column(&self.columns, column, entry);
            if column == Column::Target && place > 0 {
                // As in ls: directly after the name, and nothing for other types.
                if let Value::Name(target) = value {
                    let before = line.len();
                    line.extend_from_slice(b" -> ");
                    self.write_text(&target, line);
                    padding = padding.saturating_sub(line.len() - before);
                }
                continue;
            }
            let gap = if place > 0 { 2 } else { 0 };
            line.resize(line.len() + padding + gap, b' ');
            let width = column.width();
            padding = match value {
                Value::Name(name) => {
                    self.write_name(column, &name, entry, line);
                    width.saturating_sub(name.len())
                }
                value => {
                    let text = value.text(&self.times);
                    let missing = width.saturating_sub(text.chars().count());
                    let before = if column.is_left_aligned() { 0 } else { missing };
                    line.resize(line.len() + before, b' ');
                    line.extend_from_slice(text.as_bytes());
                    missing - before
                }
            };
        }
    }
}
