//! `transect changes`: what changed since a kept snapshot.

mod cursor_list;
mod journal;
mod list;
mod live;

use std::path::{Path, PathBuf};

use transect::{Cancel, FieldMask};
use transect_snapshot::SinceLevel;

use crate::args::{ChangesArgs, ChangesSince};
use crate::commands::diff::{self, ReadingOptions, Side, Sides};
use crate::commands::snapshot::Since;
use crate::output::time::{TimeFormatter, age};
use crate::output::{self, quote};
use crate::series::{Kept, Search, Series};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) fn run(args: &ChangesArgs) -> Result<ExitStatus, CliError> {
    if args.journal {
        return journal::run(args);
    }
    let cancel = cancel_on_signal()?;
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    let mut reading = diff::reading_options(&args.comparison);
    if args.list_for.is_some() {
        reading.fields |= FieldMask::CTIME;
    }
    let since = match args.since {
        Some(ChangesSince::Cursor(cursor)) => return live::run(args, path, Some(cursor)),
        _ if args.cursor => return live::run(args, path, None),
        Some(ChangesSince::Time(time)) if !args.null => Some(time),
        Some(_) => {
            return Err(CliError::failed("-0 needs the cursor of a running `transect live`"));
        }
        None => None,
    };
    let kept = since_kept(path, since, reading, args.rescan.rescan, &cancel)?;
    if !args.comparison.json {
        let time = TimeFormatter::local().text(kept.taken);
        let file = quote::for_terminal(kept.file.as_os_str());
        output::note(&format!("compared with the snapshot of {time}: '{file}'"));
    }
    let end = match args.list_for {
        Some(tool) => list::run(&args.comparison, tool, args.exact, &kept.root, &kept.sides)?,
        None => diff::show(&args.comparison, &kept.sides)?,
    };
    Ok(end.max(kept.end))
}

/// A kept snapshot and the directory now.
pub(crate) struct KeptSides {
    pub(crate) root: PathBuf,
    pub(crate) file: PathBuf,
    pub(crate) taken: i64,
    pub(crate) sides: Sides,
    /// Partial if a newer snapshot could not be used.
    pub(crate) end: ExitStatus,
}

/// Returns the last snapshot of a directory that was taken at this time or before (without a time, the last one), and
/// reads the directory as it was read for the snapshot.
///
/// # Errors
/// There is no snapshot, and the message has the reason; or the directory cannot be read.
pub(crate) fn since_kept(
    path: &Path,
    since: Option<i64>,
    reading: ReadingOptions,
    rescan: Option<SinceLevel>,
    cancel: &Cancel,
) -> Result<KeptSides, CliError> {
    let (Kept { path: file, taken, snapshot }, series, end) = kept_snapshot(path, since)?;
    let scope = snapshot.metadata().scope;
    let was_one_file_system = scope.is_some_and(|scope| scope.one_file_system);
    let one_file_system = reading.one_file_system || was_one_file_system;
    let reading = ReadingOptions { one_file_system, ..reading };
    let base = match rescan {
        Some(level) => Since::last_of(&series, level)?,
        None => None,
    };
    let root = series.root().to_owned();
    let after = Side::read(root.clone(), &reading, base.as_ref(), cancel)?;
    let sides = Sides::new([&file, &root], Side::Stored(Box::new(snapshot)), after);
    Ok(KeptSides { root, file, taken, sides, end })
}

/// Returns the last snapshot of a directory that was taken at this time or before (without a time, the last one), its
/// series, and whether all newer ones could be used.
///
/// # Errors
/// There is no snapshot, and the message has the reason.
pub(crate) fn kept_snapshot(
    path: &Path,
    since: Option<i64>,
) -> Result<(Kept, Series, ExitStatus), CliError> {
    let series = Series::of(path)?;
    let Search { kept, unusable } = match since {
        None => series.last()?,
        Some(since) => series.newest(since)?,
    };
    unusable.iter().for_each(output::error);
    let end = ExitStatus::complete_if(unusable.is_empty());
    match kept {
        Some(kept) => Ok((kept, series, end)),
        None => Err(CliError::Failed(why_none(since, &series, path)?)),
    }
}

fn why_none(since: Option<i64>, series: &Series, path: &Path) -> Result<String, CliError> {
    let root = series.root().display();
    let oldest = since.map(|_| series.oldest()).transpose()?.flatten();
    let (Some(since), Some(Kept { taken, .. })) = (since, oldest) else {
        return Ok(series.none_kept(path));
    };
    let times = TimeFormatter::local();
    let age = age(u64::try_from(taken / 1_000_000_000).unwrap_or(0));
    let (since, time) = (times.text(since), times.text(taken));
    Ok(format!("no snapshot of '{root}' is from before {since}; the oldest is {age} old ({time})"))
}
