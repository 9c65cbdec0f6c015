//! The columns of a table for data frames.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, LargeBinaryBuilder, PrimitiveBuilder, make_builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, LargeStringArray};
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use transect::{Attributes, FieldMask, FileType};

use crate::options::choose;

/// Some entries, as the columns need them.
#[derive(Default)]
pub(crate) struct Block<'a> {
    pub(crate) rows: Vec<BlockRow<'a>>,
    /// The bytes of all paths, one after the other.
    pub(crate) paths: Vec<u8>,
}

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
    ($($id:ident $name:literal $data_type:expr, $field:expr;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Column { $($id,)* }

        impl Column {
            const ALL: &[Self] = &[$(Self::$id,)*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$id => $name,)* }
            }

            pub(crate) fn data_type(self) -> DataType {
                match self { $(Self::$id => $data_type,)* }
            }

            /// Returns the attribute that a table must store.
            pub(crate) fn needs(self) -> FieldMask {
                match self { $(Self::$id => $field,)* }
            }
        }
    };
}

columns! {
    Path "path" DataType::LargeUtf8, FieldMask::empty();
    Dir "dir" DataType::LargeUtf8, FieldMask::empty();
    Name "name" DataType::LargeUtf8, FieldMask::empty();
    Extension "extension" DataType::LargeUtf8, FieldMask::empty();
    Type "type" DataType::LargeUtf8, FieldMask::empty();
    Depth "depth" DataType::UInt32, FieldMask::empty();
    Size "size" DataType::UInt64, FieldMask::SIZE;
    Allocated "allocated" DataType::UInt64, FieldMask::ALLOCATED;
    Mtime "mtime" time(), FieldMask::MTIME;
    Ctime "ctime" time(), FieldMask::CTIME;
    Atime "atime" time(), FieldMask::ATIME;
    Btime "btime" time(), FieldMask::BTIME;
    Mode "mode" DataType::UInt16, FieldMask::MODE;
    Uid "uid" DataType::UInt32, FieldMask::UID;
    Gid "gid" DataType::UInt32, FieldMask::GID;
    Nlink "nlink" DataType::UInt32, FieldMask::NLINK;
    Inode "inode" DataType::UInt64, FieldMask::INODE;
    Device "device" DataType::UInt64, FieldMask::DEVICE;
    PathRaw "path_raw" DataType::LargeBinary, FieldMask::empty();
}

/// Nanoseconds since 1970.
fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
}

impl Column {
    /// The columns of a table that was read without a choice: all but those that repeat `path` or that
    /// few programs use.
    fn defaults() -> Vec<Self> {
        let rare = [Self::Dir, Self::Ctime, Self::Atime, Self::Btime];
        Self::ALL.iter().copied().filter(|column| !rare.contains(column)).collect()
    }

    /// Returns the columns that contain neither a path nor a part of one.
    pub(crate) fn attributes() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|it| *it == Self::Type || !it.needs().is_empty())
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
            let unknown = format!("there is no column '{name}'; columns");
            let column = choose(Self::ALL, Self::name, name, &unknown)?;
            if columns.contains(&column) {
                return Err(PyValueError::new_err(format!("column '{name}' is named twice")));
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// Returns the column with these attributes; null where there are none.
    ///
    /// # Panics
    /// If the column contains a part of the path.
    pub(crate) fn array<'a>(
        self,
        of: impl ExactSizeIterator<Item = Option<&'a Attributes>>,
    ) -> ArrayRef {
        let mut builder = ColumnBuilder::new(self, of.len());
        builder.extend(of);
        builder.finish()
    }
}

/// Builds one column of one batch.
pub(crate) struct ColumnBuilder {
    column: Column,
    /// Texts are built as bytes, which are checked all at once.
    builder: Box<dyn ArrayBuilder>,
}

impl ColumnBuilder {
    /// Returns the builder of a column with about this many rows.
    pub(crate) fn new(column: Column, rows: usize) -> Self {
        let data_type = match column.data_type() {
            DataType::LargeUtf8 => DataType::LargeBinary,
            data_type => data_type,
        };
        Self { column, builder: make_builder(&data_type, rows) }
    }

    /// Adds the rows of a block. One column at a time is faster than one row at a time.
    pub(crate) fn push(&mut self, block: &Block<'_>) {
        let rows = block.rows.iter();
        let path = |row: &BlockRow<'_>| &block.paths[row.path.clone()];
        match self.column {
            Column::Depth => self.numbers::<UInt32Type>(rows.map(|row| Some(row.depth))),
            Column::Path => self.texts(rows.map(|row| (row, Some(path(row))))),
            Column::Dir => self.texts(rows.map(|row| (row, Some(&path(row)[..row.dir_length])))),
            Column::Name => self.texts(rows.map(|row| (row, Some(row.name.as_encoded_bytes())))),
            Column::Extension => self.texts(rows.map(|row| (row, extension(row)))),
            Column::PathRaw => {
                self.bytes(rows.map(|row| (!row.path_is_utf8).then(|| path(row))));
            }
            _ => self.extend(rows.map(|row| Some(&row.attributes))),
        }
    }

    /// Adds the values of a column of attributes.
    ///
    /// # Panics
    /// If the column contains a part of the path.
    fn extend<'a>(&mut self, of: impl Iterator<Item = Option<&'a Attributes>>) {
        match self.column {
            Column::Type => self.bytes(of.map(|of| Some(of?.file_type().as_str().as_bytes()))),
            Column::Size => self.numbers::<UInt64Type>(of.map(|of| of?.size())),
            Column::Allocated => self.numbers::<UInt64Type>(of.map(|of| of?.allocated())),
            Column::Mtime => self.numbers::<TimestampNanosecondType>(of.map(|of| of?.mtime())),
            Column::Ctime => self.numbers::<TimestampNanosecondType>(of.map(|of| of?.ctime())),
            Column::Atime => self.numbers::<TimestampNanosecondType>(of.map(|of| of?.atime())),
            Column::Btime => self.numbers::<TimestampNanosecondType>(of.map(|of| of?.btime())),
            Column::Mode => self.numbers::<UInt16Type>(of.map(|of| of?.mode())),
            Column::Uid => self.numbers::<UInt32Type>(of.map(|of| of?.uid())),
            Column::Gid => self.numbers::<UInt32Type>(of.map(|of| of?.gid())),
            Column::Nlink => self.numbers::<UInt32Type>(of.map(|of| of?.nlink())),
            Column::Inode => self.numbers::<UInt64Type>(of.map(|of| of?.inode())),
            Column::Device => self.numbers::<UInt64Type>(of.map(|of| of?.device())),
            _ => panic!("BUG: '{}' is not an attribute", self.column.name()),
        }
    }

    fn numbers<T: ArrowPrimitiveType>(&mut self, values: impl Iterator<Item = Option<T::Native>>) {
        self.builder::<PrimitiveBuilder<T>>().extend(values);
    }

    fn bytes<'a>(&mut self, values: impl Iterator<Item = Option<&'a [u8]>>) {
        let builder: &mut LargeBinaryBuilder = self.builder();
        values.for_each(|value| builder.append_option(value));
    }

    /// Adds parts of paths.
    fn texts<'a>(&mut self, parts: impl Iterator<Item = (&'a BlockRow<'a>, Option<&'a [u8]>)>) {
        let builder: &mut LargeBinaryBuilder = self.builder();
        for (row, part) in parts {
            match part {
                Some(part) if !row.path_is_utf8 => {
                    builder.append_value(String::from_utf8_lossy(part).as_bytes())
                }
                part => builder.append_option(part),
            }
        }
    }

    fn builder<B: ArrayBuilder>(&mut self) -> &mut B {
        self.builder.as_any_mut().downcast_mut().expect("BUG: the builder of another type")
    }

    pub(crate) fn finish(mut self) -> ArrayRef {
        let array = self.builder.finish();
        match self.column.data_type() {
            DataType::LargeUtf8 => {
                Arc::new(LargeStringArray::from(array.as_binary::<i64>().clone()))
            }
            _ => array,
        }
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
