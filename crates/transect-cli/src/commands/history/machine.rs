//! A history as JSON and as comma-separated values.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;
use transect_web::history::Point;

use super::point::History;
use crate::output::csv::Record;
use crate::output::json::{PathEntry, object};
use crate::output::{self, stream};
use crate::series::Unusable;

/// Writes one object.
///
/// # Errors
/// The output cannot be written.
pub(super) fn write_json(history: &History) -> io::Result<()> {
    let History { series, points, unusable } = history;
    let object = object! {
        schema: "transect.history/1",
        ..root: PathEntry::from(series.root()),
        host: series.host(),
        complete: unusable.is_empty() && points.iter().all(|point| point.metadata.complete),
        snapshots: points.iter().map(snapshot).collect::<Vec<_>>(),
        unusable: unusable.iter().map(skipped).collect::<Vec<_>>(),
    };
    output::write_json(&mut stream::stdout(), &object)
}

fn snapshot(point: &Point) -> impl Serialize {
    let Point { path, taken, file_size, totals, metadata } = point;
    object! {
        taken: *taken,
        ended: metadata.ended,
        complete: metadata.complete,
        errors: metadata.errors,
        entries: totals.entries,
        files: totals.files,
        directories: totals.directories,
        apparent_size: totals.apparent,
        disk_usage: totals.allocated,
        file_size: *file_size,
        unverified: metadata.unverified,
        inherited: &metadata.inherited,
        ..path: PathEntry::from(path.as_path()),
    }
}

/// Returns a file that was skipped.
pub(super) fn skipped(unusable: &Unusable) -> impl Serialize {
    object! { ..path: PathEntry::from(unusable.path.as_path()), reason: &unusable.reason }
}

/// Writes a header, and a line for each snapshot. Paths are raw bytes.
///
/// # Errors
/// The output cannot be written.
pub(super) fn write_csv(history: &History) -> io::Result<()> {
    const COLUMNS: &str = "taken,ended,complete,errors,entries,files,directories,apparent_size,\
                           disk_usage,file_size,inherited_entries,path\n";
    let mut text = COLUMNS.as_bytes().to_vec();
    for point in &history.points {
        let Point { path, taken, file_size, totals, metadata } = point;
        let mut record = Record::new(&mut text);
        record.plain(taken);
        known(&mut record, metadata.ended);
        record.plain(metadata.complete);
        for number in [
            metadata.errors,
            totals.entries,
            totals.files,
            totals.directories,
            totals.apparent,
            totals.allocated,
        ] {
            record.plain(number);
        }
        known(&mut record, *file_size);
        record.plain(metadata.inherited.as_ref().map_or(0, |it| it.entries));
        record.text(path.as_os_str().as_encoded_bytes());
        text.push(b'\n');
    }
    stream::stdout().write_all(&text)
}

fn known(record: &mut Record<'_>, number: Option<impl Display>) {
    match number {
        Some(number) => record.plain(number),
        None => record.unknown(),
    }
}
