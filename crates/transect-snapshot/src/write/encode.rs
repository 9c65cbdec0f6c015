//! Encodes columns as Parquet, each group in memory.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::ZstdLevel;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Primitive};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type, TypePtr};

use crate::schema::{COLUMNS, ColumnSpec, Layout, Meaning, PAGE_ROWS, Physical};

use super::columns::{ColumnValues, GroupColumns, Values};

/// The level of compression. Higher levels take twice the time for a few percent.
const ZSTD_LEVEL: i32 = 3;

/// An encoded group: for each column its bytes, and their description.
pub(super) struct EncodedGroup {
    pub(super) columns: Vec<(Bytes, ColumnCloseResult)>,
}

/// Encodes groups.
pub(super) struct Encoder {
    schema: TypePtr,
    descriptor: SchemaDescriptor,
    properties: WriterPropertiesPtr,
}

impl Encoder {
    pub(super) fn new() -> Self {
        let fields = COLUMNS.iter().map(|spec| Arc::new(parquet_type(spec))).collect();
        let schema = Type::group_type_builder("snapshot").with_fields(fields).build();
        let schema = Arc::new(schema.expect("BUG: the schema is not valid"));
        let descriptor = SchemaDescriptor::new(Arc::clone(&schema));
        Self { schema, descriptor, properties: Arc::new(properties()) }
    }

    pub(super) fn schema(&self) -> TypePtr {
        Arc::clone(&self.schema)
    }

    pub(super) fn properties(&self) -> WriterPropertiesPtr {
        Arc::clone(&self.properties)
    }

    /// Encodes a group.
    pub(super) fn encode(&self, group: GroupColumns) -> Result<EncodedGroup, ParquetError> {
        let columns = group.0.into_iter().enumerate();
        let encoded = columns.map(|(index, column)| self.encode_column(index, column));
        Ok(EncodedGroup { columns: encoded.collect::<Result<_, _>>()? })
    }

    fn encode_column(
        &self,
        index: usize,
        column: ColumnValues,
    ) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let mut sink = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let descriptor = self.descriptor.column(index);
        let mut writer = get_column_writer(descriptor, Arc::clone(&self.properties), pages);
        let defined = COLUMNS[index].optional.then_some(column.defined.as_slice());
        match (&mut writer, &column.values) {
            (ColumnWriter::Int32ColumnWriter(writer), Values::Int32(values)) => {
                writer.write_batch(values, defined, None)?
            }
            (ColumnWriter::Int64ColumnWriter(writer), Values::Int64(values)) => {
                writer.write_batch(values, defined, None)?
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Bytes(values)) => {
                writer.write_batch(values, defined, None)?
            }
            (ColumnWriter::FixedLenByteArrayColumnWriter(writer), Values::Fixed16(values)) => {
                writer.write_batch(values, defined, None)?
            }
            _ => unreachable!("BUG: a column has values of another type"),
        };
        let close = writer.close()?;
        Ok((Bytes::from(sink.into_inner()?), close))
    }
}

fn parquet_type(spec: &ColumnSpec) -> Type {
    let primitive = match spec.physical {
        Physical::Int32 => Primitive::INT32,
        Physical::Int64 => Primitive::INT64,
        Physical::Bytes => Primitive::BYTE_ARRAY,
        Physical::Fixed16 => Primitive::FIXED_LEN_BYTE_ARRAY,
    };
    let logical = match spec.meaning {
        Meaning::Text => Some(LogicalType::String),
        Meaning::Binary => None,
        Meaning::Unsigned(bits) => Some(LogicalType::integer(bits, false)),
        Meaning::Time => Some(LogicalType::timestamp(true, TimeUnit::NANOS)),
    };
    let repetition = if spec.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let built = Type::primitive_type_builder(spec.name, primitive)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .with_length(if spec.physical == Physical::Fixed16 { 16 } else { -1 })
        .build();
    built.expect("BUG: a column of the schema is not valid")
}

fn properties() -> WriterProperties {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).expect("BUG: not a level of zstd");
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("transect ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_data_page_row_count_limit(PAGE_ROWS)
        // The limit of rows is checked after each batch.
        .set_write_batch_size(1024)
        .set_max_row_group_row_count(None);
    for spec in COLUMNS {
        let path = ColumnPath::from(spec.name);
        let encoding = match spec.layout {
            Layout::Plain => Encoding::PLAIN,
            Layout::Dictionary => {
                properties = properties.set_column_dictionary_enabled(path.clone(), true);
                Encoding::PLAIN
            }
            Layout::Delta => Encoding::DELTA_BINARY_PACKED,
            Layout::ByteStreamSplit => Encoding::BYTE_STREAM_SPLIT,
            Layout::DeltaLength => Encoding::DELTA_LENGTH_BYTE_ARRAY,
            Layout::DeltaBytes => Encoding::DELTA_BYTE_ARRAY,
        };
        properties = properties.set_column_encoding(path.clone(), encoding);
        // Nothing is ever looked up by the range of these.
        if matches!(spec.name, "name" | "name_raw" | "digest") {
            properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    properties.build()
}
