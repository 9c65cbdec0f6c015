//! A pass: questions that belong together, and how one of them is answered.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use transect_sys::{Attributes, FieldMask, FileType};

use super::options::Level;
use super::place::{Directory, Listed, Place, Trust};
use super::refusal::Refusal;
use super::spelling::{Spelling, is_plain, split};
use super::system::{self, Extent, Identity, ListDirectory};
use super::table::{Found, Name};
use super::{Answer, AttributeCache};

/// Questions that belong together, such as those of one build: at [`Level::Checked`] every
/// directory is checked once in a pass. Whatever happened before a pass began is seen in it; of what
/// happens while it goes on, some may be seen and some not.
#[derive(Debug)]
pub struct Pass<'a> {
    pub(super) cache: &'a AttributeCache,
    pub(super) level: Level,
    pub(super) epoch: u64,
    /// How many passes had begun before this one.
    pub(super) number: u64,
}

/// What a question is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Attributes, of what a link leads to or of itself.
    Attributes { follow: bool },
    /// What it is, links followed.
    Type,
}

impl Need {
    pub(super) fn follows(self) -> bool {
        !matches!(self, Self::Attributes { follow: false })
    }
}

/// What is known without asking.
#[derive(Clone, Debug)]
pub(super) enum Look {
    Attributes(Attributes),
    There(FileType),
    Refused(Refusal),
    Unknown,
}

impl Look {
    /// Returns whether this answers a question.
    pub(super) fn serves(&self, need: Need) -> bool {
        match self {
            Self::Attributes(_) | Self::Refused(_) => true,
            Self::There(_) => need == Need::Type,
            Self::Unknown => false,
        }
    }

    /// Returns the answer to a question about attributes, which this serves.
    pub(super) fn into_answer(self) -> Answer {
        match self {
            Self::Attributes(attributes) => Ok(attributes),
            Self::Refused(refusal) => Err(refusal),
            Self::There(_) | Self::Unknown => unreachable!("BUG: this answers nothing"),
        }
    }
}

impl From<Answer> for Look {
    fn from(answer: Answer) -> Self {
        answer.map_or_else(Self::Refused, Self::Attributes)
    }
}

/// The longest name that is called missing because a listing does not hold it: of longer ones the
/// system says that they are too long.
const LONGEST_NAME: usize = 255;

impl Pass<'_> {
    /// Returns the attributes of what a path leads to, as `stat` does.
    ///
    /// # Errors
    /// Why there are none.
    pub fn get(&self, path: impl AsRef<Path>) -> Answer {
        self.attributes(path.as_ref(), true)
    }

    /// Returns the attributes of a path itself, also if it is a symbolic link, as `lstat` does.
    ///
    /// # Errors
    /// Why there are none.
    pub fn get_link(&self, path: impl AsRef<Path>) -> Answer {
        self.attributes(path.as_ref(), false)
    }

    /// Returns whether a path leads to something.
    ///
    /// # Errors
    /// Why nobody knows: the way there is denied, or goes in circles. What is missing is no error.
    pub fn exists(&self, path: impl AsRef<Path>) -> Result<bool, Refusal> {
        match self.question(path.as_ref(), Need::Type)? {
            Look::Refused(refusal) if refusal.is_missing() => Ok(false),
            Look::Refused(refusal) => Err(refusal),
            _ => Ok(true),
        }
    }

    fn attributes(&self, path: &Path, follow: bool) -> Answer {
        self.question(path, Need::Attributes { follow })?.into_answer()
    }

    fn question(&self, path: &Path, need: Need) -> Result<Look, Refusal> {
        if let Some(look) = self.known(path, need) {
            self.cache.counters.hits.add(1);
            return Ok(look);
        }
        let spelling = self.cache.scope.spell(path)?;
        Ok(self.spelt(&spelling, need))
    }

    /// Answers from memory, if the path is spelt as directories are kept.
    #[inline]
    fn known(&self, path: &Path, need: Need) -> Option<Look> {
        if self.level == Level::Verified {
            return None;
        }
        let (directory, name) = split(path)?;
        let place = self.cache.memo.find(directory).filter(|place| place.inside)?;
        let look = self.look(&place.look(), Name::new(name, &self.cache.hasher), need);
        look.serves(need).then_some(look)
    }

    fn spelt(&self, spelling: &Spelling<'_>, need: Need) -> Look {
        if self.level == Level::Verified {
            self.cache.counters.misses.add(1);
            return self.query(&spelling.path, need.follows()).into();
        }
        let place = self.cache.place(spelling);
        self.answer(&place, Name::new(spelling.name, &self.cache.hasher), &spelling.path, need)
    }

    /// Answers a question about a name in a directory; `path` is how the system is asked about it.
    pub(super) fn answer(
        &self,
        place: &Arc<Place>,
        name: Name<'_>,
        path: &Path,
        need: Need,
    ) -> Look {
        let mut look = self.look(&place.look(), name, need);
        if !look.serves(need) && self.prepare(place, 1) {
            look = self.look(&place.look(), name, need);
        }
        if look.serves(need) {
            self.cache.counters.hits.add(1);
            return look;
        }
        self.cache.counters.misses.add(1);
        self.ask(place, name, path, need.follows()).into()
    }

    /// Looks at what is known of a name.
    #[inline]
    pub(super) fn look(&self, directory: &Directory, name: Name<'_>, need: Need) -> Look {
        let trust = directory.trust(self.level, self.epoch, self.number);
        let refusal = directory.refusal(trust, self.epoch, self.number);
        match refusal {
            None => self.look_inside(directory, trust, name, need),
            // What was answered once is answered the same, though the directory is gone by now.
            Some(refusal) if trust == Trust::All => {
                let kept = self.look_inside(directory, trust, name, need);
                if kept.serves(need) { kept } else { Look::Refused(refusal) }
            }
            Some(refusal) => Look::Refused(refusal),
        }
    }

    /// Looks at what is known of a name in a directory that is there.
    #[inline]
    fn look_inside(&self, directory: &Directory, trust: Trust, name: Name<'_>, need: Need) -> Look {
        let (table, layout, follow) = (&directory.table, self.cache.layout, need.follows());
        match trust {
            Trust::Nothing => Look::Unknown,
            Trust::Names => match table.find_type(name, layout) {
                None => absent(directory, name),
                Some(FileType::Symlink | FileType::Unknown) if follow => Look::Unknown,
                Some(file_type) => Look::There(file_type),
            },
            // What links lead to is not watched.
            Trust::Watched
                if follow && table.find_type(name, layout) == Some(FileType::Symlink) =>
            {
                Look::Unknown
            }
            Trust::All | Trust::Watched => match table.find(name, layout, follow) {
                Found::Attributes(attributes)
                    if trust == Trust::Watched && attributes.file_type() == FileType::Directory =>
                {
                    Look::There(FileType::Directory)
                }
                Found::Attributes(attributes) => Look::Attributes(attributes),
                Found::There(file_type) => Look::There(file_type),
                Found::Refused(refusal) => Look::Refused(refusal),
                Found::Unknown => Look::Unknown,
                Found::Nothing => absent(directory, name),
            },
        }
    }

    /// Makes more known of a directory before `wanted` names in it are asked about one by one: by
    /// having it watched, checked or listed, as far as that is due. Returns whether it is worth
    /// looking again.
    pub(super) fn prepare(&self, place: &Arc<Place>, wanted: usize) -> bool {
        place.change().renew(self.epoch);
        let watched = self.cache.watch(place);
        if self.inherit(place) {
            return true;
        }
        let (trust, listing, affords) = {
            let directory = place.look();
            let trust = directory.trust(self.level, self.epoch, self.number);
            let affords = directory.account.affords_listing(&self.cache.options.costs, wanted);
            (trust, directory.listing, affords)
        };
        let prepared = match (trust, listing) {
            (Trust::Names, _) | (Trust::All | Trust::Watched, Some(_)) => false,
            (Trust::Nothing, Some(_)) => {
                self.check(place);
                true
            }
            (_, None) if affords => {
                self.list(place, wanted);
                true
            }
            (_, None) => false,
        };
        watched || prepared
    }

    /// Learns from what is known of the directory above that this one is not there. Returns whether
    /// that could be learnt.
    fn inherit(&self, place: &Place) -> bool {
        // Where changes are told, the way here was just followed.
        if !matches!(self.level, Level::Frozen | Level::Checked) {
            return false;
        }
        let above = split(place.path()).filter(|(_, name)| is_plain(name));
        let Some((above, name)) = above else { return false };
        let Some(above) = self.cache.memo.find(above) else { return false };
        let name = Name::new(name, &self.cache.hasher);
        let look = self.look(&above.peek(), name, Need::Type);
        match look {
            Look::Refused(refusal) if refusal.holds_below() => {
                refuse(&mut place.change(), refusal, self.number + 1);
                true
            }
            _ => false,
        }
    }

    /// Finds out whether a listing still holds.
    fn check(&self, place: &Arc<Place>) {
        let _lister = place.wait_for_lister();
        let Some(listing) = place.look().listing else { return };
        if listing.checked > self.number {
            return;
        }
        let begun = self.cache.passes_begun();
        let now = (!listing.racy).then(|| {
            self.cache.counters.checks.add(1);
            system::identity(place.path())
        });
        let mut directory = place.change();
        match now {
            Some(Ok(now)) if now == listing.identity && now.is_known() => {
                if let Some(listing) = &mut directory.listing {
                    listing.checked = begun;
                }
            }
            now => {
                self.cache.counters.outdated.add(1);
                directory.forget();
                if let Some(Err(error)) = now {
                    refuse(&mut directory, error.into(), begun);
                }
                self.cache.memo.grow(directory.growth());
            }
        }
    }

    /// Lists a directory, if that is worth it.
    fn list(&self, place: &Arc<Place>, wanted: usize) {
        let _lister = place.wait_for_lister();
        let (changes, mut account) = {
            let directory = place.look();
            if directory.listing.is_some() {
                return;
            }
            (directory.changes, directory.account)
        };
        let (begun, clock) = (self.cache.passes_begun(), SystemTime::now());
        let costs = &self.cache.options.costs;
        let mut names = Names::default();
        let extent = ListDirectory {
            path: place.path(),
            want: self.cache.options.want,
            most: &mut |size| account.most_names(costs, size, wanted),
            each: &mut |name, attributes| names.push(name, attributes, self.cache.options.want),
        }
        .run(self.cache.reader);
        // Nobody else changed it meanwhile, and names can be looked up in it.
        let extent = extent.and_then(|extent| match extent {
            Extent::Whole(identity) => {
                Ok((system::identity(place.path())? == identity).then_some(identity))
            }
            Extent::TooMany => Ok(None),
        });
        let mut directory = place.change();
        if directory.retired || !directory.is_of(self.epoch) || directory.changes != changes {
            return;
        }
        match extent {
            Ok(Some(identity)) => {
                self.cache.counters.listings.add(1);
                account.listed(costs, names.len());
                let exact_names = transect_sys::host::reliability(place.path()).exact_names;
                let racy = is_racy(identity, clock);
                self.keep_listing(&mut directory, &names);
                let checked = begun;
                directory.listing = Some(Listed { identity, exact_names, racy, checked });
            }
            Ok(None) => {
                self.cache.counters.listings_given_up.add(1);
                if names.len() > 0 {
                    account.gave_up(costs, names.len());
                }
            }
            Err(error) => {
                self.cache.counters.listings_given_up.add(1);
                account.cannot_list();
                refuse(&mut directory, error.into(), begun);
            }
        }
        directory.account = account;
        self.cache.memo.grow(directory.growth());
        drop(directory);
        self.cache.keep_within_memory();
    }

    fn keep_listing(&self, directory: &mut Directory, names: &Names) {
        let trust = directory.trust(self.level, self.epoch, self.number);
        directory.table.reserve(names.entries.len(), names.bytes.len(), &self.cache.hasher);
        for (name, file_type, attributes) in names.iter() {
            let name = Name::new(name, &self.cache.hasher);
            match attributes {
                Some(attributes) if trust != Trust::Nothing => {
                    directory.table.keep_new(name, self.cache.layout, attributes);
                }
                _ => directory.table.keep_listed(name, file_type),
            }
        }
    }

    /// Asks the system about a name in a directory, and keeps what it says as far as the level
    /// allows.
    pub(super) fn ask(
        &self,
        place: &Arc<Place>,
        name: Name<'_>,
        path: &Path,
        follow: bool,
    ) -> Answer {
        let changes = place.look().changes;
        let own = self.query(path, false);
        self.keep(place, changes, name, &own);
        if follow && own.as_ref().is_ok_and(|own| own.file_type() == FileType::Symlink) {
            return self.ask_target(place, changes, name, path);
        }
        own
    }

    /// Asks the system where a link leads.
    pub(super) fn ask_target(
        &self,
        place: &Arc<Place>,
        changes: u64,
        name: Name<'_>,
        path: &Path,
    ) -> Answer {
        let target = self.query(path, true);
        // Nobody watches where it leads.
        if self.level == Level::Frozen {
            let mut directory = place.change();
            if self.may_keep(&directory, changes) {
                directory.table.keep_target(name, self.cache.layout, &target);
                self.cache.memo.grow(directory.growth());
            }
        }
        target
    }

    /// Keeps what the system said of a name, unless it may be outdated already. It was asked when
    /// the directory had changed `changes` times.
    pub(super) fn keep(&self, place: &Arc<Place>, changes: u64, name: Name<'_>, own: &Answer) {
        let missing = own.as_ref().is_err_and(|refusal| refusal.is_missing());
        let mut directory = place.change();
        if missing && is_plain(name.bytes) {
            directory.account.spend(&self.cache.options.costs, 1);
        }
        let trust = directory.trust(self.level, self.epoch, self.number);
        let lasting = match trust {
            Trust::All => true,
            // What stands for a directory is told of elsewhere.
            Trust::Watched => is_plain(name.bytes),
            Trust::Names | Trust::Nothing => false,
        };
        if lasting && self.may_keep(&directory, changes) {
            directory.table.keep(name, self.cache.layout, own);
            let growth = directory.growth();
            drop(directory);
            self.cache.memo.grow(growth);
            self.cache.keep_within_memory();
        }
    }

    fn may_keep(&self, directory: &Directory, changes: u64) -> bool {
        !directory.retired && directory.is_of(self.epoch) && directory.changes == changes
    }

    /// Asks the system.
    pub(super) fn query(&self, path: &Path, follow: bool) -> Answer {
        self.cache.counters.queries.add(1);
        let mut attributes =
            transect_sys::file::query_attributes(path, self.cache.options.want, follow)?;
        // The same as from memory.
        attributes.retain(self.cache.options.want);
        Ok(attributes)
    }
}

/// Returns what is to be said of a name that is not in the table.
fn absent(directory: &Directory, name: Name<'_>) -> Look {
    let certain =
        directory.knows_all_names() && is_plain(name.bytes) && name.bytes.len() <= LONGEST_NAME;
    if certain { Look::Refused(Refusal::MISSING) } else { Look::Unknown }
}

/// Keeps why a directory cannot be read, if that is why nothing in it can be.
fn refuse(directory: &mut Directory, refusal: Refusal, begun: u64) {
    if refusal.holds_below() {
        directory.refusal = Some((refusal, begun));
    }
}

/// The names of a listing, until the directory may be changed.
#[derive(Default)]
struct Names {
    bytes: Vec<u8>,
    /// Where each name ends, and what it is.
    entries: Vec<(u32, FileType)>,
    /// Attributes that came along, with the index of the entry.
    complete: Vec<(u32, Attributes)>,
}

impl Names {
    fn push(&mut self, name: &OsStr, attributes: &Attributes, want: FieldMask) {
        if attributes.known().contains(want) {
            self.complete.push((self.entries.len() as u32, *attributes));
        }
        self.bytes.extend_from_slice(name.as_encoded_bytes());
        self.entries.push((self.bytes.len() as u32, attributes.file_type()));
    }

    fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Iterates over names, types, and the attributes of those that have any.
    fn iter(&self) -> impl Iterator<Item = (&[u8], FileType, Option<&Attributes>)> {
        let mut complete = self.complete.iter().peekable();
        let mut start = 0;
        (0..).zip(&self.entries).map(move |(index, &(end, file_type))| {
            let name = &self.bytes[start..end as usize];
            start = end as usize;
            let attributes = complete.next_if(|(own, _)| *own == index);
            (name, file_type, attributes.map(|(_, attributes)| attributes))
        })
    }
}

/// Within so many nanoseconds two changes may get the same time: a tick of the slowest kernel's
/// clock is 10 ms.
const TICK: i64 = 20_000_000;

/// The same where times are whole seconds, or, on FAT, every second one.
const COARSE_TICK: i64 = 2_000_000_000;

/// Returns whether a directory may have been changed after it was listed, at `clock`, without that
/// being seen from its times: its last change was so shortly before that the next would bear the
/// same time. git calls such files racily clean.
fn is_racy(identity: Identity, clock: SystemTime) -> bool {
    let Some(changed) = identity.mtime.max(identity.ctime) else { return true };
    let coarse =
        [identity.mtime, identity.ctime].iter().flatten().all(|time| time % 1_000_000_000 == 0);
    let tick = if coarse { COARSE_TICK } else { TICK };
    let clock = clock.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
    changed.saturating_add(tick) >= clock
}
