//! One run of a method of the engine: a walk that does exactly the work of all methods.

use transect::{
    Dir, Entering, FieldMask, FileType, Flow, Omission, Outcome, ScanOptions, ScanPlan, Sink, Tag,
    Visit, Want,
};
use transect_text::quote::shorten;

use super::keep::{Keep, KeptFiles};
use super::timed::{CallSums, Timed};
use crate::harness::protocol::{CallTimes, RunLine};
use crate::harness::stopwatch::{RunTime, Stopwatch, nanoseconds};
use crate::harness::tree_digest::{PathPrefix, TreeDigest};
use crate::harness::work::Work;

/// The sink that counts the work, and keeps records if a method asks for them.
#[derive(Debug, Default)]
struct Census {
    work: Work,
    kept: Option<KeptFiles>,
}

impl Census {
    fn new(keep: Option<Keep>) -> Self {
        Self { work: Work::default(), kept: keep.map(KeptFiles::new) }
    }

    /// Counts a regular file. Its length may be unknown.
    fn add_file(&mut self, length: Option<u64>) {
        self.work.files += 1;
        self.work.bytes = self.work.bytes.saturating_add(length.unwrap_or(0));
    }
}

impl Sink for Census {
    fn want(&self) -> Want {
        let kept = self.kept.as_ref().map_or(FieldMask::empty(), KeptFiles::wanted);
        Want::default().entries(FieldMask::SIZE | kept)
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        if entering.parent.is_some() && entering.listed {
            self.work.directories += 1;
        }
        Tag::None
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        for entry in visit.batch.iter().filter(|entry| entry.file_type() == FileType::File) {
            self.add_file(entry.attributes.size());
            if let Some(kept) = &mut self.kept {
                kept.add(entry.name, entry.attributes);
            }
        }
        Flow::Continue
    }

    fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
        self.work.errors += u64::from(matches!(omission, Omission::Failed(_)));
        Flow::Continue
    }

    fn merge(&mut self, other: Self) {
        self.work.files += other.work.files;
        self.work.directories += other.work.directories;
        self.work.bytes = self.work.bytes.saturating_add(other.work.bytes);
        self.work.errors += other.work.errors;
        if let (Some(own), Some(others)) = (&mut self.kept, other.kept) {
            own.merge(others);
        }
    }
}

/// Walks once with this engine, and returns the counts, the records that it kept, and the time of the walk. With
/// `times_calls`, it also times every call of the reader. That makes the walk slower (see [`Timed`]), so its
/// duration is a sample only in sessions where all methods of the engine are timed like this.
pub fn walk(
    options: ScanOptions,
    keep: Option<Keep>,
    times_calls: bool,
) -> Result<RunLine, transect::Error> {
    let (outcome, calls, watch) = run(&plan(options)?, || Census::new(keep), times_calls)?;
    let Census { work, kept } = outcome.sink;
    let Some(mut kept) = kept else {
        let time = RunTime { elapsed: outcome.elapsed, ..watch.stop() };
        return Ok(RunLine { calls, ..RunLine::measured(work, time) });
    };
    kept.finish();
    let (held, changed) = (Some(kept.held()), kept.changed());
    Ok(RunLine { calls, held, changed, ..RunLine::measured(work, watch.stop()) })
}

/// Runs a plan, and returns its outcome, the time inside its calls, if that is wanted, and its running
/// stopwatch.
fn run<S: Sink>(
    plan: &ScanPlan,
    make: impl Fn() -> S + Sync,
    times_calls: bool,
) -> Result<(Outcome<S>, Option<CallTimes>, Stopwatch), transect::Error> {
    let watch = Stopwatch::start();
    if !times_calls {
        return Ok((plan.run(make)?, None, watch));
    }
    let sums = CallSums::default();
    let outcome = plan.run_with(make, || Timed::new(plan.reader(), &sums))?;
    let calls = sums.times(outcome.threads);
    Ok((outcome, Some(calls), watch))
}

/// Works for a share of the CPU time of a walk, and adds how long that took. Where CPU times are unknown,
/// for a share of its time by the clock.
pub fn delay(walk: &mut RunLine, share: f64) {
    let watch = Stopwatch::start();
    let enough = walk.cpu_ns.unwrap_or(walk.elapsed_ns) as f64 * share;
    loop {
        let worked = watch.stop();
        if nanoseconds(worked.cpu.unwrap_or(worked.elapsed)) as f64 >= enough {
            walk.elapsed_ns += nanoseconds(worked.elapsed);
            walk.cpu_ns =
                walk.cpu_ns.zip(worked.cpu).map(|(walk, delay)| walk + nanoseconds(delay));
            return;
        }
    }
}

/// A [`Census`] with the digest of what it counts, and the first error.
#[derive(Debug, Default)]
struct CheckedCensus {
    census: Census,
    digest: TreeDigest,
    first_error: Option<String>,
}

/// Returns what the digest needs of a directory; `None` for the top, which is above the root.
fn prefix_of(dir: &Dir) -> Option<PathPrefix> {
    dir.tag.value().copied()
}

fn tag_of(prefix: PathPrefix) -> Tag {
    Tag::Value(Box::new(prefix))
}

impl Sink for CheckedCensus {
    fn want(&self) -> Want {
        self.census.want()
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        let Some(parent) = entering.parent else { return Tag::None };
        let above = prefix_of(parent);
        if !entering.listed {
            return above.map_or(Tag::None, tag_of);
        }
        self.census.work.directories += 1;
        tag_of(match above {
            Some(prefix) => self.digest.add_directory(prefix, entering.name.as_encoded_bytes()),
            None => self.digest.add_root(),
        })
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        let files = visit.batch.iter().filter(|entry| entry.file_type() == FileType::File);
        let prefix = prefix_of(visit.dir);
        for entry in files {
            let length = entry.attributes.size();
            self.census.add_file(length);
            if let (Some(prefix), Some(length)) = (prefix, length) {
                self.digest.add_file(prefix, entry.name.as_encoded_bytes(), length);
            }
        }
        Flow::Continue
    }

    fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
        if let Omission::Failed(error) = omission {
            self.census.work.errors += 1;
            // Its path may be longer than a line of the protocol.
            self.first_error.get_or_insert_with(|| shorten(error.to_string(), 300));
        }
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
pub fn walk_checked(options: ScanOptions) -> Result<RunLine, transect::Error> {
    let outcome = plan(options)?.run(CheckedCensus::default)?;
    let CheckedCensus { census, digest, first_error } = outcome.sink;
    Ok(RunLine {
        digest: Some(digest.to_string()),
        error: first_error,
        ..RunLine::new(census.work, nanoseconds(outcome.elapsed))
    })
}

/// Returns a plan that crosses mount points and reads pseudo file systems, as all other methods do.
fn plan(options: ScanOptions) -> Result<ScanPlan, transect::Error> {
    options.pseudo_file_systems(true).plan()
}

#[cfg(test)]
mod tests {
    use transect::ReaderKind;
    use transect::internal::Order;
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
        for &reader in
            ReaderKind::DIRECTORIES.iter().filter(|reader| reader.unavailable_reason().is_none())
        {
            for &order in Order::ALL {
                let options = || ScanOptions::new([temp.path()]).reader(reader).order(order);
                let context = format!("{} in {}", reader.as_str(), order.as_str());
                assert_eq!(walk(options(), None, false).unwrap().work, expected, "{context}");
                let checked = walk_checked(options()).unwrap();
                assert_eq!((checked.work, &checked.digest), (expected, &digest), "{context}");
                let line = walk(options().threads(2), None, true).unwrap();
                let RunLine { work, elapsed_ns, .. } = line;
                let times = line.calls.unwrap();
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

    #[test]
    fn filters_in_and_after_the_walk_keep_the_same_files() {
        let temp = TempDir::new();
        for (name, length) in [("small", 4095), ("page", 4096), ("large", 10_000)] {
            std::fs::create_dir(temp.join(name)).unwrap();
            std::fs::write(temp.join(name).join(name), vec![0; length]).unwrap();
        }
        let changed = |name: &str| {
            let file = std::fs::File::open(temp.join(name).join(name)).unwrap().metadata().unwrap();
            let time = file.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
            time.as_nanos() as u64
        };
        let changed =
            ["small", "page", "large"].map(changed).into_iter().fold(0, u64::wrapping_add);
        for &order in Order::ALL {
            let of = |keep: Keep| {
                walk(ScanOptions::new([temp.path()]).order(order), Some(keep), false).unwrap()
            };
            for (keep, names, changed) in [
                (Keep::Names, 3, None),
                (Keep::Times, 3, Some(changed)),
                (Keep::Large, 2, None),
                (Keep::LargeAfter, 2, None),
            ] {
                let line = of(keep);
                let context = format!("{} {}", order.as_str(), keep.as_str());
                assert_eq!(line.held.map(|held| held.names), Some(names), "{context}");
                assert_eq!((line.changed, line.work.files), (changed, 3), "{context}");
            }
        }
    }
}
