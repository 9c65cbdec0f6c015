//! Usage as comma-separated values: a header, then one line per entry or group.

use std::io::{self, Write};
use std::ops::Range;

use transect::table::SubtreeTotals;

use crate::output::csv::Record;

use super::view::{Usage, View};

const SUMS: [&str; 6] =
    ["files", "directories", "others", "apparent_size", "disk_usage", "newest_mtime"];
/// Only with `--shared`.
const OF_SHARED: [&str; 2] = ["exclusive_least", "exclusive_most"];
const OF_ENTRIES: [&str; 7] =
    ["shared_size", "exclusive_size", "errors", "unread", "type", "depth", "path"];

/// Writes the rows. Paths are raw bytes.
pub(super) fn write(out: &mut impl Write, usage: &Usage) -> io::Result<()> {
    let table = &usage.table;
    match &usage.view {
        View::Tree(lines) => {
            let of_shared: &[&str] = if usage.shared.is_some() { &OF_SHARED } else { &[] };
            write_record(out, |record| {
                let names = SUMS.iter().chain(of_shared).chain(&OF_ENTRIES);
                names.for_each(|name| record.plain(name));
            })?;
            for line in lines {
                let row = line.row;
                write_record(out, |record| {
                    write_sums(record, &usage.totals(row));
                    if let Some(shared) = &usage.shared {
                        let Range { start, end } = shared.exclusive(table, row);
                        [start, end].into_iter().for_each(|number| record.plain(number));
                    }
                    for number in [table.shared(row), table.exclusive(row), table.errors(row)] {
                        record.plain(number);
                    }
                    match table.unread_reason(row) {
                        Some(reason) => record.text(reason.as_str().as_bytes()),
                        None => record.unknown(),
                    }
                    record.text(table.file_type(row).as_str().as_bytes());
                    record.plain(line.last.len());
                    record.text(table.path(row).as_os_str().as_encoded_bytes());
                })?;
            }
        }
        View::Groups(groups) => {
            write_record(out, |record| {
                SUMS.iter().chain(&["key"]).for_each(|name| record.plain(name));
            })?;
            for group in groups {
                write_record(out, |record| {
                    write_sums(record, &group.sums);
                    record.text(group.key.as_bytes());
                })?;
            }
        }
    }
    Ok(())
}

fn write_record(out: &mut impl Write, fill: impl FnOnce(&mut Record<'_>)) -> io::Result<()> {
    let mut line = Vec::new();
    fill(&mut Record::new(&mut line));
    line.push(b'\n');
    out.write_all(&line)
}

fn write_sums(record: &mut Record<'_>, sums: &SubtreeTotals) {
    for number in [sums.files, sums.directories, sums.others] {
        record.plain(number);
    }
    record.plain(sums.apparent);
    record.plain(sums.disk_usage);
    match sums.newest() {
        Some(time) => record.plain(time),
        None => record.unknown(),
    }
}
