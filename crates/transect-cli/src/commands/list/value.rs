//! What a column says of an entry.

use std::ffi::OsString;

use transect::{FieldMask, Listed};

use crate::args::Column;
use crate::output::owner::{self, Names};

/// What a column says of an entry; each form of output has its own way to write it.
pub(super) enum Value {
    Unknown,
    /// A name or a path.
    Name(OsString),
    Word(String),
    Bytes(u64),
    Number(u64),
    Mode(u16),
    /// Nanoseconds since 1970 UTC.
    Time(i64),
}

/// The columns of a list, and what they are made of.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<Column>,
    users: Names,
    groups: Names,
}

impl Columns {
    pub(super) fn new(columns: &[Column]) -> Self {
        let (users, groups) = (Names::new(owner::user), Names::new(owner::group));
        Self { columns: columns.to_vec(), users, groups }
    }

    /// Returns the attributes that the columns tell.
    pub(super) fn fields(&self) -> FieldMask {
        self.columns.iter().map(|&column| field(column)).collect()
    }

    pub(super) fn are_paths_alone(&self) -> bool {
        self.columns == [Column::Path]
    }

    /// Iterates over the columns, and what they say of an entry.
    pub(super) fn values(&self, entry: &Listed<'_>) -> impl Iterator<Item = (Column, Value)> {
        self.columns.iter().map(|&column| (column, self.value(column, entry)))
    }

    fn value(&self, column: Column, entry: &Listed<'_>) -> Value {
        let of = entry.attributes();
        let known = match column {
            Column::Name => Some(Value::Name(entry.name().to_owned())),
            Column::Path => Some(Value::Name(entry.path().into_os_string())),
            Column::Type => Some(Value::Word(of.file_type().as_str().to_owned())),
            Column::Size => of.size().map(Value::Bytes),
            Column::Allocated => of.allocated().map(Value::Bytes),
            Column::Mtime => of.mtime().map(Value::Time),
            Column::Ctime => of.ctime().map(Value::Time),
            Column::Atime => of.atime().map(Value::Time),
            Column::Btime => of.btime().map(Value::Time),
            Column::Mode => of.mode().map(Value::Mode),
            Column::Uid => of.uid().map(|uid| Value::Number(uid.into())),
            Column::Gid => of.gid().map(|gid| Value::Number(gid.into())),
            Column::Owner => of.uid().and_then(|uid| self.users.of(uid)).map(Value::Word),
            Column::Group => of.gid().and_then(|gid| self.groups.of(gid)).map(Value::Word),
            Column::Nlink => of.nlink().map(|links| Value::Number(links.into())),
            Column::Inode => of.inode().map(Value::Number),
            Column::Device => of.device().map(Value::Number),
        };
        known.unwrap_or(Value::Unknown)
    }
}

/// Returns the attribute that a column tells.
fn field(column: Column) -> FieldMask {
    match column {
        Column::Name | Column::Path | Column::Type => FieldMask::empty(),
        Column::Size => FieldMask::SIZE,
        Column::Allocated => FieldMask::ALLOCATED,
        Column::Mtime => FieldMask::MTIME,
        Column::Ctime => FieldMask::CTIME,
        Column::Atime => FieldMask::ATIME,
        Column::Btime => FieldMask::BTIME,
        Column::Mode => FieldMask::MODE,
        Column::Uid | Column::Owner => FieldMask::UID,
        Column::Gid | Column::Group => FieldMask::GID,
        Column::Nlink => FieldMask::NLINK,
        Column::Inode => FieldMask::INODE,
        Column::Device => FieldMask::DEVICE,
    }
}
