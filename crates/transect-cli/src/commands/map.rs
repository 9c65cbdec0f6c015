//! `transect map`: a page to walk around in, with every entry as an area as large as it is.

use std::sync::Arc;
use std::time::SystemTime;

use transect::table::TableBuilder;
use transect::{FieldMask, Progress};
use transect_web::map::{self, Measure, Settings};

use crate::args::MapArgs;
use crate::exit::{End, Fatal};
use crate::interrupt::cancel_on_signal;
use crate::output::{self, owner};
use crate::profile;
use crate::progress::ProgressLine;

pub(crate) fn run(args: &MapArgs) -> Result<End, Fatal> {
    // Before the tree is read: that may take a while.
    let file = args.html.as_deref().ok_or_else(|| {
        Fatal::Usage("it is not said where the page goes: --html FILE".to_owned())
    })?;
    let read_at = seconds_since_1970();
    let progress = Arc::new(Progress::new());
    let (options, _) = profile::options(&args.walk);
    let plan = options.cancel(cancel_on_signal()?).progress(Arc::clone(&progress)).plan()?;
    let builder = TableBuilder::new(FieldMask::UID | FieldMask::MTIME);
    let line = ProgressLine::start(&progress);
    let outcome = plan.run(|| builder.sink());
    let (sink, outcome) = outcome?.split();
    let table = sink.into_table()?;
    drop(line);

    let end = End::of(table.tally(), outcome.interrupted);
    output::show_errors(table.tally(), args.errors);
    if table.tally().failed_roots == outcome.roots as u64 {
        return Ok(end);
    }
    let page = map::html(
        &table,
        &Settings {
            measure: if args.apparent { Measure::Apparent } else { Measure::DiskUsage },
            max_entries: args.max_entries as usize,
            owner_name: owner::name,
            read_at,
            interrupted: outcome.interrupted,
        },
    )?;
    output::page::write(&page, file)?;
    Ok(end)
}

fn seconds_since_1970() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
