//! Counts the system calls of a method: the article's ProcessMonitor column.
//!
//! `strace` counts them in separate runs on a sample of a large tree. Some runtimes make thousands of calls at their
//! start, never the same number: so a method that repeats its walk in one process is counted with one walk and with
//! [`COUNTED_WALKS`] more, others with and without work, and the difference is what counts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::harness::launch::{self, can_start};
use crate::spec::Dataset;

/// System calls of one walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    /// The number of entries in the tree, its root included.
    pub entries: u64,
    /// All calls that take a path or a descriptor.
    pub calls: u64,
    pub opens: u64,
    pub listings: u64,
    pub attributes: u64,
    #[serde(default)]
    pub closes: u64,
}

/// The filter of `strace`: calls that take a path or a descriptor. Other calls do not use the file system,
/// and their number is not repeatable: threads wait for each other more often the slower they run.
const CALLS: &str = "trace=%file,%desc";

/// The calls of each kind (`syscalls(2)`).
const OPENS: &[&str] = &["open", "openat", "openat2"];
const LISTINGS: &[&str] = &["getdents", "getdents64"];
const ATTRIBUTES: &[&str] =
    &["stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"];
const CLOSES: &[&str] = &["close"];

/// Walks whose calls are counted in one process, after a first one that is not counted.
pub const COUNTED_WALKS: u64 = 2;

/// Returns why calls cannot be counted on this machine, if they cannot.
pub fn unavailable_reason() -> Option<&'static str> {
    if cfg!(not(target_os = "linux")) {
        return Some("they can be counted on Linux only");
    }
    (!can_start("strace")).then_some("needs strace: apt-get install strace")
}

/// Returns the paths of a tree of a single file. On it, only calls for these are counted, as in the article: the
/// calls of a runtime's clock would hide them.
pub(super) fn paths_of_single_file(tree: &Dataset) -> Vec<PathBuf> {
    if (tree.expected.files, tree.expected.directories) != (1, 1) {
        return Vec::new();
    }
    let entries = transect::walk(&tree.root).into_iter().flatten();
    entries.map(|entry| entry.into_path()).chain([tree.root.clone()]).collect()
}

impl Accesses {
    /// Runs a command to its end, and counts its calls; with paths, only those that name one or have it open.
    ///
    /// # Errors
    /// The error message of `strace`, or its output if that is not a table.
    pub fn of(
        command: &Command,
        paths: &[PathBuf],
        scratch: &Path,
        limit: Duration,
    ) -> Result<Self, String> {
        let table = scratch.join(format!("transect-strace-{}", std::process::id()));
        let mut strace = Command::new("strace");
        strace.args(["-f", "--seccomp-bpf", "-q", "-c", "-U", "calls,name", "-e", CALLS, "-o"]);
        strace.arg(&table).args(paths.iter().flat_map(|path| ["-P".as_ref(), path.as_os_str()]));
        strace.arg("--").arg(command.get_program());
        launch::run_like(&mut strace, command);
        let ran = launch::time(strace, limit);
        let text = std::fs::read_to_string(&table);
        // Fails if strace has not created it.
        let _ = std::fs::remove_file(&table);
        ran?;
        match Self::parse(&text.map_err(|error| transect::reason(&error))?) {
            Self { calls: 0, .. } if paths.is_empty() => Err("strace counted nothing".to_owned()),
            accesses => Ok(accesses),
        }
    }

    pub fn each(&self, calls: u64) -> f64 {
        calls as f64 / self.entries.max(1) as f64
    }

    /// Parses the table of `strace -c`: lines with a count and a name, between rules and titles.
    fn parse(table: &str) -> Self {
        let mut accesses = Self::default();
        for line in table.lines() {
            let mut words = line.split_whitespace();
            let (Some(count), Some(name)) = (words.next(), words.next()) else { continue };
            let Ok(count) = count.parse::<u64>() else { continue };
            if name == "total" {
                continue;
            }
            accesses.calls += count;
            for (kind, names) in [
                (&mut accesses.opens, OPENS),
                (&mut accesses.listings, LISTINGS),
                (&mut accesses.attributes, ATTRIBUTES),
                (&mut accesses.closes, CLOSES),
            ] {
                if names.contains(&name) {
                    *kind += count;
                }
            }
        }
        accesses
    }

    /// Returns the calls of one of several equal walks, rounded, without those of the start.
    pub fn of_one_walk(self, start: Self, walks: u64) -> Self {
        let of_one =
            |calls: u64, start: u64| (calls.saturating_sub(start) + walks / 2) / walks.max(1);
        Self {
            entries: self.entries,
            calls: of_one(self.calls, start.calls),
            opens: of_one(self.opens, start.opens),
            listings: of_one(self.listings, start.listings),
            attributes: of_one(self.attributes, start.attributes),
            closes: of_one(self.closes, start.closes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strace_table_summed_by_kind_of_call() {
        let table = "    calls syscall\n--------- ----------------\n       12 statx\n        3 \
                     openat\n        4 getdents64\n        7 write\n--------- ----------------\n\
                     \x20      2 close\n       28 total\n";
        let expected =
            Accesses { entries: 0, calls: 28, opens: 3, listings: 4, attributes: 12, closes: 2 };
        assert_eq!(Accesses::parse(table), expected);
        assert_eq!(Accesses::parse("strace: no permission"), Accesses::default());
        let start = Accesses { calls: 29, opens: 1, ..Accesses::default() };
        assert_eq!(expected.of_one_walk(start, 1), Accesses { calls: 0, opens: 2, ..expected });
        let half =
            Accesses { calls: 14, opens: 2, listings: 2, attributes: 6, closes: 1, ..expected };
        assert_eq!(expected.of_one_walk(Accesses::default(), 2), half);
    }
}
