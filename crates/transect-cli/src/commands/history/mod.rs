//! `transect history`: how a tree grew over a series of snapshots.

mod all;
mod json;
mod point;
mod text;

use std::io;
use std::path::Path;

use transect_web::history::{HistoryPage, Point};

use crate::args::HistoryArgs;
use crate::commands::diff::summary_parts;
use crate::output;
use crate::output::time::TimeFormatter;
use crate::series::{Kept, Series, Unusable};
use transect_program::{CliError, ExitStatus};

use point::History;

pub(crate) fn run(args: &HistoryArgs) -> Result<ExitStatus, CliError> {
    // All snapshots of a series are open at a time: with one each minute, these are 1,440 a day.
    transect_sys::host::raise_handle_limit();
    match args.path.as_deref() {
        Some(path) => of_root(args, path),
        None => all::run(args),
    }
}

fn of_root(args: &HistoryArgs, path: &Path) -> Result<ExitStatus, CliError> {
    let series = match &args.host {
        Some(host) => Series::of_host(host, path)?,
        None => Series::of(path)?,
    };
    let (kept, mut unusable) = series.all()?;
    let mut points = Vec::new();
    for Kept { path, taken, snapshot } in kept {
        match point::totals(&snapshot) {
            Ok(totals) => {
                let file_size = point::file_size(&path);
                let metadata = snapshot.metadata().clone();
                points.push(Point { path, taken, file_size, totals, metadata });
            }
            Err(error) => unusable.push(Unusable { path, reason: error.to_string() }),
        }
    }
    unusable.iter().for_each(output::error);
    if points.is_empty() {
        let what = match &args.host {
            Some(host) => format!("no snapshot of '{}' on '{host}'", series.root().display()),
            None => series.none_kept(path),
        };
        return Err(CliError::Failed(what));
    }
    let is_complete = unusable.is_empty() && points.iter().all(|point| point.metadata.complete);
    let history = History { series, points, unusable };
    if let Some(file) = &args.html {
        let page = page(&history)?;
        page.skipped.iter().for_each(output::error);
        output::file::write(file, |out| out.write_all(page.html.as_bytes()))?;
        return Ok(ExitStatus::complete_if(is_complete && page.skipped.is_empty()));
    }
    match args.json {
        true => json::write(&history)?,
        false => text::write(&history)?,
    }
    Ok(ExitStatus::complete_if(is_complete))
}

fn page(history: &History) -> io::Result<HistoryPage> {
    let times = TimeFormatter::local();
    let skipped: Vec<String> = history.unusable.iter().map(Unusable::to_string).collect();
    HistoryPage::of(transect_web::history::History {
        root: history.series.root(),
        host: history.series.host(),
        points: &history.points,
        skipped: &skipped,
        local_time: &|nanoseconds| times.text(nanoseconds),
        summary: summary_parts,
    })
}
