//! Finds temporary files that killed runs left below a path.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use transect::{Diagnostics, ScanOptions};
use transect_transform::publish;
use transect_transform::tree;

use crate::output::json::{PathEntry, object};
use crate::output::{BOLD, quote};
use transect_program::CliError;

/// A temporary file, and the reason to keep it.
pub(super) struct Leftover {
    path: PathBuf,
    /// `None` for an abandoned file.
    kept: Option<String>,
}

impl Serialize for Leftover {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (path, kept) = (PathEntry::from(self.path.as_path()), self.kept.as_deref());
        object! { ..path: path, abandoned: kept.is_none(), kept: kept }.serialize(serializer)
    }
}

/// Finds the temporary files below `path`, on its file system.
pub(super) fn find(path: &Path) -> Result<(Vec<Leftover>, Diagnostics), CliError> {
    let found = tree::find_leftovers(ScanOptions::new([path]).same_file_system(true))?;
    let judged = found.leftovers.into_iter().filter_map(|path| {
        let kept = match publish::keep_reason(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => Some(transect::reason(&error).to_string()),
            Ok(kept) => kept.map(|kept| kept.to_string()),
        };
        Some(Leftover { path, kept })
    });
    Ok((judged.collect(), found.tally))
}

pub(super) fn write(out: &mut impl Write, leftovers: &[Leftover]) -> std::io::Result<()> {
    writeln!(out, "\n{BOLD}temporary files of other runs{BOLD:#}")?;
    if leftovers.is_empty() {
        writeln!(out, "  none")?;
    }
    for Leftover { path, kept } in leftovers {
        let path = quote::for_terminal(path.as_os_str());
        let state = kept.as_deref().unwrap_or("abandoned; `transform --in-place` removes it");
        writeln!(out, "  {path}: {state}")?;
    }
    Ok(())
}
