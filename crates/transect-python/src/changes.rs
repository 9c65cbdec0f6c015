//! The changes of a diff as rows.

use std::ffi::CStr;
use std::sync::Arc;

use transect::FieldMask;
use transect_snapshot::{Change, Diff, Facts};

use crate::arrow::array::{Array, Builder, Field, Kind};
use crate::arrow::interface::BatchSource;
use crate::columns::{Column, lossy};

/// Rows in a batch, except the last.
const BATCH_ROWS: usize = 65_536;

/// The names of attributes that are compared.
pub(crate) const COMPARED: [(&str, FieldMask); 11] = [
    ("size", FieldMask::SIZE),
    ("allocated", FieldMask::ALLOCATED),
    ("mtime", FieldMask::MTIME),
    ("ctime", FieldMask::CTIME),
    ("btime", FieldMask::BTIME),
    ("mode", FieldMask::MODE),
    ("uid", FieldMask::UID),
    ("gid", FieldMask::GID),
    ("nlink", FieldMask::NLINK),
    ("inode", FieldMask::INODE),
    ("device", FieldMask::DEVICE),
];

/// The columns that describe a change.
const OF_CHANGE: [(&CStr, Kind); 9] = [
    (c"change", Kind::Text),
    (c"path", Kind::Text),
    (c"path_raw", Kind::Binary),
    (c"from", Kind::Text),
    (c"from_raw", Kind::Binary),
    (c"changed", Kind::Text),
    (c"reason", Kind::Text),
    (c"growth", Kind::I64),
    (c"moved_entries", Kind::U64),
];

/// The attributes of an entry in each of the trees.
const ATTRIBUTES: [(Column, [&CStr; 2]); 10] = [
    (Column::Type, [c"before_type", c"after_type"]),
    (Column::Size, [c"before_size", c"after_size"]),
    (Column::Allocated, [c"before_allocated", c"after_allocated"]),
    (Column::Mtime, [c"before_mtime", c"after_mtime"]),
    (Column::Mode, [c"before_mode", c"after_mode"]),
    (Column::Uid, [c"before_uid", c"after_uid"]),
    (Column::Gid, [c"before_gid", c"after_gid"]),
    (Column::Nlink, [c"before_nlink", c"after_nlink"]),
    (Column::Inode, [c"before_inode", c"after_inode"]),
    (Column::Device, [c"before_device", c"after_device"]),
];

/// What lies in and below an entry in each of the trees.
const TOTALS: [[&CStr; 2]; 2] =
    [[c"before_entries", c"after_entries"], [c"before_total_allocated", c"after_total_allocated"]];

pub(crate) struct ChangeBatches {
    diff: Arc<Diff>,
    next: usize,
}

impl ChangeBatches {
    pub(crate) fn new(diff: Arc<Diff>) -> Self {
        Self { diff, next: 0 }
    }
}

impl BatchSource for ChangeBatches {
    fn fields(&self) -> Vec<Field> {
        let field = |name: &'static CStr, kind: Kind| Field { name, format: kind.format() };
        let mut fields: Vec<Field> = OF_CHANGE.map(|(name, kind)| field(name, kind)).to_vec();
        for tree in 0..2 {
            fields.extend(ATTRIBUTES.map(|(column, names)| field(names[tree], column.kind())));
            fields.extend(TOTALS.map(|names| field(names[tree], Kind::U64)));
        }
        fields
    }

    fn metadata(&self) -> Vec<(&'static str, String)> {
        vec![("transect.version", env!("CARGO_PKG_VERSION").to_owned())]
    }

    fn rows(&self) -> usize {
        self.diff.changes.len()
    }

    fn next_batch(&mut self) -> Option<(usize, Vec<Array>)> {
        let rest = &self.diff.changes[self.next..];
        let batch = &rest[..rest.len().min(BATCH_ROWS)];
        self.next += batch.len();
        if batch.is_empty() {
            return None;
        }
        let mut of_change = OF_CHANGE.map(|(_, kind)| kind.builder(batch.len()));
        let mut trees = [FactsBuilders::new(batch.len()), FactsBuilders::new(batch.len())];
        for change in batch {
            push(&mut of_change, change);
            trees[0].push(change.before.as_ref());
            trees[1].push(change.after.as_ref());
        }
        let builders = of_change.into_iter().chain(trees.into_iter().flat_map(FactsBuilders::all));
        Some((batch.len(), builders.map(Builder::finish).collect()))
    }
}

fn push(builders: &mut [Builder; OF_CHANGE.len()], of: &Change) {
    let [change, path, path_raw, from, from_raw, changed, reason, growth, moved] = builders;
    change.bytes(Some(of.kind.as_str().as_bytes()));
    path.bytes(Some(&lossy(&of.path)));
    path_raw.bytes(raw(&of.path));
    from.bytes(of.from.as_deref().map(lossy).as_deref());
    from_raw.bytes(of.from.as_deref().and_then(raw));
    let names = COMPARED.iter().filter(|(_, field)| of.fields.contains(*field));
    let names: Vec<&str> = names.map(|(name, _)| *name).collect();
    changed.bytes((!names.is_empty()).then(|| names.join(",")).as_deref().map(str::as_bytes));
    reason.bytes(of.reason.as_deref().map(str::as_bytes));
    growth.signed(i64::try_from(of.growth()).ok());
    moved.number(Some(of.moved_entries));
}

/// Returns bytes that are not UTF-8.
fn raw(bytes: &[u8]) -> Option<&[u8]> {
    str::from_utf8(bytes).is_err().then_some(bytes)
}

/// The columns of one of the trees.
struct FactsBuilders {
    attributes: [Builder; ATTRIBUTES.len()],
    entries: Builder,
    total_allocated: Builder,
}

impl FactsBuilders {
    fn new(rows: usize) -> Self {
        Self {
            attributes: ATTRIBUTES.map(|(column, _)| column.kind().builder(rows)),
            entries: Kind::U64.builder(rows),
            total_allocated: Kind::U64.builder(rows),
        }
    }

    fn push(&mut self, facts: Option<&Facts>) {
        for ((column, _), builder) in ATTRIBUTES.iter().zip(&mut self.attributes) {
            match facts {
                Some(facts) => column.push(builder, &facts.attributes),
                None => builder.null(),
            }
        }
        self.entries.number(facts.map(Facts::entries));
        self.total_allocated.number(facts.map(Facts::allocated));
    }

    fn all(self) -> impl Iterator<Item = Builder> {
        self.attributes.into_iter().chain([self.entries, self.total_allocated])
    }
}
