//! The columns of a table for data frames.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use transect::{Attributes, FieldMask, FileType};

use crate::arrow::array::{Array, Builder, Field, Kind};

/// Some entries, as the columns need them.
#[derive(Default)]
pub(crate) struct Block<'a> {
    pub(crate) rows: Vec<BlockRow<'a>>,
    /// The bytes of all paths, one after the other.
    pub(crate) paths: Vec<u8>,
}

/// An entry.
pub(crate) struct BlockRow<'a> {
    pub(crate) name: &'a OsStr,
    /// Where the path is.
    pub(crate) path: Range<usize>,
    /// The number of leading bytes of the path that are the directory.
    pub(crate) dir_length: usize,
    pub(crate) path_is_utf8: bool,
    pub(crate) depth: u32,
    pub(crate) attributes: Attributes,
}

/// Defines the columns: `name` with its type in Arrow and, if a table stores it only on request, its
/// field.
macro_rules! columns {
    ($($id:ident $name:literal $kind:ident $field:expr;)*) => {
        /// A column.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Column { $($id,)* }

        impl Column {
            const ALL: &[Self] = &[$(Self::$id,)*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$id => $name,)* }
            }

            pub(crate) fn field(self) -> Field {
                match self {
                    $(Self::$id => Field {
                        name: const {
                            match std::ffi::CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                                Ok(name) => name,
                                Err(_) => panic!("BUG: a name with a NUL"),
                            }
                        },
                        format: Kind::$kind.format(),
                    },)*
                }
            }

            pub(crate) fn kind(self) -> Kind {
                match self { $(Self::$id => Kind::$kind,)* }
            }

            /// Returns the attribute that a table must store.
            pub(crate) fn needs(self) -> FieldMask {
                match self { $(Self::$id => $field,)* }
            }
        }
    };
}

columns! {
    Path "path" Text FieldMask::empty();
    Dir "dir" Text FieldMask::empty();
    Name "name" Text FieldMask::empty();
    Extension "extension" Text FieldMask::empty();
    Type "type" Text FieldMask::empty();
    Depth "depth" U32 FieldMask::empty();
    Size "size" U64 FieldMask::SIZE;
    Allocated "allocated" U64 FieldMask::ALLOCATED;
    Mtime "mtime" Time FieldMask::MTIME;
    Ctime "ctime" Time FieldMask::CTIME;
    Atime "atime" Time FieldMask::ATIME;
    Btime "btime" Time FieldMask::BTIME;
    Mode "mode" U16 FieldMask::MODE;
    Uid "uid" U32 FieldMask::UID;
    Gid "gid" U32 FieldMask::GID;
    Nlink "nlink" U32 FieldMask::NLINK;
    Inode "inode" U64 FieldMask::INODE;
    Device "device" U64 FieldMask::DEVICE;
    PathRaw "path_raw" Binary FieldMask::empty();
}

impl Column {
    /// The columns of a table that was read without a choice: all but those that repeat `path` or that
    /// few programs use.
    fn defaults() -> Vec<Self> {
        let rare = [Self::Dir, Self::Ctime, Self::Atime, Self::Btime];
        Self::ALL.iter().copied().filter(|column| !rare.contains(column)).collect()
    }

    /// Returns the columns with these names; without names, the default ones.
    ///
    /// # Errors
    /// `ValueError` if there is no such column, one is named twice, or the list is empty.
    pub(crate) fn choose(names: Option<&[String]>) -> PyResult<Vec<Self>> {
        match names {
            Some([]) => Err(PyValueError::new_err("columns must not be empty")),
            Some(names) => Self::parse(names),
            None => Ok(Self::defaults()),
        }
    }

    /// Returns the attributes that a table must store for these columns.
    pub(crate) fn fields(columns: &[Self]) -> FieldMask {
        columns.iter().fold(FieldMask::empty(), |fields, column| fields | column.needs())
    }

    /// Returns the columns with these names.
    ///
    /// # Errors
    /// `ValueError` if there is no such column, or one is named twice.
    fn parse(names: &[String]) -> PyResult<Vec<Self>> {
        let mut columns = Vec::new();
        for name in names {
            let Some(column) = Self::ALL.iter().copied().find(|column| column.name() == name)
            else {
                let all: Vec<&str> = Self::ALL.iter().map(|column| column.name()).collect();
                let message = format!("there is no column '{name}'; columns: {}", all.join(", "));
                return Err(PyValueError::new_err(message));
            };
            if columns.contains(&column) {
                return Err(PyValueError::new_err(format!("column '{name}' is named twice")));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// Adds the value of a column of attributes.
    ///
    /// # Panics
    /// If the column contains a part of the path.
    pub(crate) fn push(self, builder: &mut Builder, of: &Attributes) {
        self.extend(builder, std::iter::once(of));
    }

    /// Adds the values of a column of attributes.
    ///
    /// # Panics
    /// If the column contains a part of the path.
    fn extend<'a>(self, builder: &mut Builder, of: impl Iterator<Item = &'a Attributes> + Clone) {
        match (self, builder) {
            (Self::Type, builder) => {
                of.for_each(|of| builder.bytes(Some(of.file_type().as_str().as_bytes())));
            }
            (Self::Size, Builder::U64(builder)) => builder.extend(of.map(Attributes::size)),
            (Self::Allocated, Builder::U64(builder)) => {
                builder.extend(of.map(Attributes::allocated))
            }
            (Self::Mtime, Builder::I64(builder)) => builder.extend(of.map(Attributes::mtime)),
            (Self::Ctime, Builder::I64(builder)) => builder.extend(of.map(Attributes::ctime)),
            (Self::Atime, Builder::I64(builder)) => builder.extend(of.map(Attributes::atime)),
            (Self::Btime, Builder::I64(builder)) => builder.extend(of.map(Attributes::btime)),
            (Self::Mode, Builder::U16(builder)) => builder.extend(of.map(Attributes::mode)),
            (Self::Uid, Builder::U32(builder)) => builder.extend(of.map(Attributes::uid)),
            (Self::Gid, Builder::U32(builder)) => builder.extend(of.map(Attributes::gid)),
            (Self::Nlink, Builder::U32(builder)) => builder.extend(of.map(Attributes::nlink)),
            (Self::Inode, Builder::U64(builder)) => builder.extend(of.map(Attributes::inode)),
            (Self::Device, Builder::U64(builder)) => builder.extend(of.map(Attributes::device)),
            _ => panic!("BUG: '{}' is not an attribute, or has another builder", self.name()),
        }
    }
}

/// Builds one column of one batch.
pub(crate) struct ColumnBuilder {
    column: Column,
    builder: Builder,
}

impl ColumnBuilder {
    pub(crate) fn new(column: Column, rows: usize) -> Self {
        Self { column, builder: column.kind().builder(rows) }
    }

    /// Adds the rows of a block. One column at a time is faster than one row at a time.
    pub(crate) fn push(&mut self, block: &Block<'_>) {
        let rows = block.rows.iter();
        match (self.column, &mut self.builder) {
            (Column::Depth, Builder::U32(builder)) => {
                builder.extend(rows.map(|row| Some(row.depth)))
            }
            (
                Column::Path | Column::Dir | Column::Name | Column::Extension,
                Builder::Bytes(builder),
            ) => {
                for row in rows {
                    let part = match self.column {
                        Column::Path => Some(&block.paths[row.path.clone()]),
                        Column::Dir => Some(&block.paths[row.path.clone()][..row.dir_length]),
                        Column::Name => Some(row.name.as_encoded_bytes()),
                        _ => extension(row),
                    };
                    match part {
                        Some(part) if !row.path_is_utf8 => builder.push(Some(&lossy(part))),
                        part => builder.push(part),
                    }
                }
            }
            (Column::PathRaw, Builder::Bytes(builder)) => {
                let raw = |row: &BlockRow<'_>| !row.path_is_utf8;
                rows.for_each(|row| builder.push(raw(row).then(|| &block.paths[row.path.clone()])));
            }
            (column, builder) => column.extend(builder, rows.map(|row| &row.attributes)),
        }
    }

    pub(crate) fn finish(self) -> Array {
        self.builder.finish()
    }
}

/// Returns what follows the last dot of the name, as `Path::extension` does.
fn extension<'a>(row: &BlockRow<'a>) -> Option<&'a [u8]> {
    if row.attributes.file_type() == FileType::Directory {
        return None;
    }
    let name = match row.depth {
        // The name of a root is its path.
        0 => Path::new(row.name).file_name()?,
        _ => row.name,
    };
    let name = name.as_encoded_bytes();
    let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
    Some(&name[dot + 1..]).filter(|extension| !extension.is_empty())
}

/// Returns bytes as UTF-8: what is not UTF-8 is replaced.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}
