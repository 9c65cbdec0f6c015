//! The kernel's counters for a process, except its times.

use serde::{Deserialize, Serialize};
use transect_sys::host::ProcessUsage;

/// Counters of a process for events that cost time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Page faults without device reads.
    pub minor_faults: u64,
    /// Page faults with device reads.
    pub major_faults: u64,
    /// Voluntary context switches of all its threads; in sessions of older versions, of its first thread.
    pub waits: u64,
    /// Involuntary context switches of all its threads; in sessions of older versions, of its first thread.
    pub preemptions: u64,
    /// Bytes that devices read for it and for the children that it waited for: of files, directories and
    /// inodes alike, as the kernel counts each read for the thread that submits it. `None` if unknown; in
    /// sessions of older versions, then 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes that it caused the kernel to write to devices, at once or later.
    pub written_bytes: u64,
}

impl Account {
    /// Waits until a child ends, without reaping it. Returns false at once on systems that do not support
    /// this.
    pub(crate) fn wait_for_end(child: u32) -> bool {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
            let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            pid.is_some_and(|pid| waitid(WaitId::Pid(pid), options).is_ok())
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = child;
            false
        }
    }

    /// Returns the account of a child that has ended and is not reaped; `None` if the system has none.
    pub(crate) fn of_ended(child: u32) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{child}/{name}")).ok();
        Self::parse(&read("stat")?, &read("status")?, read("io").as_deref().unwrap_or_default())
    }

    /// Parses `stat`, `status` and `io` in `/proc/PID` (`proc_pid_stat(5)`).
    fn parse(stat: &str, status: &str, io: &str) -> Option<Self> {
        let line = |list: &str, key: &str| {
            let value = list.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            value.trim().parse::<u64>().ok()
        };
        Some(Self {
            minor_faults: stat_number(stat, 10)?,
            major_faults: stat_number(stat, 12)?,
            waits: line(status, "voluntary_ctxt_switches")?,
            preemptions: line(status, "nonvoluntary_ctxt_switches")?,
            // Some kernels do not count either.
            read_bytes: line(io, "read_bytes"),
            written_bytes: line(io, "write_bytes").unwrap_or(0),
        })
    }

    /// Returns the account with the context switches of all threads and child processes, which are the
    /// difference between two usages of all children: before its start and after reaping it. `/proc` has
    /// only those of its first thread.
    pub(crate) fn with_switches(
        self,
        before: Option<ProcessUsage>,
        after: Option<ProcessUsage>,
    ) -> Self {
        let (Some(before), Some(after)) = (before, after) else { return self };
        Self {
            waits: after.voluntary_switches.saturating_sub(before.voluntary_switches),
            preemptions: after.involuntary_switches.saturating_sub(before.involuntary_switches),
            ..self
        }
    }
}

/// Returns a field of `/proc/PID/stat` behind the program's name, by its number in `proc_pid_stat(5)`.
pub(crate) fn stat_field(stat: &str, number: usize) -> Option<&str> {
    // The name is in parentheses, and may contain any characters.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(number - 3)
}

pub(crate) fn stat_number(stat: &str, number: usize) -> Option<u64> {
    stat_field(stat, number)?.parse().ok()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn fields_parsed_despite_parentheses_in_program_name() {
        let stat = "7 (a) b (c) Z 1 2 3 4 5 6 70 8 90 10 11 12\n";
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n";
        let io = "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\n";
        let account = Account::parse(stat, status, io).unwrap();
        let expected = Account {
            minor_faults: 70,
            major_faults: 90,
            waits: 3,
            preemptions: 4,
            read_bytes: Some(4096),
            written_bytes: 8192,
        };
        assert_eq!(account, expected);
        assert_eq!(Account::parse(stat, "", io), None);
    }

    #[test]
    fn ended_child_has_an_account_before_reaping() {
        let mut child = std::process::Command::new("sh").args(["-c", "exit 3"]).spawn().unwrap();
        assert!(Account::wait_for_end(child.id()));
        let account = Account::of_ended(child.id()).unwrap();
        assert!(account.minor_faults > 0, "{account:?}");
        assert_eq!(child.wait().unwrap().code(), Some(3), "it is still there to be waited for");
    }
}
