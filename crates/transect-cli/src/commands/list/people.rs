//! Lists for people: columns beside each other, sizes with units, local times.

use std::ffi::OsStr;

use transect::{FieldMask, FileType, LineFormat, Listed};

use super::colours::Colours;
use super::value::{Columns, Value};
use crate::args::Column;
use crate::output::clock::Clock;
use crate::output::{quote, units};

/// Columns as wide as most values are: nobody knows the widest before the last entry is found.
#[derive(Debug)]
pub(super) struct People {
    columns: Columns,
    /// Names must not steer the terminal that shows them.
    quoted: bool,
    colours: Option<Colours>,
    clock: Clock,
}

impl People {
    pub(super) fn new(columns: Columns, quoted: bool, colours: Option<Colours>) -> Self {
        let clock = Clock::showing(columns.fields());
        Self { columns, quoted, colours, clock }
    }

    fn write_name(&self, column: Column, name: &OsStr, entry: &Listed<'_>, line: &mut Vec<u8>) {
        if !self.quoted {
            return line.extend_from_slice(name.as_encoded_bytes());
        }
        let text = quote::for_terminal(name);
        match &self.colours {
            None => line.extend_from_slice(text.as_bytes()),
            Some(colours) => {
                let own = quote::for_terminal(entry.name());
                let is_below = column == Column::Path && text.len() > own.len();
                let (above, own) = text.split_at(if is_below { text.len() - own.len() } else { 0 });
                colours.paint(above, own, entry, line);
            }
        }
    }

    fn text(&self, value: Value, file_type: FileType) -> String {
        match value {
            Value::Unknown => "-".to_owned(),
            Value::Name(name) => name.to_string_lossy().into_owned(),
            Value::Word(word) => word,
            Value::Bytes(bytes) => units::bytes(bytes),
            Value::Number(number) => number.to_string(),
            Value::Mode(mode) => permissions(mode, file_type),
            Value::Time(time) => self.clock.text(time),
        }
    }
}

impl LineFormat for People {
    fn fields(&self) -> FieldMask {
        let coloured = if self.colours.is_some() { FieldMask::MODE } else { FieldMask::empty() };
        self.columns.fields() | coloured
    }

    fn write(&self, entry: &Listed<'_>, line: &mut Vec<u8>) {
        let mut padding = 0;
        for (place, (column, value)) in self.columns.values(entry).enumerate() {
            let gap = if place > 0 { 2 } else { 0 };
            line.resize(line.len() + padding + gap, b' ');
            let width = width(column);
            padding = match value {
                Value::Name(name) => {
                    self.write_name(column, &name, entry, line);
                    width.saturating_sub(name.len())
                }
                value => {
                    let to_the_left = matches!(value, Value::Word(_) | Value::Mode(_));
                    let text = self.text(value, entry.attributes().file_type());
                    let missing = width.saturating_sub(text.chars().count());
                    let before = if to_the_left { 0 } else { missing };
                    line.resize(line.len() + before, b' ');
                    line.extend_from_slice(text.as_bytes());
                    missing - before
                }
            };
        }
    }
}

/// Returns how many characters most values of a column have.
fn width(column: Column) -> usize {
    match column {
        Column::Name => 24,
        Column::Path => 40,
        Column::Type => 9,
        Column::Size | Column::Allocated => 8,
        Column::Mtime | Column::Ctime | Column::Atime | Column::Btime => 19,
        Column::Mode => 10,
        Column::Uid | Column::Gid => 5,
        Column::Owner | Column::Group => 8,
        Column::Nlink => 3,
        Column::Inode => 10,
        Column::Device => 6,
    }
}

/// Returns type and permissions as `ls -l` shows them: `drwxr-xr-x`.
fn permissions(mode: u16, file_type: FileType) -> String {
    let first = match file_type {
        FileType::File => '-',
        FileType::Directory => 'd',
        FileType::Symlink => 'l',
        FileType::Block => 'b',
        FileType::Char => 'c',
        FileType::Fifo => 'p',
        FileType::Socket => 's',
        FileType::Unknown => '?',
    };
    let mut text = String::from(first);
    // Each of the three special bits is shown in the place of one execute bit.
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => letter,
            (true, false) => letter.to_ascii_uppercase(),
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_shown_as_ls_shows_them() {
        for (mode, file_type, text) in [
            (0o755, FileType::Directory, "drwxr-xr-x"),
            (0o644, FileType::File, "-rw-r--r--"),
            (0o4755, FileType::File, "-rwsr-xr-x"),
            (0o4644, FileType::File, "-rwSr--r--"),
            (0o2711, FileType::File, "-rwx--s--x"),
            (0o1777, FileType::Directory, "drwxrwxrwt"),
            (0o1776, FileType::Directory, "drwxrwxrwT"),
            (0o777, FileType::Symlink, "lrwxrwxrwx"),
            (0, FileType::Socket, "s---------"),
        ] {
            assert_eq!(permissions(mode, file_type), text, "{mode:o}");
        }
    }
}
