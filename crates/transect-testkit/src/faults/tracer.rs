//! Stops a program at its system calls.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, IoSliceMut, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::calls::{Call, CallKind, Fault, FaultPoint, Shorten, Subject, kind_of_call};
use crate::program::drain;

/// A program that runs longer hangs. The slowest machine needs far less.
const HANG_TIMEOUT: Duration = Duration::from_secs(300);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program exited with this code.
    Code(i32),
    /// This signal ended the program.
    Signal(i32),
    /// It did not end and was killed.
    Hung,
}

/// The result of tracing a program.
#[derive(Debug)]
pub struct Outcome {
    /// How the program ended.
    pub end: End,
    /// The data it wrote to its standard output.
    pub stdout: Vec<u8>,
    /// The data it wrote to its standard error.
    pub stderr: Vec<u8>,
    /// The calls that touched files, up to the first fault.
    pub calls: Vec<Call>,
    /// The call with the fault.
    pub hit: Option<Call>,
}

/// Runs a command from [`super::command`] with this standard input until it ends. Records the calls
/// whose subject `counts` accepts, and injects a fault into one of them.
///
/// # Errors
/// The program cannot be started or traced.
///
/// # Panics
/// If the kernel does not behave as ptrace(2) documents.
pub fn run(
    mut command: Command,
    input: &[u8],
    counts: &dyn Fn(&str) -> bool,
    point: Option<FaultPoint>,
) -> io::Result<Outcome> {
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let main = Pid::from_raw(i32::try_from(child.id()).expect("BUG: a process id"));
    // A panic here kills the program.
    let options = Options::PTRACE_O_EXITKILL
        | Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC;
    if let Err(errno) = ptrace::seize(main, options) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(errno.into());
    }
    let mut stdin = child.stdin.take().expect("BUG: it is a pipe");
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    stdin.write_all(&[b"\n", input].concat())?;
    drop(stdin);

    let (done, is_done) = channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let hangs = is_done.recv_timeout(HANG_TIMEOUT) == Err(RecvTimeoutError::Timeout);
        if hangs {
            // The process was not waited for, so its id is still valid.
            let _ = kill(main, Signal::SIGKILL);
        }
        hangs
    });
    let mut tracer = Tracer {
        main,
        counts,
        point,
        is_started: false,
        pending: HashMap::new(),
        seen: HashMap::new(),
        calls: Vec::new(),
        hit: None,
        is_full: false,
    };
    let end = tracer.follow();
    drop(done);
    let hangs = watchdog.join().expect("a thread that only waits");
    Ok(Outcome {
        end: if hangs { End::Hung } else { end? },
        stdout: stdout.join().expect("a thread that only reads"),
        stderr: stderr.join().expect("a thread that only reads"),
        calls: tracer.calls,
        hit: tracer.hit,
    })
}

enum ExitAction {
    /// Replace the result by this error.
    Fail(Errno),
    /// Restore a word of memory.
    Restore(u64, i64),
    /// Leave the result as it is.
    Nothing,
}

struct Tracer<'a> {
    main: Pid,
    counts: &'a dyn Fn(&str) -> bool,
    point: Option<FaultPoint>,
    /// The shell has been replaced by the program.
    is_started: bool,
    /// Threads within a call.
    pending: HashMap<Pid, ExitAction>,
    /// The number of calls by name.
    seen: HashMap<&'static str, usize>,
    calls: Vec<Call>,
    hit: Option<Call>,
    /// The next write fails with `ENOSPC`.
    is_full: bool,
}

impl Tracer<'_> {
    /// Traces the program until it ends.
    fn follow(&mut self) -> io::Result<End> {
        // Only the children of this thread: other threads run their own tests.
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        loop {
            let status = match waitpid(None, Some(flags)) {
                Err(Errno::EINTR) => continue,
                status => status?,
            };
            let (stopped, signal) = match status {
                WaitStatus::Exited(pid, code) if pid == self.main => return Ok(End::Code(code)),
                WaitStatus::Signaled(pid, signal, _) if pid == self.main => {
                    return Ok(End::Signal(signal as i32));
                }
                WaitStatus::PtraceSyscall(pid) => {
                    // A thread that was killed meanwhile has no memory to write to.
                    match self.handle_stop(pid) {
                        Err(Errno::ESRCH) | Ok(()) => {}
                        Err(errno) => return Err(errno.into()),
                    }
                    (pid, None)
                }
                WaitStatus::PtraceEvent(pid, _, event) => {
                    if event == libc::PTRACE_EVENT_EXEC && pid == self.main {
                        self.is_started = true;
                    }
                    (pid, None)
                }
                WaitStatus::Stopped(pid, signal) => (pid, Some(signal)),
                _ => continue,
            };
            // The shell itself is not stopped at its calls.
            let resumed = match self.is_started {
                true => ptrace::syscall(stopped, signal),
                false => ptrace::cont(stopped, signal),
            };
            match resumed {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn handle_stop(&mut self, pid: Pid) -> nix::Result<()> {
        if ptrace::syscall_info(pid)?.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
            return end_call(pid, self.pending.remove(&pid).unwrap_or(ExitAction::Nothing));
        }
        let action = self.begin_call(pid)?;
        self.pending.insert(pid, action);
        Ok(())
    }

    fn begin_call(&mut self, pid: Pid) -> nix::Result<ExitAction> {
        let registers = ptrace::getregs(pid)?;
        let arguments = [
            registers.rdi,
            registers.rsi,
            registers.rdx,
            registers.r10,
            registers.r8,
            registers.r9,
        ];
        let Some(kind) = kind_of_call(registers.orig_rax, &arguments) else {
            return Ok(ExitAction::Nothing);
        };
        let subject = subject(pid, kind.subject, &arguments);
        if subject.is_empty() || !(self.counts)(&subject) {
            return Ok(ExitAction::Nothing);
        }
        if kind.closes() && is_directory(pid, arguments[0]) {
            // No file system can make that call fail.
            return Ok(ExitAction::Nothing);
        }
        let seen = self.seen.entry(kind.name).or_default();
        let nth = *seen;
        *seen += 1;
        let call = Call {
            name: kind.name,
            nth,
            subject,
            faults: kind.faults().collect(),
            is_restartable: kind.is_restartable,
        };
        let Some(point) = self.point else {
            self.calls.push(call);
            return Ok(ExitAction::Nothing);
        };
        if self.is_full && kind.writes() {
            self.is_full = false;
            return inject(pid, &kind, &arguments, Fault::Error(Errno::ENOSPC));
        }
        let is_first = (point.name, point.nth) == (kind.name, nth);
        let is_further = point.persists && self.hit.is_some() && call.faults.contains(&point.fault);
        if !is_first && !is_further {
            if self.hit.is_none() {
                self.calls.push(call);
            }
            return Ok(ExitAction::Nothing);
        }
        if is_first {
            self.is_full = point.fault == Fault::Torn;
            self.hit = Some(call);
        }
        inject(pid, &kind, &arguments, point.fault)
    }
}

/// Injects a fault into a call that begins.
fn inject(
    pid: Pid,
    kind: &CallKind,
    arguments: &[u64; 6],
    fault: Fault,
) -> nix::Result<ExitAction> {
    let mut registers = ptrace::getregs(pid)?;
    match (fault, kind.shorten) {
        (Fault::Error(errno), _) => {
            if !kind.closes() {
                // No call has this number.
                registers.orig_rax = u64::MAX;
                ptrace::setregs(pid, registers)?;
            }
            return Ok(ExitAction::Fail(errno));
        }
        (Fault::Short | Fault::Torn, Shorten::Not) => {}
        (Fault::Short | Fault::Torn, Shorten::Length(at)) => {
            set_argument(&mut registers, at, reduced_length(pid, arguments[0], arguments[at]));
            ptrace::setregs(pid, registers)?;
        }
        (Fault::Short | Fault::Torn, Shorten::Records(at)) => {
            // The longest record, of a name of 255 bytes.
            set_argument(&mut registers, at, arguments[at].min(280));
            ptrace::setregs(pid, registers)?;
        }
        (Fault::Short | Fault::Torn, Shorten::Vector(at)) => {
            // The length of the first buffer follows its address.
            let place = arguments[at] + 8;
            let before = ptrace::read(pid, place as ptrace::AddressType)?;
            let length = reduced_length(pid, arguments[0], before as u64);
            ptrace::write(pid, place as ptrace::AddressType, length as i64)?;
            set_argument(&mut registers, at + 1, 1);
            ptrace::setregs(pid, registers)?;
            return Ok(ExitAction::Restore(place, before));
        }
    }
    Ok(ExitAction::Nothing)
}

/// Returns how many bytes to process instead of `length`: one, or with direct input and output half
/// of the blocks.
fn reduced_length(pid: Pid, descriptor: u64, length: u64) -> u64 {
    const DIRECT: u64 = 0o40_000;
    const BLOCK: u64 = 4096;
    let info = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}"));
    let flags = info.ok().and_then(|info| {
        let line = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        u64::from_str_radix(line.trim(), 8).ok()
    });
    match flags.is_some_and(|flags| flags & DIRECT != 0) {
        true => (length / 2 / BLOCK).max(1) * BLOCK,
        false => length.min(1),
    }
}

fn set_argument(registers: &mut libc::user_regs_struct, at: usize, value: u64) {
    let register = match at {
        0 => &mut registers.rdi,
        1 => &mut registers.rsi,
        2 => &mut registers.rdx,
        3 => &mut registers.r10,
        4 => &mut registers.r8,
        _ => &mut registers.r9,
    };
    *register = value;
}

fn end_call(pid: Pid, action: ExitAction) -> nix::Result<()> {
    match action {
        ExitAction::Nothing => Ok(()),
        ExitAction::Fail(errno) => {
            let mut registers = ptrace::getregs(pid)?;
            registers.rax = -i64::from(errno as i32) as u64;
            ptrace::setregs(pid, registers)
        }
        ExitAction::Restore(place, word) => ptrace::write(pid, place as ptrace::AddressType, word),
    }
}

/// Returns the file of a call; empty if there is none.
fn subject(pid: Pid, subject: Subject, arguments: &[u64; 6]) -> String {
    let of = |at: usize| arguments.get(at).copied();
    let path = match subject {
        Subject::Path(path) => path_at(pid, None, of(path)),
        Subject::At(directory, path) => path_at(pid, of(directory), of(path)),
        Subject::Descriptor(descriptor) => descriptor_path(pid, of(descriptor).unwrap_or(0)),
        Subject::Mapping(descriptor) => match of(descriptor) {
            Some(descriptor) if (descriptor as i32) < 0 => return String::new(),
            Some(descriptor) => descriptor_path(pid, descriptor),
            None => PathBuf::from("-"),
        },
    };
    path.to_string_lossy().into_owned()
}

fn descriptor_path(pid: Pid, descriptor: u64) -> PathBuf {
    let link = format!("/proc/{pid}/fd/{}", descriptor as i32);
    std::fs::read_link(link).unwrap_or_default()
}

fn is_directory(pid: Pid, descriptor: u64) -> bool {
    let link = format!("/proc/{pid}/fd/{}", descriptor as i32);
    Path::new(&link).is_dir()
}

fn path_at(pid: Pid, directory: Option<u64>, text: Option<u64>) -> PathBuf {
    let path =
        PathBuf::from(OsString::from_vec(text.map(|at| string(pid, at)).unwrap_or_default()));
    if path.is_absolute() {
        return path;
    }
    let base = match directory.map(|directory| directory as i32) {
        None | Some(libc::AT_FDCWD) => {
            std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default()
        }
        Some(directory) => descriptor_path(pid, directory as u64),
    };
    if path == Path::new("") { base } else { base.join(path) }
}

/// Reads a string that ends with NUL from the memory of a process.
fn string(pid: Pid, mut at: u64) -> Vec<u8> {
    const PIECE: u64 = 256;
    let mut text = Vec::new();
    while at != 0 && text.len() < 8192 {
        // Never across a page boundary: the next page may not be mapped.
        let mut piece = vec![0; (PIECE - at % PIECE) as usize];
        let remote = [RemoteIoVec { base: at as usize, len: piece.len() }];
        let read = process_vm_readv(pid, &mut [IoSliceMut::new(&mut piece)], &remote).unwrap_or(0);
        let end = piece[..read].iter().position(|&byte| byte == 0);
        text.extend_from_slice(&piece[..end.unwrap_or(read)]);
        if end.is_some() || read == 0 {
            break;
        }
        at += read as u64;
    }
    text
}
