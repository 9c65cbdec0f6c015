//! How often a method goes to the system: the article's ProcessMonitor column.
//!
//! Counted by `strace` in a run of its own, which is never timed. What a program does before and
//! after its walk (a runtime starts with thousands of calls) is counted on an empty directory and
//! taken off. Counting takes many times as long as walking: a part of a large tree is enough, as
//! what counts is the number for each entry.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::harness::launch;
use crate::harness::launch::is_on_path;

/// System calls of one walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    /// The entries of what was walked, its root included.
    pub entries: u64,
    /// All of them: those that take a path or a descriptor.
    pub calls: u64,
    /// Those that open something.
    pub opens: u64,
    /// Those that list an open directory.
    pub listings: u64,
    /// Those that ask for attributes.
    pub attributes: u64,
}

/// Those that take a path or a descriptor. The others are not the file system's, and there is no
/// counting them: threads that wait for each other do so as often as they are slowed down.
const CALLS: &str = "trace=%file,%desc";

/// The calls of each kind (`syscalls(2)`).
const OPENS: &[&str] = &["open", "openat", "openat2"];
const LISTINGS: &[&str] = &["getdents", "getdents64"];
const ATTRIBUTES: &[&str] =
    &["stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"];

/// Returns why calls cannot be counted here, if they cannot.
pub fn why_not() -> Option<&'static str> {
    if cfg!(not(target_os = "linux")) {
        return Some("they can be counted on Linux only");
    }
    (!is_on_path("strace")).then_some("needs strace: apt-get install strace")
}

impl Accesses {
    /// Counts the calls of a process to its end.
    ///
    /// # Errors
    /// What `strace` said, or what it wrote instead of a table.
    pub fn of(command: &Command, scratch: &Path, limit: Duration) -> Result<Self, String> {
        let table = scratch.join(format!("transect-strace-{}", std::process::id()));
        let mut strace = Command::new("strace");
        strace.args(["-f", "--seccomp-bpf", "-q", "-c", "-U", "calls,name", "-e", CALLS, "-o"]);
        strace.arg(&table).arg("--");
        strace.arg(command.get_program()).args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            strace.current_dir(folder);
        }
        strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = launch::time(strace, limit).map_err(|failure| failure.to_string());
        let text = std::fs::read_to_string(&table);
        // It may not be there.
        let _ = std::fs::remove_file(&table);
        ran?;
        Self::parse(&text.map_err(|error| transect::reason(&error))?)
    }

    /// Returns how many of its calls there are for each entry.
    pub fn each(&self, calls: u64) -> f64 {
        calls as f64 / self.entries.max(1) as f64
    }

    /// Parses the table: a count and a name in a line, between rules and titles.
    fn parse(table: &str) -> Result<Self, String> {
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
            ] {
                if names.contains(&name) {
                    *kind += count;
                }
            }
        }
        if accesses.calls == 0 { Err("strace counted nothing".to_owned()) } else { Ok(accesses) }
    }

    /// Returns what is left when what another run made is taken off.
    pub fn without(self, start: Self) -> Self {
        Self {
            entries: self.entries,
            calls: self.calls.saturating_sub(start.calls),
            opens: self.opens.saturating_sub(start.opens),
            listings: self.listings.saturating_sub(start.listings),
            attributes: self.attributes.saturating_sub(start.attributes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_strace_is_added_up_by_kind() {
        let table = "    calls syscall\n--------- ----------------\n       12 statx\n        3 \
                     openat\n        4 getdents64\n        7 write\n--------- ----------------\n\
                     \x20      26 total\n";
        let expected = Accesses { entries: 0, calls: 26, opens: 3, listings: 4, attributes: 12 };
        assert_eq!(Accesses::parse(table), Ok(expected));
        assert!(Accesses::parse("strace: no permission").is_err());
        let start = Accesses { calls: 27, opens: 1, ..Accesses::default() };
        assert_eq!(expected.without(start), Accesses { calls: 0, opens: 2, ..expected });
    }
}
