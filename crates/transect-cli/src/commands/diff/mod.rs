//! `transect diff`: what changed between two trees.

mod json;
mod sides;
mod text;

use std::path::Path;

use transect::FieldMask;
use transect_snapshot::{Change, Diff, DiffOptions, Metadata};

use crate::args::{ComparisonArgs, DiffArgs};
use crate::output::time::TimeFormatter;
use crate::output::units::{counted, signed_bytes};
use crate::output::{self, quote};
use crate::series;
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) use sides::{ReadingOptions, Side, Sides};
pub(crate) use text::summary_parts;

/// The number of directories that grew or shrank, unless another one is wanted.
const MAX_GROWTH: usize = 10;

pub(crate) fn run(args: &DiffArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let reading = reading_options(&args.comparison);
    let sides = Sides::read([&args.before, &args.after], &reading, &cancel)?;
    show(&args.comparison, &sides)
}

pub(crate) fn reading_options(args: &ComparisonArgs) -> ReadingOptions {
    ReadingOptions {
        fields: FieldMask::empty(),
        one_file_system: args.one_file_system,
        errors: args.errors,
        progress: args.progress,
    }
}

pub(crate) fn show(args: &ComparisonArgs, sides: &Sides) -> Result<ExitStatus, CliError> {
    let mut options = DiffOptions::default();
    options.ignored = args.ignore.iter().map(|it| it.field()).collect();
    options.verify = args.verify;
    let rows = text::screen_rows(args).filter(|_| !args.json);
    options.max_growth =
        args.top.or(rows.map(|rows| MAX_GROWTH.min(rows / 4))).unwrap_or(MAX_GROWTH);
    let found = sides.compare(&options)?;
    sides.show_stored_errors(args.errors);
    if args.json {
        json::write(args, &found, sides.before.metadata(), sides.after.metadata())?;
    } else {
        note_inherited("A", sides.before.metadata());
        note_inherited("B", sides.after.metadata());
        let root = match &*sides.after.metadata().roots {
            [root] => Some(root.as_str()),
            _ => None,
        };
        text::write(args, &found, root)?;
        note_kept_snapshots(&found);
    }
    let differs = args.exit_code && !found.is_empty();
    let is_complete = sides.are_complete() && !differs;
    Ok(ExitStatus::complete_if(is_complete))
}

/// Reports how much of the growth are snapshots that `keep` stores: it reads a home directory before it adds to it.
fn note_kept_snapshots(found: &Diff) {
    let Ok(series) = series::series_directory() else { return };
    let is_kept = |change: &&Change| {
        let path = transect_sys::name_from_bytes(change.path.clone());
        !change.is_consequence() && Path::new(&path).starts_with(&series)
    };
    let growth: i128 = found.changes.iter().filter(is_kept).map(Change::growth).sum();
    if growth != 0 {
        let (growth, series) = (signed_bytes(growth), quote::for_terminal(series.as_os_str()));
        output::note(&format!("{growth} of it are snapshots of `transect keep` in '{series}'"));
    }
}

/// Reports that changes of files may be missing, because a tree was not queried completely.
pub(crate) fn note_inherited(name: &str, metadata: &Metadata) {
    let inherited = metadata.inherited.as_ref().filter(|it| it.older_entries() > 0);
    let Some(inherited) = inherited else { return };
    let oldest = TimeFormatter::local().text(inherited.oldest);
    let entries = counted(inherited.entries, "entry", "entries");
    output::note(&format!(
        "attributes of {entries} of {name} are from {oldest}: later changes of these are missing"
    ));
}
