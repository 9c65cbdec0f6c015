//! Space in use on a file system that a scan of all of it did not find, and the causes that are known.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod platform;

use std::path::PathBuf;

use transect::{Outcome, ScanOptions, Totals};
use transect_text::quote;
use transect_text::units::{bytes, counted};

const MAX_NAMED: usize = 5;

/// Differences up to this share of what is used, or this many bytes, are not explained: other
/// programs write meanwhile, and file systems count their own data differently.
const TOLERATED_SHARE: u64 = 20;
const TOLERATED_BYTES: u64 = 4 << 20;

#[derive(Debug, Default)]
pub(crate) struct NotFound {
    pub(crate) size: u64,
    /// Deleted files that are still open; there may be more.
    pub(crate) deleted: Deleted,
    pub(crate) covered: Vec<Covered>,
    /// The directory of the file system that is mounted, if that is not all of it.
    pub(crate) mounted_directory: Option<PathBuf>,
    /// Free, but reserved for the superuser.
    pub(crate) reserved: u64,
    pub(crate) errors: u64,
    remark: Option<&'static str>,
}

#[derive(Debug, Default)]
pub(crate) struct Deleted {
    pub(crate) files: u64,
    pub(crate) size: u64,
    /// The processes whose open files this user may not see.
    pub(crate) unreadable_processes: u64,
    /// The size of the largest, and the process that keeps it open.
    largest: Option<(u64, String)>,
}

/// A directory that something is mounted on.
#[derive(Debug)]
pub(crate) struct Covered {
    pub(crate) path: PathBuf,
    /// What it occupies; `None` if this user cannot see it.
    pub(crate) size: Option<u64>,
}

impl NotFound {
    /// Compares what a scan found with what is in use. Returns `None` unless the scan stayed on one
    /// file system, began at its mount point, filtered nothing, and much is missing.
    pub(crate) fn of(options: &ScanOptions, outcome: &Outcome<Totals>) -> Option<Self> {
        let [root] = options.roots.as_slice() else { return None };
        // A link as the root is not followed: nothing was read.
        if outcome.interrupted || outcome.sink.directories == 0 {
            return None;
        }
        let disk = transect::internal::disk_space_of(&options.roots)?;
        let size = disk.used().saturating_sub(outcome.sink.sizes.disk_usage());
        if size <= TOLERATED_BYTES.max(disk.used() / TOLERATED_SHARE) {
            return None;
        }
        let known = platform::find(root, options)?;
        let errors = outcome.sink.diagnostics.errors;
        let reserved = disk.free.saturating_sub(disk.available);
        Some(Self { size, errors, reserved, ..known })
    }

    /// Returns the explanation, one sentence per cause.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut texts = vec![format!("{} of what is used is not in this tree", bytes(self.size))];
        let Deleted { files, size, unreadable_processes, largest } = &self.deleted;
        if *files > 0 {
            let files = counted(*files, "deleted file", "deleted files");
            let largest = match largest {
                Some((largest, holder)) if largest < size => {
                    format!(", {} of it by {holder}", bytes(*largest))
                }
                Some((_, holder)) => format!(" by {holder}"),
                None => String::new(),
            };
            texts.push(format!("at least {} in {files} kept open{largest}", bytes(*size)));
        }
        if *unreadable_processes > 0 {
            let processes = counted(*unreadable_processes, "process", "processes");
            texts.push(format!("deleted files that {processes} of other users may keep open"));
        }
        for Covered { path, size } in self.covered.iter().take(MAX_NAMED) {
            let path = quote::for_terminal(path.as_os_str());
            texts.push(match size {
                Some(size) => format!("{} in {path}, below what is mounted there", bytes(*size)),
                None => format!("what {path} may hold below what is mounted there"),
            });
        }
        let unnamed = self.covered.len().saturating_sub(MAX_NAMED);
        if unnamed > 0 {
            texts.push(format!("the same for {}", counted(unnamed as u64, "other", "others")));
        }
        if let Some(directory) = &self.mounted_directory {
            let directory = quote::for_terminal(directory.as_os_str());
            texts
                .push(format!("all but {directory} of the file system: only that is mounted here"));
        }
        if self.errors > 0 {
            let errors = counted(self.errors, "error", "errors");
            texts.push(format!("what could not be read: {errors}"));
        }
        texts.extend(self.remark.map(str::to_owned));
        let rest = self.rest();
        if rest > self.size / 100 {
            texts.push(format!("{} is unexplained; metadata may be part of it", bytes(rest)));
        }
        if self.reserved > 0 {
            let reserved = bytes(self.reserved);
            texts.push(format!("also, {reserved} is free, but reserved or beyond a quota"));
        }
        texts
    }

    /// Returns what no cause of known size explains.
    fn rest(&self) -> u64 {
        let covered = self.covered.iter().filter_map(|covered| covered.size).sum::<u64>();
        self.size.saturating_sub(self.deleted.size.saturating_add(covered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_found_texts_name_known_causes_and_rest() {
        let deleted = Deleted {
            files: 2,
            size: 16 << 20,
            unreadable_processes: 1,
            largest: Some((12 << 20, "tail (process 7)".to_owned())),
        };
        let covered = |path: &str, size| Covered { path: path.into(), size };
        let found = NotFound {
            size: 40 << 20,
            deleted,
            covered: vec![covered("/mnt/a", Some(4 << 20)), covered("/mnt/b", None)],
            mounted_directory: Some("/@".into()),
            reserved: 1 << 20,
            errors: 3,
            remark: None,
        };
        assert_eq!(
            found.texts(),
            [
                "40.0 MiB of what is used is not in this tree",
                "at least 16.0 MiB in 2 deleted files kept open, 12.0 MiB of it by tail (process 7)",
                "deleted files that 1 process of other users may keep open",
                "4.00 MiB in /mnt/a, below what is mounted there",
                "what /mnt/b may hold below what is mounted there",
                "all but /@ of the file system: only that is mounted here",
                "what could not be read: 3 errors",
                "20.0 MiB is unexplained; metadata may be part of it",
                "also, 1.00 MiB is free, but reserved or beyond a quota",
            ]
        );
        // Sizes that change meanwhile may explain more than is missing.
        assert_eq!(NotFound { size: 1, ..found }.rest(), 0);
    }
}
