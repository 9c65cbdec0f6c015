//! Splits the time of a method into parts.
//!
//! * Copying: a method copies bytes out of the page cache and into it. The read floor measures the first
//!   copy; the second takes as long.
//! * New pages: the rest of the write floor.
//! * The step: it has a floor of its own.
//! * Waiting: time without processor time.
//! * The method itself: the remainder.

use serde::Serialize;

use super::runs::{Run, RunTimes};
use crate::experiments::transform::{Floor, SyncRule, Variant};
use crate::ranking::Row;
use transect_stats::Ratios;
use transect_stats::verdict::MIN_ROUNDS;

transect_sys::words! {
    /// A part of a method's work: a possible bottleneck.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Bottleneck {
        Device = "device" => "waiting for the device",
        Others = "others" => "waiting for others on this machine",
        Copy = "copy" => "copying between the process and the system's cache",
        Pages = "pages" => "creating pages in the system's cache",
        Step = "step" => "the step",
        Calls = "calls" => "system calls (one for every block)",
        Kernel = "kernel" => "the kernel (it moves the bytes on its own)",
        Method = "method" => "the method itself (faults, threads, copies of its own)",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimePart {
    pub what: Bottleneck,
    /// Its share of the time, as ratios within rounds.
    pub share: Ratios,
}

/// Returns the parts of a row's time, the largest first.
pub(super) fn of(row: &Row, runs: &RunTimes<'_>) -> Vec<TimePart> {
    let cell = row.cell.name.as_str();
    // A method without floors neither copies out of the cache nor into it.
    let has_no_floors = row.cell.floors.as_ref().is_some_and(Vec::is_empty);
    let is_parallel = row.cell.parallel;
    let calls = time_in_calls(row, runs).unwrap_or(0.0);
    let known = |run: &Run, beside: &dyn Fn(&str) -> Option<Run>| {
        let (read, write) = (beside(Floor::Read.as_str())?, beside(Floor::Write.as_str())?);
        let step = beside(Floor::Step.as_str()).map_or(0.0, |step| step.time);
        let copy = if has_no_floors { 0.0 } else { read.busy() * (1.0 + run.output_ratio) };
        let pages = (write.busy() - read.busy()).max(0.0) * run.output_ratio;
        let pages = if has_no_floors { 0.0 } else { pages };
        Some([copy, pages, step, calls])
    };
    let rest = |run: &Run, beside: &dyn Fn(&str) -> Option<Run>| {
        Some(run.busy() - known(run, beside)?.into_iter().sum::<f64>())
    };
    let waits = if waits_for_a_device(row, runs) { Bottleneck::Device } else { Bottleneck::Others };
    let own = if has_no_floors { Bottleneck::Kernel } else { Bottleneck::Method };
    let part =
        |what: Bottleneck, share: Option<Ratios>| share.map(|share| TimePart { what, share });
    let of_floors = [Bottleneck::Copy, Bottleneck::Pages, Bottleneck::Step, Bottleneck::Calls]
        .into_iter()
        .enumerate();
    let mut parts: Vec<TimePart> = of_floors
        .filter_map(|(at, what)| {
            part(what, runs.share(cell, |run, beside| Some(known(run, beside)?[at])))
        })
        .collect();
    // With several threads, one may work while another waits, so waiting is unknown. Without floors, the
    // parts of the working time are unknown.
    if !is_parallel && !parts.is_empty() {
        parts.extend(part(waits, runs.share(cell, |run, _| Some(run.waited))));
        parts.extend(part(own, runs.share(cell, rest)));
    }
    parts.sort_by(|a, b| b.share.median.total_cmp(&a.share.median));
    parts
}

/// Returns whether it waits for a device: because it reads the input from there, or syncs the output.
fn waits_for_a_device(row: &Row, runs: &RunTimes<'_>) -> bool {
    let half = runs.dataset.expected.bytes as f64 / 2.0;
    let is_synced = runs.spec.transform.is_some_and(|rules| rules.sync == SyncRule::Inside);
    is_synced || row.device_read.is_some_and(|read| read >= half) || row.unwritten == Some(0.0)
}

/// Returns the nanoseconds that system calls take of each run. This requires runs of the same method with
/// smaller and larger blocks: the difference is the cost of the additional calls.
fn time_in_calls(row: &Row, runs: &RunTimes<'_>) -> Option<f64> {
    let own: Variant = row.cell.method.parse().ok()?;
    let variants = runs.of_the_engine().into_iter();
    let mut blocks: Vec<(usize, f64)> = variants
        .filter(|(_, variant)| (&variant.method, variant.hint) == (&own.method, own.hint))
        .filter_map(|(cell, variant)| Some((variant.block?, runs.median(cell)?)))
        .collect();
    blocks.sort_by_key(|&(block, _)| block);
    let (&(small, slow), &(large, fast)) = (blocks.first()?, blocks.last()?);
    let bytes = runs.dataset.expected.bytes as f64;
    // Two calls per block: read and write.
    let calls = |block: usize| 2.0 * bytes / block as f64;
    let each = (slow - fast) / (calls(small) - calls(large));
    Some(each * calls(own.block?)).filter(|spent| *spent > 0.0 && small < large)
}

/// Returns the largest part.
///
/// # Errors
/// The reason if no part is certainly the largest.
pub(super) fn limit(parts: &[TimePart], runs: &RunTimes<'_>) -> Result<Bottleneck, String> {
    let Some((first, others)) = parts.split_first() else {
        return Err("the floors did not run in its rounds".to_owned());
    };
    runs.check_noise()?;
    // Other processes on the processor lengthen each part by a different factor.
    if first.what != Bottleneck::Others
        && let Some(crowd) = runs.busy_machine()
    {
        return Err(crowd);
    }
    if first.share.n < MIN_ROUNDS {
        return Err(format!("fewer than {MIN_ROUNDS} rounds decide nothing"));
    }
    match others.iter().find(|other| other.share.high >= first.share.low) {
        Some(other) => {
            let (first, other) = (first.what.about(), other.what.about());
            Err(format!("{first}, or {other}: the rounds do not show which is larger"))
        }
        None => Ok(first.what),
    }
}
