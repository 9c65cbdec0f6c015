//! Trees that a running `transect live` follows: what commands ask it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use transect::table::Table;
use transect::{FieldMask, FileType};
use transect_live::{Change, Cursor};
use transect_service::protocol::WordSearch;
use transect_service::{Client, Closer, Entries, TreeChanges};
use transect_sys::file::query_attributes;
use transect_sys::name_from_bytes;

use crate::args::{AskLive, AskLiveArgs, WalkArgs};
use crate::root_path;
use transect_program::{CliError, user_dirs};

/// The attributes that a followed tree has.
const FIELDS: FieldMask = transect_live::COLUMNS.union(FieldMask::NLINK);

/// What the totals of a table need.
pub(crate) const TOTALS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::NLINK);

/// The entries of a followed tree.
pub(crate) struct Followed {
    pub(crate) entries: Entries,
    /// The path without links.
    pub(crate) root: PathBuf,
}

impl Followed {
    /// Says where the answer is from.
    pub(crate) fn text(&self) -> String {
        text(&self.root)
    }
}

fn text(root: &Path) -> String {
    format!("from `transect live`, which follows '{}'", root.display())
}

/// Returns a connection to the user's service, and the trees that it follows; `None` if there is none, or it is not to be
/// asked.
pub(crate) fn service(args: &AskLiveArgs) -> Option<(Client, Vec<PathBuf>)> {
    if args.live == AskLive::No {
        return None;
    }
    // Whatever the reason is why it does not answer: the tree itself does.
    let client = Client::connect(&user_dirs::service_socket().ok()?).ok()?;
    let roots = client.server_info().roots.iter();
    let roots = roots.map(|root| PathBuf::from(name_from_bytes(root.clone()))).collect();
    Some((client, roots))
}

/// Returns the root that holds a path without links, the lowest of several.
pub(crate) fn lowest_of<'r>(roots: &'r [PathBuf], path: &Path) -> Option<&'r PathBuf> {
    let holds = |root: &&PathBuf| path.starts_with(root);
    roots.iter().filter(holds).max_by_key(|root| root.as_os_str().len())
}

/// Returns the entries below the only path of the arguments, if a service follows all of them. They have these attributes.
pub(crate) fn entries_of(args: &AskLiveArgs, walk: &WalkArgs, want: FieldMask) -> Option<Followed> {
    let path = match walk.paths.as_slice() {
        [] => Path::new("."),
        [path] => path,
        _ => return None,
    };
    let (client, root) = reach(args, walk, path)?;
    let followed = entries(client, root, want, WordSearch::default())?;
    Some(Followed { entries: followed.entries.named(path.as_os_str().to_owned()), ..followed })
}

/// Returns a connection to a service that follows a directory, and its path without links.
fn reach(args: &AskLiveArgs, walk: &WalkArgs, path: &Path) -> Option<(Client, PathBuf)> {
    if !walk.reads_as_usual() {
        return None;
    }
    let (client, roots) = service(args)?;
    let is_directory = query_attributes(path, FieldMask::empty(), false)
        .is_ok_and(|it| it.file_type() == FileType::Directory);
    let root = root_path::resolved(path);
    let is_followed = is_directory && lowest_of(&roots, &root).is_some();
    is_followed.then_some((client, root))
}

/// A tree for a view that shows what changes.
pub(crate) struct FollowedView {
    /// The path as shown, and without links.
    shown: OsString,
    root: PathBuf,
    columns: FieldMask,
    /// The place of the last table in the changes.
    cursor: Mutex<Option<Cursor>>,
}

impl FollowedView {
    /// Returns a directory as a tree with these columns if a service follows it.
    pub(crate) fn of(
        args: &AskLiveArgs,
        walk: &WalkArgs,
        path: &Path,
        columns: FieldMask,
    ) -> Option<Self> {
        if !walk.filter.is_default() {
            return None;
        }
        let (_, root) = reach(args, walk, path)?;
        Some(Self { shown: path.into(), root, columns, cursor: Mutex::default() })
    }

    /// Returns the tree as it is now; `None` if no service follows it any more.
    pub(crate) fn read(&self) -> Option<Table> {
        let (client, _) = service(&ALWAYS)?;
        let want = self.columns | TOTALS;
        let Followed { entries, .. } =
            entries(client, self.root.clone(), want, WordSearch::default())?;
        *self.cursor() = Some(entries.cursor());
        entries.named(self.shown.clone()).into_table(self.columns).ok()
    }

    /// Waits until something changed since it was read. Returns false if no service follows it any more.
    fn wait(&self) -> bool {
        let (Some((mut client, roots)), Some(mut cursor)) = (service(&ALWAYS), *self.cursor())
        else {
            return false;
        };
        let Some(root) = lowest_of(&roots, &self.root) else { return false };
        loop {
            let Ok(Ok(TreeChanges { header, changes })) = client.changes(root, Some(cursor), true)
            else {
                return false;
            };
            let is_inside =
                |path: &PathBuf| path.starts_with(&self.root) || self.root.starts_with(path);
            let paths = |change: &Change| {
                is_inside(&change.path) || change.from.as_ref().is_some_and(is_inside)
            };
            if header.is_root_gone {
                return false;
            }
            if header.was_gap || changes.is_none_or(|changes| changes.iter().any(paths)) {
                return true;
            }
            cursor = header.cursor;
        }
    }

    /// Calls `show` with the tree after each change, until it fails or no service follows the tree any more. Takes a tenth of a core at most.
    pub(crate) fn follow<E>(&self, show: impl Fn(Table) -> Result<(), E>) -> Result<(), E> {
        while self.wait() {
            let started = Instant::now();
            let Some(table) = self.read() else { break };
            show(table)?;
            std::thread::sleep((started.elapsed() * 9).max(MIN_PAUSE));
        }
        Ok(())
    }

    fn cursor(&self) -> MutexGuard<'_, Option<Cursor>> {
        self.cursor.lock().expect("BUG: a thread panicked while it took a cursor")
    }
}

/// The shortest time between two tables.
const MIN_PAUSE: Duration = Duration::from_millis(200);

/// The service was to be asked when the view began.
const ALWAYS: AskLiveArgs = AskLiveArgs { live: AskLive::Auto };

/// Returns the entries below a path without links whose names have all words, if the service follows all of them.
pub(crate) fn entries(
    client: Client,
    root: PathBuf,
    want: FieldMask,
    search: WordSearch<'_>,
) -> Option<Followed> {
    // No notification reports a mount. On Windows, mount points are links.
    let is_below = |mount: &PathBuf| *mount != root && mount.starts_with(&root);
    let has_mounts = !cfg!(windows) && transect_sys::host::mount_points()?.iter().any(is_below);
    if !FIELDS.contains(want) || has_mounts {
        return None;
    }
    // Whatever the reason is why the answer does not begin: the tree itself does.
    let entries = client.entries(&root, want, search).ok().and_then(Result::ok);
    Some(Followed { entries: entries?, root })
}

/// The changes of a followed tree.
pub(crate) struct FollowedChanges {
    client: Client,
    /// The path without links, and as given.
    root: PathBuf,
    shown: PathBuf,
}

/// Returns the changes of a directory if it is one of those that a service follows.
pub(crate) fn changes_of(args: &AskLiveArgs, path: &Path) -> Option<FollowedChanges> {
    let (mut client, roots) = service(args)?;
    let root = root_path::resolved(path);
    if !roots.contains(&root) || !matches!(client.changes(&root, None, false), Ok(Ok(_))) {
        return None;
    }
    Some(FollowedChanges { client, root, shown: path.to_owned() })
}

impl FollowedChanges {
    /// Says where the changes are from.
    pub(crate) fn text(&self) -> String {
        text(&self.root)
    }

    /// Returns a handle that ends a wait from another thread.
    pub(crate) fn closer(&self) -> Closer {
        self.client.closer()
    }

    /// Returns what changed after a cursor; with `wait`, once something did.
    pub(crate) fn since(
        &mut self,
        cursor: Option<Cursor>,
        wait: bool,
    ) -> Result<TreeChanges, CliError> {
        let Self { client, root, shown } = self;
        let since = client.changes(root, cursor, wait)?.map_err(|why| {
            CliError::Failed(format!("`transect live` does not follow '{}': {why}", root.display()))
        });
        Ok(since?.named(root, shown))
    }
}
