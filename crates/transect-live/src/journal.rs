//! The changes of a tree, for readers that were elsewhere meanwhile.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use crate::change::{Change, ChangeKind};
use crate::live_tree::Update;

/// With more changes, the oldest updates are dropped, but at least half as many changes stay. A reader that is further
/// behind has lost its place.
const MAX_KEPT: usize = 100_000;

/// A place in the changes of a tree. As text: two hexadecimal numbers with a colon between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Which tree of which process.
    pub instance: u64,
    /// The number of updates before.
    pub updates: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}:{:x}", self.instance, self.updates)
    }
}

impl FromStr for Cursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let parsed = text.split_once(':').and_then(|(instance, updates)| {
            Some(Self { instance: number(instance)?, updates: number(updates)? })
        });
        parsed.ok_or("not a cursor: two hexadecimal numbers with a colon between them")
    }
}

/// What happened after a cursor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChangesSince {
    /// The changes. Applied in this order, they lead from the names at the cursor to those of now. `None` if the cursor is
    /// of another instance, or too many changes followed it: then the reader must compare everything itself.
    pub changes: Option<Vec<Arc<Change>>>,
    /// Notifications were lost, and everything was compared. What was created and removed in between is not reported.
    pub was_gap: bool,
    /// The root is not at its path any more. No further changes follow.
    pub is_root_gone: bool,
    /// The cursor after these changes.
    pub cursor: Cursor,
}

/// A change that is kept.
#[derive(Debug)]
struct Kept {
    /// The number of its update.
    update: u64,
    change: Arc<Change>,
    /// It only follows from the change of a directory above.
    is_implied: bool,
}

#[derive(Debug)]
pub(crate) struct Journal {
    instance: u64,
    /// The number of updates so far.
    updates: u64,
    /// Changes after so many updates are all there.
    first: u64,
    /// The number of updates after the last gap.
    gap: u64,
    is_root_gone: bool,
    /// Readers share them.
    changes: VecDeque<Kept>,
    /// The number of changes that is too much.
    limit: usize,
    /// The cursor of the table that the tree began with, of another instance.
    before: Option<Cursor>,
}

impl Journal {
    /// Returns a journal without changes. With `before`, they will follow that cursor of another instance.
    pub(crate) fn new(before: Option<Cursor>) -> Self {
        let (updates, first, gap) = (0, 0, 0);
        // Another one for each, so that no cursor fits by accident.
        let instance = RandomState::new().hash_one(std::process::id());
        let (changes, limit) = (VecDeque::new(), MAX_KEPT);
        Self { instance, updates, first, gap, is_root_gone: false, changes, limit, before }
    }

    pub(crate) fn cursor(&self) -> Cursor {
        Cursor { instance: self.instance, updates: self.updates }
    }

    pub(crate) fn is_root_gone(&self) -> bool {
        self.is_root_gone
    }

    /// Adds an update. Returns whether anything happened in it. Before each change, those are added that `implied` returns.
    pub(crate) fn add(&mut self, update: Update, implied: impl Fn(&Change) -> Vec<Change>) -> bool {
        let Update { changes, was_gap, is_root_gone } = update;
        if changes.is_empty() && !was_gap && is_root_gone == self.is_root_gone {
            return false;
        }
        self.updates += 1;
        self.is_root_gone |= is_root_gone;
        if was_gap {
            self.gap = self.updates;
        }
        for change in changes {
            let implied = implied(&change).into_iter().map(|change| (change, true));
            let all = implied.chain([(change, false)]).map(|(change, is_implied)| Kept {
                update: self.updates,
                change: Arc::new(change),
                is_implied,
            });
            self.changes.extend(all);
        }
        if self.changes.len() > self.limit {
            self.shorten();
        }
        true
    }

    /// Drops changes of the same entry but the last, and if there are too many still, the oldest updates. An update is
    /// dropped only after many other changes: one that adds a large directory must reach readers that wait for it.
    fn shorten(&mut self) {
        let mut modified: HashSet<&Path> = HashSet::new();
        let changes = self.changes.iter().rev();
        let mut is_last: Vec<bool> = changes
            .map(|Kept { change, .. }| match change.kind {
                ChangeKind::Modified => modified.insert(&change.path),
                ChangeKind::Renamed => {
                    // Before it, the same path may be another entry.
                    modified.clear();
                    true
                }
                _ => true,
            })
            .collect();
        self.changes.retain(|_| is_last.pop() == Some(true));
        let excess = self.changes.len().saturating_sub(MAX_KEPT / 2);
        if let Some(&Kept { update: kept, .. }) = self.changes.get(excess).filter(|_| excess > 0) {
            self.first = self.first.max(kept - 1);
            let dropped = self.changes.partition_point(|it| it.update < kept);
            self.changes.drain(..dropped);
        }
        self.limit = MAX_KEPT.max(self.changes.len() + MAX_KEPT / 2);
        self.changes.shrink_to(self.limit);
    }

    pub(crate) fn since(&self, cursor: Cursor, with_implied: bool) -> ChangesSince {
        let begin = Cursor { instance: self.instance, updates: 0 };
        // Whether removals are kept that follow from others, was not known when the names were compared.
        let is_before = self.before == Some(cursor) && !with_implied;
        let cursor = if is_before { begin } else { cursor };
        let range = self.first..=self.updates;
        let is_known = cursor.instance == self.instance && range.contains(&cursor.updates);
        let changes = is_known.then(|| {
            let begin = self.changes.partition_point(|it| it.update <= cursor.updates);
            let kept = self.changes.range(begin..).filter(|it| with_implied || !it.is_implied);
            kept.map(|it| Arc::clone(&it.change)).collect()
        });
        ChangesSince {
            was_gap: is_known && self.gap > cursor.updates,
            is_root_gone: self.is_root_gone,
            cursor: self.cursor(),
            changes,
        }
    }
}

#[cfg(test)]
mod tests {
    use transect::FileType;

    use super::*;

    fn change(kind: ChangeKind, path: String) -> Change {
        Change { kind, path: path.into(), from: None, file_type: FileType::File }
    }

    fn update(changes: Vec<Change>) -> Update {
        Update { changes, was_gap: false, is_root_gone: false }
    }

    fn since(journal: &Journal, cursor: Cursor) -> Option<Vec<Change>> {
        let changes = journal.since(cursor, false).changes?;
        Some(changes.iter().map(|change| Change::clone(change)).collect())
    }

    fn add(journal: &mut Journal, update: Update) -> bool {
        journal.add(update, |_| Vec::new())
    }

    fn added(number: usize) -> Change {
        change(ChangeKind::Added, number.to_string())
    }

    #[test]
    fn journal_returns_what_follows_a_cursor() {
        let mut journal = Journal::new(None);
        let before = journal.cursor();
        assert!(add(&mut journal, update(vec![added(1), added(2)])));
        assert!(!add(&mut journal, update(Vec::new())), "nothing happened");
        let between = journal.cursor();
        assert!(add(&mut journal, Update { was_gap: true, ..update(vec![added(3)]) }));
        let all = journal.since(before, false);
        assert_eq!(since(&journal, before), Some(vec![added(1), added(2), added(3)]));
        assert!(all.was_gap && all.cursor == journal.cursor());
        assert_eq!(since(&journal, between), Some(vec![added(3)]));
        let now = journal.since(journal.cursor(), false);
        assert!(now.changes == Some(Vec::new()) && !now.was_gap);
        for other in [
            Cursor { instance: before.instance ^ 1, ..before },
            Cursor { updates: before.updates + 3, ..before },
        ] {
            assert_eq!(journal.since(other, false).changes, None);
        }
        assert_eq!(all.cursor.to_string().parse(), Ok(all.cursor));
        let mut next = Journal::new(Some(between));
        assert!(add(&mut next, update(vec![added(4)])));
        assert_eq!(since(&next, between), Some(vec![added(4)]));
        assert_eq!(next.since(between, true).changes, None, "removals below others are not known");
        assert_eq!(since(&next, next.cursor()), Some(Vec::new()));
        for lost in [before, journal.cursor()] {
            assert_eq!(
                next.since(lost, false).changes,
                None,
                "only the cursor of the table is known"
            );
        }
        assert!("1".parse::<Cursor>().is_err() && "1:x".parse::<Cursor>().is_err());
    }

    #[test]
    fn journal_last_change_of_an_entry_kept_and_oldest_updates_dropped() {
        let mut journal = Journal::new(None);
        let begin = journal.cursor();
        add(&mut journal, update(vec![added(0)]));
        for _ in 0..2 * MAX_KEPT {
            add(&mut journal, update(vec![change(ChangeKind::Modified, "same".to_owned())]));
        }
        let changes = since(&journal, begin).expect("few different changes");
        assert_eq!(changes[0], added(0));
        assert!(changes.len() < MAX_KEPT, "{}", changes.len());
        let late = journal.cursor();
        for number in (0..3 * MAX_KEPT).step_by(2) {
            add(&mut journal, update(vec![added(number), added(number + 1)]));
        }
        assert_eq!(journal.since(begin, false).changes, None, "lost its place");
        assert_eq!(journal.since(late, false).changes, None);
        let first = Cursor { updates: journal.first, ..late };
        let kept = since(&journal, first).expect("all there");
        assert!(kept.len() >= MAX_KEPT / 2 - 1 && kept.len().is_multiple_of(2), "{}", kept.len());
        assert_eq!(kept.last(), Some(&added(3 * MAX_KEPT - 1)));
    }

    #[test]
    fn journal_large_update_kept_until_others_follow() {
        let mut journal = Journal::new(None);
        let begin = journal.cursor();
        add(&mut journal, update((0..3 * MAX_KEPT).map(added).collect()));
        add(&mut journal, update(vec![added(1)]));
        assert_eq!(since(&journal, begin).map(|all| all.len()), Some(3 * MAX_KEPT + 1));
        for number in 0..MAX_KEPT / 2 {
            add(&mut journal, update(vec![added(number)]));
        }
        assert_eq!(since(&journal, begin), None);
        assert!(journal.changes.len() >= MAX_KEPT / 2, "{}", journal.changes.len());
        assert!(journal.changes.capacity() <= 2 * MAX_KEPT, "{}", journal.changes.capacity());
    }

    #[test]
    fn journal_modified_before_a_rename_kept() {
        let mut journal = Journal::new(None);
        let begin = journal.cursor();
        let modified = || change(ChangeKind::Modified, "a/file".to_owned());
        let renamed = change(ChangeKind::Renamed, "b".to_owned());
        let all = [modified(), renamed, modified()];
        all.iter().for_each(|change| _ = add(&mut journal, update(vec![change.clone()])));
        for _ in 0..MAX_KEPT {
            add(&mut journal, update(vec![modified()]));
        }
        let kept = since(&journal, begin).expect("few different changes");
        assert_eq!(kept[..3], all);
    }

    #[test]
    fn journal_implied_changes_returned_on_request() {
        let mut journal = Journal::new(None);
        let begin = journal.cursor();
        let removed = || change(ChangeKind::Removed, "a".to_owned());
        let below = || change(ChangeKind::Removed, "a/file".to_owned());
        journal.add(update(vec![removed()]), |_| vec![below()]);
        assert_eq!(since(&journal, begin), Some(vec![removed()]));
        let all = journal.since(begin, true).changes.expect("known");
        assert!(*all[0] == below() && *all[1] == removed() && all.len() == 2);
    }
}
