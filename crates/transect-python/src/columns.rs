//! The columns of a table for data frames.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use transect::{Attributes, FieldMask, FileType};

use crate::arrow::array::{Array, BytesBuilder, Field, PlainBuilder};

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

            fn name(self) -> &'static str {
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

            fn kind(self) -> Kind {
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
    pub(crate) fn defaults() -> Vec<Self> {
        let rare = [Self::Dir, Self::Ctime, Self::Atime, Self::Btime];
        Self::ALL.iter().copied().filter(|column| !rare.contains(column)).collect()
    }

    /// Returns the columns with these names.
    ///
    /// # Errors
    /// `ValueError` if there is no such column, or one is named twice.
    pub(crate) fn parse(names: &[String]) -> PyResult<Vec<Self>> {
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
}

/// The type of a column in Arrow.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Binary,
    U16,
    U32,
    U64,
    /// Nanoseconds since 1970 UTC.
    Time,
}

impl Kind {
    const fn format(self) -> &'static std::ffi::CStr {
        match self {
            Self::Text => c"U",
            Self::Binary => c"Z",
            Self::U16 => c"S",
            Self::U32 => c"I",
            Self::U64 => c"L",
            Self::Time => c"tsn:UTC",
        }
    }
}

/// Builds one column of one batch.
pub(crate) struct ColumnBuilder {
    column: Column,
    values: Values,
}

enum Values {
    Bytes(BytesBuilder),
    U16(PlainBuilder<u16>),
    U32(PlainBuilder<u32>),
    U64(PlainBuilder<u64>),
    Time(PlainBuilder<i64>),
}

impl ColumnBuilder {
    pub(crate) fn new(column: Column, rows: usize) -> Self {
        let values = match column.kind() {
            Kind::Text | Kind::Binary => Values::Bytes(BytesBuilder::with_capacity(rows)),
            Kind::U16 => Values::U16(PlainBuilder::with_capacity(rows)),
            Kind::U32 => Values::U32(PlainBuilder::with_capacity(rows)),
            Kind::U64 => Values::U64(PlainBuilder::with_capacity(rows)),
            Kind::Time => Values::Time(PlainBuilder::with_capacity(rows)),
        };
        Self { column, values }
    }

    pub(crate) fn push(&mut self, row: &RowValues<'_>) {
        let attributes = &row.attributes;
        match &mut self.values {
            Values::Bytes(builder) => push_bytes(builder, self.column, row),
            Values::U16(builder) => builder.push(attributes.mode()),
            Values::U32(builder) => builder.push(match self.column {
                Column::Uid => attributes.uid(),
                Column::Gid => attributes.gid(),
                Column::Nlink => attributes.nlink(),
                _ => u32::try_from(row.depth).ok(),
            }),
            Values::U64(builder) => builder.push(match self.column {
                Column::Size => attributes.size(),
                Column::Allocated => attributes.allocated(),
                Column::Inode => attributes.inode(),
                _ => attributes.device(),
            }),
            Values::Time(builder) => builder.push(match self.column {
                Column::Mtime => attributes.mtime(),
                Column::Ctime => attributes.ctime(),
                Column::Atime => attributes.atime(),
                _ => attributes.btime(),
            }),
        }
    }

    pub(crate) fn finish(self) -> Array {
        match self.values {
            Values::Bytes(builder) => builder.finish(),
            Values::U16(builder) => builder.finish(),
            Values::U32(builder) => builder.finish(),
            Values::U64(builder) => builder.finish(),
            Values::Time(builder) => builder.finish(),
        }
    }
}

fn push_bytes(builder: &mut BytesBuilder, column: Column, row: &RowValues<'_>) {
    let name = row.name.as_encoded_bytes();
    match column {
        Column::PathRaw => builder.push((!row.path_is_utf8).then_some(row.path)),
        Column::Type => builder.push(Some(row.attributes.file_type().as_str().as_bytes())),
        Column::Extension => {
            let extension = match row.attributes.file_type() {
                FileType::Directory => None,
                _ => Path::new(row.name).extension().filter(|extension| !extension.is_empty()),
            };
            let text = extension.map(|extension| text(extension.as_encoded_bytes(), row));
            builder.push(text.as_deref());
        }
        Column::Name => builder.push(Some(&text(name, row))),
        Column::Dir => builder.push(Some(&text(&row.path[..row.dir_length], row))),
        _ => builder.push(Some(&text(row.path, row))),
    }
}

/// Returns a part of the path as UTF-8: what is not UTF-8 is replaced.
fn text<'a>(bytes: &'a [u8], row: &RowValues<'_>) -> Cow<'a, [u8]> {
    if row.path_is_utf8 {
        return Cow::Borrowed(bytes);
    }
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}
