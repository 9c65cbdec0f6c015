//! `transect map`: a page to walk around in, with every entry as an area as large as it is.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use transect::table::TableBuilder;
use transect::{Cancel, FieldMask, Progress};
use transect_web::map::{self, Measure, Settings};
use transect_web::serve::{Server, Show};

use crate::args::MapArgs;
use crate::exit::{End, Fatal};
use crate::interrupt::cancel_on_signal;
use crate::output::{self, owner};
use crate::profile;
use crate::progress::ProgressLine;

pub(crate) fn run(args: &MapArgs) -> Result<End, Fatal> {
    let (cancel, progress) = (cancel_on_signal()?, Arc::new(Progress::new()));
    let Some(file) = &args.html else { return serve(args, &cancel, &progress) };
    let (page, end) = draw(args, &cancel, &progress)?;
    if let Some(page) = page {
        output::page::write(&page, file)?;
    }
    Ok(end)
}

/// Reads the tree and draws it; there is no page if nothing could be read.
fn draw(
    args: &MapArgs,
    cancel: &Cancel,
    progress: &Arc<Progress>,
) -> Result<(Option<String>, End), Fatal> {
    let read_at = seconds_since_1970();
    let (options, _) = profile::options(&args.walk);
    let plan = options.cancel(cancel.clone()).progress(Arc::clone(progress)).plan()?;
    let builder = TableBuilder::new(FieldMask::UID | FieldMask::MTIME);
    let line = ProgressLine::start(progress);
    let outcome = plan.run(|| builder.sink());
    let (sink, outcome) = outcome?.split();
    let table = sink.into_table()?;
    drop(line);

    let end = End::of(table.tally(), outcome.interrupted);
    output::show_errors(table.tally(), args.errors);
    if table.tally().failed_roots == outcome.roots as u64 {
        return Ok((None, end));
    }
    let settings = Settings {
        measure: if args.apparent { Measure::Apparent } else { Measure::DiskUsage },
        max_entries: args.max_entries as usize,
        owner_name: owner::name,
        read_at,
        interrupted: outcome.interrupted,
        served: args.html.is_none(),
    };
    Ok((Some(map::html(&table, &settings)?), end))
}

/// What the browser is shown while the tree is read, and afterwards.
struct Shown<'a> {
    page: OnceLock<String>,
    /// There will be no page.
    in_vain: AtomicBool,
    cancel: &'a Cancel,
    progress: &'a Progress,
}

impl Show for Shown<'_> {
    fn page(&self) -> Option<&str> {
        self.page.get().map(String::as_str)
    }

    fn entries(&self) -> u64 {
        self.progress.counts().entries
    }

    fn has_ended(&self) -> bool {
        self.cancel.is_cancelled() || self.in_vain.load(Ordering::Relaxed)
    }
}

/// Lets nobody wait for a page that does not come, whatever the reason.
struct Waiting<'s>(&'s Shown<'s>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.0.page.get().is_none() {
            self.0.in_vain.store(true, Ordering::Relaxed);
        }
    }
}

/// Serves the page until Ctrl-C, or until nobody looks at it any more. That ends well: it is
/// interrupted only while the tree is read.
fn serve(args: &MapArgs, cancel: &Cancel, progress: &Arc<Progress>) -> Result<End, Fatal> {
    let server = Server::start()?;
    let mut text = output::buffer();
    writeln!(text, "{}", server.address())?;
    output::print(text)?;
    output::hint("open this address in a browser; Ctrl-C ends it");
    let in_vain = AtomicBool::new(false);
    let shown = Shown { page: OnceLock::new(), in_vain, cancel, progress };
    std::thread::scope(|scope| {
        let drawing = scope.spawn(|| {
            let _waiting = Waiting(&shown);
            let (page, end) = draw(args, cancel, progress)?;
            if let Some(page) = page {
                shown.page.set(page).expect("BUG: one page is drawn");
            }
            Ok(end)
        });
        let served = server.serve(&shown);
        // A browser that is gone waits for no tree either.
        cancel.cancel();
        let end = drawing.join().expect("BUG: drawing does not panic");
        served?;
        end
    })
}

fn seconds_since_1970() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
