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

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use transect::table::{DirectoryId, EntryChange, Row, Table, TableEditor, UnreadReason};
use transect::{Attributes, Error, FaultKind, FileType, Operation, ScanError, SkipReason};
use transect_sys::dir_handle::{DirHandle, MountPolicy};

use crate::change::{Change, ChangeKind};
use crate::inbox::Hints;
use crate::mirror::{COLUMNS, Mirror, names_above};
use crate::suspects::Names;

/// How often a directory is looked for that is not where it was: each time its parent was queried before.
const MAX_ATTEMPTS: u32 = 8;

/// New directories that are kept open until they are read. The others are opened again.
const MAX_OPEN: usize = 128;

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
    /// New directories.
    unread: Vec<NewDirectory>,
    /// Names that are gone.
    gone: Vec<(DirectoryId, Vec<OsString>)>,
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
            gone: Vec::new(),
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
            let Some((directory, names)) = self.gone.pop() else { break };
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
        if table.is_worn() {
            let (copy, renumbering) = table.renumbered()?;
            tree.places.renumber(&renumbering);
            tree.unreached = std::mem::take(&mut tree.unreached)
                .into_iter()
                .filter_map(|(directory, names)| Some((renumbering.id(directory)?, names)))
                .collect();
            let behind = std::mem::take(&mut tree.behind).into_iter();
            tree.behind = behind.filter_map(|directory| renumbering.id(directory)).collect();
            table = copy;
        }
        tree.table = Arc::new(table);
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

    /// Queries names in an open directory, and applies what was found. Returns whether all could be queried.
    fn query(
        &mut self,
        directory: DirectoryId,
        handle: &DirHandle,
        own: &Attributes,
        names: &BTreeSet<OsString>,
    ) -> Result<bool, Error> {
        let (mut found, mut gone, mut is_complete) = (Vec::new(), Vec::new(), true);
        for name in names {
            match handle.entry_attributes(name) {
                Ok(attributes) => match handle.other_spelling(name) {
                    None => found.push((name.as_os_str(), attributes)),
                    Some(stored) => {
                        gone.push(name.clone());
                        // What changed may be below it.
                        let names = names_above(self.table(), directory);
                        let path = names.map(|names| names.into_iter().chain([&*stored]).collect());
                        self.renamed.extend(path);
                        let stored = Names::These(BTreeSet::from([stored]));
                        self.queue.push_back((directory, stored, MAX_ATTEMPTS));
                    }
                },
                Err(error) if error.kind() == io::ErrorKind::NotFound => gone.push(name.clone()),
                Err(error) => {
                    is_complete = false;
                    self.fail(directory, Operation::Stat, error);
                }
            }
        }
        if !gone.is_empty() {
            let table = self.editor.table();
            let rows =
                gone.iter().filter_map(|name| table.child(table.directory_row(directory)?, name));
            self.gone_directories.extend(rows.filter_map(|row| table.directory_id(row)));
            self.gone.push((directory, gone));
        }
        self.place(directory, handle, own, &found)?;
        Ok(is_complete)
    }

    /// Puts what was found in a directory into the table.
    fn place(
        &mut self,
        directory: DirectoryId,
        handle: &DirHandle,
        own: &Attributes,
        found: &[(&OsStr, Attributes)],
    ) -> Result<(), Error> {
        let Some(row) = self.table().directory_row(directory) else { return Ok(()) };
        let mut changes = Vec::new();
        for &(name, mut attributes) in found {
            let is_directory = attributes.file_type() == FileType::Directory;
            let link_count = attributes.nlink().filter(|_| !is_directory);
            attributes.retain(COLUMNS);
            if let Some(count) = link_count {
                attributes.set_nlink(count);
            }
            let before = self.table().child(row, name);
            let before_id = before.and_then(|row| self.table().directory_id(row));
            let known = attributes.file_id().filter(|_| is_directory);
            let mut known = known.and_then(|id| self.tree.places.with_file_id(id));
            if known != before_id && is_directory && is_mount_point(handle, name) {
                known = None;
            }
            known.map(|known| self.gone_directories.remove(&known));
            if let Some(before) = before
                && known == before_id
                && is_same(&self.table().attributes(before), &attributes)
                && (!is_directory || known.is_some())
            {
                // Another name may have gone since: the table then counts down from what was queried now.
                if link_count.is_some_and(|count| count > 1) {
                    changes.push(EntryChange { name, now: Some(attributes), directory: None });
                }
                continue;
            }
            if known.is_some_and(|known| self.is_in_or_below(directory, known)) {
                // Another mount of a directory above.
                known = None;
            }
            if known != before_id && known.is_some_and(|known| self.is_below_placed(known)) {
                // It is not where the table has it any more, so it is read as a new one.
                known = None;
            }
            let moved = known.filter(|_| known != before_id);
            let is_other = before.is_some_and(|row| {
                known != before_id || self.table().file_type(row) != attributes.file_type()
            });
            match before {
                // It was renamed to another one of these names, and reported.
                Some(_) if before_id.is_some_and(|id| self.placed.contains(&id)) => {}
                Some(before) if is_other => self.lose(directory, before),
                // A rename put another file there.
                Some(before)
                    if self.table().attributes(before).file_id() != attributes.file_id() =>
                {
                    self.suspect_other_names(self.row_before(directory, name));
                }
                _ => {}
            }
            self.report(row, before.filter(|_| !is_other), moved, name, attributes.file_type());
            self.placed.extend(moved);
            changes.push(EntryChange { name, now: Some(attributes), directory: known });
        }
        let mut own = *own;
        own.retain(COLUMNS);
        let before = self.table().attributes(row);
        let own = (!is_same(&before, &own)).then_some(&own);
        if own.is_some_and(|own| is_changed_itself(&before, own)) {
            let (kind, path) = (ChangeKind::Modified, self.table().path(row));
            self.changes.push(Change::new(kind, path, None, FileType::Directory));
        }
        if changes.is_empty() && own.is_none() {
            return Ok(());
        }
        let ids = self.editor.change(directory, own, &changes)?;
        self.placed.clear();
        for (change, id) in changes.iter().zip(ids) {
            let Some(id) = id else { continue };
            if self.displaced.contains(&id) {
                self.find_again(id);
            }
            if change.directory.is_none() {
                self.enter(handle, id, change.name, change.now.as_ref());
            } else if !self.tree.places.is_watched(id) {
                // Reading it may be permitted by now.
                self.unread.push(NewDirectory { id, handle: None, attempts: 0 });
            }
        }
        Ok(())
    }

    /// Prepares the reading of a new directory, unless something is mounted on it.
    fn enter(
        &mut self,
        above: &DirHandle,
        id: DirectoryId,
        name: &OsStr,
        attributes: Option<&Attributes>,
    ) {
        let opened = above.open_dir(name, MountPolicy::Refuse);
        if !matches!(&opened, Err(error) if FaultKind::of(error) == FaultKind::NotFound)
            && let Some(file_id) = attributes.and_then(Attributes::file_id)
        {
            self.tree.places.insert(id, file_id, None);
        }
        match opened {
            Ok(handle) => {
                // The last ones are read first.
                if let Some(later) = self.unread.len().checked_sub(MAX_OPEN) {
                    self.unread[later].handle = None;
                }
                self.unread.push(NewDirectory { id, handle: Some(handle), attempts: 0 });
            }
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                self.mark_mount_point(id);
            }
            // It is something else by now, which is a change that will be notified.
            Err(error) if FaultKind::of(&error) == FaultKind::NotFound => {}
            Err(error) => self.fail(id, Operation::OpenDirectory, error),
        }
    }

    /// Reads the new directories, and those in them.
    fn read_new_directories(&mut self) -> Result<(), Error> {
        while let Some(NewDirectory { id, handle, attempts }) = self.unread.pop() {
            let handle = handle.map_or_else(|| self.open(id), Ok);
            match handle.and_then(|handle| self.watch(id, handle)) {
                Ok(known) => self.read(id, &known)?,
                Err(Unreachable::Displaced) => self.try_again(id, Names::All, attempts),
                Err(Unreachable::Failed(error))
                    if error.kind() == io::ErrorKind::CrossesDevices =>
                {
                    self.mark_mount_point(id);
                }
                Err(Unreachable::Failed(error)) => {
                    self.fail(id, Operation::OpenDirectory, error);
                }
            }
        }
        Ok(())
    }

    /// Watches a directory, and proves that it is the known one. From then on, a change of its own attributes is noticed.
    fn watch(&mut self, directory: DirectoryId, handle: DirHandle) -> Result<Known, Unreachable> {
        // A directory that is watched already keeps its watch.
        let watch = handle.watch(self.tree.inbox.watcher()).ok();
        let known = self.prove(directory, handle);
        let id = known.as_ref().ok().and_then(|known| known.own.file_id());
        match (id, watch) {
            (Some(id), _) => self.tree.places.insert(directory, id, watch),
            (None, Some(watch)) if self.tree.places.watched(watch).is_none() => {
                self.tree.inbox.watcher().unwatch(watch);
            }
            _ => {}
        }
        known
    }

    /// Lists a directory, and compares it with the table.
    fn read(&mut self, directory: DirectoryId, known: &Known) -> Result<(), Error> {
        let Known { handle, own } = known;
        if own.is_placeholder() {
            // Listing it would download what is in it.
            self.editor.mark_unread(
                directory,
                UnreadReason::Skipped(SkipReason::Placeholder),
                None,
            );
            return Ok(());
        }
        let (mut names, clock) = (BTreeSet::new(), SystemTime::now());
        if let Err(error) = handle.for_each_name(&mut |name| _ = names.insert(name.to_owned())) {
            self.fail_to_list(directory, handle, error);
            return Ok(());
        }
        names.extend(self.names_in(directory));
        if self.query(directory, handle, own, &names)? {
            self.editor.mark_read(directory);
            self.compared.insert(directory);
            self.tree.places.list(directory, own.ctime(), clock);
        }
        Ok(())
    }

    /// Removes names that are gone.
    fn remove(&mut self, directory: DirectoryId, names: &[OsString]) -> Result<(), Error> {
        let Some(row) = self.table().directory_row(directory) else { return Ok(()) };
        let mut changes = Vec::new();
        for name in names {
            let Some(child) = self.table().child(row, name) else { continue };
            self.lose(directory, child);
            changes.push(EntryChange { name, now: None, directory: None });
        }
        if !changes.is_empty() {
            self.editor.change(directory, None, &changes)?;
        }
        Ok(())
    }

    /// Reports what is found under a name: `before` is the same entry, `moved` a directory that was elsewhere.
    fn report(
        &mut self,
        directory: Row,
        before: Option<Row>,
        moved: Option<DirectoryId>,
        name: &OsStr,
        file_type: FileType,
    ) {
        let table = self.table();
        let path = table.path(directory).join(name);
        let moved = moved.filter(|id| !self.displaced.contains(id));
        let from = moved.and_then(|id| Some(table.path(table.directory_row(id)?)));
        let kind = match (&from, before) {
            (Some(_), _) => ChangeKind::Renamed,
            (None, Some(_)) => ChangeKind::Modified,
            (None, None) => ChangeKind::Added,
        };
        self.changes.push(Change { kind, path, from, file_type });
    }

    /// Reports everything below a directory as added: it was reported as removed before it was found elsewhere.
    fn find_again(&mut self, directory: DirectoryId) {
        let table = self.editor.table();
        let rows = table.directory_row(directory).into_iter().flat_map(|row| table.subtree(row));
        for (place, row) in rows.enumerate() {
            table.directory_id(row).map(|id| self.displaced.remove(&id));
            if place > 0 {
                let (path, file_type) = (table.path(row), table.file_type(row));
                let kind = ChangeKind::Added;
                self.changes.push(Change { kind, path, from: None, file_type });
            }
        }
    }

    /// Reports a name as gone. A directory may still be found elsewhere.
    fn lose(&mut self, directory: DirectoryId, row: Row) {
        let table = self.editor.table();
        let (path, file_type) = (table.path(row), table.file_type(row));
        let below = |row| table.subtree(row).filter_map(|row| table.directory_id(row));
        // What is about to be renamed is not there any more.
        let renamed = self.placed.iter().filter_map(|&id| table.directory_row(id));
        let renamed: HashSet<_> = renamed.flat_map(below).collect();
        self.displaced.extend(below(row).filter(|id| !renamed.contains(id)));
        let before = self.row_before(directory, table.name(row));
        self.changes.push(Change { kind: ChangeKind::Removed, path, from: None, file_type });
        self.suspect_other_names(before);
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

    /// Returns what had a name before the update.
    fn row_before(&self, directory: DirectoryId, name: &OsStr) -> Option<Row> {
        let before = &self.tree.table;
        before.directory_row(directory).and_then(|row| before.child(row, name))
    }

    /// Looks at the other names of files in or below an entry of the table before the update: no notification tells
    /// them that their file has one name less.
    fn suspect_other_names(&mut self, row: Option<Row>) {
        let before = &self.tree.table;
        let rows = row.into_iter().flat_map(|row| before.subtree(row));
        let others = rows.flat_map(|row| before.other_names(row));
        let others = others.filter_map(|row| {
            let directory = before.directory_id(before.parent(row)?)?;
            let names = Names::These(BTreeSet::from([before.name(row).to_owned()]));
            Some((directory, names, MAX_ATTEMPTS))
        });
        self.queue.extend(others);
    }

    fn forget(&mut self, directory: DirectoryId) {
        if let Some(watch) = self.tree.places.remove(directory) {
            self.tree.inbox.watcher().unwatch(watch);
        }
    }

    /// Records that an open directory cannot be listed.
    fn fail_to_list(&mut self, directory: DirectoryId, handle: &DirHandle, error: io::Error) {
        let is_closed = error.kind() == io::ErrorKind::PermissionDenied && handle.is_unreadable();
        // The handle needs no permission to read; what a walk opens does.
        let operation = if is_closed { Operation::OpenDirectory } else { Operation::ReadDirectory };
        self.fail(directory, operation, error);
    }

    fn mark_mount_point(&mut self, directory: DirectoryId) {
        let why = UnreadReason::Skipped(SkipReason::MountBoundary);
        self.editor.mark_unread(directory, why, None);
    }

    /// Records that a directory cannot be read completely. What is known of it stays. One that cannot be opened is not
    /// watched any more: [`LiveTree::check_unwatched`](crate::LiveTree) tries it again.
    fn fail(&mut self, directory: DirectoryId, operation: Operation, error: io::Error) {
        if let (Operation::OpenDirectory, Some(code)) = (operation, error.raw_os_error())
            && let Some(watch) = self.tree.places.close(directory, code)
        {
            self.tree.inbox.watcher().unwatch(watch);
        }
        let table = self.editor.table();
        let Some(row) = table.directory_row(directory) else { return };
        let why = UnreadReason::Failed(FaultKind::of(&error));
        let depth = table.depth(row) as u32;
        let error = ScanError::new(operation, table.path(row), depth, error);
        self.editor.mark_unread(directory, why, Some(error));
    }

    /// Returns whether a directory is below one that is about to be renamed.
    fn is_below_placed(&self, directory: DirectoryId) -> bool {
        let mut above = self.placed.iter().filter(|&&above| above != directory);
        above.any(|&above| self.is_in_or_below(directory, above))
    }

    /// Returns whether a directory is another one, or below it.
    fn is_in_or_below(&self, directory: DirectoryId, other: DirectoryId) -> bool {
        let table = self.table();
        let Some(row) = table.directory_row(directory) else { return false };
        table.ancestors(row).any(|row| table.directory_id(row) == Some(other))
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

/// Returns what the table has at a path below the root.
fn row_at(table: &Table, path: &Path) -> Option<Row> {
    path.iter().try_fold(table.roots().next()?, |row, name| table.child(row, name))
}

fn is_mount_point(directory: &DirHandle, name: &OsStr) -> bool {
    let opened = directory.open_dir(name, MountPolicy::Refuse);
    opened.is_err_and(|error| error.kind() == io::ErrorKind::CrossesDevices)
}

/// Returns whether two entries are the same file in the same state.
fn is_same(a: &Attributes, b: &Attributes) -> bool {
    a.file_type() == b.file_type()
        && a.file_id() == b.file_id()
        && (a.size(), a.allocated(), a.mtime(), a.ctime())
            == (b.size(), b.allocated(), b.mtime(), b.ctime())
}

/// Returns whether more changed of a directory than the names in it, which set both times to the same one.
fn is_changed_itself(before: &Attributes, now: &Attributes) -> bool {
    now.mtime() != now.ctime()
        || (before.mode(), before.uid(), before.gid()) != (now.mode(), now.uid(), now.gid())
}
