//! Progress on stderr: only on a terminal, only after half a second, gone without a trace.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use transect::{Progress, ProgressCounts};

use crate::output::quote;
use crate::output::units::{bytes, count};

/// A command that ends sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
const PERIOD: Duration = Duration::from_millis(200);

/// Shows the counts of a walk until it is dropped.
pub(crate) struct ProgressLine {
    /// Dropping it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// Starts to show `progress`, if somebody can see it.
    pub(crate) fn start(progress: &Arc<Progress>) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { end: None, thread: None };
        }
        let (end, ended) = channel::<()>();
        let progress = Arc::clone(progress);
        let thread = std::thread::spawn(move || {
            let began = Instant::now();
            let wait = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !wait(PATIENCE) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style());
            loop {
                let path = progress.path().map(|path| quote::for_terminal(path.as_os_str()));
                bar.set_message(line(progress.counts(), began.elapsed(), path.as_deref()));
                bar.tick();
                if !wait(PERIOD) {
                    bar.finish_and_clear();
                    return;
                }
            }
        });
        Self { end: Some(end), thread: Some(thread) }
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

/// The bar cuts what does not fit the terminal.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {wide_msg}")
        .expect("BUG: the template is constant and parses")
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
