//! `transect cache drop`: drops files from memory, and verifies it.

use std::fs::File;
use std::io;

use serde::Serialize;
use transect_sys::residency::{Residency, drop_pages, is_memory_only, residency};

use super::inspect::{FileReport, Inspected, inspect_files, size_or_unknown, sum};
use crate::args::CacheArgs;
use crate::output;
use crate::output::json::object;
use transect_program::{CliError, ExitStatus};

/// The bytes of a file in memory.
struct Dropped {
    before: Option<u64>,
    after: Option<u64>,
    /// The reason why some of it is still in memory.
    kept: Option<&'static str>,
}

pub(crate) fn run(args: &CacheArgs) -> Result<ExitStatus, CliError> {
    let done = inspect_files(args, drop_file)?;
    if done.show(args)? && done.files().any(|dropped| dropped.after.is_none()) {
        output::hint(
            "files with unknown sizes were dropped as well, but the system does not confirm it",
        );
    }
    let is_complete = done.files().all(|dropped| dropped.kept.is_none());
    Ok(done.end().max(ExitStatus::complete_if(is_complete)))
}

fn drop_file(file: &File) -> io::Result<Dropped> {
    let before = none_if_unavailable(residency(file))?;
    drop_pages(file).map_err(|error| {
        let reason = transect::reason(&error);
        io::Error::new(error.kind(), format!("dropping it from memory failed: {reason}"))
    })?;
    let after = none_if_unavailable(residency(file))?;
    let kept = after.filter(|after| after.resident > 0).map(|after| kept_reason(file, after));
    let resident = |residency: Option<Residency>| residency.map(|it| it.resident);
    Ok(Dropped { before: resident(before), after: resident(after), kept })
}

/// Returns `None` if the system does not report residency: such files can be dropped all the same.
fn none_if_unavailable(answer: io::Result<Residency>) -> io::Result<Option<Residency>> {
    match answer {
        Ok(residency) => Ok(Some(residency)),
        Err(error) => match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => Ok(None),
            _ => Err(error),
        },
    }
}

fn kept_reason(file: &File, after: Residency) -> &'static str {
    if is_memory_only(file) {
        "its file system lies in memory"
    } else if after.dirty.is_some_and(|dirty| dirty > 0) {
        "it was changed again"
    } else {
        "a program has it mapped, or reads it just now"
    }
}

impl FileReport for Dropped {
    const SCHEMA: &'static str = "transect.cache.drop/1";
    const COLUMNS: &'static str = "    before      after";
    const CAN_FAIL: bool = true;

    fn total(done: &Inspected<Self>) -> Self {
        let before = sum(done.files().map(|dropped| dropped.before));
        Self { before, after: sum(done.files().map(|dropped| dropped.after)), kept: None }
    }

    fn numbers(&self) -> String {
        format!("{:>10} {:>10}", size_or_unknown(self.before), size_or_unknown(self.after))
    }

    fn object(&self) -> impl Serialize + use<> {
        object! { resident_before: self.before, resident_after: self.after }
    }

    fn kept(&self) -> Option<&'static str> {
        self.kept
    }
}
