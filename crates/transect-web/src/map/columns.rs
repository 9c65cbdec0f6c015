//! The attributes of entries as columns: arrays of numbers of one width, and the names as one text.
//!
//! Most sizes and times fit into 32 bits. The high bits of the others are in a sparse column, so
//! that a file of 2^60 bytes or a time before 1970 does not cost every entry four more bytes.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use foldhash::fast::FixedState;
use serde::Serialize;
use transect::FileType;
use transect::table::{Row, SubtreeTotals, Table};

use super::file_kinds::{self, FileKinds, ModeSample};
use super::selection::{Item, Selection};

/// The entry types by number; the last two are not types of entries.
pub(super) const TYPES: &[&str] =
    &["unknown", "file", "directory", "symlink", "block", "char", "fifo", "socket", "more", "top"];
const MORE: u8 = 8;
const TOP: u8 = 9;

/// No single owner: several, unknown, or beyond the first 65,535.
const NO_OWNER: u16 = u16::MAX;

/// A column: name, type, offset in bytes, number of elements.
#[derive(Debug, Serialize)]
pub(super) struct ColumnLocation(&'static str, &'static str, usize, usize);

pub(super) struct PackedColumns {
    pub(super) locations: Vec<ColumnLocation>,
    pub(super) bytes: Vec<u8>,
}

/// 64-bit numbers, most of which fit into 32 bits.
#[derive(Debug, Default)]
pub(super) struct SplitI64 {
    low: Vec<u32>,
    at: Vec<u32>,
    high: Vec<i32>,
}

impl SplitI64 {
    /// The high bits of an unknown number.
    const UNKNOWN: i32 = i32::MIN;

    /// Appends a number, if it is known.
    fn push(&mut self, number: Option<i64>) {
        let high = number.map_or(Self::UNKNOWN, |number| (number >> 32) as i32);
        if high != 0 {
            self.at.push(self.low.len() as u32);
            self.high.push(high);
        }
        self.low.push(number.unwrap_or(0) as u32);
    }

    /// Appends a size, if it is known.
    pub(super) fn push_size(&mut self, size: Option<u64>) {
        self.push(size.map(|size| i64::try_from(size).unwrap_or(i64::MAX)));
    }

    /// Appends a time as seconds, if it is known.
    fn push_time(&mut self, nanoseconds: Option<i64>) {
        self.push(nanoseconds.map(|time| time.div_euclid(1_000_000_000)));
    }
}

/// The columns. Sparse ones have an index column (`_at`).
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) owners: Vec<String>,
    pub(super) unread: Vec<&'static str>,
    /// Each name ends with NUL, which names cannot contain.
    names: Vec<u8>,
    children: Vec<u32>,
    entries: Vec<u32>,
    types: Vec<u8>,
    kinds: Vec<u8>,
    owner: Vec<u16>,
    sizes: SplitI64,
    times: SplitI64,
    shared_at: Vec<u32>,
    shared: Vec<f64>,
    exclusive: Vec<f64>,
    partial_at: Vec<u32>,
    errors: Vec<u32>,
    why: Vec<u8>,
}

/// The columns of what changed, one number for each item.
#[derive(Debug, Default)]
pub(super) struct ChangeColumns {
    pub(super) before: SplitI64,
    pub(super) after: SplitI64,
    pub(super) states: Vec<u8>,
    pub(super) moved_at: Vec<u32>,
    /// Each path ends with NUL.
    pub(super) moved_from: Vec<u8>,
}

impl Columns {
    pub(super) fn of(table: &Table, selection: &Selection, owner_name: fn(u32) -> String) -> Self {
        let mut columns = Self { children: selection.children.clone(), ..Self::default() };
        let kinds = FileKinds::new();
        let modes_show_programs = modes_show_programs(table, selection, &kinds);
        let mut owners = HashMap::with_hasher(FixedState::default());
        for (&item, &size) in selection.items.iter().zip(&selection.sizes) {
            columns.sizes.push_size(Some(size));
            match item {
                Item::Top => columns.push_aggregate(TOP, &table.grand_total()),
                Item::Remainder(place) => {
                    columns.push_aggregate(MORE, &selection.remainders[place as usize]);
                }
                Item::Entry(row) => {
                    columns.push_entry(table, row, &kinds, modes_show_programs);
                    let uid = table.attributes(row).uid();
                    let owner = uid.map_or(NO_OWNER, |uid| {
                        let next = u16::try_from(owners.len()).unwrap_or(NO_OWNER);
                        *owners.entry(uid).or_insert_with(|| {
                            columns.owners.push(owner_name(uid));
                            next
                        })
                    });
                    columns.owner.push(owner);
                }
            }
        }
        columns
    }

    /// Appends a nameless item that stands for several entries.
    fn push_aggregate(&mut self, number: u8, sums: &SubtreeTotals) {
        self.names.push(0);
        self.entries.push(u32::try_from(sums.entries()).unwrap_or(u32::MAX));
        self.types.push(number);
        self.kinds.push(file_kinds::NONE);
        self.owner.push(NO_OWNER);
        self.times.push_time(sums.newest());
    }

    fn push_entry(
        &mut self,
        table: &Table,
        row: Row,
        kinds: &FileKinds,
        modes_show_programs: bool,
    ) {
        let (file_type, sums, name) =
            (table.file_type(row), table.totals(row), text(table.name(row)));
        let place = self.types.len() as u32;
        self.entries.push(u32::try_from(sums.entries()).unwrap_or(u32::MAX));
        self.types.push(file_type as u8);
        self.kinds.push(if file_type == FileType::File {
            let mode = table.attributes(row).mode();
            kinds.of(&name, mode.filter(|_| modes_show_programs))
        } else {
            file_kinds::NONE
        });
        self.names.extend(name.bytes().chain([0]));
        self.times.push_time(sums.newest());
        let shared = table.shared(row);
        if shared > 0 {
            self.shared_at.push(place);
            self.shared.push(shared as f64);
            self.exclusive.push(table.exclusive(row) as f64);
        }
        let (errors, unread) = (table.errors(row), table.unread_reason(row));
        if errors > 0 || unread.is_some() {
            self.partial_at.push(place);
            self.errors.push(u32::try_from(errors).unwrap_or(u32::MAX));
            let why = unread.map_or(u8::MAX, |why| self.reason_index(why.as_str()));
            self.why.push(why);
        }
    }

    /// Returns the index of a reason, and adds it if it is new.
    fn reason_index(&mut self, word: &'static str) -> u8 {
        let known = self.unread.iter().position(|&known| known == word);
        known.unwrap_or_else(|| {
            self.unread.push(word);
            self.unread.len() - 1
        }) as u8
    }

    /// Concatenates all columns, with those of changes if there are any, and compresses them with deflate, which every browser supports.
    ///
    /// # Errors
    /// Compression failed.
    pub(super) fn pack(&self, changes: Option<&ChangeColumns>) -> io::Result<PackedColumns> {
        let mut packer = Packer {
            locations: Vec::new(),
            written: 0,
            // Fast compression: the user waits for the page.
            out: DeflateEncoder::new(Vec::new(), Compression::fast()),
        };
        packer.column("children", &self.children, u32::to_le_bytes)?;
        packer.column("entries", &self.entries, u32::to_le_bytes)?;
        packer.column("type", &self.types, u8::to_le_bytes)?;
        packer.column("kind", &self.kinds, u8::to_le_bytes)?;
        packer.column("owner", &self.owner, u16::to_le_bytes)?;
        packer.split_i64(["size", "size_at", "size_high"], &self.sizes)?;
        packer.split_i64(["time", "time_at", "time_high"], &self.times)?;
        packer.column("shared_at", &self.shared_at, u32::to_le_bytes)?;
        packer.column("shared", &self.shared, f64::to_le_bytes)?;
        packer.column("exclusive", &self.exclusive, f64::to_le_bytes)?;
        packer.column("partial_at", &self.partial_at, u32::to_le_bytes)?;
        packer.column("errors", &self.errors, u32::to_le_bytes)?;
        packer.column("why", &self.why, u8::to_le_bytes)?;
        packer.column("names", &self.names, u8::to_le_bytes)?;
        if let Some(changes) = changes {
            packer.split_i64(["before", "before_at", "before_high"], &changes.before)?;
            packer.split_i64(["after", "after_at", "after_high"], &changes.after)?;
            packer.column("states", &changes.states, u8::to_le_bytes)?;
            packer.column("moved_at", &changes.moved_at, u32::to_le_bytes)?;
            packer.column("moved_from", &changes.moved_from, u8::to_le_bytes)?;
        }
        Ok(PackedColumns { locations: packer.locations, bytes: packer.out.finish()? })
    }
}

struct Packer {
    locations: Vec<ColumnLocation>,
    written: usize,
    out: DeflateEncoder<Vec<u8>>,
}

impl Packer {
    /// Writes a column, aligned for numbers of any width.
    fn column<T: Copy + ColumnType, const N: usize>(
        &mut self,
        name: &'static str,
        numbers: &[T],
        bytes: fn(T) -> [u8; N],
    ) -> io::Result<()> {
        self.locations.push(ColumnLocation(name, T::NAME, self.written, numbers.len()));
        for some in numbers.chunks(8192) {
            let some: Vec<u8> = some.iter().flat_map(|&number| bytes(number)).collect();
            self.out.write_all(&some)?;
        }
        let length = numbers.len() * N;
        let gap = length.next_multiple_of(8) - length;
        self.out.write_all(&[0; 8][..gap])?;
        self.written += length + gap;
        Ok(())
    }

    fn split_i64(
        &mut self,
        [low, at, high]: [&'static str; 3],
        split_i64: &SplitI64,
    ) -> io::Result<()> {
        self.column(low, &split_i64.low, u32::to_le_bytes)?;
        self.column(at, &split_i64.at, u32::to_le_bytes)?;
        self.column(high, &split_i64.high, i32::to_le_bytes)
    }
}

/// The name of a number type in the scripts.
trait ColumnType {
    const NAME: &'static str;
}

macro_rules! numbers {
    ($($number:ident)*) => {
        $(impl ColumnType for $number { const NAME: &'static str = stringify!($number); })*
    };
}
numbers!(u8 u16 u32 i32 f64);

/// Returns whether the permission bits in a table distinguish programs from other files.
fn modes_show_programs(table: &Table, selection: &Selection, kinds: &FileKinds) -> bool {
    let mut sample = ModeSample::default();
    for item in &selection.items {
        if let Item::Entry(row) = *item
            && table.file_type(row) == FileType::File
        {
            sample.add(kinds, &text(table.name(row)), table.attributes(row).mode());
            if sample.is_enough() {
                break;
            }
        }
    }
    sample.shows_programs()
}

/// Returns a name as text. Bytes that are not UTF-8 become replacement characters.
pub(super) fn text(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
