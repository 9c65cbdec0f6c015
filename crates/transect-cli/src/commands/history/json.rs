//! A history as JSON.

use std::io;

use serde::Serialize;
use transect_web::history::Point;

use super::point::History;
use crate::output;
use crate::output::json::{PathEntry, object};
use crate::series::Unusable;

pub(super) fn write(history: &History) -> io::Result<()> {
    let History { series, points, unusable } = history;
    let object = object! {
        schema: "transect.history/1",
        ..root: PathEntry::from(series.root()),
        host: series.host(),
        complete: unusable.is_empty() && points.iter().all(|point| point.metadata.complete),
        snapshots: points.iter().map(snapshot).collect::<Vec<_>>(),
        unusable: unusable.iter().map(skipped).collect::<Vec<_>>(),
    };
    output::print_json(&object)
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

pub(super) fn skipped(unusable: &Unusable) -> impl Serialize {
    object! { ..path: PathEntry::from(unusable.path.as_path()), reason: &unusable.reason }
}
