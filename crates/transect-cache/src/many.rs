//! Many questions at once: what is known is answered on the way, and the rest directory by
//! directory.

use std::path::Path;
use std::sync::Arc;

use transect_sys::FileType;

use super::Answer;
use super::options::Level;
use super::order::by_directory;
use super::pass::{Need, Pass};
use super::place::Place;
use super::refusal::Refusal;
use super::spelling::{is_plain, split};
use super::system::AskInDirectory;
use super::table::Name;

/// After so many questions about one directory it is supposed that not many more will come, and
/// memory that was taken for them is given back.
const LARGE_GROUP: usize = 16;

/// What stands for an answer until there is one.
const PENDING: Answer = Err(Refusal::MISSING);

/// A question that memory did not answer: its directory, the name in it, and its index.
struct Open<'p> {
    place: Arc<Place>,
    name: &'p [u8],
    index: usize,
}

impl Pass<'_> {
    /// Returns the attributes of what many paths lead to, in the order in which they are asked.
    ///
    /// Whatever the order of the paths, one directory is looked at after another. What has to be
    /// asked is asked in one listing where that is cheaper.
    pub fn get_many<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<Answer> {
        self.many(paths, true)
    }

    /// Returns the attributes of many paths themselves: see [`Pass::get_link`].
    pub fn get_many_links<P: AsRef<Path>>(&self, paths: &[P]) -> Vec<Answer> {
        self.many(paths, false)
    }

    fn many<P: AsRef<Path>>(&self, paths: &[P], follow: bool) -> Vec<Answer> {
        if self.level == Level::Verified {
            let each = |path: &P| if follow { self.get(path) } else { self.get_link(path) };
            return paths.iter().map(each).collect();
        }
        let mut answers = vec![PENDING; paths.len()];
        let open = self.answer_known(paths, follow, &mut answers);
        self.cache.counters.hits.add((paths.len() - open.len()) as u64);
        self.answer_open(paths, follow, open, &mut answers);
        answers
    }

    /// Answers what is known. One directory is looked for, and locked, for all paths in it that
    /// follow each other.
    fn answer_known<'p, P: AsRef<Path>>(
        &self,
        paths: &'p [P],
        follow: bool,
        answers: &mut [Answer],
    ) -> Vec<Open<'p>> {
        let need = Need::Attributes { follow };
        let order = by_directory(paths);
        let index = |at: usize| order.as_ref().map_or(at, |order| order[at] as usize);
        // What is no plain name may lead out of the roots.
        let plain = |at| split(paths[index(at)].as_ref()).filter(|(_, name)| is_plain(name));
        let mut open = Vec::new();
        let mut at = 0;
        while at < paths.len() {
            let known = plain(at).and_then(|(directory, _)| {
                Some((directory, self.cache.memo.find(directory).filter(|place| place.inside)?))
            });
            let Some((directory, place)) = known else {
                let path = paths[index(at)].as_ref();
                answers[index(at)] = self.find_place(path, index(at), &mut open);
                at += 1;
                continue;
            };
            // While this is held nothing may be done that evicts, which would wait for it.
            let seen = place.look();
            while at < paths.len()
                && let Some((_, name)) = plain(at).filter(|(own, _)| *own == directory)
            {
                let look = self.look(&seen, Name::new(name, &self.cache.hasher), need);
                if look.serves(need) {
                    answers[index(at)] = look.into_answer();
                } else {
                    open.push(Open { place: Arc::clone(&place), name, index: index(at) });
                }
                at += 1;
            }
        }
        open
    }

    /// Finds the directory of a path that is spelt otherwise, or seen for the first time.
    fn find_place<'p>(&self, path: &'p Path, index: usize, open: &mut Vec<Open<'p>>) -> Answer {
        let spelling = self.cache.scope.spell(path)?;
        let place = self.cache.place(&spelling);
        open.push(Open { place, name: spelling.name, index });
        PENDING
    }

    fn answer_open<P: AsRef<Path>>(
        &self,
        paths: &[P],
        follow: bool,
        mut open: Vec<Open<'_>>,
        answers: &mut [Answer],
    ) {
        open.sort_by_key(|question| question.place.number);
        for group in open.chunk_by(|one, other| one.place.number == other.place.number) {
            self.answer_group(paths, follow, group, answers);
            if group.len() >= LARGE_GROUP {
                let mut directory = group[0].place.change();
                directory.table.shrink();
                self.cache.memo.grow(directory.growth());
            }
        }
    }

    /// Answers questions about names in one directory.
    fn answer_group<P: AsRef<Path>>(
        &self,
        paths: &[P],
        follow: bool,
        group: &[Open<'_>],
        answers: &mut [Answer],
    ) {
        let place = &group[0].place;
        self.prepare(place, group.len());
        let plain = group.iter().all(|question| is_plain(question.name));
        if plain && self.cache.options.costs.opening_pays(group.len()) {
            self.answer_in_open(place, paths, follow, group, answers);
            return;
        }
        for question in group {
            answers[question.index] =
                self.answer_one(paths[question.index].as_ref(), follow, question);
        }
    }

    fn answer_one(&self, path: &Path, follow: bool, question: &Open<'_>) -> Answer {
        let name = Name::new(question.name, &self.cache.hasher);
        let path = self.cache.scope.absolute(path)?;
        self.answer(&question.place, name, &path, Need::Attributes { follow }).into_answer()
    }

    /// Answers in the open directory, which costs a system call more and saves the way to it for
    /// every name.
    fn answer_in_open<P: AsRef<Path>>(
        &self,
        place: &Arc<Place>,
        paths: &[P],
        follow: bool,
        group: &[Open<'_>],
        answers: &mut [Answer],
    ) {
        let need = Need::Attributes { follow };
        let mut left = Vec::new();
        let asked = AskInDirectory {
            path: place.path(),
            want: self.cache.options.want,
            then: &mut |ask| {
                for question in group {
                    let path = paths[question.index].as_ref();
                    let name = Name::new(question.name, &self.cache.hasher);
                    let look = self.look(&place.look(), name, need);
                    if look.serves(need) {
                        self.cache.counters.hits.add(1);
                        answers[question.index] = look.into_answer();
                        continue;
                    }
                    self.cache.counters.misses.add(1);
                    self.cache.counters.queries.add(1);
                    let changes = place.look().changes;
                    let own = path.file_name().map_or(PENDING, |name| {
                        let mut own = ask(name)?;
                        own.retain(self.cache.options.want);
                        Ok(own)
                    });
                    self.keep(place, changes, name, &own);
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
            let name = Name::new(question.name, &self.cache.hasher);
            let path = self.cache.scope.absolute(paths[question.index].as_ref());
            answers[question.index] =
                path.and_then(|path| self.ask_target(place, changes, name, &path));
        }
    }
}
