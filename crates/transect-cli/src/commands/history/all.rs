//! `history` without a path: all series.

use std::io::{self, Write as _};

use serde::Serialize;

use super::json::skipped;
use super::point::file_size;
use crate::args::HistoryArgs;
use crate::output::json::{PathEntry, object};
use crate::output::time::TimeFormatter;
use crate::output::units::{bytes, count};
use crate::output::{self, DIM, WARN, quote};
use crate::series::{Kept, Series, Unusable, series_directory};
use transect_program::{CliError, ExitStatus};

/// A series with at least one snapshot, in numbers.
struct Listed {
    series: Series,
    snapshots: u64,
    /// When the first and the last snapshot were taken, in nanoseconds since 1970 UTC.
    first: i64,
    last: i64,
    /// The lengths of all files, in bytes.
    file_size: u64,
    complete: bool,
}

pub(super) fn run(args: &HistoryArgs) -> Result<ExitStatus, CliError> {
    let (series, mut unusable) = Series::find_all(&series_directory()?, args.host.as_deref())?;
    let mut listed = Vec::new();
    for series in series {
        let (kept, skipped) = series.all()?;
        unusable.extend(skipped);
        listed.extend(Listed::of(series, &kept));
    }
    unusable.iter().for_each(output::error);
    let is_complete = unusable.is_empty() && listed.iter().all(|it| it.complete);
    match args.json {
        true => write_json(&listed, &unusable, is_complete)?,
        false if listed.is_empty() => {
            output::hint("no snapshots were kept; keep one: transect keep PATH")
        }
        false => write_text(&listed)?,
    }
    Ok(ExitStatus::complete_if(is_complete))
}

impl Listed {
    /// Returns a series in numbers; `None` without snapshots. They are sorted by time.
    fn of(series: Series, kept: &[Kept]) -> Option<Self> {
        let (first, last) = (kept.first()?.taken, kept.last()?.taken);
        Some(Self {
            series,
            snapshots: kept.len() as u64,
            first,
            last,
            file_size: kept.iter().filter_map(|kept| file_size(&kept.path)).sum(),
            complete: kept.iter().all(|kept| kept.snapshot.metadata().complete),
        })
    }
}

fn write_text(listed: &[Listed]) -> io::Result<()> {
    let mut out = output::buffer();
    let times = TimeFormatter::local();
    let hosts = listed.iter().map(|it| quote::for_terminal(it.series.host().as_ref()));
    let hosts: Vec<String> = hosts.collect();
    let width = hosts.iter().map(|host| host.chars().count()).max().unwrap_or(0).max("host".len());
    writeln!(
        out,
        "{DIM}{:>9}  {:<19}  {:<19}  {:>10}  {:<width$}  path{DIM:#}",
        "snapshots", "first", "last", "file sizes", "host"
    )?;
    for (it, host) in listed.iter().zip(hosts) {
        let (snapshots, size) = (count(it.snapshots), bytes(it.file_size));
        let (first, last) = (times.text(it.first), times.text(it.last));
        let root = quote::for_terminal(it.series.root().as_os_str());
        let partial = if it.complete { "" } else { "  partial" };
        writeln!(
            out,
            "{snapshots:>9}  {first:<19}  {last:<19}  {size:>10}  {host:<width$}  {root}{WARN}{partial}{WARN:#}"
        )?;
    }
    output::print_wrapped(out)
}

fn series_object(listed: &Listed) -> impl Serialize {
    let Listed { series, snapshots, first, last, file_size, complete } = listed;
    object! {
        ..root: PathEntry::from(series.root()),
        host: series.host(),
        snapshots: *snapshots,
        first: *first,
        last: *last,
        file_size: *file_size,
        complete: *complete,
        directory: PathEntry::from(series.directory()),
    }
}

fn write_json(listed: &[Listed], unusable: &[Unusable], is_complete: bool) -> io::Result<()> {
    let object = object! {
        schema: "transect.series/1",
        complete: is_complete,
        series: listed.iter().map(series_object).collect::<Vec<_>>(),
        unusable: unusable.iter().map(skipped).collect::<Vec<_>>(),
    };
    output::print_json(&object)
}
