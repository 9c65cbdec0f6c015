//! One run of a method of the engine: a walk that does exactly the work of all methods.

use transect::{
    Dir, Entering, FieldMask, FileType, Flow, ScanError, ScanOptions, ScanPlan, Sink, Visit, Want,
};

use super::timed::{CallSums, Timed};
use crate::harness::protocol::CallTimes;
use crate::harness::stopwatch::{RunTime, Stopwatch, nanoseconds};
use crate::harness::work::Work;

/// The sink that counts the work.
#[derive(Debug, Default)]
struct Census(Work);

impl Sink for Census {
    type Tag = ();

    fn want(&self) -> Want {
        Want { entries: FieldMask::SIZE, ..Want::default() }
    }

    fn enter(&mut self, entering: Entering<'_, ()>) {
        if entering.parent.is_some() && entering.listed {
            self.0.directories += 1;
        }
    }

    fn visit(&mut self, visit: Visit<'_, ()>) -> Flow {
        for entry in visit.batch.iter().filter(|entry| entry.file_type() == FileType::File) {
            self.0.files += 1;
            let bytes = entry.attributes.size().unwrap_or(0);
            self.0.bytes = self.0.bytes.saturating_add(bytes);
        }
        Flow::Continue
    }

    fn error(&mut self, _: &Dir<()>, _: ScanError) -> Flow {
        self.0.errors += 1;
        Flow::Continue
    }

    fn merge(&mut self, other: Self) {
        self.0.files += other.0.files;
        self.0.directories += other.0.directories;
        self.0.bytes = self.0.bytes.saturating_add(other.0.bytes);
        self.0.errors += other.0.errors;
    }
}

/// Walks once with this engine, and returns the counts and the time of the walk.
///
/// # Errors
/// The options are invalid, or the root cannot be read.
pub fn walk(options: ScanOptions) -> Result<(Work, RunTime), transect::Error> {
    let plan = plan(options)?;
    let watch = Stopwatch::start();
    let outcome = plan.run(Census::default)?;
    let RunTime { cpu, .. } = watch.stop();
    Ok((outcome.sink.0, RunTime { elapsed: outcome.elapsed, cpu }))
}

/// Does the same, and also times every call of the reader. Timing makes the walk slower (see [`Timed`]), so
/// its duration is not a sample.
///
/// # Errors
/// As [`walk`].
pub fn walk_timed(options: ScanOptions) -> Result<(Work, CallTimes, u64), transect::Error> {
    let (plan, sums) = (plan(options)?, CallSums::default());
    let outcome = plan.run_with(Census::default, || Timed::new(plan.system_reader(), &sums))?;
    Ok((outcome.sink.0, sums.times(outcome.threads), nanoseconds(outcome.elapsed)))
}

/// Returns a plan that crosses mount points and reads pseudo file systems, as all other methods do.
fn plan(options: ScanOptions) -> Result<ScanPlan, transect::Error> {
    options.pseudo_file_systems(true).plan()
}

#[cfg(test)]
mod tests {
    use transect::{Order, ReaderKind};
    use transect_testkit::{TempDir, trees};

    use super::*;
    use crate::harness::inventory::Inventory;

    #[test]
    fn timed_walk_has_same_counts_and_plausible_times() {
        let temp = TempDir::new();
        trees::many_small_dirs(temp.path());
        let expected = Inventory::of(temp.path()).work();
        for &reader in ReaderKind::ALL.iter().filter(|reader| reader.unavailable_reason().is_none())
        {
            for &order in Order::ALL {
                let options = || ScanOptions::new([temp.path()]).reader(reader).order(order);
                let context = format!("{} in {}", reader.as_str(), order.as_str());
                assert_eq!(walk(options()).unwrap().0, expected, "{context}");
                let (work, times, elapsed_ns) = walk_timed(options().threads(2)).unwrap();
                assert_eq!(work, expected, "{context}");
                assert_eq!(times.opening_calls, work.directories, "{context}");
                // At least one listing for each directory.
                assert!(times.listing_calls >= work.directories, "{context}: {times:?}");
                assert!(times.attributes_calls > work.directories, "{context}: {times:?}");
                let each = [times.opening_ns, times.listing_ns, times.attributes_ns];
                assert!(each.iter().all(|&ns| ns > 0), "{context}: {times:?}");
                let threads = if order.is_parallel() { 1..=2 } else { 1..=1 };
                assert!(threads.contains(&times.threads), "{context}: {times:?}");
                let spent: u64 = each.iter().sum();
                assert!(spent <= times.threads * elapsed_ns, "{context}: {times:?}, {elapsed_ns}");
            }
        }
    }
}
