//! The columns of `list` and `attributes`: names, fields and values.

use std::ffi::OsString;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use transect::{Attributes, FieldMask, FileType};
use transect_snapshot::COMPARED;
use transect_text::units;

use super::json::hex;
use super::owner::{self, NameCache};
use super::time::TimeFormatter;

transect_sys::words! {
    /// A column of `list` or `attributes`, with the name that users type and that stands in JSON.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Column {
        Name = "name",
        Path = "path",
        Target = "target",
        Owner = "owner",
        Group = "group",
        Type = "type",
        Size = "size",
        Allocated = "allocated",
        Mtime = "mtime",
        Ctime = "ctime",
        Atime = "atime",
        Btime = "btime",
        Mode = "mode",
        Uid = "uid",
        Gid = "gid",
        Nlink = "nlink",
        Inode = "inode",
        Device = "device",
        Attributes = "attributes",
        ReparseTag = "reparse_tag",
        /// Whether the entry is on the disk as it was stored: of `find --verify`.
        Disk = "disk",
    }
}

impl Column {
    /// All that users name: name, path and target, then owner and group by name, then the attributes.
    pub(crate) const NAMED: &'static [Self] = Self::ALL.split_at(Self::ALL.len() - 1).0;

    /// All except name, path and target.
    pub(crate) const EXCEPT_PATHS: &'static [Self] = Self::NAMED.split_at(3).1;

    /// The attributes that the system reports.
    pub(crate) const ATTRIBUTES: &'static [Self] = Self::NAMED.split_at(5).1;

    /// Returns the attributes that `diff` compares.
    pub(crate) fn compared() -> impl Iterator<Item = Self> {
        let is_compared = |column: &Self| COMPARED.contains(column.field());
        Self::ATTRIBUTES.iter().copied().skip(1).filter(is_compared)
    }

    /// Returns the key of the bytes of a name in JSON.
    fn raw_name(self) -> Option<&'static str> {
        match self {
            Self::Name => Some("name_raw"),
            Self::Path => Some("path_raw"),
            Self::Target => Some("target_raw"),
            _ => None,
        }
    }

    /// Returns the field to query; empty for names and the type, which every reader returns, and for
    /// the target of a link, which is read separately.
    pub(crate) fn field(self) -> FieldMask {
        match self {
            Self::Name | Self::Path | Self::Target | Self::Disk | Self::Type => FieldMask::empty(),
            Self::Size => FieldMask::SIZE,
            Self::Allocated => FieldMask::ALLOCATED,
            Self::Mtime => FieldMask::MTIME,
            Self::Ctime => FieldMask::CTIME,
            Self::Atime => FieldMask::ATIME,
            Self::Btime => FieldMask::BTIME,
            Self::Mode => FieldMask::MODE,
            Self::Uid | Self::Owner => FieldMask::UID,
            Self::Gid | Self::Group => FieldMask::GID,
            Self::Nlink => FieldMask::NLINK,
            Self::Inode => FieldMask::INODE,
            Self::Device => FieldMask::DEVICE,
            Self::Attributes => FieldMask::ATTRIBUTES,
            Self::ReparseTag => FieldMask::REPARSE_TAG,
        }
    }

    /// Returns the width of most values, in characters.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Name | Self::Target => 24,
            Self::Path => 40,
            Self::Type => 9,
            Self::Size | Self::Allocated | Self::Owner | Self::Group | Self::Disk => 8,
            Self::Mtime | Self::Ctime | Self::Atime | Self::Btime => 19,
            Self::Uid | Self::Gid | Self::Nlink => 5,
            Self::Mode | Self::Inode | Self::Attributes => 10,
            Self::Device => 6,
            Self::ReparseTag => 11,
        }
    }

    /// Returns whether values are left-aligned: words are, numbers are not.
    pub(crate) fn is_left_aligned(self) -> bool {
        matches!(
            self,
            Self::Name
                | Self::Path
                | Self::Target
                | Self::Disk
                | Self::Owner
                | Self::Group
                | Self::Type
                | Self::Mode
        )
    }
}

/// The value of a column; each output format writes it in its own way.
pub(crate) enum Value {
    Unknown,
    Name(OsString),
    Word(String),
    Bytes(u64),
    Number(u64),
    /// A Windows bit mask.
    Bits(u32),
    Mode(u16, FileType),
    /// Nanoseconds since 1970 UTC.
    Time(i64),
}

impl Value {
    /// Returns the value as text for the terminal.
    pub(crate) fn text(self, times: &TimeFormatter) -> String {
        match self {
            Self::Unknown => "-".to_owned(),
            Self::Name(name) => name.to_string_lossy().into_owned(),
            Self::Word(word) => word,
            Self::Bytes(bytes) => units::bytes(bytes),
            Self::Number(number) => number.to_string(),
            Self::Bits(bits) => format!("{bits:#010x}"),
            Self::Mode(mode, file_type) => permissions(mode, file_type),
            Self::Time(time) => times.text(time),
        }
    }

    /// Serializes the exact value as an entry of a map, null if it is unknown. For a name, another
    /// entry has its bytes in hexadecimal, or null if it is Unicode.
    pub(crate) fn write<M: SerializeMap>(
        &self,
        column: Column,
        map: &mut M,
    ) -> Result<(), M::Error> {
        let name = column.as_str();
        match self {
            Self::Unknown => map.serialize_entry(name, &None::<()>),
            Self::Name(text) => map.serialize_entry(name, &text.to_string_lossy()),
            Self::Word(word) => map.serialize_entry(name, word),
            Self::Bytes(number) | Self::Number(number) => map.serialize_entry(name, number),
            Self::Bits(bits) => map.serialize_entry(name, bits),
            Self::Mode(mode, _) => map.serialize_entry(name, mode),
            Self::Time(time) => map.serialize_entry(name, time),
        }?;
        // In every line, because some readers take the keys from the first lines.
        match (column.raw_name(), self) {
            (None, _) => Ok(()),
            (Some(raw_name), Self::Name(text)) if text.to_str().is_none() => {
                map.serialize_entry(raw_name, &hex(text.as_encoded_bytes()))
            }
            (Some(raw_name), _) => map.serialize_entry(raw_name, &None::<()>),
        }
    }
}

/// The columns to show, with the name caches that they need.
#[derive(Debug)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    users: NameCache,
    groups: NameCache,
}

impl Columns {
    pub(crate) fn new(columns: &[Column]) -> Self {
        let (users, groups) = (NameCache::new(owner::user_name), NameCache::new(owner::group_name));
        Self { columns: columns.to_vec(), users, groups }
    }

    pub(crate) fn fields(&self) -> FieldMask {
        self.columns.iter().map(|column| column.field()).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Column> {
        self.columns.iter().copied()
    }

    /// Returns the value of a column that shows an attribute. Attributes contain neither the name
    /// of an entry nor the target of a link.
    pub(crate) fn value(&self, column: Column, of: &Attributes) -> Value {
        let known = match column {
            Column::Name | Column::Path | Column::Target | Column::Disk => None,
            Column::Owner => of.uid().and_then(|uid| self.users.of(uid)).map(Value::Word),
            Column::Group => of.gid().and_then(|gid| self.groups.of(gid)).map(Value::Word),
            Column::Type => Some(Value::Word(of.file_type().as_str().to_owned())),
            Column::Size => of.size().map(Value::Bytes),
            Column::Allocated => of.allocated().map(Value::Bytes),
            Column::Mtime => of.mtime().map(Value::Time),
            Column::Ctime => of.ctime().map(Value::Time),
            Column::Atime => of.atime().map(Value::Time),
            Column::Btime => of.btime().map(Value::Time),
            Column::Mode => of.mode().map(|mode| Value::Mode(mode, of.file_type())),
            Column::Uid => of.uid().map(|uid| Value::Number(uid.into())),
            Column::Gid => of.gid().map(|gid| Value::Number(gid.into())),
            Column::Nlink => of.nlink().map(|links| Value::Number(links.into())),
            Column::Inode => of.inode().map(Value::Number),
            Column::Device => of.device().map(Value::Number),
            Column::Attributes => of.attribute_bits().map(Value::Bits),
            Column::ReparseTag => of.reparse_tag().map(Value::Bits),
        };
        known.unwrap_or(Value::Unknown)
    }
}

/// The values that a function returns for columns, as an object.
pub(crate) struct Object<'a, F>(pub(crate) &'a Columns, pub(crate) F);

impl<F: Fn(Column) -> Value> Serialize for Object<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for column in self.0.iter() {
            self.1(column).write(column, &mut map)?;
        }
        map.end()
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
    fn columns_exist_for_every_attribute() {
        let fields: FieldMask = Column::ATTRIBUTES.iter().map(|column| column.field()).collect();
        assert_eq!(FieldMask::all() - fields, FieldMask::SHORT_NAME);
        assert_eq!(Column::ATTRIBUTES[0], Column::Type);
        assert_eq!(Column::EXCEPT_PATHS[0], Column::Owner);
    }

    #[test]
    fn columns_unknown_value_not_shown() {
        let nothing = Attributes::default();
        let columns = Columns::new(Column::NAMED);
        for column in columns.iter().filter(|&column| column != Column::Type) {
            assert!(matches!(columns.value(column, &nothing), Value::Unknown), "{column:?}");
        }
    }

    #[test]
    fn permissions_equal_ls() {
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
