//! One update of a live tree: looks at what notifications named, and edits the table.
//!
//! ```text
//! suspects ─► look: open the directory, query the names ─► found ─► edit; new directories: watch, list, query
//!    ▲                    │                                gone ─► kept until all that was found has its place
//!    └── its parent ◄── is not where it was
//! ```
//!
//! Names that are gone are removed last: then a directory that was renamed already hangs at its new place, and is not
//! read again.
//!
//! Notifications with paths (Windows) do not tell which directory had a path when it was reported, and not what happens
//! outside of the tree. So what a name leads to after it was created or renamed is compared, with everything below.

mod edit;
mod read;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::table::{DirectoryId, Row, Table, TableEditor};
use transect::{Attributes, Error, FaultKind, Operation};
use transect_sys::dir_handle::DirHandle;

use crate::change::{Change, ChangeKind};
use crate::inbox::Hints;
use crate::mirror::{Mirror, names_above, row_at};
use crate::suspects::Names;

/// How often a directory is looked for that is not where it was: each time its parent was queried before.
const MAX_ATTEMPTS: u32 = 8;

/// Applies what may have changed, compares the attributes in the directories `behind`, and returns what changed.
pub(crate) fn apply(
    tree: &mut Mirror,
    top: DirHandle,
    hints: Hints,
    mut behind: Vec<DirectoryId>,
) -> Result<Vec<Change>, Error> {
    let mut suspects = std::mem::take(&mut tree.unreached);
    for (watch, hint) in hints.directories {
        let Some(directory) = tree.places.watched(watch) else { continue };
        // fanotify does not notify the directory above of this.
        if (hint.itself || hint.unwatched)
            && let Some((parent, name)) = place_of(&tree.table, directory)
        {
            suspects.entry(parent).or_default().extend(name);
        }
        if hint.unwatched {
            // What has its name by now may have its file id, too, and not be noticed otherwise.
            tree.places.forget_identity(directory);
        } else {
            suspects.entry(directory).or_default().extend(Names::These(hint.names));
        }
    }
    let mut renamed = Vec::new();
    for (path, is_of_name) in hints.paths {
        if let Some((directory, name)) = place_of_path(&tree.table, &path) {
            let names = Names::These(BTreeSet::from([name]));
            suspects.entry(directory).or_default().extend(names);
        }
        if is_of_name {
            renamed.push(path);
        }
    }
    if hints.lost {
        tree.suspect_all(&top, &mut suspects);
        tree.behind.clear();
        behind.clear();
    }
    let mut pass = Pass::new(tree, top);
    pass.behind = behind;
    pass.has_paths = !renamed.is_empty();
    pass.renamed = renamed;
    pass.queue.extend(suspects.into_iter().map(|(directory, names)| (directory, names, 0)));
    pass.run()
}

/// An update in progress.
struct Pass<'t> {
    tree: &'t mut Mirror,
    /// The open root.
    top: DirHandle,
    editor: TableEditor,
    /// What is still to be looked at, and how often that was tried in vain.
    queue: VecDeque<(DirectoryId, Names, u32)>,
    /// Directories whose entries may have other attributes, but are the same.
    behind: Vec<DirectoryId>,
    /// Notifications had paths.
    has_paths: bool,
    /// Paths that may lead to other directories by now, of which everything is compared.
    renamed: Vec<PathBuf>,
    /// Directories that were listed, or are to be.
    compared: HashSet<DirectoryId>,
    unread: Vec<NewDirectory>,
    /// Names that are gone. All of a directory are removed at once: its other entries are listed anew each time.
    gone: BTreeMap<DirectoryId, BTreeSet<OsString>>,
    /// Directories among them that were not found elsewhere.
    gone_directories: HashSet<DirectoryId>,
    /// Directories that lost their place, unless they got another one, with all below them.
    displaced: HashSet<DirectoryId>,
    /// Directories that are about to be renamed into the directory at hand, and were reported.
    placed: HashSet<DirectoryId>,
    changes: Vec<Change>,
}

/// A directory that is to be read completely: as a rule a new one.
struct NewDirectory {
    id: DirectoryId,
    handle: Option<DirHandle>,
    /// How often it was looked for in vain.
    attempts: u32,
}

/// An open directory, proved to be the known one, and its own attributes.
struct Known {
    handle: DirHandle,
    own: Attributes,
}

/// Why a directory cannot be looked at.
enum Unreachable {
    /// It is not in the table, or not where the table has it.
    Displaced,
    Failed(io::Error),
}

impl<'t> Pass<'t> {
    fn new(tree: &'t mut Mirror, top: DirHandle) -> Self {
        let editor = TableEditor::new(&tree.table);
        Self {
            tree,
            top,
            editor,
            queue: VecDeque::new(),
            behind: Vec::new(),
            has_paths: false,
            renamed: Vec::new(),
            compared: HashSet::new(),
            unread: Vec::new(),
            gone: BTreeMap::new(),
            gone_directories: HashSet::new(),
            displaced: HashSet::new(),
            placed: HashSet::new(),
            changes: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Vec<Change>, Error> {
        loop {
            while let Some((directory, names, attempts)) = self.queue.pop_front() {
                self.look(directory, names, attempts)?;
                self.read_new_directories()?;
            }
            if self.compare_renamed() {
                continue;
            }
            if let Some(directory) = self.behind.pop() {
                let names = Names::These(self.names_in(directory).collect());
                self.queue.push_back((directory, names, MAX_ATTEMPTS));
                continue;
            }
            let Some((directory, names)) = self.gone.pop_first() else { break };
            self.remove(directory, &names)?;
        }
        for directory in std::mem::take(&mut self.displaced) {
            if self.editor.table().directory_row(directory).is_none() {
                self.forget(directory);
            }
        }
        let Self { tree, editor, mut changes, .. } = self;
        let (mut table, others) = editor.finish()?;
        changes.extend(others.into_iter().map(|row| {
            Change::new(ChangeKind::Modified, table.path(row), None, table.file_type(row))
        }));
        let is_worn = table.is_worn();
        if is_worn {
            let (mut copy, renumbering) = table.renumbered()?;
            copy.pack();
            tree.places.renumber(&renumbering, &copy);
            tree.unreached = std::mem::take(&mut tree.unreached)
                .into_iter()
                .filter_map(|(directory, names)| Some((renumbering.id(directory)?, names)))
                .collect();
            let behind = std::mem::take(&mut tree.behind).into_iter();
            tree.behind = behind.filter_map(|directory| renumbering.id(directory)).collect();
            table = copy;
        }
        tree.table = Arc::new(table);
        if is_worn {
            transect_sys::memory::return_free_memory();
        }
        Ok(changes)
    }

    fn table(&self) -> &Table {
        self.editor.table()
    }

    /// Takes every directory in and below a renamed path for comparison, once. Returns whether there was one: a comparison
    /// may find other directories at these paths. After the last one, the paths are known to lead to what was compared.
    fn compare_renamed(&mut self) -> bool {
        let table = self.editor.table();
        let rows = self.renamed.iter().filter_map(|path| row_at(table, path));
        let mut rows: Vec<Row> = rows.filter(|&row| !self.is_gone(row)).collect();
        let (mut visited, mut found) = (HashSet::new(), Vec::new());
        while let Some(row) = rows.pop() {
            if let Some(directory) = table.directory_id(row)
                && !self.gone_directories.contains(&directory)
                && visited.insert(directory)
            {
                found.push(directory);
                rows.extend(table.children(row));
            }
        }
        found.retain(|&directory| self.compared.insert(directory));
        let is_any = !found.is_empty();
        if !is_any {
            self.renamed.clear();
        }
        self.queue.extend(found.into_iter().map(|directory| (directory, Names::All, 0)));
        is_any
    }

    /// Returns whether a row is that of a directory that is gone, or below one.
    fn is_gone(&self, row: Row) -> bool {
        let table = self.table();
        std::iter::successors(Some(row), |&row| table.parent(row))
            .filter_map(|row| table.directory_id(row))
            .any(|directory| self.gone_directories.contains(&directory))
    }

    /// Looks at a directory and names in it.
    fn look(&mut self, directory: DirectoryId, names: Names, attempts: u32) -> Result<(), Error> {
        if self.tree.places.file_id(directory).is_none() {
            // It is gone.
            return Ok(());
        }
        // If it is found elsewhere, it is compared.
        if self.has_paths
            && self.table().directory_row(directory).is_some_and(|row| self.is_gone(row))
        {
            self.compared.remove(&directory);
            return Ok(());
        }
        match names {
            Names::These(names) if self.tree.places.is_watched(directory) => {
                match self.open(directory).and_then(|handle| self.prove(directory, handle)) {
                    Ok(Known { handle, own }) => {
                        // The permissions of the directory itself may have changed.
                        let listed = if names.is_empty() { handle.check_list() } else { Ok(()) };
                        match listed {
                            Ok(()) => _ = self.query(directory, &handle, &own, &names)?,
                            Err(error) => self.fail_to_list(directory, &handle, error),
                        }
                    }
                    Err(Unreachable::Displaced) => {
                        self.try_again(directory, Names::These(names), attempts);
                    }
                    Err(Unreachable::Failed(error)) => {
                        self.fail(directory, Operation::OpenDirectory, error);
                    }
                }
            }
            Names::AllUnlessProved if self.is_proved(directory) => self.tree.behind.push(directory),
            _ => self.unread.push(NewDirectory { id: directory, handle: None, attempts }),
        }
        Ok(())
    }

    /// Returns whether a directory is watched, and has the same names as when it was listed.
    fn is_proved(&self, directory: DirectoryId) -> bool {
        let known = self.open(directory).and_then(|handle| self.prove(directory, handle));
        known.is_ok_and(|known| self.tree.places.is_proved(directory, known.own.ctime()))
    }

    /// Returns the names that the table has in a directory.
    fn names_in(&self, directory: DirectoryId) -> impl Iterator<Item = OsString> {
        let table = self.table();
        let rows = table.directory_row(directory).into_iter().flat_map(|row| table.children(row));
        rows.map(|row| table.name(row).to_owned())
    }

    /// Opens a directory at the path that the table has for it.
    fn open(&self, directory: DirectoryId) -> Result<DirHandle, Unreachable> {
        let names = names_above(self.table(), directory).ok_or(Unreachable::Displaced)?;
        self.top.open_below(&names).map_err(|error| match FaultKind::of(&error) {
            FaultKind::NotFound | FaultKind::NotADirectory | FaultKind::Loop => {
                Unreachable::Displaced
            }
            _ => Unreachable::Failed(error),
        })
    }

    /// Proves that an open directory is the known one.
    fn prove(&self, directory: DirectoryId, handle: DirHandle) -> Result<Known, Unreachable> {
        let own = handle.attributes().map_err(Unreachable::Failed)?;
        let expected = self.tree.places.file_id(directory);
        match expected.is_some() && own.file_id() == expected {
            true => Ok(Known { handle, own }),
            false => Err(Unreachable::Displaced),
        }
    }

    /// Looks at a directory again after its parent. If that does not help, a notification is still to come.
    fn try_again(&mut self, directory: DirectoryId, names: Names, attempts: u32) {
        if attempts < MAX_ATTEMPTS {
            self.suspect_name_of(directory);
            self.queue.push_back((directory, names, attempts + 1));
        } else if self.table().directory_row(directory).is_some() {
            self.tree.unreached.entry(directory).or_default().extend(names);
        }
    }

    /// Looks at what has the name of a directory in its parent.
    fn suspect_name_of(&mut self, directory: DirectoryId) {
        let place = place_of(self.table(), directory);
        self.queue.extend(place.map(|(parent, name)| (parent, name, MAX_ATTEMPTS)));
    }

    fn forget(&mut self, directory: DirectoryId) {
        if let Some(watch) = self.tree.places.remove(directory) {
            self.tree.inbox.watcher().unwatch(watch);
        }
    }
}

/// Returns the directory that holds another one, and the name of that.
fn place_of(table: &Table, directory: DirectoryId) -> Option<(DirectoryId, Names)> {
    let row = table.directory_row(directory)?;
    let parent = table.directory_id(table.parent(row)?)?;
    Some((parent, Names::These(BTreeSet::from([table.name(row).to_owned()]))))
}

/// Returns the lowest directory that the table has on a path below the root, and the name in it that the path goes on with.
fn place_of_path(table: &Table, path: &Path) -> Option<(DirectoryId, OsString)> {
    let (mut row, mut place) = (table.roots().next(), None);
    for name in path {
        let Some(directory) = row.and_then(|row| table.directory_id(row)) else { break };
        place = Some((directory, name.to_owned()));
        row = row.and_then(|row| table.child(row, name));
    }
    place
}
