//! `transect map`: an interactive treemap, served or written to a file.

mod changes;
mod page;

use std::sync::Arc;

use transect::table::{PartialTable, Table, TableBuilder};
use transect::{Cancel, FieldMask, Progress};
use transect_remove::Removal;
use transect_web::map::{self, LiveMap, Settings};
use transect_web::page::Nonce;
use transect_web::serve::Server;

use crate::args::MapArgs;
use crate::commands::snapshot::{partial_tree, stored_tree, whole_snapshot};
use crate::followed::FollowedView;
use crate::output;
use crate::profile;
use crate::progress::ProgressLine;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

use page::{SHOWN, announce, check_openable, settings, write_page};

/// Descriptors for the standard streams, the listening socket and its runtime, and a few more.
const OTHER_DESCRIPTORS: usize = 24;

pub(crate) fn run(args: &MapArgs) -> Result<ExitStatus, CliError> {
    let (cancel, progress) = (cancel_on_signal()?, Arc::new(Progress::new()));
    if changes::are_requested(args) {
        return changes::run(args, &cancel);
    }
    if args.allow_removal && stored_tree(&args.walk, FieldMask::empty())?.is_some() {
        let why = "--allow-removal needs a directory: a snapshot may be older than the disk";
        return Err(CliError::failed(why));
    }
    let Some(file) = &args.html else { return serve(args, &cancel, &progress) };
    check_openable(args, file)?;
    let settings = settings(args);
    let followed = followed(args, SHOWN)?.and_then(|tree| tree.read());
    let found = match followed {
        Some(table) => ReadTree::of(table, args),
        None => read(args, &output::table_builder(SHOWN, args.errors), &cancel, &progress, None)?,
    };
    let settings = settings_of(settings, found.interrupted, found.read_at);
    write_page(args, &map::html(&found.table, &settings, &Nonce::random()?)?, file)?;
    Ok(found.end)
}

/// Returns the settings of a page for a tree. The disk of a stored tree is not that of its file.
fn settings_of(settings: Settings, interrupted: bool, read_at: Option<i64>) -> Settings {
    match read_at {
        Some(read_at) => Settings { interrupted, read_at, disk: None, ..settings },
        None => Settings { interrupted, ..settings },
    }
}

/// Those of a served page: also the identity of files, to recognize them before they are removed or
/// compared.
const SERVED: FieldMask = SHOWN.union(Removal::COLUMNS).union(FieldMask::FILE_ID);

struct ReadTree {
    table: Table,
    interrupted: bool,
    end: ExitStatus,
    /// When a stored tree was read, in seconds since 1970 UTC.
    read_at: Option<i64>,
}

impl ReadTree {
    /// Returns a tree from the service that follows it.
    fn of(table: Table, args: &MapArgs) -> Self {
        output::show_errors(table.diagnostics(), args.errors);
        let end = ExitStatus::from_diagnostics(table.diagnostics(), false);
        Self { table, interrupted: false, end, read_at: None }
    }
}

/// Returns the tree if a service follows it; `None` if it is to be read.
fn followed(args: &MapArgs, columns: FieldMask) -> Result<Option<FollowedView>, CliError> {
    let roots = args.walk.roots();
    let ([root], None) = (roots.as_slice(), whole_snapshot(&args.walk)?) else { return Ok(None) };
    Ok(FollowedView::of(&args.ask, &args.walk, root, columns))
}

/// Shows a tree again after each change, on a thread that is not joined.
fn follow(args: &MapArgs, tree: FollowedView, live: &Arc<LiveMap>) {
    let (args, live) = (args.clone(), Arc::clone(live));
    std::thread::spawn(move || {
        let show = |table| live.finish(table, &Settings { followed: true, ..settings(&args) });
        if let Err(error) = tree.follow(show).and_then(|()| live.end_following()) {
            output::error(&error);
        }
    });
}

fn read(
    args: &MapArgs,
    builder: &TableBuilder,
    cancel: &Cancel,
    progress: &Arc<Progress>,
    max_open: Option<usize>,
) -> Result<ReadTree, CliError> {
    if let Some(stored) = stored_tree(&args.walk, SERVED)? {
        let end = stored.end();
        stored.show_errors(args.errors);
        let read_at = stored.read_at.map(|time| time.div_euclid(1_000_000_000));
        let (interrupted, table) = (stored.interrupted, stored.table);
        return Ok(ReadTree { table, interrupted, end, read_at });
    }
    let (mut options, _) = profile::scan_options(&args.walk);
    options.max_open = max_open;
    let plan = options.cancel(cancel.clone()).progress(Arc::clone(progress)).plan()?;
    let line = ProgressLine::start(args.progress, true, progress);
    let outcome = plan.run(|| builder.sink());
    let (sink, outcome) = outcome?.split();
    let table = sink.into_table()?;
    drop(line);

    let interrupted = outcome.interrupted;
    let end = ExitStatus::from_diagnostics(table.diagnostics(), interrupted);
    output::show_errors(table.diagnostics(), args.errors);
    if table.diagnostics().failed_roots == outcome.roots as u64 {
        return Err(CliError::Ended(end));
    }
    Ok(ReadTree { table, interrupted, end, read_at: None })
}

/// Ends the wait of clients for a table if reading fails or panics.
struct GiveUpOnDrop<'l>(&'l LiveMap);

impl Drop for GiveUpOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Serves the map while the tree is read and afterwards, until Ctrl-C or until the page is closed.
/// Only Ctrl-C while reading counts as an interruption.
fn serve(
    args: &MapArgs,
    cancel: &Cancel,
    progress: &Arc<Progress>,
) -> Result<ExitStatus, CliError> {
    transect_sys::host::raise_handle_limit();
    let server = Server::start()?;
    // Exists as long as the server: the browser may be slow.
    let _redirect = announce(args, &server)?;
    // However many connections are open, the walk can open its directories.
    let max_open = transect_sys::host::handle_limit()
        .saturating_sub(OTHER_DESCRIPTORS + Server::max_connections());
    let mut builder = output::table_builder(SERVED, args.errors);
    let partial = match whole_snapshot(&args.walk)? {
        Some((path, snapshot)) => partial_tree(path, &snapshot, SHOWN, true)?.unwrap_or_default(),
        None => {
            let partial = PartialTable::new();
            builder = builder.partial_table(&partial);
            partial
        }
    };
    let followed = followed(args, SERVED)?;
    let live = LiveMap::new(partial, settings(args), Arc::clone(progress), cancel.clone());
    let live = Arc::new(live);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let _reading = GiveUpOnDrop(&live);
            let of_service = followed.as_ref().and_then(FollowedView::read);
            let is_followed = of_service.is_some();
            let found = match of_service {
                Some(table) => ReadTree::of(table, args),
                None => read(args, &builder, cancel, progress, Some(max_open))?,
            };
            let finish = |table, interrupted, read_at| {
                let settings = settings_of(settings(args), interrupted, read_at);
                live.finish(table, &Settings { followed: is_followed, ..settings })
            };
            finish(found.table, found.interrupted, found.read_at)?;
            if let Some(tree) = followed.filter(|_| is_followed) {
                follow(args, tree, &live);
            }
            while live.run_tasks_until_rescan()? {
                let builder = output::table_builder(SERVED, args.errors);
                match read(args, &builder, cancel, progress, Some(max_open)) {
                    Ok(ReadTree { table, interrupted: false, read_at, .. }) => {
                        finish(table, false, read_at)?;
                    }
                    // The page keeps what it shows.
                    Ok(_) | Err(CliError::Ended(_)) => {}
                    Err(error) => output::error(&error),
                }
            }
            Ok(found.end)
        });
        let served = server.serve(&*live);
        // Without a browser, the rest of the tree is not needed.
        cancel.cancel();
        let end = reading.join().expect("BUG: reading does not panic");
        served?;
        end
    })
}
