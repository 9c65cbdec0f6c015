//! Usage as comma-separated values: a header, then one line per entry or group.

use std::io::{self, Write};

use transect::table::SubtreeTotals;

use super::view::{Usage, View, unread};

const SUMS: [&str; 6] =
    ["files", "directories", "others", "apparent_size", "disk_usage", "newest_mtime"];
const OF_ENTRIES: [&str; 7] =
    ["shared_size", "exclusive_size", "errors", "unread", "type", "depth", "path"];

/// Writes the rows. Paths are raw bytes.
///
/// # Errors
/// The output cannot be written.
pub(super) fn write(out: &mut impl Write, usage: &Usage) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let table = &usage.table;
    match &usage.view {
        View::Tree(lines) => {
            csv.write_record(SUMS.iter().chain(&OF_ENTRIES))?;
            for line in lines {
                let row = line.row;
                for field in sums(&table.totals(row)) {
                    csv.write_field(field)?;
                }
                for number in [table.shared(row), table.exclusive(row), table.errors(row)] {
                    csv.write_field(number.to_string())?;
                }
                csv.write_field(unread(table, row).unwrap_or_default())?;
                csv.write_field(table.file_type(row).as_str())?;
                csv.write_field(line.last.len().to_string())?;
                csv.write_field(table.path(row).as_os_str().as_encoded_bytes())?;
                csv.write_record(None::<&[u8]>)?;
            }
        }
        View::Groups(groups) => {
            csv.write_record(SUMS.iter().chain(&["key"]))?;
            for group in groups {
                csv.write_record(sums(&group.sums).iter().chain([&group.key]))?;
            }
        }
    }
    csv.flush()
}

fn sums(sums: &SubtreeTotals) -> [String; 6] {
    let newest = sums.newest().map(|time| time.to_string()).unwrap_or_default();
    [
        sums.files.to_string(),
        sums.directories.to_string(),
        sums.others.to_string(),
        sums.apparent.to_string(),
        sums.disk_usage.to_string(),
        newest,
    ]
}
