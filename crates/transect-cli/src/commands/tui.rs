//! `transect tui`: browses a tree in the terminal.

use std::path::Path;
use std::sync::Arc;

use anstream::ColorChoice;
use transect::table::Table;
use transect::{FieldMask, SkipReason};
use transect_snapshot::Snapshot;
use transect_tui::{
    DISPLAY_FIELDS, FIELDS, FollowedTree, StoredBefore, ViewOptions, browse, browse_stored,
};

use crate::args::TuiArgs;
use crate::commands::changes::kept_snapshot;
use crate::commands::snapshot::{StoredTree, cannot_read, partial_tree, whole_snapshot};
use crate::followed::FollowedView;
use crate::output::time::TimeFormatter;
use crate::output::{self, owner};
use crate::profile;
use crate::series::Kept;
use crate::user_trash::user_trash;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) fn run(args: &TuiArgs) -> Result<ExitStatus, CliError> {
    let stop = cancel_on_signal()?;
    let stored = whole_snapshot(&args.walk)?;
    let (mut options, _) = profile::scan_options(&args.walk);
    let kept = args.since.map(|since| kept_tree(args, since, stored.is_some())).transpose()?;
    let mut kept_end = ExitStatus::Complete;
    // The view shows the root as its title, where a dot would be useless.
    if args.walk.paths.is_empty()
        && let Ok(here) = std::env::current_dir()
    {
        options.roots = vec![here];
        options.filters.read_roots = true;
    }
    let times = TimeFormatter::local();
    let stored_at = stored.as_ref().map(|(_, stored)| match stored.metadata().ended {
        Some(time) => times.text(time),
        None => "unknown time".to_owned(),
    });
    let before = kept.map(|(kept, end)| {
        kept_end = end;
        let scope = kept.snapshot.metadata().scope;
        if scope.is_some_and(|scope| scope.one_file_system) {
            options = options.clone().same_file_system(true);
        }
        let read_at = times.text(kept.taken);
        let read = move || kept.snapshot.table(SIZES).map_err(|error| error.to_string());
        StoredBefore { read: Arc::new(read), read_at }
    });
    let followed = match (stored.is_some() || args.since.is_some(), options.roots.as_slice()) {
        (false, [root]) => FollowedView::of(&args.ask, &args.walk, root, FIELDS),
        _ => None,
    };
    let view = ViewOptions {
        colour: output::stream::stdout_colours() != ColorChoice::Never,
        time: Box::new(move |time| times.text(time)),
        owner: owner::user_name_or_id,
        trash: Box::new(user_trash),
        apparent: args.apparent,
        mouse: !args.no_mouse,
        read_only: args.read_only,
        stored_at,
        before,
        followed: followed.map(|tree| Arc::new(Followed(tree)) as _),
    };
    if let Some((path, snapshot)) = stored {
        let metadata = snapshot.metadata();
        let end = StoredTree::end_of(&metadata.diagnostics(), metadata.interrupted);
        // What the first screen shows; the pages of other directories are read behind it.
        let first = stored_directories(path, &snapshot, false)?;
        let path = path.to_owned();
        let read = move |show: &dyn Fn(Table)| {
            let more = stored_directories(&path, &snapshot, true);
            more.map_err(|error| error.to_string())?.into_iter().for_each(show);
            let table = snapshot.table(DISPLAY_FIELDS | SIZES);
            table.map_err(|error| cannot_read(&path, &error).to_string())
        };
        browse_stored(first, read, &view, &stop).map_err(CliError::failed)?;
        return Ok(end);
    }
    let outcome = browse(&options, &view, &stop).map_err(CliError::failed)?;
    output::show_errors(outcome.table.diagnostics(), args.errors);
    let skipped = &outcome.table.diagnostics().skipped;
    let by_filters = [SkipReason::Excluded, SkipReason::Gitignore];
    if outcome.table.roots().len() == 0 && by_filters.iter().any(|why| skipped.contains_key(why)) {
        output::hint("the filters exclude every PATH");
    }
    let end = ExitStatus::from_diagnostics(outcome.table.diagnostics(), outcome.interrupted);
    Ok(end.max(kept_end))
}

/// Returns some directories of a snapshot as a table; see [`partial_tree`].
fn stored_directories(
    path: &Path,
    snapshot: &Snapshot,
    nested: bool,
) -> Result<Option<Table>, CliError> {
    let partial = partial_tree(path, snapshot, DISPLAY_FIELDS, nested)?;
    Ok(partial.map(|partial| partial.table()).transpose()?)
}

/// The tree of a service, for the view.
struct Followed(FollowedView);

impl FollowedTree for Followed {
    fn read(&self) -> Option<Table> {
        self.0.read()
    }

    fn follow(&self, show: &dyn Fn(Table) -> bool) {
        // The error means that the view has closed.
        let _ = self.0.follow(|table| if show(table) { Ok(()) } else { Err(()) });
    }
}

/// The columns that count files with several names once.
const SIZES: FieldMask = FieldMask::FILE_ID.union(FieldMask::NLINK);

/// Returns the kept snapshot that growth since a time is relative to.
fn kept_tree(args: &TuiArgs, since: i64, is_stored: bool) -> Result<(Kept, ExitStatus), CliError> {
    let roots = args.walk.roots();
    let ([path], false) = (roots.as_slice(), is_stored) else {
        return Err(CliError::failed("--since needs one directory"));
    };
    if !args.walk.filter.allows_diff() {
        return Err(CliError::failed("--since compares whole trees: leave out filters"));
    }
    let (kept, _, end) = kept_snapshot(path, Some(since))?;
    Ok((kept, end))
}
