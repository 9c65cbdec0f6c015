//! `transect cache status`: shows how much of each file is in memory.

use serde::Serialize;
use transect_sys::residency::{Residency, residency};

use super::inspect::{FileReport, Inspected, inspect_files, size_or_unknown, sum};
use crate::args::CacheArgs;
use crate::output::json::object;
use crate::output::units::bytes;
use transect_program::{CliError, ExitStatus};

pub(crate) fn run(args: &CacheArgs) -> Result<ExitStatus, CliError> {
    let done = inspect_files(args, residency)?;
    done.show(args)?;
    Ok(done.end())
}

impl FileReport for Residency {
    const SCHEMA: &'static str = "transect.cache.status/1";
    const COLUMNS: &'static str = "  resident              size      dirty";

    fn total(done: &Inspected<Self>) -> Self {
        let all = |of: fn(&Self) -> u64| {
            done.files().fold(0_u64, |sum, file| sum.saturating_add(of(file)))
        };
        Self {
            bytes: all(|file| file.bytes),
            resident: all(|file| file.resident),
            dirty: sum(done.files().map(|file| file.dirty)),
            writeback: sum(done.files().map(|file| file.writeback)),
        }
    }

    fn numbers(&self) -> String {
        let Self { bytes: size, resident, dirty, writeback } = *self;
        // Pages under writeback are not on the device yet.
        let dirty = dirty.zip(writeback).map(|(dirty, writeback)| dirty + writeback);
        let percent = percent(resident, size);
        format!(
            "{:>10} {percent:>6} {:>10} {:>10}",
            bytes(resident),
            bytes(size),
            size_or_unknown(dirty)
        )
    }

    fn object(&self) -> impl Serialize + use<> {
        object! {
            size: self.bytes,
            resident: self.resident,
            dirty: self.dirty,
            writeback: self.writeback,
        }
    }
}

/// Returns a share in whole percent: 100 only for everything, 0 only for nothing.
fn percent(part: u64, whole: u64) -> String {
    match part as u128 * 100 / u128::from(whole.max(1)) {
        _ if whole == 0 => String::new(),
        0 if part > 0 => "<1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_is_0_or_100_only_if_exact() {
        for (part, whole, text) in [
            (0, 0, ""),
            (0, 1, "0 %"),
            (1, 1, "100 %"),
            (1, 1_000, "<1 %"),
            (999, 1_000, "99 %"),
            (u64::MAX - 1, u64::MAX, "99 %"),
        ] {
            assert_eq!(percent(part, whole), text);
        }
    }
}
