//! `--exec` and `--exec-batch`: runs a command for each entry, or for many at a time.
//!
//! ```text
//! walk ─► PathWriter ─► queue of at most 16 MiB ─► threads, one command each at a time
//! ```
//!
//! The walk goes on while commands run, until the queue is full. Arguments never pass through a shell.

mod template;
mod terminate;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use transect::Cancel;

use crate::args::ListArgs;
use crate::output::{self, stream, units};
use transect_program::CliError;

use template::Template;
use terminate::Terminator;

/// The bytes of paths that wait for a command. More would not make anything faster: the walk waits.
const QUEUED_BYTES: usize = 16 << 20;

/// The bytes of the arguments of a batch. As for `xargs`: every Linux accepts about as many, and more would not
/// be faster.
const BATCH_BYTES: usize = if cfg!(windows) { 32_000 } else { 128 << 10 };

/// The time between two looks at the request to stop.
const INTERVAL: Duration = Duration::from_millis(50);

/// The number of commands that cannot be started and are reported each, without `--errors`.
const REPORTED: u64 = 10;

/// Commands to run for the entries of a list.
#[derive(Debug)]
pub(super) struct Commands {
    template: Template,
    mode: Mode,
    cancel: Cancel,
    report_all: bool,
    state: Mutex<State>,
    /// Notified if paths were added, or none will be.
    changed: Condvar,
    /// Notified if paths were taken, or none will be any more.
    taken: Condvar,
    /// Notified if a thread that runs commands ends.
    ended: Condvar,
    /// Held while the output of one command is printed.
    printing: Mutex<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// One path a command, several commands at a time.
    Parallel(usize),
    /// One path a command, one at a time: they inherit the standard streams.
    OneByOne,
    /// Many paths a command.
    Batch,
}

#[derive(Debug, Default)]
struct State {
    paths: VecDeque<Vec<u8>>,
    bytes: usize,
    is_complete: bool,
    /// The threads that run commands.
    running: usize,
    /// Why no more commands are started.
    fatal: Option<CliError>,
    run: u64,
    failed: u64,
    unstarted: u64,
}

impl State {
    fn is_stopped(&self, cancel: &Cancel) -> bool {
        self.fatal.is_some() || cancel.is_cancelled()
    }
}

impl Commands {
    /// Returns the commands that the arguments request, if any.
    pub(super) fn of(args: &ListArgs, cancel: &Cancel) -> Result<Option<Self>, CliError> {
        let (template, mode) = if !args.exec.is_empty() {
            let jobs = || std::thread::available_parallelism().map_or(1, usize::from);
            let mode = match args.walk.threads {
                Some(1) => Mode::OneByOne,
                threads => Mode::Parallel(threads.map_or_else(jobs, usize::from)),
            };
            (Template::parse(&args.exec), mode)
        } else if !args.exec_batch.is_empty() {
            (Template::parse_batch(&args.exec_batch)?, Mode::Batch)
        } else {
            return Ok(None);
        };
        if let Some(program) = template.fixed_program().map(PathBuf::from)
            && program.components().count() != 1
            && program.is_dir()
        {
            return Err(CliError::Failed(not_a_program(&program)));
        }
        Ok(Some(Self {
            template,
            mode,
            cancel: cancel.clone(),
            report_all: args.errors,
            state: Mutex::default(),
            changed: Condvar::new(),
            taken: Condvar::new(),
            ended: Condvar::new(),
            printing: Mutex::default(),
        }))
    }

    /// Runs commands for all paths that `walk` writes, and returns what `walk` does and whether all
    /// commands succeeded.
    pub(super) fn run<T>(
        &self,
        walk: impl FnOnce(PathWriter<'_>) -> Result<T, CliError>,
    ) -> Result<(T, bool), CliError> {
        let walked = std::thread::scope(|scope| {
            // Also if a thread cannot be started, or the walk panics.
            let _complete = OnDrop(|| {
                self.lock().is_complete = true;
                self.changed.notify_all();
            });
            let jobs = if let Mode::Parallel(jobs) = self.mode { jobs } else { 1 };
            for _ in 0..jobs {
                self.lock().running += 1;
                scope.spawn(|| self.work());
            }
            scope.spawn(|| self.stop_on_cancel());
            walk(PathWriter(self))
        });
        let mut state = self.lock();
        if let Some(fatal) = state.fatal.take() {
            return Err(fatal);
        }
        if state.failed > 0 && !self.cancel.is_cancelled() {
            let (failed, run) = (units::count(state.failed), state.run);
            output::error(&format!(
                "{failed} of {} failed",
                units::counted(run, "command", "commands")
            ));
        }
        walked.map(|walked| (walked, state.failed == 0))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs commands until there are no more paths.
    fn work(&self) {
        let _end = OnDrop(|| {
            self.lock().running -= 1;
            self.ended.notify_all();
        });
        match self.mode {
            Mode::Batch => self.work_in_batches(),
            _ => {
                while let Some(path) = self.take() {
                    let (program, arguments) = self.template.expand(&path);
                    let mut command = Command::new(&program);
                    command.args(arguments);
                    let status = match self.mode {
                        Mode::OneByOne => command.status(),
                        _ => self.run_captured(&mut command),
                    };
                    self.record(status, &program);
                }
            }
        }
    }

    /// Runs a command without standard input, and prints its output at its end.
    fn run_captured(&self, command: &mut Command) -> io::Result<ExitStatus> {
        let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output()?;
        let _printing = self.printing.lock().unwrap_or_else(PoisonError::into_inner);
        // Colours are the command's, and pass. On a terminal, what else it prints is escaped: it writes
        // to a pipe, and may not have quoted names.
        let printed = stream::stdout().allow_styles_of_commands().write_all(&stdout);
        // A closed standard error is ignored.
        let _ = stream::stderr().allow_styles_of_commands().write_all(&stderr);
        if let Err(error) = printed {
            self.stop(&mut self.lock(), CliError::Output(error));
        }
        Ok(status)
    }

    fn work_in_batches(&self) {
        let (program, before, after) = self.template.around_repeated();
        let fixed = std::iter::once(&program).chain(&before).chain(&after);
        let fixed: usize = fixed.map(|argument| cost(argument)).sum();
        let (mut bytes, mut batch) = (fixed, Vec::new());
        while let Some(path) = self.take() {
            let argument = self.template.expand_repeated(&path);
            if bytes + cost(&argument) > BATCH_BYTES {
                self.run_batch(&program, &before, &std::mem::take(&mut batch), &after);
                // An argument that does not fit alone fails when its command is started.
                bytes = fixed;
            }
            bytes += cost(&argument);
            batch.push(argument);
        }
        self.run_batch(&program, &before, &batch, &after);
    }

    /// Runs the command for a batch; for its halves if the system accepts less than expected.
    fn run_batch(
        &self,
        program: &OsString,
        before: &[OsString],
        batch: &[OsString],
        after: &[OsString],
    ) {
        if batch.is_empty() || self.lock().is_stopped(&self.cancel) {
            return;
        }
        let mut command = Command::new(program);
        command.args(before).args(batch).args(after);
        match command.status() {
            Err(error) if batch.len() > 1 && is_too_long(&error) => {
                let (first, second) = batch.split_at(batch.len() / 2);
                self.run_batch(program, before, first, after);
                self.run_batch(program, before, second, after);
            }
            status => self.record(status, program),
        }
    }

    /// Waits for a path; `None` if there are no more, or no more commands are to be started.
    fn take(&self) -> Option<PathBuf> {
        let mut state = self.lock();
        loop {
            if state.is_stopped(&self.cancel) {
                return None;
            }
            if let Some(path) = state.paths.pop_front() {
                state.bytes -= path.len();
                self.taken.notify_all();
                // Names that are not Unicode cannot be restored on Windows.
                if cfg!(unix) || str::from_utf8(&path).is_ok() {
                    return Some(transect_sys::name_from_bytes(path).into());
                }
                state.run += 1;
                state.failed += 1;
                let path = String::from_utf8_lossy(&path);
                output::error(&format!("cannot pass '{path}' to a command: not Unicode"));
                continue;
            }
            if state.is_complete {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn record(&self, status: io::Result<ExitStatus>, program: &OsString) {
        let mut state = self.lock();
        state.run += 1;
        match status {
            Ok(status) if status.success() => {}
            Ok(_) => state.failed += 1,
            Err(error) => {
                state.failed += 1;
                state.unstarted += 1;
                let message = cannot_start(Path::new(program), &error);
                if self.template.fixed_program().is_some() && !is_too_long(&error) {
                    self.stop(&mut state, CliError::Failed(message));
                } else if state.unstarted <= REPORTED || self.report_all {
                    output::error(&message);
                }
            }
        }
    }

    /// Starts no more commands, because of an error.
    fn stop(&self, state: &mut State, fatal: CliError) {
        state.fatal.get_or_insert(fatal);
        self.changed.notify_all();
        self.taken.notify_all();
    }

    /// Adds a path, once there is room for it.
    ///
    /// # Errors
    /// No more commands are started, because of an error. After Ctrl-C the path is discarded.
    fn add(&self, path: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        while state.bytes > QUEUED_BYTES && !state.is_stopped(&self.cancel) {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.fatal.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if !self.cancel.is_cancelled() {
            state.bytes += path.len();
            state.paths.push_back(path.to_vec());
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Ends the commands after Ctrl-C, and wakes the threads that wait.
    fn stop_on_cancel(&self) {
        let mut terminator = Terminator::default();
        let mut state = self.lock();
        while state.running > 0 {
            if self.cancel.is_cancelled() {
                self.changed.notify_all();
                self.taken.notify_all();
                drop(state);
                terminator.end_processes();
                state = self.lock();
            }
            let wait = self.ended.wait_timeout(state, INTERVAL);
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        // Those that commands left behind.
        while self.cancel.is_cancelled() && terminator.end_processes() {
            std::thread::sleep(INTERVAL);
        }
    }
}

/// Sends the paths that a list writes, each ended by NUL, to the commands.
#[derive(Debug)]
pub(super) struct PathWriter<'c>(&'c Commands);

impl Write for PathWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    /// Takes whole paths, as a list writes them.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut paths = bytes.split(|&byte| byte == b'\0').filter(|path| !path.is_empty());
        paths.try_for_each(|path| self.0.add(path))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Returns the bytes that an argument takes of the limit: with the NUL after it and the pointer to it, on Windows
/// in quotes with each unit escaped.
fn cost(argument: &OsStr) -> usize {
    if cfg!(windows) { argument.len() * 2 + 3 } else { argument.len() + 1 + size_of::<usize>() }
}

fn cannot_start(program: &Path, error: &io::Error) -> String {
    if program.is_dir() {
        return not_a_program(program);
    }
    format!("cannot start '{}': {}", program.display(), transect::reason(error))
}

/// Returns a message for `list -x DIR`, where other commands have `-x` for `--one-file-system`.
fn not_a_program(dir: &Path) -> String {
    format!(
        "'{}' is a directory, not a program: with list, -x is --exec; to stay on one file system, \
         use --one-file-system",
        dir.display()
    )
}

fn is_too_long(error: &io::Error) -> bool {
    // `CreateProcess` calls it an invalid name.
    const ERROR_FILENAME_EXCED_RANGE: i32 = 206;
    error.kind() == io::ErrorKind::ArgumentListTooLong
        || cfg!(windows) && error.raw_os_error() == Some(ERROR_FILENAME_EXCED_RANGE)
}
