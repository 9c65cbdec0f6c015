//! Lookups of many paths: cached results first, then one directory after another.

use std::io;
use std::path::Path;
use std::sync::Arc;

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

/// Placeholder until a path is answered.
const PENDING: LookupResult = Err(LookupError::MISSING);

/// A lookup that memory did not answer: its directory, the name in it, and its index.
struct Uncached<'p> {
    cached_dir: Arc<CachedDir>,
    name: &'p [u8],
    index: usize,
}

struct ManyPaths<'m, P> {
    of: &'m Revalidation<'m>,
    paths: &'m [P],
    kind: LookupKind,
    answers: Vec<LookupResult>,
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
        let mut many = ManyPaths { of: self, paths, kind, answers };
        let mut uncached = many.answer_cached();
        self.cache.store.counters.hits.add((paths.len() - uncached.len()) as u64);
        uncached.sort_by_key(|question| question.cached_dir.number);
        for group in
            uncached.chunk_by(|one, other| one.cached_dir.number == other.cached_dir.number)
        {
            many.answer_group(group);
            if group.len() >= SHRINK_AFTER {
                let mut directory = group[0].cached_dir.write();
                directory.table.shrink();
                self.cache.store.dirs.add_memory(directory.growth());
            }
        }
        many.answers
    }
}

impl<'m, P: AsRef<Path>> ManyPaths<'m, P> {
    /// Answers from memory, and returns the remaining lookups. Consecutive paths of one directory share one
    /// search for the directory, and one lock.
    fn answer_cached(&mut self) -> Vec<Uncached<'m>> {
        let (cache, paths) = (self.of.cache, self.paths);
        let order = by_directory(paths);
        let index = |at: usize| order.as_ref().map_or(at, |order| order[at] as usize);
        let mut uncached = Vec::new();
        let mut at = 0;
        while at < paths.len() {
            let Some((cached_dir, _)) = self.of.find_cached_dir(paths[index(at)].as_ref()) else {
                // It is not in the form of the keys, or its directory is new.
                let index = index(at);
                match cache.scope.split(paths[index].as_ref()) {
                    Ok(split) => {
                        let cached_dir = cache.cached_dir(&split);
                        uncached.push(Uncached { cached_dir, name: split.name, index });
                    }
                    Err(error) => self.answers[index] = Err(error),
                }
                at += 1;
                continue;
            };
            // While this lock is held, nothing may evict: it would wait for the lock.
            let seen = cached_dir.read();
            while at < paths.len()
                && let Some((_, name)) = split_plain(paths[index(at)].as_ref())
                    .filter(|(directory, _)| *directory == cached_dir.key())
            {
                let question =
                    Uncached { cached_dir: Arc::clone(&cached_dir), name, index: index(at) };
                if !self.answer_from(&seen, &question) {
                    uncached.push(question);
                }
                at += 1;
            }
        }
        uncached
    }

    /// Answers a lookup from what is known of its directory. Returns whether that was possible.
    fn answer_from(&mut self, seen: &DirState, question: &Uncached<'_>) -> bool {
        let lookup = self.of.look_up(seen, self.of.hashed(question.name), self.kind);
        let answers = lookup.answers(self.kind);
        if answers {
            self.answers[question.index] = lookup.into_result();
        }
        answers
    }

    /// Answers lookups of names in one directory.
    fn answer_group(&mut self, group: &[Uncached<'_>]) {
        let (of, cached_dir) = (self.of, &group[0].cached_dir);
        let mut group: Vec<_> = group.iter().collect();
        let mut lookups = group.len();
        let mut is_sampled = LISTED_WITH_ATTRIBUTES;
        let mut missing = if is_sampled { lookups } else { 1 };
        while !group.is_empty() {
            if of.prepare(cached_dir, std::mem::take(&mut lookups), missing) {
                // A listing, or an error of the directory, may answer them: then it need not be opened.
                let (directory, before) = (cached_dir.read(), group.len());
                group.retain(|question| !self.answer_from(&directory, question));
                of.cache.store.counters.hits.add((before - group.len()) as u64);
            }
            let mut sample = Sample { lookups: group.len(), answered: 0, missing: 0 };
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

    fn answer_one_by_one(&mut self, group: &[&Uncached<'_>], sample: &mut Sample) {
        for question in group {
            let path = self.of.cache.scope.absolute(self.paths[question.index].as_ref());
            let answer = path.and_then(|path| {
                let name = self.of.hashed(question.name);
                self.of.answer(&question.cached_dir, name, &path, self.kind).into_result()
            });
            let listing_pays = self.count(sample, question, &answer);
            self.answers[question.index] = answer;
            if listing_pays {
                break;
            }
        }
    }

    /// Answers in the open directory: one system call more, but no path to resolve for each name.
    fn answer_in_open_dir(
        &mut self,
        group: &[&Uncached<'_>],
        sample: &mut Sample,
    ) -> io::Result<()> {
        let (of, cache, paths) = (self.of, self.of.cache, self.paths);
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
                let name = os_name(paths[question.index].as_ref(), question.name);
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
                self.answers[question.index] = own;
                if listing_pays {
                    break;
                }
            }
        })?;
        for (question, changes) in links.into_iter().filter(|_| self.kind.follows()) {
            let path = cache.scope.absolute(paths[question.index].as_ref());
            self.answers[question.index] = path.and_then(|path| {
                of.query_target(cached_dir, changes, of.hashed(question.name), &path)
            });
        }
        Ok(())
    }

    /// Counts an answer. Returns whether a listing is likely to be cheaper for the others, as names are missing.
    fn count(&self, sample: &mut Sample, question: &Uncached<'_>, answer: &LookupResult) -> bool {
        let is_missing = answer.as_ref().is_err_and(|error| error.is_missing());
        sample.answered += 1;
        sample.missing += usize::from(is_missing);
        is_missing && self.of.would_list(&question.cached_dir.read(), sample.likely())
    }
}

/// Answers of a directory, from which the others are estimated.
struct Sample {
    lookups: usize,
    answered: usize,
    missing: usize,
}

impl Sample {
    /// Returns how many names that are not answered are likely to be missing.
    fn likely(&self) -> usize {
        (self.lookups - self.answered) * self.missing / self.answered.max(1)
    }
}
