//! `transect changes`: what changed since a kept snapshot.

mod journal;

use std::path::{Path, PathBuf};

use transect::FieldMask;

use crate::args::ChangesArgs;
use crate::commands::diff::{self, ReadingOptions, Side, Sides};
use crate::commands::snapshot::Since;
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output::time::TimeFormatter;
use crate::output::{self, quote};
use crate::series::{Kept, Search, Series, last_kept};

pub(crate) fn run(args: &ChangesArgs) -> Result<ExitStatus, CliError> {
    if args.journal {
        return journal::run(args);
    }
    let cancel = cancel_on_signal()?;
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    let series = Series::of(path)?;
    let Search { kept, unusable } = match args.since {
        None => last_kept(path)?,
        Some(since) => series.newest_or_first(since)?,
    };
    unusable.iter().for_each(output::error);
    let Some(Kept { path: file, taken, snapshot }) = kept else {
        let (root, path) = (series.root().display(), path.display());
        return Err(CliError::Usage(format!(
            "no snapshot of '{root}' was kept; keep one: transect keep {path}"
        )));
    };
    let was_one_file_system = snapshot.metadata().scope.is_some_and(|scope| scope.one_file_system);
    let stays = args.comparison.one_file_system || was_one_file_system;
    let root: PathBuf = series.root().to_owned();
    let reading =
        ReadingOptions { one_file_system: stays, ..diff::reading_options(&args.comparison) };
    let since = match args.rescan.rescan {
        Some(level) => Since::last_of(&series, level)?,
        None => None,
    };
    let after = Side::read(root, &reading, since.as_ref(), &cancel)?;
    if after.end() >= ExitStatus::RootFailed {
        return Ok(after.end());
    }
    if !args.comparison.json {
        let time = TimeFormatter::for_fields(FieldMask::MTIME).text(taken);
        let file = quote::for_terminal(file.as_os_str());
        output::note(&format!("compared with the snapshot of {time}: '{file}'"));
    }
    let before = Side::Stored(Box::new(snapshot));
    let sides = Sides::new([&file, series.root()], before, after);
    let end = diff::show(&args.comparison, &sides)?;
    Ok(if unusable.is_empty() { end } else { end.max(ExitStatus::Partial) })
}
