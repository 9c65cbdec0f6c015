//! Describes the content of a file: its schema, where each page lies, and the ranges of their values.
//!
//! Source: `parquet.thrift` of apache/parquet-format.

use crate::schema::{COLUMNS, ColumnSpec, Layout, Meaning, Physical};

use super::bounds::{Bounds, StoredBound};
use super::page::{PLAIN, PageFacts, RLE, encoding};
use super::thrift::{
    BINARY, Fields, I32, I64, STRUCT, binary, sealed_structure, structure, zigzag,
};

/// A page that is in the file.
#[derive(Debug)]
pub(super) struct PlacedPage {
    pub(super) offset: u64,
    /// Its length in the file.
    pub(super) length: usize,
    pub(super) first_row: usize,
    pub(super) facts: PageFacts,
}

/// A column of a row group. The descriptions of its pages are written already, behind each other.
#[derive(Debug)]
pub(super) struct ColumnChunk {
    pub(super) dictionary_offset: Option<u64>,
    pub(super) data_offset: u64,
    pub(super) rows: usize,
    pub(super) length: u64,
    pub(super) uncompressed: u64,
    pub(super) nulls: usize,
    /// The least and the greatest value.
    pub(super) bounds: Option<(StoredBound, StoredBound)>,
    /// Where the bounds of all pages lie, if they are stored.
    pub(super) bounds_index: Option<IndexPlace>,
    /// Where the places of all pages lie.
    pub(super) pages_index: IndexPlace,
}

/// A part of the file that describes others. The offset of those of pages is that behind the first of their kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexPlace {
    pub(super) offset: u64,
    pub(super) length: usize,
}

/// Where the descriptions of pages begin in the file, for each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexBases {
    pub(super) bounds: u64,
    pub(super) pages: u64,
}

/// Returns the bounds of all pages of a column (`ColumnIndex`).
pub(super) fn describe_bounds(pages: &[PlacedPage], spec: &ColumnSpec) -> Vec<u8> {
    let stored = |page: &PlacedPage| page.facts.bounds.as_ref().map(|it| it.stored(spec.physical));
    let stored: Vec<Option<(StoredBound, StoredBound)>> = pages.iter().map(stored).collect();
    let bound = |of: fn(&(StoredBound, StoredBound)) -> &StoredBound| {
        stored.iter().map(move |stored| stored.as_ref().map_or(&[][..], |it| &of(it).bytes))
    };
    sealed_structure(|fields| {
        fields.bools(1, stored.iter().map(Option::is_none));
        fields.list(2, BINARY, bound(|(least, _)| least), binary);
        fields.list(3, BINARY, bound(|(_, greatest)| greatest), binary);
        // Pages are not sorted.
        fields.i32(4, 0);
        let nulls = pages.iter().map(|page| page.facts.nulls);
        fields.list(5, I64, nulls, |out, nulls| zigzag(out, nulls as i64));
    })
}

/// Returns the places of all pages of a column (`OffsetIndex`).
pub(super) fn describe_places(pages: &[PlacedPage]) -> Vec<u8> {
    sealed_structure(|fields| {
        fields.list(1, STRUCT, pages.iter(), |out, page| {
            structure(out, |fields| {
                fields.i64(1, page.offset as i64);
                fields.i32(2, page.length as i32);
                fields.i64(3, page.first_row as i64);
            });
        });
    })
}

impl ColumnChunk {
    /// Describes the column (`ColumnChunk`).
    fn write(&self, spec: &ColumnSpec, bases: IndexBases, out: &mut Vec<u8>) {
        structure(out, |fields| {
            fields.i64(2, 0);
            fields.structure(3, |fields| self.write_metadata(spec, fields));
            fields.i64(4, (bases.pages + self.pages_index.offset) as i64);
            fields.i32(5, self.pages_index.length as i32);
            if let Some(bounds) = self.bounds_index {
                fields.i64(6, (bases.bounds + bounds.offset) as i64);
                fields.i32(7, bounds.length as i32);
            }
        });
    }

    /// Writes the fields of `ColumnMetaData`.
    fn write_metadata(&self, spec: &ColumnSpec, fields: &mut Fields<'_>) {
        const ZSTD: i32 = 6;
        fields.i32(1, spec.physical.number() as i32);
        let number = |out: &mut Vec<u8>, number: i32| zigzag(out, number.into());
        let used = match (self.dictionary_offset, spec.layout) {
            (Some(_), _) => vec![PLAIN, RLE, encoding(spec.layout)],
            // Without a value.
            (None, Layout::Dictionary) => vec![PLAIN, RLE],
            _ => vec![RLE, encoding(spec.layout)],
        };
        fields.list(2, I32, used.into_iter(), number);
        fields.list(3, BINARY, [spec.name.as_bytes()].into_iter(), binary);
        fields.i32(4, ZSTD);
        fields.i64(5, self.rows as i64);
        fields.i64(6, self.uncompressed as i64);
        fields.i64(7, self.length as i64);
        fields.i64(9, self.data_offset as i64);
        if let Some(offset) = self.dictionary_offset {
            fields.i64(11, offset as i64);
        }
        if Bounds::are_stored(spec) {
            fields.structure(12, |fields| self.write_statistics(fields));
        }
    }

    fn write_statistics(&self, fields: &mut Fields<'_>) {
        fields.i64(3, self.nulls as i64);
        if let Some((least, greatest)) = &self.bounds {
            fields.binary(5, &greatest.bytes);
            fields.binary(6, &least.bytes);
            fields.bool(7, greatest.is_exact);
            fields.bool(8, least.is_exact);
        }
    }
}

/// A row group: its columns in the order of [`COLUMNS`].
#[derive(Debug)]
pub(super) struct RowGroup {
    pub(super) rows: usize,
    pub(super) columns: Vec<ColumnChunk>,
}

impl RowGroup {
    fn write(&self, bases: IndexBases, out: &mut Vec<u8>) {
        let sum = |of: fn(&ColumnChunk) -> u64| self.columns.iter().map(of).sum::<u64>() as i64;
        structure(out, |fields| {
            let columns = self.columns.iter().zip(COLUMNS);
            fields.list(1, STRUCT, columns, |out, (column, spec)| column.write(spec, bases, out));
            fields.i64(2, sum(|column| column.uncompressed));
            fields.i64(3, self.rows as i64);
            let first = self.columns.first();
            let first = first.map(|column| column.dictionary_offset.unwrap_or(column.data_offset));
            fields.i64(5, first.unwrap_or(0) as i64);
            fields.i64(6, sum(|column| column.length));
        });
    }
}

/// Returns the description of a file (`FileMetaData`); the descriptions of pages begin at `bases`, `key_values` are
/// its metadata.
pub(super) fn describe(
    groups: &[RowGroup],
    bases: IndexBases,
    key_values: &[(&str, String)],
) -> Vec<u8> {
    sealed_structure(|fields| {
        fields.i32(1, 1);
        let elements = std::iter::once(None).chain(COLUMNS.iter().map(Some));
        let elements: Vec<Option<&ColumnSpec>> = elements.collect();
        fields.list(2, STRUCT, elements.into_iter(), |out, spec| schema_element(spec, out));
        fields.i64(3, groups.iter().map(|group| group.rows as i64).sum());
        fields.list(4, STRUCT, groups.iter(), |out, group| group.write(bases, out));
        fields.list(5, STRUCT, key_values.iter(), |out, (key, value)| {
            structure(out, |fields| {
                fields.binary(1, key.as_bytes());
                fields.binary(2, value.as_bytes());
            });
        });
        // In the form of Parquet's specification. Spark takes what it cannot parse for a version that wrote wrong
        // DELTA_BYTE_ARRAY pages (PARQUET-246), and refuses the file.
        fields.binary(6, concat!("transect version ", env!("CARGO_PKG_VERSION")).as_bytes());
        // Bounds are in the order of each type.
        fields.list(7, STRUCT, COLUMNS.iter(), |out, _| {
            structure(out, |fields| fields.structure(1, |_| {}));
        });
    })
}

/// Describes a column; the table itself if there is none (`SchemaElement`).
fn schema_element(spec: Option<&ColumnSpec>, out: &mut Vec<u8>) {
    structure(out, |fields| {
        let Some(spec) = spec else {
            fields.binary(4, b"snapshot");
            fields.i32(5, COLUMNS.len() as i32);
            return;
        };
        fields.i32(1, spec.physical.number() as i32);
        if spec.physical == Physical::Fixed16 {
            fields.i32(2, 16);
        }
        fields.i32(3, spec.optional.into());
        fields.binary(4, spec.name.as_bytes());
        // What older programs read, and what replaced it (`ConvertedType`, `LogicalType`).
        match spec.meaning {
            Meaning::Text => {
                fields.i32(6, 0);
                fields.structure(10, |kind| kind.structure(1, |_| {}));
            }
            Meaning::Binary => {}
            Meaning::Unsigned(bits) => {
                fields.i32(6, 8 + bits.ilog2() as i32);
                fields.structure(10, |kind| {
                    kind.structure(10, |fields| {
                        fields.byte(1, bits as u8);
                        fields.bool(2, false);
                    });
                });
            }
            Meaning::Time => fields.structure(10, |kind| {
                kind.structure(8, |fields| {
                    fields.bool(1, true);
                    // Nanoseconds.
                    fields.structure(2, |unit| unit.structure(3, |_| {}));
                });
            }),
        }
    });
}
