//! One run of a method of the engine: a walk that does exactly the work of all methods.

use transect::{
    Dir, Entering, FieldMask, FileType, Flow, ScanError, ScanOptions, ScanPlan, Sink, Visit, Want,
};
use transect_text::quote::shorten;

use super::timed::{CallSums, Timed};
use crate::harness::protocol::{CallTimes, RunLine};
use crate::harness::stopwatch::{RunTime, Stopwatch, nanoseconds};
use crate::harness::tree_digest::{PathPrefix, TreeDigest};
use crate::harness::work::Work;

/// The sink that counts the work.
#[derive(Debug, Default)]
struct Census(Work);

impl Census {
    /// Counts a regular file. Its length may be unknown.
    fn add_file(&mut self, length: Option<u64>) {
        self.0.files += 1;
        self.0.bytes = self.0.bytes.saturating_add(length.unwrap_or(0));
    }
}

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
            self.add_file(entry.attributes.size());
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

/// A [`Census`] with the digest of what it counts, and the first error.
#[derive(Debug, Default)]
struct CheckedCensus {
    census: Census,
    digest: TreeDigest,
    first_error: Option<String>,
}

impl Sink for CheckedCensus {
    /// `None` for the top, which is above the root.
    type Tag = Option<PathPrefix>;

    fn want(&self) -> Want {
        self.census.want()
    }

    fn enter(&mut self, entering: Entering<'_, Self::Tag>) -> Self::Tag {
        let parent = entering.parent?;
        if !entering.listed {
            return parent.tag;
        }
        self.census.0.directories += 1;
        Some(match parent.tag {
            Some(prefix) => self.digest.add_directory(prefix, entering.name.as_encoded_bytes()),
            None => self.digest.add_root(),
        })
    }

    fn visit(&mut self, visit: Visit<'_, Self::Tag>) -> Flow {
        let files = visit.batch.iter().filter(|entry| entry.file_type() == FileType::File);
        for entry in files {
            let length = entry.attributes.size();
            self.census.add_file(length);
            if let (Some(prefix), Some(length)) = (visit.dir.tag, length) {
                self.digest.add_file(prefix, entry.name.as_encoded_bytes(), length);
            }
        }
        Flow::Continue
    }

    fn error(&mut self, _: &Dir<Self::Tag>, error: ScanError) -> Flow {
        self.census.0.errors += 1;
        // Its path may be longer than a line of the protocol.
        self.first_error.get_or_insert_with(|| shorten(error.to_string(), 300));
        Flow::Continue
    }

    fn merge(&mut self, other: Self) {
        self.census.merge(other.census);
        self.digest.merge(other.digest);
        self.first_error = self.first_error.take().or(other.first_error);
    }
}

/// Walks once, and returns what was found with its digest and the first error. The time includes that of
/// the digest and means nothing.
///
/// # Errors
/// As [`walk`].
pub fn walk_checked(options: ScanOptions) -> Result<RunLine, transect::Error> {
    let outcome = plan(options)?.run(CheckedCensus::default)?;
    let CheckedCensus { census, digest, first_error } = outcome.sink;
    Ok(RunLine {
        digest: Some(digest.to_string()),
        error: first_error,
        ..RunLine::new(census.0, nanoseconds(outcome.elapsed))
    })
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
        let inventory = Inventory::of(temp.path());
        let expected = inventory.work();
        let digest = inventory.digest.map(|digest| digest.to_string());
        for &reader in ReaderKind::ALL.iter().filter(|reader| reader.unavailable_reason().is_none())
        {
            for &order in Order::ALL {
                let options = || ScanOptions::new([temp.path()]).reader(reader).order(order);
                let context = format!("{} in {}", reader.as_str(), order.as_str());
                assert_eq!(walk(options()).unwrap().0, expected, "{context}");
                let checked = walk_checked(options()).unwrap();
                assert_eq!((checked.work, &checked.digest), (expected, &digest), "{context}");
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
