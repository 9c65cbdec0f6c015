//! `transect changes`: what changed since a kept snapshot.

mod journal;

use std::path::{Path, PathBuf};

use transect::FieldMask;

use crate::args::ChangesArgs;
use crate::commands::diff::{self, ReadingOptions, Side, Sides};
use crate::commands::snapshot::Since;
use crate::output::time::{TimeFormatter, age};
use crate::output::{self, quote};
use crate::series::{Kept, Search, Series, last_kept};
use transect_program::exit::{CliError, ExitStatus};
use transect_program::interrupt::cancel_on_signal;

pub(crate) fn run(args: &ChangesArgs) -> Result<ExitStatus, CliError> {
    if args.journal {
        return journal::run(args);
    }
    let cancel = cancel_on_signal()?;
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    let series = Series::of(path)?;
    let Search { kept, unusable } = match args.since {
        None => last_kept(path)?,
        Some(since) => series.newest(since)?,
    };
    unusable.iter().for_each(output::error);
    let Some(Kept { path: file, taken, snapshot }) = kept else {
        return Err(CliError::Usage(why_none(args, &series, path)?));
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

fn why_none(args: &ChangesArgs, series: &Series, path: &Path) -> Result<String, CliError> {
    let root = series.root().display();
    let oldest = args.since.map(|_| series.oldest()).transpose()?.flatten();
    let (Some(since), Some(Kept { taken, .. })) = (args.since, oldest) else {
        return Ok(series.none_kept(path));
    };
    let times = TimeFormatter::for_fields(FieldMask::MTIME);
    let age = age(u64::try_from(taken / 1_000_000_000).unwrap_or(0));
    let (since, time) = (times.text(since), times.text(taken));
    Ok(format!("no snapshot of '{root}' is from before {since}; the oldest is {age} old ({time})"))
}
