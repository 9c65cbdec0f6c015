//! Lookups of many paths: cached results first, then one directory after another.

use std::path::Path;
use std::sync::Arc;

use transect_sys::FileType;

use super::LookupResult;
use super::cached_dir::CachedDir;
use super::lookup::LookupKind;
use super::lookup_error::LookupError;
use super::options::Level;
use super::order::by_directory;
use super::revalidation::Revalidation;
use super::split_path::{is_entry_name, split};
use super::system::QueryInDir;

/// After this many lookups in one directory, few more are expected, and reserved memory is
/// released.
const SHRINK_AFTER: usize = 16;

/// Placeholder until a path is answered.
const PENDING: LookupResult = Err(LookupError::MISSING);

/// A lookup that memory did not answer: its directory, the name in it, and its index.
struct Uncached<'p> {
    cached_dir: Arc<CachedDir>,
    name: &'p [u8],
    index: usize,
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
        let mut answers = vec![PENDING; paths.len()];
        let uncached = self.answer_cached(paths, follow, &mut answers);
        self.cache.store.counters.hits.add((paths.len() - uncached.len()) as u64);
        self.answer_uncached(paths, follow, uncached, &mut answers);
        answers
    }

    /// Answers from memory, and returns the remaining lookups. Consecutive paths of one directory
    /// share one
    /// search for the directory, and one lock.
    fn answer_cached<'p, P: AsRef<Path>>(
        &self,
        paths: &'p [P],
        follow: bool,
        answers: &mut [LookupResult],
    ) -> Vec<Uncached<'p>> {
        let kind = LookupKind::Attributes { follow };
        let order = by_directory(paths);
        let index = |at: usize| order.as_ref().map_or(at, |order| order[at] as usize);
        // A name such as `..` may lead out of the roots.
        let plain = |at| split(paths[index(at)].as_ref()).filter(|(_, name)| is_entry_name(name));
        let mut uncached = Vec::new();
        let mut at = 0;
        while at < paths.len() {
            let known = plain(at).and_then(|(directory, _)| {
                Some((
                    directory,
                    self.cache
                        .store
                        .dirs
                        .get(directory)
                        .filter(|cached_dir| cached_dir.inside_roots)?,
                ))
            });
            let Some((directory, cached_dir)) = known else {
                let path = paths[index(at)].as_ref();
                answers[index(at)] = self.find_dir(path, index(at), &mut uncached);
                at += 1;
                continue;
            };
            // While this lock is held, nothing may evict: it would wait for the lock.
            let seen = cached_dir.read();
            while at < paths.len()
                && let Some((_, name)) = plain(at).filter(|(own, _)| *own == directory)
            {
                let lookup = self.look_up(&seen, self.hashed(name), kind);
                if lookup.answers(kind) {
                    answers[index(at)] = lookup.into_result();
                } else {
                    uncached.push(Uncached {
                        cached_dir: Arc::clone(&cached_dir),
                        name,
                        index: index(at),
                    });
                }
                at += 1;
            }
        }
        uncached
    }

    /// Adds a path that is not in the form of the keys, or whose directory is new.
    fn find_dir<'p>(
        &self,
        path: &'p Path,
        index: usize,
        uncached: &mut Vec<Uncached<'p>>,
    ) -> LookupResult {
        let split = self.cache.scope.split(path)?;
        let cached_dir = self.cache.cached_dir(&split);
        uncached.push(Uncached { cached_dir, name: split.name, index });
        PENDING
    }

    fn answer_uncached<P: AsRef<Path>>(
        &self,
        paths: &[P],
        follow: bool,
        mut uncached: Vec<Uncached<'_>>,
        answers: &mut [LookupResult],
    ) {
        uncached.sort_by_key(|question| question.cached_dir.number);
        for group in
            uncached.chunk_by(|one, other| one.cached_dir.number == other.cached_dir.number)
        {
            self.answer_group(paths, follow, group, answers);
            if group.len() >= SHRINK_AFTER {
                let mut directory = group[0].cached_dir.write();
                directory.table.shrink();
                self.cache.store.dirs.add_memory(directory.growth());
            }
        }
    }

    /// Answers lookups of names in one directory.
    fn answer_group<P: AsRef<Path>>(
        &self,
        paths: &[P],
        follow: bool,
        group: &[Uncached<'_>],
        answers: &mut [LookupResult],
    ) {
        let cached_dir = &group[0].cached_dir;
        let mut group: Vec<_> = group.iter().collect();
        if self.prepare(cached_dir, group.len()) {
            // A listing, or an error of the directory, may answer them: then it need not be opened.
            let directory = cached_dir.read();
            group.retain(|question| {
                let name = self.hashed(question.name);
                let lookup = self.look_up(&directory, name, LookupKind::Attributes { follow });
                let answered = lookup.answers(LookupKind::Attributes { follow });
                if answered {
                    self.cache.store.counters.hits.add(1);
                    answers[question.index] = lookup.into_result();
                }
                !answered
            });
        }
        let plain = group.iter().all(|question| is_entry_name(question.name));
        if plain && self.cache.options.costs.should_open_dir(group.len()) {
            self.answer_in_open_dir(cached_dir, paths, follow, &group, answers);
            return;
        }
        for question in group {
            answers[question.index] =
                self.answer_one(paths[question.index].as_ref(), follow, question);
        }
    }

    fn answer_one(&self, path: &Path, follow: bool, question: &Uncached<'_>) -> LookupResult {
        let name = self.hashed(question.name);
        let path = self.cache.scope.absolute(path)?;
        self.answer(&question.cached_dir, name, &path, LookupKind::Attributes { follow })
            .into_result()
    }

    /// Answers in the open directory: one system call more, but no path to resolve for each name.
    fn answer_in_open_dir<P: AsRef<Path>>(
        &self,
        cached_dir: &Arc<CachedDir>,
        paths: &[P],
        follow: bool,
        group: &[&Uncached<'_>],
        answers: &mut [LookupResult],
    ) {
        let kind = LookupKind::Attributes { follow };
        let mut left = Vec::new();
        let asked = QueryInDir {
            path: cached_dir.path(),
            want: self.cache.options.want,
            then: &mut |ask| {
                for question in group {
                    let path = paths[question.index].as_ref();
                    let name = self.hashed(question.name);
                    let lookup = self.look_up(&cached_dir.read(), name, kind);
                    if lookup.answers(kind) {
                        self.cache.store.counters.hits.add(1);
                        answers[question.index] = lookup.into_result();
                        continue;
                    }
                    self.cache.store.counters.misses.add(1);
                    self.cache.store.counters.queries.add(1);
                    let changes = cached_dir.read().changes;
                    let own = path.file_name().map_or(PENDING, |name| {
                        let mut own = ask(name)?;
                        own.retain(self.cache.options.want);
                        Ok(own)
                    });
                    self.store(cached_dir, changes, name, &own);
                    let link = own.as_ref().is_ok_and(|own| own.file_type() == FileType::Symlink);
                    if follow && link {
                        left.push((question, changes));
                    }
                    answers[question.index] = own;
                }
            },
        }
        .run(self.cache.reader);
        if asked.is_err() {
            // The reason is found for each name by its path.
            for question in group {
                let path = paths[question.index].as_ref();
                answers[question.index] = self.answer_one(path, follow, question);
            }
            return;
        }
        for (question, changes) in left {
            let name = self.hashed(question.name);
            let path = self.cache.scope.absolute(paths[question.index].as_ref());
            answers[question.index] =
                path.and_then(|path| self.query_target(cached_dir, changes, name, &path));
        }
    }
}
