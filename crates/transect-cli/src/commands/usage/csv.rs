//! Usage as comma-separated values: a header, then one line per entry or group.

use std::io::{self, Write};
use std::ops::Range;

use transect::table::SubtreeTotals;

use crate::output::csv::Record;

use super::view::ReportRows;

const SUMS: [&str; 6] =
    ["files", "directories", "others", "apparent_size", "disk_usage", "newest_mtime"];
/// Only with `--shared`.
const OF_SHARED: [&str; 2] = ["exclusive_least", "exclusive_most"];
const OF_ENTRIES: [&str; 7] =
    ["shared_size", "exclusive_size", "errors", "unread", "type", "depth", "path"];

/// Writes the rows; `has_shared` is true with `--shared`. Paths are raw bytes.
pub(super) fn write(
    out: &mut impl Write,
    rows: &ReportRows<'_>,
    has_shared: bool,
) -> io::Result<()> {
    match rows {
        ReportRows::Entries(entries) => {
            let of_shared: &[&str] = if has_shared { &OF_SHARED } else { &[] };
            write_record(out, |record| {
                let names = SUMS.iter().chain(of_shared).chain(&OF_ENTRIES);
                names.for_each(|name| record.plain(name));
            })?;
            for entry in entries {
                write_record(out, |record| {
                    write_sums(record, &entry.totals);
                    if let Some(Range { start, end }) = entry.freed {
                        [start, end].into_iter().for_each(|number| record.plain(number));
                    }
                    for number in [entry.shared, entry.exclusive, entry.errors] {
                        record.plain(number);
                    }
                    match entry.unread {
                        Some(reason) => record.text(reason.as_str().as_bytes()),
                        None => record.unknown(),
                    }
                    record.text(entry.file_type.as_str().as_bytes());
                    record.plain(entry.depth);
                    record.text(entry.path.as_os_str().as_encoded_bytes());
                })?;
            }
        }
        ReportRows::Groups(groups) => {
            write_record(out, |record| {
                SUMS.iter().chain(&["key"]).for_each(|name| record.plain(name));
            })?;
            for group in *groups {
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
