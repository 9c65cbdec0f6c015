//! Progress on stderr: on a terminal one line, shown after half a second and erased at the end;
//! elsewhere only with `--progress`, in whole lines.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use transect::{Progress, ProgressCounts};
pub(crate) use transect_program::status_line::{REDRAW_INTERVAL, StatusLine};

use crate::args::ProgressArgs;
use crate::output::units::{bytes, count, counted};
use crate::output::{quote, stream};

/// Commands that end sooner show no progress.
const INITIAL_DELAY: Duration = Duration::from_millis(500);
/// The time between lines on a stream that is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

pub(crate) struct ProgressLine {
    /// Dropping it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// Starts to show the progress of a walk, as [`ProgressLine::start_with`] does.
    pub(crate) fn start(args: ProgressArgs, room: bool, progress: &Arc<Progress>) -> Self {
        let progress = Arc::clone(progress);
        Self::start_with(args, room, move |elapsed| walk_line(&progress, elapsed))
    }

    /// Starts to show what `line` returns for the elapsed time, unless the arguments disable it. On a
    /// terminal also only if there is `room`: results printed there would be mixed with it.
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

/// Redraws one line until the channel closes.
fn rewrite(ended: &Receiver<()>, mut line: impl FnMut(Duration) -> String) {
    let began = Instant::now();
    let mut status = StatusLine::on_terminal();
    let mut wait = INITIAL_DELAY;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        status.show(|| line(began.elapsed()));
        wait = REDRAW_INTERVAL;
    }
}

/// Writes lines until the channel closes, and a last one then.
fn append(ended: &Receiver<()>, mut line: impl FnMut(Duration) -> String) {
    let began = Instant::now();
    loop {
        let goes_on = ended.recv_timeout(LINE_INTERVAL) == Err(RecvTimeoutError::Timeout);
        // A closed stderr needs no progress.
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
            // A panic in the progress line must not fail the command.
            let _ = thread.join();
        }
    }
}

pub(crate) fn walk_line(progress: &Progress, elapsed: Duration) -> String {
    let path = progress.path().map(|path| quote::for_terminal(path.as_os_str()));
    line(progress.counts(), elapsed, path.as_deref())
}

fn line(counts: ProgressCounts, elapsed: Duration, path: Option<&str>) -> String {
    let rate = counts.entries as f64 / elapsed.as_secs_f64();
    let mut line = format!("{} entries  {}/s", count(counts.entries), count(rate as u64));
    if counts.bytes > 0 {
        line += &format!("  {}", bytes(counts.bytes));
    }
    if counts.errors > 0 {
        line += &format!("  {}", counted(counts.errors, "error", "errors"));
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
    fn progress_line_after_end_writes_nothing() {
        // Also if the thread starts late.
        let (end, ended) = channel();
        drop(end);
        rewrite(&ended, |_| panic!("a line is made"));
    }
}
