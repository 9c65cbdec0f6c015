//! The columns of a table for data frames.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use transect::{Attributes, FieldMask, FileType};

use crate::arrow::array::{Array, Builder, Field, Kind};

/// An entry, as the columns need it.
pub(crate) struct RowValues<'a> {
    pub(crate) name: &'a OsStr,
    /// The bytes of the path.
    pub(crate) path: &'a [u8],
    /// The number of leading bytes of the path that are the directory.
    pub(crate) dir_length: usize,
    pub(crate) path_is_utf8: bool,
    pub(crate) depth: usize,
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
        match self {
            Self::Type => builder.bytes(Some(of.file_type().as_str().as_bytes())),
            Self::Size => builder.number(of.size()),
            Self::Allocated => builder.number(of.allocated()),
            Self::Mtime => builder.signed(of.mtime()),
            Self::Ctime => builder.signed(of.ctime()),
            Self::Atime => builder.signed(of.atime()),
            Self::Btime => builder.signed(of.btime()),
            Self::Mode => builder.number(of.mode().map(u64::from)),
            Self::Uid => builder.number(of.uid().map(u64::from)),
            Self::Gid => builder.number(of.gid().map(u64::from)),
            Self::Nlink => builder.number(of.nlink().map(u64::from)),
            Self::Inode => builder.number(of.inode()),
            Self::Device => builder.number(of.device()),
            Self::Path | Self::Dir | Self::Name | Self::Extension | Self::Depth | Self::PathRaw => {
                panic!("BUG: '{}' is not an attribute", self.name())
            }
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

    pub(crate) fn push(&mut self, row: &RowValues<'_>) {
        let builder = &mut self.builder;
        match self.column {
            Column::Path => builder.bytes(Some(&text(row.path, row))),
            Column::Dir => builder.bytes(Some(&text(&row.path[..row.dir_length], row))),
            Column::Name => builder.bytes(Some(&text(row.name.as_encoded_bytes(), row))),
            Column::Extension => {
                let text = extension(row).map(|extension| text(extension, row));
                builder.bytes(text.as_deref());
            }
            Column::PathRaw => builder.bytes((!row.path_is_utf8).then_some(row.path)),
            Column::Depth => builder.number(Some(row.depth as u64)),
            column => column.push(builder, &row.attributes),
        }
    }

    pub(crate) fn finish(self) -> Array {
        self.builder.finish()
    }
}

fn extension<'a>(row: &RowValues<'a>) -> Option<&'a [u8]> {
    match row.attributes.file_type() {
        FileType::Directory => None,
        _ => {
            Path::new(row.name).extension().map(OsStr::as_encoded_bytes).filter(|it| !it.is_empty())
        }
    }
}

/// Returns a part of the path as UTF-8: what is not UTF-8 is replaced.
fn text<'a>(bytes: &'a [u8], row: &RowValues<'_>) -> Cow<'a, [u8]> {
    if row.path_is_utf8 { Cow::Borrowed(bytes) } else { lossy(bytes) }
}

/// Returns bytes as UTF-8: what is not UTF-8 is replaced.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, [u8]> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}
