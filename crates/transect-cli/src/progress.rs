//! Progress on stderr: on a terminal only after half a second, and gone without a trace; elsewhere only
//! where it is asked for, in whole lines.
//!
//! One line that is written over itself needs no library: the usual one brings `libm` along, and
//! took 0.04 of 0.88 ms of every small scan (600 interleaved runs, medians).

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use transect::{Progress, ProgressCounts};

use crate::args::ProgressArgs;
use crate::output::units::{bytes, count};
use crate::output::{self, quote, stream};

/// A command that ends sooner shows nothing.
const INITIAL_DELAY: Duration = Duration::from_millis(500);
/// How often a line is written anew.
pub(crate) const REDRAW_INTERVAL: Duration = Duration::from_millis(200);
/// How often a further line is written where none can be written over.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Shows how far something is until it is dropped.
pub(crate) struct ProgressLine {
    /// Dropping it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// Starts to show how far a walk is: as [`ProgressLine::start_with`] does.
    pub(crate) fn start(args: ProgressArgs, room: bool, progress: &Arc<Progress>) -> Self {
        let progress = Arc::clone(progress);
        Self::start_with(args, room, move |elapsed| {
            let path = progress.path().map(|path| quote::for_terminal(path.as_os_str()));
            line(progress.counts(), elapsed, path.as_deref())
        })
    }

    /// Starts to show what `line` returns for the time since, if that is wanted; on a terminal also
    /// only if there is `room`, which there is not where results are on their way to it.
    pub(crate) fn start_with(
        args: ProgressArgs,
        room: bool,
        line: impl FnMut(Duration) -> String + Send + 'static,
    ) -> Self {
        let on_terminal = stream::stderr_is_terminal();
        if args.no_progress || if on_terminal { !room } else { !args.progress } {
            return Self { end: None, thread: None };
        }
        let (end, ended) = channel::<()>();
        let show = if on_terminal { rewrite } else { append };
        let thread = std::thread::spawn(move || show(&ended, line));
        Self { end: Some(end), thread: Some(thread) }
    }
}

/// Writes a line over itself until it has ended.
fn rewrite(ended: &Receiver<()>, mut line: impl FnMut(Duration) -> String) {
    let began = Instant::now();
    let mut status = StatusLine::default();
    let mut wait = INITIAL_DELAY;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        status.show(line(began.elapsed()));
        wait = REDRAW_INTERVAL;
    }
}

/// Writes one line after another until it has ended, and the last one then.
fn append(ended: &Receiver<()>, mut line: impl FnMut(Duration) -> String) {
    let began = Instant::now();
    loop {
        let goes_on = ended.recv_timeout(LINE_INTERVAL) == Err(RecvTimeoutError::Timeout);
        // Who closes stderr wants no progress.
        let _ = writeln!(stream::stderr(), "{}", line(began.elapsed()));
        if !goes_on {
            return;
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A progress line that failed is no reason to fail.
            let _ = thread.join();
        }
    }
}

/// One line on stderr that is written over itself, and gone when it is dropped.
#[derive(Default)]
pub(crate) struct StatusLine {
    /// How many characters it has.
    length: usize,
}

impl StatusLine {
    /// Returns a line, if somebody can see it.
    pub(crate) fn on_terminal() -> Option<Self> {
        stream::stderr_is_terminal().then(Self::default)
    }

    /// Writes a line, cut to the terminal, over the last one.
    pub(crate) fn show(&mut self, line: String) {
        let width = output::stderr_width().unwrap_or(80);
        let line = quote::shorten(line, width.saturating_sub(1));
        let length = line.chars().count();
        let erase = match cfg!(windows) {
            true => blank(self.length.saturating_sub(length)),
            false => ERASE_LINE_END.to_owned(),
        };
        // Who closes stderr wants no progress.
        let _ = stream::write_over(&line, &erase);
        self.length = length;
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.length > 0 {
            self.show(String::new());
        }
    }
}

/// Erases from the cursor to the end of the line (ECMA-48, EL).
const ERASE_LINE_END: &str = "\x1b[K";

/// Covers `length` characters right of the cursor, and goes back. A Windows console takes no escape
/// sequence unless it is told to, and then only if no other stream goes elsewhere.
fn blank(length: usize) -> String {
    " ".repeat(length) + &"\x08".repeat(length)
}

fn line(counts: ProgressCounts, elapsed: Duration, path: Option<&str>) -> String {
    let rate = counts.entries as f64 / elapsed.as_secs_f64();
    let mut line = format!("{} entries  {}/s", count(counts.entries), count(rate as u64));
    if counts.bytes > 0 {
        line += &format!("  {}", bytes(counts.bytes));
    }
    if counts.errors > 0 {
        line += &format!("  {} errors", count(counts.errors));
    }
    if let Some(path) = path {
        line += &format!("  {path}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_line_of_a_command_that_has_ended_writes_nothing() {
        // However late the thread comes to it.
        let (end, ended) = channel();
        drop(end);
        rewrite(&ended, |_| panic!("a line is made"));
    }
}
