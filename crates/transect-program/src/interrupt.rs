//! Ctrl-C: the first stops the walk and shows the result so far, the second ends the program at
//! once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use transect::Cancel;

/// The exit code of a program that was interrupted, as shells count: 128 and the signal's number.
pub const INTERRUPTED: u8 = 130;

/// Returns a cancel flag that Ctrl-C sets; on Unix also `SIGTERM`, on Windows Ctrl-Break.
pub fn cancel_on_signal() -> io::Result<Cancel> {
    let stop = Arc::new(AtomicBool::new(false));
    set_on_signal(&stop)?;
    Ok(Cancel::from(stop))
}

/// Calls `act` on a thread of its own each time a signal sets the flag of [`cancel_on_signal`], which must have been called
/// before: for work that waits without looking at the flag.
#[cfg(unix)]
pub fn on_signal(act: impl Fn() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};

    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || signals.forever().for_each(|_| act()))?;
    Ok(())
}

/// What Ctrl-C calls.
#[cfg(windows)]
static ACTS: std::sync::Mutex<Vec<Box<dyn Fn() + Send>>> = std::sync::Mutex::new(Vec::new());

/// Calls `act` each time Ctrl-C sets the flag of [`cancel_on_signal`], which must have been called before: for work that waits
/// without looking at the flag.
#[cfg(windows)]
pub fn on_signal(act: impl Fn() + Send + 'static) -> io::Result<()> {
    ACTS.lock().expect("BUG: a thread panicked after Ctrl-C").push(Box::new(act));
    Ok(())
}

/// There are no signals here.
#[cfg(not(any(unix, windows)))]
pub fn on_signal(_: impl Fn() + Send + 'static) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn set_on_signal(stop: &Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;

    for signal in [SIGINT, SIGTERM] {
        // In this order: the second signal finds the flag that the first one set.
        flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(stop))?;
        flag::register(signal, Arc::clone(stop))?;
    }
    Ok(())
}

#[cfg(windows)]
fn set_on_signal(stop: &Arc<AtomicBool>) -> io::Result<()> {
    use std::sync::atomic::Ordering;

    let stop = Arc::clone(stop);
    #[expect(clippy::exit, reason = "the second Ctrl-C ends the program at once")]
    let handler = move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
        ACTS.lock().expect("BUG: a thread panicked after Ctrl-C").iter().for_each(|act| act());
    };
    ctrlc::set_handler(handler).map_err(io::Error::other)
}

#[cfg(not(any(unix, windows)))]
fn set_on_signal(_: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}

/// Turns the signal at the limit on file sizes (`ulimit -f`) into an error of the write (`EFBIG`): it would end the
/// program and leave temporary files. A handler, as commands that the program starts would inherit that it is ignored.
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Standard input that Ctrl-C interrupts even while no data arrives: the standard library restarts a
/// blocked read after a signal.
pub struct InterruptibleStdin<'a> {
    input: io::StdinLock<'static>,
    cancel: &'a Cancel,
}

impl<'a> InterruptibleStdin<'a> {
    /// Returns standard input that `cancel` interrupts.
    pub fn new(cancel: &'a Cancel) -> Self {
        Self { input: io::stdin().lock(), cancel }
    }
}

impl io::Read for InterruptibleStdin<'_> {
    /// Reads as any reader does; returns [`io::ErrorKind::Interrupted`] once cancelled.
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        while !is_ready(&self.input)? {
            if self.cancel.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        self.input.read(block)
    }
}

/// Waits up to 100 ms, and returns whether a read would not block.
#[cfg(unix)]
fn is_ready(input: &io::StdinLock<'_>) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let moment = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    match poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&moment)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Elsewhere reads are not restarted.
#[cfg(not(unix))]
fn is_ready(_: &io::StdinLock<'_>) -> io::Result<bool> {
    Ok(true)
}
