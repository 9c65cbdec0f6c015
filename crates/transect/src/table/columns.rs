//! Columns: one array per attribute, in chunks of 65,536 rows.
//!
//! A chunk never moves and never grows beyond its size. So filling a table copies nothing, merging
//! the tables of threads moves chunks, and memory beyond the last row is not touched. Names are bytes with
//! the offsets of their ends ([`NameBuffer`]), as in Arrow.

use std::ffi::OsStr;

use transect_sys::{Attributes, Batch, FieldMask, FileType, NameBuffer};

use super::column::Column;
use super::row::{CHUNK, Row};

/// Bytes reserved per name in a new chunk; untouched pages cost nothing.
const NAME_BYTES: usize = 32;

/// The columns of every table, besides names and types.
pub(super) const BASE_COLUMNS: FieldMask = FieldMask::SIZE.union(FieldMask::ALLOCATED);

/// Expands to the code that is the same for each column of plain values. Each table has those of sizes.
macro_rules! columns {
    (
        $(#[$size:meta])* SIZE size set_size: u64;
        $(#[$allocated:meta])* ALLOCATED allocated set_allocated: u64;
        $($(#[$doc:meta])* $flag:ident $get:ident $set:ident: $type:ty;)*
    ) => {
        /// A part of the rows, column by column.
        #[derive(Clone, Debug, Default)]
        pub(super) struct Chunk {
            names: NameBuffer,
            types: Vec<FileType>,
            size: Column<u64>,
            allocated: Column<u64>,
            $($get: Column<$type>,)*
            /// The known attributes of each row; empty while all are known for all rows.
            known: Vec<FieldMask>,
        }

        impl Chunk {
            /// Returns a chunk with memory reserved for the names of all its rows.
            pub(super) fn with_room() -> Self {
                Self {
                    names: NameBuffer::with_capacity(CHUNK, CHUNK * NAME_BYTES),
                    types: Vec::with_capacity(CHUNK),
                    ..Self::default()
                }
            }

            /// Removes all rows and keeps the memory.
            pub(super) fn clear(&mut self) {
                self.names.clear();
                self.types.clear();
                self.size.clear();
                self.allocated.clear();
                $(self.$get.clear();)*
                self.known.clear();
            }

            /// Appends entries of a batch, column by column.
            #[inline]
            pub(super) fn push_entries(
                &mut self,
                columns: FieldMask,
                batch: &Batch,
                entries: impl ExactSizeIterator<Item = usize> + Clone,
            ) {
                let each = || entries.clone().map(|index| batch.attributes_at(index));
                if !self.known.is_empty() || !each().all(|it| it.known().contains(columns)) {
                    self.known.resize(self.len(), columns);
                    self.known.extend(each().map(|it| it.known() & columns));
                }
                entries.clone().for_each(|index| self.names.push(batch.name_at(index)));
                self.types.extend(each().map(Attributes::file_type));
                each().for_each(|it| self.size.push(it.size().unwrap_or_default()));
                each().for_each(|it| self.allocated.push(it.allocated().unwrap_or_default()));
                $(if columns.contains(FieldMask::$flag) {
                    each().for_each(|it| self.$get.push(it.$get().unwrap_or_default()));
                })*
            }

            pub(super) fn push(&mut self, columns: FieldMask, name: &OsStr, attributes: &Attributes) {
                self.names.push(name);
                self.push_known(columns, attributes.known());
                self.types.push(attributes.file_type());
                self.size.push(attributes.size().unwrap_or_default());
                self.allocated.push(attributes.allocated().unwrap_or_default());
                $(if columns.contains(FieldMask::$flag) {
                    self.$get.push(attributes.$get().unwrap_or_default());
                })*
            }

            /// Appends rows of another chunk, column by column.
            pub(super) fn push_rows(
                &mut self,
                columns: FieldMask,
                from: &Self,
                rows: impl ExactSizeIterator<Item = usize> + Clone,
            ) {
                rows.clone().for_each(|row| self.names.push(from.name(row)));
                if !self.known.is_empty() || !from.known.is_empty() {
                    self.known.resize(self.len(), columns);
                    self.known.extend(rows.clone().map(|row| from.known(columns, row)));
                }
                self.types.extend(rows.clone().map(|row| from.types[row]));
                rows.clone().for_each(|row| self.size.push(from.size.get(row)));
                rows.clone().for_each(|row| self.allocated.push(from.allocated.get(row)));
                $(if columns.contains(FieldMask::$flag) {
                    rows.clone().for_each(|row| self.$get.push(from.$get.get(row)));
                })*
            }

            /// Overwrites the attributes of a row, but not its name and type.
            pub(super) fn set(&mut self, columns: FieldMask, row: usize, from: &Self, from_row: usize) {
                let known = from.known(columns, from_row);
                if self.known.is_empty() && known != columns {
                    self.known = vec![columns; self.len()];
                }
                if let Some(old) = self.known.get_mut(row) {
                    *old = known;
                }
                self.size.set(row, from.size.get(from_row));
                self.allocated.set(row, from.allocated.get(from_row));
                $(if columns.contains(FieldMask::$flag) {
                    self.$get.set(row, from.$get.get(from_row));
                })*
            }

            pub(super) fn attributes(&self, columns: FieldMask, row: usize) -> Attributes {
                let mut attributes = Attributes::of_type(self.types[row]);
                let known = self.known(columns, row);
                if known.contains(FieldMask::SIZE) {
                    attributes.set_size(self.size.get(row));
                }
                if known.contains(FieldMask::ALLOCATED) {
                    attributes.set_allocated(self.allocated.get(row));
                }
                $(if known.contains(FieldMask::$flag) {
                    attributes.$set(self.$get.get(row));
                })*
                attributes
            }

            /// Stores the rows in as few bits as they need. They cannot be changed any more.
            fn pack(&mut self) {
                self.names.pack();
                self.size.pack();
                self.allocated.pack();
                $(self.$get.pack();)*
            }

            /// Frees memory that was reserved and is not used.
            pub(super) fn shrink(&mut self) {
                self.names.shrink_to_fit();
                self.types.shrink_to_fit();
                self.size.shrink_to_fit();
                self.allocated.shrink_to_fit();
                $(self.$get.shrink_to_fit();)*
                self.known.shrink_to_fit();
            }
        }

        /// The columns that a table may have besides [`BASE_COLUMNS`].
        pub(super) const OPTIONAL: FieldMask = FieldMask::empty()$(.union(FieldMask::$flag))*;
    };
}

transect_sys::with_fields!(columns);

impl Chunk {
    pub(super) fn len(&self) -> usize {
        self.types.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() == CHUNK
    }

    #[inline]
    pub(super) fn name(&self, row: usize) -> &OsStr {
        self.names.get(row)
    }

    pub(super) fn names(&self) -> &NameBuffer {
        &self.names
    }

    #[inline]
    pub(super) fn file_type(&self, row: usize) -> FileType {
        self.types[row]
    }

    #[inline]
    pub(super) fn size(&self, columns: FieldMask, row: usize) -> Option<u64> {
        self.known(columns, row).contains(FieldMask::SIZE).then(|| self.size.get(row))
    }

    #[inline]
    pub(super) fn allocated(&self, columns: FieldMask, row: usize) -> Option<u64> {
        self.known(columns, row).contains(FieldMask::ALLOCATED).then(|| self.allocated.get(row))
    }

    #[inline]
    pub(super) fn mtime(&self, columns: FieldMask, row: usize) -> Option<i64> {
        self.known(columns, row).contains(FieldMask::MTIME).then(|| self.mtime.get(row))
    }

    #[inline]
    fn known(&self, columns: FieldMask, row: usize) -> FieldMask {
        self.known.get(row).copied().unwrap_or(columns)
    }

    fn push_known(&mut self, columns: FieldMask, have: FieldMask) {
        let known = have & columns;
        if self.known.is_empty() && known != columns {
            self.known = vec![columns; self.len()];
        }
        if known != columns || !self.known.is_empty() {
            self.known.push(known);
        }
    }
}

/// Rows in the order in which they were appended, chunk by chunk.
#[derive(Debug, Default)]
pub(super) struct Rows {
    columns: FieldMask,
    chunks: Vec<Chunk>,
}

impl Rows {
    pub(super) fn new(columns: FieldMask) -> Self {
        Self { columns: columns & OPTIONAL | BASE_COLUMNS, chunks: Vec::new() }
    }

    pub(super) fn columns(&self) -> FieldMask {
        self.columns
    }

    pub(super) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    #[inline]
    pub(super) fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Returns a number above that of every row.
    pub(super) fn limit(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    /// Returns the next row, if the table has room for `count` more. Appended rows have consecutive
    /// numbers: a chunk is filled before the next is begun.
    pub(super) fn next_row(&self, count: u32) -> Option<Row> {
        let next = match self.chunks.last() {
            Some(last) if !last.is_full() => Row::new(self.chunks.len() - 1, last.len())?,
            _ => Row::new(self.chunks.len(), 0)?,
        };
        next.0.checked_add(count)?.checked_add(1)?;
        Some(next)
    }

    pub(super) fn push(&mut self, name: &OsStr, attributes: &Attributes) {
        let columns = self.columns;
        self.with_room().push(columns, name, attributes);
    }

    /// Appends a row of a chunk with the same columns.
    pub(super) fn push_row(&mut self, from: &Chunk, row: usize) {
        self.push_rows(from, std::iter::once(row));
    }

    /// Appends rows of a chunk with the same columns.
    pub(super) fn push_rows(
        &mut self,
        from: &Chunk,
        rows: impl ExactSizeIterator<Item = usize> + Clone,
    ) {
        self.fill_chunks(rows, |chunk, columns, rows| chunk.push_rows(columns, from, rows));
    }

    /// Appends entries of a batch.
    pub(super) fn push_entries(
        &mut self,
        batch: &Batch,
        entries: impl ExactSizeIterator<Item = usize> + Clone,
    ) {
        self.fill_chunks(entries, |chunk, columns, entries| {
            chunk.push_entries(columns, batch, entries);
        });
    }

    /// Passes rows to the last chunk, as many as fit, and the rest to new ones.
    fn fill_chunks<I: ExactSizeIterator + Clone>(
        &mut self,
        mut rows: I,
        push: impl Fn(&mut Chunk, FieldMask, std::iter::Take<I>),
    ) {
        let columns = self.columns;
        while rows.len() > 0 {
            let chunk = self.with_room();
            let room = CHUNK - chunk.len();
            push(chunk, columns, rows.clone().take(room));
            rows.nth(room.min(rows.len()) - 1);
        }
    }

    fn with_room(&mut self) -> &mut Chunk {
        if self.chunks.last().is_none_or(Chunk::is_full) {
            self.chunks.push(Chunk::with_room());
        }
        self.chunks.last_mut().expect("BUG: a chunk was just made")
    }

    /// Appends the rows of another thread. Returns by how much their numbers grow; `None` if they
    /// exceed what a table can hold.
    pub(super) fn append(&mut self, mut other: Self) -> Option<u32> {
        let moved = Row::new(self.chunks.len(), 0)?;
        Row::new(self.chunks.len() + other.chunks.len(), 0)?;
        self.shrink();
        self.chunks.append(&mut other.chunks);
        Some(moved.0)
    }

    /// Frees memory that was reserved and is not used.
    pub(super) fn shrink(&mut self) {
        if let Some(last) = self.chunks.last_mut() {
            last.shrink();
        }
    }

    pub(super) fn pack(&mut self) {
        self.chunks.iter_mut().for_each(Chunk::pack);
    }

    pub(super) fn contains(&self, row: Row) -> bool {
        self.chunks.get(row.chunk()).is_some_and(|chunk| row.index() < chunk.len())
    }

    #[inline]
    pub(super) fn locate(&self, row: Row) -> (&Chunk, usize) {
        (&self.chunks[row.chunk()], row.index())
    }

    pub(super) fn set(&mut self, row: Row, from: &Self, from_row: Row) {
        let (chunk, index) = from.locate(from_row);
        self.chunks[row.chunk()].set(self.columns, row.index(), chunk, index);
    }

    #[inline]
    pub(super) fn name(&self, row: Row) -> &OsStr {
        let (chunk, index) = self.locate(row);
        chunk.name(index)
    }
}
