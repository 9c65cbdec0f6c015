//! A history as JSON and as comma-separated values.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;
use transect_web::history::Point;

use super::point::History;
use crate::output::csv::Record;
use crate::output::inherited::InheritedObject;
use crate::output::json::PathEntry;
use crate::output::{self, stream};
use crate::series::Unusable;

#[derive(Serialize)]
struct Object<'a> {
    schema: &'static str,
    #[serde(flatten)]
    root: PathEntry<'a>,
    host: &'a str,
    complete: bool,
    snapshots: Vec<PointObject<'a>>,
    unusable: Vec<UnusableObject<'a>>,
}

#[derive(Serialize)]
struct PointObject<'a> {
    taken: i64,
    ended: Option<i64>,
    complete: bool,
    errors: u64,
    unverified: bool,
    entries: u64,
    files: u64,
    directories: u64,
    apparent_size: u64,
    disk_usage: u64,
    file_size: Option<u64>,
    inherited: Option<InheritedObject>,
    #[serde(flatten)]
    path: PathEntry<'a>,
}

/// A file that was skipped.
#[derive(Serialize)]
pub(super) struct UnusableObject<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    reason: &'a str,
}

impl<'a> From<&'a Unusable> for UnusableObject<'a> {
    fn from(unusable: &'a Unusable) -> Self {
        Self { path: unusable.path.as_path().into(), reason: &unusable.reason }
    }
}

impl<'a> From<&'a Point> for PointObject<'a> {
    fn from(point: &'a Point) -> Self {
        let Point { path, taken, file_size, totals, metadata } = point;
        Self {
            taken: *taken,
            ended: metadata.ended,
            complete: metadata.complete,
            errors: metadata.errors,
            unverified: metadata.unverified,
            entries: totals.entries,
            files: totals.files,
            directories: totals.directories,
            apparent_size: totals.apparent,
            disk_usage: totals.allocated,
            file_size: *file_size,
            inherited: metadata.inherited.clone().map(Into::into),
            path: path.as_path().into(),
        }
    }
}

/// Writes one object.
///
/// # Errors
/// The output cannot be written.
pub(super) fn write_json(history: &History) -> io::Result<()> {
    let History { series, points, unusable } = history;
    let object = Object {
        schema: "transect.history/1",
        root: series.root().into(),
        host: series.host(),
        complete: unusable.is_empty() && points.iter().all(|point| point.metadata.complete),
        snapshots: points.iter().map(PointObject::from).collect(),
        unusable: unusable.iter().map(UnusableObject::from).collect(),
    };
    output::write_json(&mut stream::stdout(), &object)
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
