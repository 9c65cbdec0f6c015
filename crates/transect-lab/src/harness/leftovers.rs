//! Processes that a run leaves behind when its own process ends.
//!
//! Their work would be missing in the account of the run: the kernel adds the CPU time and the reads of a
//! child to those of its parent when the parent waits for it. On Linux the lab therefore adopts orphans
//! (`PR_SET_CHILD_SUBREAPER`), ends those of the run, and adds their usage. A process belongs to the run if
//! it is in its group, or, as a daemon leaves the group, if it inherited a mark in its environment.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use crate::harness::account::stat_number;

const MARK: &str = "TRANSECT_LAB_RUN";

/// The time in which leftover processes may end by themselves, as helpers of a runtime do when their pipe is
/// closed.
const GRACE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Marked {
    #[cfg(target_os = "linux")]
    mark: String,
}

#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// The processes that had to be killed. On a busy machine, one may be seen again before it ends.
    pub(super) killed: BTreeSet<u32>,
    pub(super) cpu: Duration,
    /// Bytes that devices read for them, as far as they are known.
    pub(super) read_bytes: u64,
}

impl Leftovers {
    pub(super) fn add(&mut self, more: Self) {
        self.killed.extend(more.killed);
        self.cpu += more.cpu;
        self.read_bytes += more.read_bytes;
    }
}

impl Marked {
    /// Marks the processes of a command that is started next.
    pub(super) fn new(command: &mut Command) -> Self {
        #[cfg(target_os = "linux")]
        {
            let mark = linux::next_mark();
            command.env(MARK, &mark);
            Self { mark }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (command, MARK, GRACE);
            Self {}
        }
    }

    /// Ends the processes that are left, after the one with the id `group`, which began at this time by
    /// [`start_time`], was waited for. Processes of a run that timed out get no time to end by themselves.
    pub(super) fn end_all(&self, group: u32, began: Option<u64>, has_timed_out: bool) -> Leftovers {
        #[cfg(target_os = "linux")]
        {
            let grace = if has_timed_out { Duration::ZERO } else { GRACE };
            let run = linux::Run { group, began, mark: &self.mark };
            linux::end_all(&run, grace)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (group, began, has_timed_out);
            Leftovers::default()
        }
    }
}

/// Returns the time at which a child was started, in ticks since the system's start.
pub(super) fn start_time(child: u32) -> Option<u64> {
    let stat = || std::fs::read_to_string(format!("/proc/{child}/stat")).ok();
    stat_number(&cfg!(target_os = "linux").then(stat)??, 22)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::Once;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
    };
    use transect_sys::host::usage_of_children;

    use super::{GRACE, Leftovers, MARK};
    use crate::harness::account::{Account, stat_field, stat_number};

    /// The time after which killed processes are left alone: one that waits for a device cannot end.
    const PATIENCE: Duration = Duration::from_secs(2);

    pub(super) struct Run<'r> {
        pub(super) group: u32,
        pub(super) began: Option<u64>,
        pub(super) mark: &'r str,
    }

    /// The fields of `/proc/PID/stat` used here.
    struct Stat {
        is_zombie: bool,
        group: u32,
        /// 0 if the leader of the session is outside of a container that has its own process ids. (For
        /// that id, `getsid` of rustix panics.)
        session: u32,
        began: u64,
    }

    /// Returns a new mark, and makes the lab adopt orphans.
    pub(super) fn next_mark() -> String {
        static ADOPT: Once = Once::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Fails only on kernels before 3.4.
        ADOPT.call_once(|| {
            let _ = set_child_subreaper(Some(getpid()));
        });
        format!("{}-{}", getpid().as_raw_nonzero(), NEXT.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn end_all(run: &Run<'_>, grace: Duration) -> Leftovers {
        let began = Instant::now();
        let mut leftovers = Leftovers::default();
        loop {
            let mut is_left = false;
            for child in children() {
                match run.has(child) {
                    Some(true) => {}
                    Some(false) => continue,
                    None => {
                        is_left |= began.elapsed() < GRACE;
                        continue;
                    }
                }
                if stat(child).is_none_or(|stat| stat.is_zombie) {
                    reap(child, &mut leftovers);
                    continue;
                }
                is_left = true;
                if began.elapsed() >= grace {
                    leftovers.killed.insert(child);
                    let _ = kill_process(child_pid(child), Signal::KILL);
                }
            }
            if !is_left || began.elapsed() > grace + PATIENCE {
                return leftovers;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the ids of all children, by any thread. Empty if the kernel does not list them.
    #[expect(clippy::disallowed_methods, reason = "threads of this process, not a tree")]
    fn children() -> Vec<u32> {
        let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
        let of_thread = |thread: std::fs::DirEntry| {
            std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()
        };
        let lists: Vec<String> = threads.flatten().map(of_thread).collect();
        lists.iter().flat_map(|list| list.split_whitespace()).flat_map(str::parse).collect()
    }

    impl Run<'_> {
        /// Returns whether a child of the lab is a process of the run; `None` while it executes another
        /// program, when it has no environment.
        fn has(&self, child: u32) -> Option<bool> {
            let Some(stat) = stat(child) else { return Some(false) };
            if stat.group == self.group {
                return Some(true);
            }
            if stat.is_zombie {
                // Its environment is gone. Only a daemon is in a session of its own.
                let own = self::stat(std::process::id());
                let is_daemon = own.is_some_and(|own| own.session != stat.session);
                return Some(is_daemon && self.began.is_some_and(|at| stat.began >= at));
            }
            let environment = std::fs::read(format!("/proc/{child}/environ")).unwrap_or_default();
            let mark = format!("{MARK}={}", self.mark);
            let has_mark = environment.split(|&byte| byte == 0).any(|it| it == mark.as_bytes());
            if environment.is_empty() { None } else { Some(has_mark) }
        }
    }

    /// Waits for a child that has ended, and adds its usage.
    fn reap(child: u32, leftovers: &mut Leftovers) {
        let account = Account::of_ended(child);
        let before = usage_of_children();
        // A zombie whose threads still run has not ended.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        if !matches!(waitid(WaitId::Pid(child_pid(child)), options), Ok(Some(_))) {
            return;
        }
        if let (Some(before), Some(after)) = (before, usage_of_children()) {
            leftovers.cpu += after.cpu_time.saturating_sub(before.cpu_time);
        }
        leftovers.read_bytes += account.and_then(|account| account.read_bytes).unwrap_or(0);
    }

    fn child_pid(child: u32) -> Pid {
        Pid::from_raw(child.cast_signed()).expect("BUG: the kernel lists ids of processes")
    }

    fn stat(child: u32) -> Option<Stat> {
        let text = std::fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        Some(Stat {
            is_zombie: matches!(stat_field(&text, 3)?, "Z" | "X"),
            group: stat_field(&text, 5)?.parse().ok()?,
            session: stat_field(&text, 6)?.parse().ok()?,
            began: stat_number(&text, 22)?,
        })
    }
}
