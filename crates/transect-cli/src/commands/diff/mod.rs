//! `transect diff`: what changed between two trees.

mod json;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::{Cancel, FieldMask, Progress, ScanOptions};
use transect_snapshot::{Diff, DiffOptions, LiveTree, Metadata, ReadError, Snapshot, diff};

use crate::args::{ComparisonArgs, DiffArgs, image_reader};
use crate::commands::snapshot;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output;
use crate::progress::ProgressLine;

pub(crate) use text::signed;

/// One of the two trees.
pub(crate) enum Side {
    Stored(Box<Snapshot>),
    Live(Box<LiveTree>, ExitStatus),
}

impl Side {
    /// Reads a directory.
    pub(crate) fn read(
        args: &ComparisonArgs,
        root: PathBuf,
        one_file_system: bool,
        cancel: &Cancel,
    ) -> Result<Self, CliError> {
        let progress = Arc::new(Progress::new());
        let line = ProgressLine::start(args.progress, true, &progress);
        transect_sys::host::raise_handle_limit();
        let reader = image_reader(&root);
        let mut options = ScanOptions::new([root]).one_file_system(one_file_system);
        options.reader = reader;
        // Times of creation prove moves.
        let fields = snapshot::FIELDS | FieldMask::BTIME;
        let (table, outcome) = snapshot::walk(options, fields, None, cancel, &progress)?;
        drop(line);
        output::show_errors(table.diagnostics(), args.errors);
        let end = ExitStatus::from_diagnostics(table.diagnostics(), outcome.interrupted);
        let scope = snapshot::scope_of_all(one_file_system);
        let metadata = snapshot::metadata(&table, &outcome, None, scope);
        Ok(Self::Live(Box::new(LiveTree::new(table, metadata)), end))
    }

    fn metadata(&self) -> &Metadata {
        match self {
            Self::Stored(snapshot) => snapshot.metadata(),
            Self::Live(tree, _) => tree.metadata(),
        }
    }

    pub(crate) fn end(&self) -> ExitStatus {
        match self {
            Self::Stored(snapshot) if snapshot.metadata().complete => ExitStatus::Complete,
            Self::Stored(_) => ExitStatus::Partial,
            Self::Live(_, end) => *end,
        }
    }
}

pub(crate) fn run(args: &DiffArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    // The paths in snapshots are absolute.
    let has_stored = [&args.before, &args.after].into_iter().any(|path| Snapshot::is_likely(path));
    let mut sides = Vec::new();
    for path in [&args.before, &args.after] {
        let side = match snapshot::open(path)? {
            Some(snapshot) => Side::Stored(Box::new(snapshot)),
            None => {
                let root = if has_stored { snapshot::absolute(path) } else { path.clone() };
                let stays = args.comparison.one_file_system;
                Side::read(&args.comparison, root, stays, &cancel)?
            }
        };
        match side.end() {
            end @ (ExitStatus::Interrupted | ExitStatus::RootFailed) => return Ok(end),
            _ => sides.push(side),
        }
    }
    let [a, b] = &sides[..] else { unreachable!("BUG: two sides") };
    show(&args.comparison, [&args.before, &args.after], a, b)
}

/// Compares two trees, called `names` in errors, and shows what changed.
pub(crate) fn show(
    args: &ComparisonArgs,
    names: [&Path; 2],
    a: &Side,
    b: &Side,
) -> Result<ExitStatus, CliError> {
    let found = compare(args, a, b).map_err(|error| {
        let [a, b] = names.map(Path::display);
        CliError::Usage(format!("cannot compare '{a}' and '{b}': {error}"))
    })?;
    if args.json {
        json::write(args, &found, a.metadata(), b.metadata())?;
    } else {
        text::write(args, &found)?;
    }
    let is_complete = a.end() == ExitStatus::Complete && b.end() == ExitStatus::Complete;
    let differs = args.exit_code && !found.is_empty();
    Ok(if is_complete && !differs { ExitStatus::Complete } else { ExitStatus::Partial })
}

fn compare(args: &ComparisonArgs, a: &Side, b: &Side) -> Result<Diff, ReadError> {
    let mut options = DiffOptions::default();
    options.ignored = args.ignore.iter().map(|it| it.field()).collect();
    options.verify = args.verify;
    options.max_growth = args.top.unwrap_or(10);
    match (a, b) {
        (Side::Stored(a), Side::Stored(b)) => diff(a.as_ref(), b.as_ref(), &options),
        (Side::Stored(a), Side::Live(b, _)) => diff(a.as_ref(), b.as_ref(), &options),
        (Side::Live(a, _), Side::Stored(b)) => diff(a.as_ref(), b.as_ref(), &options),
        (Side::Live(a, _), Side::Live(b, _)) => diff(a.as_ref(), b.as_ref(), &options),
    }
}
