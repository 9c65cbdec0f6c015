//! Starts a process, and waits for its end within a time limit.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use transect_sys::host::{usage_of_children, usage_of_self};
use wait4::{ResUse, Wait4};

use crate::harness::account::Account;
use crate::harness::leftovers::{Leftovers, Marked, start_time};
use crate::harness::protocol::RunLine;
use crate::harness::stopwatch::nanoseconds;

/// The limits of an output: its lines, and the bytes of a line.
const MOST_LINES: usize = 10_000;
const LONGEST_LINE: u64 = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The time from its start to its end, in nanoseconds.
    pub wall_ns: u64,
    /// Time in the program itself, in nanoseconds.
    pub user_ns: u64,
    /// Time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// The peak of its memory, in bytes. 0 if unknown: on Windows, and if it is not above the lab's, as a
    /// process has the lab's memory until its program begins (`getrusage(2)` includes that time).
    pub peak_memory: u64,
    /// Further counters of the kernel, on Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
}

impl Usage {
    /// Returns its CPU time, in the program and in the kernel, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// Returns the bytes that devices read for it, if the system reports them.
    pub fn read_bytes(&self) -> Option<u64> {
        self.account?.read_bytes
    }

    /// Adds what the processes used that were still running when it ended.
    fn with(self, leftovers: &Leftovers) -> Self {
        let account = self.account.map(|account| Account {
            read_bytes: account.read_bytes.map(|bytes| bytes.saturating_add(leftovers.read_bytes)),
            ..account
        });
        let user_ns = self.user_ns.saturating_add(nanoseconds(leftovers.cpu));
        Self { user_ns, account, ..self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "failure", rename_all = "snake_case")]
pub enum Failure {
    NotStarted {
        reason: String,
    },
    /// It exceeded the time limit, and was killed together with the processes that it had started.
    #[serde(rename = "hung")]
    TimedOut {
        /// The limit, in seconds.
        seconds: u64,
    },
    Died {
        how: String,
        /// The end of its standard error.
        said: String,
    },
    #[serde(rename = "garbage")]
    ProtocolError {
        line: String,
    },
    /// Its clock is wrong: a run took no time, or the runs took longer than the process.
    Clock {
        /// The sum of its runs by its own clock, in nanoseconds.
        own_ns: u64,
        /// The time from its start to its end, in nanoseconds.
        wall_ns: u64,
    },
    /// Processes that it had started were still running when it ended, and were killed: their work could
    /// not be counted.
    LeftRunning {
        processes: usize,
    },
    /// It printed another number of lines than the number of runs.
    WrongNumber {
        asked: usize,
        printed: usize,
    },
}

impl Failure {
    pub(crate) fn unknown() -> Self {
        Self::NotStarted { reason: "this method is no longer available".to_owned() }
    }
}

impl From<Failure> for String {
    fn from(failure: Failure) -> Self {
        failure.to_string()
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStarted { reason } => write!(f, "could not be started: {reason}"),
            Self::TimedOut { seconds } => write!(f, "no end after {seconds} s, killed"),
            Self::Died { how, said } if said.is_empty() => write!(f, "died: {how}"),
            Self::Died { how, said } => write!(f, "died: {how}: {said}"),
            Self::ProtocolError { line } => write!(f, "printed garbage: {line}"),
            Self::Clock { own_ns, wall_ns } => {
                write!(f, "its clock is wrong: {own_ns} ns in a process of {wall_ns} ns")
            }
            Self::LeftRunning { processes: 1 } => {
                write!(f, "left a process running when it ended")
            }
            Self::LeftRunning { processes } => {
                write!(f, "left {processes} processes running when it ended")
            }
            Self::WrongNumber { asked, printed } => {
                write!(f, "printed {printed} results instead of {asked}")
            }
        }
    }
}

/// How long the pipes of a process that has ended may stay open before its run is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a process that speaks the protocol, and waits for its end, at most for `limit`.
pub fn launch(
    command: Command,
    runs: usize,
    limit: Duration,
) -> Result<(Vec<RunLine>, Usage), Failure> {
    let (lines, usage) = listen(command, limit, read_lines)?;
    let lines = lines?;
    if lines.len() != runs {
        return Err(Failure::WrongNumber { asked: runs, printed: lines.len() });
    }
    let own_ns = lines.iter().fold(0_u64, |sum, line| sum.saturating_add(line.elapsed_ns));
    if own_ns > usage.wall_ns || lines.iter().any(|line| line.elapsed_ns == 0) {
        return Err(Failure::Clock { own_ns, wall_ns: usage.wall_ns });
    }
    Ok((lines, usage))
}

/// Starts a process, calls `read` with its standard output on another thread, and waits for its end, at
/// most for `limit`. `read` must read to the end.
pub fn listen<T: Send + 'static>(
    command: Command,
    limit: Duration,
    read: impl FnOnce(ChildStdout) -> T + Send + 'static,
) -> Result<(T, Usage), Failure> {
    let read = |output: Option<ChildStdout>| read(output.expect("BUG: stdout is a pipe"));
    run(command, Stdio::piped(), limit, read)
}

/// Starts a process with its standard output discarded, and waits for its end, at most for `limit`.
pub fn time(command: Command, limit: Duration) -> Result<Usage, Failure> {
    run(command, Stdio::null(), limit, drop).map(|((), usage)| usage)
}

fn run<T: Send + 'static>(
    mut command: Command,
    output: Stdio,
    limit: Duration,
    read: impl FnOnce(Option<ChildStdout>) -> T + Send + 'static,
) -> Result<(T, Usage), Failure> {
    command.stdin(Stdio::null()).stdout(output).stderr(Stdio::piped());
    in_a_group_of_its_own(&mut command);
    let marked = Marked::new(&mut command);
    let before = usage_of_children();
    let start = Instant::now();
    let not_started = |error: std::io::Error| Failure::NotStarted { reason: error.to_string() };
    let mut child = command.spawn().map_err(not_started)?;
    let (group, stdout) = (child.id(), child.stdout.take());
    let stderr = child.stderr.take().expect("BUG: stderr is a pipe");

    let (send, ended) = channel();
    let waiting = std::thread::spawn(move || {
        // Reading the account takes a tenth of a millisecond, which must not count.
        let at_end = Account::wait_for_end(group).then(|| start.elapsed());
        let (account, began) = (Account::of_ended(group), start_time(group));
        let ended = child.wait4();
        let wall = at_end.unwrap_or_else(|| start.elapsed());
        // Fails after a timeout, when the receiver has stopped waiting.
        let _ = send.send(());
        (ended, account, began, wall)
    });
    let reading = std::thread::spawn(move || read(stdout));
    let said = std::thread::spawn(move || tail(stderr));

    let hung = ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
    if hung {
        kill_group(group);
    }
    let (resources, account, began, wall) = join(waiting);
    // Processes left over after a normal end would disturb the next run and keep the pipes open.
    let mut leftovers = marked.end_all(group, began, hung);
    if cfg!(unix) {
        kill_group(group);
    }
    // A process that was just being started may have been missed: it keeps the pipes open.
    let given_up = Instant::now() + PATIENCE;
    while !(reading.is_finished() && said.is_finished()) {
        if Instant::now() > given_up {
            return Err(Failure::LeftRunning { processes: leftovers.killed.len().max(1) });
        }
        std::thread::sleep(Duration::from_millis(1));
        leftovers.add(marked.end_all(group, began, hung));
    }
    let (read, said) = (join(reading), join(said));
    if hung {
        return Err(Failure::TimedOut { seconds: limit.as_secs() });
    }
    let ResUse { status, rusage } = resources.map_err(not_started)?;
    if !status.success() {
        return Err(Failure::Died { how: status.to_string(), said });
    }
    if !leftovers.killed.is_empty() {
        return Err(Failure::LeftRunning { processes: leftovers.killed.len() });
    }
    let account = account.map(|account| account.with_switches(before, usage_of_children()));
    let own_memory = usage_of_self().map_or(0, |usage| usage.peak_memory);
    let usage = Usage {
        wall_ns: nanoseconds(wall),
        user_ns: nanoseconds(rusage.utime),
        system_ns: nanoseconds(rusage.stime),
        peak_memory: if rusage.maxrss > own_memory { rusage.maxrss } else { 0 },
        account,
    };
    Ok((read, usage.with(&leftovers)))
}

/// Gives a command the arguments, the directory and the environment of another one.
pub(crate) fn run_like(command: &mut Command, other: &Command) {
    command.args(other.get_args());
    command.envs(other.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = other.get_current_dir() {
        command.current_dir(folder);
    }
}

/// Returns the result of a thread; its panic goes on in this one.
fn join<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the file of a program, by its path or by its name on `PATH`.
pub(crate) fn file_of_program(program: &str) -> Option<PathBuf> {
    if program.contains(std::path::is_separator) {
        return Some(PathBuf::from(program)).filter(|file| file.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path)
        .flat_map(|folder| [folder.join(program), folder.join(format!("{program}.exe"))]);
    files.find(|file| file.is_file())
}

pub fn can_start(program: &str) -> bool {
    file_of_program(program).is_some()
}

fn read_lines(output: impl Read) -> Result<Vec<RunLine>, Failure> {
    let mut lines = Vec::new();
    let mut output = BufReader::new(output);
    let mut failure = None;
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            break;
        }
        // Read to the end in any case: a process that writes into a closed pipe is killed by SIGPIPE.
        if failure.is_some() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(parsed) if lines.len() < MOST_LINES => lines.push(parsed),
            _ => {
                let text: String = String::from_utf8_lossy(&line).trim().chars().take(80).collect();
                failure = Some(Failure::ProtocolError { line: text });
            }
        }
    }
    failure.map_or(Ok(lines), Err)
}

fn tail(output: impl Read) -> String {
    let mut said = Vec::new();
    let mut output = BufReader::new(output);
    let mut chunk = Vec::new();
    while let Ok(1..) = output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut chunk) {
        if !chunk.trim_ascii().is_empty() {
            std::mem::swap(&mut said, &mut chunk);
        }
        chunk.clear();
    }
    String::from_utf8_lossy(&said).trim().chars().take(200).collect()
}

/// Gives a process its own process group, so that [`kill_group`] also kills the processes it starts.
fn in_a_group_of_its_own(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

fn kill_group(group: u32) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw) {
        // Usually fails, because the group is empty.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    // Ends the process and all processes that it started.
    let _ = Command::new("taskkill").args(["/T", "/F", "/PID", &group.to_string()]).output();
}

/// Runs a process whose output does not matter, such as a compiler.
///
/// # Errors
/// The exit status and the last line of standard error.
pub(crate) fn succeeds(mut command: Command) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child: Child = command.spawn().map_err(|error| error.to_string())?;
    let said = tail(child.stderr.take().expect("BUG: stderr is a pipe"));
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("{status}: {said}")) }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use transect_testkit::{TempDir, within};

    use super::*;
    use crate::harness::work::Work;

    fn shell(script: &str, runs: usize, seconds: u64) -> Result<Vec<RunLine>, Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        launch(command, runs, Duration::from_secs(seconds)).map(|(lines, _)| lines)
    }

    const LINE: &str = r#"{"files":1,"directories":2,"bytes":3,"errors":0,"elapsed_ns":4}"#;

    #[test]
    fn launch_reads_lines_of_the_protocol() {
        let lines = shell(&format!("echo '{LINE}'; echo '{LINE}'"), 2, 1200).unwrap();
        let work = Work { files: 1, directories: 2, bytes: 3, errors: 0 };
        assert_eq!(lines, [RunLine::new(work, 4), RunLine::new(work, 4)]);
    }

    #[test]
    fn launch_reports_each_kind_of_failure() {
        let garbage = shell("echo files: many", 1, 1200).unwrap_err();
        assert_eq!(garbage.to_string(), "printed garbage: files: many");
        let few = shell(&format!("echo '{LINE}'"), 2, 1200).unwrap_err();
        assert_eq!(few, Failure::WrongNumber { asked: 2, printed: 1 });
        let dies = shell(&format!("echo '{LINE}'; echo no >&2; exit 3"), 1, 1200).unwrap_err();
        assert_eq!(dies.to_string(), "died: exit status: 3: no");
        let killed = shell("kill -SEGV $$", 1, 1200).unwrap_err();
        assert!(killed.to_string().starts_with("died: signal: 11"), "{killed}");
        let cut = shell("printf '{\"files\":1'", 1, 1200).unwrap_err();
        assert!(matches!(cut, Failure::ProtocolError { .. }), "{cut}");
        let none = launch(Command::new("/nowhere/at/all"), 1, Duration::from_secs(1));
        assert!(matches!(none, Err(Failure::NotStarted { .. })));
    }

    #[test]
    fn hanging_process_killed_with_its_children() {
        let temp = TempDir::new();
        let fifo = temp.join("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        // The child keeps the pipe and the fifo open while it runs.
        let script = format!("sleep 1000000 >'{}' & sleep 1000000", fifo.display());
        let alive = std::thread::spawn(move || std::fs::read(fifo).unwrap());
        // A busy machine may not start the child within the limit, so the limit grows.
        let end = within("the hanging process", move || {
            (1..).map(|seconds| (seconds, shell(&script, 1, seconds))).find(|_| alive.is_finished())
        });
        let (seconds, hung) = end.unwrap();
        assert_eq!(hung, Err(Failure::TimedOut { seconds }));
    }

    /// Runs a script that prints a correct line at its end.
    #[cfg(target_os = "linux")]
    fn usage_of(script: &str) -> Result<Usage, Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script}\necho '{LINE}'")]);
        launch(command, 1, transect_testkit::WATCHDOG).map(|(_, usage)| usage)
    }

    /// The daemon leaves the group, and keeps the pipe open.
    #[cfg(target_os = "linux")]
    #[test]
    fn process_that_outlives_its_parent_killed_and_reported() {
        for leaves in ["sleep 1000000 &", "setsid sleep 1000000 &", "(setsid sleep 1000000 &)"] {
            let failed = usage_of(leaves).unwrap_err();
            assert_eq!(failed, Failure::LeftRunning { processes: 1 }, "{leaves}");
        }
    }

    /// As in many containers: the leader of the session, outside of the namespace of process ids, has the
    /// id 0.
    #[cfg(target_os = "linux")]
    #[test]
    fn process_that_outlives_its_parent_killed_if_session_has_no_leader() {
        let unshare = |arguments: &[&str]| {
            let namespace = ["--pid", "--fork", "--kill-child", "--mount-proc"];
            Command::new("unshare").args(namespace).args(arguments).output()
        };
        if !unshare(&["true"]).is_ok_and(|ended| ended.status.success()) {
            return transect_testkit::loudly_skip("a session without a leader", "it needs root");
        }
        let program = std::env::current_exe().unwrap();
        let test = "process_that_outlives_its_parent_killed_and_reported";
        let ended = unshare(&[program.to_str().unwrap(), test]).unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && said.contains("1 passed"), "{said}");
    }

    /// The shell does not wait for the daemon, which ends by itself before the shell.
    #[cfg(target_os = "linux")]
    #[test]
    fn cpu_time_of_children_counts_even_if_not_waited_for() {
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let alone = usage_of("true").unwrap().cpu_ns();
        for script in [
            busy.to_owned(),
            format!("({busy}) & wait"),
            // Waits for the end of the pipe, not for the process.
            format!("(setsid sh -c '{busy}' &) | cat"),
        ] {
            let cpu = usage_of(&script).unwrap().cpu_ns();
            assert!(cpu > 20_000_000 && cpu > 4 * alone, "{script}: {cpu}, {alone} alone");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn device_reads_of_children_count_and_those_of_others_do_not() {
        const SIZE: u64 = 1 << 20;
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, vec![1; SIZE as usize]).unwrap();
        std::fs::File::open(&file).unwrap().sync_all().unwrap();
        let dd = format!("dd if='{}' of=/dev/null bs=64k iflag=direct", file.display());
        let read = |script: &str| usage_of(script).ok()?.read_bytes();
        if read(&format!("{dd} 2>/dev/null")).is_none_or(|bytes| bytes < SIZE) {
            let reason = "temporary files are not on a device, or reads are not counted";
            return transect_testkit::loudly_skip("device reads of children", reason);
        }
        for script in [
            format!("{dd} 2>/dev/null & wait"),
            format!("({dd} 2>/dev/null; true)"),
            // Waits for the end of the pipe, not for the process.
            format!("(setsid {dd} 2>&1 &) | cat >/dev/null"),
        ] {
            let bytes = read(&script);
            assert!(bytes.is_some_and(|bytes| bytes >= SIZE), "{script}: {bytes:?}");
        }
        let mut other = Command::new("sh");
        let endless = format!("while {dd} 2>/dev/null; do :; done");
        let mut other = other.args(["-c", &endless]).spawn().unwrap();
        // The first brings the program into memory.
        let reads = [read("true"), read("true"), read("true")];
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(reads[2], Some(0), "{reads:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_of_process_smaller_than_lab_unknown() {
        let memory = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            time(command, transect_testkit::WATCHDOG).unwrap().peak_memory
        };
        assert_eq!(memory("true"), 0);
        let large = memory("head -c 400000000 /dev/zero | tail -c 400000000");
        assert!(large > 400_000_000, "{large}");
    }

    #[test]
    fn endless_output_killed_at_the_limit() {
        assert_eq!(shell("yes", 1, 1), Err(Failure::TimedOut { seconds: 1 }));
    }
}
