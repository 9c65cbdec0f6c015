//! A live tree with many readers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use transect::table::{Row, Table};
use transect::{Cancel, Error};
use transect_sys::host::MountPoints;

use crate::change::{Change, ChangeKind};
use crate::journal::{ChangesSince, Cursor, Journal};
use crate::listeners::{Listeners, Listening};
use crate::live_tree::{LiveTree, Update, Waker};
use crate::lookup::PathLookup;
use crate::mirror::row_at;
use crate::pace::Pace;
use crate::view::{Counts, View};

/// A live tree for readers on many threads: one thread [follows](SharedTree::follow) the tree, and the others ask for its
/// table and for what changed. No thread waits for a reader.
#[derive(Debug)]
pub struct SharedTree {
    root: PathBuf,
    waker: Waker,
    /// Every change is made by this machine, and notified.
    is_local: bool,
    /// Held while the state is waited for: a thread that just had the state cannot take it again before.
    turn: Mutex<()>,
    state: Mutex<State>,
    listeners: Listeners,
}

#[derive(Debug)]
struct State {
    tree: LiveTree,
    journal: Journal,
    /// Whether the journal has the names that were in removed directories.
    lists_removed: bool,
    mounts: MountPoints,
}

impl SharedTree {
    /// Shares a tree. If it was [resumed](LiveTree::resume), `before` is the cursor of its table: what changed since then
    /// follows that cursor, too.
    pub fn new(tree: LiveTree, before: Option<Cursor>) -> Self {
        let (root, waker) = (tree.root().to_owned(), tree.waker());
        let (journal, mounts) = (Journal::new(before), MountPoints::default());
        let is_local = transect_sys::host::reliability(&root).local;
        let state = Mutex::new(State { tree, journal, lists_removed: false, mounts });
        let (turn, listeners) = Default::default();
        Self { root, waker, is_local, turn, state, listeners }
    }

    /// Returns the path of the root, as given.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Applies changes as they are notified, until `end` is cancelled and the tree was [woken](SharedTree::wake), or the
    /// root has gone. Without it, changes are applied only when a reader asks.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn follow(&self, end: &Cancel) -> Result<(), Error> {
        let (mut is_gone, mut pace) = (false, Pace::default());
        let is_behind = || self.state().tree.is_behind();
        while !is_gone && (is_behind() || self.waker.wait(&mut pace, end)) && !end.is_cancelled() {
            is_gone = self.apply(&mut self.state(), LiveTree::update)?;
        }
        Ok(())
    }

    /// Makes [`SharedTree::follow`] look whether it was cancelled.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// Makes the root count as gone, and wakes who [listens](SharedTree::on_change): for a tree that nothing follows any more.
    pub fn end(&self) {
        let gone = Update { changes: Vec::new(), was_gap: false, is_root_gone: true };
        if self.state().journal.add(gone, |_| Vec::new()) {
            self.listeners.call_all();
        }
    }

    /// Returns the table with every change that was made before this call; `None` if it has no such path, or if that cannot
    /// be read completely. Directories in and below the path that are not watched are compared with the table. If
    /// attributes are wanted after a gap, those in and below the path are compared now, unless they are many.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn view(&self, path: &Path, wants_attributes: bool) -> Result<Option<View>, Error> {
        let mut state = self.state();
        if self.apply(&mut state, LiveTree::settle_names)? {
            return Ok(None);
        }
        let Some(row) = find(&state.tree.table(), &self.root, path) else { return Ok(None) };
        if self.apply(&mut state, |tree| tree.check_unwatched(row))? {
            return Ok(None);
        }
        let mut is_current = true;
        if wants_attributes && state.tree.is_behind() {
            let Some(row) = find(&state.tree.table(), &self.root, path) else { return Ok(None) };
            let settle = |tree: &mut LiveTree| {
                let update = tree.settle_below(row)?;
                is_current = update.is_some();
                Ok(update.unwrap_or_default())
            };
            if self.apply(&mut state, settle)? {
                return Ok(None);
            }
        }
        let table = state.tree.table();
        let Some(row) = find(&table, &self.root, path) else { return Ok(None) };
        let closed = state.tree.closed_around(row);
        let cursor = state.journal.cursor();
        let view = View { table, cursor, row, closed, is_current };
        Ok(view.is_complete().then_some(view))
    }

    /// Looks up paths in the table, with every change that was made before this call. Returns `None` if the table proves
    /// nothing: the root has gone, attributes are wanted before they were compared after a gap, or other machines change the
    /// tree.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn look_up<T>(
        &self,
        wants_attributes: bool,
        look_up: impl FnOnce(PathLookup<'_>) -> T,
    ) -> Result<Option<T>, Error> {
        let mut state = self.state();
        if !self.is_local || self.apply(&mut state, LiveTree::settle_names)? {
            return Ok(None);
        }
        let is_current = !wants_attributes || !state.tree.is_behind();
        let mounts = state.mounts.get().filter(|_| is_current);
        Ok(mounts.map(|mounts| look_up(state.tree.lookup(&mounts))))
    }

    /// Makes the next question compare everything in and below a path with the table, for changes that no notification
    /// reports. Of a path that is not in the table, what holds it is compared.
    pub fn suspect(&self, path: &Path) {
        let mut state = self.state();
        if self.root.starts_with(path) {
            state.tree.suspect_all();
        } else {
            let table = state.tree.table();
            let row = path.ancestors().find_map(|path| find(&table, &self.root, path));
            row.into_iter().for_each(|row| state.tree.suspect_below(row));
        }
    }

    /// Returns a table to [resume](LiveTree::resume) from, with every change of names that was made before this call, and
    /// its place in the changes. `None` if the root has gone, or a directory is not watched although it was read: its times
    /// prove nothing.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn storable(&self) -> Result<Option<(Arc<Table>, Cursor)>, Error> {
        let mut state = self.state();
        if self.apply(&mut state, LiveTree::settle_names)? {
            return Ok(None);
        }
        Ok(state.tree.storable().map(|table| (table, state.journal.cursor())))
    }

    /// Returns what changed after a cursor, every change included that was made before this call, also in directories that
    /// are not watched. Without a cursor, only the place of now.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn changes_since(&self, cursor: Option<Cursor>) -> Result<ChangesSince, Error> {
        self.since(cursor, false)
    }

    /// Returns what [`changes_since`](SharedTree::changes_since) does, and removals of everything that was in directories which
    /// were removed or renamed. The first call begins to keep these, and earlier cursors have lost them: for it, pass none.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn all_changes_since(&self, cursor: Option<Cursor>) -> Result<ChangesSince, Error> {
        self.since(cursor, true)
    }

    fn since(&self, cursor: Option<Cursor>, with_implied: bool) -> Result<ChangesSince, Error> {
        let mut state = self.state();
        // For a reader who begins, changes that are found later are later ones. Those of Watchman cannot walk until then.
        let is_complete = cursor.is_some() || with_implied;
        let settle = if is_complete { LiveTree::settle } else { LiveTree::settle_names };
        self.apply(&mut state, settle)?;
        state.lists_removed |= with_implied;
        let root = state.tree.table().roots().next();
        if let Some(root) = root {
            self.apply(&mut state, |tree| tree.check_unwatched(root))?;
        }
        let journal = &state.journal;
        Ok(journal.since(cursor.unwrap_or_else(|| journal.cursor()), with_implied))
    }

    /// Returns whether an update has noticed that the root is not at its path any more.
    pub fn is_root_gone(&self) -> bool {
        self.state().journal.is_root_gone()
    }

    /// Returns what changed after a cursor as [`SharedTree::changes_since`] does, without a look at directories that are not
    /// watched: for readers that wait for notifications.
    ///
    /// # Errors
    /// [`Error::TooManyEntries`]
    pub fn notified_since(&self, cursor: Cursor) -> Result<ChangesSince, Error> {
        let mut state = self.state();
        self.apply(&mut state, LiveTree::settle)?;
        Ok(state.journal.since(cursor, false))
    }

    /// Returns the number of entries and directories.
    pub fn counts(&self) -> Counts {
        let tree = &self.state().tree;
        let table = tree.table();
        let errors = table.diagnostics().errors;
        Counts { entries: table.len(), unwatched: tree.unwatched(), errors }
    }

    /// Calls `call` after each update in which something changed, until the result is dropped. It must not wait.
    pub fn on_change(&self, call: impl Fn() + Send + Sync + 'static) -> Listening {
        self.listeners.add(call)
    }

    /// Updates the tree. Returns whether its root has gone. That is for good: what changed meanwhile is not known, even if
    /// the root returns.
    fn apply(
        &self,
        state: &mut State,
        update: impl FnOnce(&mut LiveTree) -> Result<Update, Error>,
    ) -> Result<bool, Error> {
        if state.journal.is_root_gone() {
            return Ok(true);
        }
        let before = state.lists_removed.then(|| state.tree.table());
        let update = update(&mut state.tree)?;
        let is_gone = update.is_root_gone;
        if is_gone {
            // The thread that follows may wait for what a reader has taken.
            state.tree.suspect_all();
        }
        let implied = |change: &Change| {
            before.as_ref().map_or_else(Vec::new, |table| removed_below(table, &self.root, change))
        };
        if state.journal.add(update, implied) {
            self.listeners.call_all();
        }
        Ok(is_gone)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        const BUG: &str = "BUG: a thread panicked while it updated a tree";
        let _turn = self.turn.lock().expect(BUG);
        self.state.lock().expect(BUG)
    }
}

/// Returns removals of everything that was in a directory before it was removed or renamed.
fn removed_below(before: &Table, root: &Path, change: &Change) -> Vec<Change> {
    let path = match change.kind {
        ChangeKind::Removed => &change.path,
        ChangeKind::Renamed => change.from.as_ref().unwrap_or(&change.path),
        _ => return Vec::new(),
    };
    // A directory that appeared in the same update had nothing in it that a reader has seen.
    let rows = find(before, root, path).into_iter().flat_map(|row| before.subtree(row).skip(1));
    let removed =
        |row| Change::new(ChangeKind::Removed, before.path(row), None, before.file_type(row));
    rows.map(removed).collect()
}

/// Returns the row of a path that begins with that of the root.
fn find(table: &Table, root: &Path, path: &Path) -> Option<Row> {
    row_at(table, path.strip_prefix(root).ok()?)
}
