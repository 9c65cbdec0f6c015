//! Runs one command. If several run at a time, the output of each is printed whole.

use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use transect::Cancel;

use crate::output::stream::{self, Stream};

/// The output of a command that is kept in memory. A command that prints more holds the lock of the
/// output from there to its end, so that memory has a limit and its output is still not interleaved.
const KEPT_BYTES: usize = 1 << 20;

/// The time between two looks at the request to stop.
const INTERVAL: Duration = Duration::from_millis(100);

/// The stream that a command printed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Stdout,
    Stderr,
}

/// Why a command has no exit status.
#[derive(Debug)]
pub(super) enum RunError {
    /// The program cannot be started.
    Start(io::Error),
    /// What it printed cannot be written.
    Output(io::Error),
}

/// Runs a command that inherits the standard streams.
pub(super) fn run_inherited(
    command: &mut Command,
    cancel: &Cancel,
) -> Result<ExitStatus, RunError> {
    let mut child = command.spawn().map_err(RunError::Start)?;
    wait(&mut child, cancel).map_err(RunError::Start)
}

/// Runs a command without standard input, and prints its output at its end.
pub(super) fn run_captured(
    command: &mut Command,
    lock: &Mutex<()>,
    cancel: &Cancel,
) -> Result<ExitStatus, RunError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(RunError::Start)?;
    let mut output = Output { lock, held: None, kept: Vec::new(), bytes: 0 };
    let mut pipes = Pipes::of(&mut child);
    let mut printed = Ok(());
    // Background processes may keep the pipes open: after Ctrl-C, only the command itself counts.
    while printed.is_ok()
        && let Some((source, bytes)) =
            pipes.next(|| cancel.is_cancelled() && !matches!(child.try_wait(), Ok(None)))
    {
        printed = output.add(source, bytes);
    }
    drop(pipes);
    let status = wait(&mut child, cancel).map_err(RunError::Start);
    printed.and_then(|()| output.finish()).map_err(RunError::Output)?;
    status
}

/// The output of one command.
struct Output<'l> {
    lock: &'l Mutex<()>,
    held: Option<Held<'l>>,
    /// What is not written yet, in the order in which it arrived.
    kept: Vec<(Source, Vec<u8>)>,
    bytes: usize,
}

/// The right to print.
struct Held<'l> {
    // Dropped before the lock: they may hold the beginning of a character.
    stdout: Stream<io::Stdout>,
    stderr: Stream<io::Stderr>,
    _lock: MutexGuard<'l, ()>,
}

impl Held<'_> {
    fn print(&mut self, source: Source, bytes: &[u8]) -> io::Result<()> {
        match source {
            Source::Stdout => self.stdout.write_all(bytes),
            // A closed standard error is ignored.
            Source::Stderr => self.stderr.write_all(bytes).or(Ok(())),
        }
    }
}

impl Output<'_> {
    fn add(&mut self, source: Source, bytes: Vec<u8>) -> io::Result<()> {
        if let Some(held) = &mut self.held {
            return held.print(source, &bytes);
        }
        self.bytes += bytes.len();
        match self.kept.last_mut() {
            Some((last, kept)) if *last == source => kept.extend_from_slice(&bytes),
            _ => self.kept.push((source, bytes)),
        }
        if self.bytes > KEPT_BYTES { self.print_kept() } else { Ok(()) }
    }

    fn print_kept(&mut self) -> io::Result<()> {
        // Colours are the command's, and pass. On a terminal, what else it prints is escaped: it writes
        // to a pipe, and may not have quoted names.
        let held = self.held.insert(Held {
            stdout: stream::stdout().allow_styles_of_commands(),
            stderr: stream::stderr().allow_styles_of_commands(),
            _lock: self.lock.lock().unwrap_or_else(PoisonError::into_inner),
        });
        let mut kept = std::mem::take(&mut self.kept).into_iter();
        kept.try_for_each(|(source, bytes)| held.print(source, &bytes))
    }

    fn finish(mut self) -> io::Result<()> {
        if self.kept.is_empty() { Ok(()) } else { self.print_kept() }
    }
}

/// Waits for a command. After Ctrl-C, the terminator ends it.
#[cfg(target_os = "linux")]
fn wait(child: &mut Child, _: &Cancel) -> io::Result<ExitStatus> {
    child.wait()
}

/// Waits for a command, and kills it after Ctrl-C.
#[cfg(not(target_os = "linux"))]
fn wait(child: &mut Child, cancel: &Cancel) -> io::Result<ExitStatus> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if cancel.is_cancelled() {
            // Fails if it has ended.
            let _ = child.kill();
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Both outputs of a command.
#[cfg(unix)]
struct Pipes {
    stdout: Option<std::process::ChildStdout>,
    stderr: Option<std::process::ChildStderr>,
    chunk: Vec<u8>,
}

#[cfg(unix)]
impl Pipes {
    /// The bytes of a pipe's buffer.
    const CHUNK: usize = 64 << 10;

    fn of(child: &mut Child) -> Self {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Self { stdout, stderr, chunk: vec![0; Self::CHUNK] }
    }

    /// Waits for output; `None` if there is no more, or if nothing arrives and `is_over` returns true.
    fn next(&mut self, mut is_over: impl FnMut() -> bool) -> Option<(Source, Vec<u8>)> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let timeout = Timespec { tv_sec: 0, tv_nsec: INTERVAL.subsec_nanos().into() };
        loop {
            let mut waiting = Vec::with_capacity(2);
            let stdout = self.stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
            let stderr = self.stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
            let is_stdout = stdout.is_some();
            waiting.extend(stdout.into_iter().chain(stderr));
            if waiting.is_empty() {
                return None;
            }
            // An interrupted call is repeated.
            let ready = poll(&mut waiting, Some(&timeout)).unwrap_or(0);
            if ready == 0 {
                if is_over() {
                    return None;
                }
                continue;
            }
            let from_stdout = is_stdout && !waiting[0].revents().is_empty();
            drop(waiting);
            let source = if from_stdout { Source::Stdout } else { Source::Stderr };
            let bytes = match from_stdout {
                true => read_some(&mut self.stdout, &mut self.chunk),
                false => read_some(&mut self.stderr, &mut self.chunk),
            };
            if let Some(bytes) = bytes {
                return Some((source, bytes.to_vec()));
            }
        }
    }
}

/// Reads from a pipe, and closes it at its end.
#[cfg(unix)]
fn read_some<'c>(pipe: &mut Option<impl io::Read>, chunk: &'c mut [u8]) -> Option<&'c [u8]> {
    match pipe.as_mut()?.read(chunk) {
        Ok(read @ 1..) => Some(&chunk[..read]),
        _ => {
            *pipe = None;
            None
        }
    }
}

/// Both outputs of a command, each read by a thread.
#[cfg(not(unix))]
struct Pipes(std::sync::mpsc::Receiver<(Source, Vec<u8>)>);

#[cfg(not(unix))]
impl Pipes {
    fn of(child: &mut Child) -> Self {
        // Small, so that a command waits while its output waits for the lock.
        let (send, receive) = std::sync::mpsc::sync_channel(4);
        if let Some(pipe) = child.stdout.take() {
            send_all(pipe, Source::Stdout, send.clone());
        }
        if let Some(pipe) = child.stderr.take() {
            send_all(pipe, Source::Stderr, send);
        }
        Self(receive)
    }

    fn next(&mut self, mut is_over: impl FnMut() -> bool) -> Option<(Source, Vec<u8>)> {
        use std::sync::mpsc::RecvTimeoutError;

        loop {
            match self.0.recv_timeout(INTERVAL) {
                Ok(printed) => return Some(printed),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if is_over() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Starts a thread that sends what a pipe delivers.
#[cfg(not(unix))]
fn send_all(
    mut pipe: impl io::Read + Send + 'static,
    source: Source,
    send: std::sync::mpsc::SyncSender<(Source, Vec<u8>)>,
) {
    std::thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(read @ 1..) = pipe.read(&mut bytes) {
            if send.send((source, bytes[..read].to_vec())).is_err() {
                return;
            }
        }
    });
}
