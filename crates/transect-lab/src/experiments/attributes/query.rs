//! One run of a method of this program, timed by its own clock.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::time::Duration;

use transect::{Attributes, Dir, FileType, Flow, Omission, ScanOptions, Sink, Visit, Want};
use transect_cache::{AttributeCache, CacheOptions, Level, SearchDirs};

use super::answers::{Run, Sums, WANT};
use super::method::QueryMethod;
use super::questions::Questions;
use super::service;
use crate::harness::protocol::{Held, RunLine};
use crate::harness::stopwatch::{RunTime, Stopwatch};
use crate::harness::work::Work;
use crate::spec::attributes::Task;

/// The number of includes in a compilation unit. A checked cache checks a listing once for each unit.
const UNIT: usize = 100;

#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub task: Task,
    pub method: QueryMethod,
    pub threads: usize,
    /// The socket of the service, for the method that uses one.
    pub socket: Option<&'a Path>,
}

/// Runs all queries once. The clock runs from the first query to the last answer. A full cache is filled
/// before, and checked afterwards for misses.
pub fn run_query(query: Query<'_>, questions: &Questions) -> Result<RunLine, String> {
    let Run { sums, time, held } = match query.method {
        QueryMethod::Stat if questions.dirs.is_empty() => {
            without_cache(|| Ok(on_threads(&questions.paths, query.threads, ask_system)))?
        }
        QueryMethod::Stat => without_cache(|| Ok(probe_each(questions)))?,
        QueryMethod::StatAt => without_cache(|| relative(&questions.paths))?,
        QueryMethod::Listing => without_cache(|| listing(&questions.paths))?,
        QueryMethod::Memo => without_cache(|| Ok(with_memo(questions)))?,
        QueryMethod::Get if query.task == Task::OneCold => each_cold(&questions.paths)?,
        QueryMethod::Get => with_cache(&cache(Level::Frozen)?, |cache| {
            get_each(cache, &questions.paths, query.threads)
        }),
        QueryMethod::GetKnown => {
            known(&questions.paths, |cache| get_each(cache, &questions.paths, query.threads))?
        }
        QueryMethod::GetMany => {
            with_cache(&cache(Level::Frozen)?, |cache| Sums::of(&cache.get_many(&questions.paths)))
        }
        QueryMethod::GetManyKnown => {
            known(&questions.paths, |cache| Sums::of(&cache.get_many(&questions.paths)))?
        }
        QueryMethod::ResolveFrozen => resolve(Level::Frozen, questions)?,
        QueryMethod::ResolveChecked => resolve(Level::Checked, questions)?,
        QueryMethod::Service => {
            service::ask(query.socket.ok_or("no service is named")?, &questions.paths)?
        }
    };
    let work = Work { files: sums.found, directories: 0, bytes: sums.bytes, errors: sums.missing };
    // A time of 0 would count as a broken clock.
    let time = RunTime { elapsed: time.elapsed.max(Duration::from_nanos(1)), ..time };
    let line = RunLine::measured(work, time);
    Ok(RunLine { changed: Some(sums.changed), held, ..line })
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, RunTime) {
    let watch = Stopwatch::start();
    let done = work();
    (done, watch.stop())
}

fn without_cache(work: impl FnOnce() -> Result<Sums, String>) -> Result<Run, String> {
    let (sums, time) = timed(work);
    Ok(Run { sums: sums?, time, held: None })
}

fn cache(level: Level) -> Result<AttributeCache, String> {
    CacheOptions::new(level).want(WANT).open().map_err(|error| error.to_string())
}

fn with_cache(cache: &AttributeCache, work: impl FnOnce(&AttributeCache) -> Sums) -> Run {
    let (sums, time) = timed(|| work(cache));
    let held = Held { memory: cache.memory() as u64, names: cache.counts().names };
    Run { sums, time, held: Some(held) }
}

/// Runs queries on a cache that contains all answers.
fn known(paths: &[PathBuf], work: impl FnOnce(&AttributeCache) -> Sums) -> Result<Run, String> {
    let cache = cache(Level::Frozen)?;
    let _ = cache.get_many(paths);
    let before = cache.counts().misses;
    let run = with_cache(&cache, work);
    match cache.counts().misses - before {
        0 => Ok(run),
        misses => Err(format!("{misses} answers were not known, and all should be")),
    }
}

fn ask_system(path: &Path) -> Option<Attributes> {
    transect_sys::file::query_attributes(path, WANT, true).ok()
}

/// Returns the attributes unless they are those of a directory, which cannot be included.
fn includable(found: Option<Attributes>) -> Option<Attributes> {
    found.filter(|found| found.file_type() != FileType::Directory)
}

fn probe_each(questions: &Questions) -> Sums {
    let mut sums = Sums::default();
    for name in &questions.paths {
        let probe = |dir: &PathBuf| includable(ask_system(&dir.join(name)));
        sums.add(questions.dirs.iter().find_map(probe).as_ref());
    }
    sums
}

fn with_memo(questions: &Questions) -> Sums {
    let mut sums = Sums::default();
    let mut probed: HashMap<PathBuf, Option<(u64, i64)>> = HashMap::new();
    for name in &questions.paths {
        let probe = |dir: &PathBuf| match probed.entry(dir.join(name)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(unknown) => {
                let found = includable(ask_system(unknown.key()));
                let known = found.map(|it| (it.size().unwrap_or(0), it.mtime().unwrap_or(0)));
                *unknown.insert(known)
            }
        };
        sums.add_known(questions.dirs.iter().find_map(probe));
    }
    sums
}

fn get_each(cache: &AttributeCache, paths: &[PathBuf], threads: usize) -> Sums {
    on_threads(paths, threads, |path| cache.get(path).ok())
}

/// Queries the paths in equal parts on `threads` threads, the first of which is the current one.
fn on_threads(
    paths: &[PathBuf],
    threads: usize,
    ask: impl Fn(&Path) -> Option<Attributes> + Sync,
) -> Sums {
    let ask_all = |paths: &[PathBuf]| {
        let mut sums = Sums::default();
        paths.iter().for_each(|path| sums.add(ask(path).as_ref()));
        sums
    };
    let mut parts = paths.chunks(paths.len().div_ceil(threads).max(1));
    let first = parts.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let ask_all = &ask_all;
        let others: Vec<_> = parts.map(|part| scope.spawn(move || ask_all(part))).collect();
        let own = ask_all(first);
        others.into_iter().fold(own, |sums, other| {
            sums.with(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    })
}

/// Number of caches created before the clock starts, each for one query: enough that the cost of the clock
/// is negligible, few enough that they do not fill the processor's caches, as a single cache would not.
const COLD_CACHES: usize = 16;

fn each_cold(paths: &[PathBuf]) -> Result<Run, String> {
    let none = RunTime { cpu: Some(Duration::ZERO), ..RunTime::default() };
    let mut run = Run { sums: Sums::default(), time: none, held: None };
    for paths in paths.chunks(COLD_CACHES) {
        let caches = paths.iter().map(|_| cache(Level::Frozen)).collect::<Result<Vec<_>, _>>()?;
        let ask = || {
            let asked = caches.iter().zip(paths);
            asked.for_each(|(cache, path)| run.sums.add(cache.get(path).ok().as_ref()));
        };
        run.time += timed(ask).1;
    }
    Ok(run)
}

fn resolve(level: Level, questions: &Questions) -> Result<Run, String> {
    let cache = cache(level)?;
    let search = cache.search_dirs(&questions.dirs).map_err(|refusal| refusal.to_string())?;
    Ok(with_cache(&cache, |cache| resolve_each(cache, &search, &questions.paths)))
}

fn resolve_each(cache: &AttributeCache, search: &SearchDirs, names: &[PathBuf]) -> Sums {
    let mut sums = Sums::default();
    for unit in names.chunks(UNIT) {
        let revalidation = cache.revalidation();
        for name in unit {
            let found = revalidation.resolve(name, search).ok().flatten();
            sums.add(found.map(|found| found.attributes).as_ref());
        }
    }
    sums
}

/// Queries names relative to their open directories. The paths are sorted, so each directory is opened once.
#[cfg(target_os = "linux")]
fn relative(paths: &[PathBuf]) -> Result<Sums, String> {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, openat, statx};

    let mut sorted: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    sorted.sort_unstable();
    let mut sums = Sums::default();
    let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
    let wanted = StatxFlags::MTIME | StatxFlags::SIZE;
    for group in sorted.chunk_by(|one, other| one.parent() == other.parent()) {
        let directory = group[0].parent().unwrap_or(Path::new("/"));
        let directory = openat(CWD, directory, flags, Mode::empty()).ok();
        for path in group {
            let ask = |directory| {
                let found = statx(directory, path.file_name()?, AtFlags::empty(), wanted).ok()?;
                let time = found.stx_mtime.tv_sec * 1_000_000_000;
                Some((found.stx_size, time + i64::from(found.stx_mtime.tv_nsec)))
            };
            sums.add_known(directory.as_ref().and_then(ask));
        }
    }
    Ok(sums)
}

#[cfg(not(target_os = "linux"))]
fn relative(_: &[PathBuf]) -> Result<Sums, String> {
    Err("on Linux only".to_owned())
}

/// Lists the directory that contains all paths, and sums its entries.
fn listing(paths: &[PathBuf]) -> Result<Sums, String> {
    let Some(directory) = paths.first().and_then(|path| path.parent()) else {
        return Ok(Sums::default());
    };
    let plan = ScanOptions::new([directory]).max_depth(1).plan();
    let outcome = plan.and_then(|plan| plan.run(Listed::default));
    outcome.map(|outcome| outcome.sink.0).map_err(|error| error.to_string())
}

#[derive(Debug, Default)]
struct Listed(Sums);

impl Sink for Listed {
    fn want(&self) -> Want {
        Want::default().entries(WANT)
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        for entry in visit.batch.iter().filter(|entry| entry.file_type() == FileType::File) {
            self.0.add(Some(entry.attributes));
        }
        Flow::Continue
    }

    fn omit(&mut self, _: &Dir, _: Omission<'_>) -> Flow {
        Flow::Continue
    }

    fn merge(&mut self, other: Self) {
        self.0 = self.0.with(other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::expected::expect;
    use super::super::tree::make;
    use super::*;
    use crate::spec::attributes::Scale;
    use transect_testkit::TempDir;

    /// Calls `each` for every method that needs no service, with every task that it supports.
    fn everywhere(each: &mut dyn FnMut(Query<'_>, &Questions)) {
        let temp = TempDir::new();
        for &task in Task::ALL.iter().filter(|task| !task.needs_a_source()) {
            let folder = temp.join(task.as_str());
            let scale = Scale { files: 60, search_dirs: 7, headers: 5 };
            let (questions, _) = make(task, &scale, &folder).unwrap();
            let methods = super::super::Method::all(&[]);
            for method in methods.iter().filter(|method| method.does(task)) {
                let Some(query_method) = method.part.query else {
                    continue;
                };
                if query_method == QueryMethod::Service || method.unavailable_reason.is_some() {
                    continue;
                }
                each(
                    Query {
                        task,
                        method: query_method,
                        threads: method.part.threads,
                        socket: None,
                    },
                    &questions,
                );
            }
        }
    }

    #[test]
    fn every_method_has_expected_answers_and_caches_report_their_content() {
        everywhere(&mut |query, questions| {
            let line = run_query(query, questions).unwrap();
            let expected = expect(questions);
            assert_eq!(line.work, expected.work, "{query:?}");
            assert_eq!(line.changed, Some(expected.changed), "{query:?}");
            let held = line.held;
            let has_cache =
                matches!(query.method, QueryMethod::GetMany | QueryMethod::ResolveFrozen);
            if has_cache {
                let held = held.unwrap();
                assert!(held.names >= 30 && held.memory > 20 * held.names, "{query:?}: {held:?}");
            }
            let has_none =
                matches!(query.method, QueryMethod::Stat | QueryMethod::StatAt | QueryMethod::Memo);
            assert!(!has_none || held.is_none(), "{query:?}");
        });
    }

    #[test]
    fn no_questions_give_no_answers() {
        for method in [
            QueryMethod::Stat,
            QueryMethod::Listing,
            QueryMethod::GetMany,
            QueryMethod::GetKnown,
            QueryMethod::Get,
        ] {
            let query = Query { task: Task::Article, method, threads: 4, socket: None };
            let line = run_query(query, &Questions::default()).unwrap();
            assert_eq!((line.work, line.changed), (Work::default(), Some(0)), "{method:?}");
        }
    }
}
