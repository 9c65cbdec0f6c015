//! The object that `usage --json` prints.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use transect::table::{Row, SubtreeTotals, Table};

use super::groups::Group;
use super::tree::Line;
use super::view::{Usage, View, unread};
use crate::output::json::{DiskObject, PathEntry};

#[derive(Serialize)]
pub(super) struct Object {
    schema: &'static str,
    roots: Vec<String>,
    complete: bool,
    unverified: bool,
    interrupted: bool,
    measure: &'static str,
    #[serde(flatten)]
    total: SumsEntry,
    hard_links: u64,
    disk: Option<DiskObject>,
    errors: u64,
    vanished: u64,
    elapsed_ns: u64,
    reader: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reader_reason: Option<String>,
    order: Option<&'static str>,
    threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<Entry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<GroupEntry>>,
}

#[derive(Serialize)]
struct SumsEntry {
    files: u32,
    directories: u32,
    others: u32,
    apparent_size: u64,
    disk_usage: u64,
    newest_mtime: Option<i64>,
}

#[derive(Serialize)]
struct Entry {
    #[serde(flatten, serialize_with = "path")]
    path: PathBuf,
    depth: usize,
    r#type: &'static str,
    #[serde(flatten)]
    sums: SumsEntry,
    shared_size: u64,
    exclusive_size: u64,
    errors: u64,
    unread: Option<&'static str>,
}

#[derive(Serialize)]
struct GroupEntry {
    key: String,
    #[serde(flatten)]
    sums: SumsEntry,
}

impl Object {
    pub(super) fn new(roots: &[PathBuf], usage: &Usage) -> Self {
        let Usage { outcome, unverified, elapsed, interrupted, table, disk, measure, view } = usage;
        let outcome = outcome.as_ref();
        let (mut entries, mut groups) = (None, None);
        match view {
            View::Tree(lines) => {
                let entry = |line: &Line| Entry::new(table, line.row, line.last.len());
                entries = Some(lines.iter().map(entry).collect());
            }
            View::Groups(all) => {
                let group = |group: &Group| GroupEntry {
                    key: group.key.clone(),
                    sums: (&group.sums).into(),
                };
                groups = Some(all.iter().map(group).collect());
            }
        }
        Self {
            schema: "transect.usage/1",
            roots: roots.iter().map(|root| root.to_string_lossy().into_owned()).collect(),
            complete: table.diagnostics().is_complete() && !interrupted,
            unverified: *unverified,
            interrupted: *interrupted,
            measure: measure.as_str(),
            total: (&table.grand_total()).into(),
            hard_links: table.hard_links(),
            disk: disk.map(DiskObject::from),
            errors: table.diagnostics().errors,
            vanished: table.diagnostics().vanished,
            elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            reader: outcome.map(|outcome| outcome.reader.as_str()),
            reader_reason: outcome.and_then(|outcome| outcome.reader_reason.clone()),
            order: outcome.map(|outcome| outcome.order.as_str()),
            threads: outcome.map(|outcome| outcome.threads),
            entries,
            groups,
        }
    }
}

impl From<&SubtreeTotals> for SumsEntry {
    fn from(sums: &SubtreeTotals) -> Self {
        Self {
            files: sums.files,
            directories: sums.directories,
            others: sums.others,
            apparent_size: sums.apparent,
            disk_usage: sums.disk_usage,
            newest_mtime: sums.newest(),
        }
    }
}

impl Entry {
    fn new(table: &Table, row: Row, depth: usize) -> Self {
        Self {
            path: table.path(row),
            depth,
            r#type: table.file_type(row).as_str(),
            sums: (&table.totals(row)).into(),
            shared_size: table.shared(row),
            exclusive_size: table.exclusive(row),
            errors: table.errors(row),
            unread: unread(table, row),
        }
    }
}

fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    PathEntry::from(path).serialize(serializer)
}
