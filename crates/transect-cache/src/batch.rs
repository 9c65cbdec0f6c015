//! Lookups of many paths: cached results first, then one directory after another. While the device is slow, threads share
//! the directories.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use transect::internal::for_each_dir;
use transect_sys::FileType;

use super::LookupResult;
use super::cached_dir::{CachedDir, DirState};
use super::lookup::LookupKind;
use super::lookup_error::LookupError;
use super::options::Level;
use super::order::by_directory;
use super::revalidation::Revalidation;
use super::split_path::{is_entry_name, os_name, split_plain};
use super::system;

/// After this many lookups in one directory, few more are expected, and reserved memory is
/// released.
const SHRINK_AFTER: usize = 16;

/// Whether a listing spares queries of names that exist, too.
const LISTED_WITH_ATTRIBUTES: bool = cfg!(windows);

const POISONED: &str = "BUG: a thread panicked while it stored an answer";

/// Placeholder until a path is answered.
const PENDING: LookupResult = Err(LookupError::MISSING);

/// A lookup that memory did not answer: its path, the directory, the name in it, and its index.
struct Uncached<'p> {
    path: &'p Path,
    cached_dir: Arc<CachedDir>,
    name: &'p [u8],
    index: usize,
}

struct ManyPaths<'m> {
    of: &'m Revalidation<'m>,
    kind: LookupKind,
    answers: Mutex<Vec<LookupResult>>,
}

impl Revalidation<'_> {
    /// Returns the attributes of many paths, links followed, in the order of the paths.
    ///
    /// The paths are looked up one directory after another, whatever their order. Names are listed
    /// instead of queried one by one where that is cheaper.
    pub fn get_many<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<LookupResult> {
        self.many(paths, true)
    }

    /// Returns the attributes of many paths, links not followed: see [`Revalidation::get_link`].
    pub fn get_many_links<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<LookupResult> {
        self.many(paths, false)
    }

    fn many<P: AsRef<Path>>(&self, paths: &[P], follow: bool) -> Vec<LookupResult> {
        if self.level == Level::Verified {
            let each = |path: &P| if follow { self.get(path) } else { self.get_link(path) };
            return paths.iter().map(each).collect();
        }
        let (kind, answers) = (LookupKind::Attributes { follow }, vec![PENDING; paths.len()]);
        let mut many = ManyPaths { of: self, kind, answers: Mutex::new(answers) };
        let mut uncached = many.answer_cached(paths);
        self.cache.store.counters.hits.add((paths.len() - uncached.len()) as u64);
        uncached.sort_by_key(|question| question.cached_dir.number);
        let groups: Vec<_> = uncached
            .chunk_by(|one, other| one.cached_dir.number == other.cached_dir.number)
            .collect();
        for_each_dir(&groups, self.cache.options.threads, |group, report| {
            many.answer_group(group, report);
            if group.len() >= SHRINK_AFTER {
                let mut directory = group[0].cached_dir.write();
                directory.table.shrink();
                self.cache.store.dirs.add_memory(directory.growth());
            }
        });
        many.answers.into_inner().expect(POISONED)
    }
}

impl<'m> ManyPaths<'m> {
    /// Answers from memory, and returns the remaining lookups. Consecutive paths of one directory share one
    /// search for the directory, and one lock.
    fn answer_cached<P: AsRef<Path>>(&mut self, paths: &'m [P]) -> Vec<Uncached<'m>> {
        let (of, kind, cache) = (self.of, self.kind, self.of.cache);
        let answers = self.answers.get_mut().expect(POISONED);
        let order = by_directory(paths);
        let index = |at: usize| order.as_ref().map_or(at, |order| order[at] as usize);
        let mut uncached = Vec::new();
        let mut at = 0;
        while at < paths.len() {
            let Some((cached_dir, _)) = of.find_cached_dir(paths[index(at)].as_ref()) else {
                // It is not in the form of the keys, or its directory is new.
                let index = index(at);
                let path = paths[index].as_ref();
                match cache.scope.split(path) {
                    Ok(split) => {
                        let cached_dir = cache.cached_dir(&split);
                        uncached.push(Uncached { path, cached_dir, name: split.name, index });
                    }
                    Err(error) => answers[index] = Err(error),
                }
                at += 1;
                continue;
            };
            // While this lock is held, nothing may evict: it would wait for the lock.
            let seen = cached_dir.read();
            while at < paths.len()
                && let path = paths[index(at)].as_ref()
                && let Some((_, name)) =
                    split_plain(path).filter(|(directory, _)| *directory == cached_dir.key())
            {
                let lookup = of.look_up(&seen, of.hashed(name), kind);
                let index = index(at);
                if lookup.answers(kind) {
                    answers[index] = lookup.into_result();
                } else {
                    let cached_dir = Arc::clone(&cached_dir);
                    uncached.push(Uncached { path, cached_dir, name, index });
                }
                at += 1;
            }
        }
        uncached
    }

    fn set(&self, question: &Uncached<'_>, answer: LookupResult) {
        self.answers.lock().expect(POISONED)[question.index] = answer;
    }

    /// Answers a lookup from what is known of its directory. Returns whether that was possible.
    fn answer_from(&self, seen: &DirState, question: &Uncached<'_>) -> bool {
        let lookup = self.of.look_up(seen, self.of.hashed(question.name), self.kind);
        let answers = lookup.answers(self.kind);
        if answers {
            self.set(question, lookup.into_result());
        }
        answers
    }

    /// Answers lookups of names in one directory.
    fn answer_group(&self, group: &[Uncached<'_>], report: &mut dyn FnMut(u32)) {
        let (of, cached_dir) = (self.of, &group[0].cached_dir);
        let mut group: Vec<_> = group.iter().collect();
        let mut is_sampled = LISTED_WITH_ATTRIBUTES;
        let mut missing = if is_sampled { group.len() } else { 1 };
        while !group.is_empty() {
            if of.prepare(cached_dir, missing) {
                // A listing, or an error of the directory, may answer them: then it need not be opened.
                let (directory, before) = (cached_dir.read(), group.len());
                group.retain(|question| !self.answer_from(&directory, question));
                of.cache.store.counters.hits.add((before - group.len()) as u64);
                report((before - group.len()) as u32);
            }
            let mut sample = Sample { lookups: group.len(), answered: 0, missing: 0, report };
            // One query tells whether names are missing.
            let some = if is_sampled { &group[..] } else { group.get(..1).unwrap_or_default() };
            is_sampled = true;
            let plain = some.iter().all(|question| is_entry_name(question.name));
            let opens = plain && of.cache.options.costs.should_open_dir(some.len());
            if !opens || self.answer_in_open_dir(some, &mut sample).is_err() {
                // If it cannot be opened, the reason is found for each name by its path.
                self.answer_one_by_one(some, &mut sample);
            }
            group.drain(..sample.answered);
            missing = sample.likely();
        }
    }

    fn answer_one_by_one(&self, group: &[&Uncached<'_>], sample: &mut Sample<'_>) {
        for question in group {
            let path = self.of.cache.scope.absolute(question.path);
            let answer = path.and_then(|path| {
                let name = self.of.hashed(question.name);
                self.of.answer(&question.cached_dir, name, &path, self.kind).into_result()
            });
            let listing_pays = self.count(sample, question, &answer);
            self.set(question, answer);
            if listing_pays {
                break;
            }
        }
    }

    /// Answers in the open directory: one system call more, but no path to resolve for each name.
    fn answer_in_open_dir(
        &self,
        group: &[&Uncached<'_>],
        sample: &mut Sample<'_>,
    ) -> io::Result<()> {
        let (of, cache) = (self.of, self.of.cache);
        let (cached_dir, mut links) = (&group[0].cached_dir, Vec::new());
        of.reserve(cached_dir, group.iter().map(|question| question.name));
        system::query_in(cache.reader, cached_dir.path(), cache.options.want, |ask| {
            for &question in group {
                let directory = cached_dir.read();
                if self.answer_from(&directory, question) {
                    sample.answered += 1;
                    cache.store.counters.hits.add(1);
                    continue;
                }
                let changes = directory.changes;
                drop(directory);
                cache.store.counters.misses.add(1);
                cache.store.counters.queries.add(1);
                let name = os_name(question.path, question.name);
                let own = name.map_or(PENDING, |name| {
                    let mut own = ask(name)?;
                    own.retain(cache.options.want);
                    Ok(own)
                });
                of.store(cached_dir, changes, of.hashed(question.name), &own);
                if own.as_ref().is_ok_and(|own| own.file_type() == FileType::Symlink) {
                    links.push((question, changes));
                }
                let listing_pays = self.count(sample, question, &own);
                self.set(question, own);
                if listing_pays {
                    break;
                }
            }
        })?;
        for (question, changes) in links.into_iter().filter(|_| self.kind.follows()) {
            let answer = cache.scope.absolute(question.path).and_then(|path| {
                of.query_target(cached_dir, changes, of.hashed(question.name), &path)
            });
            self.set(question, answer);
        }
        Ok(())
    }

    /// Counts an answer. Returns whether a listing is likely to be cheaper for the others, as names are missing.
    fn count(
        &self,
        sample: &mut Sample<'_>,
        question: &Uncached<'_>,
        answer: &LookupResult,
    ) -> bool {
        let is_missing = answer.as_ref().is_err_and(|error| error.is_missing());
        sample.answered += 1;
        // Not for each one, as reading the clock takes time.
        if sample.answered.is_power_of_two() {
            (sample.report)(sample.answered.div_ceil(2) as u32);
        }
        sample.missing += usize::from(is_missing);
        is_missing && self.of.would_list(&question.cached_dir.read(), sample.likely())
    }
}

/// Answers of a directory, from which the others are estimated.
struct Sample<'r> {
    lookups: usize,
    answered: usize,
    missing: usize,
    /// Takes how many answers came since the last call.
    report: &'r mut dyn FnMut(u32),
}

impl Sample<'_> {
    /// Returns how many names that are not answered are likely to be missing.
    fn likely(&self) -> usize {
        (self.lookups - self.answered) * self.missing / self.answered.max(1)
    }
}
