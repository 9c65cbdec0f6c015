//! Ends commands after Ctrl-C, with all processes that they started.

#[cfg(target_os = "linux")]
pub(super) use linux::Terminator;

/// Elsewhere, commands receive Ctrl-C from the terminal.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Default)]
pub(super) struct Terminator {}

#[cfg(not(target_os = "linux"))]
impl Terminator {
    pub(super) fn end_processes(&mut self) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{HashMap, HashSet};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

    /// The time in which processes may end by themselves.
    const GRACE: Duration = Duration::from_secs(2);

    /// Ends the processes below this one.
    #[derive(Debug, Default)]
    pub(in super::super) struct Terminator {
        began: Option<Instant>,
        signalled: HashSet<i32>,
    }

    impl Terminator {
        /// Signals the processes that are left, and returns whether there are any. The first call requests
        /// their end; calls after two seconds kill them.
        pub(in super::super) fn end_processes(&mut self) -> bool {
            let began = *self.began.get_or_insert_with(|| {
                // Processes whose parent ends first then stay below this one. Fails only on kernels
                // before 3.4.
                let _ = set_child_subreaper(Some(getpid()));
                Instant::now()
            });
            let left = descendants();
            for &id in &left {
                let Some(pid) = Pid::from_raw(id) else { continue };
                // Each fails if the process has ended.
                if began.elapsed() >= GRACE {
                    let _ = kill_process(pid, Signal::KILL);
                } else if self.signalled.insert(id) {
                    let _ = kill_process(pid, Signal::TERM);
                    // A stopped process handles the signal when it continues.
                    let _ = kill_process(pid, Signal::CONT);
                }
            }
            !left.is_empty()
        }
    }

    /// Returns the processes that this one started, and those that they started, except zombies.
    #[expect(clippy::disallowed_methods, reason = "a list of processes, not a tree")]
    fn descendants() -> Vec<i32> {
        let mut below: HashMap<i32, Vec<(i32, bool)>> = HashMap::new();
        let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
        for process in processes.flatten() {
            let Some(id) = process.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
            // The program's name is in parentheses, and may contain any characters.
            let Some((_, fields)) = stat.rsplit_once(") ") else { continue };
            let mut fields = fields.split(' ');
            let is_zombie = matches!(fields.next(), Some("Z" | "X"));
            let Some(parent) = fields.next().and_then(|field| field.parse().ok()) else { continue };
            below.entry(parent).or_default().push((id, is_zombie));
        }
        let mut all = Vec::new();
        let mut parents = vec![getpid().as_raw_nonzero().get()];
        while let Some(parent) = parents.pop() {
            for (id, is_zombie) in below.remove(&parent).unwrap_or_default() {
                parents.push(id);
                if !is_zombie {
                    all.push(id);
                }
            }
        }
        all
    }
}
