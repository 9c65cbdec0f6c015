//! The snapshots that `find` searches.

use std::path::{Path, PathBuf};

use transect::FieldMask;
use transect_snapshot::Snapshot;

use crate::commands::snapshot;
use crate::output::time::{TimeFormatter, age};
use crate::output::units::counted;
use crate::series::{self, Kept, Search, Series, Unusable, last_kept};
use transect_program::exit::CliError;

pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) snapshot: Snapshot,
}

impl From<Kept> for Source {
    fn from(Kept { path, snapshot, .. }: Kept) -> Self {
        Self { path, snapshot }
    }
}

impl Source {
    pub(super) fn text(&self) -> String {
        let metadata = self.snapshot.metadata();
        let roots = metadata.roots.join("', '");
        let mut text = format!("from the snapshot of '{roots}'");
        if let Some(started) = metadata.started {
            let time = TimeFormatter::for_fields(FieldMask::MTIME).text(started);
            let second = u64::try_from(started / 1_000_000_000).unwrap_or(0);
            text += &format!(", {} old ({time})", age(second));
        }
        if !metadata.complete {
            text += &format!("; it is partial: {}", counted(metadata.errors, "error", "errors"));
        }
        text
    }
}

/// Returns the snapshots to be searched, and files of their series that could not be used.
pub(super) fn of(within: &[PathBuf]) -> Result<(Vec<Source>, Vec<Unusable>), CliError> {
    if within.is_empty() {
        return of_current_directory();
    }
    let (mut sources, mut all_unusable) = (Vec::new(), Vec::new());
    for path in within {
        if let Some(snapshot) = snapshot::open(path)? {
            sources.push(Source { path: path.clone(), snapshot });
            continue;
        }
        let Search { kept, unusable } = last_kept(path)?;
        all_unusable.extend(unusable);
        match kept {
            Some(kept) => sources.push(kept.into()),
            None if path.is_file() => {
                let path = path.display();
                return Err(CliError::Usage(format!(
                    "'{path}' is neither a snapshot nor a directory"
                )));
            }
            None => {
                all_unusable.iter().for_each(crate::output::error);
                return Err(CliError::Usage(Series::of(path)?.none_kept(path)));
            }
        }
    }
    Ok((sources, all_unusable))
}

/// Returns the last snapshot of the current directory or of the nearest one above it, or else those of all
/// directories.
fn of_current_directory() -> Result<(Vec<Source>, Vec<Unusable>), CliError> {
    let Search { kept, mut unusable } = series::nearest(Path::new("."))?;
    if let Some(kept) = kept {
        return Ok((vec![kept.into()], unusable));
    }
    let mut sources = Vec::new();
    for series in series::outermost()? {
        let Search { kept, unusable: more } = series.last()?;
        unusable.extend(more);
        sources.extend(kept.map(Source::from));
    }
    if sources.is_empty() {
        unusable.iter().for_each(crate::output::error);
        let why = "no snapshot was kept; keep one: transect keep PATH";
        return Err(CliError::Usage(why.to_owned()));
    }
    Ok((sources, unusable))
}
